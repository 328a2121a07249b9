/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packs and unpacks the hello: the private data (id of the endpoint, worker
 * address) that client and server exchange through a connection manager.
 * hello.h has the format.
 */
#include "ucp/cm/hello.h"

#include <string.h>

enum {
    MAGIC           = 0x4855, /* "UH" on the wire */
    VERSION         = 1,
    FIELD_ADDRESS   = 1,
    FIELD_CLIENT_ID = 2,
};

typedef struct {
    ucp_le16_t magic;
    uint8_t version;
    uint8_t flags;
    ucp_le64_t ep_id;
} header_t;

typedef struct {
    uint8_t type;
    ucp_le16_t length;
} field_t;

_Static_assert(sizeof(header_t) == 12, "wire layout");
_Static_assert(sizeof(field_t) == 3, "wire layout");

size_t ucp_cm_hello_overhead(void)
{
    return sizeof(header_t) + 2 * sizeof(field_t) + sizeof(ucp_le64_t);
}

static char *put_field(char *p, uint8_t type, const void *value, size_t length)
{
    field_t field = {type, ucp_le16((uint16_t)length)};

    memcpy(p, &field, sizeof(field));
    memcpy(p + sizeof(field), value, length);
    return p + sizeof(field) + length;
}

size_t ucp_cm_hello_pack(const ucp_cm_hello_t *hello, void *dest)
{
    header_t header = {
        .magic   = ucp_le16(MAGIC),
        .version = VERSION,
        .flags   = hello->flags,
        .ep_id   = ucp_le64(hello->ep_id),
    };
    ucp_le64_t client_id = ucp_le64(hello->client_id);
    char *p              = dest;

    memcpy(p, &header, sizeof(header));
    p = put_field(p + sizeof(header), FIELD_ADDRESS, hello->address,
                  hello->address_length);
    if (hello->has_client_id) {
        p = put_field(p, FIELD_CLIENT_ID, &client_id, sizeof(client_id));
    }
    return (size_t)(p - (char *)dest);
}

static ucs_status_t take_field(uint8_t type, const void *value, size_t length,
                               ucp_cm_hello_t *hello)
{
    ucp_le64_t client_id;

    switch (type) {
    case FIELD_ADDRESS:
        if ((hello->address != NULL) || (length == 0)) {
            return UCS_ERR_INVALID_PARAM;
        }
        hello->address        = value;
        hello->address_length = length;
        return UCS_OK;
    case FIELD_CLIENT_ID:
        if (length != sizeof(client_id)) {
            return UCS_ERR_INVALID_PARAM;
        }
        memcpy(&client_id, value, sizeof(client_id));
        hello->client_id     = ucp_le64_get(client_id);
        hello->has_client_id = 1;
        return UCS_OK;
    default:
        return UCS_OK;
    }
}

ucs_status_t ucp_cm_hello_unpack(const void *data, size_t length,
                                 ucp_cm_hello_t *hello)
{
    const char *p = data;
    header_t header;
    field_t field;
    size_t size;

    memset(hello, 0, sizeof(*hello));
    if (length < sizeof(header)) {
        return UCS_ERR_INVALID_PARAM;
    }

    memcpy(&header, p, sizeof(header));
    if ((ucp_le16_get(header.magic) != MAGIC) || (header.version < VERSION) ||
        (ucp_le64_get(header.ep_id) == 0)) {
        return UCS_ERR_INVALID_PARAM;
    }
    hello->flags = header.flags;
    hello->ep_id = ucp_le64_get(header.ep_id);

    p += sizeof(header);
    length -= sizeof(header);
    while (length > 0) {
        if (length < sizeof(field)) {
            return UCS_ERR_INVALID_PARAM;
        }
        memcpy(&field, p, sizeof(field));
        p += sizeof(field);
        length -= sizeof(field);
        size = ucp_le16_get(field.length);
        if ((size > length) ||
            (take_field(field.type, p, size, hello) != UCS_OK)) {
            return UCS_ERR_INVALID_PARAM;
        }
        p += size;
        length -= size;
    }
    return (hello->address != NULL) ? UCS_OK : UCS_ERR_INVALID_PARAM;
}
