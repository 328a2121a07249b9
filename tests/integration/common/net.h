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

/* After net_enter, in each of the members: joins them by a second link. */
void net_join_again(struct team *team);

/* Likewise: gives each a device that leads nowhere (containers have such), and
 * sends by the first link whatever has no other way. */
void net_dead_end(struct team *team);

enum { NET_LINKS = 2 };

/* The name of a member's end of a link: of the first (0) or the second. */
const char *net_device(int rank, int link);

/* Takes this member's end of a link down, or up again. */
void net_link(struct team *team, int link, bool up);

/* Bytes that have left by this member's end of a link so far. */
uint64_t net_bytes(struct team *team, int link);

/* Limits what leaves by this member's end of a link; false: the kernel cannot. */
bool net_limit(struct team *team, int link, unsigned mbits);

#endif
