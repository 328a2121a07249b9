/* SPDX-License-Identifier: BSD-3-Clause */
/* Background copies of small tagged messages to memory that the processor
 * cannot access (staged.h). */
#include "ucp/tag/staged.h"

#include <string.h>

static void placed(ucp_stage_frag_t *frag)
{
    ucp_request_t *req  = frag->req;
    ucs_status_t status = frag->status;

    ucp_stage_frag_put(frag);
    ucp_request_complete_recv(req, status);
}

ucp_stage_frag_t *ucp_tag_staged_frag(const ucp_dt_iter_t *dt, size_t length)
{
    return (ucp_dt_iter_is_flat(dt) && (length <= dt->length)) ?
               ucp_stage_gather(dt->u.iov.copier, length, 1) :
               NULL;
}

void ucp_tag_staged_start(ucp_request_t *req, ucp_stage_frag_t *frag,
                          const void *payload, size_t length)
{
    memcpy(frag->data, payload, length);
    frag->req    = req;
    frag->place  = req->dt.place;
    frag->memory = req->dt.u.iov.memory;
    frag->length = length;
    ucp_stage_frag_start(frag, 1, placed);
}
