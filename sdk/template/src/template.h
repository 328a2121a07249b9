/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this plugin share. A plugin's structures begin with the
 * core's heads (uct_md, uct_iface, uct_ep); the rest is its own. */
#ifndef TEMPLATE_H
#define TEMPLATE_H

#include <ucx/plugin.h>
#include <ucx/am.h>
#include <ucx/pending.h>

#define TEMPLATE_NAME "template"

/* The services of the core that loaded us; set by the entry point. */
extern const ucx_host_t *template_host;
#define UCX_LOG_HOST template_host
#include <ucx/log.h>

/* The options of an interface: UCX_TEMPLATE_QUEUE. */
typedef struct template_config {
    unsigned queue;
} template_config_t;

/* One message on its way. */
typedef struct template_message {
    struct template_message *next;
    unsigned                length;
    uint8_t                 id;
    char                    data[] __attribute__((aligned(8)));
} template_message_t;

typedef struct template_iface {
    uct_iface_t         super;   /* first: the core's head */
    uint64_t            id;      /* our address */
    unsigned            queued;  /* messages on their way ... */
    unsigned            limit;   /* ... and how many may be */
    template_message_t  *head, **tail;
    ucx_pending_queue_t pending; /* sends that found the queue full */
} template_iface_t;

typedef struct template_ep {
    uct_ep_t super;
} template_ep_t;

enum { TEMPLATE_MAX_MESSAGE = 8192 };

extern const ucx_transport_t template_transport;
extern const ucx_ep_ops_t    template_ep_ops;
extern const ucx_md_ops_t    template_md_ops;

ucs_status_t template_query_mds(const ucx_component_t *component,
                                uct_md_resource_desc_t **mds_p,
                                unsigned *num_p);
ucs_status_t template_md_open(const ucx_component_t *component,
                              const ucx_md_open_args_t *args, uct_md_h *md_p);
ucs_status_t template_ep_create(uct_iface_h iface,
                                const uct_ep_params_t *params, uct_ep_h *ep_p);

#endif
