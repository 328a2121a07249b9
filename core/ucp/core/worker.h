/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worker: a set of opened interfaces, the queues of messages that wait to
 * be matched, and the progress that moves them.
 */
#ifndef UCP_WORKER_H
#define UCP_WORKER_H

#include <pthread.h>
#include <ucx/transport.h>

#include "ucp/am/am.h"
#include "ucp/core/context.h"
#include "ucp/core/keepalive.h"
#include "ucp/core/request.h"
#include "ucp/core/reserve.h"
#include "ucp/proto/proto.h"
#include "ucp/stream/stream.h"
#include "ucp/tag/match.h"
#include "ucs/datastruct/hash.h"
#include "uct/base/iface.h"
#include "uct/base/worker.h"

/** An interface that the worker has opened. */
typedef struct ucp_worker_iface {
    ucp_worker_h           worker;
    uct_iface_h            iface;
    const ucx_iface_attr_t *attr;
    uint8_t                resource;   /**< Index in the context */
    uint8_t                may_idle;   /**< See idle.h */
    uint8_t                is_idle;    /**< Progress does not poll it */
    uint16_t               looks_left; /**< Until it is, without endpoints */
    int                    event_fd;   /**< -1: none */
    double                 cpu_distance; /**< Seconds from the worker's cpu_mask;
                                            0 without one */
    ucp_lane_config_t      lane;       /**< What a lane over it can do */
} ucp_worker_iface_t;

enum {
    UCP_WORKER_FLAG_MT       = UCS_BIT(0), /**< Several threads at once */
    UCP_WORKER_FLAG_WAKEUP   = UCS_BIT(1), /**< The efd may be asked for */
    UCP_WORKER_FLAG_EDGE     = UCS_BIT(2),
    UCP_WORKER_FLAG_EXT_EFD  = UCS_BIT(3), /**< The user's epoll set */
    UCP_WORKER_FLAG_NO_LEAKS = UCS_BIT(4), /**< Leaked requests are no news */
    UCP_WORKER_FLAG_STAGE    = UCS_BIT(5), /**< Buffers may be of memory that
                                                the processor may not touch */
    UCP_WORKER_FLAG_STATS    = UCS_BIT(6)  /**< Progress is counted */
};

struct ucp_worker {
    /* What progress and the small-message path touch comes first. */
    uct_worker_h         uct;
    uint32_t             flags;          /**< UCP_WORKER_FLAG_* */
    struct {
        uint32_t         rounds;         /**< Until the clock is looked at */
        uint64_t         looked_at;      /**< Cycles */
    } idle;                              /**< See idle.h */
    ucs_mpool_t          requests;
    ucs_queue_head_t     leaving;        /**< Deferred sends that complete with
                                              the progress under way */
    ucs_queue_head_t     deferred;       /**< Sends that complete with the next
                                              progress */
    ucp_tag_match_t      tm;
    ucp_am_worker_t      am;

    ucp_context_h        context;
    uint64_t             uuid;           /**< Unlike any other worker's */
    ucs_async_context_t  *async;
    pthread_mutex_t      lock;           /**< Recursive; with FLAG_MT */
    ucs_thread_mode_t    thread_mode;
    unsigned             events;         /**< UCP_WAKEUP_* */
    void                 *user_data;
    uint64_t             client_id;
    unsigned             serial;         /**< Among the process's workers */
    char                 name[UCP_ENTITY_NAME_MAX];

    ucp_worker_iface_t   *ifaces;
    unsigned             num_ifaces;
    struct ucp_stage     *stage;         /**< With FLAG_STAGE */
    struct ucp_worker_stats *stats;      /**< With FLAG_STATS, else NULL */

    int                  epoll_fd;       /**< -1 until wake-up is set up */
    int                  signal_fd;      /**< An eventfd in it */

    ucs_list_link_t      eps;            /**< All endpoints */
    ucs_hash_t           reply_eps;      /**< Chains by mixed wire end */
    ucp_ep_h             reply_last;     /**< Of them, the last one that was
                                              looked up; or NULL */
    ucs_list_link_t      owing;          /**< Endpoints whose peers' accesses
                                              this round has to acknowledge */
    int                  owing_cb;       /**< The callback that does it, while
                                              there are any */
    struct ucp_id_table  *request_ids;
    struct ucp_id_table  *ep_ids;
    ucp_ep_config_t      **configs;      /**< Shared by endpoints alike */
    unsigned             num_configs;
    struct ucp_rma_config *rma_configs;  /**< Likewise, by remote keys */
    ucp_stream_worker_t  streams;
    ucp_keepalive_t      keepalive;
    ucp_reserve_t        reserve;        /**< For what peers have sent */
    struct ucp_cm_worker *cms;           /**< NULL until one is needed */
    ucs_list_link_t      pieces;         /**< Of wire-up: half received */
    unsigned             num_pieces;
    ucs_list_link_t      refusals;       /**< Of wire-up: still leaving */
    unsigned             num_refusals;
};
typedef struct ucp_worker ucp_worker_t;

/* In SINGLE and SERIALIZED mode both cost one predictable branch. */
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

/** The transport and device of an interface. */
static inline const ucp_resource_t *
ucp_worker_iface_resource(ucp_worker_h worker, unsigned iface_index)
{
    return &worker->context->resources[worker->ifaces[iface_index].resource];
}

/** Completes sends that were taken and copied but had not left. */
void ucp_worker_complete_deferred(ucp_worker_h worker, ucs_queue_head_t *queue);

/** Likewise for those of one endpoint, which has been flushed. */
void ucp_worker_complete_deferred_of(ucp_worker_h worker, ucp_ep_h ep);

/** Bytes of a message that UCP's own active message headers may take. */
enum { UCP_AM_HEADER_RESERVE = 192 };

/** Wake-up: the part of a worker that sleeps. */
ucs_status_t ucp_worker_wakeup_init(ucp_worker_h worker,
                                    const ucp_worker_params_t *params);
void ucp_worker_wakeup_cleanup(ucp_worker_h worker);

#endif
