/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records which plugin's function each thread is in, to check how long the
 * calls take (rule 13), and that callbacks to users run only inside them (rule
 * 16).
 */
#include "uct/check/internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

/* Seconds. A call that takes this long, not counting the time in which other
 * programs used the processor, has blocked, whatever the machine. */
#define SLOW_CALL 1.0

/* Number of slow calls per interface that are not reported: on a busy machine,
 * the kernel for example may delay a call. */
#define SLOW_CALLS_MAX 1

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

/* Returns the duration of a call. If the thread did not wait, only processor
 * time counts: the rest of the elapsed time was used by other programs. */
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

typedef struct wrapped {
    struct wrapped *next;
    ucx_progress_cb_t cb;
    void *arg;
    uct_worker_h worker;
    int id;
} wrapped_t;

static wrapped_t *all_wrapped;

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
