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

/* Unknown distance: no cost, no limit. */
extern const ucs_sys_dev_distance_t ucs_sys_dev_distance_default;

/** The device at a bus id, numbered at its first use. */
ucs_status_t ucs_topo_find_device_by_bus_id(const ucs_sys_bus_id_t *bus_id,
                                            ucs_sys_device_t *sys_dev_p);

/** The PCI device of a sysfs directory (e.g. /sys/class/net/eth0/device);
 *  UCS_ERR_NO_DEVICE if there is none. */
ucs_status_t ucs_topo_find_device_by_sysfs(const char *path,
                                           ucs_sys_device_t *sys_dev_p);

/** The PCI device of a network interface; UCS_ERR_NO_DEVICE for virtual
 *  ones. */
ucs_status_t ucs_topo_find_device_by_netif(const char *ifname,
                                           ucs_sys_device_t *sys_dev_p);

/** Distance; the default if either is unknown. */
ucs_status_t ucs_topo_get_distance(ucs_sys_device_t device1,
                                   ucs_sys_device_t device2,
                                   ucs_sys_dev_distance_t *distance);

/** Distance from the CPUs on which the calling thread may run. */
ucs_status_t ucs_topo_get_distance_to_cpu(ucs_sys_device_t device,
                                          ucs_sys_dev_distance_t *distance);

/** Names a device for messages; the first name is kept. */
ucs_status_t ucs_topo_sys_device_set_name(ucs_sys_device_t sys_dev,
                                          const char *name);

/** Its name, or bus id, or "<unknown>". Valid as long as the library is
 *  loaded. */
const char *ucs_topo_sys_device_get_name(ucs_sys_device_t sys_dev);

ucs_status_t ucs_topo_get_device_bus_id(ucs_sys_device_t sys_dev,
                                        ucs_sys_bus_id_t *bus_id);

/** NUMA node, or -1. */
int ucs_topo_get_numa_node(ucs_sys_device_t sys_dev);

/** CPUs near the device; if unknown, all of the process. */
void ucs_topo_get_local_cpus(ucs_sys_device_t sys_dev, ucs_cpu_set_t *cpus);

unsigned ucs_topo_num_devices(void);

/** "0000:3b:00.0", both directions; the parser accepts it without the
 *  domain. */
const char *ucs_sys_bus_id_str(const ucs_sys_bus_id_t *bus_id, char *buf,
                               size_t max);
ucs_status_t ucs_sys_bus_id_parse(const char *text, ucs_sys_bus_id_t *bus_id);

END_C_DECLS

#endif
