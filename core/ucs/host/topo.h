/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PCI devices of this host and the distances between them, so that UCP prefers
 * the devices nearest to each other. A device is known by a number
 * (ucs_sys_device_t), which is valid in this process only. Any thread may call
 * these functions.
 */
#ifndef UCS_TOPO_H
#define UCS_TOPO_H

#include <ucs/sys/topo_def.h>
#include <ucs/type/cpu_set.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

/* Size of a buffer for ucs_sys_bus_id_str(). */
#define UCS_SYS_BUS_ID_STRING_LEN 16

/* Cost of the path between two devices, an estimate. */
typedef struct ucs_sys_dev_distance {
    double latency;   /* seconds that the path adds to the latency of a
                       * transfer */
    double bandwidth; /* maximum that the path permits, bytes per second */
} ucs_sys_dev_distance_t;

/* The distance if the location of a device is unknown: latency 0 and unlimited
 * bandwidth, so that the device is not at a disadvantage. */
extern const ucs_sys_dev_distance_t ucs_sys_dev_distance_default;

/** Returns the number of the device with this bus id. The first call with a bus
 *  id assigns the next number; it does not check that the device exists. */
ucs_status_t ucs_topo_find_device_by_bus_id(const ucs_sys_bus_id_t *bus_id,
                                            ucs_sys_device_t *sys_dev_p);

/** Returns the number of the PCI device to which a sysfs directory belongs
 *  (e.g. /sys/class/net/eth0/device). UCS_ERR_NO_DEVICE if there is none. */
ucs_status_t ucs_topo_find_device_by_sysfs(const char *path,
                                           ucs_sys_device_t *sys_dev_p);

/** Returns the distance between two devices, or
 *  ucs_sys_dev_distance_default if the location of either is unknown.
 *  UCS_ERR_NO_DEVICE if a number was not assigned. */
ucs_status_t ucs_topo_get_distance(ucs_sys_device_t device1,
                                   ucs_sys_device_t device2,
                                   ucs_sys_dev_distance_t *distance);

/** Returns the distance between a device and the calling thread: the default if
 *  the thread may run on one of the device's CPUs (ucs_topo_get_local_cpus), or
 *  the device is UCS_SYS_DEVICE_ID_UNKNOWN; otherwise the distance between NUMA
 *  nodes. */
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

/** Returns the CPUs that the kernel lists as local to the device
 *  (local_cpulist in sysfs): those of its NUMA node, if it has one. Without
 *  such a list, returns the CPUs on which the calling thread may run. */
void ucs_topo_get_local_cpus(ucs_sys_device_t sys_dev, ucs_cpu_set_t *cpus);

unsigned ucs_topo_num_devices(void);

/** Convert between bus ids and text such as "0000:3b:00.0". The parser also
 *  accepts text without the domain ("3b:00.0"). */
const char *ucs_sys_bus_id_str(const ucs_sys_bus_id_t *bus_id, char *buf,
                               size_t max);
ucs_status_t ucs_sys_bus_id_parse(const char *text, ucs_sys_bus_id_t *bus_id);

END_C_DECLS

#endif
