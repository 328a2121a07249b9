/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory mapping: access rights of peers, UCP_MEM_MAP_SYMMETRIC_RKEY, and
 * ucp_mem_advise(). */
#include "api.h"

enum { SIZE = 65536 };

static void open_mem(local_t *local)
{
    local_open_mode(local, UCP_FEATURE_RMA, UCS_THREAD_MODE_SINGLE);
}

static ucp_mem_h map(local_t *local, void *address, unsigned flags,
                     unsigned prot)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS |
                      UCP_MEM_MAP_PARAM_FIELD_PROT,
        .address = address,
        .length  = SIZE,
        .flags   = flags,
        .prot    = prot,
    };
    ucp_mem_h memh;

    ck_assert_int_eq(ucp_mem_map(local->context, &params, &memh), UCS_OK);
    return memh;
}

static ucp_rkey_h unpacked(local_t *local, ucp_mem_h memh)
{
    const ucp_memh_buffer_release_params_t release = {.field_mask = 0};
    ucp_rkey_h rkey;
    size_t size;
    void *key;

    ck_assert_int_eq(ucp_memh_pack(memh, NULL, &key, &size), UCS_OK);
    ck_assert_int_eq(ucp_ep_rkey_unpack(local->ep, key, &rkey), UCS_OK);
    ucp_memh_buffer_release(key, &release);
    return rkey;
}

static ucs_status_t access_to(local_t *local, ucp_rkey_h rkey, void *at,
                              int is_put)
{
    ucp_request_param_t none = {0};
    ucs_status_t status;
    char byte = 'x';

    status = local_wait(local, is_put ?
                                   ucp_put_nbx(local->ep, &byte, 1,
                                               (uintptr_t)at, rkey, &none) :
                                   ucp_get_nbx(local->ep, &byte, 1,
                                               (uintptr_t)at, rkey, &none));
    if (status == UCS_OK) {
        status = local_wait(local, ucp_ep_flush_nbx(local->ep, &none));
    }
    return status;
}

START_TEST(peers_may_do_what_the_protection_says)
{
    const unsigned local_both = UCP_MEM_MAP_PROT_LOCAL_READ |
                                UCP_MEM_MAP_PROT_LOCAL_WRITE;
    char *memory = calloc(1, SIZE);
    unsigned remote;
    ucp_rkey_h rkey;
    ucp_mem_h memh;
    local_t local;

    open_mem(&local);
    for (remote = 0; remote < 4; ++remote) {
        unsigned prot = local_both;

        prot |= (remote & 1) ? UCP_MEM_MAP_PROT_REMOTE_READ : 0;
        prot |= (remote & 2) ? UCP_MEM_MAP_PROT_REMOTE_WRITE : 0;
        memh = map(&local, memory, 0, prot);
        rkey = unpacked(&local, memh);
        ck_assert_int_eq(access_to(&local, rkey, memory, 0) == UCS_OK,
                         !!(remote & 1));
        memory[0] = 0;
        ck_assert_int_eq(access_to(&local, rkey, memory, 1) == UCS_OK,
                         !!(remote & 2));
        ck_assert_int_eq(memory[0], (remote & 2) ? 'x' : 0);
        ucp_rkey_destroy(rkey);
        ck_assert_int_eq(ucp_mem_unmap(local.context, memh), UCS_OK);
    }
    local_close(&local);
    free(memory);
}
END_TEST

START_TEST(a_symmetric_key_works_as_any)
{
    char *memory = calloc(1, SIZE);
    ucp_rkey_h rkeys[2];
    ucp_mem_h memh;
    local_t local;
    int order;

    open_mem(&local);
    memh     = map(&local, memory, UCP_MEM_MAP_SYMMETRIC_RKEY,
                   UCP_MEM_MAP_PROT_REMOTE_READ | UCP_MEM_MAP_PROT_REMOTE_WRITE);
    rkeys[0] = unpacked(&local, memh);
    rkeys[1] = unpacked(&local, memh);
    ck_assert_int_eq(access_to(&local, rkeys[0], memory + 9, 1), UCS_OK);
    ck_assert_int_eq(memory[9], 'x');
    /* two keys of the same memory compare equal */
    ck_assert_int_eq(ucp_rkey_compare(local.worker, rkeys[0], rkeys[1],
                                      &(ucp_rkey_compare_params_t){
                                          .field_mask = 0,
                                      },
                                      &order),
                     UCS_OK);
    ck_assert_int_eq(order, 0);
    ucp_rkey_destroy(rkeys[0]);
    ucp_rkey_destroy(rkeys[1]);
    ck_assert_int_eq(ucp_mem_unmap(local.context, memh), UCS_OK);
    local_close(&local);
    free(memory);
}
END_TEST

START_TEST(any_advice_leaves_the_contents_alone)
{
    static const ucp_mem_advice_t advices[] = {UCP_MADV_NORMAL,
                                               UCP_MADV_WILLNEED};
    char *memory                            = calloc(1, SIZE);
    ucp_mem_advise_params_t param           = {
                  .field_mask = UCP_MEM_ADVISE_PARAM_FIELD_ADDRESS |
                                UCP_MEM_ADVISE_PARAM_FIELD_LENGTH |
                                UCP_MEM_ADVISE_PARAM_FIELD_ADVICE,
                  .address = memory,
                  .length  = SIZE,
    };
    ucp_mem_h memh;
    local_t local;
    size_t i;

    open_mem(&local);
    memory[77] = 'y';
    memh       = map(&local, memory, UCP_MEM_MAP_NONBLOCK,
                     UCP_MEM_MAP_PROT_REMOTE_READ);
    for (i = 0; i < 2; ++i) {
        param.advice = advices[i];
        ck_assert_int_eq(ucp_mem_advise(local.context, memh, &param), UCS_OK);
        ck_assert_int_eq(memory[77], 'y');
    }
    param.advice = (ucp_mem_advice_t)9;
    ck_assert_int_eq(ucp_mem_advise(local.context, memh, &param),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_mem_unmap(local.context, memh), UCS_OK);
    local_close(&local);
    free(memory);
}
END_TEST

SUITE_MAIN("options of memory", peers_may_do_what_the_protection_says,
           a_symmetric_key_works_as_any, any_advice_leaves_the_contents_alone)
