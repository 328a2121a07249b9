/* SPDX-License-Identifier: BSD-3-Clause */
/* Types of configuration values that appear in public interfaces. */
#ifndef UCS_CONFIG_TYPES_H
#define UCS_CONFIG_TYPES_H

#include <ucs/sys/compiler_def.h>
#include <sys/socket.h>

BEGIN_C_DECLS

/** @addtogroup UCS_CONFIG
 *  @{ */

/** Level of log messages; each level includes those before it. */
typedef enum {
    UCS_LOG_LEVEL_FATAL,       /**< the process cannot continue */
    UCS_LOG_LEVEL_ERROR,       /**< something failed */
    UCS_LOG_LEVEL_WARN,        /**< a possible problem */
    UCS_LOG_LEVEL_DIAG,        /**< a hint at a performance or set-up problem */
    UCS_LOG_LEVEL_INFO,        /**< which objects and methods were selected */
    UCS_LOG_LEVEL_DEBUG,       /**< set-up, step by step */
    UCS_LOG_LEVEL_TRACE,       /**< internal state */
    UCS_LOG_LEVEL_TRACE_REQ,   /**< each request */
    UCS_LOG_LEVEL_TRACE_DATA,  /**< each message that is sent or received */
    UCS_LOG_LEVEL_TRACE_ASYNC, /**< each asynchronous event */
    UCS_LOG_LEVEL_TRACE_FUNC,  /**< each call of an API function */
    UCS_LOG_LEVEL_TRACE_POLL,  /**< each poll */
    UCS_LOG_LEVEL_LAST,
    UCS_LOG_LEVEL_PRINT, /**< output that the user requested */
} ucs_log_level_t;

/** How asynchronous events are delivered. */
typedef enum {
    UCS_ASYNC_MODE_SIGNAL, /**< by a POSIX signal */
    UCS_ASYNC_MODE_THREAD, /**< by a thread that shares a spin lock with the
                            *   user */
    UCS_ASYNC_MODE_THREAD_SPINLOCK = UCS_ASYNC_MODE_THREAD,
    UCS_ASYNC_MODE_THREAD_MUTEX, /**< by a thread that shares a mutex with the
                                  *   user */
    UCS_ASYNC_MODE_POLL,         /**< when the user polls for events */
    UCS_ASYNC_MODE_LAST,
} ucs_async_mode_t;

/** Whether a feature is used. */
typedef enum ucs_ternary_auto_value {
    UCS_NO   = 0, /**< do not use it */
    UCS_YES  = 1, /**< use it; fail if it is not possible */
    UCS_TRY  = 2, /**< use it if possible */
    UCS_AUTO = 3, /**< the library decides whether to use it */
    UCS_TERNARY_LAST,
} ucs_ternary_auto_value_t;

/** On, off or automatic. */
typedef enum ucs_on_off_auto_value {
    UCS_CONFIG_OFF  = 0,
    UCS_CONFIG_ON   = 1,
    UCS_CONFIG_AUTO = 2,
    UCS_CONFIG_ON_OFF_LAST,
} ucs_on_off_auto_value_t;

/** What to do on a fatal error. */
typedef enum {
    UCS_HANDLE_ERROR_BACKTRACE, /**< print the stack */
    UCS_HANDLE_ERROR_FREEZE,    /**< wait for a debugger */
    UCS_HANDLE_ERROR_DEBUG,     /**< start a debugger */
    UCS_HANDLE_ERROR_NONE,      /**< nothing */
    UCS_HANDLE_ERROR_LAST,
} ucs_handle_error_t;

/** Contents of a printed configuration. */
typedef enum {
    UCS_CONFIG_PRINT_CONFIG          = UCS_BIT(0), /**< NAME=VALUE lines */
    UCS_CONFIG_PRINT_HEADER          = UCS_BIT(1), /**< the title */
    UCS_CONFIG_PRINT_DOC             = UCS_BIT(2), /**< type and help of each
                                                    *   option */
    UCS_CONFIG_PRINT_HIDDEN          = UCS_BIT(3), /**< also print hidden
                                                    *   options */
    UCS_CONFIG_PRINT_COMMENT_DEFAULT = UCS_BIT(4), /**< "# " before values that
                                                     equal their default */
} ucs_config_print_flags_t;

/* A member for a list of values, which the parser of lists fills: the values,
 * their number, and an unused member. */
#define UCS_CONFIG_ARRAY_FIELD(_type, _name) \
    struct { \
        _type *_name; \
        unsigned count; \
        unsigned pad; \
    }

/* A member for a list of strings. */
#define UCS_CONFIG_STRING_ARRAY_FIELD(_name) \
    UCS_CONFIG_ARRAY_FIELD(char *, _name)

/** A list of strings. */
typedef struct ucs_config_names_array {
    char **names;   /**< the strings */
    unsigned count; /**< number of strings */
    unsigned pad;   /**< unused */
} ucs_config_names_array_t;

/** Names of the asynchronous modes, indexed by mode, terminated by NULL. */
extern const char *ucs_async_mode_names[];

/** Modes of an allow list. */
typedef enum {
    UCS_CONFIG_ALLOW_LIST_ALLOW_ALL, /**< everything */
    UCS_CONFIG_ALLOW_LIST_ALLOW,     /**< only what is listed */
    UCS_CONFIG_ALLOW_LIST_NEGATE,    /**< everything except what is listed */
} ucs_config_allow_list_mode_t;

/** Names to allow or to deny: "a,b", "^a,b" or "all". */
typedef struct {
    ucs_config_names_array_t array;    /**< the names */
    ucs_config_allow_list_mode_t mode; /**< how to interpret the names */
} ucs_config_allow_list_t;

/** A BSD socket address of any family. */
typedef struct ucs_sock_addr {
    const struct sockaddr *addr; /**< The address */
    socklen_t addrlen;           /**< Its length */
} ucs_sock_addr_t;

/** Logging of one component. */
typedef struct ucs_log_component_config {
    ucs_log_level_t log_level; /**< most detailed level that is written */
    char name[16];             /**< name of the component in messages */
    const char *file_filter;   /**< has no effect; a setting of OpenUCX: glob of
                                *   the source files that may log */
} ucs_log_component_config_t;

/**
 * Compares a value with UCS_YES and UCS_TRY.
 *
 * @return 1 if it is one of them, else 0
 */
static inline int
ucs_ternary_auto_value_is_yes_or_try(ucs_ternary_auto_value_t value)
{
    return (value == UCS_YES) || (value == UCS_TRY);
}

/**
 * Compares a value with UCS_YES and UCS_NO.
 *
 * @return 1 if it is one of them, else 0
 */
static inline int
ucs_ternary_auto_value_is_yes_or_no(ucs_ternary_auto_value_t value)
{
    return (value == UCS_YES) || (value == UCS_NO);
}

/** @} */

END_C_DECLS

#endif
