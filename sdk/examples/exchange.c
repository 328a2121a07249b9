/* SPDX-License-Identifier: BSD-3-Clause */
/* The bootstrap socket of the examples; see exchange.h. It is independent of
 * UCP: any other way to exchange addresses works as well. */
#include "exchange.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Timeout for the other side's bytes, so that a silent client does not block
 * the program. */
enum { EXCHANGE_TIMEOUT_SEC = 10 };

static struct addrinfo *resolve(const char *host, uint16_t port, int flags)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags};
    struct addrinfo *list = NULL;
    char service[8];
    int error;

    snprintf(service, sizeof(service), "%u", (unsigned)port);
    host  = (host == NULL) ? "127.0.0.1" : host;
    error = getaddrinfo(host, service, &hints, &list);
    if (error != 0) {
        fprintf(stderr, "cannot look up host '%s': %s\n", host,
                gai_strerror(error));
        return NULL;
    }
    return list;
}

static uint16_t local_port(int fd)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof(address);

    if (getsockname(fd, (struct sockaddr *)&address, &length) != 0) {
        return 0;
    }
    if (address.ss_family == AF_INET6) {
        return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    }
    return ntohs(((struct sockaddr_in *)&address)->sin_port);
}

int exchange_listen(const char *host, uint16_t *port)
{
    struct addrinfo *list = resolve(host, *port, AI_PASSIVE);
    struct addrinfo *entry;
    int fd = -1, error = 0, on = 1;

    if (list == NULL) {
        return -1;
    }
    for (entry = list; (entry != NULL) && (fd < 0); entry = entry->ai_next) {
        fd = socket(entry->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0) {
            error = errno;
            continue;
        }
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
        if ((bind(fd, entry->ai_addr, entry->ai_addrlen) != 0) ||
            (listen(fd, 8) != 0)) {
            error = errno;
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(list);
    if (fd < 0) {
        fprintf(stderr, "cannot listen on port %u: %s (choose another port?)\n",
                (unsigned)*port, strerror(error));
        return -1;
    }
    *port = local_port(fd);
    return fd;
}

static void limit_waiting(int fd)
{
    struct timeval limit = {.tv_sec = EXCHANGE_TIMEOUT_SEC};

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

int exchange_accept(int listener)
{
    int fd;

    do {
        fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    } while ((fd < 0) && (errno == ECONNABORTED));
    if (fd < 0) {
        if (errno != EINTR) {
            perror("cannot accept a connection");
        }
        return -1;
    }
    limit_waiting(fd);
    return fd;
}

int exchange_connect(const char *host, uint16_t port)
{
    struct addrinfo *list = resolve(host, port, 0);
    struct addrinfo *entry;
    int fd = -1, error = 0;

    if (list == NULL) {
        return -1;
    }
    for (entry = list; (entry != NULL) && (fd < 0); entry = entry->ai_next) {
        fd = socket(entry->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if ((fd >= 0) &&
            (connect(fd, entry->ai_addr, entry->ai_addrlen) != 0)) {
            error = errno;
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(list);
    if (fd < 0) {
        fprintf(stderr,
                "cannot connect to %s port %u: %s (is the other side "
                "running?)\n",
                (host == NULL) ? "127.0.0.1" : host, (unsigned)port,
                strerror(error));
        return -1;
    }
    limit_waiting(fd);
    return fd;
}

static int send_all(int fd, const void *data, size_t length)
{
    const char *next = data;
    ssize_t sent;

    while (length > 0) {
        sent = send(fd, next, length, MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno == EINTR) {
                continue;
            }
            perror("cannot send the worker address");
            return -1;
        }
        next += sent;
        length -= sent;
    }
    return 0;
}

static int recv_all(int fd, void *data, size_t length)
{
    ssize_t got;

    while (length > 0) {
        got = recv(fd, data, length, 0);
        if (got == 0) {
            fprintf(stderr, "the other side hung up before it sent its "
                            "worker address\n");
            return -1;
        }
        if (got < 0) {
            if (errno == EINTR) {
                continue;
            }
            fprintf(stderr, "no worker address from the other side: %s\n",
                    (errno == EAGAIN) ? "it said nothing in time" :
                                        strerror(errno));
            return -1;
        }
        data = (char *)data + got;
        length -= got;
    }
    return 0;
}

int exchange_send(int fd, const void *data, uint32_t length)
{
    uint32_t prefix = htonl(length);

    if (send_all(fd, &prefix, sizeof(prefix)) != 0) {
        return -1;
    }
    return send_all(fd, data, length);
}

int exchange_recv(int fd, void **data_p, uint32_t *length_p, uint32_t max)
{
    uint32_t length;
    void *data;

    if (recv_all(fd, &length, sizeof(length)) != 0) {
        return -1;
    }
    length = ntohl(length);
    if ((length == 0) || (length > max)) {
        fprintf(stderr,
                "the other side announced %u bytes, expected 1 to %u: "
                "is it the same program?\n",
                length, max);
        return -1;
    }
    data = malloc(length);
    if (data == NULL) {
        fprintf(stderr, "no memory for %u bytes\n", length);
        return -1;
    }
    if (recv_all(fd, data, length) != 0) {
        free(data);
        return -1;
    }
    *data_p   = data;
    *length_p = length;
    return 0;
}

int exchange_swap(int fd, const void *ours, uint32_t ours_length,
                  void **theirs_p, uint32_t *theirs_length_p, uint32_t max)
{
    if (exchange_send(fd, ours, ours_length) != 0) {
        return -1;
    }
    return exchange_recv(fd, theirs_p, theirs_length_p, max);
}
