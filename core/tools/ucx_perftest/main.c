/* SPDX-License-Identifier: BSD-3-Clause */
/* ucx_perftest: the role of this process (client, server or both), and the
 * order of tests. */
#include "meet.h"
#include "options.h"
#include "plan.h"
#include "session.h"

#include <ucp/api/ucp.h>

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    EXIT_USAGE   = 2,
    EXIT_REFUSED = 3,
    EXIT_WRONG   = 4,
};

static int complain(const char *what, int status)
{
    fflush(stdout);
    fprintf(stderr, "ucx_perftest: %s\n", what);
    return status;
}

static int exit_status(enum session_end end)
{
    static const int statuses[] = {
        [SESSION_GOOD]    = EXIT_SUCCESS,
        [SESSION_REFUSED] = EXIT_REFUSED,
        [SESSION_WRONG]   = EXIT_WRONG,
        [SESSION_BROKEN]  = EXIT_FAILURE,
    };

    return statuses[end];
}

static bool pin(const int *cpus, unsigned count)
{
    cpu_set_t set;
    unsigned i;

    if (count == 0) {
        return true;
    }
    CPU_ZERO(&set);
    for (i = 0; i < count; ++i) {
        CPU_SET(cpus[i] % CPU_SETSIZE, &set);
    }
    if (sched_setaffinity(0, sizeof(set), &set) != 0) {
        fprintf(stderr,
                "ucx_perftest: cannot run on the processors of -c: "
                "%s\n",
                strerror(errno));
        return false;
    }
    return true;
}

/* Binds the process to its processors. With --self-fork the client uses the
 * first half of the list, the server the rest. */
static bool pin_half(const struct options *options, bool client)
{
    unsigned half = (options->cpu_count + 1) / 2;

    if (options->cpu_count < 2) {
        return pin(options->cpus, options->cpu_count);
    }
    return client ? pin(options->cpus, half) :
                    pin(options->cpus + half, options->cpu_count - half);
}

/* Runs the tests. Returns the worst result; no test runs after an aborted
 * one. */
static enum session_end run_tests(struct channel *channel,
                                  struct options *options,
                                  const struct plan *plan)
{
    enum session_end end = SESSION_GOOD, one;
    unsigned i;

    if (!report_open(&options->output)) {
        session_end(channel);
        return SESSION_BROKEN;
    }
    for (i = 0; (i < plan->count) && (end != SESSION_BROKEN); ++i) {
        one = session_test(channel, &options->output, &plan->entries[i].params,
                           &plan->entries[i].names);
        end = (one > end) ? one : end;
    }
    if (end != SESSION_BROKEN) {
        session_end(channel);
    }
    return report_close(&options->output) ? end : SESSION_BROKEN;
}

/* Exits at once after an aborted test: the test leaves workers and requests
 * that only a live peer could complete. */
static void leave_if_broken(enum session_end end)
{
    if (end == SESSION_BROKEN) {
        fflush(NULL);
        _exit(EXIT_FAILURE);
    }
}

static int run_client(struct options *options, const struct plan *plan)
{
    struct channel channel;
    enum session_end end;

    if (!pin(options->cpus, options->cpu_count)) {
        return EXIT_FAILURE;
    }
    if (!meet_connect(options->host, options->port, options->ipv6, &channel)) {
        return complain(channel.error, EXIT_FAILURE);
    }
    end = run_tests(&channel, options, plan);
    leave_if_broken(end);
    channel_close(&channel);
    return exit_status(end);
}

static int run_loopback(struct options *options, const struct plan *plan)
{
    enum session_end end;

    if (!pin(options->cpus, options->cpu_count)) {
        return EXIT_FAILURE;
    }
    end = run_tests(NULL, options, plan);
    leave_if_broken(end);
    return exit_status(end);
}

static void greet(const struct options *options, uint16_t port)
{
    if (options->port == 0) {
        printf("Waiting for connection at port %u...\n", port);
    } else {
        printf("Waiting for connection...\n");
    }
    fflush(stdout);
}

static enum session_end serve_one(struct channel *channel)
{
    enum session_end end;

    printf("Accepted connection from %s\n", channel->peer);
    end = session_serve(channel, true);
    leave_if_broken(end);
    channel_close(channel);
    return end;
}

/* Serves one client in a child process, so that an aborted test cannot affect
 * the next client. Waits for the child. */
static int serve_forever(struct channel *channel)
{
    pid_t child;
    int status;

    fflush(stdout);
    child = fork();
    if (child < 0) {
        return complain("cannot fork", EXIT_FAILURE);
    }
    if (child == 0) {
        exit(exit_status(serve_one(channel)));
    }
    channel_close(channel);
    waitpid(child, &status, 0);
    return EXIT_SUCCESS;
}

static int run_server(const struct options *options)
{
    uint16_t port = options->port;
    int status    = EXIT_SUCCESS, listener;
    char error[CHANNEL_ERROR_MAX];
    struct channel channel;

    if (!pin(options->cpus, options->cpu_count)) {
        return EXIT_FAILURE;
    }
    listener = meet_listen(&port, options->ipv6, error);
    if (listener < 0) {
        return complain(error, EXIT_FAILURE);
    }
    do {
        greet(options, port);
        if (!meet_accept(listener, &channel)) {
            status = complain(channel.error, EXIT_FAILURE);
        } else if (options->forever) {
            status = serve_forever(&channel);
        } else {
            status = exit_status(serve_one(&channel));
        }
    } while (options->forever && (status == EXIT_SUCCESS));
    close(listener);
    return status;
}

static int run_both(struct options *options, const struct plan *plan)
{
    struct channel channel;
    enum session_end end;
    pid_t child;
    int status;

    child = meet_fork(&channel);
    if (child < 0) {
        return complain(channel.error, EXIT_FAILURE);
    }
    if (!pin_half(options, child != 0)) {
        return EXIT_FAILURE;
    }
    if (child == 0) {
        end = session_serve(&channel, false);
        leave_if_broken(end);
        channel_close(&channel);
        return EXIT_SUCCESS;
    }
    end = run_tests(&channel, options, plan);
    channel_close(&channel);
    waitpid(child, &status, 0);
    leave_if_broken(end);
    return exit_status(end);
}

int main(int argc, char **argv)
{
    char error[PARAMS_ERROR_MAX];
    struct options options;
    struct plan plan = {0};
    int status;

    options_init(&options);
    if (!options_read(&options, argc, argv, error)) {
        return complain(error, EXIT_USAGE);
    }
    if (options.help) {
        options_help();
        return EXIT_SUCCESS;
    }
    if (options.version) {
        printf("ucx_perftest with library %s\n", ucp_get_version_string());
        return EXIT_SUCCESS;
    }
    clock_calibrate();
    if ((options.host == NULL) && !options.self_fork &&
        !(options.params.flags & PARAMS_LOOPBACK)) {
        return run_server(&options);
    }
    if (!plan_make(&plan, &options, error)) {
        status = complain(error, EXIT_USAGE);
    } else if (options.self_fork) {
        status = run_both(&options, &plan);
    } else if (options.host != NULL) {
        status = run_client(&options, &plan);
    } else {
        status = run_loopback(&options, &plan);
    }
    plan_free(&plan);
    return status;
}
