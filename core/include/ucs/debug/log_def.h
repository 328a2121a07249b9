/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Log messages: through the library's log, by components with levels of their
 * own. A message that is off costs one compare of levels; its arguments are not
 * evaluated.
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
 * Writes one message whatever its level; ucs_log_component() asks first. One
 * line, by one write to where UCX_LOG_FILE points; control characters in it are
 * replaced and what is longer than the buffer is cut. Any thread; errno stays.
 *
 * @param [in] file       Source file; its folders are not shown.
 * @param [in] line       Line there.
 * @param [in] function   Function there.
 * @param [in] level      Level, which is shown. UCS_LOG_LEVEL_PRINT is output
 *                        that was asked for: it gets no prefix.
 * @param [in] comp_conf  Component, whose name is shown; NULL is the library.
 * @param [in] format     As of printf, as are the arguments behind it.
 */
void ucs_log_dispatch(const char *file, unsigned line, const char *function,
                      ucs_log_level_t level,
                      ucs_log_component_config_t *comp_conf, const char *format,
                      ...) UCS_F_PRINTF(6, 7) UCS_F_COLD;

/**
 * The level of the library's own messages: UCX_LOG_LEVEL. Any thread.
 *
 * @return The level
 */
ucs_log_level_t ucs_log_get_level(void);

/**
 * Longest message in bytes, without the prefix.
 *
 * @return Bytes
 */
size_t ucs_log_get_buffer_size(void);

/** Returns when messages of this thread are written. They are as soon as they
 *  are made: there is no buffer. */
void ucs_log_flush(void);

/** Writes a message at level fatal; the process goes on. Any thread. */
void ucs_log_fatal_error(const char *format, ...) UCS_F_PRINTF(1, 2);

/* Is a message of this level shown: of a component, of the library? */
#define ucs_log_component_is_enabled(_level, _comp_log_config) \
    ucs_unlikely( \
        ((_level) <= UCS_MAX_LOG_LEVEL) && \
        ((_level) <= (ucs_log_level_t)((_comp_log_config)->log_level)))
#ifndef ucs_log_is_enabled /* the library itself reads its level in place */
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

/** Prints a message of the level in its name. */
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

/* The user asked for it: shown at every level. */
#define ucs_print(_fmt, ...) \
    ucs_log_dispatch(__FILE__, __LINE__, __func__, UCS_LOG_LEVEL_PRINT, NULL, \
                     _fmt, ##__VA_ARGS__)

/** @} */

END_C_DECLS

#endif
