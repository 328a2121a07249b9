/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packs and parses the messages of the handshake, REQUEST and REPLY
 * (records.h).
 */
#include "ucp/wireup/records.h"

#include "ucp/base/reader.h"

#include <string.h>

/* ------------------------------------------------------------- packing -- */

static uint8_t *put(uint8_t *p, const void *bytes, size_t length)
{
    memcpy(p, bytes, length);
    return p + length;
}

static uint8_t *put_counted(uint8_t *p, const void *bytes, uint8_t length)
{
    *p = length;
    return (length > 0) ? put(p + 1, bytes, length) : p + 1;
}

static uint8_t *put_records(uint8_t *p, const ucp_wireup_record_t *records,
                            unsigned count)
{
    unsigned i;

    *p++ = (uint8_t)count;
    for (i = 0; i < count; ++i) {
        *p++ = records[i].lane;
        *p++ = records[i].receiver_iface;
        *p++ = records[i].sender_iface;
        p    = put_counted(p, records[i].dev_addr, records[i].dev_addr_length);
        p    = put_counted(p, records[i].ep_addr, records[i].ep_addr_length);
    }
    return p;
}

size_t ucp_wireup_request_pack(const ucp_wireup_request_t *request, void *dest)
{
    uint8_t *p = put(dest, &request->sender, sizeof(request->sender));

    *p++ = request->flags;
    p    = put_records(p, request->lanes, request->num_lanes);
    return (size_t)(p - (uint8_t *)dest);
}

size_t ucp_wireup_reply_pack(const ucp_wireup_reply_t *reply, void *dest)
{
    uint8_t *p = put(dest, &reply->requester, sizeof(reply->requester));

    p    = put(p, &reply->sender, sizeof(reply->sender));
    *p++ = (uint8_t)reply->status;
    p    = put_records(p, reply->lanes, reply->num_lanes);
    return (size_t)(p - (uint8_t *)dest);
}

/* ------------------------------------------------------------- parsing -- */

static const uint8_t *take_counted(ucp_reader_t *reader, uint8_t *length_p)
{
    return ucp_reader_copy(reader, length_p, 1) ?
               ucp_reader_take(reader, *length_p) :
               NULL;
}

static int take_record(ucp_reader_t *reader, ucp_wireup_record_t *record)
{
    if (!ucp_reader_copy(reader, &record->lane, 1) ||
        !ucp_reader_copy(reader, &record->receiver_iface, 1) ||
        !ucp_reader_copy(reader, &record->sender_iface, 1)) {
        return 0;
    }
    record->dev_addr = take_counted(reader, &record->dev_addr_length);
    record->ep_addr  = (record->dev_addr == NULL) ?
                           NULL :
                           take_counted(reader, &record->ep_addr_length);
    return (record->ep_addr != NULL) && (record->lane < UCP_MAX_LANES);
}

static int take_records(ucp_reader_t *reader, ucp_wireup_record_t *records,
                        unsigned *count_p)
{
    uint8_t count;
    unsigned i;

    if (!ucp_reader_copy(reader, &count, 1) || (count > UCP_MAX_LANES)) {
        return 0;
    }
    for (i = 0; i < count; ++i) {
        if (!take_record(reader, &records[i]) ||
            (ucp_wireup_record_find(records, i, records[i].lane) != NULL)) {
            return 0;
        }
    }
    *count_p = count;
    return 1;
}

int ucp_wireup_request_parse(const void *data, size_t length,
                             ucp_wireup_request_t *request)
{
    ucp_reader_t reader = {data, length};

    if (!ucp_reader_copy(&reader, &request->sender, sizeof(request->sender)) ||
        !ucp_reader_copy(&reader, &request->flags, 1) ||
        !take_records(&reader, request->lanes, &request->num_lanes) ||
        (request->num_lanes == 0)) {
        return 0;
    }
    request->address        = reader.p;
    request->address_length = reader.left;
    /* If lane 0 is not among the requested lanes, the responder adds a lane of
     * its own for messages: there must be space for it */
    return (request->num_lanes < UCP_MAX_LANES) ||
           (ucp_wireup_record_find(request->lanes, request->num_lanes,
                                   UCP_AM_LANE) != NULL);
}

int ucp_wireup_reply_parse(const void *data, size_t length,
                           ucp_wireup_reply_t *reply)
{
    ucp_reader_t reader = {data, length};
    int8_t status;

    if (!ucp_reader_copy(&reader, &reply->requester,
                         sizeof(reply->requester)) ||
        !ucp_reader_copy(&reader, &reply->sender, sizeof(reply->sender)) ||
        !ucp_reader_copy(&reader, &status, 1) ||
        !take_records(&reader, reply->lanes, &reply->num_lanes) ||
        (reader.left > 0)) {
        return 0;
    }
    reply->status = ((status <= UCS_OK) && (status > UCS_ERR_LAST)) ?
                        (ucs_status_t)status :
                        UCS_ERR_IO_ERROR;
    return 1;
}

const ucp_wireup_record_t *
ucp_wireup_record_find(const ucp_wireup_record_t *records, unsigned count,
                       unsigned lane)
{
    unsigned i;

    for (i = 0; i < count; ++i) {
        if (records[i].lane == lane) {
            return &records[i];
        }
    }
    return NULL;
}
