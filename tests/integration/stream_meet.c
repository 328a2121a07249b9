/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stream: which two endpoints are the ends of a stream does not depend on the
 * order in which they are created: one is the reply endpoint of an active
 * message or, with --sockaddr, a listener connects them.
 */
#include "common/data.h"
#include "common/side.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 300000, AM_ID = 5 };

struct meeting {
    bool sockaddr;
    struct side side;
    struct team *team;
    ucp_ep_h ep; /* This member's end of the stream */
    ucp_conn_request_h request;
    unsigned failures;
};

static ucs_status_t wait_for(struct meeting *meeting, ucs_status_ptr_t request,
                             const char *what)
{
    double deadline = test_now() + test_seconds(15);
    ucs_status_t status;

    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_STATUS(request);
    }
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        side_progress(&meeting->side);
        if (test_now() > deadline) {
            FAIL("%s: not over", what);
        }
    }
    ucp_request_free(request);
    return status;
}

static void send_bytes(struct meeting *meeting, uint64_t number)
{
    ucp_request_param_t none = {.op_attr_mask = 0};
    char *bytes              = malloc(SIZE);

    EXPECT(bytes != NULL);
    data_fill(bytes, SIZE, number);
    EXPECT_OK(wait_for(meeting,
                       ucp_stream_send_nbx(meeting->ep, bytes, SIZE, &none),
                       "send"));
    free(bytes);
}

static void receive_bytes(struct meeting *meeting, uint64_t number)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_STREAM_RECV_FLAG_WAITALL,
    };
    char *bytes = malloc(SIZE);
    size_t length;

    EXPECT(bytes != NULL);
    EXPECT_OK(
        wait_for(meeting,
                 ucp_stream_recv_nbx(meeting->ep, bytes, SIZE, &length, &param),
                 "receive"));
    data_verify(bytes, SIZE, number);
    free(bytes);
}

static void close_it(struct meeting *meeting, unsigned flags)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = flags,
    };

    EXPECT_OK(
        wait_for(meeting, ucp_ep_close_nbx(meeting->ep, &param), "close"));
}

/* Receives until the stream ends: the peer closes, and no data arrives before
 * that. */
static void expect_end(struct meeting *meeting)
{
    ucp_request_param_t none = {.op_attr_mask = 0};
    size_t length;
    char byte;

    EXPECT(wait_for(meeting,
                    ucp_stream_recv_nbx(meeting->ep, &byte, 1, &length, &none),
                    "the end") != UCS_OK);
}

/* ----------------------------------------------------- by socket address -- */

static void on_failure(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    struct meeting *meeting = arg;

    (void)ep;
    (void)status;
    ++meeting->failures;
}

static void on_connection(ucp_conn_request_h request, void *arg)
{
    struct meeting *meeting = arg;

    EXPECT(meeting->request == NULL);
    meeting->request = request;
}

static ucp_ep_params_t ep_params(struct meeting *meeting)
{
    return (ucp_ep_params_t){
        .field_mask = UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .err_mode    = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {.cb = on_failure, .arg = meeting},
    };
}

static void serve(struct meeting *meeting)
{
    struct sockaddr_in address = {
        .sin_family      = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    ucp_listener_params_t params = {
        .field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR |
                      UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
        .sockaddr =
            {
                .addr    = (struct sockaddr *)&address,
                .addrlen = sizeof(address),
            },
        .conn_handler = {.cb = on_connection, .arg = meeting},
    };
    ucp_listener_attr_t attr = {.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR};
    ucp_ep_params_t params_ep = ep_params(meeting);
    double deadline           = test_now() + test_seconds(15);
    ucp_listener_h listener;

    EXPECT_OK(ucp_listener_create(meeting->side.worker, &params, &listener));
    EXPECT_OK(ucp_listener_query(listener, &attr));
    memcpy(&address, &attr.sockaddr, sizeof(address));
    team_put(meeting->team, 1, &address, sizeof(address));
    while (meeting->request == NULL) {
        side_progress(&meeting->side);
        EXPECT(test_now() < deadline);
    }
    params_ep.field_mask |= UCP_EP_PARAM_FIELD_CONN_REQUEST;
    params_ep.conn_request = meeting->request;
    EXPECT_OK(ucp_ep_create(meeting->side.worker, &params_ep, &meeting->ep));
    /* The client sent its data before it was accepted. Now both sides send. */
    send_bytes(meeting, 2);
    receive_bytes(meeting, 1);
    expect_end(meeting);
    close_it(meeting, UCP_EP_CLOSE_FLAG_FORCE);
    ucp_listener_destroy(listener);
}

static void connect_to_server(struct meeting *meeting)
{
    ucp_ep_params_t params = ep_params(meeting);
    struct sockaddr_in address;

    team_get(meeting->team, 0, &address, sizeof(address));
    params.field_mask |= UCP_EP_PARAM_FIELD_SOCK_ADDR |
                         UCP_EP_PARAM_FIELD_FLAGS;
    params.flags            = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
    params.sockaddr.addr    = (struct sockaddr *)&address;
    params.sockaddr.addrlen = sizeof(address);
    EXPECT_OK(ucp_ep_create(meeting->side.worker, &params, &meeting->ep));
    send_bytes(meeting, 1);
    receive_bytes(meeting, 2);
    EXPECT_INT(meeting->failures, ==, 0);
    close_it(meeting, 0);
}

/* --------------------------------------------------- by a reply endpoint -- */

static ucs_status_t on_message(void *arg, const void *header,
                               size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    struct meeting *meeting = arg;

    (void)header;
    (void)header_length;
    (void)data;
    (void)length;
    EXPECT(param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP);
    meeting->ep = param->reply_ep;
    return UCS_OK;
}

static void answer(struct meeting *meeting)
{
    ucp_am_handler_param_t param = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id  = AM_ID,
        .cb  = on_message,
        .arg = meeting,
    };
    double deadline = test_now() + test_seconds(15);

    EXPECT_OK(ucp_worker_set_am_recv_handler(meeting->side.worker, &param));
    side_put_address(&meeting->side, meeting->team, 1);
    while (meeting->ep == NULL) {
        side_progress(&meeting->side);
        EXPECT(test_now() < deadline);
    }
    send_bytes(meeting, 2);
    receive_bytes(meeting, 1);
    receive_bytes(meeting, 3);
    expect_end(meeting);
    close_it(meeting, UCP_EP_CLOSE_FLAG_FORCE);
}

static void ask(struct meeting *meeting)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_AM_SEND_FLAG_REPLY,
    };
    void *address      = side_get_address(meeting->team, 0);
    struct side_ep *ep = side_connect(&meeting->side, address);

    free(address);
    meeting->ep = ep->ep;
    /* the peer has no endpoint yet that could receive the data */
    send_bytes(meeting, 1);
    EXPECT_OK(wait_for(meeting,
                       ucp_am_send_nbx(ep->ep, AM_ID, NULL, 0, "?", 1, &param),
                       "message"));
    receive_bytes(meeting, 2);
    send_bytes(meeting, 3);
    EXPECT_OK(side_close_ep(ep, 0));
}

static void member(struct team *team, void *arg)
{
    struct meeting *meeting = arg;

    meeting->team = team;
    side_open(&meeting->side, UCP_FEATURE_STREAM | UCP_FEATURE_AM);
    if (meeting->sockaddr) {
        (team->rank == 0) ? serve(meeting) : connect_to_server(meeting);
    } else {
        (team->rank == 0) ? answer(meeting) : ask(meeting);
    }
    team_barrier(team, side_progress, &meeting->side);
    side_close(&meeting->side);
}

int main(int argc, char **argv)
{
    struct meeting meeting = {.sockaddr = team_asked(argc, argv, "--sockaddr")};
    struct team team       = {.limit = 60};

    return team_run(&team, 2, member, &meeting);
}
