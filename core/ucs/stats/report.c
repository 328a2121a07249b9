/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports: when and where counters are written. The service thread is the
 * thread of the library that runs asynchronous handlers (ucs/async). It writes
 * the reports by timer, and those that a signal requests: the signal handler
 * only wakes this thread by an eventfd.
 */
#include "ucs/stats/internal.h"

#include "ucs/async/async.h"
#include "ucs/debug/log.h"
#include "ucs/sys/sys.h"
#include "ucs/time/time.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

typedef enum { TO_NOBODY, TO_STDOUT, TO_STDERR, TO_FILE } dest_t;

static struct {
    pthread_mutex_t lock;
    int running; /* stats_report_start() was called, and stats_report_stop() not
                  * since */
    int due;     /* stats_report_last() must write a report */
    dest_t dest;
    char path[PATH_MAX]; /* with %p, %h and so on; see
                          * ucs_fill_filename_template() */
    ucs_stats_format_t format;
    ucs_config_names_array_t filter; /* patterns of names of counters; a copy */
    int timer;                       /* id of the timer; -1: none */
    int event_fd; /* eventfd to which the signal handler writes; -1: no
                   * handler */
    int signo;    /* the signal; valid unless event_fd is -1 */
} report = {
    .lock     = PTHREAD_MUTEX_INITIALIZER,
    .timer    = -1,
    .event_fd = -1,
};

/* -------------------------------------------------------------- writing -- */

static void print_to(FILE *stream, const ucs_stats_view_t *view,
                     ucs_stats_format_t format)
{
    const ucs_stats_print_params_t params = {
        .format = format,
        .filter = &report.filter,
    };

    ucs_stats_print(stream, view, &params);
}

static void write_to_file(const ucs_stats_view_t *view)
{
    ucs_stats_format_t format = report.format;
    char *text                = NULL;
    size_t length;
    char path[PATH_MAX];
    ucs_status_t status;
    FILE *stream;

    if (ucs_fill_filename_template(report.path, path, sizeof(path)) != UCS_OK) {
        ucs_error("UCX_STATS_DEST: the path %s is too long", report.path);
        return;
    }
    length = strlen(path);
    if ((length > 5) && (strcmp(path + length - 5, ".json") == 0)) {
        format = UCS_STATS_FORMAT_JSON;
    }

    stream = open_memstream(&text, &length);
    if (stream == NULL) {
        return;
    }
    print_to(stream, view, format);
    fclose(stream);
    errno  = 0;
    status = (text == NULL) ?
                 UCS_ERR_NO_MEMORY :
                 ucs_write_file(path, text, length, S_IRUSR | S_IWUSR);
    if (status != UCS_OK) {
        ucs_error("UCX_STATS_DEST: the counters cannot be written to %s: %s",
                  path,
                  (errno != 0) ? strerror(errno) : ucs_status_string(status));
    }
    free(text);
}

/* Writes a report. The caller holds the lock. */
static void write_report(void)
{
    ucs_stats_view_t *view;

    if ((report.dest == TO_NOBODY) || (ucs_stats_view_self(&view) != UCS_OK)) {
        return;
    }
    if (report.dest == TO_FILE) {
        write_to_file(view);
    } else {
        FILE *stream = (report.dest == TO_STDOUT) ? stdout : stderr;

        print_to(stream, view, report.format);
        fflush(stream);
    }
    ucs_stats_view_free(view);
}

static void on_time(int id, ucs_event_set_types_t events, void *arg)
{
    pthread_mutex_lock(&report.lock);
    if (report.running) {
        write_report();
    }
    pthread_mutex_unlock(&report.lock);
}

static void on_signal_event(int fd, ucs_event_set_types_t events, void *arg)
{
    uint64_t count;

    if (read(fd, &count, sizeof(count)) == sizeof(count)) {
        on_time(fd, events, arg);
    }
}

/* Handles the signal. The descriptor is valid, because it is opened before the
 * handler is installed and closed after the handler is removed; or it is -1,
 * because stats_report_stop() runs in another thread. */
static void on_signal(int signo)
{
    const uint64_t one = 1;
    int saved          = errno;
    ssize_t written;

    written = write(__atomic_load_n(&report.event_fd, __ATOMIC_RELAXED), &one,
                    sizeof(one));
    (void)written; /* if the write fails, the counter of the eventfd is full
                    * (earlier writes have already woken the service thread), or
                    * the reports are being stopped */
    errno = saved;
}

/* ------------------------------------------------------------- settings -- */

static void take_dest(const char *dest)
{
    report.dest = TO_NOBODY;
    if (strcmp(dest, "stdout") == 0) {
        report.dest = TO_STDOUT;
    } else if (strcmp(dest, "stderr") == 0) {
        report.dest = TO_STDERR;
    } else if ((strncmp(dest, "file:", 5) == 0) && (dest[5] != '\0') &&
               (strlen(dest + 5) < sizeof(report.path))) {
        strcpy(report.path, dest + 5);
        report.dest = TO_FILE;
    } else if (dest[0] != '\0') {
        ucs_error("UCX_STATS_DEST=%s: expected stdout, stderr or file:<path>;"
                  " nothing is written, \"ucx_info --live %d\" shows the"
                  " counters",
                  dest, (int)getpid());
    }
}

/* Returns the number of a signal, given as a number or as a name with or
 * without SIG; 0 if it is invalid. */
static int signal_number(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);
    int i;

    if ((end != text) && (*end == '\0')) {
        return ((number > 0) && (number <= SIGRTMAX)) ? (int)number : 0;
    }
    if (strncasecmp(text, "SIG", 3) == 0) {
        text += 3;
    }
    for (i = 1; i < NSIG; ++i) {
        const char *name = sigabbrev_np(i);

        if ((name != NULL) && (strcasecmp(name, text) == 0)) {
            return i;
        }
    }
    return 0;
}

/* Installs on_signal() for the signal. Returns zero if the signal has a handler
 * or is ignored, or cannot be caught. */
static int take_signal(int signo)
{
    struct sigaction action = {
        .sa_handler = on_signal,
        .sa_flags   = SA_RESTART,
    };
    struct sigaction old;

    return (sigaction(signo, NULL, &old) == 0) && (old.sa_handler == SIG_DFL) &&
           (sigaction(signo, &action, NULL) == 0);
}

static void start_signal(int signo)
{
    report.event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (report.event_fd < 0) {
        goto err;
    }
    if (ucs_async_set_event_handler(UCS_ASYNC_MODE_THREAD_SPINLOCK,
                                    report.event_fd, UCS_EVENT_SET_EVREAD,
                                    on_signal_event, NULL, NULL) != UCS_OK) {
        goto err_close;
    }
    if (!take_signal(signo)) {
        goto err_remove;
    }
    report.signo = signo;
    return;

err_remove:
    ucs_async_remove_handler(report.event_fd, 0);
err_close:
    close(report.event_fd);
    report.event_fd = -1;
err:
    ucs_error("UCX_STATS_TRIGGER: signal %d (%s) cannot be used, or is used"
              " by other code: the counters are written at exit only",
              signo, strsignal(signo));
}

static int start_timer(const char *text)
{
    char why[UCS_CONFIG_WHY_MAX] = "";
    double seconds;

    if ((ucs_config_type_time.parse(text, &seconds, NULL, why) != UCS_OK) ||
        !(seconds >= 1e-3) || !(seconds < 1e9)) {
        return 0;
    }
    return ucs_async_add_timer(UCS_ASYNC_MODE_THREAD_SPINLOCK,
                               ucs_time_from_sec(seconds), on_time, NULL, NULL,
                               &report.timer) == UCS_OK;
}

static void start_trigger(const char *trigger)
{
    int signo;

    if (strcmp(trigger, "exit") == 0) {
        return;
    }
    if (strncmp(trigger, "timer:", 6) == 0) {
        if (start_timer(trigger + 6)) {
            return;
        }
    } else if (strncmp(trigger, "signal:", 7) == 0) {
        signo = signal_number(trigger + 7);
        if (signo != 0) {
            start_signal(signo); /* logs its failure */
            return;
        }
    }
    ucs_error("UCX_STATS_TRIGGER=%s: expected exit, signal:<name or number> or"
              " timer:<interval> of 1ms or more; the counters are written at"
              " exit only",
              trigger);
}

static void drop_filter(void)
{
    unsigned i;

    for (i = 0; i < report.filter.count; ++i) {
        free(report.filter.names[i]);
    }
    free(report.filter.names);
    report.filter.names = NULL;
    report.filter.count = 0;
}

static void take_filter(const ucs_config_names_array_t *filter)
{
    unsigned i;

    drop_filter();
    report.filter.names = calloc(filter->count + 1, sizeof(char *));
    for (i = 0; (report.filter.names != NULL) && (i < filter->count); ++i) {
        report.filter.names[i] = strdup(filter->names[i]);
        if (report.filter.names[i] == NULL) {
            break; /* out of memory: the filter is incomplete */
        }
        ++report.filter.count;
    }
}

void stats_report_start(const stats_options_t *options)
{
    pthread_mutex_lock(&report.lock);
    if (!report.running) {
        report.running = 1;
        report.due     = 1;
        report.format  = (ucs_stats_format_t)options->format;
        take_dest(options->dest);
        take_filter(&options->filter);
        if (report.dest != TO_NOBODY) {
            start_trigger(options->trigger);
        }
    }
    pthread_mutex_unlock(&report.lock);
}

/* ------------------------------------------------------------------ end -- */

void stats_report_stop(void)
{
    int timer, event_fd;

    pthread_mutex_lock(&report.lock);
    report.running = 0;
    timer          = report.timer;
    event_fd       = report.event_fd;
    report.timer   = -1;
    if (event_fd >= 0) {
        signal(report.signo, SIG_DFL);
        report.event_fd = -1;
    }
    pthread_mutex_unlock(&report.lock);

    /* without the lock: the removal waits for the handlers, which take the
     * lock */
    if (timer >= 0) {
        ucs_async_remove_handler(timer, 1);
    }
    if (event_fd >= 0) {
        ucs_async_remove_handler(event_fd, 1);
        close(event_fd);
    }
}

void stats_report_forked(void)
{
    /* a thread of the parent may have held the lock; the child has no such
     * thread */
    pthread_mutex_init(&report.lock, NULL);
    report.running = 0;
    report.due     = 0;
    report.timer   = -1; /* ucs/async drops all handlers in the child */
    if (report.event_fd >= 0) {
        signal(report.signo, SIG_DFL);
        close(report.event_fd);
        report.event_fd = -1;
    }
}

void stats_report_last(void)
{
    pthread_mutex_lock(&report.lock);
    report.running = 0;
    if (report.due) {
        report.due = 0;
        write_report();
    }
    drop_filter();
    pthread_mutex_unlock(&report.lock);
}
