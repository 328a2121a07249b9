/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two network namespaces connected by a veth pair. They exist as long as the
 * processes of the test. If they cannot be created, the test is skipped.
 */
#ifndef INTEGRATION_NET_H
#define INTEGRATION_NET_H

#include "team.h"

/* Call before the members are forked: skips the test if it cannot run. */
void net_prepare(void);

/* Call in each of the two members: enters a namespace connected to the
 * other's. */
void net_enter(struct team *team);

/* The address of a member's end of the first link, as text. */
const char *net_host(int rank);

/* Call in each member after net_enter(): connects them by a second link. */
void net_join_again(struct team *team);

/* Likewise: adds a device without a peer to each (containers have such), and a
 * default route over the first link. */
void net_dead_end(struct team *team);

enum { NET_LINKS = 2 };

/* The device name of a member's end of the first (0) or second (1) link. */
const char *net_device(int rank, int link);

/* Call before the members are forked, instead of net_prepare(): the link exists,
 * and this is the device of the member's end. */
void net_use(int rank, int link, const char *name);

/* Sets this member's end of a link down or up. */
void net_link(struct team *team, int link, bool up);

/* The number of bytes sent by this member's end of a link. */
uint64_t net_bytes(struct team *team, int link);

/* Limits the send rate of this member's end; false: the kernel does not support
 * it. */
bool net_limit(struct team *team, int link, unsigned mbits);

#endif
