/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Protocols and their selection.
 *
 * A protocol is one method to carry out an operation, for example eager by
 * zero-copy. It states the sizes that it supports, and its cost as a function
 * of the size. For each size the protocol with the lowest cost is entered in a
 * table, which is computed once for all endpoints with equal lanes. The
 * selection for a message then only searches a few rows of the table. Short
 * messages do not even need that: see ucp_ep_config::tag_short_end.
 */
#ifndef UCP_PROTO_H
#define UCP_PROTO_H

#include <stdio.h>
#include <ucs/datastruct/linear_func.h>
#include <ucx/transport.h>

#include "ucp/base/request.h"
#include "ucp/proto/lane.h"
#include "ucp/proto/rails.h"

/** Operations that protocols carry out. The operations below UCP_OP_EP_LAST
 *  have tables in the endpoint's configuration (ucp_ep_config_t). The protocols
 *  of the others are in the configuration of remote keys (ucp_rma_config_t),
 *  which also depends on the lanes that the key can use: tables for put and
 *  get, and one protocol for each kind of atomic operation. */
typedef enum {
    UCP_OP_TAG_SEND,
    UCP_OP_TAG_SEND_SYNC,
    UCP_OP_AM_SEND,
    /** Active message whose receiver gets an endpoint for replies */
    UCP_OP_AM_SEND_REPLY,
    UCP_OP_STREAM_SEND,
    UCP_OP_MESSAGE_LAST,
    /** The transfer of the data of a rendezvous */
    UCP_OP_RNDV = UCP_OP_MESSAGE_LAST,
    UCP_OP_EP_LAST,
    UCP_OP_PUT = UCP_OP_EP_LAST,
    UCP_OP_GET,
    UCP_OP_ATOMIC,
} ucp_op_t;

struct ucp_rma_config;

/** The arguments of ucp_proto_t::query, which asks a protocol for the sizes
 *  that it supports and for its cost. */
typedef struct ucp_proto_query {
    ucp_op_t op;
    ucp_dt_class_t dt_class;
    const ucp_ep_config_t *config; /**< Limits and costs of the lanes */
    size_t zcopy_thresh;           /**< UCX_ZCOPY_THRESH; SIZE_MAX: by cost */
    /** UCX_RNDV_THRESH for this peer; SIZE_MAX: by cost */
    size_t rndv_thresh;
    /** UCP_PROTO_FLAG_*: protocols with any of these flags are not
     *  candidates */
    unsigned without;
    /** UCP_PROTO_FLAG_*: a protocol with any of these flags is selected for all
     *  sizes that it supports, whatever it costs */
    unsigned prefer;
    /** Put, get, atomics: the lanes that can use the remote key (rma/rkey.h) */
    const struct ucp_rma_config *key;
    ucp_atomic_op_t atomic_op;
    uint8_t atomic_size; /**< Size of the operand in bytes: 4 or 8 */
    uint8_t fetch;       /**< Atomics: non-zero if the operation has a result */
} ucp_proto_query_t;

/** Maximum number of ranges of a protocol: one for each size of fragments
 *  (ucp_fragment_best()). */
enum { UCP_PROTO_MAX_RANGES = 5 };

/** A range of sizes in the answer of a protocol. The caller of `query` sets it
 *  to all sizes and no cost; `query` changes the members. */
typedef struct ucp_proto_range {
    size_t min, max; /**< In bytes; both are included */
    /** Seconds from the user's call until the receiver has the data; without
     *  the latency in ucp_ep_config_multi() */
    ucs_linear_func_t time;
} ucp_proto_range_t;

/** Properties of a protocol. */
enum {
    /** Sends one short message, or executes one short put or get. For
     *  contiguous host memory the user's call does this without a request */
    UCP_PROTO_FLAG_SHORT    = UCS_BIT(0),
    /** The protocol only sends or awaits messages, which are in order with all
     *  other messages of the endpoint */
    UCP_PROTO_FLAG_MESSAGES = UCS_BIT(1),
    /** A request cannot be cancelled once it has started, for example because
     *  the peer waits for its messages */
    UCP_PROTO_FLAG_BEGUN    = UCS_BIT(2),
    /** One call of `progress` sends all data or nothing: a request that waits
     *  for send resources has not sent anything */
    UCP_PROTO_FLAG_WHOLE    = UCS_BIT(3),
    /** Reads the peer's memory over a lane. In a rendezvous the receiver does
     *  this */
    UCP_PROTO_FLAG_GET      = UCS_BIT(4),
    /** A lane accesses the user's buffer, which may have to be registered */
    UCP_PROTO_FLAG_ZCOPY    = UCS_BIT(5),
    /** If a lane fails, a request may restart over other lanes */
    UCP_PROTO_FLAG_RESTARTS = UCS_BIT(6),
    /** Announces the data, and transfers it when the receiver is ready */
    UCP_PROTO_FLAG_RNDV     = UCS_BIT(7),
    /** Writes the peer's memory over a lane. In a rendezvous the sender does
     *  this */
    UCP_PROTO_FLAG_PUT      = UCS_BIT(8),
    /** Sends tagged messages as active messages (UCP_TAG_PATH_AM) */
    UCP_PROTO_FLAG_TAG_AM   = UCS_BIT(9),
    /** Sends tagged messages by the tag slots of lane 0 (UCP_TAG_PATH_SLOTS) */
    UCP_PROTO_FLAG_TAG_SLOT = UCS_BIT(10),
};

/** How an endpoint sends tagged messages. All of its messages take one path,
 *  which keeps their order (tag/offload.h). */
typedef enum {
    UCP_TAG_PATH_AM, /**< As active messages; the receiver's UCP matches them */
    /** As UCP_TAG_PATH_AM, until the peer agrees to UCP_TAG_PATH_SLOTS */
    UCP_TAG_PATH_ASK,
    UCP_TAG_PATH_SLOTS, /**< The transport matches them (tag offload) */
} ucp_tag_path_t;

/** A protocol. req->send.proto is the present protocol of a request. It may
 *  change: for example, a rendezvous has one protocol for the announcement and
 *  another one for the data. All functions are called with the worker's lock
 *  held. */
struct ucp_proto {
    const char *name; /**< Shown in the output of UCX_PROTO_INFO */
    /** UCS_BIT() of each ucp_op_t that the protocol carries out. 0: the
     *  protocol is not selected by cost; other protocols switch a request to
     *  it */
    uint16_t ops;
    /** Writes to `ranges`, in ascending order, the sizes that the protocol
     *  supports and its cost. Returns the number of ranges, at most
     *  UCP_PROTO_MAX_RANGES; 0 if the protocol does not support the
     *  operation */
    unsigned (*query)(const ucp_proto_query_t *query,
                      ucp_proto_range_t *ranges);
    /** Returns the lanes among which the protocol divides data of a class
     *  (ucp_dt_class_t), for the output of UCX_PROTO_INFO. NULL: the protocol
     *  does not divide data, or the lanes depend on the remote key */
    const ucp_rails_t *(*rails)(const ucp_ep_config_t *config,
                                unsigned dt_class);
    /** Prepares a request for its first call of `progress`, or switches the
     *  request to another protocol and calls the `init` of that protocol.
     *  `attr`: UCP_OP_ATTR_* of the user's call. After a failure the request
     *  holds no resources. NULL: there is nothing to prepare */
    ucs_status_t (*init)(ucp_request_t *req, uint32_t attr);
    /** Returns non-zero if one call of `progress` completes the request for the
     *  user, or sends nothing. NULL: never */
    int (*is_immediate)(const ucp_request_t *req);
    ucp_request_progress_t progress;
    ucp_request_abort_t abort;
    /** For ucp_request_cancel: asks the peer to drop the announcement of the
     *  data. NULL: the request cannot be cancelled after the announcement */
    void (*withdraw)(ucp_request_t *req);
    uint16_t flags; /**< UCP_PROTO_FLAG_* */
    /** Counter of the endpoint (UCP_STATS_*) that increases at the start of a
     *  request; 0: its messages are counted when a lane sends them */
    uint16_t counter;
    /** UCP_AM_ID_* of the message by which the peer answers the request; 0:
     *  none */
    uint8_t reply;
};

/** Sets the protocol of a request and calls its `init`. Returns
 *  UCS_ERR_UNSUPPORTED if `proto` is NULL: there is no protocol for this
 *  size. */
static inline ucs_status_t
ucp_proto_init(ucp_request_t *req, const ucp_proto_t *proto, uint32_t attr)
{
    if (proto == NULL) {
        return UCS_ERR_UNSUPPORTED;
    }
    req->send.proto = proto;
    return (proto->init == NULL) ? UCS_OK : proto->init(req, attr);
}

/** Returns true; for ucp_proto_t::is_immediate. */
int ucp_proto_always(const ucp_request_t *req);

/** Returns the request that a message of the peer answers. `request`: the id of
 *  the request, from the message; `reply`: UCP_AM_ID_* of the message. Returns
 *  NULL if no such request waits for such a message. */
ucp_request_t *ucp_proto_replied(ucp_worker_h worker, ucp_le32_t request,
                                 uint8_t reply);

/** If the user's call has one of these flags, the data is copied, so that the
 *  user can reuse the buffer as early as possible. */
enum {
    UCP_PROTO_ATTR_SOON = UCP_OP_ATTR_FLAG_FAST_CMPL |
                          UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL,
};

/** One row of a table: `proto` is selected for sizes above `max` of the
 *  previous row and up to `max`. */
typedef struct ucp_proto_step {
    size_t max;
    const ucp_proto_t *proto;
} ucp_proto_step_t;

enum { UCP_PROTO_MAX_STEPS = 8 };

typedef struct ucp_proto_table {
    /** Sorted by size; `max` of the last row is SIZE_MAX */
    ucp_proto_step_t steps[UCP_PROTO_MAX_STEPS];
} ucp_proto_table_t;

/** The configuration of all endpoints with the same lanes, error handling mode,
 *  failed lanes, path of tagged messages and measured bandwidths: limits and
 *  costs of the lanes, and the protocols that are selected by them. */
struct ucp_ep_config {
    /** Tagged sends of contiguous host memory with fewer bytes than this use
     *  am_short and need no request; 0: no sends do */
    size_t tag_short_end;
    /** As tag_short_end, for active messages. The number of bytes includes the
     *  user's header */
    size_t am_short_end;
    /** Stream sends of 1 to this many bytes use am_short and need no request */
    size_t stream_short_max;
    /** The context has copiers (transports that copy between host memory and
     *  memory of a device, see stage/stage.h). The user's buffers may then be
     *  in memory that the processor cannot access */
    uint8_t staged;
    uint8_t num_lanes;
    uint8_t err_mode; /**< 1: UCP_ERR_HANDLING_MODE_PEER */
    /** The endpoint has no lanes yet. Messages are limited such that they fit
     *  each interface that may become lane 0 */
    uint8_t unconnected;
    uint8_t tag_path; /**< ucp_tag_path_t */
    /** The peer is on this machine (ucp_address_is_local) */
    uint8_t is_local;
    /** UCP_PROTO_FLAG_* of the protocol for the data of a rendezvous that the
     *  user requests by UCX_RNDV_SCHEME; 0: selected by cost */
    uint16_t rndv_prefer;
    /** Maximum bytes of data in a fragment (UCX_RNDV_FRAG_SIZE); 0 means
     *  UCP_FRAGMENT_MAX. The lane may support less */
    size_t rndv_frag_size;
    /** Index of the best lane for large put and get of any host memory. This
     *  and the next three members are UCP_NULL_LANE if there is no such lane */
    uint8_t rndv_lane;
    /** Index of the best lane for large put and get among those that can access
     *  only memory which the peer's processor cannot access, for example of a
     *  GPU */
    uint8_t device_lane;
    /** Index of the best lane for short put and get of the user, among the
     *  lanes that can access any memory */
    uint8_t rma_lane;
    uint8_t amo_lane;         /**< Index of the best lane for atomics with a
                               *   result */
    ucp_lane_map_t rma_lanes; /**< All lanes that can put or get */
    ucp_lane_map_t amo_lanes; /**< All lanes that support atomics */
    /** Lanes that have failed. They stay in lanes[], without capabilities, so
     *  that the other lanes keep their indices */
    ucp_lane_map_t lost;
    /** Class of the measured bandwidth of messages to the peer (measure.h), by
     *  which the costs are set; 0: not measured, the costs are estimates for
     *  any peer */
    uint8_t measured;
    /** As `measured`, for large put and get over rndv_lane */
    uint8_t measured_copy;
    /** The configuration without failed lanes and measured bandwidths from
     *  which this configuration was derived; may be itself. Both have the same
     *  lanes, with the same indices and memory domains */
    const ucp_ep_config_t *whole;
    /** The variant of this configuration for operations with
     *  UCP_OP_ATTR_FLAG_MULTI_SEND; NULL until it is needed */
    const ucp_ep_config_t *multi;
    /** This and the next member: maximum number of lanes that share a transfer
     *  (UCX_MAX_RNDV_LANES, UCX_MAX_RMA_LANES); 0 means one */
    uint8_t max_rndv_lanes;
    uint8_t max_rma_lanes;
    /** Lanes share transfers only if their bandwidths differ by at most this
     *  factor; 0: any factor */
    double max_lane_ratio;
    /** UCX_BCOPY_THRESH: messages of at least this many bytes do not use
     *  am_short; 0: selected by cost */
    size_t short_end;
    /** The lanes that share the data of a rendezvous, for get and for put */
    ucp_rails_t rndv_get;
    ucp_rails_t rndv_put;
    /** Rails that consist of one lane: entry i is for lane i */
    ucp_rails_t single_get[UCP_MAX_LANES];
    ucp_rails_t single_put[UCP_MAX_LANES];
    ucp_lane_config_t lanes[UCP_MAX_LANES];
    ucp_proto_table_t tables[UCP_OP_EP_LAST][UCP_DT_CLASS_LAST];
    /** Tables for calls with a flag of UCP_PROTO_ATTR_SOON: only protocols that
     *  copy the data, so that the user can reuse the buffer early */
    ucp_proto_table_t copied[UCP_OP_MESSAGE_LAST];
    /** Tagged messages that are not sent by a rendezvous, contiguous (learn/) */
    ucp_proto_table_t eager;
};

/** Returns the limits and costs of active messages, which use lane 0. */
static UCS_F_ALWAYS_INLINE const ucp_lane_am_t *
ucp_ep_config_am(const ucp_ep_config_t *config)
{
    return &config->lanes[UCP_AM_LANE].am;
}

/** Returns the lane `rndv_lane`, or NULL if there is none. */
static inline const ucp_lane_config_t *
ucp_ep_config_rndv(const ucp_ep_config_t *config)
{
    return (config->rndv_lane == UCP_NULL_LANE) ?
               NULL :
               &config->lanes[config->rndv_lane];
}

struct ucp_selected_lane;

/** Returns the worker's configuration for these lanes, which is created if
 *  there is none. Returns NULL if out of memory. */
const ucp_ep_config_t *ucp_ep_config_get(ucp_worker_h worker,
                                         const struct ucp_selected_lane *lanes,
                                         unsigned num_lanes, int err_mode,
                                         int is_local);

/** Returns the configuration of an endpoint of which one more lane has failed:
 *  index `lane`, not 0. Returns NULL if out of memory. */
const ucp_ep_config_t *ucp_ep_config_without(ucp_worker_h worker,
                                             const ucp_ep_config_t *config,
                                             unsigned lane);
/** Returns the configuration of an endpoint that now sends tagged messages by
 *  this path. Returns NULL if out of memory. */
const ucp_ep_config_t *ucp_ep_config_tag(ucp_worker_h worker,
                                         const ucp_ep_config_t *config,
                                         ucp_tag_path_t path);

/** Returns the configuration of an endpoint after a measurement: with the costs
 *  that follow from these classes of bandwidth (measure.h), of messages and of
 *  large put and get. Returns NULL if out of memory. */
const ucp_ep_config_t *ucp_ep_config_measured(ucp_worker_h worker,
                                              const ucp_ep_config_t *config,
                                              unsigned measured,
                                              unsigned measured_copy);

/**
 * Returns the variant of `config` for operations with
 * UCP_OP_ATTR_FLAG_MULTI_SEND, which has the same lanes. The user then has many
 * operations in flight. Therefore a cost is the time for which one operation
 * occupies both sides and the lane. It excludes the latency, during which other
 * operations are transferred. Called with the worker's lock held. Returns
 * `config` if out of memory, or if the endpoint has no lanes yet.
 */
const ucp_ep_config_t *ucp_ep_config_multi(ucp_worker_h worker,
                                           const ucp_ep_config_t *config);

/** Returns the configuration from whose tables the protocol of an operation is
 *  selected. `attr`: UCP_OP_ATTR_* of the user's call. */
static UCS_F_ALWAYS_INLINE const ucp_ep_config_t *
ucp_ep_config_for(ucp_worker_h worker, const ucp_ep_config_t *config,
                  uint32_t attr)
{
    return ucs_unlikely(attr & UCP_OP_ATTR_FLAG_MULTI_SEND) ?
               ucp_ep_config_multi(worker, config) :
               config;
}

void ucp_ep_config_free_all(ucp_worker_h worker);

/** Returns the configuration of endpoints that have no lanes yet. It limits
 *  messages such that they can be sent over any interface that may become lane
 *  0. Returns UCS_ERR_UNREACHABLE, with a log line, if there is no such
 *  interface. */
ucs_status_t ucp_ep_config_unconnected(ucp_worker_h worker, int err_mode,
                                       const ucp_ep_config_t **config_p);

struct ucp_worker_iface;

/** Sets wiface->lane: the capabilities and costs of lanes over an open
 *  interface. The members remote_md and remote_device depend on the peer:
 *  ucp_ep_config_get() sets them. */
void ucp_lane_config_fill(struct ucp_worker_iface *wiface);

/** Gets the transport's estimate for an operation on host memory over an
 *  interface. `ep`: the transport's endpoint whose peer the estimate is for;
 *  NULL: any peer. */
ucs_status_t ucp_lane_estimate(const struct ucp_worker_iface *wiface,
                               ucx_op_t op, uct_ep_h ep, ucx_perf_t *perf);

/** Sets the members rndv_lane, device_lane, rma_lane, amo_lane, rma_lanes,
 *  amo_lanes and the rails, from the capabilities and costs of the lanes. */
void ucp_ep_config_assign(ucp_ep_config_t *config);

/** A protocol with a range of sizes for which it may be selected, and its cost
 *  there. */
typedef struct ucp_proto_candidate {
    const ucp_proto_t *proto;
    size_t min, max;        /**< In bytes; if max < min, it is not selected */
    ucs_linear_func_t time; /**< Seconds */
} ucp_proto_candidate_t;

enum { UCP_PROTO_MAX_CANDIDATES = 24 };

/** Writes to `list` the ranges of all protocols that can carry out the
 *  operation of the query. Returns their number. */
unsigned ucp_proto_list(const ucp_proto_query_t *query,
                        ucp_proto_candidate_t list[UCP_PROTO_MAX_CANDIDATES]);

/** Fills the table: for each size, the candidate with the lowest cost; of equal
 *  costs, the first in the list. Sizes without a candidate get NULL as
 *  protocol. Fails only if out of memory. */
ucs_status_t ucp_proto_envelope(const ucp_proto_candidate_t *list,
                                unsigned count, ucp_proto_table_t *table);

/** Fills the table from all candidates for a query (ucp_proto_list()). Fails
 *  only if out of memory. */
ucs_status_t ucp_proto_fill(const ucp_proto_query_t *query,
                            ucp_proto_table_t *table);

/** Returns the cost, in seconds as a function of the size, of the protocol that
 *  query->config selects for `length` bytes. `query->op`: below
 *  UCP_OP_EP_LAST. */
ucs_linear_func_t ucp_proto_cost(const ucp_proto_query_t *query, size_t length);

/** Returns the smallest length, not below `from`, for which the protocol that
 *  query->config selects costs no more than `other`; SIZE_MAX / 2 if there is
 *  none. `from`: not 0. `other`: in seconds, as a function of the length. */
size_t ucp_proto_first_better(const ucp_proto_query_t *query,
                              ucs_linear_func_t other, size_t from);

/** Prints a table of a configuration, or of a remote key that is used with this
 *  configuration. `lanes`: the names of the lanes for the output; may be
 *  empty. */
void ucp_proto_print_table(const ucp_proto_table_t *table, ucp_op_t op,
                           unsigned dt_class, const ucp_ep_config_t *config,
                           const char *lanes, FILE *stream);

/** Fills the tables of a configuration whose lanes are set, and the members
 *  tag_short_end, am_short_end and stream_short_max. Fails only if out of
 *  memory. */
ucs_status_t ucp_proto_select(ucp_ep_config_t *config, size_t zcopy_thresh,
                              size_t rndv_thresh);

/** Prints the tables of a configuration, as UCX_PROTO_INFO=y does. `lane`: the
 *  names of the lanes for the output. */
void ucp_proto_print(const ucp_ep_config_t *config, const char *lane,
                     FILE *stream);

/** Writes to `text` " by <name> over <transport>/<device><range>". `iface`:
 *  index of the worker's interface. */
void ucp_proto_describe(const char *name, ucp_worker_h worker, unsigned iface,
                        const char *range, char *text, size_t max);

/** Return the name of an operation for the output, and the UCP_FEATURE_* that
 *  it needs. */
const char *ucp_proto_op_name(ucp_op_t op);
uint64_t ucp_proto_op_feature(ucp_op_t op);

/** Returns the protocol that the table has for `length` bytes. Hot path. */
static UCS_F_ALWAYS_INLINE const ucp_proto_t *
ucp_proto_find(const ucp_proto_table_t *table, size_t length)
{
    const ucp_proto_step_t *step = table->steps;

    while (length > step->max) {
        ++step;
    }
    return step->proto;
}

/** Returns the protocol of a message of `length` bytes. `attr`:
 *  UCP_OP_ATTR_* that hold for it. */
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

/** Bandwidth of a memory copy on one core in bytes per second: a typical figure
 *  of recent servers, only to compare protocols. */
#define UCP_PROTO_MEMCPY_BANDWIDTH 12e9

/** Seconds that UCP itself needs for an operation with a request. */
#define UCP_PROTO_REQUEST_TIME 0.1e-6

#endif
