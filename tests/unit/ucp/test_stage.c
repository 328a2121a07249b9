/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Staged memory, with a copier that the test emulates: the division of copies,
 * which copies are waited for, and failures. Also lanes that access such memory
 * directly, without copies.
 */
#include "rma.h"

#include "ucp/dt/dt.h"
#include "ucp/stage/copier.h"

#define STAGED_TYPE UCS_MEMORY_TYPE_ROCM

enum { SIZE = 300000 };

static char memory[SIZE], data[SIZE];

/* The emulated copier: its behaviour and its calls. */
static struct {
    uct_iface_t      iface;
    uct_ep_t         ep;
    ucx_iface_ops_t  iface_ops;
    ucx_ep_ops_t     ep_ops;
    ucp_stage_t      stage;
    ucp_copier_t     copier;
    /* This number of posts returns UCS_ERR_NO_RESOURCE */
    unsigned         no_room;
    unsigned         fail_at;      /* Index of the post that fails, from 1 */
    ucs_status_t     short_status;
    int              at_once;      /* Posts complete before they return */
    uct_completion_t *held[64];
    struct {
        char         *to;
        const char   *from;
        size_t       length;
    } copies[64];                  /* The copies of the held posts */
    unsigned         num_held, posts, shorts, flushes, rounds;
    size_t           least, most;  /* Lengths of posts */
    size_t           most_short;
} play;

static ucs_status_t play_short(char *to, const char *from, unsigned length)
{
    ++play.shorts;
    play.most_short = (length > play.most_short) ? length : play.most_short;
    memcpy(to, from, length);
    return play.short_status;
}

static ucs_status_t put_short(uct_ep_h ep, const void *buffer, unsigned length,
                              uint64_t address, uct_rkey_t rkey)
{
    return play_short((char *)(uintptr_t)address, buffer, length);
}

static ucs_status_t get_short(uct_ep_h ep, void *buffer, unsigned length,
                              uint64_t address, uct_rkey_t rkey)
{
    return play_short(buffer, (char *)(uintptr_t)address, length);
}

static ucs_status_t post(char *to, const char *from, size_t length,
                         uct_completion_t *comp)
{
    if (play.no_room > 0) {
        --play.no_room;
        return UCS_ERR_NO_RESOURCE;
    }
    if (++play.posts == play.fail_at) {
        return UCS_ERR_IO_ERROR;
    }
    play.least = (length < play.least) ? length : play.least;
    play.most  = (length > play.most) ? length : play.most;
    if (play.at_once) {
        memcpy(to, from, length);
        return UCS_OK;
    }
    ck_assert_uint_lt(play.num_held, 64);
    play.copies[play.num_held].to     = to;
    play.copies[play.num_held].from   = from;
    play.copies[play.num_held].length = length;
    play.held[play.num_held++]        = comp;
    return UCS_INPROGRESS;
}

static ucs_status_t put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t address, uct_rkey_t rkey,
                              uct_completion_t *comp)
{
    ck_assert_uint_eq(iovcnt, 1);
    return post((char *)(uintptr_t)address, iov->buffer, iov->length, comp);
}

static ucs_status_t get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t address, uct_rkey_t rkey,
                              uct_completion_t *comp)
{
    ck_assert_uint_eq(iovcnt, 1);
    return post(iov->buffer, (char *)(uintptr_t)address, iov->length, comp);
}

static ucs_status_t flush(uct_ep_h ep, unsigned flags, uct_completion_t *comp)
{
    ++play.flushes;
    return UCS_OK;
}

/* Every second round completes the most recent post, so that posts complete out
 * of order. */
static unsigned progress(uct_iface_h iface)
{
    uct_completion_t *comp;

    if ((++play.rounds % 2 != 0) || (play.num_held == 0)) {
        return 0;
    }
    --play.num_held;
    memcpy(play.copies[play.num_held].to, play.copies[play.num_held].from,
           play.copies[play.num_held].length);
    comp = play.held[play.num_held];
    if (--comp->count == 0) {
        comp->func(comp);
    }
    return 1;
}

/* Adds a stage with this copier for one memory type to the worker. */
static void install(ucp_worker_h worker)
{
    memset(&play, 0, sizeof(play));
    play.least                = SIZE_MAX;
    play.iface_ops.progress   = progress;
    play.ep_ops.put_short     = put_short;
    play.ep_ops.get_short     = get_short;
    play.ep_ops.put_zcopy     = put_zcopy;
    play.ep_ops.get_zcopy     = get_zcopy;
    play.ep_ops.flush         = flush;
    play.iface.ops            = &play.iface_ops;
    play.ep.ops               = &play.ep_ops;
    play.ep.iface             = &play.iface;
    play.copier.stage         = &play.stage;
    play.copier.iface         = &play.iface;
    play.copier.ep            = &play.ep;
    play.copier.max_put_short = 10;
    play.copier.max_get_short = 10;
    play.copier.max_put_zcopy = 1000;
    play.copier.max_get_zcopy = 1000;
    play.copier.min_put_zcopy = 20;
    play.copier.min_get_zcopy = 20;
    play.copier.frag_size     = 1000;
    ucs_list_head_init(&play.copier.idle);
    play.stage.worker         = worker;
    play.stage.copiers        = &play.copier;
    play.stage.num_copiers    = 1;
    play.stage.progress_id    = UCS_CALLBACKQ_ID_NULL;
    play.stage.by_type[STAGED_TYPE] = &play.copier;
    ucs_list_head_init(&play.stage.waiting);
    ucs_list_head_init(&play.stage.copying);
    ucs_list_head_init(&play.stage.done);
    worker->stage  = &play.stage;
    worker->flags |= UCP_WORKER_FLAG_STAGE;
}

static void uninstall(ucp_worker_h worker)
{
    ucp_stage_finish(&play.stage);
    ucp_stage_frags_free(&play.copier);
    ck_assert_uint_eq(play.copier.num_frags, 0);
    worker->stage  = NULL;
    worker->flags &= ~UCP_WORKER_FLAG_STAGE;
}

static void open_staged(local_t *local)
{
    local_open(local);
    install(local->worker);
    fill(memory, SIZE, 1);
    memset(data, 0, SIZE);
}

static void close_staged(local_t *local)
{
    uninstall(local->worker);
    local_close(local);
}

static const ucp_request_param_t hinted = {
    .op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE,
    .memory_type  = STAGED_TYPE
};

/* ------------------------------------------------------- blocking copies -- */

START_TEST(a_copy_is_cut_as_the_copier_can)
{
    local_t local;
    size_t length;

    open_staged(&local);
    for (length = 0; length < 3100; length += (length < 40) ? 1 : 99) {
        memset(data, 0, length + 1);
        ck_assert_int_eq(ucp_stage_copy(&play.copier, memory, data, length, 0),
                         UCS_OK);
        ck_assert_mem_eq(data, memory, length);
        ck_assert_int_eq(data[length], 0);
    }
    ck_assert_uint_eq(play.most_short, 10);
    ck_assert_uint_ge(play.least, 20);
    ck_assert_uint_eq(play.most, 1000);
    close_staged(&local);
}
END_TEST

START_TEST(a_copier_without_room_is_asked_again)
{
    local_t local;

    open_staged(&local);
    play.no_room = 5;
    ck_assert_int_eq(ucp_stage_copy(&play.copier, data, memory, 2500, 1),
                     UCS_OK);
    ck_assert_mem_eq(data, memory, 2500);
    ck_assert_uint_eq(play.posts, 3);
    close_staged(&local);
}
END_TEST

START_TEST(a_short_copy_that_was_only_taken_is_flushed)
{
    local_t local;

    open_staged(&local);
    play.short_status = UCS_INPROGRESS;
    ck_assert_int_eq(ucp_stage_copy(&play.copier, data, memory, 8, 1), UCS_OK);
    ck_assert_uint_eq(play.flushes, 1);
    close_staged(&local);
}
END_TEST

START_TEST(a_failed_copy_fails_what_it_was_for)
{
    ucp_dt_iter_t iter;
    local_t local;

    open_staged(&local);
    play.fail_at = 2;
    ck_assert_int_eq(ucp_stage_copy(&play.copier, memory, data, 2500, 0),
                     UCS_ERR_IO_ERROR);

    ck_assert_int_eq(ucp_dt_iter_begin(local.worker, &iter, memory, 500,
                                       &hinted, 0), UCS_OK);
    ck_assert_int_eq(iter.dt_class, UCP_DT_CLASS_STAGED);
    play.fail_at = play.posts + 1;
    ck_assert_uint_eq(ucp_dt_iter_pack(&iter, data, 500), 0);
    ck_assert_uint_eq(iter.offset, 0);
    play.fail_at = play.posts + 1;
    ck_assert_int_eq(ucp_dt_iter_unpack(&iter, 0, data, 500),
                     UCS_ERR_IO_ERROR);
    close_staged(&local);
}
END_TEST

START_TEST(a_list_of_places_is_walked_in_any_order)
{
    ucp_dt_iov_t iov[] = {{memory, 100}, {NULL, 0}, {memory + 200, 7},
                          {memory + 300, 1500}};
    ucp_request_param_t param = hinted;
    char packed[1607], expected[1607];
    ucp_dt_iter_t iter;
    local_t local;
    size_t done = 0;

    open_staged(&local);
    memcpy(expected, memory, 100);
    memcpy(expected + 100, memory + 200, 7);
    memcpy(expected + 107, memory + 300, 1500);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    param.datatype      = ucp_dt_make_iov();
    ck_assert_int_eq(ucp_dt_iter_begin(local.worker, &iter, iov, 4, &param, 0),
                     UCS_OK);
    ck_assert_int_eq(iter.dt_class, UCP_DT_CLASS_STAGED);
    ck_assert(!ucp_dt_iter_is_flat(&iter));
    while (done < sizeof(packed)) {
        done += ucp_dt_iter_pack(&iter, packed + done, 90);
    }
    ck_assert_mem_eq(packed, expected, sizeof(packed));

    /* a failed call packs nothing, and the next one continues at the same
     * position */
    ucp_dt_iter_rewind(&iter);
    ck_assert_uint_eq(ucp_dt_iter_pack(&iter, packed, 95), 95);
    play.fail_at = play.posts + 1;
    ck_assert_uint_eq(ucp_dt_iter_pack(&iter, packed, 500), 0);
    ck_assert_uint_eq(ucp_dt_iter_pack(&iter, packed, 40), 40);
    ck_assert_mem_eq(packed, expected + 95, 40);

    memset(memory, 0, SIZE);
    ck_assert_int_eq(ucp_dt_iter_unpack(&iter, 95, expected + 95, 1512),
                     UCS_OK);
    ck_assert_int_eq(ucp_dt_iter_unpack(&iter, 0, expected, 95), UCS_OK);
    ck_assert_mem_eq(memory, expected, 100);
    ck_assert_mem_eq(memory + 200, expected + 100, 7);
    ck_assert_mem_eq(memory + 300, expected + 107, 1500);
    ck_assert_int_eq(memory[100], 0);
    close_staged(&local);
}
END_TEST

/* ------------------------------------------------------------- fragments -- */

static unsigned num_told, num_failed;

static void told(ucp_stage_frag_t *frag)
{
    ++num_told;
    num_failed += (frag->status != UCS_OK);
    ucp_stage_frag_put(frag);
}

static ucp_stage_frag_t *start(size_t offset, size_t length, void *req)
{
    ucp_stage_frag_t *frag = ucp_stage_frag_get(&play.copier);

    ck_assert_ptr_nonnull(frag);
    memcpy(frag->data, memory + offset, length);
    frag->req    = req;
    frag->memory = data + offset;
    frag->length = length;
    ucp_stage_frag_start(frag, 1, told);
    return frag;
}

START_TEST(fragments_are_told_of_from_progress_alone)
{
    local_t local;
    int i;

    open_staged(&local);
    num_told = num_failed = 0;
    ck_assert(!ucp_stage_is_busy(&play.stage));
    play.at_once = 1;
    start(0, 1000, NULL);
    play.at_once = 0;
    start(1000, 1000, NULL);
    play.no_room = 3;
    start(2000, 1000, NULL);
    start(3000, 5, NULL);     /* too short for a post */
    ck_assert(ucp_stage_is_busy(&play.stage));

    /* no callback is called while another operation waits for a copy */
    ck_assert_int_eq(ucp_stage_copy(&play.copier, memory, data + 5000, 100, 0),
                     UCS_OK);
    ck_assert_uint_eq(num_told, 0);
    for (i = 0; i < 20; ++i) {
        ucp_worker_progress(local.worker);
    }
    ck_assert_uint_eq(num_told, 4);
    ck_assert_uint_eq(num_failed, 0);
    ck_assert_mem_eq(data, memory, 3005);
    ck_assert(!ucp_stage_is_busy(&play.stage));
    ck_assert_int_eq(play.stage.progress_id, UCS_CALLBACKQ_ID_NULL);
    close_staged(&local);
}
END_TEST

START_TEST(a_fragment_whose_copy_fails_says_so)
{
    local_t local;

    open_staged(&local);
    num_told = num_failed = 0;
    play.fail_at = 1;
    start(0, 1000, NULL);
    ck_assert_uint_eq(num_told, 0);
    ucp_worker_progress(local.worker);
    ck_assert_uint_eq(num_told, 1);
    ck_assert_uint_eq(num_failed, 1);
    close_staged(&local);
}
END_TEST

START_TEST(fragments_are_limited_and_used_again)
{
    ucp_stage_frag_t *frags[100];
    local_t local;
    unsigned i, count = 0;

    open_staged(&local);
    while ((count < 100) &&
           ((frags[count] = ucp_stage_frag_get(&play.copier)) != NULL)) {
        ++count;
    }
    ck_assert_uint_ge(count, 4);
    ck_assert_uint_lt(count, 100);
    ucp_stage_frag_put(frags[2]);
    ck_assert_ptr_eq(ucp_stage_frag_get(&play.copier), frags[2]);
    for (i = 0; i < count; ++i) {
        ucp_stage_frag_put(frags[i]);
    }
    close_staged(&local);
}
END_TEST

START_TEST(what_is_forgotten_touches_no_memory_any_more)
{
    ucp_stage_frag_t *frag, *waiting;
    ucp_request_t *req, *other;
    local_t local;

    open_staged(&local);
    num_told = num_failed = 0;
    req   = ucp_request_get_internal(local.worker);
    other = ucp_request_get_internal(local.worker);
    frag  = start(0, 1000, req);
    start(1000, 1000, other);
    play.no_room = 1000;
    waiting = start(2000, 1000, req);
    ucp_stage_forget(&play.stage, req);
    ck_assert_mem_eq(data, memory, 1000);       /* was in flight */
    ck_assert_ptr_null(frag->req);
    ck_assert_ptr_null(waiting->req);
    memset(data, 0, SIZE);
    play.no_room = 0;
    ucp_stage_finish(&play.stage);
    ck_assert_uint_eq(num_told, 3);
    ck_assert_uint_eq(num_failed, 1);
    ck_assert_int_eq(data[0], 0);
    ck_assert_int_eq(data[2000], 0);
    ucp_request_put(req);
    ucp_request_put(other);
    close_staged(&local);
}
END_TEST

/* -------------------------------------------------------------- messages -- */

/* Returns the status of the send. */
static ucs_status_t exchange(local_t *local, size_t length,
                             ucs_status_t received)
{
    ucs_status_ptr_t send, recv;

    memset(data, 0, SIZE);
    recv = ucp_tag_recv_nbx(local->worker, data, length, 1, UINT64_MAX,
                            &hinted);
    send = ucp_tag_send_nbx(local->ep, memory, length, 1, &hinted);
    ck_assert_int_eq(local_wait(local, recv), received);
    if (received == UCS_OK) {
        ck_assert_mem_eq(data, memory, length);
    }
    return local_wait(local, send);
}

START_TEST(messages_go_through_fragments)
{
    static const size_t sizes[] = {1, 10, 500, 5000, 20000, 20001, SIZE};
    local_t local;
    unsigned i;

    open_staged(&local);
    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        ck_assert_int_eq(exchange(&local, sizes[i], UCS_OK), UCS_OK);
    }
    close_staged(&local);
}
END_TEST

START_TEST(a_copy_that_fails_ends_both_sides)
{
    ucs_status_t status;
    local_t local;
    unsigned at;

    open_staged(&local);
    for (at = 1; at < 30; at += 7) {
        play.fail_at = play.posts + at;
        status       = exchange(&local, 20000, UCS_ERR_IO_ERROR);
        /* later failures may be the receiver's, which the sender does not
         * see */
        ck_assert((status == UCS_ERR_IO_ERROR) ||
                  ((status == UCS_OK) && (at > 4)));
        play.fail_at = 0;
        ck_assert_int_eq(exchange(&local, 20000, UCS_OK), UCS_OK);
    }
    close_staged(&local);
}
END_TEST

START_TEST(an_endpoint_that_ends_waits_for_its_copies)
{
    static const ucp_request_param_t force = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_EP_CLOSE_FLAG_FORCE
    };
    ucs_status_ptr_t send, recv;
    local_t local;
    int i;

    open_staged(&local);
    recv = ucp_tag_recv_nbx(local.worker, data, SIZE, 1, UINT64_MAX, &hinted);
    send = ucp_tag_send_nbx(local.ep, memory, SIZE, 1, &hinted);
    for (i = 0; (play.num_held == 0) && (i < 100); ++i) {
        ucp_worker_progress(local.worker);
    }
    ck_assert_uint_gt(play.num_held, 0);
    local_wait(&local, ucp_ep_close_nbx(local.ep, &force));
    ck_assert_int_eq(local_wait(&local, send), UCS_ERR_CANCELED);
    for (i = 0; i < 1000; ++i) {
        ucp_worker_progress(local.worker);
    }
    /* the reply endpoint belongs to the same worker: the receive may still
     * wait */
    if (ucp_request_check_status(recv) == UCS_INPROGRESS) {
        ucp_request_free(recv);
    } else {
        ck_assert_int_lt(local_wait(&local, recv), 0);
    }
    uninstall(local.worker);
    ucp_worker_destroy(local.worker);
    ucp_cleanup(local.context);
}
END_TEST

/* Memory that a lane can access is sent by zero-copy, without the copier. */
static void exchange_directly(const char *scheme)
{
    ucp_ep_config_t *config;
    local_t local;

    setenv("UCX_RNDV_SCHEME", scheme, 1);
    open_staged(&local);
    unsetenv("UCX_RNDV_SCHEME");
    config = (ucp_ep_config_t *)local.ep->config;
    config->lanes[0].mem_types    |= UCS_BIT(STAGED_TYPE);
    config->lanes[0].remote_types |= UCS_BIT(STAGED_TYPE);
    config->lanes[0].md_flags  |= UCT_MD_FLAG_NEED_RKEY;
    ck_assert_int_eq(exchange(&local, SIZE, UCS_OK), UCS_OK);
    ck_assert_uint_eq(play.posts + play.shorts, 0);

    config->lanes[0].mem_types    &= ~UCS_BIT(STAGED_TYPE);
    config->lanes[0].remote_types &= ~UCS_BIT(STAGED_TYPE);
    ck_assert_int_eq(exchange(&local, SIZE, UCS_OK), UCS_OK);
    ck_assert_uint_gt(play.posts, 0);
    close_staged(&local);
}

/* The lane cannot access the receiver's memory: fetched data is staged. */
START_TEST(what_is_fetched_goes_through_fragments)
{
    static const ucp_request_param_t none = {0};
    ucs_status_ptr_t send, recv;
    ucp_ep_config_t *config;
    local_t local;
    unsigned fail_at;

    setenv("UCX_RNDV_SCHEME", "get_zcopy", 1);
    open_staged(&local);
    unsetenv("UCX_RNDV_SCHEME");
    config = (ucp_ep_config_t *)local.ep->config;
    config->lanes[0].md_flags |= UCT_MD_FLAG_NEED_RKEY;
    for (fail_at = 0; fail_at < 20; fail_at += 6) {
        memset(data, 0, SIZE);
        play.posts   = 0;
        play.fail_at = fail_at;
        recv = ucp_tag_recv_nbx(local.worker, data, SIZE, 1, UINT64_MAX,
                                &hinted);
        send = ucp_tag_send_nbx(local.ep, memory, SIZE, 1, &none);
        ck_assert_int_eq(local_wait(&local, recv), (fail_at == 0) ?
                         UCS_OK : UCS_ERR_IO_ERROR);
        ck_assert_int_eq(local_wait(&local, send), UCS_OK);
        if (fail_at == 0) {
            ck_assert_mem_eq(data, memory, SIZE);
        }
        ck_assert_uint_gt(play.posts, 0);
    }
    close_staged(&local);
}
END_TEST

START_TEST(a_lane_that_reaches_the_memory_needs_no_copies)
{
    exchange_directly("get_zcopy");
    exchange_directly("put_zcopy");
}
END_TEST

START_TEST(puts_and_gets_of_a_lane_that_reaches_need_no_copies)
{
    ucp_ep_config_t *config;
    lent_t lent;
    int direct;

    lend(&lent, BY_LANE, SIZE);
    install(lent.local.worker);
    config = (ucp_ep_config_t *)lent.local.ep->config;
    for (direct = 0; direct < 2; ++direct) {
        if (direct) {
            config->lanes[0].mem_types |= UCS_BIT(STAGED_TYPE);
        }
        play.posts = 0;
        fill(memory, SIZE, 5 + direct);
        ck_assert_int_eq(local_wait(&lent.local,
                                    ucp_put_nbx(lent.local.ep, memory, SIZE,
                                                lent_at(&lent, 0), lent.rkey,
                                                &hinted)), UCS_OK);
        ck_assert_int_eq(lent_flush(&lent), UCS_OK);
        ck_assert_mem_eq(lent.memory, memory, SIZE);
        memset(data, 0, SIZE);
        ck_assert_int_eq(local_wait(&lent.local,
                                    ucp_get_nbx(lent.local.ep, data, SIZE,
                                                lent_at(&lent, 0), lent.rkey,
                                                &hinted)), UCS_OK);
        ck_assert_mem_eq(data, memory, SIZE);
        ck_assert_int_eq(play.posts == 0, direct);
    }
    uninstall(lent.local.worker);
    take_back(&lent);
}
END_TEST

/* ----------------------------------------------------------------- types -- */

START_TEST(memory_that_nobody_can_copy_is_refused)
{
    ucp_request_param_t param = hinted;
    ucp_dt_iter_t iter;
    local_t local;

    local_open(&local); /* no copier */
    ck_assert_int_eq(ucp_dt_iter_begin(local.worker, &iter, memory, 8, &param,
                                       0), UCS_ERR_UNSUPPORTED);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(ucp_tag_send_nbx(local.ep, memory, 8, 1,
                                                         &param)),
                     UCS_ERR_UNSUPPORTED);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(ucp_tag_recv_nbx(
                             local.worker, memory, 8, 1, 0, &param)),
                     UCS_ERR_UNSUPPORTED);
    param.memory_type = (ucs_memory_type_t)(UCS_MEMORY_TYPE_LAST + 1);
    ck_assert_int_eq(ucp_dt_iter_begin(local.worker, &iter, memory, 8, &param,
                                       0), UCS_ERR_INVALID_PARAM);

    /* host-accessible memory needs no copier, and neither does zero-length
     * data */
    param.memory_type = UCS_MEMORY_TYPE_ROCM_MANAGED;
    ck_assert_int_eq(ucp_dt_iter_begin(local.worker, &iter, memory, 8, &param,
                                       0), UCS_OK);
    ck_assert_int_eq(iter.dt_class, UCP_DT_CLASS_CONTIG);
    ck_assert_int_eq(iter.mem_type, UCS_MEMORY_TYPE_ROCM_MANAGED);
    param.memory_type = UCS_MEMORY_TYPE_UNKNOWN;
    ck_assert_int_eq(ucp_dt_iter_begin(local.worker, &iter, memory, 8, &param,
                                       0), UCS_OK);
    param.memory_type = STAGED_TYPE;
    ck_assert_int_eq(ucp_dt_iter_begin(local.worker, &iter, memory, 0, &param,
                                       0), UCS_OK);
    local_close(&local);
}
END_TEST

SUITE_MAIN("staged memory", a_copy_is_cut_as_the_copier_can,
           a_copier_without_room_is_asked_again,
           a_short_copy_that_was_only_taken_is_flushed,
           a_failed_copy_fails_what_it_was_for,
           a_list_of_places_is_walked_in_any_order,
           fragments_are_told_of_from_progress_alone,
           a_fragment_whose_copy_fails_says_so,
           fragments_are_limited_and_used_again,
           what_is_forgotten_touches_no_memory_any_more,
           messages_go_through_fragments,
           a_copy_that_fails_ends_both_sides,
           an_endpoint_that_ends_waits_for_its_copies,
           what_is_fetched_goes_through_fragments,
           a_lane_that_reaches_the_memory_needs_no_copies,
           puts_and_gets_of_a_lane_that_reaches_need_no_copies,
           memory_that_nobody_can_copy_is_refused)
