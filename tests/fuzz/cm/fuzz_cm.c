/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: the messages that two endpoints send over a connection manager
 * when they connect by a socket address. Each input is unpacked twice:
 * unchanged, and with valid first bytes, because unpacking rejects other first
 * bytes before it reads the fields after them. A message that is accepted is
 * packed and unpacked again, which must give the same fields.
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

/* Packs a message that was unpacked. Unpacking the result must give the same
 * fields. */
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

/* Unpacks a message. If it is accepted, also unpacks the worker address in it,
 * and packs the message again. */
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
    /* valid first bytes: those that identify the message, and the version */
    static const uint8_t head[3] = {0x55, 0x48, 1};
    /* the copy has exactly the size of the input, so that a sanitizer detects a
     * read beyond its end */
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
