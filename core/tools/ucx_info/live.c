/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --live: the counters of a running process, once or periodically. They are
 * read from the memory file of that process, which takes no action itself.
 */
#include "info.h"

#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory_end.h"
#include "ucs/stats/view.h"

enum { COPIES_MAX = 8 };

/* The counters of one copy of the library in the process. */
typedef struct {
    int fd;
    ucs_stats_view_t *before; /* counters of the previous output; NULL before
                               * the first output */
} copy_t;

typedef struct {
    const info_t *info;
    pid_t pid;
    int pid_fd; /* readable when the process has exited; -1: not available */
    copy_t copies[COPIES_MAX];
    unsigned num_copies;
} live_t;

static int parse_pid(const char *text, pid_t *pid_p)
{
    char *end;
    long pid = strtol(text, &end, 10);

    if ((text[0] < '0') || (text[0] > '9') || (*end != '\0') || (pid <= 0) ||
        (pid > INT_MAX)) {
        info_complain("--live takes the number of a process, not '%s'", text);
        return 0;
    }
    *pid_p = (pid_t)pid;
    return 1;
}

static int open_copies(live_t *live)
{
    char why[UCS_STATS_WHY_MAX] = "";

    while (live->num_copies < COPIES_MAX) {
        int fd = ucs_stats_open_process(live->pid, live->num_copies, why);

        if (fd < 0) {
            break;
        }
        live->copies[live->num_copies++] = (copy_t){fd, NULL};
    }
    if (live->num_copies == 0) {
        info_complain("%s", why);
        return 0;
    }
    live->pid_fd = (int)syscall(SYS_pidfd_open, live->pid, 0);
    return 1;
}

static void close_copies(live_t *live)
{
    unsigned i;

    for (i = 0; i < live->num_copies; ++i) {
        close(live->copies[i].fd);
        ucs_stats_view_free(live->copies[i].before);
    }
    if (live->pid_fd >= 0) {
        close(live->pid_fd);
    }
}

static ucs_stats_view_t *take_view(const live_t *live, const copy_t *copy)
{
    char why[UCS_STATS_WHY_MAX] = "out of memory";
    ucs_stats_view_t *view;

    if (ucs_stats_view_read(copy->fd, &view, why) != UCS_OK) {
        info_complain("process %d: %s", (int)live->pid, why);
        return NULL;
    }
    return view;
}

/* Prints the counters of all copies once. If the counters of a copy cannot be
 * read, returns zero without printing the remaining copies. Also returns zero
 * if the output cannot be written. */
static int show(live_t *live)
{
    ucs_stats_print_params_t params = {
        .format = live->info->json ? UCS_STATS_FORMAT_JSON :
                                     (ucs_stats_format_t)live->info->detail,
    };
    unsigned i;

    if (!live->info->json && (live->info->interval > 0) &&
        isatty(STDOUT_FILENO)) {
        fputs("\033[H\033[2J", stdout); /* clear the screen */
    }
    for (i = 0; i < live->num_copies; ++i) {
        copy_t *copy           = &live->copies[i];
        ucs_stats_view_t *view = take_view(live, copy);

        if (view == NULL) {
            return 0;
        }
        params.before = copy->before;
        ucs_stats_print(stdout, view, &params);
        ucs_stats_view_free(copy->before);
        copy->before = view;
    }
    return fflush(stdout) == 0;
}

/* Waits for the interval (-i). Returns zero as soon as the process has exited,
 * or a signal interrupts the wait. */
static int wait_for_round(const live_t *live)
{
    struct pollfd set = {.fd = live->pid_fd, .events = POLLIN};

    return poll(&set, 1, (int)(live->info->interval * 1e3)) == 0;
}

/* Returns the answer, with an object for each copy of the library in the
 * process. */
static json_t *answer_of(const live_t *live)
{
    ucs_stats_print_params_t params = {.format = UCS_STATS_FORMAT_JSON};
    json_t *answer                  = json_array();
    unsigned i;

    for (i = 0; i < live->num_copies; ++i) {
        ucs_stats_view_t *view = take_view(live, &live->copies[i]);
        char *text             = NULL;
        size_t length;
        FILE *stream;

        if (view == NULL) {
            continue;
        }
        stream = memory_or_end(open_memstream(&text, &length));
        ucs_stats_print(stream, view, &params);
        memory_stream_close(stream, &text);
        json_array_append_new(answer, json_loads(text, 0, NULL));
        free(text);
        ucs_stats_view_free(view);
    }
    return answer;
}

int info_live_ask(info_t *info, json_t **answer_p)
{
    live_t live = {.info = info, .pid_fd = -1};
    int shown   = 0;

    if (!parse_pid(info_argument(info, "live"), &live.pid) ||
        !open_copies(&live)) {
        return INFO_BAD;
    }

    if (info->json && (info->interval == 0)) {
        *answer_p = answer_of(&live);
        shown     = json_array_size(*answer_p) == live.num_copies;
    } else {
        shown = show(&live);
        while (shown && (info->interval > 0) && wait_for_round(&live)) {
            shown = show(&live);
        }
    }
    close_copies(&live);
    return shown ? INFO_OK : INFO_BAD;
}
