/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The socket of --listen and --connect, over which two processes of ucx_info
 * exchange worker addresses. info_oob_listen() and info_oob_connect() return
 * its descriptor, or -1 after a message.
 */
#ifndef UCX_INFO_OOB_H
#define UCX_INFO_OOB_H

#include <sys/socket.h>

/* Waits for a connection at "[[IP:]PORT]"; an IPv6 address is in brackets. */
int info_oob_listen(const char *where);

/* Connects to "HOST[:PORT]". */
int info_oob_connect(const char *where);

/* Parses a numeric address. Returns non-zero if it is invalid, or if `ipv6` is
 * set and the address is not an IPv6 address. */
int info_oob_parse(const char *address, int ipv6,
                   struct sockaddr_storage *result, socklen_t *length_p);

#endif
