/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tagged messages by rendezvous.
 *
 *   RNDV_RTS  | tag 8 | announcement of rndv/rndv.h |
 */
#ifndef UCP_TAG_RNDV_H
#define UCP_TAG_RNDV_H

#include "ucp/rndv/rndv.h"

/** Identifier of the message that announces the data ("ready to send"). */
enum { UCP_AM_ID_RNDV_RTS = 6 };

typedef struct ucp_tag_rts {
    ucp_le64_t tag;
    ucp_rndv_rts_t rndv;
} ucp_tag_rts_t;

_Static_assert(sizeof(ucp_tag_rts_t) == 48, "wire layout");

/** UCT callback for received announcements; `arg` is the worker. */
ucs_status_t ucp_tag_rts_handler(void *arg, void *data, size_t length,
                                 unsigned flags);

#endif
