/* SPDX-License-Identifier: BSD-3-Clause */
/* The smallest complete UCP program: two processes exchange worker addresses
 * over a socket, connect, and send each other one tagged message. For a
 * complete application, see ucx_cp/. */
#include "exchange.h"

#include <ucp/api/ucp.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    DEFAULT_PORT = 13337,
    MAX_ADDRESS  = 64 * 1024,
    MAX_GREETING = 256,
};

/* Both directions use the same tag: each process only receives what the other
 * one sends. */
static const ucp_tag_t GREETING_TAG = 0x6772656574ull;

struct hello {
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h ep;
    ucs_status_t peer_status; /* UCS_OK until the peer is lost */
};

static int complain(const char *what, ucs_status_t status)
{
    fprintf(stderr, "hello: %s: %s\n", what, ucs_status_string(status));
    return -1;
}

/* UCP calls this from ucp_worker_progress() when the peer is lost. */
static void peer_lost(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    struct hello *hello = arg;

    (void)ep;
    hello->peer_status = status;
}

/* Step 1: open a context, with the features that the program uses, and a
 * worker, whose progress does the communication. */
static int open_worker(struct hello *hello)
{
    ucp_params_t context_params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG,
    };
    ucp_worker_params_t worker_params = {
        .field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_SINGLE,
    };
    ucs_status_t status;

    /* A NULL configuration uses the UCX_* variables. */
    status = ucp_init(&context_params, NULL, &hello->context);
    if (status != UCS_OK) {
        return complain("cannot open a context", status);
    }
    status = ucp_worker_create(hello->context, &worker_params, &hello->worker);
    if (status != UCS_OK) {
        return complain("cannot create a worker", status);
    }
    return 0;
}

/* Step 2: exchange worker addresses with the peer; the bytes are opaque. */
static int swap_addresses(struct hello *hello, int fd, void **theirs_p)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    uint32_t length;
    ucs_status_t status;
    int ret;

    status = ucp_worker_query(hello->worker, &attr);
    if (status != UCS_OK) {
        return complain("cannot get the worker's address", status);
    }
    ret = exchange_swap(fd, attr.address, attr.address_length, theirs_p,
                        &length, MAX_ADDRESS);
    ucp_worker_release_address(hello->worker, attr.address);
    return ret;
}

/* Step 3: create an endpoint, which sends to one peer. */
static int connect_endpoint(struct hello *hello, const void *address)
{
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address     = address,
        .err_mode    = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {.cb = peer_lost, .arg = hello},
    };
    ucs_status_t status = ucp_ep_create(hello->worker, &params, &hello->ep);

    return (status == UCS_OK) ? 0 : complain("cannot connect", status);
}

/* Waits for an operation, which has returned NULL (it is complete), an error,
 * or a request that is still in progress. A request completes only while
 * ucp_worker_progress() is called. If the peer is lost, cancels the request and
 * returns the error that UCP has reported. */
static ucs_status_t finish(struct hello *hello, void *request)
{
    ucs_status_t status;

    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_STATUS(request);
    }
    do {
        ucp_worker_progress(hello->worker);
        status = ucp_request_check_status(request);
        if ((status == UCS_INPROGRESS) && (hello->peer_status != UCS_OK)) {
            ucp_request_cancel(hello->worker, request);
            status = hello->peer_status;
            break;
        }
    } while (status == UCS_INPROGRESS);
    ucp_request_free(request);
    return status;
}

static int greet(struct hello *hello)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    char text[MAX_GREETING];
    ucs_status_t status;

    snprintf(text, sizeof(text), "hello from process %d", (int)getpid());
    status = finish(hello, ucp_tag_send_nbx(hello->ep, text, strlen(text) + 1,
                                            GREETING_TAG, &param));
    return (status == UCS_OK) ? 0 : complain("cannot send", status);
}

static int hear(struct hello *hello)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    char text[MAX_GREETING];
    ucs_status_t status;

    memset(text, 0, sizeof(text));
    status = finish(hello,
                    ucp_tag_recv_nbx(hello->worker, text, sizeof(text) - 1,
                                     GREETING_TAG, ~(ucp_tag_t)0, &param));
    if (status != UCS_OK) {
        return complain("no greeting came", status);
    }
    printf("process %d received: %s\n", (int)getpid(), text);
    return 0;
}

/* Closing the endpoint without UCP_EP_CLOSE_FLAG_FORCE flushes it, so that our
 * greeting is delivered. If the peer is lost, for example because it has closed
 * first, a flush is useless. */
static void close_all(struct hello *hello)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags = (hello->peer_status == UCS_OK) ? 0 : UCP_EP_CLOSE_FLAG_FORCE,
    };

    if (hello->ep != NULL) {
        hello->peer_status = UCS_OK;
        finish(hello, ucp_ep_close_nbx(hello->ep, &param));
    }
    if (hello->worker != NULL) {
        ucp_worker_destroy(hello->worker);
    }
    if (hello->context != NULL) {
        ucp_cleanup(hello->context);
    }
}

static int meet(const char *host, uint16_t port)
{
    int listener, fd;

    if (host != NULL) {
        return exchange_connect(host, port);
    }
    listener = exchange_listen(NULL, &port);
    if (listener < 0) {
        return -1;
    }
    printf("waiting for: hello 127.0.0.1 %u\n", (unsigned)port);
    fflush(stdout);
    fd = exchange_accept(listener);
    close(listener);
    return fd;
}

static int usage(FILE *out)
{
    fprintf(out,
            "Two processes greet each other through UCP.\n\n"
            "  hello              wait for the other one, on port %d\n"
            "  hello - PORT       wait on another port (0: any free one)\n"
            "  hello HOST [PORT]  greet the one that waits there\n\n"
            "UCX_TLS, UCX_LOG_LEVEL and the other UCX_* variables apply.\n",
            DEFAULT_PORT);
    return (out == stdout) ? 0 : 2;
}

int main(int argc, char **argv)
{
    struct hello hello = {.peer_status = UCS_OK};
    const char *host   = (argc > 1) ? argv[1] : NULL;
    long port          = DEFAULT_PORT;
    void *address      = NULL;
    char *end          = "";
    int fd, ret;

    if ((host != NULL) && (strcmp(host, "--help") == 0)) {
        return usage(stdout);
    }
    if (argc > 2) {
        port = strtol(argv[2], &end, 10);
    }
    if ((argc > 3) || (*end != '\0') || (port < 0) || (port > UINT16_MAX)) {
        return usage(stderr);
    }
    if ((host != NULL) && (strcmp(host, "-") == 0)) {
        host = NULL;
    }

    fd = meet(host, (uint16_t)port);
    if (fd < 0) {
        return 1;
    }
    ret = open_worker(&hello);
    if (ret == 0) {
        ret = swap_addresses(&hello, fd, &address);
    }
    if (ret == 0) {
        ret = connect_endpoint(&hello, address);
    }
    if (ret == 0) {
        ret = greet(&hello);
    }
    if (ret == 0) {
        ret = hear(&hello);
    }
    close_all(&hello);
    free(address);
    close(fd);
    return (ret == 0) ? 0 : 1;
}
