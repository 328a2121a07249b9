/* SPDX-License-Identifier: BSD-3-Clause */
/* Socket addresses: sizes, text, comparison. IPv4 and IPv6. */
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

ucs_status_t ucs_sockaddr_get_port(const struct sockaddr *addr,
                                   uint16_t *port_p);
ucs_status_t ucs_sockaddr_set_port(struct sockaddr *addr, uint16_t port);

/** Returns the address bytes without the port, and their number; NULL if the
 *  family is unknown. */
const void *ucs_sockaddr_inet_addr(const struct sockaddr *addr, size_t *size_p);

int ucs_sockaddr_is_any(const struct sockaddr *addr);
int ucs_sockaddr_is_loopback(const struct sockaddr *addr);

/** Converts to text, such as "1.2.3.4:80" or "[::1%eth0]:80". Invalid addresses
 *  are accepted, and result in a description. */
const char *ucs_sockaddr_str(const struct sockaddr *addr, char *buf,
                             size_t max);

/** Total order by family, address, scope and port; returns 0 if equal. Both
 *  addresses must be valid. */
int ucs_sockaddr_cmp(const struct sockaddr *a, const struct sockaddr *b);

/** As above, ignoring the port. */
int ucs_sockaddr_ip_cmp(const struct sockaddr *a, const struct sockaddr *b);

/** Parses "1.2.3.4", "1.2.3.4:80", "::1", "[::1]", "[fe80::1%eth0]:80". No name
 *  resolution. The default port is @a default_port. */
ucs_status_t ucs_sockaddr_parse(const char *text, uint16_t default_port,
                                struct sockaddr_storage *addr);

END_C_DECLS

#endif
