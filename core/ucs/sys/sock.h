/* SPDX-License-Identifier: BSD-3-Clause */
/* Socket addresses: sizes, copies, text. IPv4 and IPv6. */
#ifndef UCS_SOCK_H
#define UCS_SOCK_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

/* Size for any address as text: "[ffff:...%interface]:65535" */
#define UCS_SOCKADDR_STRING_LEN 80

/** Returns the size of an address of the family; UCS_ERR_INVALID_PARAM if the
 *  family is unknown. */
ucs_status_t ucs_sockaddr_sizeof(const struct sockaddr *addr,
                                 socklen_t *size_p);

/** Returns whether the family is known, and the length sufficient for it. */
int ucs_sockaddr_is_valid(const struct sockaddr *addr, socklen_t addrlen);

/** Copies an address of the given length after checking it. */
ucs_status_t ucs_sockaddr_copy(struct sockaddr_storage *dest,
                               const struct sockaddr *src, socklen_t addrlen);

/** Converts to text, such as "1.2.3.4:80" or "[::1%eth0]:80". Invalid addresses
 *  are accepted, and result in a description. */
const char *ucs_sockaddr_str(const struct sockaddr *addr, char *buf,
                             size_t max);

END_C_DECLS

#endif
