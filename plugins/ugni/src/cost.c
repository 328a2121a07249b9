/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Costs of operations, by provider. libfabric states no costs, except that some
 * providers state the speed of the network card.
 */
#include "iface.h"

#include <string.h>

typedef struct cost {
    const char *provider; /* NULL: all other providers */
    double send, recv;    /* Seconds of the processor for a message: at the
                           * sender, at the receiver */
    double latency;       /* Seconds on the network */
    double access;        /* Additional seconds of a put or get */
    double bandwidth;     /* Bytes per second without copies */
    double stream;        /* Bytes per second of a stream of messages; 0: only
                           * the copies by the processors limit it */
} cost_t;

/* The values of shm and tcp;ofi_rxm were measured on a host with two cores, the
 * others are estimates. With shm, a put or get is one system call (direct.c),
 * and the receiver of a message above 4 KiB makes one as well. */
static const cost_t costs[] = {
    {"shm", 0.15e-6, 0.15e-6, 0.1e-6, 0.7e-6, 13e9, 2.3e9},
    {"tcp;ofi_rxm", 2.5e-6, 2.5e-6, 4e-6, 20e-6, 4.7e9, 1.5e9},
    {"cxi", 0.5e-6, 0.5e-6, 1e-6, 0.2e-6, 25e9, 0},
    {"gni", 0.5e-6, 0.5e-6, 0.8e-6, 0.2e-6, 10e9, 0},
    {NULL, 3e-6, 3e-6, 6e-6, 12e-6, 2e9, 1e9},
};

static const cost_t *cost_of(const ugni_iface_t *iface)
{
    const char *name   = iface->port->info->fabric_attr->prov_name;
    const cost_t *cost = costs;

    while ((cost->provider != NULL) && (strcmp(cost->provider, name) != 0)) {
        ++cost;
    }
    return cost;
}

/* Returns the bandwidth in bytes per second: that of the network card if
 * libfabric states it, otherwise that of the table above. */
static double bandwidth_of(const ugni_iface_t *iface, const cost_t *cost)
{
    const struct fid_nic *nic = iface->port->info->nic;

    return ((nic != NULL) && (nic->link_attr != NULL) &&
            (nic->link_attr->speed > 0)) ?
               (double)nic->link_attr->speed / 8 :
               cost->bandwidth;
}

void ugni_cost_attr(const ugni_iface_t *iface, uct_iface_attr_t *attr)
{
    const cost_t *cost = cost_of(iface);

    attr->overhead         = cost->send;
    attr->latency.c        = cost->latency;
    attr->bandwidth.shared = bandwidth_of(iface, cost);
}

ucs_status_t ugni_iface_estimate(uct_iface_h uct_iface, ucx_perf_t *perf)
{
    const cost_t *cost = cost_of((ugni_iface_t *)uct_iface);

    switch (perf->op) {
    case UCX_OP_AM_SHORT:
    case UCX_OP_AM_BCOPY:
        perf->recv_overhead    = cost->recv;
        perf->stream_bandwidth = cost->stream;
        break;
    case UCX_OP_GET_BCOPY:
    case UCX_OP_GET_ZCOPY:
    case UCX_OP_ATOMIC_FETCH:
        perf->latency.c *= 2; /* One latency for the request, one for the
                               * data */
        perf->send_pre_overhead += cost->access;
        break;
    default:
        perf->send_pre_overhead += cost->access;
        break;
    }
    return UCS_OK;
}
