/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: messages between endpoints of connection managers. Each input is
 * unpacked as it is, and again with valid first bytes, so that the following
 * fields are reached; a valid message must survive packing.
 */
#include "ucp/cm/hello.h"
#include "ucp/wireup/address.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(int condition)
{
    if (!condition) {
        abort();
    }
}

/* Packs a parsed message, which must parse to the same. */
static void pack_again(const ucp_cm_hello_t *hello)
{
    char *packed = malloc(ucp_cm_hello_overhead() + hello->address_length);
    ucp_cm_hello_t again;
    size_t length;

    expect(packed != NULL);
    length = ucp_cm_hello_pack(hello, packed);
    expect(length <= ucp_cm_hello_overhead() + hello->address_length);
    expect(ucp_cm_hello_unpack(packed, length, &again) == UCS_OK);
    expect((again.ep_id == hello->ep_id) && (again.flags == hello->flags) &&
           (again.has_client_id == hello->has_client_id) &&
           (again.client_id == hello->client_id) &&
           (again.address_length == hello->address_length) &&
           (memcmp(again.address, hello->address, hello->address_length) == 0));
    free(packed);
}

static void run(const uint8_t *data, size_t size)
{
    ucp_address_info_t *info = malloc(sizeof(*info));
    ucp_cm_hello_t hello;

    expect(info != NULL);
    if (ucp_cm_hello_unpack(data, size, &hello) == UCS_OK) {
        const uint8_t *address = hello.address;

        expect((address >= data) && (hello.address_length > 0) &&
               (hello.address_length <= size - (size_t)(address - data)));
        ucp_address_unpack(address, hello.address_length, info);
        pack_again(&hello);
    }
    free(info);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t head[3] = {0x55, 0x48, 1};
    /* the exact size: a read beyond it is detected */
    uint8_t *copy                = malloc(size + (size == 0));

    expect(copy != NULL);
    memcpy(copy, data, size);
    run(copy, size);
    if (size >= sizeof(head)) {
        memcpy(copy, head, sizeof(head));
        run(copy, size);
    }
    free(copy);
    return 0;
}
