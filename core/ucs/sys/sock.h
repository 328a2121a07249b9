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

/** Size of an address of the family; UCS_ERR_INVALID_PARAM if unknown. */
ucs_status_t ucs_sockaddr_sizeof(const struct sockaddr *addr,
                                 socklen_t *size_p);

/** Is the family known, and the length sufficient for it? */
int ucs_sockaddr_is_valid(const struct sockaddr *addr, socklen_t addrlen);

/** Copies an address of the given length after checking it. */
ucs_status_t ucs_sockaddr_copy(struct sockaddr_storage *dest,
                               const struct sockaddr *src, socklen_t addrlen);

ucs_status_t ucs_sockaddr_get_port(const struct sockaddr *addr,
                                   uint16_t *port_p);
ucs_status_t ucs_sockaddr_set_port(struct sockaddr *addr, uint16_t port);

/** The address bytes without port, and their number. NULL if unknown. */
const void *ucs_sockaddr_inet_addr(const struct sockaddr *addr, size_t *size_p);

int ucs_sockaddr_is_any(const struct sockaddr *addr);
int ucs_sockaddr_is_loopback(const struct sockaddr *addr);

/** "1.2.3.4:80", "[::1%eth0]:80"; readable text for any input. */
const char *ucs_sockaddr_str(const struct sockaddr *addr, char *buf,
                             size_t max);

/** Total order by family, address, scope, port; 0: equal. Both must be
 *  valid. */
int ucs_sockaddr_cmp(const struct sockaddr *a, const struct sockaddr *b);

/** As above, ignoring the port. */
int ucs_sockaddr_ip_cmp(const struct sockaddr *a, const struct sockaddr *b);

/** Parses "1.2.3.4", "1.2.3.4:80", "::1", "[::1]", "[fe80::1%eth0]:80". No name
 *  resolution. The default port is @a default_port. */
ucs_status_t ucs_sockaddr_parse(const char *text, uint16_t default_port,
                                struct sockaddr_storage *addr);

END_C_DECLS

#endif
