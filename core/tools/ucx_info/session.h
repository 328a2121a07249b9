/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The UCP objects that -p, -w, -e and -m look at: one context and one worker
 * for all of them, made when the first one asks.
 */
#ifndef UCX_INFO_SESSION_H
#define UCX_INFO_SESSION_H

#include "info.h"

/* What making something has cost this process. */
typedef struct info_cost {
    double bytes; /* of resident memory */
    int fds;
    double seconds;
} info_cost_t;

/* NULL after a message. The session keeps them. */
ucp_context_h info_session_context(info_t *info, const info_cost_t **cost_p);
ucp_worker_h info_session_worker(info_t *info, const info_cost_t **cost_p);
void info_session_close(info_t *info);

/*
 * Reads the letters of -u. Either result may be NULL. Non-zero if they are no
 * good: *bad_p is the letter, or 0 if none of them is a feature.
 */
int info_features_parse(const char *letters, uint64_t *features_p,
                        int *error_mode_p, char *bad_p);

/* Endpoints shall tell of failures (-u e). */
int info_error_mode(const info_t *info);

/* Non-zero if the argument of -m begins with a size (memory.c). */
int info_memory_is_size(const char *text);

/*
 * The transports that -D and -P leave of those that UCX_TLS lets through, as a
 * list for UCX_TLS, to free() (select.c). NULL with UCS_OK: no restriction.
 * UCS_ERR_NO_DEVICE: none is left, which was told of.
 */
ucs_status_t info_select_transports(const info_t *info, char **list_p);

/* Network devices for UCX_NET_DEVICES, as far as -P leaves some out; likewise.
 */
ucs_status_t info_select_devices(const info_t *info, char **list_p);

#endif
