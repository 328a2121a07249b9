/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_worker_t: the opened interfaces, the state of the classes of operations
 * (classes.h), the endpoints, and what progress needs.
 */
#ifndef UCP_WORKER_H
#define UCP_WORKER_H

#include <pthread.h>
#include <ucx/transport.h>

#include "ucp/base/area.h"
#include "ucp/base/context.h"
#include "ucp/base/lane.h"
#include "ucp/base/request.h"
#include "ucp/base/reserve.h"
#include "ucp/classes.h"
#include "ucs/datastruct/hash.h"
#include "uct/base/iface.h"
#include "uct/base/worker.h"

/** An interface that the worker has opened. */
typedef struct ucp_worker_iface {
    ucp_worker_h worker;
    uct_iface_h iface;
    const ucx_iface_attr_t *attr;
    uint8_t resource; /**< Index of its resource in the context */
    /** The transport allows progress to stop polling the interface (idle.h) */
    uint8_t may_idle;
    uint8_t is_idle; /**< Only ucp_idle_poll() polls it */
    /** Number of further polls of the idle interfaces (one in 50 microseconds)
     *  after which this interface becomes idle; counts down while it has no
     *  endpoints */
    uint16_t polls_left;
    int event_fd; /**< -1 if it has none */
    /** Latency in seconds from the worker's cpu_mask to the device; 0 without a
     *  cpu_mask */
    double cpu_distance;
    ucp_lane_config_t lane; /**< Capabilities of lanes on this interface */
} ucp_worker_iface_t;

enum {
    /** Several threads use the worker concurrently */
    UCP_WORKER_FLAG_MT       = UCS_BIT(0),
    UCP_WORKER_FLAG_WAKEUP   = UCS_BIT(1), /**< The context has
                                            *   UCP_FEATURE_WAKEUP: epoll_fd
                                            *   and signal_fd are set up */
    UCP_WORKER_FLAG_EDGE     = UCS_BIT(2),
    /** epoll_fd is the user's epoll set */
    UCP_WORKER_FLAG_EXT_EFD  = UCS_BIT(3),
    /** Do not warn about leaked requests */
    UCP_WORKER_FLAG_NO_LEAKS = UCS_BIT(4),
    /** The context has copiers, transports that copy between host memory and
     *  memory of a device (stage/stage.h): the user's buffers may be in memory
     *  that the processor cannot access */
    UCP_WORKER_FLAG_STAGE    = UCS_BIT(5),
    /** The worker counts statistics: `stats` is set */
    UCP_WORKER_FLAG_STATS    = UCS_BIT(6),
};

#define UCP_WORKER_AREA(_name, _worker, _ep, _bits) UCP_AREA(_name, _worker);

struct ucp_worker {
    /* Hot path: progress and small messages use these members. */
    uct_worker_h uct;
    uint32_t flags; /**< UCP_WORKER_FLAG_* */
    /** Total bytes received in tagged messages, and in active messages of
     *  several fragments or by a rendezvous; not in synchronous sends of one
     *  fragment. The folder learn/ includes them in the rates that it
     *  measures */
    uint64_t received;
    struct {
        /** Calls of progress until idle interfaces may be polled; counts
         *  down */
        uint32_t rounds;
        /** Time when idle interfaces were last polled, in cycles */
        uint64_t polled_at;
    } idle; /**< When idle interfaces are polled again (idle.h) */
    ucs_mpool_t requests;
    /** Sends that were in `deferred` when the running call of progress began.
     *  This call completes them when the transports have sent their data */
    ucs_queue_head_t leaving;
    /** Sends for which am_short has returned UCS_INPROGRESS: the transport has
     *  copied the data, and sends it in its next progress. The next call of
     *  progress completes these sends */
    ucs_queue_head_t deferred;
    struct {
        UCP_CLASSES(UCP_WORKER_AREA)
        /** State of the classes of operations: a member for each row in
     *  classes.h */
    } areas;

    ucp_context_h context;
    /** Random number, which identifies the worker to other processes */
    uint64_t uuid;
    ucs_async_context_t *async;
    pthread_mutex_t lock; /**< Recursive; used with FLAG_MT */
    ucs_thread_mode_t thread_mode;
    /** UCP_WAKEUP_*: the events for which the user wants to be woken */
    unsigned events;
    void *user_data;
    uint64_t client_id;
    /** Number of the worker in this process, counted from 1 */
    unsigned serial;
    char name[UCP_ENTITY_NAME_MAX];

    ucp_worker_iface_t *ifaces;
    unsigned num_ifaces;
    /** The copiers of the worker (stage/stage.h); NULL without FLAG_STAGE */
    struct ucp_stage *stage;
    struct ucp_worker_stats *stats; /**< NULL without FLAG_STATS */

    int epoll_fd;  /**< -1 without FLAG_WAKEUP */
    int signal_fd; /**< An eventfd in epoll_fd, which ucp_worker_signal()
                    *   writes */

    ucs_list_link_t eps; /**< All endpoints */
    /** Endpoints for replies to peers, by hash of the peer's ucp_wire_end_t
     *  (wireup/introduce.h) */
    ucs_hash_t reply_eps;
    /** Endpoints that ucp_ep_schedule() was called for. `scheduled`: for the
     *  next progress, in reverse order of the calls; `scheduled_now`: those
     *  that the running call of progress has not handled yet. Linked by
     *  ucp_ep::scheduled_next */
    ucp_ep_h scheduled, scheduled_now;
    uct_oneshot_t schedule; /**< Registered while `scheduled` is not empty */
    /** The last endpoint that was found in reply_eps, tried first at the next
     *  search; or NULL */
    ucp_ep_h reply_last;
    struct ucp_id_table *request_ids;
    struct ucp_id_table *ep_ids;
    /** All configurations of endpoints; endpoints with equal lanes share one */
    ucp_ep_config_t **configs;
    unsigned num_configs;
    ucp_reserve_t reserve; /**< Memory that is freed if the memory for a
                            *   received message cannot be allocated
                            *   (reserve.h) */
};
typedef struct ucp_worker ucp_worker_t;

/* Take and release the worker's lock. Without FLAG_MT (thread modes SINGLE and
 * SERIALIZED) there is no lock, and each costs one predictable branch. */
static UCS_F_ALWAYS_INLINE void ucp_worker_enter(ucp_worker_h worker)
{
    if (ucs_unlikely(worker->flags & UCP_WORKER_FLAG_MT)) {
        pthread_mutex_lock(&worker->lock);
    }
}

static UCS_F_ALWAYS_INLINE void ucp_worker_leave(ucp_worker_h worker)
{
    if (ucs_unlikely(worker->flags & UCP_WORKER_FLAG_MT)) {
        pthread_mutex_unlock(&worker->lock);
    }
}

/** Returns the transport and device of an interface. */
static inline const ucp_resource_t *
ucp_worker_iface_resource(ucp_worker_h worker, unsigned iface_index)
{
    return &worker->context->resources[worker->ifaces[iface_index].resource];
}

/** Headroom in bytes that interfaces leave before a received message. A class
 *  stores its descriptor there if the user keeps the message. */
enum { UCP_RX_HEADROOM = 32 };

/** Bytes that UCP's own headers may take in a message; the user's header of an
 *  active message may use the rest. */
enum { UCP_AM_HEADER_RESERVE = 192 };

#endif
