/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the loss of a peer whose network has gone silent. check_lost.c checks
 * that of a killed peer. */
#ifndef CONFORMANCE_LOST_H
#define CONFORMANCE_LOST_H

#include "network.h"

/* Skips the check if the transport does not report lost peers. */
void lost_on_network(run_t *run, network_t *network);

#endif
