/* SPDX-License-Identifier: BSD-3-Clause */
/* Socket addresses: validity, copies, text. */
#include "ucs/sys/sock.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

ucs_status_t ucs_sockaddr_sizeof(const struct sockaddr *addr, socklen_t *size_p)
{
    switch (addr->sa_family) {
    case AF_INET:
        *size_p = sizeof(struct sockaddr_in);
        return UCS_OK;
    case AF_INET6:
        *size_p = sizeof(struct sockaddr_in6);
        return UCS_OK;
    default:
        return UCS_ERR_INVALID_PARAM;
    }
}

int ucs_sockaddr_is_valid(const struct sockaddr *addr, socklen_t addrlen)
{
    socklen_t size;

    return (addr != NULL) &&
           (addrlen >=
            offsetof(struct sockaddr, sa_family) + sizeof(addr->sa_family)) &&
           (ucs_sockaddr_sizeof(addr, &size) == UCS_OK) && (addrlen >= size);
}

ucs_status_t ucs_sockaddr_copy(struct sockaddr_storage *dest,
                               const struct sockaddr *src, socklen_t addrlen)
{
    socklen_t size;

    if (!ucs_sockaddr_is_valid(src, addrlen)) {
        return UCS_ERR_INVALID_ADDR;
    }

    ucs_sockaddr_sizeof(src, &size);
    memset(dest, 0, sizeof(*dest));
    memcpy(dest, src, size);
    return UCS_OK;
}

/* Writes the scope of a link-local address as "%eth0", or "" if there is
 * none. */
static void scope_str(const struct sockaddr_in6 *addr, char *scope, size_t max)
{
    char name[IF_NAMESIZE];

    scope[0] = '\0';
    if (addr->sin6_scope_id == 0) {
        return;
    }
    if (if_indextoname(addr->sin6_scope_id, name) != NULL) {
        snprintf(scope, max, "%%%.*s", IF_NAMESIZE - 1, name);
    } else {
        snprintf(scope, max, "%%%u", addr->sin6_scope_id);
    }
}

const char *ucs_sockaddr_str(const struct sockaddr *addr, char *buf, size_t max)
{
    const struct sockaddr_in *in   = (const struct sockaddr_in *)addr;
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;
    char text[INET6_ADDRSTRLEN], scope[IF_NAMESIZE + 1];

    if (addr == NULL) {
        snprintf(buf, max, "<none>");
    } else if (addr->sa_family == AF_INET) {
        inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text));
        snprintf(buf, max, "%s:%u", text, ntohs(in->sin_port));
    } else if (addr->sa_family == AF_INET6) {
        inet_ntop(AF_INET6, &in6->sin6_addr, text, sizeof(text));
        scope_str(in6, scope, sizeof(scope));
        snprintf(buf, max, "[%s%s]:%u", text, scope, ntohs(in6->sin6_port));
    } else {
        snprintf(buf, max, "<address family %d>", (int)addr->sa_family);
    }
    return buf;
}
