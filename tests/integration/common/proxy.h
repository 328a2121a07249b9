/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A proxy between the processes of a test. It forwards every byte of their TCP
 * connections, until struct proxy_plan makes it cut a connection or change a
 * byte.
 *
 * proxy.c defines its own connect(). A program that links it exports the
 * symbol (export_dynamic), so that the libraries call this connect() instead of
 * the C library's. IPv4 only; other connections are direct.
 */
#ifndef INTEGRATION_PROXY_H
#define INTEGRATION_PROXY_H

#include "team.h"

#include <stdatomic.h>

/* Shared by all members of the test, which may change it at any time. */
struct proxy_plan {
    /* Number of bytes to forward before the cut, over all connections and
     * directions together; counts down. -1: do not cut; the proxy sets it after
     * a cut */
    _Atomic int64_t cut_after;
    /* Cut by a reset (RST) instead of a normal end (FIN) */
    _Atomic int reset;
    /* Change one byte instead of cutting the connection */
    _Atomic int garble;
    _Atomic uint32_t cuts; /* Number of connections cut or garbled so far */
};

/* Opens the proxy's port and returns the plan. Call before team_run(). */
struct proxy_plan *proxy_prepare(void);

/* Redirects connections that this process makes from now on to the proxy. */
void proxy_redirect(void);

/* Runs the proxy in the calling member until member `until` sends it a byte
 * over the team's channel. */
void proxy_serve(struct team *team, int until);

#endif
