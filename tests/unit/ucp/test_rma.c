/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put, get, flush and fence: all sizes are transferred, forbidden accesses are
 * rejected and change nothing, and every form of completion reports the correct
 * status. Many tests run over the endpoint's lane and again by messages. Also
 * several threads.
 */
#include "rma.h"

#include <pthread.h>

static const size_t sizes[] = {0,    1,     7,     8,
                               64,   255,   256,   257,
                               4096, 8160,  8161,  8184,
                               8185, 65536, 65537, (1 << 20) + 1};

enum { NUM_SIZES = sizeof(sizes) / sizeof(sizes[0]), MAX = (1 << 20) + 1 };

static char data[MAX], back[MAX];

static void every_size(way_t way)
{
    lent_t lent;
    unsigned i;

    lend(&lent, way, MAX + 16);
    for (i = 0; i < NUM_SIZES; ++i) {
        fill(data, sizes[i], i);
        memset(lent.memory, 'x', MAX + 16);
        ck_assert_int_eq(lent_put(&lent, data, sizes[i], 3), UCS_OK);
        ck_assert_int_eq(lent_flush(&lent), UCS_OK);
        ck_assert_int_eq(memcmp(lent.memory + 3, data, sizes[i]), 0);
        ck_assert_int_eq(lent.memory[2], 'x');
        ck_assert_int_eq(lent.memory[3 + sizes[i]], 'x');

        memset(back, 'y', sizeof(back));
        ck_assert_int_eq(lent_get(&lent, back, sizes[i], 3), UCS_OK);
        ck_assert_int_eq(memcmp(back, data, sizes[i]), 0);
    }
    take_back(&lent);
}

START_TEST(every_size_is_put_and_got_by_lane)
{
    every_size(BY_LANE);
}
END_TEST

START_TEST(every_size_is_put_and_got_by_messages)
{
    every_size(BY_MESSAGES);
}
END_TEST

START_TEST(the_key_says_how_it_goes)
{
    lent_t lent;

    lend(&lent, BY_LANE, 64);
    ck_assert_int_gt(lent.rkey->config->put.short_end, 8);
    ck_assert_int_gt(lent.rkey->config->get.short_end, 8);
    take_back(&lent);

    lend(&lent, BY_MESSAGES, 64);
    ck_assert_int_eq(lent.rkey->config->put.short_end, 0);
    ck_assert_int_gt(lent.rkey->config->am_put_end, 8);
    ck_assert_int_eq(lent.rkey->config->lanes, 0);
    take_back(&lent);
}
END_TEST

static void chunks(way_t way)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
        .datatype     = ucp_dt_make_iov(),
    };
    enum { COUNT = 40, PIECE = 1000 };
    ucp_dt_iov_t iov[COUNT];
    lent_t lent;
    unsigned i;

    lend(&lent, way, COUNT * PIECE);
    fill(data, COUNT * PIECE, 5);
    for (i = 0; i < COUNT; ++i) {
        iov[i].buffer = data + i * PIECE;
        iov[i].length = (i % 7 == 3) ? 0 : PIECE;
    }
    ck_assert_int_eq(local_wait(&lent.local,
                                ucp_put_nbx(lent.local.ep, iov, COUNT,
                                            lent_at(&lent, 0), lent.rkey,
                                            &param)),
                     UCS_OK);
    ck_assert_int_eq(lent_flush(&lent), UCS_OK);
    ck_assert_int_eq(memcmp(lent.memory, data, 3 * PIECE), 0);
    ck_assert_int_eq(memcmp(lent.memory + 3 * PIECE, data + 4 * PIECE, PIECE),
                     0);

    memset(back, 0, sizeof(back));
    for (i = 0; i < COUNT; ++i) {
        iov[i].buffer = back + i * PIECE;
    }
    ck_assert_int_eq(local_wait(&lent.local,
                                ucp_get_nbx(lent.local.ep, iov, COUNT,
                                            lent_at(&lent, 0), lent.rkey,
                                            &param)),
                     UCS_OK);
    for (i = 0; i < COUNT; ++i) {
        ck_assert_int_eq(memcmp(back + i * PIECE, data + i * PIECE,
                                iov[i].length),
                         0);
    }
    ck_assert_int_eq(back[3 * PIECE], 0);
    take_back(&lent);
}

START_TEST(pieces_of_memory_are_gathered_and_scattered)
{
    chunks(BY_LANE);
    chunks(BY_MESSAGES);
}
END_TEST

static unsigned calls;
static ucs_status_t called_with;

static void on_end(void *request, ucs_status_t status, void *user_data)
{
    ++calls;
    called_with = status;
    ck_assert_ptr_eq(user_data, &calls);
}

static void completions(way_t way)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA |
                        UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
        .cb.send   = on_end,
        .user_data = &calls,
    };
    ucp_request_param_t at_once = {
        .op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL,
    };
    ucs_status_ptr_t request;
    lent_t lent;

    lend(&lent, way, 64);
    calls   = 0;
    request = ucp_put_nbx(lent.local.ep, data, 8, lent_at(&lent, 0), lent.rkey,
                          &param);
    ck_assert(UCS_PTR_IS_PTR(request));
    ck_assert_int_eq(local_wait(&lent.local, request), UCS_OK);
    ck_assert_int_eq(calls, 1);
    request = ucp_get_nbx(lent.local.ep, back, 8, lent_at(&lent, 0), lent.rkey,
                          &param);
    ck_assert(UCS_PTR_IS_PTR(request));
    ck_assert_int_eq(local_wait(&lent.local, request), UCS_OK);
    ck_assert_int_eq(calls, 2);
    ck_assert_int_eq(called_with, UCS_OK);

    ck_assert_ptr_eq(ucp_put_nbx(lent.local.ep, data, 8, lent_at(&lent, 0),
                                 lent.rkey, &at_once),
                     NULL);
    request = ucp_get_nbx(lent.local.ep, back, 8, lent_at(&lent, 0), lent.rkey,
                          &at_once);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(request),
                     (way == BY_LANE) ? UCS_OK : UCS_ERR_NO_RESOURCE);
    take_back(&lent);
}

START_TEST(requests_and_callbacks_follow_the_wishes)
{
    completions(BY_LANE);
    completions(BY_MESSAGES);
}
END_TEST

START_TEST(a_request_of_the_users_is_used)
{
    ucp_context_attr_t attr   = {.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE};
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_REQUEST};
    ucs_status_ptr_t request;
    lent_t lent;
    char *space;

    lend(&lent, BY_MESSAGES, 64);
    ucp_context_query(lent.local.context, &attr);
    space         = malloc(attr.request_size);
    param.request = space + attr.request_size;
    request = ucp_get_nbx(lent.local.ep, back, 8, lent_at(&lent, 0), lent.rkey,
                          &param);
    ck_assert_ptr_eq(request, param.request);
    while (ucp_request_check_status(request) == UCS_INPROGRESS) {
        ucp_worker_progress(lent.local.worker);
    }
    ck_assert_int_eq(ucp_request_check_status(request), UCS_OK);
    free(space);
    take_back(&lent);
}
END_TEST

static void outside(way_t way)
{
    lent_t lent;

    lend(&lent, way, 4096);
    memset(lent.memory, 'x', 4096);
    ck_assert_int_eq(lent_put(&lent, data, 8, 4089), UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(lent_put(&lent, data, 8, (size_t)-8),
                     UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(lent_put(&lent, data, 4097, 0), UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(lent_get(&lent, back, 1, 4096), UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(lent_get(&lent, back, 4097, 0), UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(lent_put(&lent, data, 0, 4096), UCS_OK);
    ck_assert_int_eq(lent_flush(&lent), UCS_OK);
    ck_assert_int_eq(lent.memory[0], 'x');
    ck_assert_int_eq(lent.memory[4095], 'x');
    take_back(&lent);
}

START_TEST(what_lies_outside_is_refused)
{
    outside(BY_LANE);
    outside(BY_MESSAGES);
}
END_TEST

START_TEST(what_is_not_allowed_is_refused)
{
    lent_t lent;

    lend_prot(&lent, BY_MESSAGES, 64, UCP_MEM_MAP_PROT_REMOTE_READ);
    ck_assert_int_eq(lent_put(&lent, data, 8, 0), UCS_ERR_REJECTED);
    ck_assert_int_eq(lent_get(&lent, back, 8, 0), UCS_OK);
    take_back(&lent);
    lend_prot(&lent, BY_LANE, 64, UCP_MEM_MAP_PROT_REMOTE_WRITE);
    ck_assert_int_eq(lent_put(&lent, data, 8, 0), UCS_OK);
    ck_assert_int_eq(lent_get(&lent, back, 8, 0), UCS_ERR_REJECTED);
    take_back(&lent);
}
END_TEST

/* The initiator's key claims a longer range than the owner has registered: the
 * owner must check the range and reject the access. */
START_TEST(the_owner_checks_for_itself)
{
    ucs_status_t status;
    lent_t lent;
    char *after;

    lend(&lent, BY_MESSAGES, 8192);
    after = lent.memory + 8192;
    lent.rkey->length += 1 << 20;
    ck_assert_int_eq(lent_put(&lent, data, 8, 8192), UCS_OK);
    ck_assert_int_eq(lent_flush(&lent), UCS_ERR_INVALID_ADDR);
    /* the error is reported once */
    ck_assert_int_eq(lent_flush(&lent), UCS_OK);
    ck_assert_int_eq(lent_get(&lent, back, 8, 8192), UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(lent_get(&lent, back, 70000, 8000), UCS_ERR_INVALID_ADDR);
    ck_assert_ptr_eq(after, lent.memory + 8192);

    /* a key id that the owner does not know */
    lent.rkey->length -= 1 << 20;
    lent.rkey->id ^= 1;
    memset(lent.memory, 'x', 8192);
    memset(data, 'd', 8192);
    ck_assert_int_eq(lent_put(&lent, data, 300, 0), UCS_OK);
    ck_assert_int_eq(lent_put(&lent, data, 8192, 0), UCS_OK);
    status = local_wait(&lent.local,
                        ucp_worker_flush_nbx(lent.local.worker, &plain));
    ck_assert_int_eq(status, UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(lent_get(&lent, back, 8, 0), UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(lent.memory[0], 'x');
    ck_assert_int_eq(lent.memory[8191], 'x');
    lent.rkey->id ^= 1;
    ck_assert_int_eq(lent_get(&lent, back, 8, 0), UCS_OK);
    take_back(&lent);
}
END_TEST

START_TEST(memory_that_was_unmapped_is_out_of_reach)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .length = 64,
    };
    lent_t lent;

    lend(&lent, BY_MESSAGES, 64);
    memset(lent.memory, 'x', 64);
    ck_assert_int_eq(ucp_mem_unmap(lent.local.context, lent.memh), UCS_OK);
    ck_assert_int_eq(lent_put(&lent, data, 8, 0), UCS_OK);
    ck_assert_int_eq(lent_flush(&lent), UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(lent_get(&lent, back, 8, 0), UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(lent.memory[0], 'x');

    params.address = lent.memory;
    ck_assert_int_eq(ucp_mem_map(lent.local.context, &params, &lent.memh),
                     UCS_OK);
    ck_assert_int_eq(lent_get(&lent, back, 8, 0), UCS_ERR_INVALID_ADDR);
    take_back(&lent);
}
END_TEST

/* Many puts, then two flushes: when the second flush ends, the data of all puts
 * is in the memory. `waits`: waits for the request of each put, which may end
 * before the peer has the data; otherwise requests are outstanding at the
 * flushes. */
static void put_and_flush(int waits)
{
    enum { PUTS = 3000 };
    static uint32_t values[PUTS];
    static ucs_status_ptr_t puts[PUTS];
    ucs_status_ptr_t flushes[2];
    unsigned outstanding = 0;
    lent_t lent;
    uint32_t i, value;

    lend(&lent, BY_MESSAGES, sizeof(values));
    for (i = 0; i < PUTS; ++i) {
        values[i] = i;
        puts[i]   = ucp_put_nbx(lent.local.ep, &values[i], 4,
                                lent_at(&lent, 4 * i), lent.rkey, &plain);
        if (waits) {
            ck_assert_int_eq(local_wait(&lent.local, puts[i]), UCS_OK);
        } else if (UCS_PTR_IS_PTR(puts[i])) {
            ++outstanding;
        }
    }
    ck_assert_int_eq(outstanding > 0, !waits);
    /* no put is posted between the two flushes: both cover the same puts */
    flushes[0] = ucp_ep_flush_nbx(lent.local.ep, &plain);
    flushes[1] = ucp_ep_flush_nbx(lent.local.ep, &plain);
    ck_assert_int_eq(local_wait(&lent.local, flushes[1]), UCS_OK);
    for (i = 0; i < PUTS; ++i) {
        memcpy(&value, lent.memory + 4 * i, sizeof(value));
        ck_assert_int_eq(value, i);
    }
    ck_assert_int_eq(local_wait(&lent.local, flushes[0]), UCS_OK);
    for (i = 0; !waits && (i < PUTS); ++i) {
        ck_assert_int_eq(local_wait(&lent.local, puts[i]), UCS_OK);
    }
    take_back(&lent);
}

START_TEST(a_flush_covers_all_before_it)
{
    put_and_flush(1);
}
END_TEST

START_TEST(a_flush_covers_outstanding_puts)
{
    put_and_flush(0);
}
END_TEST

/* An access by messages, a fence, an access over the lane, another fence, and
 * an access by messages: each waits until the one before it is complete. */
START_TEST(a_fence_orders_accesses_by_different_ways)
{
    ucp_rkey_h by_lane;
    ucp_ep_config_t *config;
    ucs_status_ptr_t requests[3];
    lent_t lent;

    lend(&lent, BY_MESSAGES, 1 << 20);
    config            = (ucp_ep_config_t *)lent.local.ep->config;
    config->rma_lanes = 1;
    by_lane           = unpack_key(lent.local.ep, lent.memh);
    ck_assert_int_gt(by_lane->config->put.short_end, 8);

    memset(data, 'a', 1 << 20);
    ck_assert_ptr_eq(ucp_put_nbx(lent.local.ep, "first", 5, lent_at(&lent, 8),
                                 by_lane, &plain),
                     NULL);
    requests[0] = ucp_put_nbx(lent.local.ep, data, 1 << 20, lent_at(&lent, 0),
                              lent.rkey, &plain);
    ck_assert_int_eq(ucp_worker_fence(lent.local.worker), UCS_OK);
    requests[1] = ucp_put_nbx(lent.local.ep, "later", 5, lent_at(&lent, 0),
                              by_lane, &plain);
    ck_assert(UCS_PTR_IS_PTR(requests[1]));
    ck_assert_int_ne(lent.memory[0], 'l');
    ck_assert_int_eq(ucp_worker_fence(lent.local.worker), UCS_OK);
    requests[2] = ucp_put_nbx(lent.local.ep, "LATEST", 6, lent_at(&lent, 0),
                              lent.rkey, &plain);
    ck_assert_int_eq(lent_flush(&lent), UCS_OK);
    ck_assert_int_eq(memcmp(lent.memory, "LATESTaa", 8), 0);
    ck_assert_int_eq(lent.memory[(1 << 20) - 1], 'a');
    ck_assert_int_eq(local_wait(&lent.local, requests[0]), UCS_OK);
    ck_assert_int_eq(local_wait(&lent.local, requests[1]), UCS_OK);
    ck_assert_int_eq(local_wait(&lent.local, requests[2]), UCS_OK);
    ucp_rkey_destroy(by_lane);
    take_back(&lent);
}
END_TEST

/* The endpoint is closed by force while accesses are outstanding, some of them
 * after a fence: each is cancelled. */
START_TEST(a_forced_close_ends_accesses)
{
    ucp_request_param_t force = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_EP_CLOSE_FLAG_FORCE,
    };
    ucs_status_ptr_t requests[4];
    lent_t lent;
    int i;

    lend(&lent, BY_MESSAGES, 1 << 20);
    lent.local.ep->remote_lanes |= 1;
    requests[0] = ucp_get_nbx(lent.local.ep, back, 1 << 20, lent_at(&lent, 0),
                              lent.rkey, &plain);
    requests[1] = ucp_put_nbx(lent.local.ep, data, 1 << 20, lent_at(&lent, 0),
                              lent.rkey, &plain);
    ck_assert_int_eq(ucp_worker_fence(lent.local.worker), UCS_OK);
    requests[2] = ucp_get_nbx(lent.local.ep, back, 8, lent_at(&lent, 0),
                              lent.rkey, &plain);
    requests[3] = ucp_ep_flush_nbx(lent.local.ep, &plain);
    ck_assert_ptr_eq(ucp_ep_close_nbx(lent.local.ep, &force), NULL);
    for (i = 0; i < 4; ++i) {
        /* this put may have completed at once */
        ck_assert((i == 1) || UCS_PTR_IS_PTR(requests[i]));
        ck_assert_int_eq(local_wait(&lent.local, requests[i]),
                         (requests[i] == NULL) ? UCS_OK : UCS_ERR_CANCELED);
    }
    ucp_rkey_destroy(lent.rkey);
    ucp_mem_unmap(lent.local.context, lent.memh);
    ucp_worker_destroy(lent.local.worker);
    ucp_cleanup(lent.local.context);
    free(lent.memory);
}
END_TEST

/* A close with flush waits until the peer has acknowledged the puts. */
START_TEST(a_close_flushes_first)
{
    ucs_status_ptr_t put, close;
    lent_t lent;

    lend(&lent, BY_MESSAGES, 1 << 20);
    fill(data, 1 << 20, 9);
    put   = ucp_put_nbx(lent.local.ep, data, 1 << 20, lent_at(&lent, 0),
                        lent.rkey, &plain);
    close = ucp_ep_close_nbx(lent.local.ep, &plain);
    ck_assert_int_eq(local_wait(&lent.local, close), UCS_OK);
    ck_assert_int_eq(local_wait(&lent.local, put), UCS_OK);
    ck_assert_int_eq(memcmp(lent.memory, data, 1 << 20), 0);
    ucp_rkey_destroy(lent.rkey);
    ucp_mem_unmap(lent.local.context, lent.memh);
    ucp_worker_destroy(lent.local.worker);
    ucp_cleanup(lent.local.context);
    free(lent.memory);
}
END_TEST

/* Several threads use one worker in multi-threaded mode, each with a part of
 * the memory. Meanwhile one of them also maps and unmaps memory. */
enum { THREADS = 4, ROUNDS = 200, PART = 20000 };

typedef struct {
    lent_t *lent;
    unsigned index;
    unsigned bad;
} rma_thread_t;

static void *access_part(void *arg)
{
    rma_thread_t *self = arg;
    size_t offset      = self->index * PART;
    char *out          = malloc(PART);
    char *in           = malloc(PART);
    unsigned i;

    for (i = 0; i < ROUNDS; ++i) {
        size_t length = (i % 8 == 0) ? PART : 1 + i;

        fill(out, length, i + self->index);
        self->bad += (lent_put(self->lent, out, length, offset) != UCS_OK);
        self->bad += (lent_flush(self->lent) != UCS_OK);
        self->bad += (lent_get(self->lent, in, length, offset) != UCS_OK);
        self->bad += (memcmp(in, out, length) != 0);
        if (self->index == 0) {
            ucp_mem_map_params_t params = {
                .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                              UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                .address = out,
                .length  = PART,
            };
            ucp_mem_h memh;

            self->bad += (ucp_mem_map(self->lent->local.context, &params,
                                      &memh) != UCS_OK);
            ucp_rkey_destroy(unpack_key(self->lent->local.ep, memh));
            ucp_mem_unmap(self->lent->local.context, memh);
        }
    }
    free(in);
    free(out);
    return NULL;
}

static void by_threads(way_t way)
{
    rma_thread_t threads[THREADS];
    pthread_t ids[THREADS];
    lent_t lent;
    unsigned i;

    lend_mode(&lent, way, THREADS * PART, UCP_MEM_PROT_ALL,
              UCS_THREAD_MODE_MULTI);
    for (i = 0; i < THREADS; ++i) {
        threads[i] = (rma_thread_t){&lent, i, 0};
        ck_assert_int_eq(pthread_create(&ids[i], NULL, access_part,
                                        &threads[i]),
                         0);
    }
    for (i = 0; i < THREADS; ++i) {
        pthread_join(ids[i], NULL);
        ck_assert_uint_eq(threads[i].bad, 0);
    }
    take_back(&lent);
}

START_TEST(threads_share_a_worker)
{
    by_threads(BY_LANE);
    by_threads(BY_MESSAGES);
}
END_TEST

SUITE_MAIN("ucp rma", every_size_is_put_and_got_by_lane,
           every_size_is_put_and_got_by_messages, the_key_says_how_it_goes,
           pieces_of_memory_are_gathered_and_scattered,
           requests_and_callbacks_follow_the_wishes,
           a_request_of_the_users_is_used, what_lies_outside_is_refused,
           what_is_not_allowed_is_refused, the_owner_checks_for_itself,
           memory_that_was_unmapped_is_out_of_reach,
           a_flush_covers_all_before_it, a_flush_covers_outstanding_puts,
           a_fence_orders_accesses_by_different_ways,
           a_forced_close_ends_accesses, a_close_flushes_first,
           threads_share_a_worker)
