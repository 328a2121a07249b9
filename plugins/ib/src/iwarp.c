/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the IP address of an iWARP port: the first address of the host that
 * librdmacm binds to the port. */
#include "iwarp.h"

#ifdef IB_HAVE_RDMACM
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <string.h>

static int is_of_port(struct rdma_event_channel *channel,
                      struct sockaddr *address, struct ibv_context *context,
                      uint8_t port)
{
    struct rdma_cm_id *id;
    int found;

    if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) != 0) {
        return 0;
    }
    found = (rdma_bind_addr(id, address) == 0) && (id->verbs != NULL) &&
            (id->port_num == port) &&
            (strcmp(ibv_get_device_name(id->verbs->device),
                    ibv_get_device_name(context->device)) == 0);
    rdma_destroy_id(id);
    return found;
}

/* Converts an IP address. Returns 0 if it is none, or a link-local one. */
static int to_gid(const struct sockaddr *address, union ibv_gid *gid)
{
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
    const struct sockaddr_in *in   = (const struct sockaddr_in *)address;

    memset(gid, 0, sizeof(*gid));
    if (address->sa_family == AF_INET) {
        memset(gid->raw + 10, 0xff, 2);
        memcpy(gid->raw + 12, &in->sin_addr, 4);
        return 1;
    }
    if (address->sa_family != AF_INET6) {
        return 0;
    }
    memcpy(gid->raw, &in6->sin6_addr, sizeof(gid->raw));
    return !IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr);
}

ucs_status_t ib_iwarp_address(const ucx_host_t *host,
                              struct ibv_context *context, uint8_t port,
                              union ibv_gid *gid)
{
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct ifaddrs *list               = NULL, *entry;
    ucs_status_t status                = UCS_ERR_NO_DEVICE;

    if ((channel != NULL) && (getifaddrs(&list) == 0)) {
        for (entry = list; (entry != NULL) && (status != UCS_OK);
             entry = entry->ifa_next) {
            if ((entry->ifa_addr != NULL) && (entry->ifa_flags & IFF_UP) &&
                to_gid(entry->ifa_addr, gid) &&
                is_of_port(channel, entry->ifa_addr, context, port)) {
                status = UCS_OK;
            }
        }
        freeifaddrs(list);
    }
    if (channel != NULL) {
        rdma_destroy_event_channel(channel);
    }
    if (status != UCS_OK) {
        ucx_diag("%s:%u: its network interface has no IP address, which iWARP "
                 "needs",
                 ibv_get_device_name(context->device), port);
    }
    return status;
}

#else

ucs_status_t ib_iwarp_address(const ucx_host_t *host,
                              struct ibv_context *context, uint8_t port,
                              union ibv_gid *gid)
{
    ucx_diag("%s: an iWARP device needs librdmacm, without which this plugin "
             "was built",
             ibv_get_device_name(context->device));
    return UCS_ERR_NO_DEVICE;
}
#endif
