/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Log messages of the library: the macros of <ucs/debug/log_def.h>, and the
 * configuration of the log.
 */
#ifndef UCS_LOG_H
#define UCS_LOG_H

#include <stdarg.h>
#include <stdio.h>
#include <ucs/config/types.h>
#include <ucs/sys/compiler_def.h>

/* Tells log_def.h not to define this macro: the inline function of this name,
 * which is defined in this file, is used instead. */
#define ucs_log_is_enabled ucs_log_is_enabled
#include <ucs/debug/log_def.h>

BEGIN_C_DECLS

/* Size of the buffer for a message, without the prefix of the line (time, host,
 * process and so on). Longer messages are truncated and end in "...". */
#define UCS_LOG_MESSAGE_MAX 2048

/* Current log level. Read it by ucs_log_level_get. */
extern unsigned ucs_log_current_level;

/* Names of the levels in UCX_LOG_LEVEL, terminated by NULL. */
extern const char *ucs_log_level_names[];

/**
 * Receives every enabled message before the message is written. Called by the
 * thread that logs, without a lock of the logger; the hook may log messages.
 *
 * @return Nonzero to suppress the message.
 */
typedef int (*ucs_log_hook_t)(void *arg, const char *file, unsigned line,
                              const char *function, ucs_log_level_t level,
                              const char *message);

static UCS_F_ALWAYS_INLINE ucs_log_level_t ucs_log_level_get(void)
{
    return (ucs_log_level_t)__atomic_load_n(&ucs_log_current_level,
                                            __ATOMIC_RELAXED);
}

static UCS_F_ALWAYS_INLINE int ucs_log_is_enabled(ucs_log_level_t level)
{
    return ucs_unlikely((level <= UCS_MAX_LOG_LEVEL) &&
                        (level <= ucs_log_level_get()));
}

void ucs_log_level_set(ucs_log_level_t level);

/* Sets the output: "stdout", "stderr" or a path, which may begin with "file:"
 * and in which %p, %h, %e, %u and %t are replaced by process id, host, program,
 * user and time. NULL and "" mean stderr. If no message was written before, the
 * next message opens the file; otherwise this function opens it. */
void ucs_log_file_set(const char *spec);

/* Opens a stream to the output of the log, for text that is not a message, such
 * as tables. The caller closes it. NULL: out of descriptors or memory. */
FILE *ucs_log_open_stream(void);

/* Sets the hook; NULL removes it. Threads that are logging during the call may
 * still call the previous hook. */
void ucs_log_hook_set(ucs_log_hook_t hook, void *arg);

/* Logs a message of the library if its level is enabled. The check is in this
 * function, not in a macro, which keeps the code of callers small. Therefore
 * the arguments are evaluated even if the level is disabled. */
void ucs_log_message(const char *file, unsigned line, const char *function,
                     ucs_log_level_t level, const char *format, ...)
    UCS_F_PRINTF(5, 6) UCS_F_COLD;

/* Errors, warnings and diagnostics are rare, because successful operations do
 * not log them. Therefore these macros call the function without a check of the
 * level. The macros of the other levels check the level in the caller's
 * code. */
#undef ucs_error
#undef ucs_warn
#undef ucs_diag
#define ucs_error(_fmt, ...) \
    ucs_log_message(__FILE__, __LINE__, __func__, UCS_LOG_LEVEL_ERROR, _fmt, \
                    ##__VA_ARGS__)
#define ucs_warn(_fmt, ...) \
    ucs_log_message(__FILE__, __LINE__, __func__, UCS_LOG_LEVEL_WARN, _fmt, \
                    ##__VA_ARGS__)
#define ucs_diag(_fmt, ...) \
    ucs_log_message(__FILE__, __LINE__, __func__, UCS_LOG_LEVEL_DIAG, _fmt, \
                    ##__VA_ARGS__)

/* As ucs_log_dispatch() in <ucs/debug/log_def.h>, with a va_list. `component`
 * is printed before the level: the name of a plugin, or NULL for "UCX". */
void ucs_log_dispatchv(const char *component, const char *file, unsigned line,
                       const char *function, ucs_log_level_t level,
                       const char *format, va_list ap) UCS_F_PRINTF(6, 0);

/* Logs a message at level fatal, then calls abort(). */
void ucs_log_fatal(const char *file, unsigned line, const char *function,
                   const char *format, ...)
    UCS_F_PRINTF(4, 5) UCS_F_NORETURN UCS_F_COLD;

#define ucs_fatal(_fmt, ...) \
    ucs_log_fatal(__FILE__, __LINE__, __func__, _fmt, ##__VA_ARGS__)

END_C_DECLS

#endif
