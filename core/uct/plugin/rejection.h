/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reasons why a plugin is rejected. Each cause has a code, for which a table
 * (rejection.c) has a meaning and a remedy; a rejection adds the details. Users
 * see the codes ("UCX-P101"), so they are never renumbered; sdk/CODES.md lists
 * them.
 */
#ifndef UCT_PLUGIN_REJECTION_H
#define UCT_PLUGIN_REJECTION_H

#include <ucs/type/status.h>

#define UCT_REJECT_REASON_MAX 1024 /* bytes, including the final 0 */

typedef enum uct_rejection_code {
    UCT_REJECT_NONE = 0, /* not rejected */

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
    char reason[UCT_REJECT_REASON_MAX]; /* details of this case; not used if
                                         * `code` is UCT_REJECT_NONE */
} uct_rejection_t;

typedef struct uct_rejection_info {
    uct_rejection_code_t code;
    const char *id;      /* "UCX-P101" */
    const char *word;    /* the cause in one or two words, for tables */
    const char *meaning; /* the cause in one line */
    const char *remedy;  /* what the user can do, in one line */
    int fault;           /* 1: a fault, which is logged as a warning; 0: a
                          * usual state, such as absent hardware or a plugin
                          * that is not selected */
    ucs_status_t status; /* what functions return for this cause */
} uct_rejection_info_t;

/* Returns the description of a code; a general one, not NULL, if the code is
 * unknown. */
const uct_rejection_info_t *uct_rejection_info(uct_rejection_code_t code);

/* Returns the table of all codes in ascending order, for `ucx-plugins` and the
 * tests. */
const uct_rejection_info_t *uct_rejection_table(unsigned *count_p);

/* Returns the code for a system call that failed with the errno `error`:
 * UCT_REJECT_RESOURCES if memory or descriptors are exhausted, which is not the
 * plugin's fault; otherwise the code `otherwise`. */
uct_rejection_code_t uct_rejection_of_errno(int error,
                                            uct_rejection_code_t otherwise);

/*
 * Stores the code and the formatted details in `rejection`, which may be NULL,
 * and returns the status that belongs to the code. Control characters in the
 * details, which may come from file names or a plugin's text, are replaced.
 */
ucs_status_t uct_reject(uct_rejection_t *rejection, uct_rejection_code_t code,
                        const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
