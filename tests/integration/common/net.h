/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two network namespaces, one for each of the two members of a test (team.h),
 * connected by a veth pair. The kernel removes them when the members end. If
 * they cannot be created, the test is skipped.
 */
#ifndef INTEGRATION_NET_H
#define INTEGRATION_NET_H

#include "team.h"

/* Call before the members are forked. Skips the test without root or without
 * the command `ip`. */
void net_prepare(void);

/* Call in each of the two members. The member enters a new namespace, which is
 * connected to that of the other member. */
void net_enter(struct team *team);

/* Returns the IPv4 address of a member's end of the first link, as text. */
const char *net_host(int rank);

/* Call in each member after net_enter(): connects the two namespaces by a
 * second link. */
void net_join_again(struct team *team);

/* Call in each member after net_enter(): adds a device that leads to no peer,
 * as on hosts with containers, and a default route over the first link. */
void net_dead_end(struct team *team);

enum { NET_LINKS = 2 };

/* Returns the device name of a member's end of the first (0) or second (1)
 * link. */
const char *net_device(int rank, int link);

/* Call before the members are forked, instead of net_prepare() and net_enter(),
 * if the link already exists: `name` is the device of the member's end. */
void net_use(int rank, int link, const char *name);

/* Sets this member's end of a link down or up. */
void net_link(struct team *team, int link, bool up);

/* Returns the number of bytes that this member's end of a link has sent. */
uint64_t net_bytes(struct team *team, int link);

/* Limits the send rate of this member's end of a link. Returns false if the
 * command `tc` fails, for example without support in the kernel. */
bool net_limit(struct team *team, int link, unsigned mbits);

#endif
