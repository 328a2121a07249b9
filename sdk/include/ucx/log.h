/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Log messages of a plugin, written by the host.
 *
 * A source file defines UCX_LOG_HOST as the name of its `const ucx_host_t *`
 * before it uses these macros. A message above the log level costs one compare.
 */
#ifndef UCX_LOG_H
#define UCX_LOG_H

#include <ucx/host.h>
#include <ucs/config/types.h>

#define ucx_log(_level, ...) \
    do { \
        if (__builtin_expect((int)(_level) <= *UCX_LOG_HOST->log_level, 0)) { \
            UCX_LOG_HOST->log((int)(_level), __FILE__, __LINE__, __VA_ARGS__); \
        } \
    } while (0)

#define ucx_error(...) ucx_log(UCS_LOG_LEVEL_ERROR, __VA_ARGS__)
#define ucx_warn(...)  ucx_log(UCS_LOG_LEVEL_WARN, __VA_ARGS__)
#define ucx_diag(...)  ucx_log(UCS_LOG_LEVEL_DIAG, __VA_ARGS__)
#define ucx_info(...)  ucx_log(UCS_LOG_LEVEL_INFO, __VA_ARGS__)
#define ucx_debug(...) ucx_log(UCS_LOG_LEVEL_DEBUG, __VA_ARGS__)
#define ucx_trace(...) ucx_log(UCS_LOG_LEVEL_TRACE, __VA_ARGS__)

#endif
