/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The peer in this fuzz target. It builds each kind of message from the input,
 * with ids of existing requests and endpoints, or with other ids, and passes
 * the message to UCP's handler.
 */
#include "run.h"

#include <ucx/am.h>

#include "ucp/am/am.h"
#include "ucp/tag/eager.h"
#include "ucp/tag/multi.h"
#include "ucp/tag/rndv.h"
#include "ucp/wireup/introduce.h"
#include "uct/base/md.h"

void fuzz_deliver(uint8_t id, const void *data, size_t length)
{
    /* exactly the size of the message, so that a sanitizer detects a read
     * beyond its end */
    void *exact = malloc(length);
    ucs_status_t status;

    memcpy(exact, data, length);
    status = ucx_iface_deliver_am(fuzz.worker->ifaces[0].iface, id, exact,
                                  (unsigned)length, 0);
    check(status == UCS_OK, "a handler kept bytes that it does not own");
    free(exact);
}

/* Reads the id of a request: that of an existing request of the user, or an id
 * from the input. */
static ucp_le32_t next_request(reader_t *reader)
{
    unsigned choice = next(reader);
    op_t *op        = &fuzz.ops[choice % NUM_OPS];

    if ((choice >= 128) || (op->request == NULL)) {
        return ucp_le32((uint32_t)next_number(reader, 1) |
                        ((choice & 7u) << 20));
    }
    return ucp_le32(ucp_request_of(op->request)->id);
}

/* Reads the id of an endpoint: that of an existing endpoint of the user, or an
 * id from the input. */
ucp_wire_end_t fuzz_next_end(reader_t *reader)
{
    unsigned choice = next(reader);
    ucp_ep_h ep     = fuzz.eps[choice % NUM_EPS];

    if ((choice < 192) && (ep != NULL)) {
        return ucp_ep_wire_end(ep);
    }
    return (ucp_wire_end_t){ucp_le64((choice & 1) ? fuzz.worker->uuid : choice),
                            ucp_le64(next(reader))};
}

void fuzz_say_introduction(reader_t *reader)
{
    unsigned damage = next(reader);
    char message[sizeof(ucp_introduce_t) + 4096];
    ucp_introduce_t *introduce = (ucp_introduce_t *)message;
    ucp_address_t *address;
    size_t length;

    introduce->sender = fuzz_next_end(reader);
    introduce->flags  = (uint8_t)next(reader);
    check(ucp_worker_get_address(fuzz.worker, &address, &length) == UCS_OK,
          "no address");
    check(length <= 4096, "a long address");
    memcpy(introduce + 1, address, length);
    ucp_worker_release_address(fuzz.worker, address);
    if (damage & 1) {
        ((char *)(introduce + 1))[next(reader) % length] ^= (char)next(reader);
    }
    if (damage & 2) {
        length = next(reader) % (length + 1);
    }
    fuzz_deliver(UCP_AM_ID_INTRODUCE, message, sizeof(*introduce) + length);
}

/* Reads the remote keys that follow a message: no key, invalid bytes, or a key
 * that was packed for memory other than that of the message. Returns the size
 * of the keys in bytes, at most MAX_KEYS. */
static size_t next_keys(reader_t *reader, char *keys)
{
    unsigned choice     = next(reader);
    ucp_rndv_key_t *key = (ucp_rndv_key_t *)keys;
    size_t size         = 0;
    uct_mem_h memh;
    uct_md_h md;

    memset(keys, (int)choice, 64);
    if (choice & 1) {
        size = choice / 4;
    }
    if (choice & 2) {
        md            = fuzz.context->mds[0].md;
        key->md_index = 0;
        key->size     = (uint8_t)uct_md_attr(md)->rkey_packed_size;
        size          = sizeof(*key) + key->size;
        check(size <= 64, "a long key");
        check(uct_md_mem_reg(md, keys, 1, UCT_MD_MEM_ACCESS_RMA, &memh) ==
                  UCS_OK,
              "no registration");
        check(uct_md_mkey_pack(md, memh, key + 1) == UCS_OK, "no key");
        uct_md_mem_dereg(md, memh);
        key->size ^= (choice & 64) ? 5 : 0;
    }
    return size;
}

size_t fuzz_next_rts(reader_t *reader, ucp_rndv_rts_t *rts)
{
    unsigned odd;
    size_t size;

    rts->length    = ucp_le64((next(reader) & 1) ? next_size(reader) :
                                                   next_number(reader, 8));
    rts->sender    = fuzz_next_end(reader);
    rts->request   = next_request(reader);
    odd            = next(reader);
    rts->flags     = (uint8_t)odd;
    rts->lead      = (odd & 16) ? (uint8_t)next(reader) : 0;
    rts->address   = ucp_le64(next_number(reader, 2));
    size           = next_keys(reader, (char *)(rts + 1));
    rts->keys_size = ucp_le16((uint16_t)(size + ((odd & 32) ? 1 : 0)));
    return sizeof(*rts) + size;
}

void fuzz_say_rts(reader_t *reader)
{
    char message[sizeof(ucp_tag_rts_t) + MAX_KEYS];
    ucp_tag_rts_t *rts = (ucp_tag_rts_t *)message;
    size_t size;

    rts->tag = ucp_le64(next(reader) % 4);
    size     = fuzz_next_rts(reader, &rts->rndv);
    fuzz_deliver(UCP_AM_ID_RNDV_RTS, message, sizeof(rts->tag) + size);
}

/* Reads the secret of a rendezvous, which an answer to its announcement must
 * contain. Usually this is the valid secret of the send `req`; a wrong one if
 * the input selects that, or if `req` is NULL or not announced. */
static ucp_le32_t next_secret(reader_t *reader, const ucp_request_t *req)
{
    if ((next(reader) >= 224) || (req == NULL) ||
        !(req->flags & UCP_REQUEST_FLAG_ANNOUNCED)) {
        return ucp_le32(1);
    }
    return ucp_le32(req->send.ep->secret);
}

void fuzz_say_rtr(reader_t *reader)
{
    char message[sizeof(ucp_rndv_rtr_t) + 64];
    ucp_rndv_rtr_t *rtr = (ucp_rndv_rtr_t *)message;
    ucp_le32_t request  = next_request(reader);
    ucp_request_t *req  = ucp_request_by_id(fuzz.worker, ucp_le32_get(request));
    unsigned length     = next(reader);
    size_t size;

    rtr->send_request = request;
    rtr->secret       = next_secret(reader, req);
    rtr->recv_request = next_request(reader);
    rtr->length       = ucp_le64((length < 8)  ? length :
                                 (req != NULL) ? req->dt.length :
                                                 length);
    rtr->address      = ucp_le64(next_number(reader, 2));
    size              = next_keys(reader, (char *)(rtr + 1));
    fuzz_deliver(UCP_AM_ID_RNDV_RTR, message, sizeof(*rtr) + size);
}

void fuzz_say_ats(reader_t *reader)
{
    ucp_le32_t request = next_request(reader);
    ucp_request_t *req = ucp_request_by_id(fuzz.worker, ucp_le32_get(request));
    ucp_le32_t secret  = next_secret(reader, req);
    ucp_rndv_ats_t ats = {request, secret, (int8_t)next(reader)};

    fuzz_deliver(UCP_AM_ID_RNDV_ATS, &ats, sizeof(ats));
}

void fuzz_say_data(reader_t *reader)
{
    char message[sizeof(ucp_rndv_data_t) + 5000] = {0};
    ucp_rndv_data_t *data                        = (ucp_rndv_data_t *)message;
    unsigned wide                                = next(reader);
    size_t length;

    data->recv_request = next_request(reader);
    data->offset       = ucp_le64((wide & 1) ? next_number(reader, 8) :
                                  (wide & 2) ? next_size(reader) :
                                               next_number(reader, 2));
    length             = (wide & 4) ? next_size(reader) : next(reader);
    length             = (length > 5000) ? 5000 : length;
    fuzz_deliver(UCP_AM_ID_RNDV_DATA, message, sizeof(*data) + length);
}

void fuzz_say_done(reader_t *reader)
{
    ucp_rndv_done_t done = {next_request(reader), (int8_t)next(reader)};

    fuzz_deliver(UCP_AM_ID_RNDV_DONE, &done, sizeof(done));
}

/* A message in fragments has additional fields between the header and the
 * payload of its first fragment; `kind` selects them. Reads these fields to
 * `dest`; returns their size in bytes. */
static size_t next_first(reader_t *reader, uint8_t kind, char *dest)
{
    ucp_tag_multi_first_t first;
    ucp_am_head_t head;
    size_t header_length;

    if (kind == UCP_MULTI_FIRST_TAG) {
        first.tag     = ucp_le64(next(reader) % 4);
        first.request = (next(reader) & 1) ? next_request(reader) : ucp_le32(0);
        memcpy(dest, &first, sizeof(first));
        return sizeof(first);
    }
    if (kind == UCP_MULTI_FIRST_AM) {
        header_length = next(reader) % 64;
        head.word     = ucp_le64(fuzz_next_word(reader, header_length));
        memcpy(dest, &head, sizeof(head));
        return sizeof(head) + header_length;
    }
    return 0;
}

/* Delivers a fragment of a message. The message has one of four numbers, so
 * that several fragments of an input belong to the same message. Positions and
 * lengths are usually from the table of next_size(), so that the fragments fit
 * together. */
void fuzz_say_fragment(reader_t *reader)
{
    char message[sizeof(ucp_multi_fragment_t) + 128 + 5000] = {0};
    ucp_multi_fragment_t *fragment = (ucp_multi_fragment_t *)message;
    size_t size                    = sizeof(*fragment);
    unsigned odd                   = next(reader);
    size_t length;

    fragment->kind     = (uint8_t)(odd % 4);
    fragment->sender   = fuzz_next_end(reader);
    fragment->message  = ucp_le32(next(reader) % 4);
    fragment->position = ucp_le64((odd & 4) ? next_number(reader, 8) :
                                  (odd & 8) ? next_number(reader, 2) :
                                              next_size(reader));
    size += next_first(reader, fragment->kind, message + size);
    length = (odd & 16) ? next(reader) : next_size(reader);
    size += (length > 5000) ? 5000 : length;
    fuzz_deliver(UCP_AM_ID_EAGER_FRAGMENT, message,
                 (odd & 32) ? next(reader) % size : size);
}

void fuzz_say_ack(reader_t *reader)
{
    ucp_eager_sync_ack_t ack = {next_request(reader)};

    fuzz_deliver(UCP_AM_ID_EAGER_SYNC_ACK, &ack, sizeof(ack));
}

void fuzz_say_eager(reader_t *reader)
{
    char message[sizeof(ucp_eager_sync_hdr_t) + 255] = {0};
    ucp_eager_sync_hdr_t *hdr = (ucp_eager_sync_hdr_t *)message;
    unsigned sync             = next(reader);

    hdr->tag = ucp_le64(next(reader) % 4);
    if (sync & 1) {
        hdr->sender  = fuzz_next_end(reader);
        hdr->request = next_request(reader);
        fuzz_deliver(UCP_AM_ID_EAGER_SYNC, message,
                     sizeof(*hdr) + next(reader));
    } else {
        fuzz_deliver(UCP_AM_ID_EAGER, message,
                     sizeof(ucp_eager_hdr_t) + next(reader));
    }
}

void fuzz_say_farewell(reader_t *reader)
{
    ucp_wire_end_t end = fuzz_next_end(reader);

    fuzz_deliver(UCP_AM_ID_FAREWELL, &end, sizeof(end));
}

void fuzz_say_bytes(reader_t *reader)
{
    uint8_t id = (uint8_t)(next(reader) % UCP_AM_ID_LAST);
    uint8_t message[MAX_BYTES];
    size_t length = next(reader);
    size_t i;

    for (i = 0; i < length; ++i) {
        message[i] = (uint8_t)next(reader);
    }
    fuzz_deliver(id, message, length);
}

void fuzz_say_farewells(void)
{
    ucp_wire_end_t end;
    ucp_ep_h ep, other;

    ucs_list_for_each_safe(ep, other, &fuzz.worker->eps, link) {
        if ((ep->flags & UCP_EP_FLAG_INTERNAL) &&
            !(ep->flags & UCP_EP_FLAG_FAILED)) {
            end.worker_uuid = ucp_le64(ep->peer_uuid);
            end.ep_id       = ucp_le64(ep->peer_ep_id);
            fuzz_deliver(UCP_AM_ID_FAREWELL, &end, sizeof(end));
        }
    }
}
