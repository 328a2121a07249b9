/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the files of this plugin. Its structures begin with
 * the core's heads (uct_md, uct_iface, uct_ep). */
#ifndef TEMPLATE_H
#define TEMPLATE_H

#include <ucx/instance.h>
#include <ucx/am.h>
#include <ucx/pending.h>

#define TEMPLATE_NAME "template"

/* The log macros use a local variable of this name. There is no global one,
 * because several cores may load this plugin into one process (rule 23). */
#define UCX_LOG_HOST host
#include <ucx/log.h>

/* State for one core. */
typedef struct template_instance {
    ucx_instance_t        super; /* first member: descriptor, host */
    ucx_component_t       component;
    const ucx_component_t *components[1];
} template_instance_t;

static inline const ucx_host_t *
template_host(const ucx_component_t *component)
{
    const char *instance = (const char *)component -
                           offsetof(template_instance_t, component);

    return ((const template_instance_t *)instance)->super.host;
}

typedef struct template_md {
    uct_md_t         super;  /* first member: the core's head */
    const ucx_host_t *host;
} template_md_t;

/* Options of an interface: UCX_TEMPLATE_QUEUE. */
typedef struct template_config {
    unsigned queue;
} template_config_t;

/* A message in flight. */
typedef struct template_message {
    struct template_message *next;
    unsigned                length;
    uint8_t                 id;
    char                    data[] __attribute__((aligned(8)));
} template_message_t;

typedef struct template_iface {
    uct_iface_t         super;   /* first member: the core's head */
    const ucx_host_t    *host;
    uint64_t            id;      /* our address */
    unsigned            queued;  /* messages in flight */
    unsigned            limit;   /* their maximum */
    template_message_t  *head, **tail;
    ucx_pending_queue_t pending; /* requests that wait for space in the queue */
} template_iface_t;

typedef struct template_ep {
    uct_ep_t super;
} template_ep_t;

enum {
    TEMPLATE_MAX_MESSAGE = 8192,
    TEMPLATE_MAX_IOV     = 16
};

extern const ucx_transport_t template_transport;
extern const ucx_ep_ops_t    template_ep_ops;
extern const ucx_md_ops_t    template_md_ops;

int template_is_reachable(uct_iface_h iface, const ucx_reachable_args_t *args);

ucs_status_t template_query_mds(const ucx_component_t *component,
                                uct_md_resource_desc_t **mds_p,
                                unsigned *num_p);
ucs_status_t template_md_open(const ucx_component_t *component,
                              const ucx_md_open_args_t *args, uct_md_h *md_p);
ucs_status_t template_ep_create(uct_iface_h iface,
                                const uct_ep_params_t *params, uct_ep_h *ep_p);

#endif
