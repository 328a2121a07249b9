/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Local sockets with random names. They connect processes in the same kernel
 * and network namespace; a host's name identifies these.
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

/** Scope of socket names. */
typedef struct sock_host {
    uint64_t machine;
    uint64_t network;
} sock_host_t;

/** This process's. */
sock_host_t sock_host(const ucx_host_t *host);

/** Non-zero: the peer's bytes are this host's name. */
int sock_is_here(const ucx_host_t *host, const void *bytes, size_t length);

/** A listening socket with a new name, or -1. */
int sock_listen(sock_name_t *name);

/** A socket connected to the listener, or -1. */
int sock_connect(const sock_name_t *name);

/** The next connection, or -1. */
int sock_accept(int listener);

/** Sends one message: UCS_OK, UCS_ERR_NO_RESOURCE, or the connection has
 *  ended. */
ucs_status_t sock_send(int fd, const struct iovec *iov, size_t count);

/** Receives one message: its length, UCS_ERR_NO_PROGRESS if there is none;
 *  another error means that the connection has ended. A message longer than the
 *  buffer ends it. */
ssize_t sock_recv(int fd, void *buffer, size_t size);

/** Non-zero: a message can be sent. */
int sock_is_writable(int fd);

/** Non-zero: a message can be received. */
int sock_has_message(int fd);

#endif
