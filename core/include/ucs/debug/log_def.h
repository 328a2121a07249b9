/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Log messages: macros that write to the library's log. A component is a part
 * of a program that has a name and a log level of its own
 * (ucs_log_component_config_t). If a message is disabled, the macro only
 * compares the levels; its arguments are not evaluated.
 */
#ifndef UCS_DEBUG_LOG_DEF_H
#define UCS_DEBUG_LOG_DEF_H

#include <stdarg.h>
#include <stddef.h>
#include <ucs/config/types.h>
#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/** @addtogroup UCS_DEBUG
 *  @{ */

#ifndef UCS_MAX_LOG_LEVEL
/** The most detailed level that is compiled in. */
#define UCS_MAX_LOG_LEVEL UCS_LOG_LEVEL_TRACE_POLL
#endif

/**
 * Writes one message, also if its level is disabled; ucs_log_component() checks
 * the level before it calls this function. The message is one line, written by
 * one write() to the file of UCX_LOG_FILE. Control characters other than tabs
 * are replaced, and messages longer than the buffer (ucs_log_get_buffer_size())
 * are truncated. Any thread; errno is not changed.
 *
 * @param [in] file       Source file; its folders are not printed.
 * @param [in] line       Line in the file.
 * @param [in] function   Name of the function.
 * @param [in] level      Level, which is printed. UCS_LOG_LEVEL_PRINT is output
 *                        that the user requested: it has no prefix.
 * @param [in] comp_conf  Component, whose name is printed; NULL: the library.
 * @param [in] format     Format and arguments as for printf().
 */
void ucs_log_dispatch(const char *file, unsigned line, const char *function,
                      ucs_log_level_t level,
                      ucs_log_component_config_t *comp_conf, const char *format,
                      ...) UCS_F_PRINTF(6, 7) UCS_F_COLD;

/**
 * Returns the level of the library's own messages, which UCX_LOG_LEVEL sets.
 * Any thread.
 *
 * @return The level
 */
ucs_log_level_t ucs_log_get_level(void);

/**
 * Returns the maximum length of a message in bytes, without the prefix and with
 * the terminating zero.
 *
 * @return The length
 */
size_t ucs_log_get_buffer_size(void);

/** Does nothing: every message is written at once, so there are no buffered
 *  messages to flush. */
void ucs_log_flush(void);

/** Writes a message at level fatal; the process continues. Any thread. */
void ucs_log_fatal_error(const char *format, ...) UCS_F_PRINTF(1, 2);

/* Nonzero if a component's messages of this level are printed. _comp_log_config
 * points to the component's settings, and is not NULL. */
#define ucs_log_component_is_enabled(_level, _comp_log_config) \
    ucs_unlikely( \
        ((_level) <= UCS_MAX_LOG_LEVEL) && \
        ((_level) <= (ucs_log_level_t)((_comp_log_config)->log_level)))
#ifndef ucs_log_is_enabled /* libucs defines it to read its level directly */
/** Nonzero if messages of a level are printed. */
#define ucs_log_is_enabled(_level) \
    ucs_unlikely(((_level) <= UCS_MAX_LOG_LEVEL) && \
                 ((_level) <= ucs_log_get_level()))
#endif

/** Prints a message of a component, if its level is enabled. The format and the
 *  arguments are those of printf(). */
#define ucs_log_component(_level, _comp_log_config, _fmt, ...) \
    do { \
        if (ucs_log_component_is_enabled(_level, _comp_log_config)) { \
            ucs_log_dispatch(__FILE__, __LINE__, __func__, \
                             (ucs_log_level_t)(_level), (_comp_log_config), \
                             _fmt, ##__VA_ARGS__); \
        } \
    } while (0)

/** Prints a message of the library, if its level is enabled. */
#define ucs_log(_level, _fmt, ...) \
    do { \
        if (ucs_log_is_enabled(_level)) { \
            ucs_log_dispatch(__FILE__, __LINE__, __func__, \
                             (ucs_log_level_t)(_level), NULL, _fmt, \
                             ##__VA_ARGS__); \
        } \
    } while (0)

/** Each of these macros prints a message of the library, of the level that the
 *  macro's name contains, if the level is enabled. */
#define ucs_error(_fmt, ...) ucs_log(UCS_LOG_LEVEL_ERROR, _fmt, ##__VA_ARGS__)
#define ucs_warn(_fmt, ...)  ucs_log(UCS_LOG_LEVEL_WARN, _fmt, ##__VA_ARGS__)
#define ucs_diag(_fmt, ...)  ucs_log(UCS_LOG_LEVEL_DIAG, _fmt, ##__VA_ARGS__)
#define ucs_info(_fmt, ...)  ucs_log(UCS_LOG_LEVEL_INFO, _fmt, ##__VA_ARGS__)
#define ucs_debug(_fmt, ...) ucs_log(UCS_LOG_LEVEL_DEBUG, _fmt, ##__VA_ARGS__)
#define ucs_trace(_fmt, ...) ucs_log(UCS_LOG_LEVEL_TRACE, _fmt, ##__VA_ARGS__)
#define ucs_trace_req(_fmt, ...) \
    ucs_log(UCS_LOG_LEVEL_TRACE_REQ, _fmt, ##__VA_ARGS__)
#define ucs_trace_data(_fmt, ...) \
    ucs_log(UCS_LOG_LEVEL_TRACE_DATA, _fmt, ##__VA_ARGS__)
#define ucs_trace_async(_fmt, ...) \
    ucs_log(UCS_LOG_LEVEL_TRACE_ASYNC, _fmt, ##__VA_ARGS__)
#define ucs_trace_func(_fmt, ...) \
    ucs_log(UCS_LOG_LEVEL_TRACE_FUNC, "%s(" _fmt ")", __func__, ##__VA_ARGS__)
#define ucs_trace_poll(_fmt, ...) \
    ucs_log(UCS_LOG_LEVEL_TRACE_POLL, _fmt, ##__VA_ARGS__)

/* Prints output that the user requested, whatever UCX_LOG_LEVEL is. */
#define ucs_print(_fmt, ...) \
    ucs_log_dispatch(__FILE__, __LINE__, __func__, UCS_LOG_LEVEL_PRINT, NULL, \
                     _fmt, ##__VA_ARGS__)

/** @} */

END_C_DECLS

#endif
