/* SPDX-License-Identifier: BSD-3-Clause */
/* The network devices of the kernel, their IPv4 addresses, and the peers that
 * an interface on such a device can reach. */
#include "udp.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

udp_scope_t udp_scope(const ucx_host_t *host)
{
    udp_scope_t scope = {.machine = host->machine_guid()};
    struct stat st;

    if (stat("/proc/self/ns/net", &st) == 0) {
        scope.network = st.st_ino;
    }
    return scope;
}

static int is_device(const struct ifaddrs *entry)
{
    return (entry->ifa_addr != NULL) &&
           (entry->ifa_addr->sa_family == AF_INET) &&
           (entry->ifa_flags & IFF_UP) &&
           (strlen(entry->ifa_name) < UCT_DEVICE_NAME_MAX);
}

/* Returns whether the device is in the list. A device with several addresses is
 * listed once. */
static int is_listed(const ucx_device_desc_t *devices, unsigned count,
                     const char *name)
{
    while (count > 0) {
        if (!strcmp(devices[--count].name, name)) {
            return 1;
        }
    }
    return 0;
}

ucs_status_t udp_query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                               unsigned *num_p)
{
    struct ifaddrs *list, *entry;
    ucx_device_desc_t *devices;
    unsigned count = 0;

    (void)md;
    if (getifaddrs(&list) != 0) {
        return UCS_ERR_IO_ERROR;
    }
    for (entry = list; entry != NULL; entry = entry->ifa_next) {
        ++count;
    }
    devices = calloc(count + 1, sizeof(*devices));
    count   = 0;
    for (entry = list; (devices != NULL) && (entry != NULL);
         entry = entry->ifa_next) {
        if (is_device(entry) && !is_listed(devices, count, entry->ifa_name)) {
            strcpy(devices[count].name, entry->ifa_name);
            devices[count].type      = UCT_DEVICE_TYPE_NET;
            devices[count++].sys_dev = UCS_SYS_DEVICE_ID_UNKNOWN;
        }
    }
    freeifaddrs(list);
    *devices_p = devices;
    *num_p     = count;
    return (devices == NULL) ? UCS_ERR_NO_MEMORY : UCS_OK;
}

int udp_find_address(const char *name, uint32_t *ip_p)
{
    struct ifaddrs *list, *entry;
    int found = 0;

    if (getifaddrs(&list) != 0) {
        return 0;
    }
    for (entry = list; !found && (entry != NULL); entry = entry->ifa_next) {
        if (is_device(entry) && !strcmp(entry->ifa_name, name)) {
            *ip_p = ((struct sockaddr_in *)(void *)entry->ifa_addr)
                        ->sin_addr.s_addr;
            found = 1;
        }
    }
    freeifaddrs(list);
    return found;
}

static int is_loopback(uint32_t ip)
{
    return (ntohl(ip) >> 24) == IN_LOOPBACKNET;
}

int udp_is_reachable(uct_iface_h super, const ucx_reachable_args_t *args)
{
    const udp_iface_t *iface = (udp_iface_t *)super;
    udp_dev_addr_t dev;
    udp_iface_addr_t addr;

    if ((args->dev_addr == NULL) || (args->dev_addr_length != sizeof(dev)) ||
        ((args->iface_addr != NULL) &&
         (args->iface_addr_length != sizeof(addr)))) {
        return 0;
    }
    memcpy(&dev, args->dev_addr, sizeof(dev));
    if (args->iface_addr != NULL) {
        memcpy(&addr, args->iface_addr, sizeof(addr));
        if (addr.port == 0) {
            return 0;
        }
    }
    if (is_loopback(iface->dev.ip)) {
        return is_loopback(dev.ip) &&
               (memcmp(&dev.scope, &iface->dev.scope, sizeof(dev.scope)) == 0);
    }
    return (dev.ip != INADDR_ANY) && !is_loopback(dev.ip) &&
           (ntohl(dev.ip) < 0xe0000000u); /* Neither multicast nor broadcast */
}
