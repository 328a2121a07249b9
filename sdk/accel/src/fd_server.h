/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends descriptors of exported memory to processes that the kernel does not
 * permit to duplicate them by pidfd_getfd(2). The memory domain has a local
 * socket, which an asynchronous handler on the core's service thread serves.
 * The exporter is the process with the memory, the importer the process that
 * opens it.
 *
 *   importer --> | a packed key |                       --> exporter
 *            <-- | 1, with the descriptor, or 0 without | <--
 *
 * The kernel adds the sender's credentials to each message. The exporter
 * answers only to processes of its own user, and sends a descriptor only to a
 * process whose request contains the whole key of the export, which includes
 * random bytes. The importer accepts an answer only from the owner that is
 * stated in the key.
 *
 * The kernel selects the socket's name, five hexadecimal digits in the abstract
 * space of the network namespace, so that no process can occupy the name in
 * advance. The key contains the name.
 */
#ifndef ACCEL_FD_SERVER_H
#define ACCEL_FD_SERVER_H

#include <ucx/accel.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/** A worker whose asynchronous handler can serve the socket. Each interface of
 * the IPC transport adds one. */
typedef struct accel_fd_worker {
    struct accel_fd_worker *next;
    uct_worker_h worker;
} accel_fd_worker_t;

/** The socket of a memory domain. It is opened when the first key that needs it
 * is packed. */
typedef struct accel_fd_server {
    const ucx_host_t *host;
    pthread_mutex_t lock; /**< Protects the members below; the handler does not
                           *   lock it */
    int fd;               /**< -1: the socket is not open */
    unsigned number; /**< The name of the socket as a number; never 0 if the
                      *   socket is open */
    accel_fd_worker_t *workers; /**< List of all added workers */
    accel_fd_worker_t *serving; /**< The worker that serves the socket, or
                                 *   NULL */
    ucx_async_id_t handler;     /**< Id of the handler at that worker */
} accel_fd_server_t;

void accel_fd_server_init(accel_fd_server_t *server, const ucx_host_t *host);
/** Closes the socket. All workers must have been removed. */
void accel_fd_server_cleanup(accel_fd_server_t *server);

/** Add and remove a worker. One of the added workers serves the socket. Any
 * thread may call these functions. */
void accel_fd_server_add(accel_fd_server_t *server, accel_fd_worker_t *worker);
void accel_fd_server_remove(accel_fd_server_t *server,
                            accel_fd_worker_t *worker);

/** Opens the socket if necessary. Returns its name as a number; 0 if the socket
 * cannot be opened or no worker serves it. Any thread may call this
 * function. */
unsigned accel_fd_server_name(accel_fd_server_t *server);

/** Writes the address of the socket with this number. Returns the length of the
 * address. */
static inline socklen_t accel_fd_address(unsigned number,
                                         struct sockaddr_un *address)
{
    const size_t length = 5;

    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    snprintf(address->sun_path + 1, length + 1, "%05x", number & 0xfffff);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
}

#endif
