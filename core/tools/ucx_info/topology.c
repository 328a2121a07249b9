/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx_info -T: system devices and their distances from each other and from this
 * process's processors. Queries the system, not plugins, so it also shows
 * devices that no transport uses.
 */
#include "info.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/host/topo.h"

/* Classes of devices that may send or hold message data. */
static const char *const classes[] = {"net", "infiniband", "drm"};

/* Registers every device of a class. The first name of a device is its name in
 * the output. */
static int find_class(const char *name)
{
    ucs_sys_device_t device;
    struct dirent *entry;
    char path[PATH_MAX];
    DIR *dir;

    snprintf(path, sizeof(path), "/sys/class/%s", name);
    dir = opendir(path);
    if (dir == NULL) {
        if (errno == ENOENT) {
            return INFO_OK; /* the system has no device of this class */
        }
        info_complain("%s cannot be read: %s", path, strerror(errno));
        return INFO_BAD;
    }
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        snprintf(path, sizeof(path), "/sys/class/%s/%s/device", name,
                 entry->d_name);
        if (ucs_topo_find_device_by_sysfs(path, &device) == UCS_OK) {
            ucs_topo_sys_device_set_name(device, entry->d_name);
        }
    }
    closedir(dir);
    return INFO_OK;
}

static json_t *distance_json(const ucs_sys_dev_distance_t *distance)
{
    return json_pack("{s:o, s:f}", "bytes_per_second",
                     info_json_real(distance->bandwidth), "latency_ns",
                     distance->latency * 1e9);
}

static json_t *device_json(ucs_sys_device_t device, unsigned count)
{
    json_t *distances = json_array();
    ucs_sys_dev_distance_t distance, from_cpu;
    ucs_sys_bus_id_t bus_id;
    char bus[UCS_SYS_BUS_ID_STRING_LEN] = "";
    unsigned i;

    for (i = 0; i < count; ++i) {
        ucs_topo_get_distance(device, (ucs_sys_device_t)i, &distance);
        json_array_append_new(distances, distance_json(&distance));
    }
    if (ucs_topo_get_device_bus_id(device, &bus_id) == UCS_OK) {
        ucs_sys_bus_id_str(&bus_id, bus, sizeof(bus));
    }
    ucs_topo_get_distance_to_cpu(device, &from_cpu);
    return json_pack("{s:o, s:s, s:i, s:o, s:o}", "name",
                     json_text(ucs_topo_sys_device_get_name(device)), "bus_id",
                     bus, "numa_node", ucs_topo_get_numa_node(device),
                     "from_cpu", distance_json(&from_cpu), "distances",
                     distances);
}

int info_topology_ask(info_t *info, json_t **answer_p)
{
    json_t *devices = json_array();
    int code        = INFO_OK;
    unsigned count, i;

    for (i = 0; i < ucs_static_array_size(classes); ++i) {
        if (find_class(classes[i]) != INFO_OK) {
            code = INFO_BAD;
        }
    }
    count = ucs_topo_num_devices();
    for (i = 0; i < count; ++i) {
        json_array_append_new(devices, device_json((ucs_sys_device_t)i, count));
    }
    *answer_p = json_pack("{s:o}", "devices", devices);
    return code;
}

/* Prints a cell: the estimated bandwidth of a path, or "-" if it is
 * unlimited. */
static void print_distance(const json_t *distance)
{
    const json_t *bandwidth = json_object_get(distance, "bytes_per_second");

    if (json_is_null(bandwidth)) {
        printf("  %12s", "-");
    } else {
        printf("  %12.0f", json_number_value(bandwidth) / 1e6);
    }
}

void info_topology_print(const info_t *info, const json_t *answer)
{
    const json_t *devices = json_object_get(answer, "devices");
    json_t *device, *cell;
    size_t i, j;

    printf("#\n# System topology:\n#\n");
    if (json_array_size(devices) == 0) {
        printf("# < no device has a place: virtual ones have none >\n#\n");
        return;
    }

    printf("# %-16s %-14s %4s  %12s", "MB/s", "bus", "node", "cpu");
    json_array_foreach(devices, i, device) {
        printf("  %12s", info_text(device, "name"));
    }
    printf("\n");
    json_array_foreach(devices, i, device) {
        printf("# %-16s %-14s %4d", info_text(device, "name"),
               info_text(device, "bus_id"), (int)info_int(device, "numa_node"));
        print_distance(json_object_get(device, "from_cpu"));
        json_array_foreach(json_object_get(device, "distances"), j, cell) {
            print_distance(cell);
        }
        printf("\n");
    }
    printf("#\n");
}
