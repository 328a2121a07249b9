/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the files of the template plugin, whose interface
 * sends messages to itself. The structures of an interface and of an endpoint
 * begin with the structures that the core uses (uct_iface, uct_ep). */
#ifndef TEMPLATE_H
#define TEMPLATE_H

#include <ucx/am.h>
#include <ucx/pending.h>
#include <ucx/simple.h>

#define TEMPLATE_NAME "template"

/* The log macros use a local variable `host`, the services of the core. A
 * global variable is not possible, because several copies of the core may load
 * this plugin into one process (rule 23 of sdk/ABI.md). */
#define UCX_LOG_HOST host
#include <ucx/log.h>

/* Options of an interface: UCX_TEMPLATE_QUEUE. */
typedef struct template_config {
    unsigned queue; /* Maximum number of messages in flight */
} template_config_t;

/* A message in flight. */
typedef struct template_message {
    struct template_message *next;
    unsigned length; /* Bytes of `data` */
    uint8_t id;
    char data[] __attribute__((aligned(8)));
} template_message_t;

typedef struct template_iface {
    uct_iface_t super; /* Must be the first member */
    const ucx_host_t *host;
    uint64_t id;     /* The address of this interface */
    unsigned queued; /* Number of messages in the queue, sent and not
                      * received */
    unsigned limit;  /* Maximum of `queued` */
    template_message_t *head, **tail; /* The queue of messages */
    ucx_pending_queue_t pending; /* Requests that wait for space in the queue */
} template_iface_t;

typedef struct template_ep {
    uct_ep_t super;
} template_ep_t;

enum {
    TEMPLATE_MAX_MESSAGE = 8192,
    TEMPLATE_MAX_IOV     = 16,
};

extern const ucx_transport_t template_transport;
extern const ucx_ep_ops_t template_ep_ops;
extern const ucx_md_ops_t template_md_ops;

int template_is_reachable(uct_iface_h iface, const ucx_reachable_args_t *args);

ucs_status_t template_ep_create(uct_iface_h iface,
                                const uct_ep_params_t *params, uct_ep_h *ep_p);

#endif
