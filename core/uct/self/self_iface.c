/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interfaces of the loopback transport (self.h): creation, attributes,
 * reachability, events. Active messages are in self_am.c.
 */
#define UCX_LOG_HOST uct_self_host
#include "self.h"

#include <ucx/log.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* CORE_COPY: bytes per second that the core's cost model assumes for each copy
 * of a message. UNLIMITED: for messages whose cost is only these copies. */
#define CORE_COPY 24e9
#define UNLIMITED 1e15

static const ucx_config_field_t self_iface_fields[] = {
    {
        .name   = "SEG_SIZE",
        .type   = UCX_CONFIG_MEMUNITS,
        .offset = offsetof(self_iface_config_t, seg_size),
        .dflt   = "8k",
        .help   = "Largest active message, in bytes: 512 to 1m.",
        .min    = 512,
        .max    = 1 << 20,
    },
    {
        .name   = "QUEUE_LEN",
        .type   = UCX_CONFIG_UINT,
        .offset = offsetof(self_iface_config_t, queue_len),
        .dflt   = "256",
        .help   = "Messages that may wait for progress: 1 to 1000000.",
        .min    = 1,
        .max    = 1000000,
    },
};

const ucx_config_table_t uct_self_iface_config = {
    .size         = sizeof(uct_self_iface_config),
    .prefix       = "SELF_",
    .options_size = sizeof(self_iface_config_t),
    .field_size   = sizeof(ucx_config_field_t),
    .fields       = self_iface_fields,
    .num_fields   = ucs_static_array_size(self_iface_fields),
};

ucs_status_t self_query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                unsigned *num_p)
{
    ucx_device_desc_t *device = calloc(1, sizeof(*device));

    if (device == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    strcpy(device->name, SELF_DEVICE);
    device->type    = UCT_DEVICE_TYPE_SELF;
    device->sys_dev = UCS_SYS_DEVICE_ID_UNKNOWN;
    *devices_p      = device;
    *num_p          = 1;
    return UCS_OK;
}

/* CACHE_LINE: bytes of a cache line of most processors.
 * SHORT_HEADER: bytes in front of the payload of am_short. */
enum { CACHE_LINE = 64, SHORT_HEADER = sizeof(uint64_t) };

/* Creates a pool of buffers for messages of at most `size` bytes. The messages
 * have the alignment that the user of the interface requests in `params`, if
 * that is possible; iface->is_aligned says whether it is. If the request permits
 * it, the payload of short messages begins with a cache line: then no vector of
 * a copy belongs to two lines. A message of 4 KiB took 91 ns, now 82. */
static ucs_status_t self_mpool_create(self_iface_t *iface, const char *name,
                                      size_t size,
                                      const uct_iface_params_t *params,
                                      ucx_mpool_t **mpool_p)
{
    const size_t prefix          = sizeof(self_desc_t) + iface->headroom;
    ucx_mpool_params_t mp_params = {
        .size         = sizeof(mp_params),
        .name         = name,
        .elem_size    = prefix + size,
        .align_offset = prefix + SHORT_HEADER,
        .alignment    = CACHE_LINE,
        .max_elems    = UINT32_MAX,
    };
    size_t alignment = 1, offset = 0;

    if (params->field_mask & UCT_IFACE_PARAM_FIELD_AM_ALIGNMENT) {
        alignment = params->am_alignment;
    }
    if (params->field_mask & UCT_IFACE_PARAM_FIELD_AM_ALIGN_OFFSET) {
        offset = params->am_align_offset;
    }

    /* The requested alignment is used only if the descriptor, which is at the
     * beginning of the buffer, is aligned too. This requires that the distance
     * from there to the byte to align is a multiple of a pointer's size. */
    iface->is_aligned = (prefix + offset) % sizeof(void *) == 0;
    if (alignment < sizeof(void *)) {
        alignment = sizeof(void *);
    }
    if (!iface->is_aligned) {
        mp_params.alignment    = sizeof(void *);
        mp_params.align_offset = 0;
    } else if ((CACHE_LINE % alignment != 0) ||
               ((SHORT_HEADER - offset) % alignment != 0)) {
        mp_params.alignment    = alignment;
        mp_params.align_offset = prefix + offset;
    }

    return uct_self_host->mpool_create(&mp_params, mpool_p);
}

static ucs_status_t self_iface_init_params(self_iface_t *iface,
                                           const ucx_iface_open_args_t *args)
{
    const uct_iface_params_t *params  = args->params;
    const self_iface_config_t *config = args->config;

    if (config == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }

    iface->headroom = (params->field_mask & UCT_IFACE_PARAM_FIELD_RX_HEADROOM) ?
                          params->rx_headroom :
                          0;
    iface->seg_size = config->seg_size;
    iface->queue_len = config->queue_len;
    if (iface->headroom > (1u << 20)) {
        ucx_error("self: a headroom of %zu bytes for received messages is "
                  "beyond the limit of 1 MiB",
                  iface->headroom);
        return UCS_ERR_INVALID_PARAM;
    }

    return self_random(&iface->id);
}

ucs_status_t self_iface_open(uct_md_h md, const ucx_iface_open_args_t *args,
                             uct_iface_h *iface_p)
{
    self_iface_t *iface = calloc(1, sizeof(*iface));
    ucs_status_t status;

    if (iface == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    ucx_iface_init(&iface->super, args);
    iface->owner.release = self_desc_release;
    iface->tail          = &iface->head;
    iface->pending_tail  = &iface->pending_head;

    status = self_iface_init_params(iface, args);
    if (status != UCS_OK) {
        goto err_free;
    }

    iface->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (iface->event_fd < 0) {
        ucx_error("self: eventfd() failed: %s; see `ulimit -n`",
                  strerror(errno));
        status = UCS_ERR_IO_ERROR;
        goto err_free;
    }

    status = self_mpool_create(iface, "self_small", SELF_SMALL_SIZE,
                               args->params, &iface->small);
    if (status != UCS_OK) {
        goto err_close;
    }

    status = self_mpool_create(iface, "self_large", iface->seg_size,
                               args->params, &iface->large);
    if (status != UCS_OK) {
        goto err_small;
    }

    *iface_p = &iface->super;
    return UCS_OK;

err_small:
    uct_self_host->mpool_destroy(iface->small);
err_close:
    close(iface->event_fd);
err_free:
    free(iface);
    return status;
}

static void self_iface_close(uct_iface_h super)
{
    self_iface_t *iface = (self_iface_t *)super;

    self_queue_drop(iface);
    uct_self_host->mpool_destroy(iface->large);
    uct_self_host->mpool_destroy(iface->small);
    close(iface->event_fd);
    free(iface);
}

static void self_query_limits(const self_iface_t *iface, uct_iface_attr_t *attr)
{
    attr->cap.am.max_short       = iface->seg_size;
    attr->cap.am.max_bcopy       = iface->seg_size;
    attr->cap.am.max_zcopy       = iface->seg_size;
    attr->cap.am.max_hdr         = iface->seg_size;
    attr->cap.am.max_iov         = SIZE_MAX;
    attr->cap.am.opt_zcopy_align = 1;
    attr->cap.am.align_mtu       = 1;

    attr->cap.put.max_short       = UINT32_MAX;
    attr->cap.put.max_bcopy       = SIZE_MAX;
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

    attr->cap.atomic32.op_flags  = SELF_ATOMIC_POST_OPS;
    attr->cap.atomic32.fop_flags = SELF_ATOMIC_FETCH_OPS;
    attr->cap.atomic64           = attr->cap.atomic32;
}

static ucs_status_t self_iface_query(uct_iface_h super, ucx_iface_attr_t *full)
{
    uct_iface_attr_t *attr = &full->base;

    self_query_limits((self_iface_t *)super, attr);
    attr->cap.flags = UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY |
                      UCT_IFACE_FLAG_AM_ZCOPY | UCT_IFACE_FLAG_PENDING |
                      UCT_IFACE_FLAG_PUT_SHORT | UCT_IFACE_FLAG_PUT_BCOPY |
                      UCT_IFACE_FLAG_PUT_ZCOPY | UCT_IFACE_FLAG_GET_SHORT |
                      UCT_IFACE_FLAG_GET_BCOPY | UCT_IFACE_FLAG_GET_ZCOPY |
                      UCT_IFACE_FLAG_ATOMIC_CPU |
                      UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE |
                      UCT_IFACE_FLAG_EP_CHECK |
                      UCT_IFACE_FLAG_CONNECT_TO_IFACE | UCT_IFACE_FLAG_CB_SYNC |
                      UCT_IFACE_FLAG_EP_KEEPALIVE;
    attr->cap.event_flags = UCT_IFACE_FLAG_EVENT_SEND_COMP |
                            UCT_IFACE_FLAG_EVENT_RECV | UCT_IFACE_FLAG_EVENT_FD;
    attr->iface_addr_len   = sizeof(((self_iface_t *)super)->id);
    attr->overhead         = 20e-9;
    attr->latency          = ucs_linear_func_make(50e-9, 0);
    attr->bandwidth.shared = self_bandwidth();
    attr->max_num_eps      = SIZE_MAX;
    attr->dev_num_paths    = 1;
    full->flags            = UCX_IFACE_FLAG_TESTED_REACHABILITY |
                  UCX_IFACE_FLAG_DETECTS_FAILURE;
    if (((self_iface_t *)super)->is_aligned) {
        full->flags |= UCX_IFACE_FLAG_ALIGNS_AM;
    }
    full->max_inflight_eps = SIZE_MAX;
    return UCS_OK;
}

/* Each message is copied into a buffer and then by the receiver; zero-copy
 * copies as much, and also needs a request. The core adds the time of two copies
 * at CORE_COPY to that of a short message, so only the rest is returned for
 * it. */
static ucs_status_t self_iface_estimate(uct_iface_h iface, ucx_perf_t *perf)
{
    double memory = (perf->bandwidth.shared < CORE_COPY) ?
                        perf->bandwidth.shared :
                        CORE_COPY;

    if (perf->op == UCX_OP_AM_SHORT) {
        perf->bandwidth.shared = (memory < CORE_COPY) ?
                                     1 / (2 / memory - 2 / CORE_COPY) :
                                     UNLIMITED;
    } else if (perf->op == UCX_OP_AM_ZCOPY) {
        perf->bandwidth.shared = memory / 2;
    }
    return UCS_OK;
}

static ucs_status_t self_get_device_address(uct_iface_h iface,
                                            uct_device_addr_t *addr)
{
    return UCS_OK; /* the device address has no bytes */
}

static ucs_status_t self_get_address(uct_iface_h iface, uct_iface_addr_t *addr)
{
    const uint64_t *id = &((self_iface_t *)iface)->id;

    memcpy(addr, id, sizeof(*id));
    return UCS_OK;
}

static int self_is_reachable(uct_iface_h iface,
                             const ucx_reachable_args_t *args)
{
    const uint64_t *id = &((self_iface_t *)iface)->id;
    const char *reason;

    if ((args->iface_addr == NULL) ||
        (args->iface_addr_length != sizeof(*id))) {
        reason = "not an address of this transport";
    } else if (memcmp(args->iface_addr, id, sizeof(*id)) != 0) {
        reason = "another interface or another process; this transport only "
                 "reaches its own interface";
    } else {
        return 1;
    }

    if (args->reason != NULL) {
        snprintf(args->reason, args->reason_size, "%s", reason);
    }
    return 0;
}

static ucs_status_t self_iface_flush(uct_iface_h iface, unsigned flags,
                                     uct_completion_t *comp)
{
    return UCS_OK; /* Every operation has completed or copied its data when its
                    * call returns */
}

static ucs_status_t self_iface_fence(uct_iface_h iface, unsigned flags)
{
    return UCS_OK; /* all operations are executed in the order of the calls */
}

static ucs_status_t self_event_fd_get(uct_iface_h iface, int *fd_p)
{
    *fd_p = ((self_iface_t *)iface)->event_fd;
    return UCS_OK;
}

/* UCS_ERR_BUSY means that there is work for progress now, so the caller must
 * not wait for the event descriptor. */
static ucs_status_t self_event_arm(uct_iface_h super, unsigned events)
{
    self_iface_t *iface = (self_iface_t *)super;
    uint64_t count;

    if ((iface->head != NULL) || (iface->pending_head != NULL)) {
        return UCS_ERR_BUSY;
    }

    /* The read resets the eventfd, which may still be readable because of
     * messages that progress has delivered already. */
    if ((read(iface->event_fd, &count, sizeof(count)) < 0) &&
        (errno != EAGAIN)) {
        return UCS_ERR_IO_ERROR;
    }

    iface->armed = 1;
    return UCS_OK;
}

static ucs_status_t self_set_am_tracer(uct_iface_h super,
                                       uct_am_tracer_t tracer, void *arg)
{
    self_iface_t *iface = (self_iface_t *)super;

    iface->tracer     = tracer;
    iface->tracer_arg = arg;
    return UCS_OK;
}

const ucx_iface_ops_t uct_self_iface_ops = {
    .size               = sizeof(uct_self_iface_ops),
    .close              = self_iface_close,
    .query              = self_iface_query,
    .estimate           = self_iface_estimate,
    .get_device_address = self_get_device_address,
    .get_address        = self_get_address,
    .is_reachable       = self_is_reachable,
    .ep_create          = self_ep_create,
    .progress           = self_iface_progress,
    .flush              = self_iface_flush,
    .fence              = self_iface_fence,
    .event_fd_get       = self_event_fd_get,
    .event_arm          = self_event_arm,
    .set_am_tracer      = self_set_am_tracer,
};
