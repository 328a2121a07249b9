/* SPDX-License-Identifier: BSD-3-Clause */
/* The UCP side of ucx_cp; see link.h. A wait first calls progress repeatedly,
 * because the next message usually arrives soon, and then sleeps on the
 * worker's event descriptor and on the bootstrap socket. */
#include "link.h"

#include "../exchange.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    SPINS_BEFORE_SLEEP = 2000, /* Calls of progress */
    GOODBYE_SEC        = 5,
    MAX_ADDRESS        = 64 * 1024,
};

static volatile sig_atomic_t interrupted;

void link_interrupt(void)
{
    interrupted = 1;
}

bool link_interrupted(void)
{
    return interrupted != 0;
}

static int complain(const char *what, ucs_status_t status)
{
    fprintf(stderr, "ucx_cp: %s: %s\n", what, ucs_status_string(status));
    return -1;
}

static void on_ep_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    struct link *link = arg;

    (void)ep;
    link->ep_status = status;
}

static int open_worker(struct link *link)
{
    ucp_params_t context_params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP,
    };
    ucp_worker_params_t worker_params = {
        .field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_SINGLE,
    };
    ucs_status_t status;

    status = ucp_init(&context_params, NULL, &link->context);
    if (status != UCS_OK) {
        return complain("cannot open a context", status);
    }
    status = ucp_worker_create(link->context, &worker_params, &link->worker);
    if (status != UCS_OK) {
        return complain("cannot create a worker", status);
    }
    status = ucp_worker_get_efd(link->worker, &link->event_fd);
    if (status != UCS_OK) {
        return complain("the chosen transports cannot wake us up", status);
    }
    return 0;
}

static int connect_peer(struct link *link)
{
    ucp_worker_attr_t attr    = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t ep_params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .err_mode    = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {.cb = on_ep_error, .arg = link},
    };
    void *address = NULL;
    uint32_t address_length;
    ucs_status_t status;
    int ret;

    status = ucp_worker_query(link->worker, &attr);
    if (status != UCS_OK) {
        return complain("cannot get the worker's address", status);
    }
    ret = exchange_swap(link->socket, attr.address, attr.address_length,
                        &address, &address_length, MAX_ADDRESS);
    ucp_worker_release_address(link->worker, attr.address);
    if (ret != 0) {
        return ret;
    }
    ep_params.address = address;
    status            = ucp_ep_create(link->worker, &ep_params, &link->ep);
    free(address);
    return (status == UCS_OK) ? 0 : complain("cannot connect", status);
}

int link_open(struct link *link, int socket)
{
    *link = (struct link){.socket    = socket,
                          .event_fd  = -1,
                          .ep_status = UCS_OK};
    if (open_worker(link) != 0) {
        return -1;
    }
    return connect_peer(link);
}

/* Stores what a UCP call has returned. Without a request, the operation has
 * completed or failed at once, and UCP does not call the callback. A returned
 * request is only valid while op->busy: the callback, which may already have
 * run, has freed it otherwise. */
static void take_result(struct link_op *op, ucs_status_ptr_t result)
{
    if (UCS_PTR_IS_PTR(result)) {
        op->request = result;
    } else {
        op->status = UCS_PTR_STATUS(result);
        op->busy   = false;
    }
}

static void on_sent(void *request, ucs_status_t status, void *arg)
{
    struct link_op *op = arg;

    op->status = status;
    op->busy   = false;
    ucp_request_free(request);
}

void link_send(struct link *link, struct link_op *op, const void *buffer,
               size_t length, uint64_t tag)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send   = on_sent,
        .user_data = op,
    };

    op->busy = true;
    take_result(op, ucp_tag_send_nbx(link->ep, buffer, length, tag, &param));
}

static void on_received(void *request, ucs_status_t status,
                        const ucp_tag_recv_info_t *info, void *arg)
{
    struct link_op *op = arg;

    op->status = status;
    op->length = (status == UCS_OK) ? info->length : 0;
    op->busy   = false;
    ucp_request_free(request);
}

void link_recv(struct link *link, struct link_op *op, void *buffer,
               size_t length, uint64_t tag)
{
    /* Disallow immediate completion: only the callback returns the length. */
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA |
                        UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
        .cb.recv   = on_received,
        .user_data = op,
    };

    op->length = 0;
    op->busy   = true;
    take_result(op, ucp_tag_recv_nbx(link->worker, buffer, length, tag,
                                     ~(ucp_tag_t)0, &param));
}

bool link_busy(const struct link_op *op)
{
    return op->busy;
}

/* Sleeps until the worker has an event, the peer closes the bootstrap socket,
 * or timeout_msec (-1: no limit) have passed. Signals are blocked except during
 * the sleep, so that a signal between the check of `interrupted` and the sleep
 * is not missed. */
static void sleep_for_event(struct link *link, int timeout_msec)
{
    struct pollfd fds[2] = {
        {.fd = link->event_fd, .events = POLLIN},
        {.fd = link->socket, .events = POLLIN},
    };
    struct timespec limit = {
        .tv_sec  = timeout_msec / 1000,
        .tv_nsec = (timeout_msec % 1000) * 1000000L,
    };
    sigset_t block, before;
    int ready = 0;

    sigemptyset(&block);
    sigaddset(&block, SIGINT);
    sigaddset(&block, SIGTERM);
    sigprocmask(SIG_BLOCK, &block, &before);
    if (!interrupted && (ucp_worker_arm(link->worker) == UCS_OK)) {
        /* The socket is always readable after the peer has closed it: do not
         * poll it then. */
        ready = ppoll(fds, link->peer_left ? 1 : 2,
                      (timeout_msec < 0) ? NULL : &limit, &before);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    if ((ready > 0) && (fds[1].revents != 0)) {
        link->peer_left = true;
    }
}

static void step(struct link *link, int timeout_msec)
{
    unsigned spins;

    for (spins = 0; spins < SPINS_BEFORE_SLEEP; ++spins) {
        if (ucp_worker_progress(link->worker) != 0) {
            return;
        }
    }
    sleep_for_event(link, timeout_msec);
}

int link_step(struct link *link)
{
    if (interrupted) {
        fprintf(stderr, "ucx_cp: interrupted\n");
        return -1;
    }
    if (link->ep_status != UCS_OK) {
        return complain("the peer is lost", link->ep_status);
    }
    if (!link->peer_left) {
        step(link, -1);
        return 0;
    }
    /* The peer may have sent its last message before it closed the socket: call
     * progress for a while to receive that message. */
    if (link->last_looks++ < SPINS_BEFORE_SLEEP) {
        ucp_worker_progress(link->worker);
        return 0;
    }
    fprintf(stderr, "ucx_cp: the peer left before the end\n");
    return -1;
}

int link_wait(struct link *link, const struct link_op *op)
{
    while (link_busy(op)) {
        if (link_step(link) != 0) {
            return -1;
        }
    }
    return 0;
}

void link_cancel(struct link *link, struct link_op *op)
{
    if (link_busy(op)) {
        ucp_request_cancel(link->worker, op->request);
    }
}

static double seconds_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + (time.tv_nsec * 1e-9);
}

void link_wait_goodbye(struct link *link)
{
    /* The time limit is for a peer that hangs and does not close the socket. */
    double end = seconds_now() + GOODBYE_SEC;

    while (!link->peer_left && !interrupted && (link->ep_status == UCS_OK) &&
           (seconds_now() < end)) {
        step(link, 100);
    }
}

/* Waits until the peer has received all data. Returns false if that failed, the
 * user has interrupted the program, or the time limit has passed: a transport
 * may wait for the acknowledgement of a peer that hangs. */
static bool flush_ep(struct link *link)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    void *request             = ucp_ep_flush_nbx(link->ep, &param);
    double end                = seconds_now() + GOODBYE_SEC;
    ucs_status_t status;

    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_STATUS(request) == UCS_OK;
    }
    while (((status = ucp_request_check_status(request)) == UCS_INPROGRESS) &&
           !interrupted && (seconds_now() < end)) {
        step(link, 100);
    }
    ucp_request_free(request);
    return status == UCS_OK;
}

static void close_ep(struct link *link, bool clean)
{
    bool force = !clean || (link->ep_status != UCS_OK) || link->peer_left ||
                 !flush_ep(link);
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = force ? UCP_EP_CLOSE_FLAG_FORCE : 0,
    };
    void *request = ucp_ep_close_nbx(link->ep, &param);

    if (UCS_PTR_IS_PTR(request)) {
        while (ucp_request_check_status(request) == UCS_INPROGRESS) {
            ucp_worker_progress(link->worker);
        }
        ucp_request_free(request);
    }
}

void link_close(struct link *link, bool clean)
{
    if (link->ep != NULL) {
        close_ep(link, clean);
    }
    if (link->worker != NULL) {
        ucp_worker_destroy(link->worker);
    }
    if (link->context != NULL) {
        ucp_cleanup(link->context);
    }
    close(link->socket);
}
