/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP sockets of tools; see tcp_socket.h.
 */
#include "tcp_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECT_MS = 10000 };

static void note_errno(char *error)
{
    snprintf(error, TOOL_TCP_ERROR_MAX, "%s", strerror(errno));
}

static struct addrinfo *resolve(const char *host, const char *port, int family,
                                int flags, char *error)
{
    struct addrinfo hints = {
        .ai_family   = family,
        .ai_flags    = flags | AI_NUMERICSERV,
        .ai_socktype = SOCK_STREAM,
    };
    struct addrinfo *list = NULL;
    int result            = getaddrinfo(host, port, &hints, &list);

    if (result != 0) {
        snprintf(error, TOOL_TCP_ERROR_MAX, "%s", gai_strerror(result));
        errno = 0;
        return NULL;
    }
    return list;
}

static int listen_on(const struct addrinfo *address, int backlog)
{
    int on = 1, off = 0, saved;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        return -1;
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (address->ai_family == AF_INET6) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    }
    if ((bind(fd, address->ai_addr, address->ai_addrlen) != 0) ||
        (listen(fd, backlog) != 0)) {
        saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

int tool_tcp_listen(const char *host, const char *port, int family, int backlog,
                    char error[TOOL_TCP_ERROR_MAX])
{
    static const int order[] = {AF_INET6, AF_INET};
    struct addrinfo *list, *address;
    int fd = -1, i;

    list = resolve(host, port, family, AI_PASSIVE | AI_NUMERICHOST, error);
    if (list == NULL) {
        return -1;
    }
    for (i = 0; i < 2; ++i) {
        for (address = list; (address != NULL) && (fd < 0);
             address = address->ai_next) {
            if (address->ai_family == order[i]) {
                fd = listen_on(address, backlog);
            }
        }
    }
    if (fd < 0) {
        note_errno(error);
    }
    freeaddrinfo(list);
    return fd;
}

int tool_tcp_accept(int listener, char error[TOOL_TCP_ERROR_MAX])
{
    int fd;

    do {
        fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    } while ((fd < 0) && ((errno == EINTR) || (errno == ECONNABORTED)));
    if (fd < 0) {
        note_errno(error);
    }
    return fd;
}

/* Waits until a non-blocking connect() completes. Returns 0, or the errno of
 * the failure. */
static int finish_connect(int fd, const struct addrinfo *address)
{
    struct pollfd event = {.fd = fd, .events = POLLOUT};
    socklen_t size      = sizeof(int);
    int error           = 0;

    if (connect(fd, address->ai_addr, address->ai_addrlen) != 0) {
        if (errno != EINPROGRESS) {
            return errno;
        }
        if (poll(&event, 1, CONNECT_MS) != 1) {
            return ETIMEDOUT;
        }
        if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
            return errno;
        }
    }
    if ((error == 0) &&
        (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) != 0)) {
        return errno;
    }
    return error;
}

static int connect_one(const struct addrinfo *address)
{
    int fd = socket(address->ai_family,
                    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error;

    if (fd < 0) {
        return -1;
    }
    error = finish_connect(fd, address);
    if (error == 0) {
        return fd;
    }
    close(fd);
    errno = error;
    return -1;
}

int tool_tcp_connect(const char *host, const char *port, int family,
                     char error[TOOL_TCP_ERROR_MAX])
{
    struct addrinfo *list, *address;
    int fd = -1;

    list = resolve(host, port, family, 0, error);
    if (list == NULL) {
        return -1;
    }
    for (address = list; (address != NULL) && (fd < 0);
         address = address->ai_next) {
        fd = connect_one(address);
    }
    if (fd < 0) {
        note_errno(error);
    }
    freeaddrinfo(list);
    return fd;
}

unsigned tool_tcp_port(int fd)
{
    struct sockaddr_storage name = {0};
    socklen_t length             = sizeof(name);

    getsockname(fd, (struct sockaddr *)&name, &length);
    return ntohs((name.ss_family == AF_INET6) ?
                     ((struct sockaddr_in6 *)&name)->sin6_port :
                     ((struct sockaddr_in *)&name)->sin_port);
}
