/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The logger: formats a line and writes it by one write() call, so that lines
 * of several threads and processes do not mix. A lock is taken only to open the
 * file, and to set or read the hook.
 */
#include "ucs/debug/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ucs/sys/sys.h"

/* A write of at most PIPE_BUF (4096) bytes to a pipe is not interleaved with
 * writes of other processes. */
#define LOG_LINE_MAX (UCS_LOG_MESSAGE_MAX + 512)
#define LOG_PATH_MAX 4096

UCS_STATIC_ASSERT(LOG_LINE_MAX <= 4096);

typedef struct {
    ucs_log_hook_t func;
    void *arg;
} log_hook_t;

unsigned ucs_log_current_level = UCS_LOG_LEVEL_WARN;

static const char *const level_tags[] = {
    "FATAL", "ERROR", "WARN", "DIAG",  "INFO", "DEBUG",
    "TRACE", "REQ",   "DATA", "ASYNC", "FUNC", "POLL",
};

static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;
static log_hook_t log_hook;         /* protected by log_mutex */
static int log_has_hook;            /* atomic; log_hook.func is not NULL */
static char log_spec[LOG_PATH_MAX]; /* under log_mutex; the output as set by
                                     * ucs_log_file_set(); "": stderr */
static int log_fd      = -1;        /* atomic; messages are written to it; -1:
                                     * not open yet */
static int log_file_fd = -1;        /* under log_mutex; the descriptor of all
                                     * log files, see log_switch; -1: no file
                                     * was opened yet */
/* Atomic. The process id that is part of the name of the open file; 0 if the
 * name contains no process id. */
static pid_t log_pid;

/* Blocks signals while the mutex is held, because a signal handler may log. */
static void log_lock(sigset_t *saved)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, saved);
    pthread_mutex_lock(&log_mutex);
}

static void log_unlock(const sigset_t *saved)
{
    pthread_mutex_unlock(&log_mutex);
    pthread_sigmask(SIG_SETMASK, saved, NULL);
}

/* In the child, creates the mutex anew: another thread of the parent may have
 * held it at the fork. */
static void log_after_fork(void)
{
    pthread_mutex_init(&log_mutex, NULL);
}

static void UCS_F_CTOR log_at_load(void)
{
    pthread_atfork(NULL, NULL, log_after_fork);
}

static void UCS_F_DTOR log_at_unload(void)
{
    __atomic_store_n(&log_fd, STDERR_FILENO, __ATOMIC_RELAXED);
    if (log_file_fd >= 0) {
        close(log_file_fd);
    }
}

/* Returns a descriptor of the output that log_spec names; stderr if a file
 * cannot be opened. *pid_p receives the value for log_pid. */
static int log_open(pid_t *pid_p)
{
    char path[LOG_PATH_MAX];
    const char *spec = log_spec;
    int fd;

    *pid_p = 0;
    if ((spec[0] == '\0') || !strcmp(spec, "stderr")) {
        return STDERR_FILENO;
    } else if (!strcmp(spec, "stdout")) {
        return STDOUT_FILENO;
    }

    if (!strncmp(spec, "file:", 5)) {
        spec += 5;
    }

    if (ucs_fill_filename_template(spec, path, sizeof(path)) != UCS_OK) {
        dprintf(STDERR_FILENO,
                "UCX: the name of log file '%.200s' is too long; logging to "
                "stderr\n",
                spec);
        return STDERR_FILENO;
    }

    fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0644);
    if (fd < 0) {
        dprintf(STDERR_FILENO,
                "UCX: cannot open log file '%s': %s; logging to stderr\n", path,
                strerror(errno));
        return STDERR_FILENO;
    }

    if (strstr(spec, "%p") != NULL) {
        *pid_p = getpid();
    }

    return fd;
}

/* Opens the output that log_spec names. The caller holds the mutex. All log
 * files use the same descriptor number (log_file_fd). A new file replaces the
 * old one by dup3(), which never closes the number: another thread may be about
 * to write to it. If the number were closed, an unrelated file could get it and
 * receive the message. */
static int log_switch(void)
{
    pid_t pid;
    int fd;

    fd = log_open(&pid);
    if (log_file_fd < 0) {
        log_file_fd = (fd > STDERR_FILENO) ? fd : -1;
    } else {
        dup3(fd, log_file_fd, O_CLOEXEC);
        if (fd > STDERR_FILENO) {
            close(fd);
            fd = log_file_fd;
        }
    }

    __atomic_store_n(&log_pid, pid, __ATOMIC_RELAXED);
    __atomic_store_n(&log_fd, fd, __ATOMIC_RELEASE);
    return fd;
}

/* Opens the output at the first message of the process, and in a forked child
 * again if the name of the file contains the process id. */
static int log_reopen(void)
{
    sigset_t saved;
    pid_t pid;
    int fd;

    log_lock(&saved);
    fd  = __atomic_load_n(&log_fd, __ATOMIC_RELAXED);
    pid = __atomic_load_n(&log_pid, __ATOMIC_RELAXED);
    if ((fd < 0) || ((pid != 0) && (pid != getpid()))) {
        fd = log_switch();
    }
    log_unlock(&saved);
    return fd;
}

static int log_get_fd(void)
{
    int fd    = __atomic_load_n(&log_fd, __ATOMIC_ACQUIRE);
    pid_t pid = __atomic_load_n(&log_pid, __ATOMIC_RELAXED);

    if (ucs_unlikely((fd < 0) || ((pid != 0) && (pid != getpid())))) {
        return log_reopen();
    }

    return fd;
}

void ucs_log_level_set(ucs_log_level_t level)
{
    __atomic_store_n(&ucs_log_current_level, (unsigned)level, __ATOMIC_RELAXED);
}

void ucs_log_file_set(const char *spec)
{
    sigset_t saved;

    log_lock(&saved);
    if (!ucs_strncpy_zero(log_spec, (spec == NULL) ? "" : spec,
                          sizeof(log_spec))) {
        log_spec[0] = '\0';
    }

    if (__atomic_load_n(&log_fd, __ATOMIC_RELAXED) >= 0) {
        log_switch();
    }
    log_unlock(&saved);
}

FILE *ucs_log_open_stream(void)
{
    int fd       = fcntl(log_get_fd(), F_DUPFD_CLOEXEC, 0);
    FILE *stream = (fd < 0) ? NULL : fdopen(fd, "a");

    if ((stream == NULL) && (fd >= 0)) {
        close(fd);
    }
    return stream;
}

void ucs_log_hook_set(ucs_log_hook_t hook, void *arg)
{
    sigset_t saved;

    log_lock(&saved);
    log_hook.func = hook;
    log_hook.arg  = arg;
    __atomic_store_n(&log_has_hook, hook != NULL, __ATOMIC_RELEASE);
    log_unlock(&saved);
}

static int log_call_hook(const char *file, unsigned line, const char *function,
                         ucs_log_level_t level, const char *message)
{
    log_hook_t hook;
    sigset_t saved;

    if (!__atomic_load_n(&log_has_hook, __ATOMIC_ACQUIRE)) {
        return 0;
    }

    log_lock(&saved);
    hook = log_hook;
    log_unlock(&saved);

    return (hook.func != NULL) &&
           hook.func(hook.arg, file, line, function, level, message);
}

/* Removes newlines at the end, and replaces other ASCII control characters
 * except tabs by '?'. The message may contain text from other processes, which
 * must not add forged lines to the log or control a terminal. */
static void log_tame(char *message)
{
    size_t length = strlen(message);
    unsigned char *p;

    while ((length > 0) && (message[length - 1] == '\n')) {
        message[--length] = '\0';
    }

    for (p = (unsigned char *)message; *p != '\0'; ++p) {
        if (((*p < ' ') && (*p != '\t')) || (*p == 0x7f)) {
            *p = '?';
        }
    }
}

static void log_write(const char *component, const char *file, unsigned line,
                      ucs_log_level_t level, const char *message)
{
    const char *name = strrchr(file, '/');
    char text[LOG_LINE_MAX];
    struct timespec ts;
    int length;

    clock_gettime(CLOCK_REALTIME, &ts);
    name = (name == NULL) ? file : name + 1;
    if (level == UCS_LOG_LEVEL_PRINT) {
        length = snprintf(text, sizeof(text), "%s", message);
    } else {
        length = snprintf(
            text, sizeof(text),
            "[%ld.%06ld] [%.64s:%d:%d] %20.64s:%-4u %.32s %-5s %s",
            (long)ts.tv_sec, ts.tv_nsec / 1000, ucs_get_host_name(),
            (int)getpid(), (int)ucs_get_tid(), name, line,
            (component == NULL) ? "UCX" : component,
            (level < UCS_LOG_LEVEL_LAST) ? level_tags[level] : "?", message);
    }

    if (length < 0) {
        return;
    } else if (length > (int)sizeof(text) - 2) {
        length = sizeof(text) - 2;
    }

    text[length++] = '\n';
    /* a failure of the log cannot be reported */
    (void)ucs_write_full(log_get_fd(), text, (size_t)length);
}

void ucs_log_dispatchv(const char *component, const char *file, unsigned line,
                       const char *function, ucs_log_level_t level,
                       const char *format, va_list ap)
{
    char message[UCS_LOG_MESSAGE_MAX];
    int saved_errno = errno;
    int length;

    length = vsnprintf(message, sizeof(message), format, ap);
    if (length >= (int)sizeof(message)) {
        strcpy(&message[sizeof(message) - sizeof("...")], "...");
    } else if (length < 0) {
        strcpy(message, "(message could not be formatted)");
    }

    log_tame(message);
    if (!log_call_hook(file, line, function, level, message)) {
        log_write(component, file, line, level, message);
    }

    errno = saved_errno;
}

void ucs_log_dispatch(const char *file, unsigned line, const char *function,
                      ucs_log_level_t level,
                      ucs_log_component_config_t *comp_conf, const char *format,
                      ...)
{
    va_list ap;

    va_start(ap, format);
    ucs_log_dispatchv((comp_conf == NULL) ? NULL : comp_conf->name, file, line,
                      function, level, format, ap);
    va_end(ap);
}

void ucs_log_message(const char *file, unsigned line, const char *function,
                     ucs_log_level_t level, const char *format, ...)
{
    va_list ap;

    if (ucs_log_is_enabled(level)) {
        va_start(ap, format);
        ucs_log_dispatchv(NULL, file, line, function, level, format, ap);
        va_end(ap);
    }
}

ucs_log_level_t ucs_log_get_level(void)
{
    return ucs_log_level_get();
}

size_t ucs_log_get_buffer_size(void)
{
    return UCS_LOG_MESSAGE_MAX;
}

void ucs_log_flush(void)
{
}

void ucs_log_fatal_error(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    ucs_log_dispatchv(NULL, "", 0, "", UCS_LOG_LEVEL_FATAL, format, ap);
    va_end(ap);
}

void ucs_log_fatal(const char *file, unsigned line, const char *function,
                   const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    ucs_log_dispatchv(NULL, file, line, function, UCS_LOG_LEVEL_FATAL, format,
                      ap);
    va_end(ap);
    abort();
}
