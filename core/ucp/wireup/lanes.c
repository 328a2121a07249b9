/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Creates the lanes to a peer whose address is known: selects them, creates
 * the transports' endpoints, and finds the configuration (lanes.h).
 */
#include "ucp/wireup/lanes.h"

#include "ucp/base/idle.h"
#include "ucs/debug/log.h"

#include <string.h>

ucs_status_t ucp_wireup_connect_to_iface(ucp_worker_h worker,
                                         const ucp_address_info_t *peer,
                                         const ucp_selected_lane_t *selected,
                                         uct_ep_h *uct_p)
{
    const ucp_address_entry_t *entry = &peer->entries[selected->entry_index];
    uct_ep_params_t params           = {
                  .field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR |
                                UCT_EP_PARAM_FIELD_IFACE_ADDR |
                                UCT_EP_PARAM_FIELD_DEV_ADDR_LENGTH |
                                UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH,
                  .iface             = worker->ifaces[selected->iface_index].iface,
                  .dev_addr          = (const uct_device_addr_t *)entry->dev_addr,
                  .dev_addr_length   = entry->dev_addr_length,
                  .iface_addr        = (const uct_iface_addr_t *)entry->iface_addr,
                  .iface_addr_length = entry->iface_addr_length,
    };

    ucp_idle_wake(&worker->ifaces[selected->iface_index]);
    return uct_ep_create(&params, uct_p);
}

/* Creates a lane that is connected endpoint to endpoint. If the peer has
 * requested the lane, the address of its endpoint is known and the lane is
 * connected at once. */
static ucs_status_t create_for_ep(ucp_worker_h worker,
                                  const ucp_selected_lane_t *selected,
                                  const ucp_wireup_record_t *record,
                                  uct_ep_h *uct_p)
{
    uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_IFACE,
        .iface      = worker->ifaces[selected->iface_index].iface,
    };
    ucs_status_t status;

    ucp_idle_wake(&worker->ifaces[selected->iface_index]);
    status = uct_ep_create(&params, uct_p);
    if ((status != UCS_OK) || (record == NULL)) {
        return status;
    }

    status = uct_ep_connect_to_ep_sized(
        *uct_p, (const uct_device_addr_t *)record->dev_addr,
        record->dev_addr_length, (const uct_ep_addr_t *)record->ep_addr,
        record->ep_addr_length);
    if (status != UCS_OK) {
        uct_ep_destroy(*uct_p);
    }
    return status;
}

static ucs_status_t connect_lane(ucp_worker_h worker,
                                 const ucp_address_info_t *peer,
                                 const ucp_selected_lane_t *selected,
                                 const ucp_wireup_request_t *request,
                                 uct_ep_h *uct_p)
{
    const ucp_wireup_record_t *record =
        (selected->requested_lane == UCP_NULL_LANE) ?
            NULL :
            ucp_wireup_record_find(request->lanes, request->num_lanes,
                                   selected->requested_lane);

    return selected->to_ep ?
               create_for_ep(worker, selected, record, uct_p) :
               ucp_wireup_connect_to_iface(worker, peer, selected, uct_p);
}

/* Without lane 0, or without a lane that the peer has requested, the connection
 * fails. Any other lane is optional and is skipped if it cannot be created. */
static ucs_status_t connect_lanes(ucp_worker_h worker,
                                  const ucp_address_info_t *peer,
                                  const ucp_wireup_request_t *request,
                                  ucp_wireup_lanes_t *lanes)
{
    unsigned num_selected = lanes->num;
    ucs_status_t status;
    unsigned i;

    lanes->num = 0;
    for (i = 0; i < num_selected; ++i) {
        const ucp_selected_lane_t selected = lanes->selected[i];

        status = connect_lane(worker, peer, &selected, request,
                              &lanes->uct[lanes->num]);
        if (status == UCS_OK) {
            lanes->selected[lanes->num++] = selected;
            continue;
        }
        ucs_debug(
            "no lane over %s to worker %s: %s",
            ucp_worker_iface_resource(worker, selected.iface_index)->tl_name,
            peer->name, ucs_status_string(status));
        if ((i == UCP_AM_LANE) || (selected.requested_lane != UCP_NULL_LANE)) {
            return status;
        }
    }
    return UCS_OK;
}

/* True if the peer is on this machine: according to its address, or because
 * lane 0 uses no network device and so cannot leave the machine. */
static int is_local(ucp_worker_h worker, const ucp_address_info_t *peer,
                    const ucp_wireup_lanes_t *lanes)
{
    unsigned index = lanes->selected[UCP_AM_LANE].iface_index;

    return ucp_address_is_local(peer) || !worker->ifaces[index].lane.is_network;
}

ucs_status_t ucp_wireup_lanes_make(ucp_worker_h worker,
                                   const ucp_address_info_t *peer,
                                   const ucp_select_params_t *params,
                                   ucp_wireup_lanes_t *lanes)
{
    ucs_status_t status;

    memset(lanes, 0, sizeof(*lanes));
    status = ucp_wireup_select(worker, peer, params, lanes->selected,
                               &lanes->num, &lanes->aux);
    if (status != UCS_OK) {
        return status;
    }

    status = connect_lanes(worker, peer, params->request, lanes);
    if ((status == UCS_OK) && lanes->selected[UCP_AM_LANE].to_ep) {
        status = ucp_wireup_connect_to_iface(worker, peer, &lanes->aux,
                                             &lanes->aux_uct);
    }
    if (status != UCS_OK) {
        goto err;
    }

    lanes->config = ucp_ep_config_get(worker, lanes->selected, lanes->num,
                                      params->err_mode,
                                      is_local(worker, peer, lanes));
    if (lanes->config != NULL) {
        return UCS_OK;
    }
    status = UCS_ERR_NO_MEMORY;
err:
    ucp_wireup_lanes_destroy(lanes);
    return status;
}

void ucp_wireup_lanes_destroy(ucp_wireup_lanes_t *lanes)
{
    unsigned i;

    for (i = 0; i < lanes->num; ++i) {
        uct_ep_destroy(lanes->uct[i]);
    }
    if (lanes->aux_uct != NULL) {
        uct_ep_destroy(lanes->aux_uct);
    }
}
