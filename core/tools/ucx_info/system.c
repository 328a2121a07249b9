/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx_info -s: properties of this machine that matter for communication: clock,
 * processors and memory.
 */
#include "info.h"

#include <sched.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "ucs/sys/machine.h"
#include "ucs/sys/math.h"
#include "ucs/sys/sys.h"
#include "ucs/time/time.h"

/* Returns the time of reading the clock in seconds: the shortest of several
 * measurements. */
static double clock_cost(void)
{
    enum { TRIES = 5, READS = 1000 };
    double best = 1;
    ucs_time_t start;
    unsigned i, j;

    for (i = 0; i < TRIES; ++i) {
        start = ucs_get_time();
        for (j = 0; j < READS; ++j) {
            ucs_get_time();
        }
        best = ucs_min(best, ucs_time_to_sec(ucs_get_time() - start) / READS);
    }
    return best;
}

static json_int_t processors_allowed(void)
{
    cpu_set_t set;

    return (sched_getaffinity(0, sizeof(set), &set) == 0) ? CPU_COUNT(&set) : 0;
}

/* Returns the list of NUMA nodes as the kernel prints it, such as "0-1"; "0"
 * without NUMA. */
static void numa_nodes(char *text, size_t max)
{
    if (ucs_read_file_line("/sys/devices/system/node/online", text, max) !=
        UCS_OK) {
        snprintf(text, max, "0");
    }
}

int info_system_ask(info_t *info, json_t **answer_p)
{
    struct timespec resolution = {0, 1};
    struct utsname name;
    char nodes[128];

    memset(&name, 0, sizeof(name));
    uname(&name);
    clock_getres(CLOCK_MONOTONIC, &resolution);
    numa_nodes(nodes, sizeof(nodes));
    *answer_p = json_pack(
        "{s:f, s:f, s:f, s:s, s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:s, s:o, "
        "s:s}",
        "timer_frequency_hz", 1.0 / ucs_time_to_sec(1), "timer_resolution_ns",
        (double)resolution.tv_sec * 1e9 + (double)resolution.tv_nsec,
        "timer_read_ns", clock_cost() * 1e9, "cpu_vendor",
        ucs_machine_get(UCS_MACHINE_CPU_VENDOR), "cpu_model",
        ucs_machine_get(UCS_MACHINE_CPU_MODEL), "product",
        ucs_machine_get(UCS_MACHINE_PRODUCT_NAME), "cpus_online",
        (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "cpus_allowed",
        processors_allowed(), "memory_bytes",
        info_json_size(ucs_get_phys_mem_size()), "page_bytes",
        info_json_size(ucs_get_page_size()), "huge_page_bytes",
        info_json_size(ucs_get_huge_page_size()), "numa_nodes", nodes, "host",
        json_text(ucs_get_host_name()), "kernel", name.release);
    return (*answer_p == NULL) ? INFO_BAD : INFO_OK;
}

void info_system_print(const info_t *info, const json_t *answer)
{
    printf("# Timer frequency: %.3f MHz\n",
           info_real(answer, "timer_frequency_hz") * 1e-6);
    printf("# Timer resolution: %.0f nsec, read in %.1f nsec\n",
           info_real(answer, "timer_resolution_ns"),
           info_real(answer, "timer_read_ns"));
    printf("# CPU vendor: %s\n", info_text(answer, "cpu_vendor"));
    printf("# CPU model: %s\n", info_text(answer, "cpu_model"));
    printf("# CPUs: %" JSON_INTEGER_FORMAT ", of these for this process: "
           "%" JSON_INTEGER_FORMAT "\n",
           info_int(answer, "cpus_online"), info_int(answer, "cpus_allowed"));
    printf("# NUMA nodes: %s\n", info_text(answer, "numa_nodes"));
    printf("# Memory: %.1f MB, pages of %" JSON_INTEGER_FORMAT " KB, huge "
           "ones of %" JSON_INTEGER_FORMAT " KB\n",
           (double)info_int(answer, "memory_bytes") / (1 << 20),
           info_int(answer, "page_bytes") >> 10,
           info_int(answer, "huge_page_bytes") >> 10);
    printf("# Product: %s\n", info_text(answer, "product"));
    printf("# Host: %s, Linux %s\n", info_text(answer, "host"),
           info_text(answer, "kernel"));
}
