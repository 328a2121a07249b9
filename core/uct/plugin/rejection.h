/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reasons why a plugin is rejected: each cause has a stable code with a
 * meaning, a remedy and details. Codes are never renumbered; README.md of this
 * folder lists them.
 */
#ifndef UCT_PLUGIN_REJECTION_H
#define UCT_PLUGIN_REJECTION_H

#include <ucs/type/status.h>

#define UCT_REJECT_REASON_MAX 1024

typedef enum uct_rejection_code {
    UCT_REJECT_NONE = 0,

    /* The manifest itself */
    UCT_REJECT_UNREADABLE  = 101,
    UCT_REJECT_NOT_REGULAR = 102,
    UCT_REJECT_TOO_LARGE   = 103,
    UCT_REJECT_LINK_LOOP   = 104,
    UCT_REJECT_NOT_JSON    = 105,
    UCT_REJECT_TOO_DEEP    = 106,
    UCT_REJECT_SCHEMA      = 107,
    UCT_REJECT_NAME        = 108,
    UCT_REJECT_OVERRIDE    = 109,

    /* Trust */
    UCT_REJECT_OWNER    = 201,
    UCT_REJECT_WRITABLE = 202,

    /* ABI and library */
    UCT_REJECT_ABI_MAJOR       = 301,
    UCT_REJECT_ABI_MIN         = 302,
    UCT_REJECT_LIBRARY_MISSING = 303,
    UCT_REJECT_LIBRARY_ESCAPES = 304,
    UCT_REJECT_LIBRARY_FORMAT  = 305,

    /* Requirements */
    UCT_REJECT_NEED_DEVICE  = 401,
    UCT_REJECT_NEED_MODULE  = 402,
    UCT_REJECT_NEED_LIBRARY = 403,
    UCT_REJECT_NEED_ANY_OF  = 404,
    UCT_REJECT_NOTHING      = 405,

    /* Settings, or other plugins */
    UCT_REJECT_SHADOWED    = 501,
    UCT_REJECT_REPLACED    = 502,
    UCT_REJECT_CONFLICT    = 503,
    UCT_REJECT_DUPLICATE   = 504,
    UCT_REJECT_DISABLED    = 505,
    UCT_REJECT_EXCLUDED    = 506,
    UCT_REJECT_NOT_DEFAULT = 507,

    /* Loading */
    UCT_REJECT_LOAD       = 601,
    UCT_REJECT_SYMBOL     = 602,
    UCT_REJECT_ENTRY      = 603,
    UCT_REJECT_INIT       = 604,
    UCT_REJECT_DESCRIPTOR = 605,
    UCT_REJECT_UNDECLARED = 606,
    UCT_REJECT_RECURSION  = 607,
    UCT_REJECT_RESOURCES  = 608,
} uct_rejection_code_t;

typedef struct uct_rejection {
    uct_rejection_code_t code;
    char reason[UCT_REJECT_REASON_MAX];
} uct_rejection_t;

typedef struct uct_rejection_info {
    uct_rejection_code_t code;
    const char *id;      /* "UCX-P101" */
    const char *word;    /* short, for a column of a table */
    const char *meaning; /* one line */
    const char *remedy;  /* one line */
    int fault;           /* 1: a fault, which is logged as a warning; 0: the
                          * plugin is only absent or not selected */
    ucs_status_t status;
} uct_rejection_info_t;

/* Returns the description of a code, never NULL: unknown codes have one,
 * too. */
const uct_rejection_info_t *uct_rejection_info(uct_rejection_code_t code);

/* Returns the whole table in the order of codes, for the tool and the tests. */
const uct_rejection_info_t *uct_rejection_table(unsigned *count_p);

/* Returns the code for a failed system call: UCT_REJECT_RESOURCES if memory or
 * descriptors are exhausted, which is not the plugin's fault; otherwise the
 * code `otherwise`. */
uct_rejection_code_t uct_rejection_of_errno(int error,
                                            uct_rejection_code_t otherwise);

/*
 * Records the cause and returns the status of its code. `rejection` may be NULL.
 * Control characters, which file names and a plugin's text may contain, are
 * replaced.
 */
ucs_status_t uct_reject(uct_rejection_t *rejection, uct_rejection_code_t code,
                        const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
