/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asynchronous events of a device: a port that goes down or up, a device that
 * fails or is removed, a queue pair that fails. All interfaces of a memory
 * domain share the device's descriptor of asynchronous events. Each interface
 * has a watch (ib_watch_t) with a handler for that descriptor, which runs on a
 * service thread of the core. Any of these handlers may read an event; it
 * passes the event to the watches of all interfaces that the event concerns.
 *
 *   device event -> handler (service thread) -> `pending` of each watch
 *                -> callback of the interface (worker's thread)
 */
#ifndef IB_WATCH_H
#define IB_WATCH_H

#include "list.h"
#include "md.h"

typedef struct ib_watch ib_watch_t;

/* Callbacks of an interface. Called by the worker's thread, from progress. */
typedef struct ib_watch_ops {
    /* The port was down for ib_watch_t.patience, or is down and no timer could
     * be started. The callback fails all endpoints with
     * UCS_ERR_ENDPOINT_TIMEOUT. The device is usable. */
    void (*port_lost)(ib_watch_t *watch);
    /* The device does not complete requests any more. The callback ends all
     * requests, and fails all endpoints with UCS_ERR_NO_DEVICE. Called once. */
    void (*device_lost)(ib_watch_t *watch);
    /* A queue pair of the device is in the error state. It may belong to
     * another interface, so the callback checks the interface's own queue
     * pairs. */
    void (*qp_failed)(ib_watch_t *watch);
} ib_watch_ops_t;

struct ib_watch {
    const ib_watch_ops_t *ops; /* NULL: not started, or stopped */
    ib_md_t *md;
    uct_worker_h worker;
    ib_link_t link;   /* Node in ib_md_t.watches */
    double patience;  /* Seconds for which the port may be down before port_lost
                       * is called */
    uint8_t port;     /* Number of the interface's port */
    uint8_t is_down;  /* The port is down; accessed by the worker's thread
                       * only */
    uint8_t is_gone;  /* The device is lost; accessed by the worker's thread
                       * only */
    int epoll_fd;     /* Contains the device's descriptor of events */
    unsigned pending; /* Bits of the events that the worker's thread has to
                       * handle (watch.c); accessed atomically */
    /* The handler of epoll_fd, and the timer that measures `patience` while the
     * port is down. timer_id is 0 while the timer does not run */
    ucx_async_id_t event_id, timer_id;
};

/* Starts the watch of an interface. The parameters are the members of the same
 * names. Called by the worker's thread. */
ucs_status_t ib_watch_start(ib_watch_t *watch, const ib_watch_ops_t *ops,
                            ib_md_t *md, uct_worker_h worker, uint8_t port,
                            double patience);

/* Stops the watch: no callback is called any more. Does nothing if the watch is
 * zero-initialized or its start has failed. Called by the worker's thread. */
void ib_watch_stop(ib_watch_t *watch);

/* Initialize and release ib_md_t.watches. */
ucs_status_t ib_watches_init(ib_md_t *md);
void ib_watches_cleanup(ib_md_t *md);

#endif
