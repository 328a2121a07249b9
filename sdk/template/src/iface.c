/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface: receives messages. Progress delivers queued messages to their
 * handlers, then calls pending requests. */
#include "template.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Maximum number of messages that one call of progress delivers, so that the
 * call is short. */
enum { MESSAGES_A_ROUND = 16 };

static const ucx_config_field_t fields[] = {
    {
        .name   = "QUEUE",
        .type   = UCX_CONFIG_UINT,
        .offset = offsetof(template_config_t, queue),
        .dflt   = "256",
        .help   = "Messages that may be on their way at once (1 to 65536).",
        .min    = 1,
        .max    = 65536,
    },
};

static const ucx_config_table_t config_table =
    UCX_CONFIG_TABLE("TEMPLATE_", template_config_t, fields);

static ucs_status_t query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                  unsigned *num_p)
{
    (void)md;
    return ucx_simple_device("memory", UCT_DEVICE_TYPE_SELF, devices_p, num_p);
}

/* Returns an id that is unique among the interfaces of all processes in this
 * PID namespace. */
static uint64_t make_id(void)
{
    static _Atomic uint32_t count;

    return ((uint64_t)getpid() << 32) | atomic_fetch_add(&count, 1);
}

static ucs_status_t iface_open(uct_md_h md, const ucx_iface_open_args_t *args,
                               uct_iface_h *iface_p)
{
    const ucx_host_t *host          = ucx_simple_host(md->component);
    const template_config_t *config = args->config;
    template_iface_t *iface;

    if (config == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    iface = calloc(1, sizeof(*iface));
    if (iface == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_iface_init(&iface->super, args);
    ucx_pending_init(&iface->pending);
    iface->host  = host;
    iface->id    = make_id();
    iface->limit = config->queue;
    iface->tail  = &iface->head;
    *iface_p     = &iface->super;
    ucx_debug("template: opened an interface, queue of %u", iface->limit);
    return UCS_OK;
}

static template_message_t *take_message(template_iface_t *iface)
{
    template_message_t *message = iface->head;

    if (message != NULL) {
        iface->head = message->next;
        if (iface->head == NULL) {
            iface->tail = &iface->head;
        }
        --iface->queued;
    }
    return message;
}

static void iface_close(uct_iface_h super)
{
    template_iface_t *iface = (template_iface_t *)super;
    template_message_t *message;

    while ((message = take_message(iface)) != NULL) {
        free(message);
    }
    free(iface);
}

static ucs_status_t iface_query(uct_iface_h iface, ucx_iface_attr_t *attr)
{
    uct_iface_attr_t *base = &attr->base;

    (void)iface;
    base->cap.flags = UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY |
                      UCT_IFACE_FLAG_PENDING | UCT_IFACE_FLAG_CB_SYNC |
                      UCT_IFACE_FLAG_CONNECT_TO_IFACE;
    base->cap.am.max_short = TEMPLATE_MAX_MESSAGE;
    base->cap.am.max_bcopy = TEMPLATE_MAX_MESSAGE;
    base->cap.am.max_iov   = TEMPLATE_MAX_IOV;
    base->iface_addr_len   = sizeof(uint64_t);
    base->overhead         = 50e-9;
    base->latency.c        = 50e-9;
    base->bandwidth.shared = 5e9;
    base->max_num_eps      = SIZE_MAX;
    base->dev_num_paths    = 1;
    attr->max_inflight_eps = SIZE_MAX;
    return UCS_OK;
}

static ucs_status_t get_device_address(uct_iface_h iface,
                                       uct_device_addr_t *address)
{
    (void)iface;
    (void)address;
    return UCS_OK; /* empty: there is one device only */
}

static ucs_status_t get_address(uct_iface_h iface, uct_iface_addr_t *address)
{
    memcpy(address, &((template_iface_t *)iface)->id, sizeof(uint64_t));
    return UCS_OK;
}

/* The address comes from a peer and may be wrong: check its length before
 * reading it. Only this interface itself is reachable. */
int template_is_reachable(uct_iface_h iface, const ucx_reachable_args_t *args)
{
    return (args->iface_addr != NULL) &&
           (args->iface_addr_length == sizeof(uint64_t)) &&
           (memcmp(args->iface_addr, &((template_iface_t *)iface)->id,
                   sizeof(uint64_t)) == 0);
}

static unsigned iface_progress(uct_iface_h super)
{
    template_iface_t *iface = (template_iface_t *)super;
    template_message_t *message;
    unsigned count;

    for (count = 0; count < MESSAGES_A_ROUND; ++count) {
        message = take_message(iface);
        if (message == NULL) {
            break;
        }
        ucx_iface_deliver_am(super, message->id, message->data, message->length,
                             0);
        free(message);
    }
    return count + ucx_pending_dispatch(&iface->pending);
}

/* Everything sent has arrived: the receiver is this interface, and its
 * progress delivers the queued messages. */
static ucs_status_t iface_flush(uct_iface_h iface, unsigned flags,
                                uct_completion_t *completion)
{
    (void)iface;
    (void)flags;
    (void)completion;
    return UCS_OK;
}

static const ucx_iface_ops_t iface_ops = {
    .size               = sizeof(iface_ops),
    .close              = iface_close,
    .query              = iface_query,
    .get_device_address = get_device_address,
    .get_address        = get_address,
    .is_reachable       = template_is_reachable,
    .ep_create          = template_ep_create,
    .progress           = iface_progress,
    .flush              = iface_flush,
};

const ucx_transport_t template_transport = {
    .size          = sizeof(template_transport),
    .name          = TEMPLATE_NAME,
    .config        = &config_table,
    .query_devices = query_devices,
    .iface_open    = iface_open,
    .iface_ops     = &iface_ops,
    .ep_ops        = &template_ep_ops,
};
