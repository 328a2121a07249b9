/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two workers of one process exchange tagged messages of 8 bytes. The marks of
 * marks.h, which counter.c detects, enclose the calls that post sends and
 * receives, make progress and free requests. Calls of ucp_worker_progress()
 * that return 0 are dropped regions, because their number depends on the
 * device's speed.
 *
 * message_cost COUNT WINDOW: after a warm-up, sends about COUNT messages in
 * each direction, in streams of WINDOW messages (1: one message at a time).
 * Uses only the API of UCX 1.13.
 */
#include "marks.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucp/api/ucp.h>

enum { MAX_WINDOW = 256, WARM_UP = 64 };

static const ucp_request_param_t no_param = {.op_attr_mask = 0};

struct side {
    ucp_worker_h worker;
    ucp_ep_h ep;
};

static void check(ucs_status_t status, const char *what)
{
    if (status != UCS_OK) {
        fprintf(stderr, "message_cost: %s: %s\n", what,
                ucs_status_string(status));
        exit(1);
    }
}

static void progress(struct side *side)
{
    unsigned count;

    MARK(MARK_BEGIN);
    count = ucp_worker_progress(side->worker);
    if (count != 0) {
        MARK(MARK_KEEP);
    } else {
        MARK(MARK_DROP);
    }
}

static void wait_for(struct side sides[2], ucs_status_ptr_t request)
{
    if (UCS_PTR_IS_ERR(request)) {
        check(UCS_PTR_STATUS(request), "request");
    }
    if (request == NULL) {
        return;
    }
    while (ucp_request_check_status(request) == UCS_INPROGRESS) {
        progress(&sides[0]);
        progress(&sides[1]);
    }
    check(ucp_request_check_status(request), "request");
    MARK(MARK_BEGIN);
    ucp_request_free(request);
    MARK(MARK_KEEP);
}

/* Sends `window` messages from sides[from] to the other side, and waits until
 * they have arrived. */
static void stream(struct side sides[2], int from, int window)
{
    ucs_status_ptr_t in[MAX_WINDOW], out[MAX_WINDOW];
    uint64_t sent[MAX_WINDOW], received[MAX_WINDOW];
    int i;

    for (i = 0; i < window; ++i) {
        sent[i]     = (uint64_t)i * 77;
        received[i] = 1;
        MARK(MARK_BEGIN);
        in[i] = ucp_tag_recv_nbx(sides[!from].worker, &received[i],
                                 sizeof(received[i]), 7, ~(ucp_tag_t)0,
                                 &no_param);
        MARK(MARK_KEEP);
    }
    for (i = 0; i < window; ++i) {
        MARK(MARK_BEGIN);
        out[i] = ucp_tag_send_nbx(sides[from].ep, &sent[i], sizeof(sent[i]), 7,
                                  &no_param);
        MARK(MARK_KEEP);
    }
    for (i = 0; i < window; ++i) {
        wait_for(sides, in[i]);
        wait_for(sides, out[i]);
        if (received[i] != sent[i]) {
            fprintf(stderr, "message_cost: wrong data\n");
            exit(1);
        }
    }
}

static void open_sides(ucp_context_h context, struct side sides[2])
{
    const ucp_worker_params_t params = {
        .field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_SINGLE,
    };
    ucp_ep_params_t ep_params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
    };
    ucp_address_t *address;
    size_t length;
    int i;

    for (i = 0; i < 2; ++i) {
        check(ucp_worker_create(context, &params, &sides[i].worker), "worker");
    }
    for (i = 0; i < 2; ++i) {
        check(ucp_worker_get_address(sides[!i].worker, &address, &length),
              "address");
        ep_params.address = address;
        check(ucp_ep_create(sides[i].worker, &ep_params, &sides[i].ep), "ep");
        ucp_worker_release_address(sides[!i].worker, address);
    }
}

int main(int argc, char **argv)
{
    const ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG,
    };
    int i, count = (argc == 3) ? atoi(argv[1]) : 0;
    int window = (argc == 3) ? atoi(argv[2]) : 0;
    ucp_context_h context;
    struct side sides[2];

    if ((count < 1) || (window < 1) || (window > MAX_WINDOW)) {
        fprintf(stderr, "usage: message_cost COUNT WINDOW (at most %d)\n",
                MAX_WINDOW);
        return 2;
    }
    check(ucp_init(&params, NULL, &context), "ucp_init");
    open_sides(context, sides);
    for (i = 0; i < WARM_UP + count; i += window) {
        if ((i >= WARM_UP) && (i - window < WARM_UP)) {
            MARK(MARK_PRINT); /* Prints and resets the counts of the warm-up */
        }
        stream(sides, 0, window);
        stream(sides, 1, window);
    }
    MARK(MARK_PRINT);
    /* The process ends without closing its objects. This does not change the
     * counts, because no mark follows. */
    return 0;
}
