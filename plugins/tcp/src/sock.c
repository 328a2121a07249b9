/* SPDX-License-Identifier: BSD-3-Clause */
/* Implementation of the helpers for socket addresses and descriptors. */
#include "sock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

socklen_t tcp_sock_addr_len(const tcp_sockaddr_t *addr)
{
    return (addr->sa.sa_family == AF_INET) ? sizeof(addr->in) :
                                             sizeof(addr->in6);
}

void *tcp_sock_addr_ip(tcp_sockaddr_t *addr, size_t *length_p)
{
    if (addr->sa.sa_family == AF_INET) {
        *length_p = sizeof(addr->in.sin_addr);
        return &addr->in.sin_addr;
    }
    *length_p = sizeof(addr->in6.sin6_addr);
    return &addr->in6.sin6_addr;
}

uint16_t tcp_sock_addr_port(const tcp_sockaddr_t *addr)
{
    return ntohs((addr->sa.sa_family == AF_INET) ? addr->in.sin_port :
                                                   addr->in6.sin6_port);
}

void tcp_sock_addr_set_port(tcp_sockaddr_t *addr, uint16_t port)
{
    if (addr->sa.sa_family == AF_INET) {
        addr->in.sin_port = htons(port);
    } else {
        addr->in6.sin6_port = htons(port);
    }
}

int tcp_sock_addr_same_ip(const tcp_sockaddr_t *a, const tcp_sockaddr_t *b)
{
    if (a->sa.sa_family != b->sa.sa_family) {
        return 0;
    }
    if (a->sa.sa_family == AF_INET) {
        return a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
    }
    return memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr,
                  sizeof(a->in6.sin6_addr)) == 0;
}

int tcp_sock_addr_is_loopback(const tcp_sockaddr_t *addr)
{
    if (addr->sa.sa_family == AF_INET) {
        return (ntohl(addr->in.sin_addr.s_addr) >> 24) == IN_LOOPBACKNET;
    }
    return IN6_IS_ADDR_LOOPBACK(&addr->in6.sin6_addr);
}

int tcp_sock_addr_is_any(const tcp_sockaddr_t *addr)
{
    if (addr->sa.sa_family == AF_INET) {
        return addr->in.sin_addr.s_addr == htonl(INADDR_ANY);
    }
    return IN6_IS_ADDR_UNSPECIFIED(&addr->in6.sin6_addr);
}

ucs_status_t tcp_sock_addr_copy(tcp_sockaddr_t *dst, const struct sockaddr *src,
                                socklen_t length, int unmap)
{
    tcp_sockaddr_t full;
    socklen_t need;

    if ((src == NULL) || ((length != 0) && (length < sizeof(src->sa_family)))) {
        return UCS_ERR_INVALID_PARAM;
    }
    if ((src->sa_family != AF_INET) && (src->sa_family != AF_INET6)) {
        return UCS_ERR_INVALID_ADDR;
    }

    need = (src->sa_family == AF_INET) ? sizeof(full.in) : sizeof(full.in6);
    if ((length != 0) && (length < need)) {
        return UCS_ERR_INVALID_ADDR;
    }

    memset(&full, 0, sizeof(full));
    memcpy(&full, src, need);
    if (unmap && (full.sa.sa_family == AF_INET6) &&
        IN6_IS_ADDR_V4MAPPED(&full.in6.sin6_addr)) {
        memset(dst, 0, sizeof(*dst));
        dst->in.sin_family = AF_INET;
        dst->in.sin_port   = full.in6.sin6_port;
        memcpy(&dst->in.sin_addr, &full.in6.sin6_addr.s6_addr[12], 4);
        return UCS_OK;
    }

    *dst = full;
    return UCS_OK;
}

const char *tcp_sock_str(const tcp_sockaddr_t *addr, char *buf, size_t size)
{
    tcp_sockaddr_t copy = *addr;
    char ip[INET6_ADDRSTRLEN];
    size_t length;
    void *bytes;

    bytes = tcp_sock_addr_ip(&copy, &length);
    if (inet_ntop(addr->sa.sa_family, bytes, ip, sizeof(ip)) == NULL) {
        snprintf(buf, size, "an unknown address");
    } else if (tcp_sock_addr_port(addr) == 0) {
        snprintf(buf, size, "%s", ip);
    } else {
        snprintf(buf, size, (length == 4) ? "%s:%u" : "[%s]:%u", ip,
                 tcp_sock_addr_port(addr));
    }
    return buf;
}

ucs_status_t tcp_sock_status(int error)
{
    switch (error) {
    case 0:
    case ECONNRESET:
    case EPIPE:
    case ECONNABORTED:
    case ENOTCONN:
        return UCS_ERR_CONNECTION_RESET;
    case ECONNREFUSED:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENETDOWN:
    case EACCES:
    case EPERM:
        return UCS_ERR_UNREACHABLE;
    case ETIMEDOUT:
        return UCS_ERR_ENDPOINT_TIMEOUT;
    case ENOMEM:
    case ENOBUFS:
        return UCS_ERR_NO_MEMORY;
    default:
        return UCS_ERR_IO_ERROR;
    }
}

int tcp_sock_no_files(int error)
{
    return (error == EMFILE) || (error == ENFILE);
}

unsigned tcp_sock_file_share(unsigned limit, unsigned share)
{
    struct rlimit files;

    if ((getrlimit(RLIMIT_NOFILE, &files) == 0) &&
        (files.rlim_cur / share < limit)) {
        limit = (unsigned)(files.rlim_cur / share);
    }
    return (limit > 0) ? limit : 1;
}

int tcp_sock_has_data(int fd)
{
    char byte;

    return recv(fd, &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT) > 0;
}

int tcp_sock_open(int family)
{
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/* Sets a socket option. Options are hints, so an error of a kernel without the
 * option is ignored. */
void tcp_sock_set_int(int fd, int level, int option, int value)
{
    (void)setsockopt(fd, level, option, &value, sizeof(value));
}

void tcp_sock_set_congestion(int fd, const char *name)
{
    (void)setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name,
                     (socklen_t)strlen(name));
}
