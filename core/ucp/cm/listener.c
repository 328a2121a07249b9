/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_listener_create() and the other functions of listeners. A listener
 * listens at one address and port, with every connection manager that supports
 * the address. Each request of a client is passed to the user's callback.
 */
#include "ucp/cm/listener.h"

#include "ucp/base/class.h"
#include "ucp/cm/cm.h"
#include "ucp/cm/request.h"
#include "ucs/debug/log.h"
#include "ucs/sys/sock.h"
#include "uct/base/component.h"

#include <netinet/in.h>
#include <stdlib.h>

/* Number of ports that are tried if the user sets none. */
enum { MAX_PORTS = 16 };

/* ------------------------------------------------------ incoming clients -- */

/* For listeners with accept_handler, the older interface: creates the endpoint,
 * and then calls the user's callback with it. The error handling mode of the
 * endpoint is the one in the client's hello (hello.h). */
static void accept_client(ucp_listener_t *listener, ucp_conn_request_t *request)
{
    ucp_listener_accept_callback_t cb = listener->accept_cb;
    void *arg                         = listener->arg;
    uint16_t flags = (request->hello.flags & UCP_CM_HELLO_ERR_MODE) ?
                         UCP_EP_FLAG_ERR_MODE :
                         0;
    const ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST,
    };
    ucp_ep_h ep;

    if (ucp_cm_accept(listener->worker, request, flags, &ep) != UCS_OK) {
        return;
    }
    if (ucp_classes_ep_init(ep, &params) != UCS_OK) {
        ucp_ep_discard(ep);
        return;
    }
    /* The callback may destroy the listener, so `listener` is not used after
     * it */
    cb(ep, arg);
}

static void client_came(uct_listener_h uct, void *arg,
                        const uct_cm_listener_conn_request_args_t *args)
{
    const ucp_listener_part_t *part = arg;
    ucp_listener_t *listener        = part->listener;
    char client[UCS_SOCKADDR_STRING_LEN];
    ucp_conn_request_t *request;

    request = ucp_conn_request_create(listener, &listener->requests, uct,
                                      part->component, args);
    if (request == NULL) {
        ucs_diag("rejected a client at %s: it is not of this library, or out "
                 "of memory",
                 ucs_sockaddr_str(args->client_address.addr, client,
                                  sizeof(client)));
        (void)uct_listener_reject(uct, args->conn_request);
    } else if (listener->conn_cb != NULL) {
        listener->conn_cb(request, listener->arg);
    } else {
        accept_client(listener, request);
    }
}

/* ------------------------------------------------------------- listening -- */

static ucs_status_t listen_at(ucp_listener_t *listener,
                              ucp_cm_manager_t *manager,
                              const struct sockaddr_storage *address)
{
    unsigned long backlog = listener->worker->context->options.listener_backlog;
    ucp_listener_part_t *part    = &listener->parts[listener->num];
    uct_listener_params_t params = {
        .field_mask = UCT_LISTENER_PARAM_FIELD_CONN_REQUEST_CB |
                      UCT_LISTENER_PARAM_FIELD_USER_DATA,
        .conn_request_cb = client_came,
        .user_data       = part,
    };
    ucs_status_t status;

    if ((backlog != UCS_ULUNITS_AUTO) && (backlog > 0)) {
        params.field_mask |= UCT_LISTENER_PARAM_FIELD_BACKLOG;
        params.backlog = (backlog < SOMAXCONN) ? (int)backlog : SOMAXCONN;
    }

    status = ucp_cm_manager_open(listener->worker, manager);
    if (status != UCS_OK) {
        return status;
    }

    part->listener  = listener;
    part->component = manager->component;
    status = uct_listener_create(manager->uct, (const struct sockaddr *)address,
                                 sizeof(*address), &params,
                                 &listener->ucts[listener->num]);
    if (status == UCS_OK) {
        ++listener->num;
    }
    return status;
}

/* Gets the address from the first manager. If the user's port was 0, this
 * manager has selected a port. */
static ucs_status_t get_address(const ucp_listener_t *listener,
                                struct sockaddr_storage *address)
{
    uct_listener_attr_t attr = {.field_mask = UCT_LISTENER_ATTR_FIELD_SOCKADDR};
    ucs_status_t status      = uct_listener_query(listener->ucts[0], &attr);

    if (status == UCS_OK) {
        *address = attr.sockaddr;
    }
    return status;
}

/* Listens with every manager that supports the address. All listen at the port
 * of the first one that succeeds. Returns UCS_ERR_BUSY if that port is in use
 * with another manager; some managers may listen then. */
static ucs_status_t listen_with_all(ucp_listener_t *listener,
                                    ucp_cm_worker_t *cms,
                                    struct sockaddr_storage *address)
{
    char text[UCS_SOCKADDR_STRING_LEN];
    ucs_status_t status, why = UCS_OK;
    unsigned i;

    for (i = 0; i < cms->num; ++i) {
        status = listen_at(listener, &cms->managers[i], address);
        if ((status == UCS_OK) && (listener->num == 1)) {
            status = get_address(listener, address);
        }
        if (status != UCS_OK) {
            /* Of several errors, return UCS_ERR_BUSY (the address is in use),
             * because it helps the user most; otherwise the first one. */
            why = ((why == UCS_OK) || (status == UCS_ERR_BUSY)) ? status : why;
            ucs_diag("%s cannot listen at %s: %s",
                     uct_component_decl(cms->managers[i].component)->name,
                     ucs_sockaddr_str((struct sockaddr *)address, text,
                                      sizeof(text)),
                     ucs_status_string(status));
        }
    }
    return why;
}

static int has_port(const struct sockaddr_storage *address)
{
    const struct sockaddr_in *in   = (const struct sockaddr_in *)address;
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;

    return (address->ss_family == AF_INET6) ? (in6->sin6_port != 0) :
                                              (in->sin_port != 0);
}

/* Listens at the user's address. If the user leaves the port to the library,
 * the first manager selects one, which may be in use with another manager,
 * because managers have separate ports (TCP, RDMA). Clients that connect by the
 * other manager would find another program there: try other ports. */
static ucs_status_t listen_everywhere(ucp_listener_t *listener,
                                      ucp_cm_worker_t *cms,
                                      const ucs_sock_addr_t *where)
{
    struct sockaddr_storage asked, address;
    unsigned attempts = MAX_PORTS;
    ucs_status_t status;

    status = ucs_sockaddr_copy(&asked, where->addr, where->addrlen);
    if (status != UCS_OK) {
        return status;
    }

    for (;;) {
        address = asked;
        status  = listen_with_all(listener, cms, &address);
        if ((status != UCS_ERR_BUSY) || (listener->num == 0) ||
            has_port(&asked) || (--attempts == 0)) {
            return (listener->num > 0) ? UCS_OK : status;
        }
        ucp_conn_requests_end(&listener->requests, listener->ucts,
                              listener->num);
        listener->num = 0;
    }
}

/* Stores the user's callback. The user must set exactly one of conn_handler and
 * accept_handler. */
static ucs_status_t take_handler(ucp_listener_t *listener,
                                 const ucp_listener_params_t *params)
{
    const uint64_t both = UCP_LISTENER_PARAM_FIELD_CONN_HANDLER |
                          UCP_LISTENER_PARAM_FIELD_ACCEPT_HANDLER;

    switch (params->field_mask & both) {
    case UCP_LISTENER_PARAM_FIELD_CONN_HANDLER:
        listener->conn_cb = params->conn_handler.cb;
        listener->arg     = params->conn_handler.arg;
        break;
    case UCP_LISTENER_PARAM_FIELD_ACCEPT_HANDLER:
        listener->accept_cb = params->accept_handler.cb;
        listener->arg       = params->accept_handler.arg;
        break;
    default:
        return UCS_ERR_INVALID_PARAM;
    }
    return ((listener->conn_cb == NULL) && (listener->accept_cb == NULL)) ?
               UCS_ERR_INVALID_PARAM :
               UCS_OK;
}

/* All bits of ucp_listener_params_field in this version of ucp.h. */
enum { ALL_FIELDS = (UCP_LISTENER_PARAM_FIELD_CONN_HANDLER << 1) - 1 };

ucs_status_t ucp_listener_create(ucp_worker_h worker,
                                 const ucp_listener_params_t *params,
                                 ucp_listener_h *listener_p)
{
    ucp_listener_t *listener;
    ucp_cm_worker_t *cms;
    ucs_status_t status;

    status = ucp_context_check_fields(worker->context->is_newer,
                                      "ucp_listener_create", params->field_mask,
                                      ALL_FIELDS);
    if (status != UCS_OK) {
        return status;
    }
    if (!(params->field_mask & UCP_LISTENER_PARAM_FIELD_SOCK_ADDR) ||
        (params->sockaddr.addr == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    listener = calloc(1, sizeof(*listener));
    if (listener == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    ucp_worker_enter(worker);
    listener->worker = worker;
    ucs_list_head_init(&listener->link);
    ucs_list_head_init(&listener->requests);
    status = take_handler(listener, params);
    if (status == UCS_OK) {
        status = ucp_cm_worker_get(worker, &cms);
    }
    if (status == UCS_OK) {
        status = listen_everywhere(listener, cms, &params->sockaddr);
    }
    if (status == UCS_OK) {
        ucs_list_add_tail(&cms->listeners, &listener->link);
        *listener_p = listener;
    } else {
        ucp_listener_end(listener);
    }
    ucp_worker_leave(worker);
    return status;
}

/* ---------------------------------------------- query, rejection and end -- */

void ucp_listener_end(ucp_listener_t *listener)
{
    ucp_conn_requests_end(&listener->requests, listener->ucts, listener->num);
    ucs_list_del(&listener->link);
    free(listener);
}

void ucp_listener_destroy(ucp_listener_h listener)
{
    ucp_worker_h worker = listener->worker;

    ucp_worker_enter(worker);
    ucp_listener_end(listener);
    ucp_worker_leave(worker);
}

ucs_status_t ucp_listener_query(ucp_listener_h listener,
                                ucp_listener_attr_t *attr)
{
    ucs_status_t status = UCS_OK;

    if (attr->field_mask & UCP_LISTENER_ATTR_FIELD_SOCKADDR) {
        ucp_worker_enter(listener->worker);
        status = get_address(listener, &attr->sockaddr);
        ucp_worker_leave(listener->worker);
    }
    return status;
}

ucs_status_t ucp_listener_reject(ucp_listener_h listener,
                                 ucp_conn_request_h conn_request)
{
    if ((conn_request == NULL) || (conn_request->listener != listener)) {
        return UCS_ERR_INVALID_PARAM;
    }

    ucp_worker_enter(listener->worker);
    ucp_conn_request_end(conn_request);
    ucp_worker_leave(listener->worker);
    return UCS_OK;
}
