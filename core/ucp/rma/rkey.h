/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unpacked remote keys (ucp_rkey_t), and the lanes and protocols of put, get
 * and atomics for a key (ucp_rma_config_t); the functions that the protocols of
 * put and get share. A key has one part for each of the owner's memory domains
 * whose key is unpacked here. Keys with equal `by_cpu` that the same lanes can
 * use, on endpoints with equal lanes, share a configuration.
 */
#ifndef UCP_RKEY_H
#define UCP_RKEY_H

#include "ucp/rma/rma.h"

/** Put or get: the lane of each kind of transfer, and the tables that select a
 *  protocol by size. */
typedef struct ucp_rma_protos {
    /** Best lane of each method; UCP_NULL_LANE if no lane supports it */
    uint8_t short_lane;
    uint8_t bcopy_lane;
    uint8_t zcopy_lane;
    /** zcopy_lane, and the lanes that share large transfers with it */
    ucp_rails_t rails;
    /** Contiguous transfers of fewer bytes use short_lane; 0: none does */
    size_t short_end;
    /** For requests that cannot or must not use the protocol in the table:
     *  `zcopy` is the protocol of zero-copy, `copy` one that copies any size.
     *  NULL if there is none */
    const ucp_proto_t *zcopy, *copy;
    ucp_proto_table_t tables[UCP_DT_CLASS_LAST];
} ucp_rma_protos_t;

struct ucp_rma_config {
    struct ucp_rma_config *next; /**< Next in the worker's list */
    const ucp_ep_config_t *ep_config;
    ucp_lane_map_t lanes; /**< Lanes that can use the key */
    /** The owner of the memory carries out accesses that arrive as messages;
     *  0: only lanes can access the memory */
    uint8_t by_cpu;
    uint8_t amo_lane; /**< Best lane for atomics; UCP_NULL_LANE if none */
    /** Protocols of atomics. Indices: the operation; 1 if the operation has a
     *  result, else 0; 1 for operands of 8 bytes, 0 for 4. NULL if not
     *  supported */
    const ucp_proto_t *atomics[UCP_ATOMIC_OP_LAST][2][2];
    /** Contiguous puts of fewer bytes use am_short, without a request, on
     *  endpoints with UCP_EP_FLAG_INTRODUCED; 0: none does */
    size_t am_put_end;
    ucp_rma_protos_t put, get;
};
typedef struct ucp_rma_config ucp_rma_config_t;

/** The unpacked key of one memory domain. */
typedef struct ucp_rkey_part {
    uct_component_h component;
    uct_rkey_bundle_t key;
    uint8_t md_index; /**< Index of the memory domain in the owner's context */
} ucp_rkey_part_t;

struct ucp_rkey {
    const ucp_rma_config_t *config;
    uint64_t address; /**< Start of the memory at the peer */
    uint64_t length;  /**< Bytes */
    /** Id of the owner's memory handle, by which messages name the memory */
    uint64_t id;
    uct_rkey_t keys[UCP_MAX_LANES]; /**< By lane; set for those in `lanes` */
    ucp_worker_h worker;
    uint16_t prot; /**< UCP_MEM_MAP_PROT_REMOTE_* */
    uint8_t mem_type;
    ucp_lane_map_t lanes; /**< Lanes whose keys[] is set */
    /** Copy of the packed key, if the endpoint had no lanes when the key was
     *  unpacked and the key is not unpacked for its lanes yet; else NULL */
    void *packed;
    uint8_t num_parts;
    ucp_rkey_part_t parts[];
};
typedef struct ucp_rkey ucp_rkey_t;

/** Returns the configuration of keys that these lanes of endpoints with
 *  `ep_config` can use. `by_cpu`: see ucp_rma_config. Returns NULL if out of
 *  memory. */
const ucp_rma_config_t *ucp_rma_config_get(ucp_worker_h worker,
                                           const ucp_ep_config_t *ep_config,
                                           ucp_lane_map_t lanes, int by_cpu);
void ucp_rma_config_free_all(ucp_worker_h worker);

/** True if the access is within the key's memory. For an access by message, the
 *  owner of the memory repeats this check. */
static UCS_F_ALWAYS_INLINE int
ucp_rkey_covers(const ucp_rkey_t *rkey, uint64_t address, uint64_t length)
{
    return ucp_mem_contains(rkey->address, rkey->length, address, length);
}

/** True if the key may be used on this endpoint: the key was unpacked on this
 *  endpoint, or on one whose lanes, including those that have failed since, are
 *  equal. A key that was unpacked on an endpoint without lanes may be used on
 *  any endpoint until its first use on one with lanes. */
static inline int ucp_rkey_is_for(const ucp_rkey_t *rkey, ucp_ep_h ep)
{
    return (rkey->config->ep_config->whole == ep->config->whole) ||
           rkey->config->ep_config->unconnected;
}

/** For a key that was unpacked before the endpoint had lanes: unpacks it for
 *  the lanes now. Returns the configuration; if memory is short, one without
 *  lanes, with which messages carry out the accesses. Returns NULL if memory is
 *  short and only lanes can access the memory of the key. */
const ucp_rma_config_t *ucp_rkey_open_late(ucp_rkey_t *rkey, ucp_ep_h ep);

/** Returns the configuration of transfers with the key on this endpoint and
 *  keeps it in the key. ucp_rkey_is_for() must be true. Returns NULL if out of
 *  memory. */
static inline const ucp_rma_config_t *ucp_rkey_config(ucp_rkey_t *rkey,
                                                      ucp_ep_h ep)
{
    const ucp_rma_config_t *config = rkey->config;

    if (ucs_likely(config->ep_config == ep->config)) {
        return config;
    }
    if (config->ep_config->unconnected) {
        return ep->config->unconnected ? config : ucp_rkey_open_late(rkey, ep);
    }
    config = ucp_rma_config_get(ep->worker, ep->config,
                                rkey->lanes & (ucp_lane_map_t)~ep->config->lost,
                                config->by_cpu);
    if (config != NULL) {
        rkey->config = config;
    }
    return config;
}

/** Releases an unpacked key that is not shared (symmetric.h). */
void ucp_rkey_release(ucp_rkey_h rkey);

/** Common part of put and get: checks the access against the key and creates a
 *  request for the transfer. On failure the return value is NULL and *status_p
 *  is set. */
ucp_request_t *ucp_rma_request(ucp_ep_h ep, void *buffer, size_t count,
                               uint64_t remote_addr, ucp_rkey_h rkey,
                               int is_get, const ucp_request_param_t *param,
                               ucs_status_t *status_p);

/** Selects a protocol from the tables of `protos` and starts the request;
 *  returns the result of the user's call. */
ucs_status_ptr_t ucp_rma_start(ucp_request_t *req,
                               const ucp_rma_protos_t *protos,
                               const ucp_request_param_t *param);

/** Returns the limits and costs of a lane for put or get. */
static inline const ucp_lane_rma_t *ucp_rma_lane(const ucp_ep_config_t *config,
                                                 unsigned lane, int is_get)
{
    return is_get ? &config->lanes[lane].get : &config->lanes[lane].put;
}

/** Returns the protocols for the operation of a request: put or get. */
static inline const ucp_rma_protos_t *ucp_rma_protos(const ucp_request_t *req)
{
    const ucp_rma_config_t *config = ucp_send_rma(req)->config;

    return (req->send.proto->flags & UCP_PROTO_FLAG_GET) ? &config->get :
                                                           &config->put;
}

/** Returns the time of one put or get as a function of its size. `own`: time in
 *  seconds for the request; `copies`: number of copies by processors. */
ucs_linear_func_t ucp_rma_cost(const ucp_lane_cost_t *cost, double own,
                               unsigned copies);

/** The functions ucp_proto_t::query of the protocols: short, buffered copy,
 *  zero-copy, and by messages. */
unsigned ucp_rma_query_short(const ucp_proto_query_t *query,
                             ucp_proto_range_t *range);
unsigned ucp_rma_query_bcopy(const ucp_proto_query_t *query,
                             ucp_proto_range_t *range);
unsigned ucp_rma_query_zcopy(const ucp_proto_query_t *query,
                             ucp_proto_range_t *ranges);
unsigned ucp_rma_query_am(const ucp_proto_query_t *query,
                          ucp_proto_range_t *ranges);

/** Records that an access to the peer's memory uses this lane: the next flush
 *  of the endpoint flushes the lane. */
static UCS_F_ALWAYS_INLINE void ucp_rma_uses_lane(ucp_ep_h ep, unsigned lane)
{
    ep->remote_lanes |= (ucp_lane_map_t)UCS_BIT(lane);
    ep->remote_fresh |= (ucp_lane_map_t)UCS_BIT(lane);
}

/** As ucp_rma_uses_lane(), for an access that changes the peer's memory: if the
 *  lane fails, the next flush returns an error. */
static UCS_F_ALWAYS_INLINE void ucp_rma_changes_by_lane(ucp_ep_h ep,
                                                        unsigned lane)
{
    ucp_rma_uses_lane(ep, lane);
    ep->remote_dirty |= (ucp_lane_map_t)UCS_BIT(lane);
}

/** The protocols of put and get. */
extern const ucp_proto_t ucp_proto_put_short;
extern const ucp_proto_t ucp_proto_put_bcopy;
extern const ucp_proto_t ucp_proto_put_zcopy;
extern const ucp_proto_t ucp_proto_put_am;
extern const ucp_proto_t ucp_proto_get_short;
extern const ucp_proto_t ucp_proto_get_bcopy;
extern const ucp_proto_t ucp_proto_get_zcopy;
extern const ucp_proto_t ucp_proto_get_am;
extern const ucp_proto_t ucp_proto_put_late;
extern const ucp_proto_t ucp_proto_get_late;

/** Completion callback of zero-copy: the transport has completed all posted
 *  fragments, with or without an error. */
void ucp_rma_zcopy_completed(uct_completion_t *comp);

/** Called when no further fragment will be posted. Drops the count of
 *  req->send.comp that the request itself holds, so that the request completes
 *  with the last posted fragment. `status`: UCS_OK, or the error that the
 *  request completes with. */
void ucp_rma_zcopy_posted(ucp_request_t *req, ucs_status_t status);

/** Sends a message that requests an access to the peer's memory. `pack` writes
 *  the message: `size` bytes, at most UCP_RMA_MAX_REQUEST, of which the first 8
 *  are the key. `flags`: UCX_SEND_FLAG_*, used if the message is too long for
 *  am_short. Returns the result of am_short or am_bcopy. */
enum { UCP_RMA_MAX_REQUEST = 64 };
ssize_t ucp_rma_send_request(ucp_request_t *req, uint8_t id,
                             uct_pack_callback_t pack, size_t size,
                             unsigned flags);

/** Called by a progress function whose lane has failed: selects another
 *  protocol or, if data has been transferred already, completes the request
 *  with an error. Returns the result for the progress function to return. */
ucs_status_t ucp_rma_reroute(ucp_request_t *req);

/** Selects the protocol of a request again, among the lanes of its endpoint
 *  that have not failed. */
ucs_status_t ucp_rma_select_again(ucp_request_t *req);

/** Completes a zero-copy transfer with `status`, after the transport has
 *  released the memory of all posted fragments. */
void ucp_rma_zcopy_abort(ucp_request_t *req, ucs_status_t status);

#endif
