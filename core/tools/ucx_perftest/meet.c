/* SPDX-License-Identifier: BSD-3-Clause */
/* Listens, connects and forks. channel.c implements the protocol. */
#include "meet.h"

#include "tcp_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void name_peer(int fd, char *text, size_t length)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof(address);
    char host[INET6_ADDRSTRLEN + 16], port[8];

    if ((getpeername(fd, (struct sockaddr *)&address, &size) != 0) ||
        (getnameinfo((struct sockaddr *)&address, size, host, sizeof(host),
                     port, sizeof(port),
                     NI_NUMERICHOST | NI_NUMERICSERV) != 0)) {
        snprintf(text, length, "the peer");
    } else {
        snprintf(text, length, "%s:%s", host, port);
    }
}

int meet_listen(uint16_t *port_p, bool ipv6, char error[CHANNEL_ERROR_MAX])
{
    char port[8], reason[TOOL_TCP_ERROR_MAX];
    int fd;

    snprintf(port, sizeof(port), "%u", *port_p);
    fd = tool_tcp_listen(NULL, port, ipv6 ? AF_INET6 : AF_INET, 8, reason);
    if (fd < 0) {
        snprintf(error, CHANNEL_ERROR_MAX, "cannot listen at port %s: %s%s",
                 port, reason,
                 (errno == EADDRINUSE) ?
                     "; choose another one with -p, on both sides" :
                     "");
        return -1;
    }
    *port_p = (uint16_t)tool_tcp_port(fd);
    return fd;
}

bool meet_accept(int listener, struct channel *channel)
{
    char reason[TOOL_TCP_ERROR_MAX];
    int fd;

    for (;;) {
        fd = tool_tcp_accept(listener, reason);
        if (fd < 0) {
            snprintf(channel->error, sizeof(channel->error),
                     "cannot accept a connection: %s", reason);
            return false;
        }
        name_peer(fd, channel->peer, sizeof(channel->peer));
        if (channel_open(channel, fd)) {
            return true;
        }
        fprintf(stderr, "ucx_perftest: rejected %s: %s\n", channel->peer,
                channel->error);
    }
}

bool meet_connect(const char *host, uint16_t port, bool ipv6,
                  struct channel *channel)
{
    char service[8], reason[TOOL_TCP_ERROR_MAX];
    int fd;

    snprintf(service, sizeof(service), "%u", port);
    fd = tool_tcp_connect(host, service, ipv6 ? AF_INET6 : AF_INET, reason);
    if ((fd < 0) && (errno == 0)) {
        snprintf(channel->error, sizeof(channel->error), "%.100s: %s%s", host,
                 reason, ipv6 ? "" : " (-6 selects IPv6)");
        return false;
    }
    if (fd < 0) {
        snprintf(channel->error, sizeof(channel->error),
                 "cannot connect to "
                 "%.60s, port %u: %s%s",
                 host, port, reason,
                 (errno == ECONNREFUSED) ? "; start ucx_perftest there first, "
                                           "with the same -p" :
                                           "");
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
        /* The parent may have exited before prctl() took effect; the signal is
         * not sent then */
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent) {
            _exit(1);
        }
    }
    close(pair[pid != 0]);
    snprintf(channel->peer, sizeof(channel->peer), "the other process");
    return channel_open(channel, pair[pid == 0]) ? pid : -1;
}
