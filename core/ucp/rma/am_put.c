/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put by active messages: the initiator sends the data, in one message or in
 * fragments; the handler at the owner copies it to the memory if the key
 * allows that.
 */
#include "ucp/rma/ack.h"
#include "ucp/rma/rkey.h"

#include "ucp/dt/dt.h"
#include "ucp/mem/table.h"
#include "ucp/proto/fragment.h"
#include "ucp/stage/stage.h"
#include "ucp/stats/stats.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"

#include <ucx/copy.h>

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
        char data[UCP_RMA_AM_SHORT_MAX];
    } message;
    const size_t header = sizeof(message.hdr.key); /* am_short has an argument
                                                    * for the key */
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

/* Returns the maximum bytes of data in one message by buffered copy. */
static size_t max_data(ucp_ep_h ep)
{
    return ucp_ep_config_am(ep->config)->max_bcopy - sizeof(ucp_rma_put_t);
}

size_t ucp_rma_put_fragment(const ucp_ep_config_t *config, unsigned dt_class,
                            size_t length)
{
    const size_t header = sizeof(ucp_rma_put_t);
    size_t copied       = ucp_ep_config_am(config)->max_bcopy - header;
    size_t fragment;

    if ((length <= copied) ||
        !ucp_fragment_is_zcopy(config, dt_class, header)) {
        return 0;
    }
    fragment = ucp_fragment_size(config, dt_class, header);
    return (fragment > copied) ? fragment : 0;
}

static size_t put_pack(void *dest, void *arg)
{
    ucp_request_t *req = arg;
    ucp_rma_put_t *hdr = dest;

    pack_header(hdr, req->send.ep, ucp_send_rma(req)->key,
                ucp_send_rma(req)->address + req->dt.offset);
    return sizeof(*hdr) +
           ucp_dt_iter_pack(&req->dt, hdr + 1, max_data(req->send.ep));
}

static ucs_status_t zcopy_fragment(ucp_request_t *req, size_t fragment)
{
    ucp_rma_put_t hdr;

    pack_header(&hdr, req->send.ep, ucp_send_rma(req)->key,
                ucp_send_rma(req)->address + req->dt.offset);
    return ucp_fragment_zcopy(req, UCP_AM_ID_PUT, &hdr, sizeof(hdr), fragment);
}

/* Sends this worker's address (INTRODUCE) if necessary: the peer needs an
 * endpoint for the ACK, which also reports failures. */
static ucs_status_t am_init(ucp_request_t *req, uint32_t attr)
{
    return ucp_wireup_introduce(req->send.ep);
}

static int am_is_immediate(const ucp_request_t *req)
{
    return (req->dt.dt_class != UCP_DT_CLASS_GENERIC) &&
           (req->dt.length <= max_data(req->send.ep));
}

static ucs_status_t am_progress(ucp_request_t *req)
{
    ucp_ep_h ep     = req->send.ep;
    size_t fragment = ucp_rma_put_fragment(ep->config, req->dt.dt_class,
                                           req->dt.length);
    size_t before   = req->dt.offset;
    ucs_status_t status;

    status = (fragment > 0) ?
                 zcopy_fragment(req, fragment) :
                 ucp_fragment_copy(req, UCP_AM_ID_PUT, put_pack, max_data(ep));
    if (status == UCS_ERR_NO_RESOURCE) {
        return status;
    }
    ep->rma_issued += (status == UCS_OK);
    status = ucp_fragment_check(req, before, status);
    if ((status == UCS_OK) && (req->dt.offset < req->dt.length)) {
        return UCS_INPROGRESS;
    }
    ucp_rma_zcopy_posted(req, status);
    return UCS_OK;
}

const ucp_proto_t ucp_proto_put_am = {
    .name         = "put/am",
    .ops          = UCS_BIT(UCP_OP_PUT),
    .query        = ucp_rma_query_am,
    .init         = am_init,
    .is_immediate = am_is_immediate,
    .progress     = am_progress,
    .abort        = ucp_rma_zcopy_abort,
    .flags        = UCP_PROTO_FLAG_MESSAGES,
    .counter      = UCP_STATS_PUT_AM,
};

/* UCT callback for received PUT messages. Hot path. */
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
        if (status == UCS_ERR_UNSUPPORTED) {
            status = ucp_stage_access(worker, ucp_le64_get(hdr->key), address,
                                      length, UCP_MEM_MAP_PROT_REMOTE_WRITE,
                                      (void *)(hdr + 1), 1);
        }
        if (status != UCS_OK) {
            ucp_rma_ack_failure(worker, &hdr->sender, "put", status);
            return UCS_OK;
        }
    } else {
        ucx_copy((void *)(uintptr_t)address, hdr + 1, length);
        ucp_mem_table_release(mems);
    }
    ucp_rma_ack_count(worker, &hdr->sender);
    return UCS_OK;
}
