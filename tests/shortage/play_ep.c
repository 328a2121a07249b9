/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps that create endpoints by worker address and by socket address, and
 * close them. */
#include "play_ops.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

static void on_failure(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    struct play *play = arg;

    play->failure = status;
}

static ucs_status_t make_ep(struct play *play, ucp_ep_params_t *params,
                            ucp_ep_h *ep_p)
{
    params->field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                          UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params->err_mode    = UCP_ERR_HANDLING_MODE_PEER;
    params->err_handler = (ucp_err_handler_t){.cb = on_failure, .arg = play};
    return ucp_ep_create(play->worker, params, ep_p);
}

void play_connect(struct play *play)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucs_status_t status;
    bool go_on;

    play->step = "connect";
    status     = ucp_worker_query(play->worker, &attr);
    if (status == UCS_OK) {
        go_on = play_agree(play, attr.address, attr.address_length);
        ucp_worker_release_address(play->worker, attr.address);
    } else {
        play_take_error(play, status);
        go_on = play_agree_only(play);
    }
    if (go_on) {
        params.address = (const ucp_address_t *)play->note.bytes;
        play_take_error(play, make_ep(play, &params, &play->ep));
        play_agree_only(play);
    }
}

void play_close(struct play *play, ucp_ep_h *ep_p)
{
    struct op *op             = play_new_op(play, "a close", false);
    ucp_request_param_t param = play_op_param(op);
    ucs_status_ptr_t result   = ucp_ep_close_nbx(*ep_p, &param);

    if (!UCS_PTR_IS_ERR(result)) {
        *ep_p = NULL;
    }
    play_finish(play, play_begun(op, result));
}

static void on_request(ucp_conn_request_h request, void *arg)
{
    struct play *play = arg;

    play->asked = request;
}

static ucs_status_t listen_here(struct play *play, struct sockaddr_storage *at)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_addr   = {.s_addr = htonl(INADDR_LOOPBACK)},
    };
    ucp_listener_params_t params = {
        .field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR |
                      UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
        .sockaddr     = {(struct sockaddr *)&address, sizeof(address)},
        .conn_handler = {.cb = on_request, .arg = play},
    };
    ucp_listener_attr_t attr = {.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR};
    ucs_status_t status;

    status = ucp_listener_create(play->worker, &params, &play->listener);
    if (status == UCS_OK) {
        EXPECT_OK(ucp_listener_query(play->listener, &attr));
        *at = attr.sockaddr;
    }
    return status;
}

/* The server: waits for a connection request, and creates an endpoint for
 * it. */
static void serve(struct play *play)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST};

    PLAY_WAIT_WHILE(play, play->asked == NULL, "a request");
    if (play->asked != NULL) {
        params.conn_request = play->asked;
        /* make_ep() consumes the request, even if it fails: close_all() must
         * not reject the request then */
        play->asked         = NULL;
        play_take_error(play, make_ep(play, &params, &play->client));
    }
}

/* The client: connects to the address in the server's note. */
static void ask(struct play *play)
{
    struct sockaddr_storage at;
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_FLAGS,
        .flags      = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER,
        .sockaddr   = {(struct sockaddr *)&at, sizeof(struct sockaddr_in)},
    };

    memcpy(&at, play->note.bytes, sizeof(at));
    play_take_error(play, make_ep(play, &params, &play->client));
}

/* The step of the connection by socket address. The process with rank 0 is the
 * server, the one with rank 1 the client. */
void play_client(struct play *play)
{
    struct sockaddr_storage at = {.ss_family = AF_INET};
    struct op *in;

    play->step = "client and server";
    if (play->team->rank == 0) {
        play_take_error(play, listen_here(play, &at));
    }
    if (!play_agree(play, &at, sizeof(at))) {
        return;
    }
    if (play->team->rank == 0) {
        serve(play);
    } else {
        ask(play);
    }
    if (play_goes_on(play)) {
        play_fill(play->out, PLAY_MIDDLE, 11);
        in = play_tag_recv(play, PLAY_MIDDLE, 11);
        play_finish(play, play_tag_send(play, play->client, PLAY_MIDDLE, 11,
                                        PLAY_PLAIN));
        play_finish(play, in);
        play_verify(play, play->in, PLAY_MIDDLE, 11);
    }
    if (play_agree_only(play)) {
        play->step = "client and server, close";
        if (play->team->rank == 1) {
            play_close(play, &play->client);
        } else {
            /* the client closes its endpoint. UCP reports this to the server
             * by the error handler, with a status that is no error here */
            PLAY_WAIT_WHILE(play, play->failure == UCS_OK, "the client's end");
            if (play->failure == UCS_ERR_CONNECTION_RESET) {
                play->failure = UCS_OK;
                play->status  = UCS_OK;
            }
        }
        play_agree_only(play);
    }
}
