/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A network between two hosts that loses, repeats, delays and reorders packets:
 * two network namespaces, each with one TAP device, and a process that carries
 * frames between the devices. It needs neither netem nor a second machine.
 */
#ifndef CONFORMANCE_NETWORK_H
#define CONFORMANCE_NETWORK_H

#include <stdint.h>
#include <sys/types.h>

#include "check.h"

/* Name of the device in both namespaces; each has an IPv4 address. */
#define NETWORK_DEVICE "kit0"

typedef enum network_mode {
    NETWORK_CLEAN,
    NETWORK_LOSSY,      /* About 8% of the frames are lost, 4% repeated, 10% out
                         * of order */
    NETWORK_BLACK_HOLE, /* All frames are lost, without an error at the
                         * sender */
} network_mode_t;

typedef struct network {
    _Atomic uint64_t *frames; /* Number of frames that the hosts have sent,
                               * without those of ARP; written by the process
                               * that carries them */
    pid_t carrier;            /* The process that carries frames */
    int control;              /* Socket to that process */
    int host[2];              /* Descriptors of the namespaces */
} network_t;

/*
 * Creates the network and moves the calling process to the first host, for
 * which it must have only one thread. It must not have loaded the plugin, which
 * could have opened devices of the old host. If the network cannot be created,
 * returns 0 and marks the check as skipped, with the reason.
 */
int network_start(run_t *run, network_t *network);
void network_stop(network_t *network);

/* Sets the mode for frames that are sent from now on. Earlier frames are
 * carried or lost in the previous mode; those that it delays may be delivered
 * after this function has returned. */
void network_set(network_t *network, network_mode_t mode);

#endif
