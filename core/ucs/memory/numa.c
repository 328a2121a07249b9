/* SPDX-License-Identifier: BSD-3-Clause */
/* NUMA nodes of processors and devices, and distances of nodes, read from /sys.
 * The number of processors is that of sysconf(). Only this number and the
 * number of nodes are cached. */
#include <ucs/memory/numa.h>

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ucs/sys/sys.h"

#define NODES_DIR "/sys/devices/system/node"
#define CPUS_DIR  "/sys/devices/system/cpu"

static unsigned num_nodes, num_cpus; /* 0: not queried yet */

/* Counts the folders "<name><number>" in `path`. Unless `first_p` is NULL,
 * *first_p receives the <number> of the first one that readdir() returns. */
static unsigned count_numbered(const char *path, const char *name, int *first_p)
{
    size_t length = strlen(name);
    const struct dirent *entry;
    unsigned count = 0;
    DIR *dir       = opendir(path);
    char *end;
    long number;

    if (dir == NULL) {
        return 0;
    }
    while ((entry = readdir(dir)) != NULL) {
        if (strncmp(entry->d_name, name, length) != 0) {
            continue;
        }
        number = strtol(entry->d_name + length, &end, 10);
        if ((end != entry->d_name + length) && (*end == '\0') &&
            (number >= 0) && (number <= SHRT_MAX)) {
            if ((first_p != NULL) && (count == 0)) {
                *first_p = (int)number;
            }
            ++count;
        }
    }
    closedir(dir);
    return count;
}

void ucs_numa_init(void)
{
    (void)ucs_numa_num_configured_nodes();
    (void)ucs_numa_num_configured_cpus();
}

void ucs_numa_cleanup(void)
{
    __atomic_store_n(&num_nodes, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&num_cpus, 0, __ATOMIC_RELAXED);
}

unsigned ucs_numa_num_configured_nodes(void)
{
    unsigned count = __atomic_load_n(&num_nodes, __ATOMIC_RELAXED);

    if (count == 0) {
        count = count_numbered(NODES_DIR, "node", NULL);
        count = (count == 0) ? 1 : count;
        __atomic_store_n(&num_nodes, count, __ATOMIC_RELAXED);
    }
    return count;
}

unsigned ucs_numa_num_configured_cpus(void)
{
    unsigned count = __atomic_load_n(&num_cpus, __ATOMIC_RELAXED);
    long told;

    if (count == 0) {
        told  = sysconf(_SC_NPROCESSORS_CONF);
        count = (told < 1) ? 1 : (unsigned)told;
        __atomic_store_n(&num_cpus, count, __ATOMIC_RELAXED);
    }
    return count;
}

ucs_numa_node_t ucs_numa_node_of_cpu(int cpu)
{
    int node = UCS_NUMA_NODE_DEFAULT;
    char path[64];

    snprintf(path, sizeof(path), CPUS_DIR "/cpu%d", cpu);
    (void)count_numbered(path, "node", &node);
    return (ucs_numa_node_t)node;
}

/* Reads the file "numa_node" of the folder, or of the nearest ancestor that has
 * one. */
static ucs_numa_node_t find_node(const char *folder)
{
    char path[PATH_MAX + sizeof("/numa_node")], real[PATH_MAX];
    char *slash;
    long node;

    if (realpath(folder, real) == NULL) {
        return UCS_NUMA_NODE_UNDEFINED;
    }
    while ((slash = strrchr(real, '/')) != NULL) {
        snprintf(path, sizeof(path), "%s/numa_node", real);
        if (ucs_read_file_number(path, &node) == UCS_OK) {
            return ((node >= 0) && (node <= SHRT_MAX)) ?
                       (ucs_numa_node_t)node :
                       UCS_NUMA_NODE_UNDEFINED;
        }
        *slash = '\0';
    }
    return UCS_NUMA_NODE_UNDEFINED;
}

ucs_numa_node_t ucs_numa_node_of_device(const char *dev_path)
{
    static const char *const roots[] = {"", "/sys/class/", "/sys/"};
    ucs_numa_node_t node             = UCS_NUMA_NODE_UNDEFINED;
    char path[PATH_MAX];
    unsigned i;

    for (i = 0; (i < ucs_static_array_size(roots)) &&
                (node == UCS_NUMA_NODE_UNDEFINED);
         ++i) {
        if (snprintf(path, sizeof(path), "%s%s", roots[i], dev_path) <
            (int)sizeof(path)) {
            node = find_node(path);
        }
    }
    return node;
}

static int is_online(ucs_numa_node_t node)
{
    char path[64];

    snprintf(path, sizeof(path), NODES_DIR "/node%d", node);
    return access(path, F_OK) == 0;
}

/* The file "distance" of node1 lists the distances to all online nodes, in the
 * order of their numbers. The loop counts the online nodes before node2, which
 * is the position of node2 in this list if it is online. Returns 0 if the
 * distance is unknown. */
ucs_numa_distance_t ucs_numa_distance(ucs_numa_node_t node1,
                                      ucs_numa_node_t node2)
{
    char path[64], line[4096], *word, *rest = line;
    ucs_numa_node_t node;
    int index = 0;

    if ((node1 < 0) || (node2 < 0) || !is_online(node2)) {
        return 0;
    }

    for (node = 0; node < node2; ++node) {
        index += is_online(node);
    }
    snprintf(path, sizeof(path), NODES_DIR "/node%d/distance", node1);
    if (ucs_read_file_line(path, line, sizeof(line)) != UCS_OK) {
        return 0;
    }
    while ((word = strsep(&rest, " ")) != NULL) {
        if (index-- == 0) {
            return atoi(word);
        }
    }
    return 0;
}
