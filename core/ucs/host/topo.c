/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers for PCI devices, and estimates of the distance between two devices,
 * or from a device to the calling thread. The distance of two devices depends
 * on whether they are in the same NUMA node, below the same PCI root complex,
 * and below the same port of it.
 */
#include "ucs/host/topo.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ucs/datastruct/hash.h"
#include "ucs/sys/sys.h"

#define TOPO_PCI_ROOT "/sys/bus/pci/devices/"

typedef struct {
    ucs_sys_bus_id_t bus_id;
    int is_placed; /* numa_node and path were determined, at the first use of
                    * the device */
    int numa_node; /* -1: unknown */
    char *path;    /* real path in /sys/devices; NULL: unknown */
    char *name; /* for messages, by ucs_topo_sys_device_set_name(), or NULL */
    char bus_str[UCS_SYS_BUS_ID_STRING_LEN]; /* bus_id as text */
} topo_device_t;

/* Distances (s, bytes/s), with typical figures of current PCI hosts: the same
 * device; below the same PCI port; below the same root complex; in another NUMA
 * node or below another root complex. */
static const ucs_sys_dev_distance_t distance_same   = {0, INFINITY};
static const ucs_sys_dev_distance_t distance_switch = {100e-9, 30e9};
static const ucs_sys_dev_distance_t distance_root   = {300e-9, 17e9};
static const ucs_sys_dev_distance_t distance_numa   = {500e-9, 10e9};

const ucs_sys_dev_distance_t ucs_sys_dev_distance_default = {0, INFINITY};

static struct {
    pthread_mutex_t lock;
    unsigned count;                               /* number of devices */
    topo_device_t devices[UCS_SYS_DEVICE_ID_MAX]; /* indexed by the number of
                                                   * the device */
    ucs_hash_t by_bus_id; /* key: bus id; value: number of the device plus 1,
                           * because values cannot be NULL */
} topo = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void UCS_F_DTOR topo_cleanup(void)
{
    unsigned i;

    for (i = 0; i < topo.count; ++i) {
        free(topo.devices[i].path);
        free(topo.devices[i].name);
    }

    topo.count = 0;
    ucs_hash_cleanup(&topo.by_bus_id);
}

static uint64_t bus_id_key(const ucs_sys_bus_id_t *bus_id)
{
    return ((uint64_t)bus_id->domain << 24) | ((uint64_t)bus_id->bus << 16) |
           ((uint64_t)bus_id->slot << 8) | bus_id->function;
}

const char *ucs_sys_bus_id_str(const ucs_sys_bus_id_t *bus_id, char *buf,
                               size_t max)
{
    snprintf(buf, max, "%04x:%02x:%02x.%x", bus_id->domain, bus_id->bus,
             bus_id->slot, bus_id->function);
    return buf;
}

ucs_status_t ucs_sys_bus_id_parse(const char *text, ucs_sys_bus_id_t *bus_id)
{
    unsigned domain = 0, bus, slot, function;
    int used        = 0;

    if (strlen(text) > 12) {
        return UCS_ERR_INVALID_PARAM;
    }

    if ((sscanf(text, "%4x:%2x:%2x.%1x%n", &domain, &bus, &slot, &function,
                &used) != 4) ||
        (text[used] != '\0')) {
        domain = 0;
        used   = 0;
        if ((sscanf(text, "%2x:%2x.%1x%n", &bus, &slot, &function, &used) !=
             3) ||
            (text[used] != '\0')) {
            return UCS_ERR_INVALID_PARAM;
        }
    }

    if ((slot > 0x1f) || (function > 7)) {
        return UCS_ERR_INVALID_PARAM;
    }

    bus_id->domain   = (uint16_t)domain;
    bus_id->bus      = (uint8_t)bus;
    bus_id->slot     = (uint8_t)slot;
    bus_id->function = (uint8_t)function;
    return UCS_OK;
}

static void topo_device_init(topo_device_t *device,
                             const ucs_sys_bus_id_t *bus_id)
{
    device->bus_id    = *bus_id;
    device->is_placed = 0;
    device->path      = NULL;
    device->name      = NULL;
    ucs_sys_bus_id_str(bus_id, device->bus_str, sizeof(device->bus_str));
}

/* Determines NUMA node and path of the device. The caller holds the lock. */
static void topo_device_place(topo_device_t *device)
{
    char path[128];
    long node;

    snprintf(path, sizeof(path), TOPO_PCI_ROOT "%s", device->bus_str);
    device->path = realpath(path, NULL);
    snprintf(path, sizeof(path), TOPO_PCI_ROOT "%s/numa_node", device->bus_str);
    device->numa_node = ((ucs_read_file_number(path, &node) == UCS_OK) &&
                         (node >= 0) && (node < INT_MAX)) ?
                            (int)node :
                            -1;
    device->is_placed = 1;
}

ucs_status_t ucs_topo_find_device_by_bus_id(const ucs_sys_bus_id_t *bus_id,
                                            ucs_sys_device_t *sys_dev_p)
{
    uint64_t key        = bus_id_key(bus_id);
    ucs_status_t status = UCS_OK;
    uintptr_t index;

    pthread_mutex_lock(&topo.lock);
    index = (uintptr_t)ucs_hash_get(&topo.by_bus_id, key);
    if (index == 0) {
        if (topo.count >= UCS_SYS_DEVICE_ID_MAX) {
            status = UCS_ERR_EXCEEDS_LIMIT;
            goto out;
        }

        index  = topo.count + 1;
        status = ucs_hash_put(&topo.by_bus_id, key, (void *)index);
        if (status != UCS_OK) {
            goto out;
        }

        topo_device_init(&topo.devices[topo.count++], bus_id);
    }

    *sys_dev_p = (ucs_sys_device_t)(index - 1);

out:
    pthread_mutex_unlock(&topo.lock);
    return status;
}

/* Resolves the links of a path. /proc returns the resolved path of an open
 * directory, which is cheaper than realpath(); without /proc, realpath() is
 * used. Returns 0 if the path cannot be resolved. */
static int real_path(const char *path, char *real, size_t max)
{
    char link[32];
    ssize_t length = -1;
    int fd;

    fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    length = readlink(link, real, max - 1);
    close(fd);
    if (length < 0) {
        return realpath(path, real) != NULL;
    }

    real[length] = '\0';
    return 1;
}

ucs_status_t ucs_topo_find_device_by_sysfs(const char *path,
                                           ucs_sys_device_t *sys_dev_p)
{
    ucs_status_t status = UCS_ERR_NO_DEVICE;
    ucs_sys_bus_id_t bus_id;
    char real[PATH_MAX], *slash;

    if (!real_path(path, real, sizeof(real))) {
        return UCS_ERR_NO_DEVICE;
    }

    /* search the innermost directory whose name is a bus id; names of bus ids
     * in sysfs have 12 characters */
    while ((slash = strrchr(real, '/')) != NULL) {
        if ((strlen(slash + 1) == 12) &&
            (ucs_sys_bus_id_parse(slash + 1, &bus_id) == UCS_OK)) {
            status = ucs_topo_find_device_by_bus_id(&bus_id, sys_dev_p);
            break;
        }
        *slash = '\0';
    }

    return status;
}

/* Returns the device with this number, or NULL, after its location was
 * determined. From then on only its name changes, and devices are never
 * removed, so the caller may use the pointer without the lock. */
static topo_device_t *topo_get(ucs_sys_device_t sys_dev)
{
    topo_device_t *device;

    pthread_mutex_lock(&topo.lock);
    device = (sys_dev < topo.count) ? &topo.devices[sys_dev] : NULL;
    if ((device != NULL) && !device->is_placed) {
        topo_device_place(device);
    }
    pthread_mutex_unlock(&topo.lock);
    return device;
}

/* Returns the number of leading components that two paths have in common. The
 * empty component before the first slash counts. */
static unsigned common_depth(const char *a, const char *b)
{
    unsigned depth = 0;

    while ((*a != '\0') && (*a == *b)) {
        depth += (*a == '/');
        ++a;
        ++b;
    }

    /* both paths are equal up to the end of this component: count it */
    if (((*a == '\0') || (*a == '/')) && ((*b == '\0') || (*b == '/'))) {
        ++depth;
    }

    return depth;
}

ucs_status_t ucs_topo_get_distance(ucs_sys_device_t device1,
                                   ucs_sys_device_t device2,
                                   ucs_sys_dev_distance_t *distance)
{
    const topo_device_t *a, *b;

    *distance = ucs_sys_dev_distance_default;
    if ((device1 == UCS_SYS_DEVICE_ID_UNKNOWN) ||
        (device2 == UCS_SYS_DEVICE_ID_UNKNOWN)) {
        return UCS_OK;
    }

    a = topo_get(device1);
    b = topo_get(device2);
    if ((a == NULL) || (b == NULL)) {
        return UCS_ERR_NO_DEVICE;
    }

    if (a == b) {
        *distance = distance_same;
    } else if ((a->numa_node >= 0) && (b->numa_node >= 0) &&
               (a->numa_node != b->numa_node)) {
        *distance = distance_numa;
    } else if ((a->path != NULL) && (b->path != NULL)) {
        /* Paths are "/sys/devices/pci0000:00/<port>/...". Four common
         * components (see common_depth) mean the same root complex. Five mean
         * the same port: the devices are functions of one card, or below one
         * switch. */
        switch (common_depth(a->path, b->path)) {
        case 0:
        case 1:
        case 2:
        case 3:
            *distance = distance_numa;
            break;
        case 4:
            *distance = distance_root;
            break;
        default:
            *distance = distance_switch;
            break;
        }
    }

    return UCS_OK;
}

void ucs_topo_get_local_cpus(ucs_sys_device_t sys_dev, ucs_cpu_set_t *cpus)
{
    const topo_device_t *device = topo_get(sys_dev);
    char path[128], text[4096], *p, *end;
    unsigned long first, last;
    cpu_set_t allowed;
    int cpu;

    UCS_CPU_ZERO(cpus);
    if (device != NULL) {
        snprintf(path, sizeof(path), TOPO_PCI_ROOT "%s/local_cpulist",
                 device->bus_str);
        if (ucs_read_file_line(path, text, sizeof(text)) == UCS_OK) {
            /* Parses a list of processors: "0-3,8". */
            for (p = text; (*p >= '0') && (*p <= '9');
                 p = end + (*end == ',')) {
                first = last = strtoul(p, &end, 10);
                if (*end == '-') {
                    last = strtoul(end + 1, &end, 10);
                }
                for (; (first <= last) && (first < UCS_CPU_SETSIZE); ++first) {
                    UCS_CPU_SET(first, cpus);
                }
            }
            if (p != text) {
                return;
            }
        }
    }

    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
        for (cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
            if (CPU_ISSET(cpu, &allowed)) {
                UCS_CPU_SET(cpu, cpus);
            }
        }
    }
}

ucs_status_t ucs_topo_get_distance_to_cpu(ucs_sys_device_t device,
                                          ucs_sys_dev_distance_t *distance)
{
    ucs_cpu_set_t local;
    cpu_set_t allowed;
    int cpu;

    *distance = ucs_sys_dev_distance_default;
    if (device == UCS_SYS_DEVICE_ID_UNKNOWN) {
        return UCS_OK;
    } else if (topo_get(device) == NULL) {
        return UCS_ERR_NO_DEVICE;
    }

    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
        return UCS_OK;
    }

    ucs_topo_get_local_cpus(device, &local);
    for (cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &allowed) && ucs_cpu_is_set(cpu, &local)) {
            return UCS_OK;
        }
    }

    *distance = distance_numa;
    return UCS_OK;
}

ucs_status_t ucs_topo_sys_device_set_name(ucs_sys_device_t sys_dev,
                                          const char *name)
{
    topo_device_t *device = topo_get(sys_dev);
    ucs_status_t status   = UCS_OK;

    if (device == NULL) {
        return UCS_ERR_NO_DEVICE;
    }

    pthread_mutex_lock(&topo.lock);
    if (device->name == NULL) {
        device->name = strdup(name);
        status       = (device->name == NULL) ? UCS_ERR_NO_MEMORY : UCS_OK;
    }
    pthread_mutex_unlock(&topo.lock);
    return status;
}

const char *ucs_topo_sys_device_get_name(ucs_sys_device_t sys_dev)
{
    topo_device_t *device = topo_get(sys_dev);
    const char *name;

    if (device == NULL) {
        return "<unknown>";
    }

    pthread_mutex_lock(&topo.lock);
    name = device->name;
    pthread_mutex_unlock(&topo.lock);
    return (name == NULL) ? device->bus_str : name;
}

ucs_status_t ucs_topo_get_device_bus_id(ucs_sys_device_t sys_dev,
                                        ucs_sys_bus_id_t *bus_id)
{
    topo_device_t *device = topo_get(sys_dev);

    if (device == NULL) {
        return UCS_ERR_NO_DEVICE;
    }

    *bus_id = device->bus_id;
    return UCS_OK;
}

int ucs_topo_get_numa_node(ucs_sys_device_t sys_dev)
{
    topo_device_t *device = topo_get(sys_dev);

    return (device == NULL) ? -1 : device->numa_node;
}

unsigned ucs_topo_num_devices(void)
{
    unsigned count;

    pthread_mutex_lock(&topo.lock);
    count = topo.count;
    pthread_mutex_unlock(&topo.lock);
    return count;
}
