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

/** Number of a NUMA node. */
typedef int16_t ucs_numa_node_t;

/** Cost of access between nodes; a node to itself is 10. */
typedef int ucs_numa_distance_t;

/** Number of the node on hosts with only one node, and the value if there is no
 *  node. */
#define UCS_NUMA_NODE_DEFAULT   0
#define UCS_NUMA_NODE_UNDEFINED (-1)

/** From which nodes memory is allocated, if a node is requested. */
typedef enum {
    UCS_NUMA_POLICY_DEFAULT,   /**< According to the policy of the process */
    UCS_NUMA_POLICY_PREFERRED, /**< From the requested node; from other nodes if
                                *   it is full */
    UCS_NUMA_POLICY_BIND,      /**< From the requested node only */
    UCS_NUMA_POLICY_LAST,
} ucs_numa_policy_t;

/** Names of the policies, indexed by policy, terminated by NULL. */
extern const char *ucs_numa_policy_names[];

/** Queries the system. The other functions call it if necessary. */
void ucs_numa_init(void);

/** Discards the results of ucs_numa_init(), so that the next call queries the
 *  system again. */
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
 * Returns the node of a processor.
 *
 * @return The node; UCS_NUMA_NODE_DEFAULT if the system does not report it
 */
ucs_numa_node_t ucs_numa_node_of_cpu(int cpu);

/**
 * Returns the node of a device.
 *
 * @param [in] dev_path  Folder of the device in sysfs, or a folder below it;
 *                       absolute, or relative to /sys/class or /sys.
 *
 * @return UCS_NUMA_NODE_UNDEFINED if the system does not report it.
 */
ucs_numa_node_t ucs_numa_node_of_device(const char *dev_path);

/**
 * Returns the distance between two nodes according to the firmware. The
 * distance of a node to itself is 10.
 *
 * @return The distance; 0 if the system does not report it
 */
ucs_numa_distance_t ucs_numa_distance(ucs_numa_node_t node1,
                                      ucs_numa_node_t node2);

/** @} */

END_C_DECLS

#endif
