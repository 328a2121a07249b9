/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Zero-copy put and get over a lane whose operations the test replaces:
 * division into chunks, registration of the local memory, operations without
 * send resources or with errors, transfers that the transport holds when the
 * endpoint is closed, and the selection by cost.
 */
#include "rma.h"
#include "ucp/order/queue.h"

enum { SIZE = 10050, MAX_PIECE = 1000, MIN_PIECE = 100 };

static char data[SIZE], back[SIZE];

/* The lane's operations: put and get by zero-copy are replaced. */
static ucx_ep_ops_t ops;
static uct_completion_t *held[64];
static unsigned num_held, num_chunks, refuse_at, fail_at;
static size_t smallest;
static uct_mem_h seen_memh;
static int hold;

static ucs_status_t play(const uct_iov_t *iov, size_t iovcnt, uint64_t address,
                         uct_completion_t *comp, int is_get)
{
    char *remote = (char *)(uintptr_t)address;
    size_t total = 0, i;

    if (++num_chunks == refuse_at) {
        return UCS_ERR_NO_RESOURCE;
    }
    if (num_chunks == fail_at) {
        return UCS_ERR_IO_ERROR;
    }
    for (i = 0; i < iovcnt; ++i) {
        memcpy(is_get ? iov[i].buffer : remote + total,
               is_get ? remote + total : iov[i].buffer, iov[i].length);
        total += iov[i].length;
        seen_memh = iov[i].memh;
    }
    ck_assert_uint_le(total, MAX_PIECE);
    smallest = (total < smallest) ? total : smallest;
    if (!hold) {
        return UCS_OK;
    }
    held[num_held++] = comp;
    return UCS_INPROGRESS;
}

static ucs_status_t play_put(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                             uint64_t remote_addr, uct_rkey_t rkey,
                             uct_completion_t *comp)
{
    return play(iov, iovcnt, remote_addr, comp, 0);
}

static ucs_status_t play_get(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                             uint64_t remote_addr, uct_rkey_t rkey,
                             uct_completion_t *comp)
{
    return play(iov, iovcnt, remote_addr, comp, 1);
}

/* Completes the held operations with `status`. */
static void release_held(ucs_status_t status)
{
    unsigned i;

    for (i = 0; i < num_held; ++i) {
        uct_completion_update_status(held[i], status);
        if (--held[i]->count == 0) {
            held[i]->func(held[i]);
        }
    }
    num_held = 0;
}

/* Maps memory and opens a lane that supports put and get only by zero-copy, of
 * MIN_PIECE to MAX_PIECE bytes. `md_flags` are added to those of the lane's
 * domain. */
static void lend_zcopy(lent_t *lent, uint64_t md_flags)
{
    static const ucp_lane_rma_t none = {0};
    ucp_lane_config_t *lane;

    lend(lent, BY_LANE, SIZE);
    ucp_rkey_destroy(lent->rkey);
    /* the worker has cached configurations that do not match the changed
     * lane */
    ucp_rma_config_free_all(lent->local.worker);
    lane = (ucp_lane_config_t *)&lent->local.ep->config->lanes[0];
    lane->md_flags |= md_flags;
    lane->put            = none;
    lane->put.min_zcopy  = MIN_PIECE;
    lane->put.max_zcopy  = MAX_PIECE;
    lane->put.max_iov    = 4;
    lane->put.cost_zcopy = (ucp_lane_cost_t){.bandwidth = 1e15};
    lane->get            = lane->put;
    lent->rkey           = unpack_key(lent->local.ep, lent->memh);

    ops                     = *lent->local.ep->am->ops;
    ops.put_zcopy           = play_put;
    ops.get_zcopy           = play_get;
    lent->local.ep->am->ops = &ops;
    num_held                = 0;
    num_chunks              = 0;
    refuse_at               = 0;
    fail_at                 = 0;
    hold                    = 0;
    smallest                = SIZE;
    seen_memh               = NULL;
    fill(data, SIZE, 3);
    memset(back, 0, SIZE);
}

START_TEST(transfers_go_in_pieces_of_allowed_sizes)
{
    lent_t lent;

    lend_zcopy(&lent, 0);
    /* the fourth operation finds no send resources and is retried */
    refuse_at = 4;
    ck_assert_int_eq(lent_put(&lent, data, SIZE, 0), UCS_OK);
    ck_assert_uint_eq(num_chunks, 12);
    ck_assert_uint_ge(smallest, MIN_PIECE);
    ck_assert_int_eq(memcmp(lent.memory, data, SIZE), 0);
    ck_assert_int_eq(lent_get(&lent, back, SIZE, 0), UCS_OK);
    ck_assert_int_eq(memcmp(back, data, SIZE), 0);

    /* data below the minimum length of zero-copy is sent by another protocol */
    num_chunks = 0;
    ck_assert_int_eq(lent_put(&lent, data, MIN_PIECE - 1, 0), UCS_OK);
    ck_assert_int_eq(lent_get(&lent, back, MIN_PIECE - 1, 0), UCS_OK);
    ck_assert_uint_eq(num_chunks, 0);
    take_back(&lent);
}
END_TEST

START_TEST(local_memory_is_registered_where_it_must_be)
{
    ucp_mem_map_params_t map = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .address = data,
        .length  = SIZE,
    };
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_MEMH};
    lent_t lent;

    lend_zcopy(&lent, 0);
    ck_assert_int_eq(lent_put(&lent, data, SIZE, 0), UCS_OK);
    ck_assert_ptr_null(seen_memh);
    take_back(&lent);

    lend_zcopy(&lent, UCT_MD_FLAG_NEED_MEMH);
    ck_assert_int_eq(lent_put(&lent, data, SIZE, 0), UCS_OK);
    ck_assert_ptr_nonnull(seen_memh);
    seen_memh = NULL;
    ck_assert_int_eq(ucp_mem_map(lent.local.context, &map, &param.memh),
                     UCS_OK);
    ck_assert_int_eq(local_wait(&lent.local,
                                ucp_put_nbx(lent.local.ep, data, SIZE,
                                            lent_at(&lent, 0), lent.rkey,
                                            &param)),
                     UCS_OK);
    ck_assert_ptr_eq(seen_memh, ucp_mem_of_domain(param.memh, 0));
    ck_assert_int_eq(ucp_mem_unmap(lent.local.context, param.memh), UCS_OK);
    take_back(&lent);
}
END_TEST

START_TEST(a_failure_on_the_way_ends_the_transfer)
{
    ucs_status_ptr_t request;
    lent_t lent;

    lend_zcopy(&lent, 0);
    fail_at = 3;
    ck_assert_int_eq(lent_put(&lent, data, SIZE, 0), UCS_ERR_IO_ERROR);
    ck_assert_uint_eq(num_chunks, 3);

    /* a get that has failed ends only when its outstanding chunks have ended */
    num_chunks = 0;
    hold       = 1;
    request    = ucp_get_nbx(lent.local.ep, back, SIZE, lent_at(&lent, 0),
                             lent.rkey, &plain);
    ck_assert_uint_eq(num_held, 2);
    ck_assert_int_eq(ucp_request_check_status(request), UCS_INPROGRESS);
    release_held(UCS_OK);
    ck_assert_int_eq(local_wait(&lent.local, request), UCS_ERR_IO_ERROR);
    take_back(&lent);
}
END_TEST

START_TEST(what_the_transport_holds_outlives_the_endpoint)
{
    ucp_request_param_t force = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_EP_CLOSE_FLAG_FORCE,
    };
    ucs_status_ptr_t request;
    lent_t lent;
    int i;

    lend_zcopy(&lent, UCT_MD_FLAG_NEED_MEMH);
    hold    = 1;
    request = ucp_put_nbx(lent.local.ep, data, SIZE, lent_at(&lent, 0),
                          lent.rkey, &plain);
    ck_assert_ptr_eq(ucp_ep_close_nbx(lent.local.ep, &force), NULL);
    for (i = 0; i < 10; ++i) {
        ucp_worker_progress(lent.local.worker);
    }
    ck_assert_int_eq(ucp_request_check_status(request), UCS_INPROGRESS);
    release_held(UCS_ERR_CANCELED);
    ck_assert_int_eq(local_wait(&lent.local, request), UCS_ERR_CANCELED);
    ucp_rkey_destroy(lent.rkey);
    ucp_mem_unmap(lent.local.context, lent.memh);
    ucp_worker_destroy(lent.local.worker);
    ucp_cleanup(lent.local.context);
    free(lent.memory);
}
END_TEST

/* Returns whether UCP selects zero-copy for a put or get. Holds the endpoint
 * (ucp_ep_hold()), so that the operation has a request that shows its protocol;
 * then the operation is sent. */
static int goes_by_zcopy(lent_t *lent, int is_get, uint32_t flags)
{
    const ucp_proto_t *zcopy        = is_get ? &ucp_proto_get_zcopy :
                                               &ucp_proto_put_zcopy;
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL | flags,
    };
    ucp_ep_h ep      = lent->local.ep;
    uint64_t address = lent_at(lent, 0);
    ucs_status_ptr_t request;
    int found;

    ucp_ep_hold(ep);
    request = is_get ?
                  ucp_get_nbx(ep, back, SIZE, address, lent->rkey, &param) :
                  ucp_put_nbx(ep, data, SIZE, address, lent->rkey, &param);
    ck_assert(UCS_PTR_IS_PTR(request));
    found = (ucp_request_of(request)->send.proto == zcopy);
    ucp_ep_resume(ep);
    ck_assert_int_eq(local_wait(&lent->local, request), UCS_OK);
    return found;
}

/* With a long latency and a high bandwidth, zero-copy is faster only for
 * operations with UCP_OP_ATTR_FLAG_MULTI_SEND: other operations are sent during
 * the latency. */
START_TEST(many_in_flight_do_not_count_the_latency)
{
    const uint32_t many = UCP_OP_ATTR_FLAG_MULTI_SEND;
    ucp_lane_config_t *lane;
    lent_t lent;
    int is_get;

    lend(&lent, BY_LANE, SIZE);
    ucp_rkey_destroy(lent.rkey);
    /* the worker has cached configurations with the normal costs */
    ucp_rma_config_free_all(lent.local.worker);
    lane = (ucp_lane_config_t *)&lent.local.ep->config->lanes[0];
    lane->put.cost_bcopy = (ucp_lane_cost_t){.bandwidth = 1e9};
    lane->put.cost_zcopy = (ucp_lane_cost_t){
        .latency   = 1e-3,
        .bandwidth = 1e12,
    };
    lane->get.cost_bcopy = lane->put.cost_bcopy;
    lane->get.cost_zcopy = lane->put.cost_zcopy;
    lent.rkey            = unpack_key(lent.local.ep, lent.memh);

    for (is_get = 0; is_get <= 1; ++is_get) {
        ck_assert_int_eq(goes_by_zcopy(&lent, is_get, 0), 0);
        ck_assert_int_eq(goes_by_zcopy(&lent, is_get, many), 1);
        ck_assert_int_eq(goes_by_zcopy(&lent, is_get, 0), 0);
    }
    take_back(&lent);
}
END_TEST

static double time_of(const ucp_proto_range_t *range, size_t length)
{
    return ucs_linear_func_apply(range->time, (double)length);
}

/* Asks for the costs of a get by messages of 4 GB/s. */
static void ask_messages(const lent_t *lent, int is_network,
                         ucp_proto_range_t ranges[UCP_PROTO_MAX_RANGES])
{
    ucp_lane_config_t *lane =
        (ucp_lane_config_t *)&lent->local.ep->config->lanes[UCP_AM_LANE];
    const ucp_proto_query_t query = {
        .op           = UCP_OP_GET,
        .dt_class     = UCP_DT_CLASS_CONTIG,
        .config       = lent->local.ep->config,
        .zcopy_thresh = SIZE_MAX,
        .rndv_thresh  = SIZE_MAX,
        .key          = lent->rkey->config,
    };
    unsigned i;

    lane->is_network = (uint8_t)is_network;
    lane->am.stream  = 4e9;
    for (i = 0; i < UCP_PROTO_MAX_RANGES; ++i) {
        ranges[i] = (ucp_proto_range_t){.max = SIZE_MAX};
    }
    ck_assert_uint_eq(ucp_rma_query_am(&query, ranges), 3);
    ck_assert_uint_eq(ranges[1].min, ranges[0].max + 1);
    ck_assert_uint_eq(ranges[2].min, ranges[1].max + 1);
}

/* Between processors of one machine, the first bytes take more time each than
 * those after them; nothing jumps between them. */
START_TEST(the_first_lines_of_messages_cost_more)
{
    ucp_proto_range_t ranges[UCP_PROTO_MAX_RANGES];
    size_t limit;
    lent_t lent;

    lend(&lent, BY_MESSAGES, SIZE);
    ask_messages(&lent, 0, ranges);
    limit = ranges[0].max;
    ck_assert_uint_eq(limit, UCP_LANE_AM_BEGIN);
    ck_assert_double_gt(ranges[0].time.m, 1.9 * ranges[1].time.m);
    ck_assert_double_eq_tol(time_of(&ranges[0], limit),
                            time_of(&ranges[1], limit), 1e-12);

    ask_messages(&lent, 1, ranges);
    ck_assert(ranges[0].time.m == ranges[1].time.m);
    ck_assert(ranges[0].time.c == ranges[1].time.c);
    take_back(&lent);
}
END_TEST

SUITE_MAIN("ucp rma zcopy", transfers_go_in_pieces_of_allowed_sizes,
           local_memory_is_registered_where_it_must_be,
           a_failure_on_the_way_ends_the_transfer,
           many_in_flight_do_not_count_the_latency,
           the_first_lines_of_messages_cost_more,
           what_the_transport_holds_outlives_the_endpoint)
