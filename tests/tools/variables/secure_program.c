/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A set-user-ID program that secure_program.py runs. Prints "secure" or "plain"
 * (by AT_SECURE), then opens the library and sends a message to itself, so that
 * shared memory is created and every variable is read.
 */
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucp/api/ucp.h>

static int wait_for(ucp_worker_h worker, ucs_status_ptr_t request)
{
    ucs_status_t status = UCS_PTR_STATUS(request);

    if (UCS_PTR_IS_PTR(request)) {
        do {
            ucp_worker_progress(worker);
            status = ucp_request_check_status(request);
        } while (status == UCS_INPROGRESS);
        ucp_request_free(request);
    }
    return status == UCS_OK;
}

static int send_to_self(ucp_worker_h worker, ucp_ep_h ep)
{
    static const ucp_request_param_t param = {0};
    char sent[] = "a message", received[sizeof(sent)] = "";
    ucs_status_ptr_t receive;

    receive = ucp_tag_recv_nbx(worker, received, sizeof(received), 1, ~0ul,
                               &param);
    return wait_for(worker,
                    ucp_tag_send_nbx(ep, sent, sizeof(sent), 1, &param)) &&
           wait_for(worker, receive) && (strcmp(sent, received) == 0);
}

static int use_worker(ucp_worker_h worker)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    static const ucp_request_param_t close_param = {0};
    ucp_address_t *address;
    size_t length;
    ucp_ep_h ep;
    int is_good;

    if (ucp_worker_get_address(worker, &address, &length) != UCS_OK) {
        return 0;
    }
    params.address = address;
    is_good        = (ucp_ep_create(worker, &params, &ep) == UCS_OK);
    ucp_worker_release_address(worker, address);
    if (is_good) {
        is_good = send_to_self(worker, ep);
        is_good = wait_for(worker, ucp_ep_close_nbx(ep, &close_param)) &&
                  is_good;
    }
    return is_good;
}

int main(void)
{
    const ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG,
    };
    const ucp_worker_params_t worker_params = {0};
    ucp_context_h context;
    ucp_worker_h worker;
    int is_good;

    printf("%s\n", getauxval(AT_SECURE) ? "secure" : "plain");
    fflush(stdout);
    if (ucp_init(&params, NULL, &context) != UCS_OK) {
        return 1;
    }
    is_good = (ucp_worker_create(context, &worker_params, &worker) == UCS_OK);
    if (is_good) {
        is_good = use_worker(worker);
        ucp_worker_destroy(worker);
    }
    ucp_cleanup(context);
    return !is_good;
}
