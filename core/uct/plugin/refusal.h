/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why a plugin is rejected: one stable code per cause, with a meaning, a remedy
 * and details. Codes are never renumbered; README.md of this folder lists them.
 */
#ifndef UCT_PLUGIN_REFUSAL_H
#define UCT_PLUGIN_REFUSAL_H

#include <ucs/type/status.h>

#define UCT_REFUSAL_REASON_MAX 1024

typedef enum uct_refusal_code {
    UCT_REFUSAL_NONE = 0,

    /* The manifest itself */
    UCT_REFUSAL_UNREADABLE  = 101,
    UCT_REFUSAL_NOT_REGULAR = 102,
    UCT_REFUSAL_TOO_LARGE   = 103,
    UCT_REFUSAL_LINK_LOOP   = 104,
    UCT_REFUSAL_NOT_JSON    = 105,
    UCT_REFUSAL_TOO_DEEP    = 106,
    UCT_REFUSAL_SCHEMA      = 107,
    UCT_REFUSAL_NAME        = 108,
    UCT_REFUSAL_OVERRIDE    = 109,

    /* Trust */
    UCT_REFUSAL_OWNER    = 201,
    UCT_REFUSAL_WRITABLE = 202,

    /* ABI and library */
    UCT_REFUSAL_ABI_MAJOR       = 301,
    UCT_REFUSAL_ABI_MIN         = 302,
    UCT_REFUSAL_LIBRARY_MISSING = 303,
    UCT_REFUSAL_LIBRARY_ESCAPES = 304,
    UCT_REFUSAL_LIBRARY_FORMAT  = 305,

    /* Requirements */
    UCT_REFUSAL_NEED_DEVICE  = 401,
    UCT_REFUSAL_NEED_MODULE  = 402,
    UCT_REFUSAL_NEED_LIBRARY = 403,
    UCT_REFUSAL_NEED_ANY_OF  = 404,
    UCT_REFUSAL_NOTHING      = 405,

    /* Settings, or other plugins */
    UCT_REFUSAL_SHADOWED    = 501,
    UCT_REFUSAL_REPLACED    = 502,
    UCT_REFUSAL_CONFLICT    = 503,
    UCT_REFUSAL_DUPLICATE   = 504,
    UCT_REFUSAL_DISABLED    = 505,
    UCT_REFUSAL_EXCLUDED    = 506,
    UCT_REFUSAL_NOT_DEFAULT = 507,

    /* Loading */
    UCT_REFUSAL_LOAD       = 601,
    UCT_REFUSAL_SYMBOL     = 602,
    UCT_REFUSAL_ENTRY      = 603,
    UCT_REFUSAL_INIT       = 604,
    UCT_REFUSAL_DESCRIPTOR = 605,
    UCT_REFUSAL_UNDECLARED = 606,
    UCT_REFUSAL_RECURSION  = 607,
    UCT_REFUSAL_RESOURCES  = 608
} uct_refusal_code_t;

typedef struct uct_refusal {
    uct_refusal_code_t code;
    char reason[UCT_REFUSAL_REASON_MAX];
} uct_refusal_t;

typedef struct uct_refusal_info {
    uct_refusal_code_t code;
    const char *id;      /* "UCX-P101" */
    const char *word;    /* short, for a column of a table */
    const char *meaning; /* one line */
    const char *remedy;  /* one line */
    int fault;           /* a fault that deserves a warning; otherwise the
                          * plugin is only absent or not selected */
    ucs_status_t status;
} uct_refusal_info_t;

/* Never NULL: an unknown code has an entry, too. */
const uct_refusal_info_t *uct_refusal_info(uct_refusal_code_t code);

/* The whole table in the order of codes; for the tool and the tests. */
const uct_refusal_info_t *uct_refusal_table(unsigned *count_p);

/* The code for a failed system call: UCT_REFUSAL_RESOURCES if memory or
 * descriptors ran out, which is not the plugin's fault; else `otherwise`. */
uct_refusal_code_t uct_refusal_of_errno(int error, uct_refusal_code_t otherwise);

/*
 * Records the cause and returns the status of its code. `refusal` may be NULL.
 * Control characters, which file names and a plugin's text may contain, are
 * replaced.
 */
ucs_status_t uct_refuse(uct_refusal_t *refusal, uct_refusal_code_t code,
                        const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
