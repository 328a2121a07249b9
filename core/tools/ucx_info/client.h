/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection by socket address from a worker to itself (-A): a listener, a
 * client, and the server's endpoint for the client's request.
 */
#ifndef UCX_INFO_CLIENT_H
#define UCX_INFO_CLIENT_H

#include "info.h"

typedef struct info_client {
    ucp_worker_h worker;
    ucp_listener_h listener; /* NULL: none */
    ucp_ep_h ep;             /* NULL: none; also the next */
    ucp_ep_h server_ep;
    ucp_err_handling_mode_t err_mode;
    ucs_status_t server_status; /* of creating it */
    ucs_status_t status;        /* from the error handler */
} info_client_t;

/* Listens at info->address, connects and waits until both ends exist. INFO_OK,
 * or the exit code after a message. Close in either case. */
int info_client_open(const info_t *info, ucp_worker_h worker,
                     info_client_t *client);

/* The endpoints must be closed before. */
void info_client_close(info_client_t *client);

#endif
