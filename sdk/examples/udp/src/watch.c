/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Detects that the device has lost its address: the kernel reports changes of
 * addresses by a netlink socket, which the core's service thread monitors. The
 * handler on that thread may run at the same time as sends and progress of the
 * user. Therefore it does not access their state, and passes the work to the
 * next progress.
 */
#include "udp.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

/* Fails all endpoints; called by progress. The socket of the interface is bound
 * to an address that the host has lost, so that no peer can be reached.
 * Timeouts would show the same failure, but later. */
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

/* Removes the reports from the socket and then queries the address of the
 * device. The contents of the reports are not used, because reports may be
 * lost, and they concern all devices. */
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

/* Stops monitoring. Removes the handler first, and then the call of fail_all()
 * that the handler may have queued for progress. In the reverse order, the
 * handler could queue the call again. */
void udp_watch_stop(udp_iface_t *iface)
{
    iface->host->async_remove(iface->watch);
    iface->host->progress_cancel(iface->super.worker, fail_all, iface);
    close(iface->netlink);
}
