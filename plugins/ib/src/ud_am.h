/* SPDX-License-Identifier: BSD-3-Clause */
/* Active messages over datagrams. <ucx/transport.h> specifies the ud_ep_am_*
 * operations. */
#ifndef IB_UD_AM_H
#define IB_UD_AM_H

#include "ud.h"

ucs_status_t ud_ep_am_short(uct_ep_h ep, uint8_t id, uint64_t header,
                            const void *payload, unsigned length);
ucs_status_t ud_ep_am_short_iov(uct_ep_h ep, uint8_t id, const uct_iov_t *iov,
                                size_t iovcnt);
ssize_t ud_ep_am_bcopy(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack_cb,
                       void *arg, unsigned flags);
ucs_status_t ud_ep_am_zcopy(uct_ep_h ep, uint8_t id, const void *header,
                            unsigned header_length, const uct_iov_t *iov,
                            size_t iovcnt, unsigned flags,
                            uct_completion_t *comp);

/* Ends a packet that is acknowledged or has failed: releases the buffer and
 * calls the user's completion, now or later from progress, when the device does
 * not use the buffer any more. */
void ud_desc_done(ud_iface_t *iface, ud_desc_t *desc, ucs_status_t status);
/* Ends those packets of ud_iface_t.leaving whose buffers the device does not
 * use any more; with `force`, all of them. */
void ud_desc_end_leaving(ud_iface_t *iface, int force);
/* Sends a packet without data, which has a sequence number: UD_NOTHING or
 * UD_FIN. Returns 0 if there are no send resources. */
int ud_send_empty(ud_iface_t *iface, ud_ep_t *ep, ud_kind_t kind);

#endif
