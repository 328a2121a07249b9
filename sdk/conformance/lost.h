/* SPDX-License-Identifier: BSD-3-Clause */
/* The loss of a peer whose network has gone silent, beside that of one that was
 * killed. */
#ifndef CONFORMANCE_LOST_H
#define CONFORMANCE_LOST_H

#include "network.h"

/* Skips the check if the transport does not report lost peers. */
void lost_on_network(run_t *run, network_t *network);

#endif
