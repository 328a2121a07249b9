/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_request_query: the status and the memory type of a request, and a
 * description as text, for example "flush: Operation in progress".
 */
#include "ucp/base/class.h"
#include "ucp/core/ep_life.h"
#include "ucp/mem/mem.h"
#include "ucp/order/flush.h"
#include "ucp/proto/ep.h"
#include "ucs/type/memory_type.h"

/* Writes for which message sizes the endpoint selects this protocol. Writes
 * nothing if no table of messages contains it, as with the protocols for the
 * data of a rendezvous. */
static void describe_range(const ucp_request_t *req, char *text, size_t max)
{
    const ucp_ep_config_t *config = req->send.ep->config;
    const ucp_proto_t *proto      = req->send.proto;
    const ucp_proto_step_t *step;
    size_t start;
    unsigned op;

    text[0] = '\0';
    for (op = 0; op < UCP_OP_MESSAGE_LAST; ++op) {
        start = 0;
        for (step = config->tables[op][req->dt.dt_class].steps;
             (step->proto != proto) && (step->max != SIZE_MAX); ++step) {
            start = step->max + 1;
        }
        if (step->proto != proto) {
            continue;
        }
        if (step->max == SIZE_MAX) {
            snprintf(text, max, " (%zu..inf)", start);
        } else {
            snprintf(text, max, " (%zu..%zu)", start, step->max);
        }
        return;
    }
}

/* Writes " by <protocol> over <transport> (<from>..<to>)" for a send that is
 * not complete. Writes nothing if the endpoint does not exist any more, or if
 * the send is complete. */
static void describe_send(const ucp_request_t *req, char *text, size_t max)
{
    const char *name;
    char range[64];
    ucp_ep_h ep;

    if (ucp_request_is_done(req) || (req->send.proto == NULL)) {
        return;
    }
    name = req->send.proto->name;

    ep = ucp_request_live_ep(req);
    if (ep == NULL) {
        return;
    }
    if ((req->lane >= ep->config->num_lanes) || ep->config->unconnected) {
        snprintf(text, max, " by %s", name);
        return;
    }
    describe_range(req, range, sizeof(range));
    ucp_proto_describe(name, ep->worker,
                       ep->config->lanes[req->lane].iface_index, range, text,
                       max);
}

static void describe(const ucp_request_t *req, ucs_status_t status, char *text,
                     size_t max)
{
    char proto[UCP_REQUEST_INFO_MAX / 2] = "";
    const char *kind                     = "send";

    if (req->flags & UCP_REQUEST_FLAG_RECV) {
        kind = ucp_classes_describe(req, proto, sizeof(proto));
    } else if (req->dt.mem_type == UCS_MEMORY_TYPE_UNKNOWN) {
        snprintf(text, max, "%s: %s",
                 ucp_send_flush(req)->closing ? "close" : "flush",
                 ucs_status_string(status));
        return;
    } else {
        describe_send(req, proto, sizeof(proto));
    }
    snprintf(text, max, "%s of %zu bytes of %s memory%s: %s", kind,
             req->dt.length,
             ucs_memory_type_name((ucs_memory_type_t)req->dt.mem_type), proto,
             ucs_status_string(status));
}

UCS_F_COLD ucs_status_t ucp_request_query(void *request,
                                          ucp_request_attr_t *attr)
{
    ucp_request_t *req  = ucp_request_of(request);
    ucp_worker_h worker = req->worker;
    ucs_status_t status;

    if ((attr->field_mask & UCP_REQUEST_ATTR_FIELD_INFO_STRING) &&
        !(attr->field_mask & UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE)) {
        return UCS_ERR_INVALID_PARAM;
    }

    ucp_worker_enter(worker);
    status = ucp_request_check_status(request);
    if (attr->field_mask & UCP_REQUEST_ATTR_FIELD_STATUS) {
        attr->status = status;
    }
    if (attr->field_mask & UCP_REQUEST_ATTR_FIELD_MEM_TYPE) {
        attr->mem_type = (ucs_memory_type_t)req->dt.mem_type;
    }
    if (attr->field_mask & UCP_REQUEST_ATTR_FIELD_INFO_STRING) {
        describe(req, status, attr->debug_string, attr->debug_string_size);
    }
    ucp_worker_leave(worker);
    return UCS_OK;
}
