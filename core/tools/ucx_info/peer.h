/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process at the other end of an endpoint. Both exchange worker addresses
 * over a socket, create an endpoint to each other and show it.
 */
#ifndef UCX_INFO_PEER_H
#define UCX_INFO_PEER_H

#include <sys/types.h>

#include "info.h"

typedef struct info_peer {
    int fd;    /* socket to it */
    pid_t pid; /* of a child; 0: not a child */
    ucp_worker_h worker;
} info_peer_t;

/* Starts another ucx_info here, waits for one, or connects to one, as the
 * command line states. INFO_OK, or the exit code after a message. */
int info_peer_open(const info_t *info, ucp_worker_h worker, info_peer_t *peer);

/* Creates the endpoint, and returns when both sides can use theirs. */
int info_peer_meet(const info_t *info, info_peer_t *peer, ucp_ep_h *ep_p);

/* Waits until the other end has shown its endpoint, too. */
void info_peer_part(info_peer_t *peer);

void info_peer_close(info_peer_t *peer);

/* Progresses until the request is complete, with a timeout. Frees the
 * request. */
ucs_status_t info_wait(ucp_worker_h worker, ucs_status_ptr_t request);

#endif
