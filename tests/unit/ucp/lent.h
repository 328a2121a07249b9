/* SPDX-License-Identifier: BSD-3-Clause */
/* Registered memory for put and get over an endpoint to the worker itself. */
#ifndef TESTS_UCP_LENT_H
#define TESTS_UCP_LENT_H

#include "local.h"

typedef struct {
    ucp_mem_h memh;
    ucp_rkey_h rkey;
} lent_t;

/* Maps the buffer, and unpacks a key of it for the endpoint. take_back()
 * releases both. */
static inline void lend(local_t *local, void *buffer, size_t length,
                        lent_t *lent)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .address = buffer,
        .length  = length,
    };
    size_t size;
    void *key;

    ck_assert_int_eq(ucp_mem_map(local->context, &params, &lent->memh), UCS_OK);
    ck_assert_int_eq(ucp_memh_pack(lent->memh, NULL, &key, &size), UCS_OK);
    ck_assert_int_eq(ucp_ep_rkey_unpack(local->ep, key, &lent->rkey), UCS_OK);
    ucp_memh_buffer_release(key, NULL);
}

static inline void take_back(local_t *local, lent_t *lent)
{
    ucp_rkey_destroy(lent->rkey);
    ck_assert_int_eq(ucp_mem_unmap(local->context, lent->memh), UCS_OK);
}

#endif
