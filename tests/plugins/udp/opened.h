/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens an interface of the example plugin udp on the loopback device, for the
 * tests of this folder. */
#ifndef TEST_UDP_OPENED_H
#define TEST_UDP_OPENED_H

#include <ucs/async/async_fwd.h>
#include <uct/api/uct.h>

typedef struct opened {
    ucs_async_context_t *async;
    uct_worker_h worker;
    uct_md_h md;
    uct_iface_h iface;
} opened_t;

extern ucs_status_t udp_failure; /* The last reported failure; UCS_OK: none */

/* If `holds` is 0, ends the program with a failure that names `what`. */
void udp_require(int holds, const char *what);

void udp_open(opened_t *opened);
/* All endpoints must have been destroyed before. */
void udp_close(opened_t *opened);

/* Returns an endpoint to the same interface. */
uct_ep_h udp_connect(const opened_t *opened);
/* Returns an endpoint to another port of the same device; `port` in network
 * byte order. */
uct_ep_h udp_connect_port(const opened_t *opened, uint16_t port);

#endif
