/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: packed remote keys and exported memory handles. Each input is
 * read as it is, and again with its kind, length and checksum set right, so
 * that the fields behind them are reached; then it is unpacked on an endpoint
 * and imported, as users do.
 */
#include "ucp/mem/packed.h"
#include "ucs/datastruct/hash.h"

#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

enum { HEADER = 12, KIND_AT = 3, LENGTH_AT = 4, CHECKSUM_AT = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static ucp_context_h context;
static ucp_worker_h worker;
static ucp_ep_h ep;

static void open_all(void)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_RMA | UCP_FEATURE_AMO64 |
                      UCP_FEATURE_EXPORTED_MEMH
    };
    ucp_worker_params_t worker_params = {.field_mask = 0};
    ucp_worker_attr_t attr    = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t ep_params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS
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

static void set_right(uint8_t *bytes, size_t size, uint8_t kind)
{
    static const uint8_t head[KIND_AT] = {0x55, 0x4d, 1};
    ucp_le16_t length[2];
    ucp_le32_t field;

    memcpy(bytes, head, sizeof(head));
    bytes[KIND_AT] = kind;
    length[0] = ucp_le16((uint16_t)size);
    length[1] = ucp_le16((uint16_t)~size);
    memcpy(bytes + LENGTH_AT, length, sizeof(length));
    field = ucp_le32((uint32_t)ucs_hash_bytes(
            bytes + HEADER, size - HEADER,
            ucs_hash_bytes(bytes, CHECKSUM_AT, 0)));
    memcpy(bytes + CHECKSUM_AT, &field, sizeof(field));
}

/* With a header, as the calls without a length expect. */
static void use(const uint8_t *bytes)
{
    ucp_mem_map_params_t import = {
        .field_mask           = UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER,
        .exported_memh_buffer = bytes
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
    static ucp_packed_mem_t mem;
    uint8_t *copy = malloc(size + 1);
    uint8_t kind;

    if (context == NULL) {
        open_all();
    }

    /* exactly as large as it says: a read beyond is seen */
    memcpy(copy, data, size);
    copy = realloc(copy, size + (size == 0));
    ucp_packed_read(copy, size, UCP_PACKED_RKEY, &mem);
    ucp_packed_read(copy, size, UCP_PACKED_EXPORTED, &mem);

    for (kind = UCP_PACKED_RKEY; kind <= UCP_PACKED_EXPORTED; ++kind) {
        if ((size >= HEADER) && (size <= UINT16_MAX)) {
            set_right(copy, size, kind);
            ucp_packed_read(copy, size, kind, &mem);
            use(copy);
        }
    }

    free(copy);
    return 0;
}
