/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Protocols and their selection.
 *
 * A protocol is one method to carry out an operation. It states the sizes
 * that it supports and its cost there. The lower envelope of the costs
 * becomes a table, which is computed once for all endpoints with equal
 * lanes. The selection for a message walks over a few steps; short messages
 * do not need even that.
 */
#ifndef UCP_PROTO_H
#define UCP_PROTO_H

#include <stdio.h>
#include <ucs/datastruct/linear_func.h>
#include <ucx/transport.h>

#include "ucp/base/request.h"
#include "ucp/proto/lane.h"
#include "ucp/proto/rails.h"

/** Operations that protocols carry out. For messages and the data of a
 *  rendezvous, the table of the endpoint's configuration (ucp_ep_config_t)
 *  selects the protocol; for put, get and atomics, that of the remote key's
 *  (ucp_rma_config_t). */
typedef enum {
    UCP_OP_TAG_SEND,
    UCP_OP_TAG_SEND_SYNC,
    UCP_OP_AM_SEND,
    UCP_OP_AM_SEND_REPLY, /**< The receiver may reply */
    UCP_OP_STREAM_SEND,
    UCP_OP_MESSAGE_LAST,
    UCP_OP_RNDV = UCP_OP_MESSAGE_LAST, /**< The data of a rendezvous */
    UCP_OP_EP_LAST,
    UCP_OP_PUT = UCP_OP_EP_LAST,
    UCP_OP_GET,
    UCP_OP_ATOMIC,
} ucp_op_t;

struct ucp_rma_config;

/** The arguments of a protocol's query. */
typedef struct ucp_proto_query {
    ucp_op_t op;
    ucp_dt_class_t dt_class;
    const ucp_ep_config_t *config; /**< Limits and costs of the lanes */
    size_t zcopy_thresh;           /**< User's; SIZE_MAX: by cost */
    size_t rndv_thresh;            /**< User's; SIZE_MAX: by cost */
    /** UCP_PROTO_FLAG_*: protocols with any of them are not candidates */
    unsigned without;
    /** UCP_PROTO_FLAG_*: a protocol with any of them is selected wherever it is
     *  a candidate, whatever it costs */
    unsigned prefer;
    /** Put, get, atomics: the lanes and rights of the key */
    const struct ucp_rma_config *key;
    ucp_atomic_op_t atomic_op;
    uint8_t atomic_size; /**< Bytes of the operand: 4 or 8 */
    uint8_t fetch;       /**< Atomics: non-zero if there is a result */
} ucp_proto_query_t;

enum { UCP_PROTO_MAX_RANGES = 3 };

/** One range of sizes in the result of a protocol's query. The caller sets it
 *  to all sizes at no cost, and the query reduces it. */
typedef struct ucp_proto_range {
    size_t min, max;        /**< Bytes, both included */
    ucs_linear_func_t time; /**< Seconds until the data is received */
} ucp_proto_range_t;

/** Properties of a protocol. */
enum {
    /** Sends one short message: calls for contiguous host memory send it
     *  without a request */
    UCP_PROTO_FLAG_SHORT    = UCS_BIT(0),
    /** The protocol only sends messages, or waits for messages: they are in
     *  order with all other messages of the endpoint */
    UCP_PROTO_FLAG_MESSAGES = UCS_BIT(1),
    /** From the start of the request on, the peer waits for what it sends: the
     *  request cannot be cancelled */
    UCP_PROTO_FLAG_BEGUN    = UCS_BIT(2),
    /** One call of `progress` sends all data or nothing: a request that waits
     *  for send resources has sent nothing */
    UCP_PROTO_FLAG_WHOLE    = UCS_BIT(3),
    /** Reads the peer's memory */
    UCP_PROTO_FLAG_GET      = UCS_BIT(4),
    /** The lane accesses the user's buffer, which may have to be
     *  registered */
    UCP_PROTO_FLAG_ZCOPY    = UCS_BIT(5),
    /** May restart over other lanes after a failure */
    UCP_PROTO_FLAG_RESTARTS = UCS_BIT(6),
    /** Announces the data, and transfers it when the receiver is ready */
    UCP_PROTO_FLAG_RNDV     = UCS_BIT(7),
    /** Writes to the peer's memory */
    UCP_PROTO_FLAG_PUT      = UCS_BIT(8),
};

/** A protocol. A request refers to its present protocol, which may change, for
 *  example from the announcement of a rendezvous to the transfer of the data.
 *  The functions are called with the worker's lock held. */
struct ucp_proto {
    const char *name; /**< Name that UCX_PROTO_INFO shows */
    /** UCS_BIT() of each ucp_op_t that it carries out; 0 if only other
     *  protocols switch a request to it */
    uint16_t ops;
    /** Writes the sizes that the protocol supports, and its cost there, to
     *  `ranges`, in ascending order; returns their number, at most
     *  UCP_PROTO_MAX_RANGES */
    unsigned (*query)(const ucp_proto_query_t *query,
                      ucp_proto_range_t *ranges);
    /** Returns the lanes that share data of a class which the query supports.
     *  May be NULL: the lanes follow from the endpoint or the key */
    const ucp_rails_t *(*rails)(const ucp_ep_config_t *config,
                                unsigned dt_class);
    /** Prepares a request for its first call of progress, or selects another
     *  protocol and calls the `init` of that. `attr`: UCP_OP_ATTR_* of the
     *  user's call. After a failure the request holds no resources. May be
     *  NULL: nothing to prepare */
    ucs_status_t (*init)(ucp_request_t *req, uint32_t attr);
    /** Returns non-zero if one call of progress sends all of the request, or
     *  nothing. May be NULL: never */
    int (*is_immediate)(const ucp_request_t *req);
    ucp_request_progress_t progress;
    ucp_request_abort_t abort;
    /** For ucp_request_cancel: requests the peer to drop the announcement of
     *  the data. May be NULL: cancellation then has no effect */
    void (*withdraw)(ucp_request_t *req);
    uint16_t flags; /**< UCP_PROTO_FLAG_* */
    /** Counter of the endpoint (UCP_STATS_*) that a request increases at its
     *  start; 0: its messages are counted when a lane sends them */
    uint16_t counter;
    /** UCP_AM_ID_* of the message that answers the request; 0: none */
    uint8_t reply;
};

/** Assigns a protocol to a request and prepares it. */
static inline ucs_status_t
ucp_proto_init(ucp_request_t *req, const ucp_proto_t *proto, uint32_t attr)
{
    if (proto == NULL) {
        return UCS_ERR_UNSUPPORTED;
    }
    req->send.proto = proto;
    return (proto->init == NULL) ? UCS_OK : proto->init(req, attr);
}

/** An is_immediate function that always returns true. */
int ucp_proto_always(const ucp_request_t *req);

/** Returns the request that a peer's message answers, or NULL. `request`: the
 *  id in the message; `reply`: the id of the message. */
ucp_request_t *ucp_proto_replied(ucp_worker_h worker, ucp_le32_t request,
                                 uint8_t reply);

/** Flags of a call by which the user wants to reuse the buffer as early as
 *  possible: the data is copied. */
enum {
    UCP_PROTO_ATTR_SOON = UCP_OP_ATTR_FLAG_FAST_CMPL |
                          UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL,
};

/** One row of a table: the protocol for sizes up to `max`, from the end of the
 *  previous row. */
typedef struct ucp_proto_step {
    size_t max;
    const ucp_proto_t *proto;
} ucp_proto_step_t;

enum { UCP_PROTO_MAX_STEPS = 8 };

typedef struct ucp_proto_table {
    /** `max` of the last row is SIZE_MAX */
    ucp_proto_step_t steps[UCP_PROTO_MAX_STEPS];
} ucp_proto_table_t;

/** Configuration of endpoints with the same lanes and error handling mode. */
struct ucp_ep_config {
    /** Tagged sends of contiguous host memory of fewer bytes use am_short
     *  without a request; 0: none do */
    size_t tag_short_end;
    size_t am_short_end; /**< As tag_short_end, including the user's header */
    /** Stream sends of 1 to this many bytes use am_short */
    size_t stream_short_max;
    /** The context has copiers: the user's memory may be memory that the
     *  processor cannot access */
    uint8_t staged;
    uint8_t num_lanes;
    uint8_t err_mode; /**< 1: UCP_ERR_HANDLING_MODE_PEER */
    /** The endpoint has no lanes yet: the limits are such that a message fits
     *  each interface that may become lane 0 */
    uint8_t unconnected;
    /** The peer is on this machine: see ucp_address_is_local */
    uint8_t is_local;
    /** UCP_PROTO_FLAG_* of the user's UCX_RNDV_SCHEME; 0: by cost */
    uint16_t rndv_prefer;
    /** User's size of rendezvous fragments; 0: the lane's limit */
    size_t rndv_frag_size;
    /** Best lane for large put and get of any memory, or UCP_NULL_LANE. The
     *  next two members can be UCP_NULL_LANE, too */
    uint8_t rndv_lane;
    /** Best lane for memory of the peer that the processor cannot access, if it
     *  is a lane for such memory only */
    uint8_t device_lane;
    /** Best lane for the user's put and get of registered memory */
    uint8_t rma_lane;
    uint8_t amo_lane;         /**< Best lane for atomics */
    ucp_lane_map_t rma_lanes; /**< All lanes that can put or get */
    ucp_lane_map_t amo_lanes; /**< All lanes that support atomics */
    /** Lanes that have failed; the rest of the configuration describes the
     *  remaining lanes */
    ucp_lane_map_t lost;
    /** Class of the bandwidth of messages for which the costs hold (measure.h);
     *  0: any bandwidth */
    uint8_t measured;
    /** As `measured`, for the lane of large put and get */
    uint8_t measured_copy;
    /** The configuration from which this one was derived by the loss of lanes
     *  or a measured bandwidth; may be this one. Both have the same lanes, with
     *  the same indices and memory domains */
    const ucp_ep_config_t *whole;
    /** The configuration for operations with UCP_OP_ATTR_FLAG_MULTI_SEND; NULL
     *  until it is needed */
    const ucp_ep_config_t *multi;
    uint8_t max_rndv_lanes; /**< These two: the user's limits; 0 means one */
    uint8_t max_rma_lanes;
    /** Lanes slower by more than this factor do not share transfers;
     *  0: no limit */
    double max_lane_ratio;
    /** User's threshold of buffered copy: messages of at least this size do
     *  not use am_short; 0: by cost */
    size_t short_end;
    /** Lanes that share the data of rendezvous, for get and for put */
    ucp_rails_t rndv_get;
    ucp_rails_t rndv_put;
    /** Rails that consist of one lane, indexed by the lane */
    ucp_rails_t single_get[UCP_MAX_LANES];
    ucp_rails_t single_put[UCP_MAX_LANES];
    ucp_lane_config_t lanes[UCP_MAX_LANES];
    ucp_proto_table_t tables[UCP_OP_EP_LAST][UCP_DT_CLASS_LAST];
    /** Tables for UCP_PROTO_ATTR_SOON: without zero-copy and rendezvous, even
     *  if these have lower latency */
    ucp_proto_table_t copied[UCP_OP_MESSAGE_LAST];
};

/** Returns the limits and costs of active messages. */
static UCS_F_ALWAYS_INLINE const ucp_lane_am_t *
ucp_ep_config_am(const ucp_ep_config_t *config)
{
    return &config->lanes[UCP_AM_LANE].am;
}

/** Returns the lane for large put and get, or NULL. */
static inline const ucp_lane_config_t *
ucp_ep_config_rndv(const ucp_ep_config_t *config)
{
    return (config->rndv_lane == UCP_NULL_LANE) ?
               NULL :
               &config->lanes[config->rndv_lane];
}

struct ucp_selected_lane;

/** Returns the worker's configuration for these lanes, and creates it if there
 *  is none. Returns NULL if out of memory. */
const ucp_ep_config_t *ucp_ep_config_get(ucp_worker_h worker,
                                         const struct ucp_selected_lane *lanes,
                                         unsigned num_lanes, int err_mode,
                                         int is_local);

/** Returns the configuration of an endpoint that has lost one more lane, not
 *  lane 0. Returns NULL if out of memory. */
const ucp_ep_config_t *ucp_ep_config_without(ucp_worker_h worker,
                                             const ucp_ep_config_t *config,
                                             unsigned lane);
/** Returns the configuration of an endpoint after a measurement: with the costs
 *  for these classes of bandwidth, of messages and of large put and get.
 *  Returns NULL if out of memory. */
const ucp_ep_config_t *ucp_ep_config_measured(ucp_worker_h worker,
                                              const ucp_ep_config_t *config,
                                              unsigned measured,
                                              unsigned measured_copy);

/**
 * Returns the configuration for operations with UCP_OP_ATTR_FLAG_MULTI_SEND.
 * Its costs are the time for which one operation occupies both sides and the
 * lane, without the latency, because other operations are transferred in the
 * meantime. It has the lanes of `config`. Called with the worker's lock held.
 * Returns `config` if out of memory.
 */
const ucp_ep_config_t *ucp_ep_config_multi(ucp_worker_h worker,
                                           const ucp_ep_config_t *config);

/** Returns the configuration whose tables select the protocol of an operation.
 *  `attr`: UCP_OP_ATTR_* of the user's call. */
static UCS_F_ALWAYS_INLINE const ucp_ep_config_t *
ucp_ep_config_for(ucp_worker_h worker, const ucp_ep_config_t *config,
                  uint32_t attr)
{
    return ucs_unlikely(attr & UCP_OP_ATTR_FLAG_MULTI_SEND) ?
               ucp_ep_config_multi(worker, config) :
               config;
}

void ucp_ep_config_free_all(ucp_worker_h worker);

/** Returns the configuration of endpoints that have no lanes yet: its protocols
 *  work over any lanes. Returns NULL if out of memory. */
const ucp_ep_config_t *ucp_ep_config_unconnected(ucp_worker_h worker,
                                                 int err_mode);

struct ucp_worker_iface;

/** Sets wiface->lane, the capabilities and costs of lanes over an open
 *  interface. remote_md and remote_device are set for each peer. */
void ucp_lane_config_fill(struct ucp_worker_iface *wiface);

/** Gets the cost of an operation on host memory over an interface: to the peer
 *  of `ep` or, if that is NULL, to any peer. */
ucs_status_t ucp_lane_estimate(const struct ucp_worker_iface *wiface,
                               ucx_op_t op, uct_ep_h ep, ucx_perf_t *perf);

/** Sets the members rndv_lane, device_lane, rma_lane, amo_lane and the rails,
 *  from the capabilities and costs of the lanes. */
void ucp_ep_config_assign(ucp_ep_config_t *config);

/** A protocol with the sizes and the cost for which it may be selected. */
typedef struct ucp_proto_candidate {
    const ucp_proto_t *proto;
    size_t min, max;        /**< Bytes; not available if max < min */
    ucs_linear_func_t time; /**< Seconds */
} ucp_proto_candidate_t;

enum { UCP_PROTO_MAX_CANDIDATES = 24 };

/** Writes the candidates for a query to `list`; returns their number. */
unsigned ucp_proto_list(const ucp_proto_query_t *query,
                        ucp_proto_candidate_t list[UCP_PROTO_MAX_CANDIDATES]);

/** Fills the table with the candidate of the lowest cost for each size; if
 *  costs are equal, with the first in the list. Sizes without a candidate have
 *  no protocol (NULL). Fails only if out of memory. */
ucs_status_t ucp_proto_envelope(const ucp_proto_candidate_t *list,
                                unsigned count, ucp_proto_table_t *table);

/** Fills the table from the candidates for a query. Fails only if out of
 *  memory. */
ucs_status_t ucp_proto_fill(const ucp_proto_query_t *query,
                            ucp_proto_table_t *table);

/** Returns the cost, in seconds as a function of the size, of the protocol that
 *  the endpoint's table has for `length` bytes. `query->op` must be an
 *  operation of the tables of `query->config`. */
ucs_linear_func_t ucp_proto_cost(const ucp_proto_query_t *query, size_t length);

/** Returns the first length from `from` on (not 0) for which the protocol of
 *  the endpoint's table costs no more than `other`. */
size_t ucp_proto_first_better(const ucp_proto_query_t *query,
                              ucs_linear_func_t other, size_t from);

/** Prints a table of a configuration, or of a remote key that is used with it.
 *  `lanes`: names of the key's lanes, or empty. */
void ucp_proto_print_table(const ucp_proto_table_t *table, ucp_op_t op,
                           unsigned dt_class, const ucp_ep_config_t *config,
                           const char *lanes, FILE *stream);

/** Computes the tables of a configuration whose limits are set. Fails only if
 *  out of memory. */
ucs_status_t ucp_proto_select(ucp_ep_config_t *config, size_t zcopy_thresh,
                              size_t rndv_thresh);

/** Prints all tables of a configuration, as UCX_PROTO_INFO=y does. `lane`:
 *  name of lane 0. */
void ucp_proto_print(const ucp_ep_config_t *config, const char *lane,
                     FILE *stream);

/** Writes " by <name> over <transport of the interface><range>". */
void ucp_proto_describe(const char *name, ucp_worker_h worker, unsigned iface,
                        const char *range, char *text, size_t max);

/** Return the name of an operation for the output, and its UCP_FEATURE_*. */
const char *ucp_proto_op_name(ucp_op_t op);
uint64_t ucp_proto_op_feature(ucp_op_t op);

/** Returns the protocol for `length` bytes. Hot path. */
static UCS_F_ALWAYS_INLINE const ucp_proto_t *
ucp_proto_find(const ucp_proto_table_t *table, size_t length)
{
    const ucp_proto_step_t *step = table->steps;

    while (length > step->max) {
        ++step;
    }
    return step->proto;
}

/** Returns the protocol of a message of `length` bytes. */
static UCS_F_ALWAYS_INLINE const ucp_proto_t *
ucp_proto_of_message(ucp_worker_h worker, const ucp_ep_config_t *config,
                     ucp_op_t op, unsigned dt_class, size_t length,
                     uint32_t attr)
{
    return ucp_proto_find(
        (attr & UCP_PROTO_ATTR_SOON) ?
            &config->copied[op] :
            &ucp_ep_config_for(worker, config, attr)->tables[op][dt_class],
        length);
}

/** Bandwidth of a memory copy on one core: a typical figure of recent servers
 *  (bytes per second), only to compare protocols. */
#define UCP_PROTO_MEMCPY_BANDWIDTH 12e9

/** Time (s) that UCP itself needs for an operation with a request. */
#define UCP_PROTO_REQUEST_TIME 0.2e-6

#endif
