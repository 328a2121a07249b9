/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote keys as they are used, and how put, get and atomics go with them. What
 * keys that open the same lanes of endpoints alike have in common stands in a
 * configuration of theirs.
 */
#ifndef UCP_RKEY_H
#define UCP_RKEY_H

#include "ucp/rma/rma.h"

/** Put or get: the lanes of each kind of transfer, and the choice by size. */
typedef struct ucp_rma_way {
    uint8_t           short_lane;  /**< UCP_NULL_LANE: none */
    uint8_t           bcopy_lane;
    uint8_t           zcopy_lane;
    ucp_rails_t       rails;       /**< It, and those that large transfers are
                                        divided among beside it */
    size_t            short_end;   /**< Plain transfers of fewer bytes go over
                                        short_lane; 0: none */
    ucp_proto_table_t tables[UCP_DT_CLASS_LAST];
} ucp_rma_way_t;

struct ucp_rma_config {
    struct ucp_rma_config *next;      /**< Of the worker */
    const ucp_ep_config_t *ep_config;
    ucp_lane_map_t        lanes;      /**< That the key opens */
    uint8_t               by_cpu;     /**< The peer can do it in its progress */
    uint8_t               amo_lane;   /**< UCP_NULL_LANE: none */
    size_t                am_put_end; /**< Puts of fewer bytes that no lane does
                                           better go without a request */
    ucp_rma_way_t         put, get;
};
typedef struct ucp_rma_config ucp_rma_config_t;

/** A component's key. */
typedef struct ucp_rkey_part {
    uct_component_h   component;
    uct_rkey_bundle_t key;
    uint8_t           md_index;   /**< The owner's number of the domain */
} ucp_rkey_part_t;

struct ucp_rkey {
    const ucp_rma_config_t *config;
    uint64_t               address;    /**< What it is good for */
    uint64_t               length;
    uint64_t               id;         /**< The peer's name for the memory */
    uct_rkey_t             keys[UCP_MAX_LANES]; /**< Of the lanes it opens */
    ucp_worker_h           worker;
    uint16_t               prot;       /**< UCP_MEM_MAP_PROT_REMOTE_* */
    uint8_t                mem_type;
    ucp_lane_map_t         lanes;      /**< That it opens */
    void                   *packed;    /**< Its bytes, until the endpoint has
                                            lanes; NULL then */
    uint8_t                num_parts;
    ucp_rkey_part_t        parts[];
};
typedef struct ucp_rkey ucp_rkey_t;

/** The configuration for these lanes; NULL: out of memory. */
const ucp_rma_config_t *
ucp_rma_config_get(ucp_worker_h worker, const ucp_ep_config_t *ep_config,
                   ucp_lane_map_t lanes, int by_cpu);
void ucp_rma_config_free_all(ucp_worker_h worker);

/** Is the access within the key's memory? It is checked at the owner again. */
static UCS_F_ALWAYS_INLINE int
ucp_rkey_covers(const ucp_rkey_t *rkey, uint64_t address, uint64_t length)
{
    return ucp_mem_contains(rkey->address, rkey->length, address, length);
}

/** Was the key unpacked on that endpoint, or one alike? One that was unpacked
 *  before lanes were connected goes with any until it is first used on one that
 *  is. Endpoints alike may have lost different lanes since. */
static inline int ucp_rkey_is_for(const ucp_rkey_t *rkey, ucp_ep_h ep)
{
    return (rkey->config->ep_config->whole == ep->config->whole) ||
           rkey->config->ep_config->unconnected;
}

/** Opens the lanes of an endpoint that has been connected since the key was
 *  unpacked. Where memory is short it goes on by messages. */
const ucp_rma_config_t *ucp_rkey_open_late(ucp_rkey_t *rkey, ucp_ep_h ep);

/** How transfers with the key go on this endpoint, for which it is, and from now
 *  on. NULL: out of memory. */
static inline const ucp_rma_config_t *
ucp_rkey_config(ucp_rkey_t *rkey, ucp_ep_h ep)
{
    const ucp_rma_config_t *config = rkey->config;

    if (ucs_likely(config->ep_config == ep->config)) {
        return config;
    }
    if (config->ep_config->unconnected) {
        return ep->config->unconnected ? config :
                                         ucp_rkey_open_late(rkey, ep);
    }
    config = ucp_rma_config_get(ep->worker, ep->config,
                                rkey->lanes &
                                (ucp_lane_map_t)~ep->config->lost,
                                config->by_cpu);
    if (config != NULL) {
        rkey->config = config;
    }
    return config;
}

/** What put and get have in common: takes a request for the transfer. On
 *  failure the return value is NULL and *status_p set. */
ucp_request_t *
ucp_rma_request(ucp_ep_h ep, void *buffer, size_t count, uint64_t remote_addr,
                ucp_rkey_h rkey, int is_get, const ucp_request_param_t *param,
                ucs_status_t *status_p);

/** Starts it by the protocol of the table; returns what the call returns. */
ucs_status_ptr_t
ucp_rma_start(ucp_request_t *req, const ucp_rma_way_t *way,
              const ucp_request_param_t *param);

/** From here on the owner's memory is touched over this lane. */
static UCS_F_ALWAYS_INLINE void ucp_rma_uses_lane(ucp_ep_h ep, unsigned lane)
{
    ep->remote_lanes |= (ucp_lane_map_t)UCS_BIT(lane);
    ep->remote_fresh |= (ucp_lane_map_t)UCS_BIT(lane);
}

/** And may be changed. */
static UCS_F_ALWAYS_INLINE void ucp_rma_changes_by_lane(ucp_ep_h ep,
                                                        unsigned lane)
{
    ucp_rma_uses_lane(ep, lane);
    ep->remote_dirty |= (ucp_lane_map_t)UCS_BIT(lane);
}

/** The protocols. Which of them serves which sizes, config.c knows. */
extern const ucp_proto_t ucp_proto_put_short;
extern const ucp_proto_t ucp_proto_put_bcopy;
extern const ucp_proto_t ucp_proto_put_zcopy;
extern const ucp_proto_t ucp_proto_put_am;
extern const ucp_proto_t ucp_proto_get_short;
extern const ucp_proto_t ucp_proto_get_bcopy;
extern const ucp_proto_t ucp_proto_get_zcopy;
extern const ucp_proto_t ucp_proto_get_am;

/** A transfer from place: the transport has let go of a piece for good. */
void ucp_rma_zcopy_completed(uct_completion_t *comp);

/** Nothing more will be posted: takes back the count that kept the request
 *  alive until now. */
void ucp_rma_zcopy_posted(ucp_request_t *req, ucs_status_t status);

/** Its lane is lost, and it has not begun: goes another way. Returns what the
 *  progress function returns. */
ucs_status_t ucp_rma_reroute(ucp_request_t *req);

/** A get that has failed while its endpoint lives: begins it again from the next
 *  progress, if it is known by then that a lane is lost. Zero: it does not, the
 *  failure counts. */
int ucp_rma_retry(ucp_request_t *req);

/** Ends a transfer from place when the transport has let go of everything. */
void ucp_rma_zcopy_abort(ucp_request_t *req, ucs_status_t status);
ucs_status_t ucp_rma_put_zcopy_progress(ucp_request_t *req);
ucs_status_t ucp_rma_get_zcopy_progress(ucp_request_t *req);

#endif
