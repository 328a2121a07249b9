/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plain connection of --listen and --connect, over which two ucx_info
 * exchange addresses. Both return a descriptor, or -1 after a message.
 */
#ifndef UCX_INFO_OOB_H
#define UCX_INFO_OOB_H

#include <sys/socket.h>

/* "[[IP:]PORT]", an IPv6 address in brackets. */
int info_oob_listen(const char *where);

/* "HOST[:PORT]", as above. */
int info_oob_connect(const char *where);

/* Parses a numeric address; non-zero if invalid. */
int info_oob_parse(const char *address, int ipv6,
                   struct sockaddr_storage *result, socklen_t *length_p);

#endif
