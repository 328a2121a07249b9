/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line, the list of figures, and what is printed. It judges
 * nothing: `compare` does that with the output of two libraries. */
#include "bench.h"

#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KIB = 1024, MIB = 1024 * 1024 };

/* Memory comes first: later, freed memory would be used again and hide it. */
static const struct figure figures[] = {
    {"ep_memory", "B", true, ep_memory_take, 256, 0},
    {"lat_8", "us", true, latency_take, 8, 0},
    {"lat_1k", "us", true, latency_take, 1 * KIB, 0},
    {"lat_64k", "us", true, latency_take, 64 * KIB, 0},
    {"lat_1m", "us", true, latency_take, 1 * MIB, 0},
    {"rate_8", "M/s", false, rate_take, 8, 64},
    {"rate_8_unexpected", "M/s", false, rate_unexpected_take, 8, 64},
    {"bw_64k", "GB/s", false, bandwidth_take, 64 * KIB, 16},
    {"bw_64k_w64", "GB/s", false, bandwidth_take, 64 * KIB, 64},
    {"bw_1m", "GB/s", false, bandwidth_take, 1 * MIB, 4},
    {"bw_1m_w16", "GB/s", false, bandwidth_take, 1 * MIB, 16},
    {"worker_create", "us", true, worker_create_take, 0, 0},
    {"ep_create", "us", true, ep_create_take, 256, 0},
    {"ep_create_distinct", "us", true, ep_distinct_take, 48, 0},
};

enum { FIGURE_COUNT = sizeof(figures) / sizeof(figures[0]) };

struct options {
    const char *only;
    bool json;
    int cores[2];
};

/* What one run found. */
struct result {
    double value;
    double floor_before;
    double floor_after;
};

static const char HELP[] =
    "ucp_bench takes figures of the UCP library that it is linked with,\n"
    "between two processes on two cores.\n\n"
    "  -t, --time MSEC   for one figure (200)\n"
    "  -o, --only LIST   figures whose name begins with one of a,b,c\n"
    "  -c, --cores A,B   the first two that we may use, if not given\n"
    "  -j, --json        for programs\n"
    "  -h, --help        this text\n\n"
    "Each figure stands between two floors: a cache line's way between the\n"
    "cores. Compare two libraries with `compare`, never by two single runs.\n";

static void pin(int core)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(core, &set);
    if (sched_setaffinity(0, sizeof(set), &set) != 0) {
        bench_fail("cannot pin to a core (--cores?)", strerror(errno));
    }
}

/* The first two cores that we may use. */
static void choose_cores(int cores[2])
{
    cpu_set_t set;
    int core, found = 0;

    if (sched_getaffinity(0, sizeof(set), &set) != 0) {
        return;
    }
    for (core = 0; (core < CPU_SETSIZE) && (found < 2); ++core) {
        if (CPU_ISSET(core, &set)) {
            cores[found++] = core;
        }
    }
    if (found < 2) {
        bench_fail("two cores are needed", "this process may use one only");
    }
}

/* Hundreds of endpoints may be hundreds of sockets. */
static void raise_file_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static void serve(struct bench *bench)
{
    struct bench_command command;

    for (;;) {
        command = bench_hear(bench);
        switch (command.kind) {
        case BENCH_FLOOR:
            floor_answer(bench, command.count);
            break;
        case BENCH_LATENCY:
            latency_answer(bench, &command);
            break;
        case BENCH_STREAM:
        case BENCH_UNEXPECTED:
            stream_answer(bench, &command);
            break;
        case BENCH_WORKERS:
            workers_answer(bench, command.count);
            break;
        case BENCH_CLOSE_WORKERS:
        case BENCH_QUIT:
            return;
        }
    }
}

static bool wanted(const struct figure *figure, const char *only)
{
    const char *next = only;
    size_t length;

    if (only == NULL) {
        return true;
    }
    for (; *next != '\0'; next += length + (next[length] == ',')) {
        length = strcspn(next, ",");
        if ((length > 0) && (strncmp(figure->name, next, length) == 0)) {
            return true;
        }
    }
    return false;
}

/* Ticks of the whole machine that were somebody's work. Interrupts are left
 * out: loopback traffic is ours, and the kernel books it there. */
static double machine_busy(void)
{
    unsigned long long user, nice, sys, idle, iowait, irq, soft, steal;
    FILE *file = fopen("/proc/stat", "r");
    int got;

    if (file == NULL) {
        return 0;
    }
    got = fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user,
                 &nice, &sys, &idle, &iowait, &irq, &soft, &steal);
    fclose(file);
    return (got == 8) ? (double)(user + nice + sys + steal) /
                        sysconf(_SC_CLK_TCK) : 0;
}

static double process_busy(pid_t pid)
{
    struct timespec time = {0};
    clockid_t clock;

    if (clock_getcpuclockid(pid, &clock) == 0) {
        clock_gettime(clock, &time);
    }
    return time.tv_sec + (time.tv_nsec * 1e-9);
}

static double foreign_busy(const struct bench *bench)
{
    return machine_busy() - process_busy(0) - process_busy(bench->partner);
}

static void drive(struct bench *bench, const struct options *options,
                  struct result *results)
{
    int i;

    for (i = 0; i < FIGURE_COUNT; ++i) {
        if (wanted(&figures[i], options->only)) {
            results[i].floor_before = floor_take(bench);
            results[i].value        = figures[i].take(bench, figures[i].size,
                                                      figures[i].window);
            results[i].floor_after  = floor_take(bench);
        }
    }
    bench_tell(bench, (struct bench_command){.kind = BENCH_QUIT});
}

static void print_table(const struct result *results, double foreign)
{
    int i;

    printf("UCP %s, UCX_TLS=%s, other work on the machine: %.0f %%\n",
           ucp_get_version_string(),
           (getenv("UCX_TLS") != NULL) ? getenv("UCX_TLS") : "(default)",
           foreign * 100);
    printf("%-20s %12s %-6s %16s\n", "figure", "value", "", "floors, us");
    for (i = 0; i < FIGURE_COUNT; ++i) {
        if (results[i].floor_before > 0) {
            printf("%-20s %12.3f %-6s %8.3f %7.3f\n", figures[i].name,
                   results[i].value, figures[i].unit, results[i].floor_before,
                   results[i].floor_after);
        }
    }
}

static void print_json(const struct result *results, double foreign)
{
    const char *separator = "";
    int i;

    printf("{\"version\": \"%s\", \"foreign_cpu\": %.4f, \"figures\": [",
           ucp_get_version_string(), foreign);
    for (i = 0; i < FIGURE_COUNT; ++i) {
        if (results[i].floor_before > 0) {
            printf("%s\n  {\"name\": \"%s\", \"unit\": \"%s\", \"less_is_better"
                   "\": %s, \"value\": %.6g, \"floors\": [%.4f, %.4f]}",
                   separator, figures[i].name, figures[i].unit,
                   figures[i].less_is_better ? "true" : "false",
                   results[i].value, results[i].floor_before,
                   results[i].floor_after);
            separator = ",";
        }
    }
    printf("\n]}\n");
}

static void partner_main(struct bench *bench, const struct options *options)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin(options->cores[1]);
    bench->driver = false;
    bench_open(bench);
    serve(bench);
    bench_close(bench);
}

static void driver_main(struct bench *bench, const struct options *options)
{
    struct result results[FIGURE_COUNT];
    double started, busy, foreign;

    memset(results, 0, sizeof(results));
    pin(options->cores[0]);
    bench->driver = true;
    bench_open(bench);
    busy    = foreign_busy(bench);
    started = bench_now();
    drive(bench, options, results);
    foreign = (foreign_busy(bench) - busy) / (bench_now() - started) / 2;
    foreign = (foreign < 0) ? 0 : foreign;
    bench_close(bench);
    if (options->json) {
        print_json(results, foreign);
    } else {
        print_table(results, foreign);
    }
}

static int run(struct bench *bench, const struct options *options)
{
    int pair[2], status = 0;

    bench->shared = bench_shared_create();
    if ((bench->shared == NULL) ||
        (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)) {
        bench_fail("cannot prepare two processes", strerror(errno));
    }
    fflush(stdout);
    bench->partner = fork();
    if (bench->partner < 0) {
        bench_fail("fork", strerror(errno));
    }
    bench->socket = pair[bench->partner != 0];
    close(pair[bench->partner == 0]);
    if (bench->partner == 0) {
        partner_main(bench, options);
        exit(0);
    }
    driver_main(bench, options);
    close(bench->socket);
    waitpid(bench->partner, &status, 0);
    return (status == 0) ? 0 : 1;
}

int main(int argc, char **argv)
{
    static const struct option names[] = {
        {"time", required_argument, NULL, 't'},
        {"only", required_argument, NULL, 'o'},
        {"cores", required_argument, NULL, 'c'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}
    };
    struct options options = {.cores = {-1, -1}};
    struct bench bench     = {.seconds = 0.2};
    int c;

    while ((c = getopt_long(argc, argv, "t:o:c:jh", names, NULL)) != -1) {
        switch (c) {
        case 't':
            bench.seconds = atoi(optarg) * 1e-3;
            break;
        case 'o':
            options.only = optarg;
            break;
        case 'c':
            if (sscanf(optarg, "%d,%d", &options.cores[0],
                       &options.cores[1]) != 2) {
                bench_fail("--cores takes two numbers, not", optarg);
            }
            break;
        case 'j':
            options.json = true;
            break;
        case 'h':
            fputs(HELP, stdout);
            return 0;
        default:
            return 2;
        }
    }
    if (bench.seconds <= 0) {
        bench_fail("--time", "must be positive");
    }
    if (options.cores[0] < 0) {
        choose_cores(options.cores);
    }
    raise_file_limit();
    return run(&bench, &options);
}
