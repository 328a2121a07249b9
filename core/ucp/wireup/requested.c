/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lanes that a peer requests by a message of the handshake (records.h). The
 * indices in the request come from the peer and are checked here.
 */
#include "ucp/wireup/search.h"

/* Returns the interface that the peer requests for a lane, or NULL if it is
 * unsuitable. */
static const ucp_worker_iface_t *
requested_iface(const search_t *search, const ucp_wireup_record_t *record)
{
    ucp_worker_h worker = search->worker;
    unsigned index      = record->receiver_iface;
    const ucp_worker_iface_t *wiface;

    if (index >= worker->num_ifaces) {
        return NULL;
    }
    wiface = &worker->ifaces[index];
    if (!(wiface->attr->base.cap.flags & UCT_IFACE_FLAG_CONNECT_TO_EP) ||
        ((record->lane == UCP_AM_LANE) &&
         (ucp_wireup_no_messages(wiface) != NULL))) {
        return NULL;
    }
    return wiface;
}

/* Finds the entry in the peer's address of the interface that the peer uses for
 * the lane. Returns how directly our interface reaches it; zero if it does not,
 * or if there is no such entry. */
static int requested_entry(const search_t *search,
                           const ucp_wireup_record_t *record, uint8_t *entry_p)
{
    const ucp_resource_t *resource =
        ucp_worker_iface_resource(search->worker, record->receiver_iface);
    uint16_t code = ucp_address_tl_code(resource->tl_name);
    const char *reason;
    char detail[128];
    int near = 0;
    unsigned i;

    for (i = 0; (i < search->peer->num_entries) && (near == 0); ++i) {
        const ucp_address_entry_t *entry = &search->peer->entries[i];

        if ((entry->iface_index == record->sender_iface) &&
            (entry->tl_code == code)) {
            *entry_p = (uint8_t)i;
            near     = ucp_wireup_nearness(search, record->receiver_iface, i,
                                           detail, sizeof(detail), &reason);
        }
    }
    return near;
}

int ucp_wireup_take_requested(search_t *search,
                              const ucp_wireup_record_t *record,
                              ucp_selected_lane_t *lane)
{
    const ucp_worker_iface_t *wiface = requested_iface(search, record);
    unsigned index                   = record->receiver_iface;
    uint8_t entry                    = UNREACHABLE;
    int near = (wiface != NULL) ? requested_entry(search, record, &entry) : 0;

    if (near == 0) {
        if (search->explains) {
            ucs_string_buffer_appendf(
                &search->why,
                " the peer requests a lane from its interface %u to our"
                " interface %u, which %s",
                record->sender_iface, index,
                (wiface == NULL) ? "cannot carry it" : "does not reach it");
        }
        return 0;
    }

    search->entry[index] = entry;
    search->near[index]  = near;
    *lane                = ucp_wireup_selected_lane(search, index);
    lane->to_ep          = 1;
    lane->requested_lane = record->lane;
    return 1;
}
