/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Non-blocking local sockets with random names. They connect processes of the
 * same machine and network namespace, which a sock_host_t identifies.
 */
#ifndef LOCAL_SOCK_H
#define LOCAL_SOCK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <ucx/host.h>

/** An abstract socket name; any bytes are valid. */
typedef struct sock_name {
    uint8_t bytes[16];
} sock_name_t;

/** Where socket names are valid: a machine and a network namespace on it. */
typedef struct sock_host {
    uint64_t machine; /**< ucx_host_t.machine_guid() */
    uint64_t network; /**< Inode number of the network namespace */
} sock_host_t;

/** Returns the identity of this process's machine and network namespace. */
sock_host_t sock_host(const ucx_host_t *host);

/** Returns whether the bytes, which come from a peer, identify this machine and
 * network namespace. */
int sock_is_here(const ucx_host_t *host, const void *bytes, size_t length);

/** Returns a listening socket with a new name, or -1. */
int sock_listen(sock_name_t *name);

/** Returns a socket that is connected to the listening socket `name`, or -1. */
int sock_connect(const sock_name_t *name);

/** Accepts the next connection; returns its socket, or -1 if there is none. */
int sock_accept(int listener);

/** Sends one message, which consists of the `count` buffers in `iov`. Returns
 *  UCS_OK; UCS_ERR_NO_RESOURCE if the message cannot be sent now; or another
 *  error if the connection has ended. */
ucs_status_t sock_send(int fd, const struct iovec *iov, size_t count);

/** Receives one message. Returns its length, or UCS_ERR_NO_PROGRESS if there is
 *  none; another error means that the connection has ended. A message that is
 *  longer than the buffer counts as the end of the connection. */
ssize_t sock_recv(int fd, void *buffer, size_t size);

/** Returns whether a message can be sent. */
int sock_is_writable(int fd);

/** Returns whether a message can be received. */
int sock_has_message(int fd);

#endif
