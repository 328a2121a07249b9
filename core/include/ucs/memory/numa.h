/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory nodes (NUMA) of this host, as the kernel numbers them. All functions
 * may be called from any thread.
 */
#ifndef UCS_NUMA_H
#define UCS_NUMA_H

#include <stdint.h>
#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/** @addtogroup UCS_RESOURCE
 *  @{ */

/** Number of a node. */
typedef int16_t ucs_numa_node_t;

/** Cost of access between nodes; a node to itself is 10. */
typedef int ucs_numa_distance_t;

/** The node of hosts that have one only, and no node. */
#define UCS_NUMA_NODE_DEFAULT   0
#define UCS_NUMA_NODE_UNDEFINED (-1)

/** Where memory is taken from. */
typedef enum {
    UCS_NUMA_POLICY_DEFAULT,   /**< As the process is set */
    UCS_NUMA_POLICY_PREFERRED, /**< From the node, others if it is full */
    UCS_NUMA_POLICY_BIND,      /**< From the node only */
    UCS_NUMA_POLICY_LAST,
} ucs_numa_policy_t;

/** Names of the policies, by number, ended by NULL. */
extern const char *ucs_numa_policy_names[];

/** Reads what the system tells. The other functions do so by themselves. */
void ucs_numa_init(void);

/** Forgets it; the next question reads it again. */
void ucs_numa_cleanup(void);

/**
 * Counts the configured NUMA nodes.
 *
 * @return The number; at least 1
 */
unsigned ucs_numa_num_configured_nodes(void);

/**
 * Counts the configured processors.
 *
 * @return The number; at least 1
 */
unsigned ucs_numa_num_configured_cpus(void);

/**
 * The node of a processor.
 *
 * @return The node; UCS_NUMA_NODE_DEFAULT if the system does not tell
 */
ucs_numa_node_t ucs_numa_node_of_cpu(int cpu);

/**
 * The node of a device.
 *
 * @param [in] dev_path  Folder of the device in sysfs, or one below it; or the
 *                       part of it behind /sys/class or /sys.
 *
 * @return UCS_NUMA_NODE_UNDEFINED if the system does not tell.
 */
ucs_numa_node_t ucs_numa_node_of_device(const char *dev_path);

/**
 * The distance between two nodes, as in the firmware's table: 10 is the node
 * itself.
 *
 * @return The distance; 0 if the system does not tell
 */
ucs_numa_distance_t ucs_numa_distance(ucs_numa_node_t node1,
                                      ucs_numa_node_t node2);

/** @} */

END_C_DECLS

#endif
