/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The UCP objects of -p, -w, -e and -m: one context and one worker, created on
 * demand.
 */
#ifndef UCX_INFO_SESSION_H
#define UCX_INFO_SESSION_H

#include "info.h"

/* Cost of creating an object. */
typedef struct info_cost {
    double bytes; /* of resident memory */
    int fds;
    double seconds;
} info_cost_t;

/* NULL after a message. The session owns them. */
ucp_context_h info_session_context(info_t *info, const info_cost_t **cost_p);
ucp_worker_h info_session_worker(info_t *info, const info_cost_t **cost_p);
void info_session_close(info_t *info);

/*
 * Parses the letters of -u. Either result may be NULL. Non-zero if invalid:
 * *bad_p is the letter, or 0 if none of them is a feature.
 */
int info_features_parse(const char *letters, uint64_t *features_p,
                        int *error_mode_p, char *bad_p);

/* Must endpoints report failures (-u e)? */
int info_error_mode(const info_t *info);

/* Non-zero if the argument of -m begins with a size (memory.c). */
int info_memory_is_size(const char *text);

/*
 * The transports that UCX_TLS, -D and -P select, as a list for UCX_TLS; free()
 * it (select.c). NULL with UCS_OK: no restriction. UCS_ERR_NO_DEVICE: none,
 * which was reported.
 */
ucs_status_t info_select_transports(const info_t *info, char **list_p);

/* Network devices for UCX_NET_DEVICES, if -P excludes some; as above. */
ucs_status_t info_select_devices(const info_t *info, char **list_p);

#endif
