/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that identify memory and network devices of this host. */
#ifndef UCS_SYS_TOPO_DEF_H
#define UCS_SYS_TOPO_DEF_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/** @addtogroup UCS_RESOURCE
 *  @{ */

/** Index of a system device in this process. */
typedef uint8_t ucs_sys_device_t;

/** Maximum number of devices, and the value for an unknown device. */
#define UCS_SYS_DEVICE_ID_MAX     UINT8_MAX
#define UCS_SYS_DEVICE_ID_UNKNOWN UINT8_MAX

/** Size of a PCI address as text, including the terminating zero. */
#define UCS_SYS_BDF_NAME_MAX 16

/** PCI address of a device. */
typedef struct ucs_sys_bus_id {
    uint16_t domain;  /**< PCI domain */
    uint8_t bus;      /**< bus */
    uint8_t slot;     /**< device on the bus */
    uint8_t function; /**< function of the device */
} ucs_sys_bus_id_t;

/** @} */

END_C_DECLS

#endif
