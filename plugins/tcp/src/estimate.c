/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Costs of each kind of send, more exact than the interface's attributes.
 *
 * A system call costs about as much as copying 10 KB. Many short and buffered
 * messages share one system call; a zero-copy send usually needs its own.
 * Measured over the loopback device, where the system calls take the same time
 * as over a network device.
 */
#include "iface.h"

static const double SHORT_CPU = 0.2e-6; /* Time to append a frame to others in
                                         * the buffer */
static const double ZCOPY_CPU = 1.0e-6; /* Time of a separate system call */
/* Time of the system calls of a put and of its acknowledgement, at both sides.
 * A buffered put shares them with other frames */
static const double PUT_CPU   = 4.5e-6;
/* Extra time of a get compared with a message and its answer: the peer sends
 * the data in several frames from its memory. Less than 1 us for 4 KiB, 7 us
 * for 1 MiB */
static const double GET_CPU   = 5e-6;
static const double RECV_CPU  = 0.3e-6; /* Time to handle a frame among many in
                                         * the receive buffer */

ucs_status_t tcp_iface_estimate(uct_iface_h uct_iface, ucx_perf_t *perf)
{
    switch (perf->op) {
    case UCX_OP_AM_SHORT:
    case UCX_OP_AM_BCOPY:
    case UCX_OP_PUT_SHORT:
    case UCX_OP_PUT_BCOPY:
        perf->send_pre_overhead = SHORT_CPU;
        perf->recv_overhead     = RECV_CPU;
        break;
    case UCX_OP_GET_BCOPY:
    case UCX_OP_GET_ZCOPY:
        perf->send_pre_overhead = SHORT_CPU;
        perf->recv_overhead     = GET_CPU + RECV_CPU;
        perf->latency.c *= 2;
        perf->latency.m *= 2;
        break;
    case UCX_OP_PUT_ZCOPY:
        perf->send_pre_overhead = PUT_CPU;
        perf->recv_overhead     = RECV_CPU;
        break;
    default:
        perf->send_pre_overhead = ZCOPY_CPU;
        perf->recv_overhead     = RECV_CPU;
        break;
    }
    return UCS_OK;
}
