/* SPDX-License-Identifier: BSD-3-Clause */
/* uct_bench: measures one transport by the UCT API, without UCP. The only value
 * is the one-way latency of a short active message that consists of a header of
 * 8 bytes, between two processes on two cores: the driver and the partner. It
 * is compared with the floor, which is the latency of a cache line between the
 * same cores (lines.h). */
#include "lines.h"

#include <uct/api/uct.h>

#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    AM_ID           = 1,
    MAX_ADDRESS     = 4096, /* Bytes of each kind of address */
    CALIBRATE_COUNT = 1000, /* Round trips of a trial */
    EXIT_NO_SUCH    = 3,    /* Exit status: the transport does not exist, or has
                             * no short active messages */
};

struct options {
    const char *tl;     /* Name of the transport */
    const char *device; /* NULL: the first device of the transport */
    double seconds;     /* Duration of the measurement */
    bool json;
};

/* What a process sends to the other one, so that they can connect. `iface` or
 * `ep` is all zeros: connect_peer() uses only one of them. */
struct addresses {
    char device[MAX_ADDRESS];
    char iface[MAX_ADDRESS];
    char ep[MAX_ADDRESS];
};

/* The state of one process. */
struct side {
    bool driver; /* false: the partner */
    int socket;  /* To the other process */
    struct lines *lines;
    ucs_async_context_t *async;
    uct_worker_h worker;
    uct_md_h md;
    uct_iface_h iface;
    uct_iface_attr_t attr; /* Of `iface` */
    uct_ep_h ep;
    uint64_t arrived;                 /* Number of messages that have arrived */
    char device[UCT_DEVICE_NAME_MAX]; /* Name of the device */
};

static const char HELP[] =
    "uct_bench takes the one-way time of an 8 byte short active message over\n"
    "one transport, and its ratio to a cache line's way between the cores.\n\n"
    "  -x, --tl NAME      transport (posix)\n"
    "  -d, --device NAME  its device, if not the first\n"
    "  -t, --time MSEC    to spend (200)\n"
    "  -j, --json         for programs\n"
    "  -h, --help         this text\n\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage, 3 no such transport here,\n"
    "or it has no short active messages.\n";

noreturn static void fail(const char *what, const char *why)
{
    fprintf(stderr, "uct_bench: %s: %s\n", what, why);
    exit(1);
}

static void check(ucs_status_t status, const char *what)
{
    if (status != UCS_OK) {
        fail(what, ucs_status_string(status));
    }
}

static void put(struct side *side, const void *data, size_t length)
{
    if (send(side->socket, data, length, MSG_NOSIGNAL) != (ssize_t)length) {
        fail("cannot reach the other process", strerror(errno));
    }
}

static void get(struct side *side, void *data, size_t length)
{
    if (recv(side->socket, data, length, MSG_WAITALL) != (ssize_t)length) {
        fail("the other process is gone", "it ended early");
    }
}

/* Returns whether the memory domain has the transport on the selected device.
 * Stores the name of the device. */
static bool domain_has(uct_md_h md, const struct options *options,
                       char device[UCT_DEVICE_NAME_MAX])
{
    uct_tl_resource_desc_t *resources;
    unsigned count, i;
    bool found = false;

    check(uct_md_query_tl_resources(md, &resources, &count),
          "uct_md_query_tl_resources");
    for (i = 0; (i < count) && !found; ++i) {
        if ((strcmp(resources[i].tl_name, options->tl) == 0) &&
            ((options->device == NULL) ||
             (strcmp(resources[i].dev_name, options->device) == 0))) {
            snprintf(device, UCT_DEVICE_NAME_MAX, "%s", resources[i].dev_name);
            found = true;
        }
    }
    uct_release_tl_resource_list(resources);
    return found;
}

/* Opens the first memory domain of the component that has the transport.
 * Returns whether there is one. */
static bool open_domain_of(struct side *side, uct_component_h component,
                           const struct options *options)
{
    uct_component_attr_t attr = {
        .field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT,
    };
    uct_md_config_t *config;
    bool found = false;
    unsigned i;

    if ((uct_component_query(component, &attr) != UCS_OK) ||
        (attr.md_resource_count == 0)) {
        return false;
    }
    attr.field_mask   = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
    attr.md_resources = calloc(attr.md_resource_count,
                               sizeof(*attr.md_resources));
    if ((attr.md_resources == NULL) ||
        (uct_component_query(component, &attr) != UCS_OK) ||
        (uct_md_config_read(component, NULL, NULL, &config) != UCS_OK)) {
        goto out;
    }
    for (i = 0; (i < attr.md_resource_count) && !found; ++i) {
        if (uct_md_open(component, attr.md_resources[i].md_name, config,
                        &side->md) != UCS_OK) {
            continue;
        }
        found = domain_has(side->md, options, side->device);
        if (!found) {
            uct_md_close(side->md);
        }
    }
    uct_config_release(config);
out:
    free(attr.md_resources);
    return found;
}

/* Opens the first memory domain of all components that has the transport.
 * Returns whether there is one. */
static bool open_domain(struct side *side, const struct options *options)
{
    uct_component_h *components;
    bool found = false;
    unsigned count, i;

    check(uct_query_components(&components, &count), "uct_query_components");
    for (i = 0; (i < count) && !found; ++i) {
        found = open_domain_of(side, components[i], options);
    }
    uct_release_component_list(components);
    return found;
}

static ucs_status_t on_message(void *arg, void *data, size_t length,
                               unsigned flags)
{
    struct side *side = arg;

    (void)data;
    (void)length;
    (void)flags;
    ++side->arrived;
    return UCS_OK;
}

static void open_iface(struct side *side, const struct options *options)
{
    const uct_iface_params_t params = {
        .field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE |
                      UCT_IFACE_PARAM_FIELD_DEVICE,
        .open_mode = UCT_IFACE_OPEN_MODE_DEVICE,
        .mode.device =
            {
                .tl_name  = options->tl,
                .dev_name = side->device,
            },
    };
    uct_iface_config_t *config;

    check(uct_md_iface_config_read(side->md, options->tl, NULL, NULL, &config),
          "uct_md_iface_config_read");
    check(uct_iface_open(side->md, side->worker, &params, config, &side->iface),
          "uct_iface_open");
    uct_config_release(config);
    check(uct_iface_query(side->iface, &side->attr), "uct_iface_query");
    if (!(side->attr.cap.flags & UCT_IFACE_FLAG_AM_SHORT)) {
        fprintf(stderr,
                "uct_bench: transport %s has no short active "
                "messages\n",
                options->tl);
        exit(EXIT_NO_SUCH);
    }
    if ((side->attr.device_addr_len > MAX_ADDRESS) ||
        (side->attr.iface_addr_len > MAX_ADDRESS) ||
        (side->attr.ep_addr_len > MAX_ADDRESS)) {
        fail("an address of the transport", "too long");
    }
    check(uct_iface_set_am_handler(side->iface, AM_ID, on_message, side, 0),
          "uct_iface_set_am_handler");
    uct_iface_progress_enable(side->iface,
                              UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
}

/* Connects to the other process: to its interface if the transport supports
 * this, otherwise to its endpoint. */
static void connect_peer(struct side *side)
{
    uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_IFACE,
        .iface      = side->iface,
    };
    bool to_iface = (side->attr.cap.flags & UCT_IFACE_FLAG_CONNECT_TO_IFACE) !=
                    0;
    struct addresses mine, peer;

    memset(&mine, 0, sizeof(mine));
    check(uct_iface_get_device_address(side->iface, (void *)mine.device),
          "uct_iface_get_device_address");
    if (to_iface) {
        check(uct_iface_get_address(side->iface, (void *)mine.iface),
              "uct_iface_get_address");
    } else {
        check(uct_ep_create(&params, &side->ep), "uct_ep_create");
        check(uct_ep_get_address(side->ep, (void *)mine.ep),
              "uct_ep_get_address");
    }
    put(side, &mine, sizeof(mine));
    get(side, &peer, sizeof(peer));
    if (to_iface) {
        /* a transport whose addresses have a length of 0 needs no address */
        params.field_mask |= (side->attr.device_addr_len > 0) ?
                                 UCT_EP_PARAM_FIELD_DEV_ADDR :
                                 0;
        params.field_mask |= (side->attr.iface_addr_len > 0) ?
                                 UCT_EP_PARAM_FIELD_IFACE_ADDR :
                                 0;
        params.dev_addr   = (const void *)peer.device;
        params.iface_addr = (const void *)peer.iface;
        check(uct_ep_create(&params, &side->ep), "uct_ep_create");
    } else {
        check(uct_ep_connect_to_ep(side->ep, (const void *)peer.device,
                                   (const void *)peer.ep),
              "uct_ep_connect_to_ep");
    }
}

static void side_open(struct side *side, const struct options *options)
{
    check(ucs_async_context_create(UCS_ASYNC_MODE_THREAD, &side->async),
          "ucs_async_context_create");
    check(uct_worker_create(side->async, UCS_THREAD_MODE_SINGLE, &side->worker),
          "uct_worker_create");
    if (!open_domain(side, options)) {
        fprintf(stderr,
                "uct_bench: no transport %s%s%s here (UCX_PLUGIN_PATH, "
                "`ucx-plugins list`)\n",
                options->tl, (options->device == NULL) ? "" : " on ",
                (options->device == NULL) ? "" : options->device);
        exit(EXIT_NO_SUCH);
    }
    open_iface(side, options);
    connect_peer(side);
}

/* Sends one message. Progresses while the transport has no resources for it. */
static void send_one(struct side *side)
{
    ucs_status_t status;

    do {
        status = uct_ep_am_short(side->ep, AM_ID, side->arrived, NULL, 0);
        if (status == UCS_OK) {
            return;
        }
        uct_worker_progress(side->worker);
    } while (status == UCS_ERR_NO_RESOURCE);
    check(status, "uct_ep_am_short");
}

static void wait_for(struct side *side, uint64_t arrived)
{
    while (side->arrived < arrived) {
        uct_worker_progress(side->worker);
    }
}

/* Closes all objects. Before that, waits until the other process also calls
 * this function, because that process may still be sending to this one. */
static void side_close(struct side *side)
{
    char word = 0;

    while (uct_ep_flush(side->ep, 0, NULL) == UCS_ERR_NO_RESOURCE) {
        uct_worker_progress(side->worker);
    }
    put(side, &word, sizeof(word));
    get(side, &word, sizeof(word));
    uct_ep_destroy(side->ep);
    uct_iface_close(side->iface);
    uct_md_close(side->md);
    uct_worker_destroy(side->worker);
    ucs_async_context_destroy(side->async);
}

/* Request of the driver to the partner: close, answer the measurement of the
 * floor, or return messages. */
struct word {
    enum { WORD_END, WORD_FLOOR, WORD_MESSAGES } kind;
    uint64_t count; /* WORD_MESSAGES: number of round trips */
};

static void partner_main(struct side *side)
{
    uint64_t i, first;
    struct word word;

    for (;;) {
        get(side, &word, sizeof(word));
        if (word.kind == WORD_END) {
            return;
        }
        if (word.kind == WORD_FLOOR) {
            lines_answer(side->lines, LINES_USUAL);
            continue;
        }
        first = side->arrived;
        for (i = 1; i <= word.count; ++i) {
            wait_for(side, first + i);
            send_one(side);
        }
    }
}

/* Returns the latency of a cache line in us, one way. */
static double floor_take(struct side *side)
{
    const struct word word = {.kind = WORD_FLOOR};

    lines_reset(side->lines);
    put(side, &word, sizeof(word));
    return lines_measure(side->lines, LINES_USUAL);
}

/* Returns the seconds for `count` round trips. One more round trip before them
 * is not measured, so that the partner already polls when the measurement
 * starts. */
static double ping_pong(struct side *side, uint64_t count)
{
    const struct word word = {.kind = WORD_MESSAGES, .count = count + 1};
    uint64_t first         = side->arrived, i;
    double start           = 0;

    put(side, &word, sizeof(word));
    for (i = 1; i <= count + 1; ++i) {
        send_one(side);
        wait_for(side, first + i);
        if (i == 1) {
            start = lines_now();
        }
    }
    return lines_now() - start;
}

static void driver_main(struct side *side, const struct options *options)
{
    const struct word end = {.kind = WORD_END};
    double before, after, trial, time;
    uint64_t count;

    before = floor_take(side);
    ping_pong(side, CALIBRATE_COUNT);
    trial = ping_pong(side, CALIBRATE_COUNT);
    count = (uint64_t)(options->seconds / (trial / CALIBRATE_COUNT)) + 1;
    time  = ping_pong(side, count) * 1e6 / count / 2;
    after = floor_take(side);
    put(side, &end, sizeof(end));
    if (options->json) {
        printf("{\"tl\": \"%s\", \"device\": \"%s\", \"value\": %.6g, "
               "\"floors\": [%.4f, %.4f]}\n",
               options->tl, side->device, time, before, after);
    } else {
        printf("%s/%s: am_short of 8 bytes one way %.4f us, %.2f x the cache "
               "line (%.4f us before, %.4f after)\n",
               options->tl, side->device, time, time * 2 / (before + after),
               before, after);
    }
}

/* Binds this process to one of the cores that it may use: the one with this
 * number, from 0. */
static void pin(int n)
{
    cpu_set_t may, one;
    int core;

    CPU_ZERO(&one);
    check(sched_getaffinity(0, sizeof(may), &may) == 0 ? UCS_OK :
                                                         UCS_ERR_IO_ERROR,
          "sched_getaffinity");
    for (core = 0; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(core, &may) && (n-- == 0)) {
            CPU_SET(core, &one);
            check(sched_setaffinity(0, sizeof(one), &one) == 0 ?
                      UCS_OK :
                      UCS_ERR_IO_ERROR,
                  "sched_setaffinity");
            return;
        }
    }
    fail("two cores are needed", "this process may use one only");
}

/* Handler of SIGCHLD in the driver: ends the program if the partner has ended,
 * because the driver could wait for the partner for ever. Both processes search
 * for the transport. A partner that does not find it prints a message and exits
 * with EXIT_NO_SUCH; the driver then exits with the same status. */
static void on_partner_gone(int signal_number)
{
    int status = 0;

    (void)signal_number;
    if (waitpid(-1, &status, WNOHANG) > 0) {
        _exit((WIFEXITED(status) && (WEXITSTATUS(status) != 0)) ?
                  WEXITSTATUS(status) :
                  1);
    }
}

static int run(const struct options *options)
{
    struct side side = {.lines = lines_map(sizeof(*side.lines))};
    int pair[2], status = 0;
    pid_t partner;

    if ((side.lines == NULL) ||
        (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)) {
        fail("cannot prepare two processes", strerror(errno));
    }
    signal(SIGCHLD, on_partner_gone);
    partner = fork();
    if (partner < 0) {
        fail("fork", strerror(errno));
    }
    side.driver = (partner != 0);
    side.socket = pair[side.driver];
    close(pair[!side.driver]);
    pin(side.driver ? 0 : 1);
    if (!side.driver) {
        signal(SIGCHLD, SIG_DFL);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        side_open(&side, options);
        partner_main(&side);
        side_close(&side);
        return 0;
    }
    side_open(&side, options);
    driver_main(&side, options);
    signal(SIGCHLD, SIG_DFL);
    side_close(&side);
    waitpid(partner, &status, 0);
    return (status == 0) ? 0 : 1;
}

int main(int argc, char **argv)
{
    static const struct option names[] = {
        {"tl", required_argument, NULL, 'x'},
        {"device", required_argument, NULL, 'd'},
        {"time", required_argument, NULL, 't'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct options options = {.tl = "posix", .seconds = 0.2};
    int c;

    while ((c = getopt_long(argc, argv, "x:d:t:jh", names, NULL)) != -1) {
        switch (c) {
        case 'x':
            options.tl = optarg;
            break;
        case 'd':
            options.device = optarg;
            break;
        case 't':
            options.seconds = atoi(optarg) * 1e-3;
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
    if (options.seconds <= 0) {
        fail("--time", "must be positive");
    }
    return run(&options);
}
