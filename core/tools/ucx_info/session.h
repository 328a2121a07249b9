/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The UCP objects of -p, -w, -e and -m: one context and one worker, created on
 * demand.
 */
#ifndef UCX_INFO_SESSION_H
#define UCX_INFO_SESSION_H

#include "info.h"

/* What the creation of an object has used. */
typedef struct info_cost {
    double bytes; /* increase of the resident memory of the process */
    /* number of file descriptors that were opened */
    int fds;
    /* duration of the creation */
    double seconds;
} info_cost_t;

/* Create the object at the first call, and store its cost. They return NULL
 * after a message. The session owns the objects. */
ucp_context_h info_session_context(info_t *info, const info_cost_t **cost_p);
ucp_worker_h info_session_worker(info_t *info, const info_cost_t **cost_p);
void info_session_close(info_t *info);

/*
 * Parses the letters of -u. Stores the UCP_FEATURE_* bits in *features_p; sets
 * *error_mode_p to 1 if the letters contain `e`. Either pointer may be NULL.
 * Returns non-zero if the letters are invalid: *bad_p is the invalid letter, or
 * 0 if no letter is a feature other than `w` (wake-up).
 */
int info_features_parse(const char *letters, uint64_t *features_p,
                        int *error_mode_p, char *bad_p);

/* Returns whether endpoints must report failures (-u e). */
int info_error_mode(const info_t *info);

/* Returns non-zero if the argument of -m begins with a size (memory.c). */
int info_memory_is_size(const char *text);

/*
 * Returns the transports that UCX_TLS, -D and -P select, as a list for UCX_TLS
 * (select.c). Release it by free(). NULL with UCS_OK means that there is no
 * restriction. UCS_ERR_NO_DEVICE, after a message, if no transport is selected.
 */
ucs_status_t info_select_transports(const info_t *info, char **list_p);

/* Returns a list for UCX_NET_DEVICES that excludes loopback interfaces, if -P
 * is "inter" and the variable is not set. The results have the same form as
 * those of info_select_transports(). */
ucs_status_t info_select_devices(const info_t *info, char **list_p);

#endif
