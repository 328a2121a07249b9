/* SPDX-License-Identifier: BSD-3-Clause */
/* Two workers of one process send each other a tagged message for each line on
 * standard input, then print "exchanged". Between two messages a test can
 * change the installed packages. Exit status 1: an operation failed. */
#include <ucp/api/ucp.h>

#include <stdio.h>
#include <stdlib.h>

enum { NUM_SIDES = 2 };

struct side {
    ucp_worker_h worker;
    ucp_ep_h ep;
};

static void check(const char *what, ucs_status_t status)
{
    if (status != UCS_OK) {
        fprintf(stderr, "pair: %s: %s\n", what, ucs_status_string(status));
        exit(1);
    }
}

static void progress(struct side *sides)
{
    for (int i = 0; i < NUM_SIDES; ++i) {
        ucp_worker_progress(sides[i].worker);
    }
}

static void wait_for(struct side *sides, const char *what, void *request)
{
    ucs_status_t status;

    if (request == NULL) {
        return;
    }
    if (UCS_PTR_IS_ERR(request)) {
        check(what, UCS_PTR_STATUS(request));
    }
    do {
        progress(sides);
        status = ucp_request_check_status(request);
    } while (status == UCS_INPROGRESS);
    check(what, status);
    ucp_request_free(request);
}

static void open_sides(ucp_context_h context, struct side *sides)
{
    ucp_worker_params_t params = {0};

    for (int i = 0; i < NUM_SIDES; ++i) {
        check("ucp_worker_create",
              ucp_worker_create(context, &params, &sides[i].worker));
    }
    for (int i = 0; i < NUM_SIDES; ++i) {
        ucp_worker_h other        = sides[NUM_SIDES - 1 - i].worker;
        ucp_ep_params_t ep_params = {
            .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
        };
        ucp_address_t *address;
        size_t length;

        check("ucp_worker_get_address",
              ucp_worker_get_address(other, &address, &length));
        ep_params.address = address;
        check("ucp_ep_create",
              ucp_ep_create(sides[i].worker, &ep_params, &sides[i].ep));
        ucp_worker_release_address(other, address);
    }
}

/* Sends one message from each worker to the other one. */
static void exchange(struct side *sides, int number)
{
    ucp_request_param_t param = {0};

    for (int i = 0; i < NUM_SIDES; ++i) {
        struct side *to = &sides[NUM_SIDES - 1 - i];
        int sent        = number * NUM_SIDES + i;
        int received    = -1;
        void *recv = ucp_tag_recv_nbx(to->worker, &received, sizeof(received),
                                      1, -1, &param);
        void *send = ucp_tag_send_nbx(sides[i].ep, &sent, sizeof(sent), 1,
                                      &param);

        wait_for(sides, "ucp_tag_send_nbx", send);
        wait_for(sides, "ucp_tag_recv_nbx", recv);
        if (received != sent) {
            fprintf(stderr, "pair: %d was sent, %d received\n", sent, received);
            exit(1);
        }
    }
}

int main(void)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG,
    };
    struct side sides[NUM_SIDES];
    ucp_context_h context;
    char line[64];

    check("ucp_init", ucp_init(&params, NULL, &context));
    open_sides(context, sides);
    for (int number = 0; fgets(line, sizeof(line), stdin) != NULL; ++number) {
        exchange(sides, number);
        printf("exchanged\n");
        fflush(stdout);
    }

    for (int i = 0; i < NUM_SIDES; ++i) {
        ucp_request_param_t param = {0};

        wait_for(sides, "ucp_ep_close_nbx",
                 ucp_ep_close_nbx(sides[i].ep, &param));
    }
    for (int i = 0; i < NUM_SIDES; ++i) {
        ucp_worker_destroy(sides[i].worker);
    }
    ucp_cleanup(context);
    return 0;
}
