/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kinds of send cost, beyond what the interface's attributes say.
 *
 * A system call costs about as much as copying ten kilobytes. Short and copied
 * messages share one with their neighbours when there are many; a send from
 * place has one for itself. The figures were taken over the loopback, where the
 * kernel's own path is the same as over a network device.
 */
#include "iface.h"

static const double SHORT_CPU = 0.2e-6;  /* a frame put behind others */
static const double ZCOPY_CPU = 1.0e-6;  /* a system call of its own */
/* The question whether a put has arrived follows in another system call, which
 * the target receives by another one, too; behind a copied put it shares both */
static const double PUT_CPU   = 4.5e-6;
/* A question, which the peer's processor reads and answers from place, piece by
 * piece: what a large get took longer than a put of the same data */
static const double GET_CPU   = 10e-6;
static const double RECV_CPU  = 0.3e-6;  /* a frame taken out of many */

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
        perf->latency.c        *= 2;
        perf->latency.m        *= 2;
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
