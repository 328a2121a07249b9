/* SPDX-License-Identifier: BSD-3-Clause */
/* Listening, connecting, forking; channel.c is the protocol. */
#include "meet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    CONNECT_MS = 10000
};

static void name_peer(int fd, char *text, size_t length)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof(address);
    char host[INET6_ADDRSTRLEN + 16], port[8];

    if ((getpeername(fd, (struct sockaddr *)&address, &size) != 0) ||
        (getnameinfo((struct sockaddr *)&address, size, host, sizeof(host),
                     port, sizeof(port),
                     NI_NUMERICHOST | NI_NUMERICSERV) != 0)) {
        snprintf(text, length, "the other side");
    } else {
        snprintf(text, length, "%s:%s", host, port);
    }
}

int meet_listen(uint16_t *port_p, bool ipv6, char error[CHANNEL_ERROR_MAX])
{
    struct sockaddr_in v4  = {.sin_family = AF_INET,
                              .sin_port   = htons(*port_p)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
                              .sin6_port   = htons(*port_p),
                              .sin6_addr   = in6addr_any};
    void *address          = ipv6 ? (void *)&v6 : (void *)&v4;
    socklen_t length       = ipv6 ? sizeof(v6) : sizeof(v4);
    int fd, on = 1;

    v4.sin_addr.s_addr = htonl(INADDR_ANY);
    fd = socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        snprintf(error, CHANNEL_ERROR_MAX, "no socket: %s", strerror(errno));
        return -1;
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if ((bind(fd, address, length) != 0) || (listen(fd, 8) != 0) ||
        (getsockname(fd, address, &length) != 0)) {
        snprintf(error, CHANNEL_ERROR_MAX, "cannot listen at port %u: %s%s",
                 *port_p, strerror(errno), (errno == EADDRINUSE) ?
                 "; choose another one with -p, on both sides" : "");
        close(fd);
        return -1;
    }
    *port_p = ntohs(ipv6 ? v6.sin6_port : v4.sin_port);
    return fd;
}

bool meet_accept(int listener, struct channel *channel)
{
    int fd;

    for (;;) {
        fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0) {
            name_peer(fd, channel->peer, sizeof(channel->peer));
            if (channel_open(channel, fd)) {
                return true;
            }
            fprintf(stderr, "ucx_perftest: rejected %s: %s\n",
                    channel->peer, channel->error);
        } else if ((errno != EINTR) && (errno != ECONNABORTED)) {
            snprintf(channel->error, sizeof(channel->error),
                     "cannot accept a connection: %s", strerror(errno));
            return false;
        }
    }
}

/* With a timeout: a host that drops packets must not block for minutes. */
static int connect_one(const struct addrinfo *info)
{
    struct pollfd poller;
    socklen_t size = sizeof(int);
    int fd, error = 0;

    fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -1;
    }
    if (connect(fd, info->ai_addr, info->ai_addrlen) != 0) {
        error = errno;
        if (error == EINPROGRESS) {
            poller = (struct pollfd){.fd = fd, .events = POLLOUT};
            error  = ETIMEDOUT;
            if (poll(&poller, 1, CONNECT_MS) > 0) {
                getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
            }
        }
    }
    if (error != 0) {
        close(fd);
        errno = error;
        return -1;
    }
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return fd;
}

bool meet_connect(const char *host, uint16_t port, bool ipv6,
                  struct channel *channel)
{
    struct addrinfo hints = {.ai_family   = ipv6 ? AF_INET6 : AF_INET,
                             .ai_socktype = SOCK_STREAM};
    struct addrinfo *list, *info;
    char service[8];
    int fd = -1, result;

    snprintf(service, sizeof(service), "%u", port);
    result = getaddrinfo(host, service, &hints, &list);
    if (result != 0) {
        snprintf(channel->error, sizeof(channel->error), "%.100s: %s%s", host,
                 gai_strerror(result), ipv6 ? "" : " (-6 looks for IPv6)");
        return false;
    }
    for (info = list; (info != NULL) && (fd < 0); info = info->ai_next) {
        fd = connect_one(info);
    }
    freeaddrinfo(list);
    if (fd < 0) {
        snprintf(channel->error, sizeof(channel->error), "cannot connect to "
                 "%.100s, port %u: %s%s", host, port, strerror(errno),
                 (errno == ECONNREFUSED) ? "; start ucx_perftest there first, "
                 "with the same -p" : "");
        return false;
    }
    name_peer(fd, channel->peer, sizeof(channel->peer));
    return channel_open(channel, fd);
}

pid_t meet_fork(struct channel *channel)
{
    pid_t parent = getpid(), pid;
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        snprintf(channel->error, sizeof(channel->error), "no sockets: %s",
                 strerror(errno));
        return -1;
    }
    fflush(stdout);
    pid = fork();
    if (pid < 0) {
        snprintf(channel->error, sizeof(channel->error), "cannot fork: %s",
                 strerror(errno));
        close(pair[0]);
        close(pair[1]);
        return -1;
    }
    if (pid == 0) {
        /* The parent may have ended before this took effect. */
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent) {
            _exit(1);
        }
    }
    close(pair[pid != 0]);
    snprintf(channel->peer, sizeof(channel->peer), "the other process");
    return channel_open(channel, pair[pid == 0]) ? pid : -1;
}
