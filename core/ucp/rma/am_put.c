/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put by active messages: both sides.
 */
#include "ucp/rma/rma.h"

#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"

static void pack_header(ucp_rma_put_t *hdr, ucp_ep_h ep, uint64_t key,
                        uint64_t address)
{
    hdr->key     = ucp_le64(key);
    hdr->address = ucp_le64(address);
    hdr->sender  = ucp_ep_wire_end(ep);
}

ucs_status_t ucp_rma_am_put_short(ucp_ep_h ep, const void *buffer,
                                  size_t length, uint64_t remote_addr,
                                  uint64_t key)
{
    struct {
        ucp_rma_put_t hdr;
        char          data[UCP_RMA_AM_SHORT_MAX];
    } message;
    const size_t header = sizeof(message.hdr.key); /* it travels apart */
    ucs_status_t status;

    pack_header(&message.hdr, ep, key, remote_addr);
    memcpy(message.data, buffer, length);
    status = ep->am->ops->am_short(ep->am, UCP_AM_ID_PUT, htole64(key),
                                   &message.hdr.address,
                                   (unsigned)(sizeof(message.hdr) - header +
                                              length));
    ep->rma_issued += (status >= 0);
    return status;
}

/* Bytes of data that one message carries. */
static size_t room(ucp_ep_h ep)
{
    return ucp_ep_config_am(ep->config)->max_bcopy - sizeof(ucp_rma_put_t);
}

static size_t put_pack(void *dest, void *arg)
{
    ucp_request_t *req = arg;
    ucp_rma_put_t *hdr = dest;

    pack_header(hdr, req->send.ep, req->send.rma.key,
                req->send.rma.address + req->dt.offset);
    return sizeof(*hdr) + ucp_dt_iter_pack(&req->dt, hdr + 1,
                                           room(req->send.ep));
}

ucs_status_t ucp_rma_am_put_progress(ucp_request_t *req)
{
    ucp_ep_h ep   = req->send.ep;
    size_t before = req->dt.offset;
    ssize_t packed;

    packed = ep->am->ops->am_bcopy(ep->am, UCP_AM_ID_PUT, put_pack, req,
                                   (req->dt.length - before > room(ep)) ?
                                   UCX_SEND_FLAG_MORE : 0);
    if (packed == UCS_ERR_NO_RESOURCE) {
        return UCS_ERR_NO_RESOURCE;
    }
    if (packed < 0) {
        ucp_rma_abort(req, (ucs_status_t)packed);
        return UCS_OK;
    }

    ++ep->rma_issued;
    if (req->dt.offset < req->dt.length) {
        if (req->dt.offset != before) {
            return UCS_INPROGRESS;
        }
        /* a generic datatype that packs nothing would keep us here forever */
        ucs_error("a generic datatype packed no bytes at offset %zu of %zu",
                  req->dt.offset, req->dt.length);
        ucp_rma_abort(req, UCS_ERR_IO_ERROR);
        return UCS_OK;
    }

    ucp_rma_abort(req, UCS_OK);
    return UCS_OK;
}

void ucp_rma_note_failure(ucp_worker_h worker, const ucp_wire_end_t *sender,
                          const char *what, ucs_status_t status)
{
    ucp_ep_h ep = ucp_wireup_reply_ep(worker, sender);

    ucs_diag("refused a %s by worker %lx: %s", what,
             ucp_le64_get(sender->worker_uuid), ucs_status_string(status));
    if ((ep != NULL) && (ep->rma_status == UCS_OK)) {
        ep->rma_status = (int8_t)status;
    }
}

/* Hot path. */
ucs_status_t ucp_rma_put_handler(void *arg, void *data, size_t length,
                                 unsigned flags)
{
    ucp_worker_h worker      = arg;
    ucp_mem_table_t *mems    = &worker->context->mems;
    const ucp_rma_put_t *hdr = data;
    ucs_status_t status;
    uint64_t address;

    if (ucs_unlikely(length < sizeof(*hdr))) {
        ucs_diag("dropped a put of %zu bytes: too short", length);
        return UCS_OK;
    }

    length -= sizeof(*hdr);
    address = ucp_le64_get(hdr->address);
    status  = ucp_mem_table_hold(mems, ucp_le64_get(hdr->key), address, length,
                                 UCP_MEM_MAP_PROT_REMOTE_WRITE);
    if (ucs_unlikely(status != UCS_OK)) {
        ucp_rma_note_failure(worker, &hdr->sender, "put", status);
        return UCS_OK;
    }

    memcpy((void *)(uintptr_t)address, hdr + 1, length);
    ucp_mem_table_release(mems);
    return UCS_OK;
}
