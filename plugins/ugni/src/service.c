/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Polls a port (ugni_port_t) while its user does not call progress. The
 * provider ofi_rxd acknowledges packets only in calls of libfabric: without the
 * polls, sends of peers would not complete until the user calls progress. A
 * timer, which runs in the service thread of UCX (async_add_timer()), polls but
 * reads no completion: all completions are left for the user. The provider
 * serializes the calls of the two threads (FI_THREAD_SAFE).
 */
#include "iface.h"

#include <string.h>

/* Seconds between two ticks. Shorter than the retransmit timeout of ofi_rxd (at
 * least 50 ms in libfabric 1.17). */
static const double TICK = 0.02;

static void on_tick(void *arg)
{
    ugni_port_t *port    = arg;
    const unsigned polls = __atomic_load_n(&port->polls, __ATOMIC_RELAXED);

    if (polls == port->served) {
        (void)fi_cq_read(port->cq, NULL, 0);
    }
    port->served = polls;
}

ucs_status_t ugni_service_start(const ucx_host_t *host, ugni_port_t *port)
{
    if (strstr(port->info->fabric_attr->prov_name, "ofi_rxd") == NULL) {
        return UCS_OK;
    }
    return host->async_add_timer(port->worker, TICK, on_tick, port,
                                 &port->service);
}

void ugni_service_stop(const ucx_host_t *host, ugni_port_t *port)
{
    if (port->service != 0) {
        host->async_remove(port->service);
    }
}
