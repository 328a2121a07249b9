/* SPDX-License-Identifier: BSD-3-Clause */
/* Socket addresses as text, numbers and their order. */
#include "ucs/sys/sock.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Returns the place of the port. Both families store it at the same offset, but
 * in members of different structures. */
static in_port_t *port_place(struct sockaddr *addr)
{
    switch (addr->sa_family) {
    case AF_INET:
        return &((struct sockaddr_in *)addr)->sin_port;
    case AF_INET6:
        return &((struct sockaddr_in6 *)addr)->sin6_port;
    default:
        return NULL;
    }
}

ucs_status_t ucs_sockaddr_get_port(const struct sockaddr *addr,
                                   uint16_t *port_p)
{
    const in_port_t *port = port_place((struct sockaddr *)addr);

    if (port == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }

    *port_p = ntohs(*port);
    return UCS_OK;
}

ucs_status_t ucs_sockaddr_set_port(struct sockaddr *addr, uint16_t port)
{
    in_port_t *place = port_place(addr);

    if (place == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }

    *place = htons(port);
    return UCS_OK;
}

const void *ucs_sockaddr_inet_addr(const struct sockaddr *addr, size_t *size_p)
{
    switch (addr->sa_family) {
    case AF_INET:
        *size_p = sizeof(struct in_addr);
        return &((const struct sockaddr_in *)addr)->sin_addr;
    case AF_INET6:
        *size_p = sizeof(struct in6_addr);
        return &((const struct sockaddr_in6 *)addr)->sin6_addr;
    default:
        *size_p = 0;
        return NULL;
    }
}

int ucs_sockaddr_is_any(const struct sockaddr *addr)
{
    static const struct in6_addr zero;
    const void *bytes;
    size_t size;

    bytes = ucs_sockaddr_inet_addr(addr, &size);
    return (bytes != NULL) && !memcmp(bytes, &zero, size);
}

int ucs_sockaddr_is_loopback(const struct sockaddr *addr)
{
    const uint8_t *bytes;
    size_t size;

    bytes = ucs_sockaddr_inet_addr(addr, &size);
    if (bytes == NULL) {
        return 0;
    } else if (addr->sa_family == AF_INET) {
        return bytes[0] == 127;
    }

    if (IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)bytes)) {
        return bytes[12] == 127;
    }
    return IN6_IS_ADDR_LOOPBACK((const struct in6_addr *)bytes);
}

const char *ucs_sockaddr_str(const struct sockaddr *addr, char *buf, size_t max)
{
    char text[INET6_ADDRSTRLEN], scope[IF_NAMESIZE + 1] = "";
    char name[IF_NAMESIZE];
    const struct sockaddr_in6 *in6;
    const void *bytes;
    uint16_t port = 0;
    size_t size;

    if (addr == NULL) {
        snprintf(buf, max, "<none>");
        return buf;
    }

    bytes = ucs_sockaddr_inet_addr(addr, &size);
    if ((bytes == NULL) ||
        (inet_ntop(addr->sa_family, bytes, text, sizeof(text)) == NULL)) {
        snprintf(buf, max, "<address family %d>", (int)addr->sa_family);
        return buf;
    }

    ucs_sockaddr_get_port(addr, &port);
    if (addr->sa_family == AF_INET) {
        snprintf(buf, max, "%s:%u", text, port);
        return buf;
    }

    in6 = (const struct sockaddr_in6 *)addr;
    if (in6->sin6_scope_id != 0) {
        if (if_indextoname(in6->sin6_scope_id, name) != NULL) {
            snprintf(scope, sizeof(scope), "%%%.*s", IF_NAMESIZE - 1, name);
        } else {
            snprintf(scope, sizeof(scope), "%%%u", in6->sin6_scope_id);
        }
    }

    snprintf(buf, max, "[%s%s]:%u", text, scope, port);
    return buf;
}

int ucs_sockaddr_ip_cmp(const struct sockaddr *a, const struct sockaddr *b)
{
    const void *bytes_a, *bytes_b;
    uint32_t scope_a, scope_b;
    size_t size;
    int result;

    if (a->sa_family != b->sa_family) {
        return (a->sa_family < b->sa_family) ? -1 : 1;
    }

    bytes_a = ucs_sockaddr_inet_addr(a, &size);
    bytes_b = ucs_sockaddr_inet_addr(b, &size);
    if (bytes_a == NULL) {
        return 0;
    }

    result = memcmp(bytes_a, bytes_b, size);
    if ((result != 0) || (a->sa_family != AF_INET6)) {
        return result;
    }

    scope_a = ((const struct sockaddr_in6 *)a)->sin6_scope_id;
    scope_b = ((const struct sockaddr_in6 *)b)->sin6_scope_id;
    return (scope_a > scope_b) - (scope_a < scope_b);
}

int ucs_sockaddr_cmp(const struct sockaddr *a, const struct sockaddr *b)
{
    uint16_t port_a = 0, port_b = 0;
    int result;

    result = ucs_sockaddr_ip_cmp(a, b);
    if (result != 0) {
        return result;
    }

    ucs_sockaddr_get_port(a, &port_a);
    ucs_sockaddr_get_port(b, &port_b);
    return (port_a > port_b) - (port_a < port_b);
}

static ucs_status_t parse_port(const char *text, uint16_t *port_p)
{
    unsigned long value = 0;
    const char *p;

    for (p = text; *p != '\0'; ++p) {
        if ((*p < '0') || (*p > '9') || (p - text >= 5)) {
            return UCS_ERR_INVALID_ADDR;
        }
        value = value * 10 + (unsigned long)(*p - '0');
    }

    if ((p == text) || (value > UINT16_MAX)) {
        return UCS_ERR_INVALID_ADDR;
    }

    *port_p = (uint16_t)value;
    return UCS_OK;
}

static ucs_status_t parse_scope(const char *text, uint32_t *scope_p)
{
    char *end;

    *scope_p = if_nametoindex(text);
    if ((*scope_p == 0) && (*text >= '0') && (*text <= '9')) {
        *scope_p = (uint32_t)strtoul(text, &end, 10);
        if (*end != '\0') {
            return UCS_ERR_INVALID_ADDR;
        }
    }

    return (*scope_p == 0) ? UCS_ERR_NO_DEVICE : UCS_OK;
}

static ucs_status_t parse_ip(char *text, struct sockaddr_storage *addr)
{
    struct sockaddr_in *in   = (struct sockaddr_in *)addr;
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)addr;
    ucs_status_t status;
    char *percent;

    memset(addr, 0, sizeof(*addr));
    if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
        in->sin_family = AF_INET;
        return UCS_OK;
    }

    percent = strchr(text, '%');
    if (percent != NULL) {
        *percent = '\0';
        status   = parse_scope(percent + 1, &in6->sin6_scope_id);
        if (status != UCS_OK) {
            return status;
        }
    }

    if (inet_pton(AF_INET6, text, &in6->sin6_addr) != 1) {
        return UCS_ERR_INVALID_ADDR;
    }

    in6->sin6_family = AF_INET6;
    return UCS_OK;
}

ucs_status_t ucs_sockaddr_parse(const char *text, uint16_t default_port,
                                struct sockaddr_storage *addr)
{
    char copy[UCS_SOCKADDR_STRING_LEN];
    uint16_t port = default_port;
    char *ip = copy, *port_text = NULL, *end;
    ucs_status_t status;

    if (strlen(text) >= sizeof(copy)) {
        return UCS_ERR_INVALID_ADDR;
    }

    strcpy(copy, text);
    if (copy[0] == '[') {
        ip  = copy + 1;
        end = strchr(ip, ']');
        if ((end == NULL) || ((end[1] != '\0') && (end[1] != ':')) ||
            (strchr(ip, ':') > end)) {
            return UCS_ERR_INVALID_ADDR;
        }
        *end      = '\0';
        port_text = (end[1] == ':') ? end + 2 : NULL;
    } else {
        /* with one colon, a port follows it; more colons are an IPv6 address */
        end = strchr(copy, ':');
        if ((end != NULL) && (strchr(end + 1, ':') == NULL)) {
            *end      = '\0';
            port_text = end + 1;
        }
    }

    if (port_text != NULL) {
        status = parse_port(port_text, &port);
        if (status != UCS_OK) {
            return status;
        }
    }

    status = parse_ip(ip, addr);
    if (status != UCS_OK) {
        return status;
    }

    if ((copy[0] == '[') && (addr->ss_family != AF_INET6)) {
        return UCS_ERR_INVALID_ADDR;
    }

    return ucs_sockaddr_set_port((struct sockaddr *)addr, port);
}
