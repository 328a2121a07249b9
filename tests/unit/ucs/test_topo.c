/* SPDX-License-Identifier: BSD-3-Clause */
/* Topology of devices: bus ids as text; a device is registered once and has a
 * name. The query of a distance fails for a number that no device has, except
 * UCS_SYS_DEVICE_ID_UNKNOWN. Distances of NUMA nodes. */
#include "suite.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <ucs/memory/numa.h>
#include <unistd.h>

#include "ucs/host/topo.h"

START_TEST(bus_ids_become_text_and_back)
{
    char text[UCS_SYS_BUS_ID_STRING_LEN];
    ucs_sys_bus_id_t id;

    ck_ok(ucs_sys_bus_id_parse("0001:3b:1f.7", &id));
    ck_assert_str_eq(ucs_sys_bus_id_str(&id, text, sizeof(text)),
                     "0001:3b:1f.7");
    ck_ok(ucs_sys_bus_id_parse("3b:00.1", &id));
    ck_assert_uint_eq(id.domain, 0);
    ck_assert_uint_eq(id.bus, 0x3b);
    ck_assert_int_ne(ucs_sys_bus_id_parse("", &id), UCS_OK);
    ck_assert_int_ne(ucs_sys_bus_id_parse("pci0000:00", &id), UCS_OK);
    ck_assert_int_ne(ucs_sys_bus_id_parse("0001:3b:20.0", &id), UCS_OK);
    ck_assert_int_ne(ucs_sys_bus_id_parse("0001:3b:1f.8", &id), UCS_OK);
    ck_assert_int_ne(ucs_sys_bus_id_parse("0001:3b:1f.7.", &id), UCS_OK);
}
END_TEST

START_TEST(a_device_has_one_number)
{
    ucs_sys_bus_id_t a = {0xfff0, 1, 2, 3}, b = {0xfff0, 1, 2, 4}, back;
    unsigned count = ucs_topo_num_devices();
    ucs_sys_device_t dev_a, dev_b, again;
    ucs_sys_dev_distance_t distance;
    ucs_cpu_set_t cpus;

    ck_ok(ucs_topo_find_device_by_bus_id(&a, &dev_a));
    ck_ok(ucs_topo_find_device_by_bus_id(&b, &dev_b));
    ck_ok(ucs_topo_find_device_by_bus_id(&a, &again));
    ck_assert_uint_eq(dev_a, again);
    ck_assert_uint_ne(dev_a, dev_b);
    ck_assert_uint_eq(ucs_topo_num_devices(), count + 2);
    ck_ok(ucs_topo_get_device_bus_id(dev_b, &back));
    ck_assert_uint_eq(back.domain, b.domain);
    ck_assert_uint_eq(back.bus, b.bus);
    ck_assert_uint_eq(back.slot, b.slot);
    ck_assert_uint_eq(back.function, b.function);

    ck_assert_str_eq(ucs_topo_sys_device_get_name(dev_a), "fff0:01:02.3");
    ck_ok(ucs_topo_sys_device_set_name(dev_a, "first"));
    ck_ok(ucs_topo_sys_device_set_name(dev_a, "second"));
    ck_assert_str_eq(ucs_topo_sys_device_get_name(dev_a), "first");
    ck_assert_str_eq(ucs_topo_sys_device_get_name(200), "<unknown>");

    ck_ok(ucs_topo_get_distance(dev_a, dev_a, &distance));
    ck_assert_double_eq(distance.latency, 0);
    ck_ok(ucs_topo_get_distance(dev_a, dev_b, &distance));
    ck_ok(ucs_topo_get_distance(dev_a, UCS_SYS_DEVICE_ID_UNKNOWN, &distance));
    ck_assert(isinf(distance.bandwidth));
    ck_assert_int_eq(ucs_topo_get_distance(dev_a, 200, &distance),
                     UCS_ERR_NO_DEVICE);
    ck_ok(ucs_topo_get_distance_to_cpu(dev_a, &distance));
    /* the latency of an unknown distance is 0 */
    ck_assert_double_eq(distance.latency, 0);
    ucs_topo_get_local_cpus(dev_a, &cpus);
    ck_assert_int_eq(ucs_topo_get_numa_node(dev_a), -1);
}
END_TEST

START_TEST(virtual_and_made_up_interfaces_have_none)
{
    ucs_sys_device_t dev;

    ck_assert_int_eq(ucs_topo_find_device_by_sysfs("/sys/class/net/lo/device",
                                                   &dev),
                     UCS_ERR_NO_DEVICE);
    ck_assert_int_eq(ucs_topo_find_device_by_sysfs("/nonexistent", &dev),
                     UCS_ERR_NO_DEVICE);
}
END_TEST

#define NODES "/sys/devices/system/node"

enum { CANNOT_MOUNT = 77 };

/* Enters namespaces in which this process may mount. Only root needs no
 * namespace of users; in one, the process has to state its user id. */
static int enter_namespaces(void)
{
    unsigned uid = geteuid();
    FILE *file;

    if (unshare(CLONE_NEWNS) != 0) {
        if ((unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ||
            ((file = fopen("/proc/self/uid_map", "w")) == NULL)) {
            return 0;
        }
        fprintf(file, "%u %u 1\n", uid, uid);
        if (fclose(file) != 0) {
            return 0;
        }
    }
    return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* Gives this process a /sys with the nodes 0 and 2. Node 1 is offline, so that
 * it has no folder and no column in the files. */
static int make_nodes(void)
{
    static const char *const distances[] = {"10 21", NULL, "21 10"};
    char path[64];
    FILE *file;
    int i;

    if (!enter_namespaces() || (mount("none", NODES, "tmpfs", 0, NULL) != 0)) {
        return 0;
    }
    for (i = 0; i < 3; ++i) {
        if (distances[i] == NULL) {
            continue;
        }
        snprintf(path, sizeof(path), NODES "/node%d", i);
        mkdir(path, 0755);
        snprintf(path, sizeof(path), NODES "/node%d/distance", i);
        file = fopen(path, "w");
        if (file == NULL) {
            return 0;
        }
        fprintf(file, "%s\n", distances[i]);
        fclose(file);
    }
    return 1;
}

START_TEST(an_offline_node_has_no_distance)
{
    int status;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        if (!make_nodes()) {
            _exit(CANNOT_MOUNT);
        }
        _exit((ucs_numa_distance(0, 0) == 10) &&
                      (ucs_numa_distance(0, 2) == 21) &&
                      (ucs_numa_distance(2, 0) == 21) &&
                      (ucs_numa_distance(2, 2) == 10) &&
                      (ucs_numa_distance(0, 1) == 0) &&
                      (ucs_numa_distance(1, 0) == 0) &&
                      (ucs_numa_distance(0, 3) == 0) ?
                  EXIT_SUCCESS :
                  EXIT_FAILURE);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) == CANNOT_MOUNT) {
        printf("not checked: this system permits no mount\n");
        return;
    }
    ck_assert_int_eq(WEXITSTATUS(status), EXIT_SUCCESS);
}
END_TEST

SUITE_MAIN("topo", bus_ids_become_text_and_back, a_device_has_one_number,
           virtual_and_made_up_interfaces_have_none,
           an_offline_node_has_no_distance)
