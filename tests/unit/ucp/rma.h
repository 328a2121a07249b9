/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that a test maps and accesses through an endpoint to the worker
 * itself. Put, get and atomics use the endpoint's lane (BY_LANE). With
 * BY_MESSAGES they use messages, because lend_mode() leaves the endpoint no
 * lane for them.
 */
#ifndef TESTS_UCP_RMA_H
#define TESTS_UCP_RMA_H

#include "local.h"

#include "ucp/proto/ep.h"
#include "ucp/rma/rkey.h"

typedef enum { BY_LANE, BY_MESSAGES } way_t;

typedef struct {
    local_t local;
    char *memory;
    size_t length;
    ucp_mem_h memh;
    ucp_rkey_h rkey;
} lent_t;

static inline uint64_t lent_at(const lent_t *lent, size_t offset)
{
    return (uintptr_t)lent->memory + offset;
}

static inline ucp_rkey_h unpack_key(ucp_ep_h ep, ucp_mem_h memh)
{
    ucp_rkey_h rkey;
    size_t size;
    void *key;

    ck_assert_int_eq(ucp_memh_pack(memh, NULL, &key, &size), UCS_OK);
    ck_assert_int_eq(ucp_ep_rkey_unpack(ep, key, &rkey), UCS_OK);
    ucp_memh_buffer_release(key, NULL);
    return rkey;
}

static inline void lend_mode(lent_t *lent, way_t way, size_t length,
                             unsigned prot, ucs_thread_mode_t mode)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_PROT,
        .length = length,
        .prot   = prot,
    };
    ucp_ep_config_t *config;

    local_open_mode(&lent->local,
                    UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64,
                    mode);
    if (way == BY_MESSAGES) {
        config            = (ucp_ep_config_t *)lent->local.ep->config;
        config->rma_lanes = 0;
        config->amo_lanes = 0;
    }

    lent->length   = length;
    lent->memory   = calloc(1, length);
    params.address = lent->memory;
    ck_assert_ptr_nonnull(lent->memory);
    ck_assert_int_eq(ucp_mem_map(lent->local.context, &params, &lent->memh),
                     UCS_OK);
    lent->rkey = unpack_key(lent->local.ep, lent->memh);
}

static inline void lend_prot(lent_t *lent, way_t way, size_t length,
                             unsigned prot)
{
    lend_mode(lent, way, length, prot, UCS_THREAD_MODE_SINGLE);
}

static inline void lend(lent_t *lent, way_t way, size_t length)
{
    lend_prot(lent, way, length, UCP_MEM_PROT_ALL);
}

static inline void take_back(lent_t *lent)
{
    ucp_rkey_destroy(lent->rkey);
    ck_assert_int_eq(ucp_mem_unmap(lent->local.context, lent->memh), UCS_OK);
    local_close(&lent->local);
    free(lent->memory);
}

static const ucp_request_param_t plain = {0};

static inline ucs_status_t lent_flush(lent_t *lent)
{
    return local_wait(&lent->local, ucp_ep_flush_nbx(lent->local.ep, &plain));
}

static inline ucs_status_t lent_put(lent_t *lent, const void *data,
                                    size_t length, size_t offset)
{
    return local_wait(&lent->local,
                      ucp_put_nbx(lent->local.ep, data, length,
                                  lent_at(lent, offset), lent->rkey, &plain));
}

static inline ucs_status_t lent_get(lent_t *lent, void *data, size_t length,
                                    size_t offset)
{
    return local_wait(&lent->local,
                      ucp_get_nbx(lent->local.ep, data, length,
                                  lent_at(lent, offset), lent->rkey, &plain));
}

static inline void fill(char *data, size_t length, unsigned seed)
{
    size_t i;

    for (i = 0; i < length; ++i) {
        data[i] = (char)(i * 31 + (i >> 8) + seed);
    }
}

#endif
