/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes, checks, copies and text of socket addresses of IPv4 and IPv6. */
#ifndef UCS_SOCK_H
#define UCS_SOCK_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

/* Size of a buffer for any address as text: "[ffff:...%interface]:65535". */
#define UCS_SOCKADDR_STRING_LEN 80

/** Returns the size in bytes of addresses of addr->sa_family;
 *  UCS_ERR_INVALID_PARAM unless it is AF_INET or AF_INET6. */
ucs_status_t ucs_sockaddr_sizeof(const struct sockaddr *addr,
                                 socklen_t *size_p);

/** Returns whether the family is AF_INET or AF_INET6, and `addrlen` is large
 *  enough for it. */
int ucs_sockaddr_is_valid(const struct sockaddr *addr, socklen_t addrlen);

/** Copies a valid address; UCS_ERR_INVALID_ADDR if it is not valid
 *  (ucs_sockaddr_is_valid). Sets the rest of *dest to zero. */
ucs_status_t ucs_sockaddr_copy(struct sockaddr_storage *dest,
                               const struct sockaddr *src, socklen_t addrlen);

/** Converts to text, such as "1.2.3.4:80" or "[fe80::1%eth0]:80", and returns
 *  `buf`. For NULL and for other families, the text is a description in angle
 *  brackets. */
const char *ucs_sockaddr_str(const struct sockaddr *addr, char *buf,
                             size_t max);

END_C_DECLS

#endif
