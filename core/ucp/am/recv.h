/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receive side of active messages: what eager messages and announcements
 * share.
 */
#ifndef UCP_AM_RECV_H
#define UCP_AM_RECV_H

#include "ucp/am/desc.h"
#include "ucp/core/ep.h"

/** The handler of a message; NULL: there is none, and the user is told. */
const ucp_am_handler_t *ucp_am_handler_find(ucp_worker_h worker, uint64_t word);

/** The endpoint that answers a sender, for the user's hands; NULL if it was not
 *  introduced. From here on it lives until the user closes it or the worker
 *  ends. */
ucp_ep_h ucp_am_reply_ep(ucp_worker_h worker, const ucp_wire_end_t *sender);

/** Runs a handler on what it may keep. Afterwards the descriptor is the user's
 *  (UCS_INPROGRESS), or to be freed: used up (UCS_ERR_NO_ELEM), or not, with
 *  any other answer of the handler's. */
ucs_status_t ucp_am_call(ucp_worker_h worker, const ucp_am_handler_t *handler,
                         ucp_am_desc_t *desc, const void *header,
                         size_t header_length, ucp_am_recv_param_t *param);

/** Fetches what an announcement stands for, as ucp_am_recv_data_nbx. */
ucs_status_ptr_t ucp_am_rndv_recv(ucp_worker_h worker, ucp_am_desc_t *desc,
                                  void *buffer, size_t count,
                                  const ucp_request_param_t *param);

/** Ends the sender's operation with `status`: nobody fetches its data. */
void ucp_am_rndv_refuse(ucp_worker_h worker, ucp_am_desc_t *desc,
                        ucs_status_t status);

#endif
