/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of this plugin. */
#ifndef PLAIN_H
#define PLAIN_H

#include "entry.h"
#include "poller.h"
#include "sock.h"

#include <ucx/pending.h>

#define PLAIN_NAME "plain"

#define UCX_LOG_HOST host
#include <ucx/log.h>

enum { PLAIN_MIN_SEG = 256, PLAIN_MAX_SEG = 65536 };

typedef struct plain_config {
    size_t seg_size;
} plain_config_t;

struct plain_ep;
struct plain_conn;

typedef struct plain_iface {
    uct_iface_t super; /* First member */
    size_t seg_size;
    poller_t poller;
    sock_name_t name; /* This interface's address */
    poller_source_t *listener;
    struct plain_conn *conns; /* Connections for receiving */
    struct plain_ep *eps;
    unsigned num_failed; /* Endpoints with a failure that is not reported yet */
    char *buffer;        /* For the message being sent or received */
} plain_iface_t;

typedef struct plain_ep {
    uct_ep_t super; /* First member */
    poller_memory_t memory;
    struct plain_ep *next;
    poller_source_t *source; /* Connected to the peer; NULL: lost */
    double lost_at;          /* Time of the loss, in seconds */
    int is_told;             /* The loss was reported to the user */
    ucx_pending_queue_t pending;
} plain_ep_t;

extern const ucx_transport_t plain_transport;
extern const ucx_ep_ops_t plain_ep_ops;

ucs_status_t plain_ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                             uct_ep_h *ep_p);

#endif
