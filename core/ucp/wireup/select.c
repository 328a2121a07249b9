/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See select.h.
 */
#include "ucp/wireup/select.h"

#include "ucs/datastruct/string_buffer.h"
#include "ucs/debug/log.h"

#include <string.h>

/* What every lane for active messages must do. */
#define AM_NEEDS \
    (UCT_IFACE_FLAG_AM_BCOPY | UCT_IFACE_FLAG_PENDING | \
     UCT_IFACE_FLAG_CONNECT_TO_IFACE | UCT_IFACE_FLAG_CB_SYNC)

/* Half of it counts: messages that matter most are small ones, but of two
 * networks the one with more bandwidth is usually the better one. */
static double am_score(ucp_context_h context, ucp_worker_iface_t *wiface)
{
    const uct_iface_attr_t *attr = &wiface->attr->base;
    double small = attr->overhead + attr->latency.c +
                   attr->latency.m * (double)context->estimated_num_eps;
    double bandwidth = attr->bandwidth.dedicated +
                       attr->bandwidth.shared /
                       (double)context->estimated_num_ppn;

    return 1.0 / (small + 4096.0 / bandwidth);
}

static const char *missing(ucp_worker_iface_t *wiface,
                           const ucp_resource_t *resource, int err_mode,
                           int to_self)
{
    uint64_t flags = wiface->attr->base.cap.flags;

    if ((flags & AM_NEEDS) != AM_NEEDS) {
        return "lacks active messages";
    }
    if (err_mode && !to_self &&
        !(flags & UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE)) {
        return "cannot report a lost peer";
    }
    if (resource->loopback_only && !to_self) {
        return "reaches this worker only";
    }
    return NULL;
}

static void explain(ucs_string_buffer_t *why, const ucp_resource_t *resource,
                    const char *reason)
{
    ucs_string_buffer_appendf(why, "\n    %s/%s: %s", resource->tl_name,
                              resource->dev_name, reason);
}

ucs_status_t ucp_wireup_select_am(ucp_worker_h worker,
                                  const ucp_address_info_t *peer,
                                  int err_mode, ucp_lane_choice_t *choice)
{
    ucp_context_h context = worker->context;
    int to_self           = (peer->uuid == worker->uuid);
    double best           = -1;
    ucs_string_buffer_t why;
    const char *reason;
    unsigned i, j;
    char detail[128];

    ucs_string_buffer_init(&why);
    for (i = 0; i < worker->num_ifaces; ++i) {
        ucp_worker_iface_t *wiface = &worker->ifaces[i];
        ucp_resource_t *resource   = &context->resources[wiface->resource];
        double score               = am_score(context, wiface);

        reason = missing(wiface, resource, err_mode, to_self);
        if (reason != NULL) {
            explain(&why, resource, reason);
            continue;
        }

        reason = "the peer has no such transport";
        for (j = 0; j < peer->num_entries; ++j) {
            const ucp_address_entry_t *entry = &peer->entries[j];

            if (strcmp(entry->tl_name, resource->tl_name) != 0) {
                continue;
            }

            detail[0] = '\0';
            if (!uct_iface_is_reachable_sized(
                        wiface->iface,
                        (const uct_device_addr_t *)entry->dev_addr,
                        entry->dev_addr_length,
                        (const uct_iface_addr_t *)entry->iface_addr,
                        entry->iface_addr_length, detail, sizeof(detail))) {
                reason = (detail[0] != '\0') ? detail : "cannot reach it";
                continue;
            }

            reason = NULL;
            if (score > best) {
                best                = score;
                choice->iface_index = i;
                choice->entry_index = j;
            }
            break;
        }
        if (reason != NULL) {
            explain(&why, resource, reason);
        }
    }

    if (best < 0) {
        ucs_diag("no transport reaches worker %s (%lx):%s", peer->name,
                 peer->uuid, ucs_string_buffer_cstr(&why));
    }
    ucs_string_buffer_cleanup(&why);
    return (best < 0) ? UCS_ERR_UNREACHABLE : UCS_OK;
}
