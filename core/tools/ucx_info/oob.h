/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plain connection of --listen and --connect, over which two ucx_info
 * exchange addresses. Both give a descriptor, or -1 after a message.
 */
#ifndef UCX_INFO_OOB_H
#define UCX_INFO_OOB_H

#include <sys/socket.h>

/* "[[IP:]PORT]", an IPv6 address in brackets. */
int info_oob_listen(const char *where);

/* "HOST[:PORT]", likewise. */
int info_oob_connect(const char *where);

/* An address of digits; non-zero if it is none. */
int info_oob_parse(const char *address, int ipv6,
                   struct sockaddr_storage *result, socklen_t *length_p);

#endif
