/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Composes the request and the reply of the handshake that connects lanes
 * endpoint to endpoint (handshake.h).
 */
#include "ucp/wireup/handshake.h"

#include "ucp/wireup/fragments.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"

#include <stdlib.h>
#include <string.h>

/* Maximum bytes of the address of an endpoint or a device in a message. */
enum { MAX_ADDRESS = UINT8_MAX };

/* Storage for both addresses of a lane; a record points into it. */
typedef struct {
    uint8_t dev[MAX_ADDRESS];
    uint8_t ep[MAX_ADDRESS];
} addresses_t;

/* Sets the interface and the addresses of this side of a lane in its record.
 * The addresses are stored in `bytes`. */
static ucs_status_t describe(const ucp_wireup_lanes_t *lanes, unsigned lane,
                             addresses_t *bytes, ucp_wireup_record_t *record)
{
    uct_ep_h uct                 = lanes->uct[lane];
    const uct_iface_attr_t *attr = &uct_iface_attr(uct->iface)->base;
    ucs_status_t status;

    if ((attr->device_addr_len > MAX_ADDRESS) ||
        (attr->ep_addr_len > MAX_ADDRESS)) {
        ucs_error("addresses of %zu and %zu bytes are too long for wire-up",
                  attr->device_addr_len, attr->ep_addr_len);
        return UCS_ERR_EXCEEDS_LIMIT;
    }

    memset(bytes, 0, sizeof(*bytes));
    status = uct_iface_get_device_address(uct->iface,
                                          (uct_device_addr_t *)bytes->dev);
    if (status == UCS_OK) {
        status = uct_ep_get_address(uct, (uct_ep_addr_t *)bytes->ep);
    }
    record->sender_iface    = lanes->selected[lane].iface_index;
    record->dev_addr        = bytes->dev;
    record->dev_addr_length = (uint8_t)attr->device_addr_len;
    record->ep_addr         = bytes->ep;
    record->ep_addr_length  = (uint8_t)attr->ep_addr_len;
    return status;
}

ucs_status_t ucp_wireup_send_request(ucp_ep_h ep,
                                     const ucp_address_info_t *peer,
                                     const ucp_wireup_lanes_t *lanes)
{
    ucp_wireup_request_t request = {
        .sender = ucp_ep_wire_end(ep),
        .flags  = (ep->flags & UCP_EP_FLAG_ERR_MODE) ? UCP_INTRODUCE_ERR_MODE :
                                                       0,
    };
    addresses_t bytes[UCP_MAX_LANES];
    ucp_wireup_record_t *record;
    ucs_status_t status;
    size_t length, head;
    void *address;
    char *message;
    unsigned i;

    for (i = 0; i < lanes->num; ++i) {
        if (!lanes->selected[i].to_ep) {
            continue;
        }
        record       = &request.lanes[request.num_lanes++];
        record->lane = (uint8_t)i;
        record->receiver_iface =
            peer->entries[lanes->selected[i].entry_index].iface_index;
        status = describe(lanes, i, &bytes[i], record);
        if (status != UCS_OK) {
            return status;
        }
    }

    status = ucp_wireup_loop(ep);
    if (status == UCS_OK) {
        status = ucp_address_pack(ep->worker, 0, &address, &length);
    }
    if (status != UCS_OK) {
        return status;
    }

    message = malloc(UCP_WIREUP_MAX_HEAD + length);
    if (message == NULL) {
        status = UCS_ERR_NO_MEMORY;
        goto out_address;
    }
    head = ucp_wireup_request_pack(&request, message);
    memcpy(message + head, address, length);
    status = ucp_wireup_send(ep,
                             ucp_wireup_link_of(ucp_ep_wireup(ep)->handshake),
                             UCP_AM_ID_WIREUP_REQUEST, message, head + length);
    if (status == UCS_OK) {
        ep->flags |= UCP_EP_FLAG_INTRODUCED;
    }
    free(message);
out_address:
    free(address);
    return status;
}

ucs_status_t ucp_wireup_send_reply(ucp_ep_h ep, const ucp_wireup_lanes_t *lanes,
                                   const ucp_wireup_request_t *request)
{
    ucp_wireup_reply_t reply = {
        .requester = request->sender,
        .sender    = ucp_ep_wire_end(ep),
        .status    = UCS_OK,
    };
    char message[UCP_WIREUP_MAX_HEAD];
    addresses_t bytes[UCP_MAX_LANES];
    ucp_wireup_record_t *record;
    ucs_status_t status;
    unsigned i;

    for (i = 0; i < lanes->num; ++i) {
        if (lanes->selected[i].requested_lane == UCP_NULL_LANE) {
            continue;
        }
        record                 = &reply.lanes[reply.num_lanes++];
        record->lane           = lanes->selected[i].requested_lane;
        record->receiver_iface = ucp_wireup_record_find(request->lanes,
                                                        request->num_lanes,
                                                        record->lane)
                                     ->sender_iface;
        status = describe(lanes, i, &bytes[i], record);
        if (status != UCS_OK) {
            return status;
        }
    }
    return ucp_wireup_send(ep, ucp_wireup_link_of(ucp_ep_wireup(ep)->handshake),
                           UCP_AM_ID_WIREUP_REPLY, message,
                           ucp_wireup_reply_pack(&reply, message));
}
