/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Detects hosts that acknowledge nothing. A provider over TCP completes a
 * message when the kernel accepts it, and the kernel retransmits for about 15
 * minutes before it gives the connection up. libfabric has no query for its
 * sockets or their unacknowledged data, so all sockets of this process are
 * examined: those that are connected to the address of a peer and those that
 * were accepted from its host. A host acknowledges data even while the process
 * on it makes no progress.
 */
#include "iface.h"

#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define SWEEP_INTERVAL \
    1.0 /* Minimum seconds between two sweeps. A sweep examines all sockets and
         * makes at least one system call for each descriptor */

/* A TCP socket that retransmits, or probes a closed window, and gets no
 * answer */
typedef struct waiting {
    struct sockaddr_storage local, remote; /* Addresses of both ends */
    double quiet; /* Seconds since the last acknowledgement */
} waiting_t;

static int is_ip(const ugni_port_t *port)
{
    const uint32_t format = port->info->addr_format;

    return (format == FI_SOCKADDR) || (format == FI_SOCKADDR_IN) ||
           (format == FI_SOCKADDR_IN6);
}

/* Returns whether the descriptor is a socket as waiting_t describes, and fills
 * *waiting. */
static int is_waiting(int fd, waiting_t *waiting)
{
    socklen_t local = sizeof(waiting->local), remote = sizeof(waiting->remote);
    struct tcp_info info = {0};
    socklen_t length     = sizeof(info);

    /* This fails for descriptors that are not TCP sockets. */
    if ((getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) ||
        ((info.tcpi_retransmits == 0) && (info.tcpi_probes == 0)) ||
        (getsockname(fd, (struct sockaddr *)&waiting->local, &local) != 0)) {
        return 0;
    }
    waiting->quiet = info.tcpi_last_ack_recv * 1e-3;
    /* A socket that is still connecting has no peer name and is skipped:
     * libfabric accepts no message before it is connected. */
    return getpeername(fd, (struct sockaddr *)&waiting->remote, &remote) == 0;
}

static uint16_t port_of(const struct sockaddr_storage *address)
{
    return (address->ss_family == AF_INET6) ?
               ((const struct sockaddr_in6 *)address)->sin6_port :
               ((const struct sockaddr_in *)address)->sin_port;
}

static int is_same_host(const struct sockaddr_storage *a,
                        const struct sockaddr_storage *b)
{
    if (a->ss_family != b->ss_family) {
        return 0;
    }
    return (a->ss_family == AF_INET6) ?
               memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
                      &((const struct sockaddr_in6 *)b)->sin6_addr,
                      sizeof(struct in6_addr)) == 0 :
               ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
                   ((const struct sockaddr_in *)b)->sin_addr.s_addr;
}

/* Returns whether the socket may connect the port with the peer: it is
 * connected to the peer's address, or was accepted from the peer's host. */
static int is_of_peer(const ugni_port_t *port, const ugni_peer_t *peer,
                      const waiting_t *waiting)
{
    struct sockaddr_storage own = {0}, other = {0};

    memcpy(&own, port->name, sizeof(port->name));
    memcpy(&other, peer->name, sizeof(peer->name));
    return is_same_host(&other, &waiting->remote) &&
           ((port_of(&other) == port_of(&waiting->remote)) ||
            (port_of(&own) == port_of(&waiting->local)));
}

/* Records that the peers of a waiting socket are silent. The time counts from
 * the first sweep that finds the socket waiting, not from the last
 * acknowledgement, because the connection may have been idle before. */
static void note(ugni_port_t *port, const waiting_t *waiting, double now)
{
    ugni_peer_t *peer;

    for (peer = port->peers; peer != NULL; peer = peer->next) {
        if (is_of_peer(port, peer, waiting)) {
            if ((peer->silent_since == 0) ||
                (waiting->quiet < now - peer->silent_since)) {
                peer->silent_since = now;
            }
            peer->is_silent = 1;
        }
    }
}

static void look_up(ugni_port_t *port, double now)
{
    DIR *dir = opendir("/proc/self/fd");
    const struct dirent *entry;
    waiting_t waiting;

    if (dir == NULL) {
        return;
    }
    while ((entry = readdir(dir)) != NULL) {
        if ((entry->d_name[0] != '.') &&
            is_waiting(atoi(entry->d_name), &waiting)) {
            note(port, &waiting, now);
        }
    }
    closedir(dir);
}

int ugni_port_sweep(ugni_port_t *port, double timeout, double now)
{
    int any = 0;
    ugni_peer_t *peer;

    if (!is_ip(port)) {
        return 0;
    }
    if (now - port->swept < SWEEP_INTERVAL) {
        return port->is_waiting;
    }
    port->swept = now;
    for (peer = port->peers; peer != NULL; peer = peer->next) {
        peer->is_silent = 0;
    }
    look_up(port, now);
    for (peer = port->peers; peer != NULL; peer = peer->next) {
        if (!peer->is_silent) {
            peer->silent_since = 0;
        } else if (now - peer->silent_since >= timeout) {
            peer->silent_since = 0;
            ugni_port_lost(port, peer->fi_addr, UCS_ERR_ENDPOINT_TIMEOUT);
        } else {
            any = 1;
        }
    }
    port->is_waiting = any;
    return any;
}
