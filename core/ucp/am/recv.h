/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receiver of active messages: finds and calls handlers, for messages with
 * data (eager) and for announcements of data that is still at the sender
 * (rendezvous); the endpoint for replies; reception and rejection of the data
 * of a rendezvous.
 */
#ifndef UCP_AM_RECV_H
#define UCP_AM_RECV_H

#include "ucp/am/desc.h"
#include "ucp/proto/ep.h"

/** Finds the handler of a message by its head, `word`. If there is none, logs a
 *  warning and returns NULL. */
const ucp_am_handler_t *ucp_am_handler_find(ucp_worker_h worker, uint64_t word);

/** Returns the endpoint by which the user can reply to a sender; NULL if the
 *  sender has not sent its address (message INTRODUCE, wireup/introduce.h). The
 *  endpoint exists until the user closes it or the worker is destroyed. */
ucp_ep_h ucp_am_reply_ep(ucp_worker_h worker, const ucp_wire_end_t *sender);

/** Calls a handler with the data of a descriptor. Returns UCS_INPROGRESS if the
 *  user keeps the descriptor. Otherwise the caller releases the descriptor; the
 *  result is UCS_ERR_NO_ELEM if the user has consumed the data during the call,
 *  else the status of the handler. */
ucs_status_t ucp_am_call(ucp_worker_h worker, const ucp_am_handler_t *handler,
                         ucp_am_desc_t *desc, const void *header,
                         size_t header_length, ucp_am_recv_param_t *param);

/** Starts to receive the data that is still at the sender, for
 *  ucp_am_recv_data_nbx(). */
ucs_status_ptr_t ucp_am_rndv_recv(ucp_worker_h worker, ucp_am_desc_t *desc,
                                  void *buffer, size_t count,
                                  const ucp_request_param_t *param);

/** Rejects the announcement of `desc`: its data is not received, and the
 *  sender's operation completes with `status`. */
void ucp_am_rndv_reject(ucp_worker_h worker, ucp_am_desc_t *desc,
                        ucs_status_t status);

#endif
