/* SPDX-License-Identifier: BSD-3-Clause */
/* Two network namespaces joined by a veth pair, made for one test and gone with
 * its processes. Where they cannot be made, the test is skipped. */
#ifndef INTEGRATION_NET_H
#define INTEGRATION_NET_H

#include "team.h"

/* Before the members are forked: skips the test where it cannot run. */
void net_prepare(void);

/* In each of the two members: a namespace of its own, joined with the other. */
void net_enter(struct team *team);

/* The address of a member's end of the joining link, as text. */
const char *net_host(int rank);

/* Takes this member's end of the joining link down, or up again. */
void net_link(struct team *team, bool up);

#endif
