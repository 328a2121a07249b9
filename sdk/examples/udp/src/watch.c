/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The asynchronous descriptor: the kernel reports changes of addresses by a
 * netlink socket, which the host's service thread monitors. The handler may run
 * at the same time as sends and progress. Therefore it does not access their
 * state, and passes the work to the next progress.
 */
#include "udp.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

/* Fails all endpoints; runs in progress. The socket is bound to an address that
 * the host has lost, and waiting for timeouts would only delay the failure. */
static void fail_all(void *arg)
{
    udp_iface_t *iface = arg;
    udp_stream_t *stream;
    UCX_EXCLUDE_SERVICE(&iface->guard);

    iface->is_lost = 1;
    for (stream = iface->streams; stream != NULL; stream = stream->next) {
        if (stream->status == UCS_OK) {
            udp_stream_fail(stream, UCS_ERR_UNREACHABLE);
        }
    }
}

/* Reads the reports, and queries the address itself: reports may be lost, and
 * they concern all devices. */
static void on_report(int fd, int events, void *arg)
{
    udp_iface_t *iface = arg;
    char report[4096];
    uint32_t ip;

    (void)events;
    while (recv(fd, report, sizeof(report), MSG_DONTWAIT) > 0) {
    }
    if (udp_find_address(iface->dev_name, &ip) && (ip == iface->dev.ip)) {
        return;
    }
    if (iface->host->progress_oneshot(iface->super.worker, fail_all, iface) !=
        UCS_OK) {
        return; /* Out of memory: the endpoints fail by their timeouts */
    }
}

ucs_status_t udp_watch_start(udp_iface_t *iface)
{
    struct sockaddr_nl groups = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_IPV4_IFADDR,
    };
    ucs_status_t status = UCS_ERR_IO_ERROR;

    iface->netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
                            NETLINK_ROUTE);
    if (iface->netlink < 0) {
        return status;
    }
    if (bind(iface->netlink, (struct sockaddr *)&groups, sizeof(groups)) == 0) {
        status = iface->host->async_add_fd(iface->super.worker, iface->netlink,
                                           UCS_EVENT_SET_EVREAD, on_report,
                                           iface, &iface->watch);
    }
    if (status != UCS_OK) {
        close(iface->netlink);
    }
    return status;
}

/* Stops monitoring. The handler is removed before its queued call, because it
 * may queue the call again. */
void udp_watch_stop(udp_iface_t *iface)
{
    iface->host->async_remove(iface->watch);
    iface->host->progress_cancel(iface->super.worker, fail_all, iface);
    close(iface->netlink);
}
