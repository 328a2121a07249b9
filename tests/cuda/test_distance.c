/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The system device of device memory (its number in UCX's list of PCI devices),
 * and its distance to network devices. The test does not depend on the real
 * machine: it mounts a /sys of its own, which only its process sees. This /sys
 * describes the two NUMA nodes, two GPUs and three network interfaces below.
 * EMULATED_PCI contains the PCI addresses of the GPUs, for the emulated driver.
 * The numbers are PCI buses.
 *
 *   NUMA node 0, root 0000:00          node 1, root 0001:00
 *     port 01 - switch                   port 01
 *       - 03 device 0                      - 03 device 1
 *       - 04 near0
 *     port 02
 *       - 05 far0, far1
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "copier.h"
#include "suite.h"
#include "ucs/host/topo.h"

enum { SKIPPED = 77, LENGTH = 4096 };

#define ROOT_0 "/sys/devices/pci0000:00/0000:00:"
#define SWITCH ROOT_0 "01.0/0000:01:00.0/0000:02:"

/* PCI functions of the machine: the two GPUs first. */
static const struct {
    const char *name;      /* PCI address */
    const char *path;      /* Folder in /sys */
    const char *interface; /* Name of the network interface; NULL: a GPU */
    int node;              /* NUMA node */
} functions[] = {
    {"0000:03:00.0", SWITCH "00.0/0000:03:00.0", NULL, 0},
    {"0001:03:00.0", "/sys/devices/pci0001:00/0001:00:01.0/0001:03:00.0", NULL,
     1},
    {"0000:04:00.0", SWITCH "01.0/0000:04:00.0", "near0", 0},
    {"0000:05:00.0", ROOT_0 "02.0/0000:05:00.0", "far0", 0},
    {"0000:05:00.1", ROOT_0 "02.0/0000:05:00.1", "far1", 0},
};

enum { NUM_FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

/* ---------------------------------------------------------- the machine -- */

/* Ends the program with a message about `what` unless `is_true`. */
static void require(int is_true, const char *what)
{
    if (!is_true) {
        fprintf(stderr, "%s: %s\n", what, strerror(errno));
        exit(EXIT_FAILURE);
    }
}

/* Creates a folder and its parents. */
static void make_folders(const char *path)
{
    char part[256];
    char *slash = part;

    snprintf(part, sizeof(part), "%s", path);
    while ((slash = strchr(slash + 1, '/')) != NULL) {
        *slash = '\0';
        require((mkdir(part, 0755) == 0) || (errno == EEXIST), part);
        *slash = '/';
    }
    require((mkdir(part, 0755) == 0) || (errno == EEXIST), part);
}

/* Creates the files of functions[i] in /sys. */
static void make_function(int i)
{
    char path[256];
    FILE *file;

    make_folders(functions[i].path);
    snprintf(path, sizeof(path), "%s/numa_node", functions[i].path);
    file = fopen(path, "w");
    require((file != NULL) && (fprintf(file, "%d\n", functions[i].node) > 0),
            path);
    fclose(file);
    snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s", functions[i].name);
    require(symlink(functions[i].path, path) == 0, path);
    if (functions[i].interface != NULL) {
        snprintf(path, sizeof(path), "/sys/class/net/%s",
                 functions[i].interface);
        make_folders(path);
        strcat(path, "/device");
        require(symlink(functions[i].path, path) == 0, path);
    }
}

/* Mounts an empty /sys that only this process sees, and creates the files of
 * the machine in it. Ends the program as skipped if the kernel does not permit
 * a separate mount namespace. */
static void make_machine(void)
{
    int i;

    if ((unshare(CLONE_NEWNS) != 0) ||
        (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)) {
        fprintf(stderr, "skipped: no mount namespace: %s\n", strerror(errno));
        exit(SKIPPED);
    }
    require(mount("none", "/sys", "tmpfs", 0, NULL) == 0, "/sys");
    make_folders("/sys/bus/pci/devices");
    for (i = 0; i < NUM_FUNCTIONS; ++i) {
        make_function(i);
    }
    setenv("EMULATED_PCI", "0000:03:00,0001:03:00", 1);
}

/* ----------------------------------------------------------------- tests -- */

/* Returns the system device of a network interface. Network plugins find it
 * with the same function. */
static ucs_sys_device_t interface_device(const char *name)
{
    ucs_sys_device_t sys_dev;
    char path[64];

    snprintf(path, sizeof(path), "/sys/class/net/%s/device", name);
    ck_ok(ucs_topo_find_device_by_sysfs(path, &sys_dev));
    return sys_dev;
}

/* Allocates memory of the GPU with this PCI address. Returns the system device
 * that a query of the memory returns. */
static ucs_sys_device_t memory_device(const char *place)
{
    const uct_alloc_method_t method = UCT_ALLOC_METHOD_MD;
    uct_mem_alloc_params_t params   = {
          .field_mask = UCT_MEM_ALLOC_PARAM_FIELD_MEM_TYPE |
                        UCT_MEM_ALLOC_PARAM_FIELD_MDS |
                        UCT_MEM_ALLOC_PARAM_FIELD_SYS_DEVICE,
          .mem_type = DEVICE_MEMORY,
          .mds      = {.mds = &md, .count = 1},
    };
    uct_md_mem_attr_t attr = {.field_mask = UCT_MD_MEM_ATTR_FIELD_SYS_DEV};
    uct_allocated_memory_t memory;
    ucs_sys_bus_id_t bus_id;

    ck_ok(ucs_sys_bus_id_parse(place, &bus_id));
    ck_ok(ucs_topo_find_device_by_bus_id(&bus_id, &params.sys_device));
    ck_ok(uct_mem_alloc(LENGTH, &method, 1, &params, &memory));
    ck_assert_uint_eq(memory.sys_device, params.sys_device);
    ck_ok(uct_md_mem_query(md, (char *)memory.address + 100, 10, &attr));
    ck_assert_uint_eq(attr.sys_dev, params.sys_device);
    ck_ok(uct_mem_free(&memory));
    return attr.sys_dev;
}

/* Returns the distance between two system devices. Checks that it is the same
 * in both directions. */
static ucs_sys_dev_distance_t between(ucs_sys_device_t a, ucs_sys_device_t b)
{
    ucs_sys_dev_distance_t distance, back;

    ck_ok(ucs_topo_get_distance(a, b, &distance));
    ck_ok(ucs_topo_get_distance(b, a, &back));
    ck_assert(distance.latency == back.latency);
    ck_assert(distance.bandwidth == back.bandwidth);
    return distance;
}

START_TEST(the_nearest_network_device_of_memory_is_known)
{
    ucs_sys_device_t memory = memory_device(functions[0].name);
    ucs_sys_device_t remote = memory_device(functions[1].name);
    ucs_sys_dev_distance_t own, same_switch, same_root, other_node;

    own         = between(memory, memory);
    same_switch = between(memory, interface_device("near0"));
    same_root   = between(memory, interface_device("far0"));
    other_node  = between(remote, interface_device("near0"));
    ck_assert(own.latency < same_switch.latency);
    ck_assert(same_switch.latency < same_root.latency);
    ck_assert(same_root.latency < other_node.latency);
    ck_assert(own.bandwidth > same_switch.bandwidth);
    ck_assert(same_switch.bandwidth > same_root.bandwidth);
    ck_assert(same_root.bandwidth > other_node.bandwidth);
}
END_TEST

START_TEST(functions_of_one_card_are_nearer_than_two_slots)
{
    ucs_sys_device_t memory = memory_device(functions[0].name);
    ucs_sys_device_t card   = interface_device("far0");

    ck_assert(between(card, interface_device("far1")).latency <
              between(card, memory).latency);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create(DEVICE_SUITE " distance");
    TCase *tcase = tcase_create(DEVICE_SUITE " distance");

    make_machine();
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, the_nearest_network_device_of_memory_is_known);
    tcase_add_test(tcase, functions_of_one_card_are_nearer_than_two_slots);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
