/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a forked child does with the parent's contexts and handlers: it drops
 * all handlers and closes the event sets. If a callback forks, the event set of
 * its loop stays open until the callback returns. If the callback runs in the
 * service thread, the child ends then, unless it has started threads. The
 * contexts stay, without handlers. They are unblocked, except those that the
 * forking thread blocks. The parent is not affected.
 */
#include "ucs/async/internal.h"

#include <stdlib.h>


static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void fork_before(void)
{
    async_lock();
}

static void fork_in_parent(void)
{
    async_unlock();
}

/* Returns whether `thread` is the thread that called fork(). The child has only
 * this thread, so that locks which other threads held would never be
 * released. */
static int is_mine(pthread_t thread)
{
    return pthread_equal(thread, pthread_self());
}

static void context_reset(ucs_async_context_t *async)
{
    async->missed        = 0;
    async->signal_missed = NULL;
    async->num_handlers  = 0;
    ucs_list_head_init(&async->missed_list);
    if (async->loop != NULL) {
        async_loop_leave(async->loop);
        async->loop = NULL;
    }

    if (is_mine(async->owner)) {
        return; /* the forking thread blocks the context, also in the child */
    }

    async->pollers = 0;
    async->owner   = UCS_ASYNC_PTHREAD_ID_NULL;
    async->depth   = 0;
    if (async->mode == UCS_ASYNC_MODE_THREAD_MUTEX) {
        pthread_mutex_init(&async->lock.mutex, NULL);
    } else {
        (void)ucs_spinlock_init(&async->lock.spin, 0);
    }
}

static void fork_in_child(void)
{
    async_loop_t *loop, *next_loop;
    ucs_async_context_t *async;
    async_handler_t *handler;

    async_unlock(); /* this thread locked it in fork_before() */
    pthread_cond_init(&async_global.done, NULL);

    ucs_hash_for_each(handler, &async_global.by_seq) {
        handler->is_removed = 1;
        handler->is_armed   = 0;
        if (!(handler->is_running && is_mine(handler->runner)) &&
            !handler->signal_running) {
            free(handler);
        }
    }
    ucs_hash_cleanup(&async_global.by_id);
    ucs_hash_cleanup(&async_global.by_seq);

    async_signal_after_fork();
    ucs_list_for_each(async, &async_global.contexts, list) {
        context_reset(async);
    }

    if (async_global.poll_loop != NULL) {
        async_loop_leave(async_global.poll_loop);
        async_global.poll_loop = NULL;
    }

    if (async_global.thread_loop != NULL) {
        ucs_list_add_tail(&async_global.ended,
                          &async_global.thread_loop->ended);
        async_global.thread_loop = NULL;
    }

    ucs_list_for_each_safe(loop, next_loop, &async_global.ended, ended) {
        loop->stop = 1;
        ucs_list_del(&loop->ended);
        if (is_mine(loop->thread)) {
            async_loop_disown(loop); /* thread_main() still uses it */
        } else {
            async_loop_destroy(loop);
        }
    }
}

static void fork_register(void)
{
    pthread_atfork(fork_before, fork_in_parent, fork_in_child);
}

void async_fork_prepare_once(void)
{
    pthread_once(&fork_once, fork_register);
}
