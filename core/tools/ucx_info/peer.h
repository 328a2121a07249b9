/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process to which an endpoint connects. Both processes exchange worker
 * addresses over a socket, create an endpoint to each other and print it; a
 * child process (-P) prints nothing.
 */
#ifndef UCX_INFO_PEER_H
#define UCX_INFO_PEER_H

#include <sys/types.h>

#include "info.h"

typedef struct info_peer {
    int fd;    /* socket to the process */
    pid_t pid; /* process id of a child; 0 if it is not a child */
    ucp_worker_h worker;
} info_peer_t;

/* Starts another ucx_info on this host, waits for a connection of another
 * ucx_info, or connects to one, as the command line requests. Returns INFO_OK,
 * or the exit code after a message. */
int info_peer_open(const info_t *info, ucp_worker_h worker, info_peer_t *peer);

/* Creates the endpoint. Returns INFO_OK when both sides can use their
 * endpoints, or the exit code after a message. If *ep_p is not NULL after a
 * failure, it must be closed, too. */
int info_peer_meet(const info_t *info, info_peer_t *peer, ucp_ep_h *ep_p);

/* Waits until the peer does not need the endpoints any more, either. */
void info_peer_part(info_peer_t *peer);

void info_peer_close(info_peer_t *peer);

/* Progresses the worker until the request is complete, for at most 30 seconds.
 * Frees the request. Returns its status, or UCS_ERR_TIMED_OUT. */
ucs_status_t info_wait(ucp_worker_h worker, ucs_status_ptr_t request);

#endif
