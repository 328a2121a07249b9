/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A typical program that uses the installed headers and libraries: sends a
 * message to itself, and calls one function each of uct, ucs and ucm.
 */
#include <stdio.h>
#include <string.h>
#include <ucm/api/ucm.h>
#include <ucp/api/ucp.h>
#include <ucs/async/async_fwd.h>
#include <uct/api/uct.h>

static int talk(ucp_worker_h worker, ucp_ep_h ep)
{
    ucp_request_param_t param = {0};
    char out[] = "as it was", in[sizeof(out)] = "";
    ucs_status_ptr_t requests[2];
    ucs_status_t status = UCS_OK;
    int i;

    requests[0] = ucp_tag_recv_nbx(worker, in, sizeof(in), 1, (ucp_tag_t)-1,
                                   &param);
    requests[1] = ucp_tag_send_nbx(ep, out, sizeof(out), 1, &param);
    for (i = 0; i < 2; ++i) {
        if (!UCS_PTR_IS_PTR(requests[i])) {
            continue;
        }
        while ((status = ucp_request_check_status(requests[i])) ==
               UCS_INPROGRESS) {
            ucp_worker_progress(worker);
        }
        ucp_request_free(requests[i]);
    }
    return (status == UCS_OK) && (strcmp(in, out) == 0);
}

int main(void)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG,
    };
    ucp_worker_params_t wp    = {0};
    ucp_ep_params_t ep_params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
    };
    ucp_address_t *address;
    ucp_context_h context;
    ucp_worker_h worker;
    uct_component_h *components;
    unsigned count;
    size_t length;
    ucp_ep_h ep;
    void *mapped;

    if ((uct_query_components(&components, &count) != UCS_OK) || (count == 0)) {
        return 1;
    }
    uct_release_component_list(components);
    mapped = ucm_orig_mmap(NULL, 4096, 3, 0x22, -1, 0);
    if ((mapped == (void *)-1) || (ucm_orig_munmap(mapped, 4096) != 0)) {
        return 1;
    }
    if ((ucp_init(&params, NULL, &context) != UCS_OK) ||
        (ucp_worker_create(context, &wp, &worker) != UCS_OK) ||
        (ucp_worker_get_address(worker, &address, &length) != UCS_OK)) {
        return 1;
    }
    ep_params.address = address;
    if ((ucp_ep_create(worker, &ep_params, &ep) != UCS_OK) ||
        !talk(worker, ep)) {
        return 1;
    }
    printf("%s: %s\n", ucp_get_version_string(), ucs_status_string(UCS_OK));
    ucp_worker_release_address(worker, address);
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
    return 0;
}
