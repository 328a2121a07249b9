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
    ucp_listener_h listener; /* NULL if it was not created */
    ucp_ep_h ep;             /* the client's endpoint; NULL if it was not
                              * created */
    /* the server's endpoint; NULL if it was not created */
    ucp_ep_h server_ep;
    ucp_err_handling_mode_t err_mode;
    ucs_status_t server_status; /* result of creating server_ep */
    ucs_status_t status;        /* error of `ep`, which its error handler has
                                 * reported; UCS_OK: none */
} info_client_t;

/* Listens at info->address, connects and waits until both endpoints exist.
 * Returns INFO_OK, or the exit code after a message. Call info_client_close()
 * in either case. */
int info_client_open(const info_t *info, ucp_worker_h worker,
                     info_client_t *client);

/* Closes the listener. The endpoints must have been closed before. */
void info_client_close(info_client_t *client);

#endif
