/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Protocols, and the choice among them.
 *
 * A protocol is one way to carry out an operation. It says for which sizes it
 * can and what it costs there; the lower envelope of the costs becomes a table
 * that is computed once for endpoints alike. At run time the choice is one walk
 * over a few steps, for short messages not even that.
 */
#ifndef UCP_PROTO_H
#define UCP_PROTO_H

#include <stdio.h>
#include <ucs/datastruct/linear_func.h>
#include <ucx/transport.h>

#include "ucp/core/request.h"
#include "ucp/proto/lane.h"
#include "ucp/proto/rails.h"

/** Operations that protocols carry out. */
typedef enum {
    UCP_OP_TAG_SEND,
    UCP_OP_TAG_SEND_SYNC,
    UCP_OP_AM_SEND,
    UCP_OP_AM_SEND_REPLY,   /**< The receiver may answer */
    UCP_OP_STREAM_SEND,
    UCP_OP_LAST
} ucp_op_t;

typedef struct ucp_ep_config ucp_ep_config_t;

/** A user's threshold that no message reaches; SIZE_MAX means "by cost". */
#define UCP_PROTO_THRESH_NEVER (SIZE_MAX - 1)

/** What a protocol is asked. */
typedef struct ucp_proto_query {
    ucp_op_t              op;
    ucp_dt_class_t        dt_class;
    const ucp_ep_config_t *config;   /**< Its lane's limits and costs */
    size_t                zcopy_thresh; /**< The user's; SIZE_MAX: by cost */
    size_t                rndv_thresh;  /**< Likewise */
} ucp_proto_query_t;

/** What it answers. */
typedef struct ucp_proto_range {
    size_t            min, max;  /**< Bytes, both included */
    ucs_linear_func_t time;      /**< Seconds until the receiver has it */
} ucp_proto_range_t;

typedef struct ucp_proto {
    const char             *name;   /**< As UCX_PROTO_INFO shows it */
    /** Non-zero: it can, for the sizes of `range`. */
    int (*query)(const ucp_proto_query_t *query, ucp_proto_range_t *range);
    ucp_request_progress_t progress;
    ucp_request_abort_t    abort;
} ucp_proto_t;

/** One row of the table: the choice for sizes up to `max`. */
typedef struct ucp_proto_step {
    size_t            max;
    const ucp_proto_t *proto;
} ucp_proto_step_t;

enum { UCP_PROTO_MAX_STEPS = 8 };

typedef struct ucp_proto_table {
    ucp_proto_step_t steps[UCP_PROTO_MAX_STEPS]; /**< The last: SIZE_MAX */
} ucp_proto_table_t;

/** What endpoints with the same lanes and mode share. */
struct ucp_ep_config {
    size_t            tag_short_end;  /**< Plain sends of fewer bytes go by
                                           am_short; 0: none */
    size_t            am_short_end;   /**< Likewise, with the user's header */
    size_t            stream_short_max; /**< Likewise: 1 to so many bytes */
    uint8_t           staged;         /**< There is memory that the processor
                                           may not touch, perhaps */
    uint8_t           num_lanes;
    uint8_t           err_mode;       /**< Non-zero: peer failures matter */
    uint8_t           unconnected;    /**< There are no lanes yet: what all of
                                           them could do */
    uint8_t           is_local;       /**< The peer is on this machine: see
                                           ucp_address_is_local */
    uint8_t           rndv_scheme;    /**< ucp_rndv_scheme_t, the user's */
    size_t            rndv_frag_size; /**< Of fragments, the user's; 0: as the
                                           lane can */
    uint8_t           rndv_lane;      /**< Large put and get of any memory; or
                                           UCP_NULL_LANE, like the others */
    uint8_t           rma_lane;       /**< The best for the user's put and get
                                           of registered memory */
    uint8_t           amo_lane;       /**< The best for atomics */
    ucp_lane_map_t    rma_lanes;      /**< All that can put or get at all */
    ucp_lane_map_t    amo_lanes;      /**< All that can do atomics */
    ucp_lane_map_t    lost;           /**< Lanes that have failed since: what is
                                           here counts for the others */
    uint8_t           measured;       /**< The class of bandwidth for which the
                                           costs are: measure.h; 0: any */
    const ucp_ep_config_t *whole;     /**< ... before any was lost, and for any
                                           bandwidth; itself, if it is that. What
                                           lanes are and can, and the numbers of
                                           their keys, is the same */
    const ucp_ep_config_t *multi;     /**< Protocols for many operations in
                                           flight; NULL until they are needed */
    uint8_t           max_rndv_lanes; /**< The user's limits; 0 is one */
    uint8_t           max_rma_lanes;
    double            max_lane_ratio; /**< Slower lanes by so much are not used
                                           beside others; 0: no limit */
    size_t            short_end;      /**< The user's: messages of so many bytes
                                           do not go by am_short; 0: by cost */
    ucp_rails_t       rndv_get;       /**< Those that divide rendezvous' data
                                           among them, by way */
    ucp_rails_t       rndv_put;
    ucp_rails_t       single_get[UCP_MAX_LANES]; /**< A lane by itself */
    ucp_rails_t       single_put[UCP_MAX_LANES];
    ucp_lane_config_t lanes[UCP_MAX_LANES];
    ucp_proto_table_t tables[UCP_OP_LAST][UCP_DT_CLASS_LAST];
};

/** The limits and costs of active messages. */
static UCS_F_ALWAYS_INLINE const ucp_lane_am_t *
ucp_ep_config_am(const ucp_ep_config_t *config)
{
    return &config->lanes[UCP_AM_LANE].am;
}

/** The lane of large put and get, or NULL. */
static inline const ucp_lane_config_t *
ucp_ep_config_rndv(const ucp_ep_config_t *config)
{
    return (config->rndv_lane == UCP_NULL_LANE) ?
           NULL : &config->lanes[config->rndv_lane];
}

struct ucp_lane_choice;

/** The configuration for these lanes; made if there is none yet. NULL: out of
 *  memory. */
const ucp_ep_config_t *
ucp_ep_config_get(ucp_worker_h worker, const struct ucp_lane_choice *lanes,
                  unsigned num_lanes, int err_mode, int is_local);

/** The configuration of an endpoint that has lost one more lane, not the first.
 *  NULL: out of memory. */
const ucp_ep_config_t *
ucp_ep_config_without(ucp_worker_h worker, const ucp_ep_config_t *config,
                      unsigned lane);
/** Likewise, when its transport has measured: the costs are those of another
 *  class of bandwidth. */
const ucp_ep_config_t *
ucp_ep_config_measured(ucp_worker_h worker, const ucp_ep_config_t *config,
                       unsigned measured);

/**
 * The configuration by whose tables operations with UCP_OP_ATTR_FLAG_MULTI_SEND
 * select their protocols: its costs are the time that one operation keeps the
 * ends and the lane busy, without the latency, which others fill. The lanes are
 * those of `config`. The worker is locked. `config` itself if memory is out.
 */
const ucp_ep_config_t *
ucp_ep_config_multi(ucp_worker_h worker, const ucp_ep_config_t *config);

/** The configuration whose tables count for an operation. */
static UCS_F_ALWAYS_INLINE const ucp_ep_config_t *
ucp_ep_config_for(ucp_worker_h worker, const ucp_ep_config_t *config,
                  const ucp_request_param_t *param)
{
    return ucs_unlikely(param->op_attr_mask & UCP_OP_ATTR_FLAG_MULTI_SEND) ?
           ucp_ep_config_multi(worker, config) : config;
}

void ucp_ep_config_free_all(ucp_worker_h worker);

/** The configuration of endpoints that have no lanes yet: protocols of which
 *  each works over whatever lanes there will be. NULL: out of memory. */
const ucp_ep_config_t *
ucp_ep_config_unconnected(ucp_worker_h worker, int err_mode);

struct ucp_worker_iface;

/** Reads what a lane over an opened interface can do; remote_md is left to say
 *  for each peer. */
void ucp_lane_config_fill(struct ucp_worker_iface *wiface);

/** What an operation on host memory costs over an interface: to this endpoint,
 *  or (NULL) to any peer. */
ucs_status_t ucp_lane_estimate(const struct ucp_worker_iface *wiface,
                               ucx_op_t op, uct_ep_h ep, ucx_perf_t *perf);

/** Gives each kind of use the lane that is best for it. */
void ucp_ep_config_assign(ucp_ep_config_t *config);

/** Computes the tables of a configuration whose limits are set. Only memory can
 *  be missing. */
ucs_status_t ucp_proto_select(ucp_ep_config_t *config, size_t zcopy_thresh,
                              size_t rndv_thresh);

/** Shows the tables, as UCX_PROTO_INFO=y does. */
void ucp_proto_print(const ucp_ep_config_t *config, const char *lane,
                     FILE *stream);

/** What people call an operation, and the UCP_FEATURE_* that it belongs to. */
const char *ucp_proto_op_name(ucp_op_t op);
uint64_t ucp_proto_op_feature(ucp_op_t op);

/** The protocol of messages that goes on by this function, or NULL. */
const ucp_proto_t *ucp_proto_of_progress(ucp_request_progress_t progress);

/** The choice for `length` bytes. Hot path. */
static UCS_F_ALWAYS_INLINE const ucp_proto_t *
ucp_proto_find(const ucp_proto_table_t *table, size_t length)
{
    const ucp_proto_step_t *step = table->steps;

    while (length > step->max) {
        ++step;
    }
    return step->proto;
}

/** Copying from memory to memory on one core: a typical figure of servers of
 *  the last years (bytes per second), for comparing protocols only. */
#define UCP_PROTO_MEMCPY_BANDWIDTH 12e9

/** What UCP itself spends on an operation that needs a request (s). */
#define UCP_PROTO_REQUEST_TIME 0.2e-6

/** All protocols, in the folders of their classes. */
extern const ucp_proto_t ucp_proto_tag_eager_short;
extern const ucp_proto_t ucp_proto_tag_eager_bcopy;
extern const ucp_proto_t ucp_proto_tag_eager_zcopy;
extern const ucp_proto_t ucp_proto_tag_multi;
extern const ucp_proto_t ucp_proto_tag_rndv;
extern const ucp_proto_t ucp_proto_am_eager_short;
extern const ucp_proto_t ucp_proto_am_eager_bcopy;
extern const ucp_proto_t ucp_proto_am_eager_zcopy;
extern const ucp_proto_t ucp_proto_am_multi;
extern const ucp_proto_t ucp_proto_am_rndv;
extern const ucp_proto_t ucp_proto_stream_short;
extern const ucp_proto_t ucp_proto_stream_copy;
extern const ucp_proto_t ucp_proto_stream_place;

#endif
