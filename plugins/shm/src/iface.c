/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transports `posix` and `sysv`: interfaces, their attributes, costs,
 * addresses and progress, and the tracing of messages.
 */
#include "iface.h"

#include "access.h"
#include "speed.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* DEVICE_NAME: the only device. BANDWIDTH: bytes per second if it was not
 * measured. COPY_BANDWIDTH: assumed bytes per second of the copies of an
 * am_zcopy, by sender and receiver together. DIRECT_GAIN: factor by which put
 * and get are faster than messages (30 to 45 GB/s for 1 MiB, compared with 12
 * to 18 GB/s). */
#define DEVICE_NAME    "memory"
#define BANDWIDTH      12179.0 * 1024 * 1024
#define COPY_BANDWIDTH 12e9
#define DIRECT_GAIN    3.0
/* Seconds, if the latency of memory cannot be measured. */
#define LATENCY_ASSUMED 80e-9

/* Hot path: delivers one message of the inbox. */
static SHM_INLINE ucs_status_t deliver(void *arg, unsigned slot, uint8_t id,
                                       void *data, uint32_t length)
{
    shm_iface_t *iface = arg;

    if (shm_unlikely(id >= UCT_AM_ID_MAX)) {
        return UCS_ERR_INVALID_PARAM;
    }
    shm_iface_trace(iface, UCT_AM_TRACE_TYPE_RECV, id, data, length);
    ucx_iface_deliver_am(&iface->super, id, data, length, 0);
    return UCS_OK;
}

/* Hot path. */
static unsigned shm_iface_progress(uct_iface_h uct_iface)
{
    shm_iface_t *iface = shm_iface(uct_iface);
    unsigned count;

    if (shm_unlikely(iface->is_armed)) {
        shm_iface_disarm(iface);
    }
    count = shm_inbox_progress(&iface->inbox, deliver);
    if (shm_unlikely(!TAILQ_EMPTY(&iface->waiting))) {
        count += shm_iface_dispatch(iface);
    }
    if (shm_unlikely((++iface->rounds & iface->tend_mask) == 0)) {
        shm_iface_tend(iface);
    }
    return count;
}

/* ----------------------------------------------------------- open, close -- */

static unsigned round_up_to_power_of_two(size_t value)
{
    unsigned result = 1;

    while (result < value) {
        result <<= 1;
    }
    return result;
}

/* Checks the configuration, replaces "auto", and sets the limits in `params`. A
 * ring must hold two messages of the maximum length, so that one can be written
 * while the other is read. */
static ucs_status_t check_config(shm_iface_t *iface, shm_inbox_params_t *params)
{
    const ucx_host_t *host     = iface->host;
    shm_iface_config_t *config = &iface->config;
    double line;

    params->num_slots = config->max_peers;
    params->num_cells = round_up_to_power_of_two(config->fifo_size);
    params->ring_max  = round_up_to_power_of_two(config->ring_size);
    if (config->latency < 0) {
        line            = shm_speed_line();
        config->latency = (line > 0) ? shm_speed_rounded(line) :
                                       LATENCY_ASSUMED;
    }
    if ((config->seg_size > params->ring_max / 2) ||
        (config->zcopy_size > params->ring_max / 2)) {
        ucx_error("SEG_SIZE %zu and ZCOPY_SIZE %zu must not be more than half"
                  " of RING_SIZE %zu",
                  config->seg_size, config->zcopy_size, params->ring_max);
        return UCS_ERR_INVALID_PARAM;
    }
    params->max_length = (config->seg_size > config->zcopy_size) ?
                             config->seg_size :
                             config->zcopy_size;
    return UCS_OK;
}

/* --------------------------------------------------------------- tracing -- */

static int is_tracing(const shm_iface_t *iface)
{
    return *iface->host->log_level >= (int)UCS_LOG_LEVEL_TRACE_DATA;
}

/* Default tracer: adds no text, so that only the transport's part is logged. */
static void show_nothing(void *arg, uct_am_trace_type_t type, uint8_t id,
                         const void *data, size_t length, char *buffer,
                         size_t max)
{
}

void shm_iface_show(shm_iface_t *iface, uct_am_trace_type_t type, uint8_t id,
                    const void *data, size_t length)
{
    const ucx_host_t *host = iface->host;
    char line[256]         = "";

    if (!is_tracing(iface)) {
        return;
    }
    iface->tracer(iface->tracer_arg, type, id, data, length, line,
                  sizeof(line));
    line[sizeof(line) - 1] = '\0';
    ucx_log(UCS_LOG_LEVEL_TRACE_DATA, "%s am_id %u length %zu %s",
            (type == UCT_AM_TRACE_TYPE_SEND) ? "tx" : "rx", id, length, line);
}

static ucs_status_t shm_iface_set_am_tracer(uct_iface_h uct_iface,
                                            uct_am_tracer_t tracer, void *arg)
{
    shm_iface_t *iface = shm_iface(uct_iface);

    if ((tracer == NULL) && is_tracing(iface)) {
        tracer = show_nothing;
    }
    iface->tracer     = tracer;
    iface->tracer_arg = arg;
    return UCS_OK;
}

/* ------------------------------------------------------------------ open -- */

static ucs_status_t shm_iface_open(uct_md_h md,
                                   const ucx_iface_open_args_t *args,
                                   uct_iface_h *iface_p)
{
    shm_inbox_params_t params = {
        .private_size = 0,
        .seg_flags    = SHM_SEG_EVENT,
        .deliver      = deliver,
    };
    shm_iface_t *iface;
    ucs_status_t status;
    unsigned i;

    if ((args->config == NULL) || (args->dev_name == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }
    iface = calloc(1, sizeof(*iface));
    if (iface == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    ucx_iface_init(&iface->super, args);
    iface->md               = (shm_md_t *)md;
    iface->host             = iface->md->host;
    iface->config           = *(const shm_iface_config_t *)args->config;
    iface->config.keepalive = ucx_iface_keepalive(args, iface->config.keepalive,
                                                  SHM_KEEPALIVE_DEFAULT);
    iface->event_fd = iface->timer_fd = -1;
    iface->tend_mask                  = 63;
    iface->bcopy_typical              = 64;
    iface->tended_at                  = iface->host->time();
    iface->tend_at = iface->tended_at + iface->config.keepalive;
    (void)shm_iface_set_am_tracer(&iface->super, NULL, NULL);
    TAILQ_INIT(&iface->waiting);
    LIST_INIT(&iface->failed);
    LIST_INIT(&iface->told);
    for (i = 0; i < SHM_PEER_HASH_SIZE; ++i) {
        LIST_INIT(&iface->peers[i]);
    }

    status = check_config(iface, &params);
    if (status != UCS_OK) {
        goto err;
    }
    params.arg    = iface;
    params.worker = iface->super.worker;
    status        = shm_inbox_open(&iface->inbox, &iface->md->space, &params);
    if (status != UCS_OK) {
        goto err;
    }
    *iface_p = &iface->super;
    return UCS_OK;

err:
    free(iface);
    return status;
}

static void shm_iface_close(uct_iface_h uct_iface)
{
    shm_iface_t *iface = shm_iface(uct_iface);

    shm_peers_cleanup(iface);
    shm_iface_event_cleanup(iface);
    shm_inbox_close(&iface->inbox);
    free(iface->packed);
    free(iface);
}

static ucs_status_t
shm_query_devices(uct_md_h md, ucx_device_desc_t **devices_p, unsigned *num_p)
{
    ucx_device_desc_t *device = calloc(1, sizeof(*device));

    if (device == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    snprintf(device->name, sizeof(device->name), DEVICE_NAME);
    device->type    = UCT_DEVICE_TYPE_SHM;
    device->sys_dev = UCS_SYS_DEVICE_ID_UNKNOWN;
    *devices_p      = device;
    *num_p          = 1;
    return UCS_OK;
}

/* ------------------------------------------------------------ attributes -- */

#define ATOMIC_POST_OPS \
    (UCS_BIT(UCT_ATOMIC_OP_ADD) | UCS_BIT(UCT_ATOMIC_OP_AND) | \
     UCS_BIT(UCT_ATOMIC_OP_OR) | UCS_BIT(UCT_ATOMIC_OP_XOR))
#define ATOMIC_FETCH_OPS \
    (ATOMIC_POST_OPS | UCS_BIT(UCT_ATOMIC_OP_SWAP) | \
     UCS_BIT(UCT_ATOMIC_OP_CSWAP))

static void query_limits(const shm_iface_t *iface, uct_iface_attr_t *attr)
{
    attr->cap.am.max_short       = iface->config.seg_size;
    attr->cap.am.max_bcopy       = iface->config.seg_size;
    attr->cap.am.max_zcopy       = iface->config.zcopy_size;
    attr->cap.am.max_hdr         = iface->config.seg_size;
    attr->cap.am.max_iov         = SIZE_MAX;
    attr->cap.am.opt_zcopy_align = 1;
    attr->cap.am.align_mtu       = 1;

    attr->cap.put.max_short       = UINT32_MAX;
    attr->cap.put.max_bcopy       = SHM_PUT_BCOPY_MAX;
    attr->cap.put.max_zcopy       = SIZE_MAX;
    attr->cap.put.opt_zcopy_align = 1;
    attr->cap.put.align_mtu       = 1;
    attr->cap.put.max_iov         = SIZE_MAX;

    attr->cap.get.max_short       = UINT32_MAX;
    attr->cap.get.max_bcopy       = SIZE_MAX;
    attr->cap.get.max_zcopy       = SIZE_MAX;
    attr->cap.get.opt_zcopy_align = 1;
    attr->cap.get.align_mtu       = 1;
    attr->cap.get.max_iov         = SIZE_MAX;

    attr->cap.atomic32.op_flags  = ATOMIC_POST_OPS;
    attr->cap.atomic32.fop_flags = ATOMIC_FETCH_OPS;
    attr->cap.atomic64           = attr->cap.atomic32;
}

static ucs_status_t shm_iface_query(uct_iface_h uct_iface,
                                    ucx_iface_attr_t *attr)
{
    shm_iface_t *iface     = shm_iface(uct_iface);
    uct_iface_attr_t *base = &attr->base;

    query_limits(iface, base);
    base->cap.flags = UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY |
                      UCT_IFACE_FLAG_AM_ZCOPY | UCT_IFACE_FLAG_PENDING |
                      UCT_IFACE_FLAG_PUT_SHORT | UCT_IFACE_FLAG_PUT_BCOPY |
                      UCT_IFACE_FLAG_PUT_ZCOPY | UCT_IFACE_FLAG_GET_SHORT |
                      UCT_IFACE_FLAG_GET_BCOPY | UCT_IFACE_FLAG_GET_ZCOPY |
                      UCT_IFACE_FLAG_ATOMIC_CPU |
                      UCT_IFACE_FLAG_CONNECT_TO_IFACE | UCT_IFACE_FLAG_CB_SYNC |
                      UCT_IFACE_FLAG_EP_CHECK | UCT_IFACE_FLAG_EP_KEEPALIVE |
                      UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE |
                      UCT_IFACE_FLAG_ERRHANDLE_AM_ID;
    base->cap.event_flags = UCT_IFACE_FLAG_EVENT_SEND_COMP |
                            UCT_IFACE_FLAG_EVENT_FD;
    if (shm_seg_can_wake(&iface->md->space)) {
        base->cap.event_flags |= UCT_IFACE_FLAG_EVENT_RECV;
    }

    base->device_addr_len  = sizeof(uint64_t);
    base->iface_addr_len   = shm_seg_address_length(&iface->md->space);
    base->overhead         = iface->config.overhead;
    base->latency          = ucs_linear_func_make(iface->config.latency, 0);
    base->bandwidth.shared = (iface->config.bw > 0) ? iface->config.bw :
                                                      BANDWIDTH;
    base->max_num_eps      = SIZE_MAX;
    base->dev_num_paths    = 1;

    attr->flags = UCX_IFACE_FLAG_TESTED_REACHABILITY |
                  UCX_IFACE_FLAG_DETECTS_FAILURE;
    attr->max_inflight_eps = SIZE_MAX;
    return UCS_OK;
}

/* Returns whether this process and the senders that it polls are more than the
 * processors that are online. Sender and receiver then take turns on a
 * processor whenever the ring is full, which is very slow, whatever the
 * distance of the cores. */
static int take_turns(shm_iface_t *iface)
{
    long processors;

    if (iface->processors == 0) {
        processors        = sysconf(_SC_NPROCESSORS_ONLN);
        iface->processors = (processors > 0) ? (uint32_t)processors : 1;
    }
    return iface->inbox.num_active + 1 > iface->processors;
}

static double bandwidth_to(shm_iface_t *iface, uct_ep_h ep)
{
    return (iface->config.bw > 0) ? iface->config.bw :
           ((ep == NULL) || take_turns(iface)) ?
                                    0 :
                                    shm_outbox_bandwidth(shm_ep(ep)->outbox);
}

/* Refines the costs of operations. am_zcopy also copies the data, a cost that
 * the core's cost model does not include for zero-copy. A put or get is one
 * copy by one core, without a ring or a second process, so it is faster than a
 * message. */
static ucs_status_t shm_iface_estimate(uct_iface_h uct_iface, ucx_perf_t *perf)
{
    shm_iface_t *iface = shm_iface(uct_iface);

    if ((perf->op <= UCX_OP_AM_ZCOPY) &&
        UCX_TABLE_HAS(perf, stream_bandwidth)) {
        perf->stream_bandwidth = bandwidth_to(iface, perf->ep);
    }
    if (perf->op == UCX_OP_AM_ZCOPY) {
        perf->bandwidth.shared = 1.0 / (1.0 / perf->bandwidth.shared +
                                        1.0 / COPY_BANDWIDTH);
    } else if ((perf->op >= UCX_OP_PUT_SHORT) &&
               (perf->op <= UCX_OP_GET_ZCOPY)) {
        perf->bandwidth.shared *= DIRECT_GAIN;
    }
    return UCS_OK;
}

/* ------------------------------------------------------------- addresses -- */

static ucs_status_t shm_iface_get_device_address(uct_iface_h uct_iface,
                                                 uct_device_addr_t *addr)
{
    uint64_t guid = htole64(shm_iface(uct_iface)->host->machine_guid());

    memcpy(addr, &guid, sizeof(guid));
    return UCS_OK;
}

static ucs_status_t shm_iface_get_address(uct_iface_h uct_iface,
                                          uct_iface_addr_t *addr)
{
    shm_seg_address(&shm_iface(uct_iface)->inbox.seg, addr);
    return UCS_OK;
}

/* Tests reachability by attaching the peer's inbox. The attachment is kept in
 * iface->probed, so that an endpoint created next uses it. */
static int shm_iface_is_reachable(uct_iface_h uct_iface,
                                  const ucx_reachable_args_t *args)
{
    shm_iface_t *iface = shm_iface(uct_iface);
    uint64_t guid      = htole64(iface->host->machine_guid());
    shm_peer_t *before = iface->probed;
    shm_peer_t *peer;

    if ((args->dev_addr == NULL) || (args->dev_addr_length < sizeof(guid)) ||
        (memcmp(args->dev_addr, &guid, sizeof(guid)) != 0)) {
        if (args->reason != NULL) {
            snprintf(args->reason, args->reason_size, "it is on another host");
        }
        return 0;
    }
    if (args->iface_addr == NULL) {
        return 1; /* The caller queries the device only: this host */
    }

    if (shm_peer_find(iface, args->iface_addr, args->iface_addr_length, &peer,
                      args->reason, args->reason_size) != UCS_OK) {
        return 0;
    }
    iface->probed = peer;
    if ((before != NULL) && (before != peer)) {
        shm_peer_put(iface, before);
    }
    return 1;
}

/* ----------------------------------------------------------------- order -- */

static ucs_status_t shm_iface_flush(uct_iface_h iface, unsigned flags,
                                    uct_completion_t *comp)
{
    atomic_thread_fence(memory_order_seq_cst);
    return UCS_OK; /* Everything sent is in the peers' memory */
}

static ucs_status_t shm_iface_fence(uct_iface_h iface, unsigned flags)
{
    atomic_thread_fence(memory_order_seq_cst);
    return UCS_OK;
}

static const ucx_iface_ops_t iface_ops = {
    .size               = sizeof(iface_ops),
    .close              = shm_iface_close,
    .query              = shm_iface_query,
    .estimate           = shm_iface_estimate,
    .get_device_address = shm_iface_get_device_address,
    .get_address        = shm_iface_get_address,
    .is_reachable       = shm_iface_is_reachable,
    .ep_create          = shm_ep_create,
    .progress           = shm_iface_progress,
    .flush              = shm_iface_flush,
    .fence              = shm_iface_fence,
    .event_fd_get       = shm_iface_event_fd_get,
    .event_arm          = shm_iface_event_arm,
    .set_am_tracer      = shm_iface_set_am_tracer,
};

const ucx_transport_t shm_posix_transport = {
    .size          = sizeof(shm_posix_transport),
    .name          = "posix",
    .config        = &shm_posix_config_table,
    .query_devices = shm_query_devices,
    .iface_open    = shm_iface_open,
    .iface_ops     = &iface_ops,
    .ep_ops        = &shm_ep_ops,
};

const ucx_transport_t shm_sysv_transport = {
    .size          = sizeof(shm_sysv_transport),
    .name          = "sysv",
    .config        = &shm_sysv_config_table,
    .query_devices = shm_query_devices,
    .iface_open    = shm_iface_open,
    .iface_ops     = &iface_ops,
    .ep_ops        = &shm_ep_ops,
};
