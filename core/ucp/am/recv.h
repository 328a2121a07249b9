/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receiver of active messages: common functions of eager messages and
 * announcements.
 */
#ifndef UCP_AM_RECV_H
#define UCP_AM_RECV_H

#include "ucp/am/desc.h"
#include "ucp/proto/ep.h"

/** Finds the handler of a message; NULL: none, and a warning is logged. */
const ucp_am_handler_t *ucp_am_handler_find(ucp_worker_h worker, uint64_t word);

/** Returns the endpoint that replies to a sender, for the user; NULL if the
 *  sender is not introduced. The endpoint exists until the user closes it or
 *  the worker is destroyed. */
ucp_ep_h ucp_am_reply_ep(ucp_worker_h worker, const ucp_wire_end_t *sender);

/** Calls a handler with a descriptor. UCS_INPROGRESS: the user keeps it.
 *  Otherwise the caller frees it: it is consumed (UCS_ERR_NO_ELEM), or not,
 *  with any other status of the handler. */
ucs_status_t ucp_am_call(ucp_worker_h worker, const ucp_am_handler_t *handler,
                         ucp_am_desc_t *desc, const void *header,
                         size_t header_length, ucp_am_recv_param_t *param);

/** Receives the data of an announcement, as ucp_am_recv_data_nbx. */
ucs_status_ptr_t ucp_am_rndv_recv(ucp_worker_h worker, ucp_am_desc_t *desc,
                                  void *buffer, size_t count,
                                  const ucp_request_param_t *param);

/** Completes the sender's operation with `status`: its data is not received. */
void ucp_am_rndv_reject(ucp_worker_h worker, ucp_am_desc_t *desc,
                        ucs_status_t status);

#endif
