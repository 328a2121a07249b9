/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the files of the test plugin plain: a transport over
 * local sockets with only buffered active messages. Each endpoint has a
 * connection to the peer's interface. */
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
    size_t seg_size; /* UCX_PLAIN_SEG_SIZE: maximum bytes of a message */
} plain_config_t;

struct plain_ep;
struct plain_conn;

typedef struct plain_iface {
    uct_iface_t super; /* First member */
    size_t seg_size;   /* As in plain_config_t */
    poller_t poller;
    sock_name_t name;          /* This interface's address */
    poller_source_t *listener; /* Socket with that name */
    struct plain_conn *conns;  /* Connections for receiving */
    struct plain_ep *eps;
    unsigned num_failed; /* Number of endpoints whose loss of the peer is not
                          * reported yet */
    char *buffer;        /* For the message being sent; seg_size bytes */
} plain_iface_t;

typedef struct plain_ep {
    uct_ep_t super; /* First member */
    poller_memory_t memory;
    struct plain_ep *next;
    poller_source_t *source; /* Connection to the peer; NULL: the peer is
                              * lost */
    double lost_at;          /* When that was detected: seconds of
                              * ucx_host_t.time() */
    int is_told;             /* The loss was reported to the user */
    ucx_pending_queue_t pending;
} plain_ep_t;

extern const ucx_transport_t plain_transport;
extern const ucx_ep_ops_t plain_ep_ops;

ucs_status_t plain_ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                             uct_ep_h *ep_p);

#endif
