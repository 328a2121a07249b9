/* SPDX-License-Identifier: BSD-3-Clause */
/* See side.h. */
#include "side.h"

#include "usage.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static const double USUAL_LIMIT = 30;
enum { MAX_ADDRESS = 64 * 1024 };

void side_open_worker(struct side *more, const struct side *side)
{
    ucp_worker_params_t params = {
        .field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_SINGLE,
    };

    more->context = side->context;
    more->eps     = NULL;
    EXPECT_OK(ucp_worker_create(side->context, &params, &more->worker));
}

void side_close_worker(struct side *more)
{
    while (more->eps != NULL) {
        side_close_ep(more->eps, UCP_EP_CLOSE_FLAG_FORCE);
    }
    ucp_worker_destroy(more->worker);
}

void side_open(struct side *side, uint64_t features)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = features,
    };

    EXPECT_OK(ucp_init(&params, NULL, &side->context));
    side_open_worker(side, side);
}

void side_close(struct side *side)
{
    side_close_worker(side);
    ucp_cleanup(side->context);
}

void side_progress(void *arg)
{
    struct side *side = arg;

    if (ucp_worker_progress(side->worker) == 0) {
        /* let other members run: there may be more members than cores */
        sched_yield();
    }
}

void side_linger(struct side *side, double seconds)
{
    double end = test_now() + seconds;

    do {
        side_progress(side);
    } while (test_now() < end);
}

void *side_address(struct side *side, size_t *length_p)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    void *copy;

    EXPECT_OK(ucp_worker_query(side->worker, &attr));
    copy = malloc(attr.address_length);
    EXPECT(copy != NULL);
    memcpy(copy, attr.address, attr.address_length);
    *length_p = attr.address_length;
    ucp_worker_release_address(side->worker, attr.address);
    return copy;
}

void side_put_address(struct side *side, struct team *team, int rank)
{
    size_t length;
    void *address = side_address(side, &length);

    team_put(team, rank, &length, sizeof(length));
    team_put(team, rank, address, length);
    free(address);
}

void *side_get_address(struct team *team, int rank)
{
    size_t length;
    void *address;

    team_get(team, rank, &length, sizeof(length));
    EXPECT_INT(length, <=, MAX_ADDRESS);
    address = malloc(length);
    EXPECT(address != NULL);
    team_get(team, rank, address, length);
    return address;
}

static void on_failure(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    struct side_ep *entry = arg;

    (void)ep;
    entry->failure = status;
    ++entry->failures;
}

struct side_ep *side_connect(struct side *side, const void *address)
{
    struct side_ep *entry = side_try_connect(side, address);

    if (entry == NULL) {
        FAIL("the peer is unreachable");
    }
    return entry;
}

struct side_ep *side_create_ep(struct side *side, const ucp_ep_params_t *params,
                               ucs_status_t *status_p)
{
    struct side_ep *entry = calloc(1, sizeof(*entry));
    ucp_ep_params_t full  = *params;

    EXPECT(entry != NULL);
    full.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                       UCP_EP_PARAM_FIELD_ERR_HANDLER;
    full.err_mode    = UCP_ERR_HANDLING_MODE_PEER;
    full.err_handler = (ucp_err_handler_t){.cb = on_failure, .arg = entry};
    *status_p        = ucp_ep_create(side->worker, &full, &entry->ep);
    if (*status_p != UCS_OK) {
        free(entry);
        return NULL;
    }
    entry->side = side;
    entry->next = side->eps;
    side->eps   = entry;
    return entry;
}

struct side_ep *side_try_connect(struct side *side, const void *address)
{
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
        .address    = address,
    };
    struct side_ep *entry;
    ucs_status_t status;

    entry = side_create_ep(side, &params, &status);
    if (status != UCS_ERR_UNREACHABLE) {
        EXPECT_OK(status);
    }
    return entry;
}

struct side_ep *side_meet(struct side *side, struct team *team, int rank)
{
    struct side_ep *entry;
    void *address;

    side_put_address(side, team, rank);
    address = side_get_address(team, rank);
    entry   = side_connect(side, address);
    free(address);
    return entry;
}

/* Stores the value that a UCP call returned. If it is a request, the callback
 * sets `done`, possibly before the call returned. Otherwise the operation is
 * complete and there is no callback. */
static void take_result(struct side_op *op, ucs_status_ptr_t result)
{
    op->request = result;
    if (!UCS_PTR_IS_PTR(result)) {
        op->done   = true;
        op->status = UCS_PTR_STATUS(result);
    }
}

static void on_sent(void *request, ucs_status_t status, void *arg)
{
    struct side_op *op = arg;

    EXPECT(!op->done);
    op->done   = true;
    op->status = status;
    ucp_request_free(request);
}

void side_send(struct side_ep *ep, struct side_op *op, const void *buffer,
               size_t length, ucp_tag_t tag)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send   = on_sent,
        .user_data = op,
    };

    *op = (struct side_op){.done = false};
    take_result(op, ucp_tag_send_nbx(ep->ep, buffer, length, tag, &param));
}

static void on_received(void *request, ucs_status_t status,
                        const ucp_tag_recv_info_t *info, void *arg)
{
    struct side_op *op = arg;

    EXPECT(!op->done);
    op->done   = true;
    op->status = status;
    op->info   = *info;
    ucp_request_free(request);
}

void side_recv(struct side *side, struct side_op *op, void *buffer,
               size_t length, ucp_tag_t tag, ucp_tag_t mask)
{
    /* The callback stores length and tag. NO_IMM_CMPL makes UCP call it also
     * for a receive that completes at once. */
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA |
                        UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
        .cb.recv   = on_received,
        .user_data = op,
    };

    *op = (struct side_op){.done = false};
    take_result(op, ucp_tag_recv_nbx(side->worker, buffer, length, tag, mask,
                                     &param));
}

void side_finish(struct side *side, struct side_op *op, double seconds,
                 const char *what)
{
    double deadline = test_now() + test_seconds(seconds);

    while (!op->done) {
        side_progress(side);
        if (test_now() > deadline) {
            FAIL("%s: not over after %.0f s", what, test_seconds(seconds));
        }
    }
}

void side_complete(struct side *side, struct side_op *op, const char *what)
{
    side_finish(side, op, USUAL_LIMIT, what);
    if (op->status != UCS_OK) {
        FAIL("%s: %s", what, ucs_status_string(op->status));
    }
}

void side_send_wait(struct side_ep *ep, const void *buffer, size_t length,
                    ucp_tag_t tag)
{
    struct side_op op;

    side_send(ep, &op, buffer, length, tag);
    side_complete(ep->side, &op, "send");
}

size_t side_recv_wait(struct side *side, void *buffer, size_t length,
                      ucp_tag_t tag, ucp_tag_t mask)
{
    struct side_op op;

    side_recv(side, &op, buffer, length, tag, mask);
    side_complete(side, &op, "receive");
    return op.info.length;
}

ucp_tag_message_h side_probe_wait(struct side *side, ucp_tag_t tag,
                                  ucp_tag_t mask, bool take,
                                  ucp_tag_recv_info_t *info)
{
    double deadline = test_now() + test_seconds(USUAL_LIMIT);
    ucp_tag_message_h message;

    for (;;) {
        message = ucp_tag_probe_nb(side->worker, tag, mask, take, info);
        if (message != NULL) {
            return message;
        }
        side_progress(side);
        if (test_now() > deadline) {
            FAIL("no message with tag %llx for %.0f s", (unsigned long long)tag,
                 test_seconds(USUAL_LIMIT));
        }
    }
}

ucs_status_t side_wait(struct side *side, ucs_status_ptr_t request,
                       const char *what)
{
    double deadline = test_now() + test_seconds(USUAL_LIMIT);
    ucs_status_t status;

    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_STATUS(request);
    }
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        side_progress(side);
        if (test_now() > deadline) {
            FAIL("%s: not over after %.0f s", what, test_seconds(USUAL_LIMIT));
        }
    }
    ucp_request_free(request);
    return status;
}

ucs_status_t side_flush(struct side_ep *ep)
{
    ucp_request_param_t param = {.op_attr_mask = 0};

    return side_wait(ep->side, ucp_ep_flush_nbx(ep->ep, &param),
                     "endpoint flush");
}

ucs_status_t side_flush_worker(struct side *side)
{
    ucp_request_param_t param = {.op_attr_mask = 0};

    return side_wait(side, ucp_worker_flush_nbx(side->worker, &param),
                     "worker flush");
}

void side_forget(struct side_ep *ep)
{
    struct side_ep **link = &ep->side->eps;

    while (*link != ep) {
        link = &(*link)->next;
    }
    *link = ep->next;
    free(ep);
}

ucs_status_t side_close_ep(struct side_ep *ep, unsigned flags)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = flags,
    };
    ucs_status_t status;

    status = side_wait(ep->side, ucp_ep_close_nbx(ep->ep, &param),
                       "endpoint close");
    side_forget(ep);
    return status;
}

void side_wait_failure(struct side_ep *ep, double seconds)
{
    double deadline = test_now() + test_seconds(seconds);

    while (ep->failures == 0) {
        side_progress(ep->side);
        if (test_now() > deadline) {
            FAIL("the endpoint did not notice for %.0f s that its peer is gone",
                 test_seconds(seconds));
        }
    }
    EXPECT(ep->failure != UCS_OK);
}

void side_wait_fds(struct side *side, unsigned most)
{
    double deadline = test_now() + test_seconds(15);
    unsigned fds;

    while ((fds = usage_fds()) > most) {
        side_progress(side);
        if (test_now() > deadline) {
            usage_show_fds();
            FAIL("%u descriptors are open, %u at most should be", fds, most);
        }
    }
}
