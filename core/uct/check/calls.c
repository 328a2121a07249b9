/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records which functions of plugins each thread is in. Rule 13 of sdk/ABI.md:
 * they must not block. Rule 16: callbacks of users are called inside them only.
 */
#include "uct/check/internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

/* Seconds. No function needs this long without blocking, even on a slow
 * machine. Time in which other programs use the processor does not count. */
#define SLOW_CALL 1.0

/* Number of slow calls of an interface that are not reported, because the
 * machine may have caused them. */
#define SLOW_CALLS_MAX 1

/* The function of a plugin that this thread has called last and that has not
 * returned; NULL: none. */
static __thread uct_check_call_t *innermost;

static double seconds_of(const struct timeval *time)
{
    return (double)time->tv_sec + (double)time->tv_usec * 1e-6;
}

static void used_now(uct_check_used_t *used)
{
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    used->processor = seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime);
    used->waits     = usage.ru_nvcsw;
    used->wall      = ucs_time_to_sec(ucs_get_time());
}

uct_check_call_t *uct_check_call_now(void)
{
    return innermost;
}

void uct_check_call_begin(uct_check_call_t *call, uct_check_iface_t *iface,
                          const char *slot, uct_check_kind_t kind)
{
    call->outer = innermost;
    call->iface = iface;
    call->slot  = slot;
    call->kind  = kind;
    innermost   = call;
    if (iface != NULL) {
        uct_check_count_call(iface->tl->subject);
    }
    used_now(&call->start);
}

/* Returns the duration of a call in seconds. If the thread has waited in the
 * call, this is the elapsed time. Otherwise it is the processor time, because
 * other programs have used the processor for the rest of the elapsed time. */
static double call_time(const uct_check_call_t *call)
{
    uct_check_used_t now;

    used_now(&now);
    return (now.waits > call->start.waits) ?
               now.wall - call->start.wall :
               now.processor - call->start.processor;
}

void uct_check_call_end(uct_check_call_t *call)
{
    double seconds = call_time(call);

    innermost = call->outer;
    if ((call->iface == NULL) || (seconds < SLOW_CALL)) {
        return;
    }
    if (++call->iface->num_slow > SLOW_CALLS_MAX) {
        uct_check_report(call->iface->tl->name, 13, call->slot,
                         "the call took %.1f s; no operation may block",
                         seconds);
    }
}

void uct_check_user_begin(uct_check_used_t *start)
{
    used_now(start);
}

void uct_check_user_end(const uct_check_used_t *start)
{
    uct_check_call_t *call = innermost;
    uct_check_used_t now;

    if (call == NULL) {
        return; /* no plugin's function is running */
    }
    used_now(&now);
    call->start.wall += now.wall - start->wall;
    call->start.processor += now.processor - start->processor;
    call->start.waits += now.waits - start->waits;
}

void uct_check_place(const char *who, const char *slot)
{
    if (innermost == NULL) {
        uct_check_report(who, 16, slot,
                         "a callback to the user runs on a thread that is in "
                         "no call of the transport; pass the work to progress "
                         "by progress_oneshot");
    }
}

/* --- Progress callbacks that the plugin adds ------------------------------ */

void uct_check_oneshot(ucx_oneshot_cb_t cb, void *arg)
{
    uct_check_call_t call;

    uct_check_call_begin(&call, NULL, "progress_oneshot", UCT_CHECK_PROGRESS);
    cb(arg);
    uct_check_call_end(&call);
}

/* A progress callback of a plugin, and the argument of the callback that
 * replaces it (run_wrapped). */
typedef struct wrapped {
    struct wrapped *next; /* link in all_wrapped */
    ucx_progress_cb_t cb; /* the plugin's */
    void *arg;            /* its argument */
    uct_worker_h worker;
    int id; /* of the callback in the worker */
} wrapped_t;

static wrapped_t *all_wrapped; /* protected by uct_check_lock() */

static unsigned run_wrapped(void *arg)
{
    const wrapped_t *wrapped = arg;
    uct_check_call_t call;
    unsigned count;

    uct_check_call_begin(&call, NULL, "progress_add", UCT_CHECK_PROGRESS);
    count = wrapped->cb(wrapped->arg);
    uct_check_call_end(&call);
    return count;
}

ucs_status_t uct_check_progress_wrap(ucx_progress_cb_t *cb_p, void **arg_p)
{
    wrapped_t *wrapped;

    wrapped = calloc(1, sizeof(*wrapped));
    if (wrapped == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    wrapped->cb  = *cb_p;
    wrapped->arg = *arg_p;
    *cb_p        = run_wrapped;
    *arg_p       = wrapped;
    return UCS_OK;
}

void uct_check_progress_added(uct_worker_h worker, void *arg, int id)
{
    wrapped_t *wrapped = arg;

    if (id < 0) {
        free(wrapped);
        return;
    }
    wrapped->worker = worker;
    wrapped->id     = id;
    uct_check_lock();
    wrapped->next = all_wrapped;
    all_wrapped   = wrapped;
    uct_check_unlock();
}

void uct_check_progress_removed(uct_worker_h worker, int id)
{
    wrapped_t **link, *wrapped = NULL;

    uct_check_lock();
    for (link = &all_wrapped; *link != NULL; link = &(*link)->next) {
        if (((*link)->worker == worker) && ((*link)->id == id)) {
            wrapped = *link;
            *link   = wrapped->next;
            break;
        }
    }
    uct_check_unlock();
    free(wrapped);
}
