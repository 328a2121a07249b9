/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: packed remote keys and exported memory handles. Each input is
 * parsed unchanged, and as the body after a valid header. The input with the
 * valid header is also passed to the functions of UCP's API that unpack a
 * remote key and import a memory handle.
 */
#include "ucp/mem/packed.h"

#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static ucp_context_h context;
static ucp_worker_h worker;
static ucp_ep_h ep;

static void open_all(void)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_RMA | UCP_FEATURE_AMO64 |
                    UCP_FEATURE_EXPORTED_MEMH,
    };
    ucp_worker_params_t worker_params = {.field_mask = 0};
    ucp_worker_attr_t attr    = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t ep_params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
    };

    setenv("UCX_TLS", "self", 1);
    setenv("UCX_PLUGIN_PATH", "", 1);
    setenv("UCX_LOG_LEVEL", "fatal", 0);
    if ((ucp_init(&params, NULL, &context) != UCS_OK) ||
        (ucp_worker_create(context, &worker_params, &worker) != UCS_OK) ||
        (ucp_worker_query(worker, &attr) != UCS_OK)) {
        abort();
    }
    ep_params.address = attr.address;
    if (ucp_ep_create(worker, &ep_params, &ep) != UCS_OK) {
        abort();
    }
    ucp_worker_release_address(worker, attr.address);
}

/* Passes a packed key or handle to the functions of the API. They have no
 * parameter for the length and use that in the header, which must be valid. */
static void use(const uint8_t *bytes)
{
    ucp_mem_map_params_t import = {
        .field_mask           = UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER,
        .exported_memh_buffer = bytes,
    };
    ucp_rkey_h rkey;
    ucp_mem_h memh;
    void *pointer;

    if (ucp_ep_rkey_unpack(ep, bytes, &rkey) == UCS_OK) {
        ucp_rkey_ptr(rkey, 0x1000, &pointer);
        ucp_rkey_destroy(rkey);
    }
    if (ucp_mem_map(context, &import, &memh) == UCS_OK) {
        ucp_mem_unmap(context, memh);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t kinds[] = {UCP_PACKED_RKEY, UCP_PACKED_EXPORTED};
    static ucp_packed_mem_t mem;
    size_t header = ucp_seal_header(size);
    uint8_t *copy = malloc(size + (size == 0));
    unsigned i;

    if (context == NULL) {
        open_all();
    }

    /* the copy has exactly the size of the input, so that a sanitizer detects a
     * read beyond its end */
    memcpy(copy, data, size);
    for (i = 0; i < 2; ++i) {
        ucp_packed_read(copy, size, kinds[i], &mem);
    }
    free(copy);

    if (header + size > UCP_SEAL_MAX_LENGTH) {
        return 0;
    }
    copy = malloc(header + size);
    memcpy(copy + header, data, size);
    for (i = 0; i < 2; ++i) {
        ucp_seal_close(copy, header + size, kinds[i]);
        ucp_packed_read(copy, header + size, kinds[i], &mem);
        use(copy);
    }
    free(copy);
    return 0;
}
