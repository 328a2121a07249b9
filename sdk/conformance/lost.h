/* SPDX-License-Identifier: BSD-3-Clause */
/* A case of check_network.c that is implemented in check_lost.c: the loss of a
 * peer because its network has gone silent. */
#ifndef CONFORMANCE_LOST_H
#define CONFORMANCE_LOST_H

#include "network.h"

/* Checks that the transport reports a peer as lost after `network` has gone
 * silent. Skips the check if the transport does not report lost peers. */
void lost_on_network(run_t *run, network_t *network);

#endif
