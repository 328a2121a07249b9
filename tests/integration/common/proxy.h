/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A proxy between the processes of a test. It forwards every byte of their TCP
 * connections, until a plan cuts a connection or changes a byte.
 *
 * A program that links this file has its own connect() in front of the C
 * library's (it is linked with export_dynamic). IPv4 only; other connections
 * are direct.
 */
#ifndef INTEGRATION_PROXY_H
#define INTEGRATION_PROXY_H

#include "team.h"

#include <stdatomic.h>

/* Shared by all members. */
struct proxy_plan {
    _Atomic int64_t cut_after; /* Number of bytes from now on; -1: never */
    _Atomic int reset;         /* Cut by a reset instead of a normal end */
    _Atomic int garble;        /* Change a byte instead of a cut */
    _Atomic uint32_t cuts;     /* Number of connections cut or garbled */
};

/* Opens the proxy's port. Call before team_run(). */
struct proxy_plan *proxy_prepare(void);

/* Redirects new connections of this process to the proxy. */
void proxy_redirect(void);

/* Runs the proxy until member `until` sends a byte. */
void proxy_serve(struct team *team, int until);

#endif
