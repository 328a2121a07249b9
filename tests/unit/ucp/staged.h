/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Helpers for tests of staged memory: memory that the processor cannot access.
 * UCP sends it through fragments of host memory, and a transport that can
 * access both ("copier", ucp/stage/copier.h) copies between them. The copier is
 * emulated here, and the staged memory is ordinary memory of the type
 * STAGED_TYPE.
 */
#ifndef TESTS_UCP_STAGED_H
#define TESTS_UCP_STAGED_H

#include "rma.h"

#include "ucp/stage/copier.h"

#define STAGED_TYPE UCS_MEMORY_TYPE_ROCM

enum { SIZE = 300000 };

static char memory[SIZE], data[SIZE];

/* The emulated copier: its behaviour, which the test sets, and a record of its
 * calls. A post is the start of an asynchronous copy. */
static struct {
    uct_iface_t iface;
    uct_ep_t ep;
    ucx_iface_ops_t iface_ops;
    ucx_ep_ops_t ep_ops;
    ucp_stage_t stage;
    ucp_copier_t copier;
    /* Number of posts to fail with UCS_ERR_NO_RESOURCE; counts down */
    unsigned no_room;
    /* Number of the post that fails with UCS_ERR_IO_ERROR, from 1, without
     * those that failed because of `no_room`; 0: none */
    unsigned fail_at;
    /* What copies by put_short and get_short return */
    ucs_status_t short_status;
    /* Posts complete before they return; otherwise progress() completes them */
    int at_once;
    uct_completion_t *held[64];
    struct {
        char *to;
        const char *from;
        size_t length;
    } copies[64]; /* The copies of the held posts, by the same index */
    /* num_held: entries in held[]. The others count calls: `posts` all posts
     * but those that failed because of `no_room`, `shorts` those of put_short
     * and get_short, `rounds` those of progress(). */
    unsigned num_held, posts, shorts, flushes, rounds;
    size_t least, most; /* Bytes of the shortest and of the longest post */
    size_t most_short;  /* Bytes of the longest blocking (short) copy */
} play;

static inline ucs_status_t play_short(char *to, const char *from,
                                      unsigned length)
{
    ++play.shorts;
    play.most_short = (length > play.most_short) ? length : play.most_short;
    memcpy(to, from, length);
    return play.short_status;
}

static inline ucs_status_t put_short(uct_ep_h ep, const void *buffer,
                                     unsigned length, uint64_t address,
                                     uct_rkey_t rkey)
{
    return play_short((char *)(uintptr_t)address, buffer, length);
}

static inline ucs_status_t get_short(uct_ep_h ep, void *buffer, unsigned length,
                                     uint64_t address, uct_rkey_t rkey)
{
    return play_short(buffer, (char *)(uintptr_t)address, length);
}

static inline ucs_status_t post(char *to, const char *from, size_t length,
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

static inline ucs_status_t put_zcopy(uct_ep_h ep, const uct_iov_t *iov,
                                     size_t iovcnt, uint64_t address,
                                     uct_rkey_t rkey, uct_completion_t *comp)
{
    ck_assert_uint_eq(iovcnt, 1);
    return post((char *)(uintptr_t)address, iov->buffer, iov->length, comp);
}

static inline ucs_status_t get_zcopy(uct_ep_h ep, const uct_iov_t *iov,
                                     size_t iovcnt, uint64_t address,
                                     uct_rkey_t rkey, uct_completion_t *comp)
{
    ck_assert_uint_eq(iovcnt, 1);
    return post(iov->buffer, (char *)(uintptr_t)address, iov->length, comp);
}

static inline ucs_status_t flush(uct_ep_h ep, unsigned flags,
                                 uct_completion_t *comp)
{
    ++play.flushes;
    return UCS_OK;
}

/* In every second call, completes the most recent post that is held, so that
 * posts complete out of order. */
static inline unsigned progress(uct_iface_h iface)
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

/* Sets the emulated copier as the one for STAGED_TYPE in the worker. */
static inline void install(ucp_worker_h worker)
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
    play.stage.worker               = worker;
    play.stage.copiers              = &play.copier;
    play.stage.num_copiers          = 1;
    play.stage.progress_id          = UCS_CALLBACKQ_ID_NULL;
    play.stage.by_type[STAGED_TYPE] = &play.copier;
    ucs_list_head_init(&play.stage.waiting);
    ucs_list_head_init(&play.stage.copying);
    ucs_list_head_init(&play.stage.done);
    worker->stage = &play.stage;
    worker->flags |= UCP_WORKER_FLAG_STAGE;
}

static inline void uninstall(ucp_worker_h worker)
{
    ucp_stage_finish(&play.stage);
    ucp_stage_frags_free(&play.copier);
    ck_assert_uint_eq(play.copier.num_frags, 0);
    worker->stage = NULL;
    worker->flags &= ~UCP_WORKER_FLAG_STAGE;
}

static inline void open_staged(local_t *local)
{
    local_open(local);
    install(local->worker);
    fill(memory, SIZE, 1);
    memset(data, 0, SIZE);
}

static inline void close_staged(local_t *local)
{
    uninstall(local->worker);
    local_close(local);
}

static const ucp_request_param_t hinted = {
    .op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE,
    .memory_type  = STAGED_TYPE,
};

#endif
