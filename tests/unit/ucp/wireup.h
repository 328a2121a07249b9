/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker with two loopback interfaces. The second emulates a transport whose
 * endpoints connect to endpoints (fake_pairs.h).
 */
#ifndef TESTS_UCP_WIREUP_H
#define TESTS_UCP_WIREUP_H

#include "local.h"

#define FAKE_PAIRS_CHECK(_condition, _what) ck_assert_msg(_condition, _what)
#include "fake_pairs.h"
#include "ucp/wireup/introduce.h"
#include "ucp/wireup/state.h"

#include <ucx/am.h>

static void wireup_open(local_t *local, uint64_t features, int messages,
                        size_t aux_bcopy)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = features,
    };
    ucp_worker_params_t worker_params = {0};
    ucp_context_h context;

    ck_assert_int_eq(ucp_init(&params, NULL, &local->context), UCS_OK);
    context = local->context;
    ck_assert_uint_eq(context->num_resources, 1);
    context->resources     = realloc(context->resources,
                                     2 * sizeof(*context->resources));
    context->resources[1]  = context->resources[0];
    context->num_resources = 2;
    ck_assert_int_eq(ucp_worker_create(context, &worker_params, &local->worker),
                     UCS_OK);
    ck_assert_uint_eq(local->worker->num_ifaces, 2);
    play_pairs(local->worker, messages);
    play_aux(local->worker, aux_bcopy);
    local->ep = NULL;
}

static ucs_status_t wireup_connect(local_t *local, ucp_ep_h *ep_p)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
    };
    ucs_status_t status;

    ck_assert_int_eq(ucp_worker_query(local->worker, &attr), UCS_OK);
    params.address = attr.address;
    status         = ucp_ep_create(local->worker, &params, ep_p);
    ucp_worker_release_address(local->worker, attr.address);
    return status;
}

static void wireup_settle(local_t *local)
{
    int i;

    for (i = 0; i < 100; ++i) {
        ucp_worker_progress(local->worker);
    }
}

/* Closes the worker; all endpoints must have been freed before. */
static void wireup_end(local_t *local)
{
    wireup_settle(local);
    ck_assert(ucs_list_is_empty(&local->worker->eps));
    ck_assert(ucs_list_is_empty(&ucp_worker_wireup(local->worker)->rejections));
    ck_assert_ptr_null(pairs.halves);
    ucp_worker_destroy(local->worker);
    ucp_cleanup(local->context);
}

/* Delivers a message to the worker as if a peer had sent it. */
static inline void wireup_say(local_t *local, uint8_t id, const void *data,
                              size_t length)
{
    /* memory of exactly this size: sanitizers detect reads beyond the end */
    void *exact = malloc(length);

    memcpy(exact, data, length);
    ck_assert_int_eq(ucx_iface_deliver_am(local->worker->ifaces[0].iface, id,
                                          exact, (unsigned)length, 0),
                     UCS_OK);
    free(exact);
}

#endif
