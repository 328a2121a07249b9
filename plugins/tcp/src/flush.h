/* SPDX-License-Identifier: BSD-3-Clause */
/* Flush and fence of endpoints and interfaces, and cancellation of the
 * operations of one endpoint. */
#ifndef TCP_FLUSH_H
#define TCP_FLUSH_H

#include "conn.h"

ucs_status_t tcp_ep_flush(uct_ep_h ep, unsigned flags, uct_completion_t *comp);
ucs_status_t tcp_ep_fence(uct_ep_h ep, unsigned flags);
ucs_status_t tcp_iface_flush(uct_iface_h iface, unsigned flags,
                             uct_completion_t *comp);
ucs_status_t tcp_iface_fence(uct_iface_h iface, unsigned flags);

/* Cancels the endpoint's outstanding zero-copy sends, gets and flushes. The
 * next progress calls their completions with `status`. Returns non-zero if
 * there were any. */
int tcp_flush_cancel_ep(tcp_conn_t *conn, tcp_ep_t *ep, ucs_status_t status);

/* Called when the endpoint is destroyed: its outstanding operations continue,
 * but refer to it no more. */
void tcp_flush_forget_ep(tcp_conn_t *conn, tcp_ep_t *ep);

#endif
