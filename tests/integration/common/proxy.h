/* SPDX-License-Identifier: BSD-3-Clause */
/* A proxy between the processes of a test: it passes on every byte of their TCP
 * connections, until a plan says where to cut one or to change a byte.
 *
 * A program that links this has its own connect() in front of the C library's
 * (so it is linked with export_dynamic). IPv4 only; the rest goes directly. */
#ifndef INTEGRATION_PROXY_H
#define INTEGRATION_PROXY_H

#include "team.h"

#include <stdatomic.h>

/* Shared by all members. */
struct proxy_plan {
    _Atomic int64_t cut_after; /* bytes from now on; -1: never */
    _Atomic int reset;         /* cut by a reset, not by an orderly end */
    _Atomic int garble;        /* change a byte there, do not cut */
    _Atomic uint32_t cuts;     /* connections cut or garbled so far */
};

/* Before team_run: opens the proxy's port. */
struct proxy_plan *proxy_prepare(void);

/* From now on this process's connections lead through the proxy. */
void proxy_redirect(void);

/* One member is the proxy, until member `until` sends it a byte. */
void proxy_serve(struct team *team, int until);

#endif
