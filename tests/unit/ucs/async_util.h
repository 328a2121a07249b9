/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers for the tests of asynchronous events: a handler (probe_cb) that
 * counts its calls, and waiting for a number of calls with a time limit. */
#ifndef TESTS_UCS_ASYNC_UTIL_H
#define TESTS_UCS_ASYNC_UTIL_H

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ucs/async/async.h"
#include "ucs/time/time.h"

#define WAIT_SECONDS 20

/* The argument of probe_cb(). "atomic": accessed by atomic operations while the
 * handler may run in another thread. */
typedef struct {
    int fd;          /* an eventfd; probe_cb() reads it if it is the source */
    unsigned count;  /* atomic: number of calls */
    unsigned inside; /* atomic: number of calls that are running */
    /* atomic: 1: the handler may be called, 0: it was removed */
    int alive;
    unsigned events; /* atomic: events of the last call */
} probe_t;

__attribute__((unused)) static void
probe_cb(int id, ucs_event_set_types_t events, void *arg)
{
    probe_t *probe = arg;
    eventfd_t value;

    ck_assert_uint_eq(__atomic_add_fetch(&probe->inside, 1, __ATOMIC_ACQ_REL),
                      1);
    ck_assert_int_eq(__atomic_load_n(&probe->alive, __ATOMIC_ACQUIRE), 1);
    if (id == probe->fd) {
        eventfd_read(probe->fd, &value);
    }
    __atomic_store_n(&probe->events, (unsigned)events, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&probe->inside, 1, __ATOMIC_ACQ_REL);
    __atomic_add_fetch(&probe->count, 1, __ATOMIC_RELEASE);
}

__attribute__((unused)) static void probe_init(probe_t *probe)
{
    memset(probe, 0, sizeof(*probe));
    probe->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    ck_assert_int_ge(probe->fd, 0);
    probe->alive = 1;
}

__attribute__((unused)) static unsigned probe_count(probe_t *probe)
{
    return __atomic_load_n(&probe->count, __ATOMIC_ACQUIRE);
}

/* Waits until the handler has been called at least `count` times; fails after
 * WAIT_SECONDS. */
__attribute__((unused)) static void probe_wait(probe_t *probe, unsigned count)
{
    ucs_time_t deadline = ucs_get_time() + ucs_time_from_sec(WAIT_SECONDS);

    while (probe_count(probe) < count) {
        ck_assert_msg(ucs_get_time() < deadline, "%u of %u calls",
                      probe_count(probe), count);
        sched_yield();
    }
}

#endif
