/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Devices of this host and the distances between them, to select the nearest.
 * Any thread may call these functions.
 */
#ifndef UCS_TOPO_H
#define UCS_TOPO_H

#include <ucs/sys/topo_def.h>
#include <ucs/type/cpu_set.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

#define UCS_SYS_BUS_ID_STRING_LEN 16

/* Cost of the path between two devices. */
typedef struct ucs_sys_dev_distance {
    double latency;   /* seconds to add */
    double bandwidth; /* maximum, bytes per second */
} ucs_sys_dev_distance_t;

/* The distance of devices whose place is unknown: no latency, unlimited
 * bandwidth. */
extern const ucs_sys_dev_distance_t ucs_sys_dev_distance_default;

/** Returns the number of the device at a bus id. The first call assigns it. */
ucs_status_t ucs_topo_find_device_by_bus_id(const ucs_sys_bus_id_t *bus_id,
                                            ucs_sys_device_t *sys_dev_p);

/** Returns the PCI device of a sysfs directory (e.g.
 *  /sys/class/net/eth0/device), or UCS_ERR_NO_DEVICE if there is none. */
ucs_status_t ucs_topo_find_device_by_sysfs(const char *path,
                                           ucs_sys_device_t *sys_dev_p);

/** Returns the distance, or the default if the place of either device is
 *  unknown. */
ucs_status_t ucs_topo_get_distance(ucs_sys_device_t device1,
                                   ucs_sys_device_t device2,
                                   ucs_sys_dev_distance_t *distance);

/** Returns the distance of a device from the CPUs on which the calling thread
 *  may run. */
ucs_status_t ucs_topo_get_distance_to_cpu(ucs_sys_device_t device,
                                          ucs_sys_dev_distance_t *distance);

/** Names a device for messages; the first name is kept. */
ucs_status_t ucs_topo_sys_device_set_name(ucs_sys_device_t sys_dev,
                                          const char *name);

/** Returns the name of a device, else its bus id, or "<unknown>". Valid as long
 *  as the library is loaded. */
const char *ucs_topo_sys_device_get_name(ucs_sys_device_t sys_dev);

ucs_status_t ucs_topo_get_device_bus_id(ucs_sys_device_t sys_dev,
                                        ucs_sys_bus_id_t *bus_id);

/** Returns the NUMA node of a device, or -1 if it is unknown. */
int ucs_topo_get_numa_node(ucs_sys_device_t sys_dev);

/** Returns the CPUs in the NUMA node of the device; if unknown, all CPUs of the
 *  process. */
void ucs_topo_get_local_cpus(ucs_sys_device_t sys_dev, ucs_cpu_set_t *cpus);

unsigned ucs_topo_num_devices(void);

/** Converts between bus ids and text such as "0000:3b:00.0". The parser also
 *  accepts text without the domain. */
const char *ucs_sys_bus_id_str(const ucs_sys_bus_id_t *bus_id, char *buf,
                               size_t max);
ucs_status_t ucs_sys_bus_id_parse(const char *text, ucs_sys_bus_id_t *bus_id);

END_C_DECLS

#endif
