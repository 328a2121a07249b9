/* SPDX-License-Identifier: BSD-3-Clause */
/* watch: events of a device reach the interfaces that they concern. The event
 * functions of libibverbs and the services of the host (ucx_host_t) are
 * replaced here: they record handlers and scheduled calls, which the tests then
 * call. */
#include "../src/watch.h"
#include "suite.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    WATCHES  = 3, /* Number of interfaces: two on port 1, one on port 2 */
    MAX_WAIT = 8, /* Maximum number of events, and of scheduled calls */
};

/* The simulated device. */
static struct {
    struct ibv_async_event events[MAX_WAIT]; /* Not yet read, oldest first */
    /* Length of `events`; number of acknowledged events */
    unsigned num_events, num_acks;
    int end_errno; /* errno of ibv_get_async_event() if there is no event */
    enum ibv_port_state port_state[3]; /* Indexed by port number */
} device;

/* Handlers of descriptors (fd_cb) and timers (timer_cb). The handler with the
 * id `id` has the index id - 1. */
static struct {
    ucx_async_fd_cb_t fd_cb;
    ucx_async_timer_cb_t timer_cb;
    void *arg;       /* Of the handler; NULL: the handler was removed */
    double interval; /* Of a timer, in seconds */
    int fd;
} handlers[2 * MAX_WAIT];

/* Calls that progress has to make once, oldest first. */
static struct {
    ucx_oneshot_cb_t cb;
    void *arg;
} calls[MAX_WAIT];

static unsigned num_handlers, num_calls;
static int log_level = -1;

/* The interfaces, with the numbers of calls of their callbacks. */
static struct {
    ib_watch_t watch;
    unsigned ports_lost, devices_lost, qps_failed;
} ifaces[WATCHES];

static struct ibv_device verbs_device;
static struct ibv_context context = {.device = &verbs_device};
static ib_md_t md;

/* --- libibverbs ----------------------------------------------------------- */

int ibv_get_async_event(struct ibv_context *ctx, struct ibv_async_event *event)
{
    if (device.num_events == 0) {
        errno = device.end_errno;
        return -1;
    }
    *event = device.events[0];
    memmove(device.events, device.events + 1,
            --device.num_events * sizeof(*event));
    return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
    ++device.num_acks;
}

#undef ibv_query_port
int ibv_query_port(struct ibv_context *ctx, uint8_t port,
                   struct _compat_ibv_port_attr *attr)
{
    ((struct ibv_port_attr *)attr)->state = device.port_state[port];
    return 0;
}

/* --- The host ------------------------------------------------------------- */

static ucs_status_t add_fd(uct_worker_h worker, int fd, int events,
                           ucx_async_fd_cb_t cb, void *arg, ucx_async_id_t *id)
{
    handlers[num_handlers].fd    = fd;
    handlers[num_handlers].fd_cb = cb;
    handlers[num_handlers].arg   = arg;
    *id                          = ++num_handlers;
    return UCS_OK;
}

static ucs_status_t add_timer(uct_worker_h worker, double interval,
                              ucx_async_timer_cb_t cb, void *arg,
                              ucx_async_id_t *id)
{
    handlers[num_handlers].interval = interval;
    handlers[num_handlers].timer_cb = cb;
    handlers[num_handlers].arg      = arg;
    *id                             = ++num_handlers;
    return UCS_OK;
}

static void remove_handler(ucx_async_id_t id)
{
    if (id != 0) {
        handlers[id - 1].arg = NULL;
    }
}

static ucs_status_t oneshot(uct_worker_h worker, ucx_oneshot_cb_t cb, void *arg)
{
    ck_assert_uint_lt(num_calls, MAX_WAIT);
    calls[num_calls].cb    = cb;
    calls[num_calls++].arg = arg;
    return UCS_OK;
}

static void cancel(uct_worker_h worker, ucx_oneshot_cb_t cb, void *arg)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < num_calls; ++i) {
        if ((calls[i].cb != cb) || (calls[i].arg != arg)) {
            calls[kept++] = calls[i];
        }
    }
    num_calls = kept;
}

static const ucx_host_t host = {
    .size             = sizeof(host),
    .log_level        = &log_level,
    .async_add_fd     = add_fd,
    .async_add_timer  = add_timer,
    .async_remove     = remove_handler,
    .progress_oneshot = oneshot,
    .progress_cancel  = cancel,
};

/* --- Interfaces ----------------------------------------------------------- */

static int index_of(ib_watch_t *watch)
{
    for (int i = 0; i < WATCHES; ++i) {
        if (watch == &ifaces[i].watch) {
            return i;
        }
    }
    ck_abort_msg("unknown watch");
}

static void port_lost(ib_watch_t *watch)
{
    ++ifaces[index_of(watch)].ports_lost;
}

static void device_lost(ib_watch_t *watch)
{
    ++ifaces[index_of(watch)].devices_lost;
}

static void qp_failed(ib_watch_t *watch)
{
    ++ifaces[index_of(watch)].qps_failed;
}

static const ib_watch_ops_t ops = {
    .port_lost   = port_lost,
    .device_lost = device_lost,
    .qp_failed   = qp_failed,
};

static void setup(void)
{
    memset(&device, 0, sizeof(device));
    memset(handlers, 0, sizeof(handlers));
    memset(ifaces, 0, sizeof(ifaces));
    device.end_errno     = EAGAIN;
    device.port_state[1] = device.port_state[2] = IBV_PORT_ACTIVE;
    num_handlers = num_calls = 0;
    context.async_fd         = eventfd(0, EFD_NONBLOCK);
    md.context               = &context;
    md.host                  = &host;
    ck_assert_int_eq(ib_watches_init(&md), UCS_OK);
    for (int i = 0; i < WATCHES; ++i) {
        ck_assert_int_eq(ib_watch_start(&ifaces[i].watch, &ops, &md, NULL,
                                        (i < 2) ? 1 : 2, 3.5),
                         UCS_OK);
    }
}

static void teardown(void)
{
    for (int i = 0; i < WATCHES; ++i) {
        ib_watch_stop(&ifaces[i].watch);
    }
    for (unsigned i = 0; i < num_handlers; ++i) {
        ck_assert_ptr_null(handlers[i].arg);
    }
    ck_assert_uint_eq(num_calls, 0);
    ib_watches_cleanup(&md);
    close(context.async_fd);
}

static void event_add(enum ibv_event_type type, int port)
{
    struct ibv_async_event *event = &device.events[device.num_events++];

    event->event_type       = type;
    event->element.port_num = port;
}

/* Calls the event handler of interface `i`, as the service thread does when the
 * device's descriptor is readable. */
static void handle(int i)
{
    ib_watch_t *watch = &ifaces[i].watch;

    handlers[watch->event_id - 1].fd_cb(watch->epoll_fd, UCS_EVENT_SET_EVREAD,
                                        handlers[watch->event_id - 1].arg);
}

static void progress(void)
{
    unsigned num = num_calls;

    num_calls = 0;
    for (unsigned i = 0; i < num; ++i) {
        calls[i].cb(calls[i].arg);
    }
}

static int timer_is_set(int i)
{
    ucx_async_id_t id = ifaces[i].watch.timer_id;

    return (id != 0) && (handlers[id - 1].arg != NULL);
}

static void fire_timer(int i)
{
    ucx_async_id_t id = ifaces[i].watch.timer_id;

    handlers[id - 1].timer_cb(handlers[id - 1].arg);
}

/* --- Tests ---------------------------------------------------------------- */

START_TEST(port_that_stays_down_is_lost)
{
    setup();
    device.port_state[1] = IBV_PORT_DOWN;
    event_add(IBV_EVENT_PORT_ERR, 1);
    handle(2); /* Any of the handlers may read the event */
    ck_assert_uint_eq(device.num_acks, 1);
    ck_assert_uint_eq(ifaces[0].ports_lost, 0);
    progress();
    for (int i = 0; i < 2; ++i) {
        ck_assert(timer_is_set(i));
        ck_assert(handlers[ifaces[i].watch.timer_id - 1].interval == 3.5);
        ck_assert_uint_eq(ifaces[i].ports_lost, 0);
        fire_timer(i);
        progress();
        ck_assert_uint_eq(ifaces[i].ports_lost, 1);
        ck_assert(!timer_is_set(i));
    }
    ck_assert(!timer_is_set(2)); /* The other port is not affected */
    ck_assert_uint_eq(ifaces[2].ports_lost, 0);
    teardown();
}
END_TEST

START_TEST(port_that_returns_is_not_lost)
{
    setup();
    device.port_state[1] = IBV_PORT_DOWN;
    event_add(IBV_EVENT_PORT_ERR, 1);
    handle(0);
    progress();
    ck_assert(timer_is_set(0));
    device.port_state[1] = IBV_PORT_ACTIVE;
    event_add(IBV_EVENT_PORT_ACTIVE, 1);
    handle(0);
    /* The timer expires before the worker handles the event. */
    fire_timer(0);
    progress();
    ck_assert(!timer_is_set(0));
    ck_assert_uint_eq(ifaces[0].ports_lost, 0);
    /* The port goes down again. */
    device.port_state[1] = IBV_PORT_DOWN;
    event_add(IBV_EVENT_PORT_ERR, 1);
    handle(0);
    progress();
    ck_assert(timer_is_set(0));
    teardown();
}
END_TEST

START_TEST(events_that_come_together_leave_the_last_state)
{
    setup();
    event_add(IBV_EVENT_PORT_ERR, 1);
    event_add(IBV_EVENT_PORT_ACTIVE, 1);
    handle(0);
    ck_assert_uint_eq(num_calls, 2); /* One call for each watch of the port */
    progress();
    ck_assert(!timer_is_set(0));

    device.port_state[1] = IBV_PORT_DOWN;
    event_add(IBV_EVENT_PORT_ACTIVE, 1);
    event_add(IBV_EVENT_PORT_ERR, 1);
    handle(0);
    progress();
    ck_assert(timer_is_set(0));
    teardown();
}
END_TEST

START_TEST(fatal_event_ends_all_interfaces_once)
{
    setup();
    device.port_state[1] = IBV_PORT_DOWN;
    event_add(IBV_EVENT_PORT_ERR, 1);
    handle(0);
    progress();
    event_add(IBV_EVENT_DEVICE_FATAL, 0);
    event_add(IBV_EVENT_QP_FATAL, 0);
    event_add(IBV_EVENT_DEVICE_FATAL, 0);
    handle(0);
    progress();
    event_add(IBV_EVENT_DEVICE_FATAL, 0);
    handle(1);
    progress();
    for (int i = 0; i < WATCHES; ++i) {
        ck_assert_uint_eq(ifaces[i].devices_lost, 1);
        ck_assert_uint_eq(ifaces[i].qps_failed, 0);
        ck_assert(!timer_is_set(i));
    }
    ck_assert_uint_eq(device.num_acks, 5);
    teardown();
}
END_TEST

/* The descriptor of a removed device stays readable, so each watch must stop
 * monitoring it. */
START_TEST(removed_device_ends_all_and_is_not_polled)
{
    struct pollfd fd = {.events = POLLIN};

    setup();
    device.end_errno = EIO;
    ck_assert_int_eq(eventfd_write(context.async_fd, 1), 0);
    for (int i = 0; i < WATCHES; ++i) {
        fd.fd = ifaces[i].watch.epoll_fd;
        ck_assert_int_eq(poll(&fd, 1, 0), 1);
        handle(i);
        ck_assert_int_eq(poll(&fd, 1, 0), 0);
    }
    progress();
    for (int i = 0; i < WATCHES; ++i) {
        ck_assert_uint_eq(ifaces[i].devices_lost, 1);
    }
    teardown();
}
END_TEST

START_TEST(queue_pair_events_reach_the_interfaces)
{
    static const enum ibv_event_type types[] = {
        IBV_EVENT_QP_FATAL,
        IBV_EVENT_QP_REQ_ERR,
        IBV_EVENT_QP_ACCESS_ERR,
        IBV_EVENT_QP_LAST_WQE_REACHED,
    };

    setup();
    for (unsigned i = 0; i < 4; ++i) {
        event_add(types[i], 0);
        handle(0);
        progress();
        ck_assert_uint_eq(ifaces[1].qps_failed, i + 1);
        ck_assert_uint_eq(device.num_acks, i + 1);
    }
    event_add(IBV_EVENT_GID_CHANGE, 1);
    handle(0);
    ck_assert_uint_eq(num_calls, 0);
    teardown();
}
END_TEST

START_TEST(stopped_watch_is_not_called)
{
    setup();
    event_add(IBV_EVENT_DEVICE_FATAL, 0);
    handle(1);
    ib_watch_stop(&ifaces[0].watch);
    progress();
    ck_assert_uint_eq(ifaces[0].devices_lost, 0);
    ck_assert_uint_eq(ifaces[1].devices_lost, 1);
    teardown();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        port_that_stays_down_is_lost,
        port_that_returns_is_not_lost,
        events_that_come_together_leave_the_last_state,
        fatal_event_ends_all_interfaces_once,
        removed_device_ends_all_and_is_not_polled,
        queue_pair_events_reach_the_interfaces,
        stopped_watch_is_not_called,
    };

    return suite_run("watch", tests, sizeof(tests) / sizeof(tests[0]), 30);
}
