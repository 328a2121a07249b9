/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses, reachability, and whether a peer process on this host still
 * runs. */
#include "iface.h"

#include <endian.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ucx/process.h>

static uint64_t hash(uint64_t value, const void *data, size_t length)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < length; ++i) {
        value = (value ^ bytes[i]) * 0x100000001b3ull;
    }
    return value;
}

/* Returns an id of the kernel and the namespace at `path` of /proc. */
static uint64_t namespace_id(const ucx_host_t *host, const char *path)
{
    uint64_t guid = host->machine_guid();
    struct stat st;

    if (stat(path, &st) == 0) {
        guid = hash(guid, &st.st_ino, sizeof(st.st_ino));
    }
    return guid | 1; /* Never 0 */
}

/* Returns the start time of a process; 0 if it has exited or is a zombie, 1 if
 * unknown. */
static uint64_t start_time(uint32_t pid)
{
    int known;
    uint64_t start = ucx_process_start_time(pid, &known);

    if (!known) {
        return ((kill((pid_t)pid, 0) != 0) && (errno == ESRCH)) ? 0 : 1;
    }
    return (start == 0) ? 0 : start + 2;
}

void ugni_peer_self(const ucx_host_t *host, ugni_wire_addr_t *addr)
{
    addr->pid   = (uint32_t)getpid();
    addr->start = start_time(addr->pid);
    addr->space = namespace_id(host, "/proc/self/ns/pid");
}

int ugni_process_is_gone(uint32_t pid, uint64_t start)
{
    uint64_t now = start_time(pid);

    return (now == 0) || ((now > 1) && (start > 1) && (now != start));
}

int ugni_peer_is_dead(const ugni_iface_t *iface, const ugni_wire_addr_t *peer)
{
    if ((peer->space != iface->addr.space) || (peer->pid == 0) ||
        (peer->pid > INT32_MAX)) {
        return 0; /* The peer is on another host or in another PID namespace, or
                   * has sent no valid process id: the provider or a timeout
                   * reports its loss */
    }
    return ugni_process_is_gone(peer->pid, peer->start);
}

void ugni_device_address(ugni_iface_t *iface)
{
    const struct fi_info *info = iface->port->info;
    const char *provider       = info->fabric_attr->prov_name;
    const char *fabric         = info->fabric_attr->name;
    uint64_t value             = 0xcbf29ce484222325ull;

    value                = hash(value, provider, strlen(provider) + 1);
    value                = hash(value, fabric, strlen(fabric));
    iface->device.fabric = htole64(value);
    /* These fabrics exist separately on each host, with the same name: peers on
     * other hosts are not reachable. */
    if ((strcmp(provider, "shm") == 0) || (strncmp(fabric, "127.", 4) == 0) ||
        (strncmp(fabric, "::1/", 4) == 0) ||
        (strncmp(fabric, "fe80:", 5) == 0)) {
        iface->device.host = htole64(
            namespace_id(iface->host, "/proc/self/ns/net"));
    }
}

int ugni_is_reachable(uct_iface_h uct_iface, const ucx_reachable_args_t *args)
{
    const ugni_iface_t *iface = (ugni_iface_t *)uct_iface;
    const char *why           = NULL;
    ugni_wire_device_t device;

    if ((args->dev_addr == NULL) || (args->dev_addr_length < sizeof(device))) {
        why = "the device address is not one of ugni";
    } else {
        memcpy(&device, args->dev_addr, sizeof(device));
        if (device.fabric != iface->device.fabric) {
            why = "another provider or another fabric";
        } else if (device.host != iface->device.host) {
            why = "the fabric is limited to one host, the peer is on another";
        } else if ((args->iface_addr != NULL) &&
                   (args->iface_addr_length <
                    sizeof(ugni_wire_addr_t) + iface->port->name_length)) {
            why = "the interface address is too short";
        }
    }
    if ((why != NULL) && (args->reason != NULL) && (args->reason_size > 0)) {
        snprintf(args->reason, args->reason_size, "%s", why);
    }
    return why == NULL;
}
