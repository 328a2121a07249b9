/* SPDX-License-Identifier: BSD-3-Clause */
/* See sides.h. */
#include "sides.h"

side_t sides[2];

void progress(void)
{
    ucp_worker_progress(sides[0].worker);
    ucp_worker_progress(sides[1].worker);
}

ucs_status_t result_of(ucs_status_ptr_t request)
{
    ucs_status_t status;

    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_RAW_STATUS(request);
    }
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        progress();
    }
    ucp_request_free(request);
    return status;
}

void finish(ucs_status_ptr_t request)
{
    ck_ok(result_of(request));
}

void *sides_allocate(size_t length)
{
    return device_allocate(length);
}

void sides_free(void *address)
{
    device_free(address);
}

static void connect_sides(void)
{
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
    };
    ucp_address_t *address;
    size_t length;
    int i;

    for (i = 0; i < 2; ++i) {
        ck_ok(ucp_worker_get_address(sides[!i].worker, &address, &length));
        params.address = address;
        ck_ok(ucp_ep_create(sides[i].worker, &params, &sides[i].ep));
        ucp_worker_release_address(sides[!i].worker, address);
    }
}

void sides_open(size_t length)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM |
                    UCP_FEATURE_RMA,
    };
    ucp_worker_params_t worker_params = {0};
    int i;

    device_open();
    for (i = 0; i < 2; ++i) {
        ck_ok(ucp_init(&params, NULL, &sides[i].context));
        ck_ok(ucp_worker_create(sides[i].context, &worker_params,
                                &sides[i].worker));
        sides[i].device = device_allocate(length);
    }
    connect_sides();
}

void sides_close(void)
{
    ucp_request_param_t param = {0};
    ucs_status_ptr_t closes[2];
    int i;

    for (i = 0; i < 2; ++i) {
        closes[i] = (sides[i].ep != NULL) ?
                        ucp_ep_close_nbx(sides[i].ep, &param) :
                        NULL;
    }
    for (i = 0; i < 2; ++i) {
        finish(closes[i]);
    }
    for (i = 0; i < 2; ++i) {
        ucp_worker_destroy(sides[i].worker);
        ucp_cleanup(sides[i].context);
        device_free(sides[i].device);
    }
    device_close();
    ck_assert_uint_eq(emulated_mistakes(), 0);
}

/* Omits the calls that check the state of a queue. The plugin makes such a
 * check after a number of unsuccessful polls, so the number of checks depends
 * on the load of the machine. */
unsigned long count_all(void)
{
    return emulated_calls(NULL) -
           (CALLS_OF_A_CHECK * emulated_calls(DEVICE_CHECK));
}

unsigned long count_costly(void)
{
    unsigned long count = 0;
    size_t i;

    for (i = 0; i < NUM_COSTLY; ++i) {
        count += emulated_calls(device_costly[i]);
    }
    return count;
}
