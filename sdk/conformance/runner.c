/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs each check in a process of its own. The reporting process never executes
 * the plugin's code, and a check that forks a peer does so before it loads
 * anything.
 */
#include "runner.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

record_t *runner_record_new(void)
{
    record_t *record = mmap(NULL, sizeof(*record), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return (record == MAP_FAILED) ? NULL : record;
}

void runner_record_free(record_t *record)
{
    munmap(record, sizeof(*record));
}

int runner_wait(pid_t pid, double limit, int *timed_out)
{
    struct pollfd pfd = {
        .fd     = (int)syscall(SYS_pidfd_open, pid, 0),
        .events = POLLIN,
    };
    double end = clock_now() + limit;
    int status = 0;
    double now;
    int ready;

    *timed_out = 0;
    if (pfd.fd >= 0) {
        do {
            now   = clock_now();
            ready = poll(&pfd, 1,
                         (now < end) ? (int)((end - now) * 1e3) + 1 : 0);
        } while ((ready < 0) && (errno == EINTR));
        close(pfd.fd);
        if (ready == 0) {
            *timed_out = 1;
            kill(pid, SIGKILL);
        }
    }

    while ((waitpid(pid, &status, 0) < 0) && (errno == EINTR)) {
    }
    return status;
}

/* Runs the check in the child process. What the check prints goes to stderr,
 * because stdout is for the report. The child is killed if its parent ends. */
static void run_child(run_t *run, void (*check)(run_t *run), pid_t parent)
{
    double start = clock_now();

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(1);
    }

    signal(SIGPIPE, SIG_IGN);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    check(run);
    run->record->seconds  = clock_now() - start;
    run->record->finished = 1;
    _exit(0);
}

void runner_run(const target_t *target, const resource_t *resource,
                void (*check)(run_t *run), int rule, const limits_t *limits,
                record_t *record)
{
    run_t run = {
        .target    = target,
        .resource  = resource,
        .record    = record,
        .notice    = limits->notice,
        .tolerance = limits->tolerance,
    };
    pid_t parent = getpid();
    int status, timed_out;
    pid_t pid;

    memset(record, 0, sizeof(*record));
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        run_child(&run, check, parent);
    } else if (pid < 0) {
        check_fail(&run, rule, "no process for the check: %s", strerror(errno));
        return;
    }

    status = runner_wait(pid, limits->check, &timed_out);
    if (record->doing[0] == '\0') {
        strcpy(record->doing, "starting");
    }
    if (record->crash_rule != 0) {
        rule = record->crash_rule;
    }

    if (timed_out) {
        check_fail(&run, CHECK_TIME_LIMIT,
                   "it did not end within %.0f s, "
                   "while %s; if the machine is busy, --timeout allows more",
                   limits->check, record->doing);
    } else if (WIFSIGNALED(status)) {
        check_fail(&run, rule, "crashed by signal %d (%s) while %s",
                   WTERMSIG(status), strsignal(WTERMSIG(status)),
                   record->doing);
    } else if (!record->finished) {
        check_fail(&run, rule, "the process exited with %d while %s",
                   WEXITSTATUS(status), record->doing);
    }
}

void runner_apart(run_t *run, void (*body)(run_t *run, void *arg), void *arg,
                  double limit, int rule, const char *what)
{
    int status, timed_out;
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        body(run, arg);
        check_give_up(run);
    } else if (pid < 0) {
        check_fail(run, rule, "no process for %s: %s", what, strerror(errno));
        return;
    }

    status                = runner_wait(pid, limit, &timed_out);
    run->record->finished = 0;
    check_that(run, rule, !timed_out && (status == 0), "%s ends in: %s", what,
               timed_out           ? "no end" :
               WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) :
                                     "an exit of the process");
}
