/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing and reading what packed.h describes.
 */
#include "ucp/mem/packed.h"

#include "ucs/datastruct/hash.h"
#include "ucs/debug/log.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAGIC        = 0x4d55,   /* "UM" on the wire */
    VERSION      = 1,
    FIELD_MEMORY = 1,
    FIELD_KEY    = 2
};

typedef struct {
    ucp_le16_t magic;
    uint8_t    version;
    uint8_t    kind;
    ucp_le16_t length;
    ucp_le16_t inverse;
    ucp_le32_t checksum;
} header_t;

typedef struct {
    uint8_t    type;
    ucp_le16_t length;
} field_t;

typedef struct {
    ucp_le64_t id;
    ucp_le64_t address;
    ucp_le64_t length;
    ucp_le16_t prot;
    uint8_t    mem_type;
    uint8_t    flags;     /* MEMORY_* */
} memory_t;

enum { MEMORY_BY_OWNER = 1 << 0 };

typedef struct {
    uint8_t md_index;
    uint8_t name_length;
} key_head_t;

_Static_assert(sizeof(header_t) == 12, "wire layout");
_Static_assert(sizeof(field_t) == 3, "wire layout");
_Static_assert(sizeof(memory_t) == 28, "wire layout");
_Static_assert(sizeof(key_head_t) == 2, "wire layout");

/* Of everything but itself. */
static uint32_t checksum(const header_t *header, size_t length)
{
    uint64_t hash = ucs_hash_bytes(header, offsetof(header_t, checksum), 0);

    return (uint32_t)ucs_hash_bytes(header + 1, length - sizeof(*header),
                                    hash);
}

/* ------------------------------------------------------------- writing -- */

static uint8_t *put(uint8_t *p, const void *bytes, size_t length)
{
    if (length > 0) {
        memcpy(p, bytes, length);
    }
    return p + length;
}

static uint8_t *put_key(uint8_t *p, const ucp_packed_key_t *key)
{
    key_head_t head   = {key->md_index, (uint8_t)strlen(key->component)};
    field_t field = {FIELD_KEY, ucp_le16((uint16_t)(sizeof(head) +
                                                    head.name_length +
                                                    key->length))};

    p = put(p, &field, sizeof(field));
    p = put(p, &head, sizeof(head));
    p = put(p, key->component, head.name_length);
    return put(p, key->bytes, key->length);
}

static size_t written_length(const ucp_packed_mem_t *mem)
{
    size_t length = sizeof(header_t) + sizeof(field_t) + sizeof(memory_t);
    unsigned i;

    for (i = 0; i < mem->num_keys; ++i) {
        length += sizeof(field_t) + sizeof(key_head_t) +
                  strlen(mem->keys[i].component) + mem->keys[i].length;
    }
    return length;
}

ucs_status_t ucp_packed_write(const ucp_packed_mem_t *mem, uint8_t kind,
                              void **buffer_p, size_t *length_p)
{
    field_t field   = {FIELD_MEMORY, ucp_le16(sizeof(memory_t))};
    memory_t memory = {
        .id       = ucp_le64(mem->id),
        .address  = ucp_le64(mem->address),
        .length   = ucp_le64(mem->length),
        .prot     = ucp_le16((uint16_t)mem->prot),
        .mem_type = (uint8_t)mem->mem_type,
        .flags    = mem->by_owner ? MEMORY_BY_OWNER : 0
    };
    size_t length   = written_length(mem);
    header_t *header;
    unsigned i;
    uint8_t *p;

    if (length > UINT16_MAX) {
        ucs_error("the packed key would be %zu bytes long, of at most %d; limit"
                  " the devices by UCX_NET_DEVICES", length, UINT16_MAX);
        return UCS_ERR_EXCEEDS_LIMIT;
    }

    header = malloc(length);
    if (header == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    p = put((uint8_t *)(header + 1), &field, sizeof(field));
    p = put(p, &memory, sizeof(memory));
    for (i = 0; i < mem->num_keys; ++i) {
        p = put_key(p, &mem->keys[i]);
    }

    header->magic    = ucp_le16(MAGIC);
    header->version  = VERSION;
    header->kind     = kind;
    header->length   = ucp_le16((uint16_t)length);
    header->inverse  = ucp_le16((uint16_t)~length);
    header->checksum = ucp_le32(checksum(header, length));
    *buffer_p        = header;
    *length_p        = length;
    return UCS_OK;
}

/* ------------------------------------------------------------- reading -- */

static ucs_status_t read_memory(const uint8_t *value, size_t length,
                                ucp_packed_mem_t *mem)
{
    memory_t memory;

    if (length < sizeof(memory)) {
        return UCS_ERR_INVALID_PARAM;
    }

    memcpy(&memory, value, sizeof(memory));
    mem->id       = ucp_le64_get(memory.id);
    mem->address  = ucp_le64_get(memory.address);
    mem->length   = ucp_le64_get(memory.length);
    mem->prot     = ucp_le16_get(memory.prot);
    mem->mem_type = (ucs_memory_type_t)memory.mem_type;
    mem->by_owner = !!(memory.flags & MEMORY_BY_OWNER);
    return ((memory.mem_type < UCS_MEMORY_TYPE_LAST) &&
            (mem->address + mem->length >= mem->address)) ?
           UCS_OK : UCS_ERR_INVALID_PARAM;
}

static ucs_status_t read_key(const uint8_t *value, size_t length,
                             ucp_packed_mem_t *mem)
{
    ucp_packed_key_t *key;
    key_head_t head;

    if (mem->num_keys == UCP_MAX_MDS) {
        return UCS_OK; /* more than anybody has: the first will do */
    }
    if (length < sizeof(head)) {
        return UCS_ERR_INVALID_PARAM;
    }

    memcpy(&head, value, sizeof(head));
    value  += sizeof(head);
    length -= sizeof(head);
    key     = &mem->keys[mem->num_keys];
    if ((head.name_length == 0) || (head.name_length > length) ||
        (head.name_length >= sizeof(key->component)) ||
        (memchr(value, '\0', head.name_length) != NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    memcpy(key->component, value, head.name_length);
    key->component[head.name_length] = '\0';
    key->md_index = head.md_index;
    key->bytes    = value + head.name_length;
    key->length   = length - head.name_length;
    ++mem->num_keys;
    return UCS_OK;
}

static ucs_status_t read_fields(const uint8_t *p, size_t left,
                                ucp_packed_mem_t *mem)
{
    ucs_status_t status = UCS_OK;
    int has_memory      = 0;
    field_t field;
    size_t length;

    while ((left > 0) && (status == UCS_OK)) {
        if (left < sizeof(field)) {
            return UCS_ERR_INVALID_PARAM;
        }
        memcpy(&field, p, sizeof(field));
        p     += sizeof(field);
        left  -= sizeof(field);
        length = ucp_le16_get(field.length);
        if (length > left) {
            return UCS_ERR_INVALID_PARAM;
        }
        if (field.type == FIELD_MEMORY) {
            status     = read_memory(p, length, mem);
            has_memory = 1;
        } else if (field.type == FIELD_KEY) {
            status = read_key(p, length, mem);
        }
        p    += length;
        left -= length;
    }
    return has_memory ? status : UCS_ERR_INVALID_PARAM;
}

size_t ucp_packed_length(const void *buffer, uint8_t kind)
{
    header_t header;
    uint16_t length;

    memcpy(&header, buffer, sizeof(header));
    length = ucp_le16_get(header.length);
    if ((ucp_le16_get(header.magic) != MAGIC) || (header.version < VERSION) ||
        (header.kind != kind) || (length < sizeof(header)) ||
        ((length ^ ucp_le16_get(header.inverse)) != UINT16_MAX)) {
        return 0;
    }
    return length;
}

ucs_status_t ucp_packed_read(const void *buffer, size_t length, uint8_t kind,
                             ucp_packed_mem_t *mem)
{
    const char *reason = "no key of this kind at all";
    header_t header;
    size_t own;

    mem->num_keys = 0;
    if ((length < sizeof(header)) ||
        ((own = ucp_packed_length(buffer, kind)) == 0)) {
        goto err;
    }

    reason = "cut short";
    if (own > length) {
        goto err;
    }

    reason = "damaged: the checksum does not fit";
    memcpy(&header, buffer, sizeof(header));
    if (checksum(buffer, own) != ucp_le32_get(header.checksum)) {
        goto err;
    }

    reason = "malformed";
    if (read_fields((const uint8_t *)buffer + sizeof(header),
                    own - sizeof(header), mem) == UCS_OK) {
        return UCS_OK;
    }
err:
    ucs_diag("refused a packed key of %zu bytes: %s", length, reason);
    return UCS_ERR_INVALID_PARAM;
}
