/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp_bench: the command line, the start and end of the processes, and the
 * sequence of the measurements. */
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

struct options {
    const char *only; /* --only; NULL: all figures */
    bool json;
    int cores[2]; /* Of driver and partner; -1: not given */
    struct figure_list list;
};

static const char HELP[] =
    "ucp_bench takes figures of the UCP library that it is linked with,\n"
    "between two processes on two cores.\n\n"
    "  -t, --time MSEC   for one figure (200)\n"
    "  -o, --only LIST   figures whose name begins with one of a,b,c; 'a$': the\n"
    "                    one that is called so\n"
    "  -w, --sweep KIND  instead, one kind of figure for each size: tag, am, put,\n"
    "                    get, put_alloc, get_alloc, tag_bw, tag_both\n"
    "  -s, --sizes LIST  these, in bytes, up to 64 MiB (every power of two up to\n"
    "                    16 MiB)\n"
    "  -e, --err-mode M  of endpoints: none or peer (none)\n"
    "  -c, --cores A,B   the first two that we may use, if not given\n"
    "  -j, --json        for programs\n"
    "  -h, --help        this text\n\n"
    "Each figure stands between two floors: a cache line's way between the\n"
    "cores. Compare two libraries with `compare`, never by two single runs.\n";

/* Binds this process to one core. */
static void pin(int core)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(core, &set);
    if (sched_setaffinity(0, sizeof(set), &set) != 0) {
        bench_fail("cannot pin to a core (--cores?)", strerror(errno));
    }
}

/* Stores the numbers of the first two cores that this process may use. */
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

/* Raises the limit of open descriptors as far as permitted: some figures create
 * hundreds of endpoints, which may use a socket each. */
static void raise_file_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* The partner: serves requests of the driver until BENCH_QUIT. If the library
 * lacks the features of BENCH_OPEN, bench_open() reports that to the driver,
 * and the partner continues. */
static void serve(struct bench *bench)
{
    struct bench_command command;

    for (;;) {
        command = bench_hear(bench);
        switch (command.kind) {
        case BENCH_FLOOR:
            floor_answer(bench, &command);
            break;
        case BENCH_OPEN:
            bench_open(bench, command.size);
            break;
        case BENCH_CLOSE:
            bench_close(bench);
            break;
        case BENCH_LATENCY:
            latency_answer(bench, &command);
            break;
        case BENCH_STREAM:
        case BENCH_UNEXPECTED:
            stream_answer(bench, &command);
            break;
        case BENCH_BOTH:
            both_answer(bench, &command);
            break;
        case BENCH_AM_LATENCY:
            am_latency_answer(bench, &command);
            break;
        case BENCH_AM_STREAM:
            am_stream_answer(bench, &command);
            break;
        case BENCH_RMA:
            rma_answer(bench, &command);
            break;
        case BENCH_WORKERS:
            workers_answer(bench, command.count);
            break;
        case BENCH_CROWD:
            crowd_answer(bench, &command);
            break;
        case BENCH_CLOSE_WORKERS:
        case BENCH_QUIT:
            return;
        }
    }
}

/* The processes with ranks 2 and 3: sleep in recv() between the figures of the
 * all-to-all, so that they use no core during other figures. Returns when the
 * driver closes the socket. */
static void serve_crowd(struct bench *bench)
{
    struct bench_command command;

    while ((recv(bench->socket, &command, sizeof(command), MSG_WAITALL) ==
            sizeof(command)) &&
           (command.kind == BENCH_CROWD)) {
        crowd_answer(bench, &command);
    }
}

/* Returns whether the name begins with the first `length` characters of `word`.
 * If the last of these is $, the name must be equal to those before it. */
static bool matches(const char *name, const char *word, size_t length)
{
    if ((length > 0) && (word[length - 1] == '$')) {
        return (strlen(name) == length - 1) &&
               (strncmp(name, word, length - 1) == 0);
    }
    return (length > 0) && (strncmp(name, word, length) == 0);
}

/* Returns whether one of the words in --only selects the figure. */
static bool wanted(const struct figure *figure, const char *only)
{
    const char *next = only;
    size_t length;

    if (only == NULL) {
        return true;
    }
    for (; *next != '\0'; next += length + (next[length] == ',')) {
        length = strcspn(next, ",");
        if (matches(figure->name, next, length)) {
            return true;
        }
    }
    return false;
}

/* Returns the seconds of all cores of the machine that were not idle since the
 * start of the system, or 0 if they are not known. Excludes interrupts: the
 * kernel counts the network traffic of this program on the loopback interface
 * as interrupts. */
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
    return (got == 8) ?
               (double)(user + nice + sys + steal) / sysconf(_SC_CLK_TCK) :
               0;
}

/* Returns the seconds of processor time that a process has used. 0: this
 * process. */
static double process_busy(pid_t pid)
{
    struct timespec time = {0};
    clockid_t clock;

    if (clock_getcpuclockid(pid, &clock) == 0) {
        clock_gettime(clock, &time);
    }
    return time.tv_sec + (time.tv_nsec * 1e-9);
}

/* Returns machine_busy() without the time of the processes of this program. */
static double foreign_busy(const struct bench *bench)
{
    double busy = machine_busy() - process_busy(0);
    int rank;

    for (rank = 1; rank < BENCH_CROWD_SIZE; ++rank) {
        busy -= process_busy(bench->pids[rank]);
    }
    return busy;
}

/* Opens a context with these features in driver and partner, unless it is open;
 * closes the previous one. features: 0: only closes. *open_features and
 * *offered are the state between the calls: the features of the last call, and
 * whether the library supports them. Returns *offered. */
static bool have_features(struct bench *bench, uint64_t features,
                          uint64_t *open_features, bool *offered)
{
    if (features == *open_features) {
        return *offered;
    }
    if (*offered && (*open_features != 0)) {
        bench_tell(bench, (struct bench_command){.kind = BENCH_CLOSE});
        bench_close(bench);
    }
    *open_features = features;
    *offered       = true;
    if (features != 0) {
        bench_tell(bench, (struct bench_command){.kind = BENCH_OPEN,
                                                 .size = features});
        *offered = (bench_open(bench, features) == UCS_OK);
    }
    return *offered;
}

/* Measures all selected figures. */
static void drive(struct bench *bench, const struct options *options,
                  struct result *results)
{
    uint64_t features = 0;
    bool offered      = true;
    double last_floor = 0;
    const struct figure *figure;
    struct result *result;
    unsigned i;

    for (i = 0; i < options->list.count; ++i) {
        figure = &options->list.figures[i];
        result = &results[i];
        if (!wanted(figure, options->only)) {
            continue;
        }
        have_features(bench, figure->features, &features, &offered);
        /* in a sweep the figures follow each other without a pause: the floor
         * after one figure is also that before the next one */
        result->floor_before = (bench->sweeps && (last_floor > 0)) ?
                                   last_floor :
                                   floor_take(bench);
        result->value        = offered ?
                                   figure->take(bench, figure->size, figure->window) :
                                   -1;
        result->floor_after  = floor_take(bench);
        last_floor           = result->floor_after;
    }
    have_features(bench, 0, &features, &offered);
}

/* Handler of SIGCHLD in the driver: ends the program if another process of it
 * has ended too early, because the driver could wait for that process for
 * ever. */
static void on_child_gone(int signal_number)
{
    static const char text[] = "ucp_bench: a partner process ended early\n";

    (void)signal_number;
    if (write(STDERR_FILENO, text, sizeof(text) - 1) >= 0) {
        _exit(1);
    }
    _exit(1);
}

static void driver_main(struct bench *bench, const struct options *options)
{
    struct result *results = calloc(options->list.count, sizeof(*results));
    double started, busy, foreign;

    if (results == NULL) {
        bench_fail("no memory for results", strerror(ENOMEM));
    }
    busy    = foreign_busy(bench);
    started = bench_now();
    drive(bench, options, results);
    /* the system measures times in clock ticks: subtract one tick for each of
     * the two cores, so that errors of rounding do not count as other work */
    foreign = foreign_busy(bench) - busy - (2.0 / sysconf(_SC_CLK_TCK));
    foreign = (foreign < 0) ? 0 : foreign / (bench_now() - started) / 2;
    if (options->json) {
        report_json(&options->list, results, foreign);
    } else {
        report_table(&options->list, results, foreign);
    }
    free(results);
}

/* Returns the size of the largest message of the figures in bytes, at least
 * BENCH_USUAL_SIZE, rounded up to whole pages. */
static size_t largest_size(const struct figure_list *list)
{
    size_t largest = BENCH_USUAL_SIZE;
    unsigned i;

    for (i = 0; i < list->count; ++i) {
        if (list->figures[i].size > largest) {
            largest = list->figures[i].size;
        }
    }
    return (largest + 4095) & ~(size_t)4095;
}

/* Each process calls it after its start: binds the process to its core, and
 * allocates its buffer. */
static void settle(struct bench *bench, const struct options *options)
{
    pin(options->cores[bench->rank % 2]);
    bench->room   = largest_size(&options->list);
    bench->buffer = aligned_alloc(4096, bench->room);
    if (bench->buffer == NULL) {
        bench_fail("no memory for a buffer", strerror(ENOMEM));
    }
    if (bench->rank < 2) {
        memset(bench->buffer, 'b', bench->room);
        bench_age_pages();
    }
}

noreturn static void child_main(struct bench *bench,
                                const struct options *options)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* the library may write messages to the standard output. Those of the
     * driver are sufficient, so the other processes write none */
    if (freopen("/dev/null", "w", stdout) == NULL) {
        bench_fail("/dev/null", strerror(errno));
    }
    settle(bench, options);
    if (bench->rank == 1) {
        serve(bench);
    } else {
        serve_crowd(bench);
    }
    free(bench->fetched);
    free(bench->buffer);
    exit(0);
}

static void start_children(struct bench *bench, const struct options *options)
{
    int pair[2];
    uint32_t rank;

    fflush(stdout);
    signal(SIGCHLD, on_child_gone);
    for (rank = 1; rank < BENCH_CROWD_SIZE; ++rank) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
            bench_fail("cannot prepare the processes", strerror(errno));
        }
        bench->pids[rank] = fork();
        if (bench->pids[rank] < 0) {
            bench_fail("fork", strerror(errno));
        }
        if (bench->pids[rank] == 0) {
            signal(SIGCHLD, SIG_DFL);
            close(pair[1]);
            bench->rank   = rank;
            bench->socket = pair[0];
            child_main(bench, options);
        }
        close(pair[0]);
        bench->crowd_sockets[rank] = pair[1];
    }
    bench->socket = bench->crowd_sockets[1];
}

/* Ends the other processes; returns whether all of them have succeeded. */
static bool end_children(struct bench *bench)
{
    bool good = true;
    uint32_t rank;
    int status;

    signal(SIGCHLD, SIG_DFL);
    bench_tell(bench, (struct bench_command){.kind = BENCH_QUIT});
    for (rank = 1; rank < BENCH_CROWD_SIZE; ++rank) {
        /* the processes with ranks 2 and 3 end when their socket is closed */
        if (rank > 1) {
            shutdown(bench->crowd_sockets[rank], SHUT_RDWR);
        }
        status = 0;
        waitpid(bench->pids[rank], &status, 0);
        close(bench->crowd_sockets[rank]);
        good = good && (status == 0);
    }
    return good;
}

static int run(struct bench *bench, const struct options *options)
{
    bool good;

    bench->shared = lines_map(sizeof(*bench->shared));
    if (bench->shared == NULL) {
        bench_fail("cannot share memory", strerror(errno));
    }
    start_children(bench, options);
    settle(bench, options);
    driver_main(bench, options);
    good = end_children(bench);
    free(bench->fetched);
    free(bench->buffer);
    return good ? 0 : 1;
}

static bool set_err_mode(struct bench *bench, const char *word)
{
    bench->peer_errors = (strcmp(word, "peer") == 0);
    if (bench->peer_errors || (strcmp(word, "none") == 0)) {
        return true;
    }
    fprintf(stderr, "ucp_bench: --err-mode is none or peer, not '%s'\n", word);
    return false;
}

/* Parses the command line. Returns -1 if the program is to continue, otherwise
 * the exit status with which it must end. */
static int parse(int argc, char **argv, struct options *options,
                 struct bench *bench)
{
    static const struct option names[] = {
        {"time", required_argument, NULL, 't'},
        {"only", required_argument, NULL, 'o'},
        {"sweep", required_argument, NULL, 'w'},
        {"sizes", required_argument, NULL, 's'},
        {"err-mode", required_argument, NULL, 'e'},
        {"cores", required_argument, NULL, 'c'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    const char *sweep = NULL, *sizes = NULL;
    int c;

    while ((c = getopt_long(argc, argv, "t:o:w:s:e:c:jh", names, NULL)) != -1) {
        switch (c) {
        case 't':
            bench->seconds = atoi(optarg) * 1e-3;
            break;
        case 'o':
            options->only = optarg;
            break;
        case 'w':
            sweep = optarg;
            break;
        case 's':
            sizes = optarg;
            break;
        case 'e':
            if (!set_err_mode(bench, optarg)) {
                return 2;
            }
            break;
        case 'c':
            if (sscanf(optarg, "%d,%d", &options->cores[0],
                       &options->cores[1]) != 2) {
                bench_fail("--cores takes two numbers, not", optarg);
            }
            break;
        case 'j':
            options->json = true;
            break;
        case 'h':
            fputs(HELP, stdout);
            return 0;
        default:
            return 2;
        }
    }
    if (bench->seconds <= 0) {
        bench_fail("--time", "must be positive");
    }
    if ((sweep == NULL) && (sizes != NULL)) {
        fputs("ucp_bench: --sizes goes with --sweep only\n", stderr);
        return 2;
    }
    bench->sweeps = (sweep != NULL);
    if (bench->sweeps && !sweep_make(sweep, sizes, &options->list)) {
        return 2;
    }
    return -1;
}

int main(int argc, char **argv)
{
    struct options options = {
        .cores = {-1, -1},
        .list  = {bench_figures, bench_figure_count},
    };
    struct bench bench = {.seconds = 0.2};
    int done           = parse(argc, argv, &options, &bench);

    if (done >= 0) {
        return done;
    }
    if (options.cores[0] < 0) {
        choose_cores(options.cores);
    }
    raise_file_limit();
    return run(&bench, &options);
}
