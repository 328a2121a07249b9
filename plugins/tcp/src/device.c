/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds usable network devices and their properties, by getifaddrs() and sysfs.
 * Stateless.
 */
#include "device.h"
#include "sock.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes per second if sysfs has no value: 10 Gbit/s for virtual devices, and
 * about the rate of a copy through the kernel for the loopback. */
#define SPEED_VIRTUAL  1.25e9
#define SPEED_LOOPBACK 5e9

static unsigned prefix_length(const struct sockaddr *mask)
{
    const uint8_t *bytes;
    unsigned count = 0;
    size_t length;

    if (mask == NULL) {
        return 0;
    }
    if (mask->sa_family == AF_INET) {
        bytes  = (const void *)&((const struct sockaddr_in *)mask)->sin_addr;
        length = 4;
    } else {
        bytes  = (const void *)&((const struct sockaddr_in6 *)mask)->sin6_addr;
        length = 16;
    }
    for (size_t i = 0; i < length; ++i) {
        count += (unsigned)__builtin_popcount(bytes[i]);
    }
    return count;
}

/* Returns the position of the family in the list, where 0 is the most preferred
 * one; -1: the family is not used. */
static int family_rank(const tcp_af_prio_t *prio, int family)
{
    for (int i = 0; prio->family[i] != AF_UNSPEC; ++i) {
        if (prio->family[i] == family) {
            return i;
        }
    }
    return -1;
}

/* Returns whether the device is up, is not part of a bond, and its address can
 * be used. IPv6 link-local addresses cannot: every device has an address in the
 * same link-local network, so they do not show which peers are reachable. */
static int ifa_is_usable(const struct ifaddrs *ifa)
{
    const unsigned need = IFF_UP | IFF_RUNNING;

    if ((ifa->ifa_addr == NULL) || ((ifa->ifa_flags & need) != need) ||
        (ifa->ifa_flags & IFF_SLAVE)) {
        return 0;
    }
    if (ifa->ifa_addr->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const void *)ifa->ifa_addr;

        return !IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr) &&
               !IN6_IS_ADDR_MULTICAST(&in6->sin6_addr);
    }
    return ifa->ifa_addr->sa_family == AF_INET;
}

static tcp_device_t *device_find(tcp_device_t *list, unsigned num,
                                 const char *name)
{
    for (unsigned i = 0; i < num; ++i) {
        if (strcmp(list[i].name, name) == 0) {
            return &list[i];
        }
    }
    return NULL;
}

/* Adds the device of `ifa` to the list with this address. If the device is in
 * the list already, its address is replaced if the new one is of a more
 * preferred family. Returns the new number of devices. */
static unsigned device_add(tcp_device_t *list, unsigned num,
                           const struct ifaddrs *ifa, const tcp_af_prio_t *prio)
{
    int rank = family_rank(prio, ifa->ifa_addr->sa_family);
    tcp_device_t *device;

    if ((rank < 0) || (strlen(ifa->ifa_name) >= sizeof(device->name))) {
        return num;
    }

    device = device_find(list, num, ifa->ifa_name);
    if (device == NULL) {
        device = &list[num++];
    } else if (family_rank(prio, device->addr.sa.sa_family) <= rank) {
        return num;
    }

    memset(device, 0, sizeof(*device));
    strcpy(device->name, ifa->ifa_name);
    device->index       = if_nametoindex(ifa->ifa_name);
    device->is_loopback = !!(ifa->ifa_flags & IFF_LOOPBACK);
    device->prefix      = prefix_length(ifa->ifa_netmask);
    (void)tcp_sock_addr_copy(&device->addr, ifa->ifa_addr, 0, 0);
    tcp_sock_addr_set_port(&device->addr, 0);
    return num;
}

ucs_status_t tcp_device_list(const tcp_af_prio_t *prio, tcp_device_t **list_p,
                             unsigned *num_p)
{
    unsigned max = 0, num = 0;
    struct ifaddrs *all, *ifa;
    tcp_device_t *list;

    *list_p = NULL;
    *num_p  = 0;
    if (getifaddrs(&all) != 0) {
        return (errno == ENOMEM) ? UCS_ERR_NO_MEMORY : UCS_ERR_IO_ERROR;
    }

    for (ifa = all; ifa != NULL; ifa = ifa->ifa_next) {
        max += (unsigned)ifa_is_usable(ifa);
    }
    list = calloc(max + 1, sizeof(*list));
    if (list == NULL) {
        freeifaddrs(all);
        return UCS_ERR_NO_MEMORY;
    }
    for (ifa = all; ifa != NULL; ifa = ifa->ifa_next) {
        if (ifa_is_usable(ifa)) {
            num = device_add(list, num, ifa, prio);
        }
    }

    freeifaddrs(all);
    *list_p = list;
    *num_p  = num;
    return UCS_OK;
}

void tcp_device_by_addr(const tcp_sockaddr_t *addr, char *name, size_t size)
{
    struct ifaddrs *all, *ifa;
    tcp_sockaddr_t own;

    name[0] = '\0';
    if (getifaddrs(&all) != 0) {
        return;
    }
    for (ifa = all; ifa != NULL; ifa = ifa->ifa_next) {
        if ((ifa->ifa_addr != NULL) &&
            (tcp_sock_addr_copy(&own, ifa->ifa_addr, 0, 0) == UCS_OK) &&
            tcp_sock_addr_same_ip(&own, addr)) {
            snprintf(name, size, "%s", ifa->ifa_name);
            break;
        }
    }
    /* Any address of 127.0.0.0/8 belongs to the loopback device. */
    if ((ifa == NULL) && tcp_sock_addr_is_loopback(addr)) {
        snprintf(name, size, "lo");
    }
    freeifaddrs(all);
}

/* Reads a number from a file in /sys/class/net/NAME/, or returns -1. */
static long sysfs_number(const char *name, const char *file)
{
    char path[64 + IFNAMSIZ], text[32];
    ssize_t length;
    int fd;

    snprintf(path, sizeof(path), "/sys/class/net/%s/%s", name, file);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    length = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (length <= 0) {
        return -1;
    }
    text[length] = '\0';
    return strtol(text, NULL, 10);
}

void tcp_device_ask_speed(tcp_device_t *device)
{
    long mbits, mtu;

    mtu = sysfs_number(device->name, "mtu");
    if ((mtu < 68) || (mtu > (1 << 20))) {
        mtu = 1500;
    }
    device->mtu = (unsigned)mtu;

    if (device->is_loopback) {
        device->bandwidth = SPEED_LOOPBACK;
        return;
    }
    mbits             = sysfs_number(device->name, "speed");
    device->bandwidth = (mbits > 0) ? mbits * 1e6 / 8 : SPEED_VIRTUAL;
}

int tcp_device_on_link(const tcp_device_t *device, const tcp_sockaddr_t *addr)
{
    tcp_sockaddr_t a = device->addr, b = *addr;
    unsigned bytes = device->prefix / 8, bits = device->prefix % 8;
    const uint8_t *x, *y;
    size_t length;

    if ((a.sa.sa_family != b.sa.sa_family) || (device->prefix == 0)) {
        return 0;
    }
    x = tcp_sock_addr_ip(&a, &length);
    y = tcp_sock_addr_ip(&b, &length);
    if ((bytes > length) || (memcmp(x, y, bytes) != 0)) {
        return 0;
    }
    return (bits == 0) || (((x[bytes] ^ y[bytes]) >> (8 - bits)) == 0);
}
