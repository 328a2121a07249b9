/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp_startup: measures once the time from the start of this process to the
 * arrival of its first message in another process, the partner. The partner
 * runs on another core, has created its worker before, and waits. Like
 * ucp_bench, the program uses only the public API of UCP, and is built for each
 * library that is compared. */
#include "lines.h"

#include <ucp/api/ucp.h>

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TAG         = 7,         /* Tag and content of the message */
    MAX_ADDRESS = 64 * 1024, /* Bytes of a worker address */
    GIVE_UP     = 120,       /* Seconds after which the program ends */
};

/* Memory that both processes share. */
struct shared {
    alignas(128) _Atomic int arrived; /* The partner has the message */
    alignas(128) _Atomic int done;    /* The partner must close its worker and
                                    * exit */
};

/* Times in seconds of lines_now(): at the start of main(), before ucp_init(),
 * after it, after the creation of the worker, and after the arrival of the
 * message. */
struct times {
    double main, before, init, worker, arrived;
};

struct side {
    ucp_context_h context;
    ucp_worker_h worker;
};

static const ucp_request_param_t no_param = {.op_attr_mask = 0};

static const char HELP[] =
    "ucp_startup [STARTED]\n"
    "Prints as JSON how long a fresh process took, in microseconds: \"init\" is\n"
    "ucp_init, \"worker\" its worker, \"first\" an endpoint and the first message\n"
    "on it until that has arrived in another process, \"all\" the three of them.\n"
    "\"load\", if STARTED (nanoseconds of the monotonic clock) says when the\n"
    "process was started: the time until main().\n";

noreturn static void fail(const char *what, const char *why)
{
    fprintf(stderr, "ucp_startup: %s: %s\n", what, why);
    _exit(1);
}

static void check(ucs_status_t status, const char *what)
{
    if (status != UCS_OK) {
        fail(what, ucs_status_string(status));
    }
}

/* Binds this process to one of the cores that it may use: the one with this
 * number, from 0. Does nothing if there are not that many. */
static void pin(int number)
{
    cpu_set_t allowed, one;
    int core;

    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
        fail("sched_getaffinity", strerror(errno));
    }
    for (core = 0; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(core, &allowed) && (number-- == 0)) {
            CPU_ZERO(&one);
            CPU_SET(core, &one);
            (void)sched_setaffinity(0, sizeof(one), &one);
            return;
        }
    }
}

static void open_context(struct side *side)
{
    const ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG,
    };

    check(ucp_init(&params, NULL, &side->context), "ucp_init");
}

static void open_worker(struct side *side)
{
    const ucp_worker_params_t params = {
        .field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_SINGLE,
    };

    check(ucp_worker_create(side->context, &params, &side->worker),
          "ucp_worker_create");
}

static void close_side(struct side *side)
{
    ucp_worker_destroy(side->worker);
    ucp_cleanup(side->context);
}

/* Waits for a request and frees it. `request` is the result of the call that
 * has started the operation. Ends the program if the operation has failed. */
static void finish(struct side *side, ucs_status_ptr_t request,
                   const char *what)
{
    ucs_status_t status = UCS_PTR_STATUS(request);

    if (UCS_PTR_IS_PTR(request)) {
        do {
            ucp_worker_progress(side->worker);
            status = ucp_request_check_status(request);
        } while (status == UCS_INPROGRESS);
        ucp_request_free(request);
    }
    check(status, what);
}

static void send_address(struct side *side, int fd)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    uint32_t length;

    check(ucp_worker_query(side->worker, &attr), "ucp_worker_query");
    length = (uint32_t)attr.address_length;
    if ((write(fd, &length, sizeof(length)) != sizeof(length)) ||
        (write(fd, attr.address, length) != (ssize_t)length)) {
        fail("cannot hand over the address", strerror(errno));
    }
    ucp_worker_release_address(side->worker, attr.address);
}

noreturn static void partner_main(struct shared *shared, int fd)
{
    struct side side;
    uint64_t word = 0;
    ucs_status_ptr_t request;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin(1);
    open_context(&side);
    open_worker(&side);
    request = ucp_tag_recv_nbx(side.worker, &word, sizeof(word), TAG,
                               ~(ucp_tag_t)0, &no_param);
    send_address(&side, fd);
    finish(&side, request, "the first message");
    if (word != TAG) {
        fail("the first message", "came with other bytes than were sent");
    }
    atomic_store(&shared->arrived, 1);
    while (!atomic_load(&shared->done)) {
        ucp_worker_progress(side.worker);
    }
    close_side(&side);
    exit(0);
}

static void read_whole(int fd, void *data, size_t length)
{
    char *next = data;
    ssize_t got;

    for (; length > 0; next += got, length -= (size_t)got) {
        got = read(fd, next, length);
        if (got <= 0) {
            fail("the partner", "ended early");
        }
    }
}

/* Receives the partner's worker address, which the caller frees. */
static void *receive_address(int fd)
{
    void *address;
    uint32_t length;

    read_whole(fd, &length, sizeof(length));
    address = (length <= MAX_ADDRESS) ? malloc(length) : NULL;
    if (address == NULL) {
        fail("the partner's address", "no memory for it");
    }
    read_whole(fd, address, length);
    return address;
}

/* Creates a context, a worker and an endpoint, sends the message, and stores
 * the times. */
static void start(struct side *side, struct shared *shared, void *address,
                  struct times *times)
{
    const ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
        .address    = address,
    };
    uint64_t word = TAG;
    ucs_status_ptr_t request;
    ucp_ep_h ep;

    times->before = lines_now();
    open_context(side);
    times->init = lines_now();
    open_worker(side);
    times->worker = lines_now();
    check(ucp_ep_create(side->worker, &params, &ep), "ucp_ep_create");
    request = ucp_tag_send_nbx(ep, &word, sizeof(word), TAG, &no_param);
    while (!atomic_load(&shared->arrived)) {
        ucp_worker_progress(side->worker);
    }
    times->arrived = lines_now();
    finish(side, request, "the first message");
    finish(side, ucp_ep_close_nbx(ep, &no_param), "ucp_ep_close_nbx");
}

static void report(const struct times *times, double started)
{
    printf("{\"version\": \"%s\"", ucp_get_version_string());
    if (started > 0) {
        printf(", \"load\": %.3f", (times->main - started) * 1e6);
    }
    printf(", \"init\": %.3f, \"worker\": %.3f, \"first\": %.3f, "
           "\"all\": %.3f}\n",
           (times->init - times->before) * 1e6,
           (times->worker - times->init) * 1e6,
           (times->arrived - times->worker) * 1e6,
           (times->arrived - times->before) * 1e6);
}

/* Handler of SIGCHLD and SIGALRM: ends this process if the partner has ended,
 * or GIVE_UP seconds after the start. */
static void on_signal(int number)
{
    static const char gone[]   = "ucp_startup: the partner ended early\n";
    static const char silent[] = "ucp_startup: no message came through\n";
    ssize_t done;

    done = (number == SIGCHLD) ?
               write(STDERR_FILENO, gone, sizeof(gone) - 1) :
               write(STDERR_FILENO, silent, sizeof(silent) - 1);
    _exit((done > 0) ? 1 : 2);
}

static void run(double started, double main_time)
{
    struct shared *shared = lines_map(sizeof(*shared));
    struct times times    = {.main = main_time};
    struct side side;
    int fds[2], status;
    void *address;
    pid_t partner;

    if ((shared == NULL) || (pipe(fds) != 0)) {
        fail("cannot prepare the partner", strerror(errno));
    }
    signal(SIGCHLD, on_signal);
    signal(SIGALRM, on_signal);
    alarm(GIVE_UP);
    partner = fork();
    if (partner < 0) {
        fail("fork", strerror(errno));
    }
    if (partner == 0) {
        signal(SIGCHLD, SIG_DFL);
        close(fds[0]);
        partner_main(shared, fds[1]);
    }
    close(fds[1]);
    pin(0);
    address = receive_address(fds[0]);
    start(&side, shared, address, &times);
    signal(SIGCHLD, SIG_DFL);
    atomic_store(&shared->done, 1);
    if ((waitpid(partner, &status, 0) != partner) || (status != 0)) {
        fail("the partner", "did not end well");
    }
    close_side(&side);
    free(address);
    close(fds[0]);
    report(&times, started);
}

int main(int argc, char **argv)
{
    double main_time = lines_now(), started = 0;
    char *end;

    if ((argc > 1) && (strcmp(argv[1], "--help") == 0)) {
        fputs(HELP, stdout);
        return 0;
    }
    if (argc > 1) {
        started = strtod(argv[1], &end) * 1e-9;
        if ((argc > 2) || (*end != '\0') || (started <= 0)) {
            fputs(HELP, stderr);
            return 2;
        }
    }
    run(started, main_time);
    return 0;
}
