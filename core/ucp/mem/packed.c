/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes and reads the bytes of packed memory handles: remote keys, and
 * exported handles. packed.h has the format.
 */
#include "ucp/mem/packed.h"

#include "ucp/base/reader.h"
#include "ucp/base/squeeze.h"
#include "ucp/mem/mem.h"
#include "ucp/mem/range.h"
#include "ucs/datastruct/hash.h"
#include "ucs/debug/log.h"

#include <stdlib.h>
#include <string.h>

enum {
    SIZES_NOT_USUAL  = 1 << 7,
    RIGHTS_BY_OWNER  = 1 << 4,
    RIGHTS_SYMMETRIC = 1 << 5,
    FORM_DOMAIN      = 1 << 0,
    FORM_BYTES       = 1 << 1,
    FORM_BITS        = 2,
    CODE_LATER       = 63,
    /* Bytes in ucp_packed_mem_t::window before the components' keys */
    WINDOW_START     = 32,
    LONG_KEY         = 0x80,
    MAX_KEY_LENGTH   = 0x7fff,
};

uint8_t ucp_packed_code(const char *component)
{
    return (uint8_t)(ucs_hash_bytes(component, strlen(component), 0) %
                     CODE_LATER);
}

/* The right that each of bits 0 to 3 of `rights` stands for. */
static const unsigned prot_bits[] = {
    UCP_MEM_MAP_PROT_LOCAL_READ,
    UCP_MEM_MAP_PROT_LOCAL_WRITE,
    UCP_MEM_MAP_PROT_REMOTE_READ,
    UCP_MEM_MAP_PROT_REMOTE_WRITE,
};

static uint8_t pack_rights(const ucp_packed_mem_t *mem)
{
    uint8_t rights = (uint8_t)((mem->by_owner ? RIGHTS_BY_OWNER : 0) |
                               (mem->symmetric ? RIGHTS_SYMMETRIC : 0));
    size_t i;

    for (i = 0; i < sizeof(prot_bits) / sizeof(prot_bits[0]); ++i) {
        rights |= (uint8_t)((mem->prot & prot_bits[i]) ? 1u << i : 0);
    }
    return rights;
}

static void unpack_rights(uint8_t rights, ucp_packed_mem_t *mem)
{
    size_t i;

    mem->prot      = 0;
    mem->by_owner  = !!(rights & RIGHTS_BY_OWNER);
    mem->symmetric = !!(rights & RIGHTS_SYMMETRIC);
    for (i = 0; i < sizeof(prot_bits) / sizeof(prot_bits[0]); ++i) {
        mem->prot |= (rights & (1u << i)) ? prot_bits[i] : 0;
    }
}

/* Sets the start of mem->window to the values that the components' keys often
 * repeat (id, address, length). Writer and reader both know these before they
 * compress or decompress the keys. */
static void window_init(ucp_packed_mem_t *mem)
{
    const ucp_le64_t known[] = {ucp_le64(mem->id), ucp_le64(mem->address),
                                ucp_le64(mem->length), ucp_le64(0)};

    _Static_assert(sizeof(known) == WINDOW_START, "wire layout");
    memcpy(mem->window, known, sizeof(known));
}

/* ------------------------------------------------------------- writing -- */

static uint8_t *put_memory(uint8_t *p, const ucp_packed_mem_t *mem)
{
    uint8_t rights = pack_rights(mem);
    int not_usual  = (rights != (RIGHTS_BY_OWNER | 0xf)) ||
                    (mem->mem_type != UCS_MEMORY_TYPE_HOST);
    ucp_le64_t id = ucp_le64(mem->id);
    uint8_t range[UCP_RANGE_MAX], sizes;
    size_t size = ucp_range_pack(mem->address, mem->length, range, &sizes);

    *p++ = (uint8_t)(sizes | (not_usual ? SIZES_NOT_USUAL : 0));
    if (not_usual) {
        *p++ = rights;
        *p++ = (uint8_t)mem->mem_type;
    }
    memcpy(p, &id, sizeof(id));
    memcpy(p + sizeof(id), range, size);
    return p + sizeof(id) + size;
}

/* Appends a component's key to the packed bytes at `p`; returns their new end.
 * *at: end of the used bytes in mem->window; the key is added there without
 * compression, so that later keys can refer to it. */
static uint8_t *put_key(uint8_t *p, ucp_packed_mem_t *mem, unsigned index,
                        size_t *at)
{
    const ucp_packed_key_t *key = &mem->keys[index];
    unsigned next = (index == 0) ? 0 : mem->keys[index - 1].md_index + 1u;
    unsigned form = (key->md_index != next) ? FORM_DOMAIN : 0;
    uint8_t squeezed[ucp_squeeze_bound(UCP_PACKED_MAX_KEYS)];
    size_t length;

    if ((key->length != 8) || (memcmp(key->bytes, mem->window, 8) != 0)) {
        form |= FORM_BYTES;
    }
    *p++ = (uint8_t)((key->code << FORM_BITS) | form);
    if (form & FORM_DOMAIN) {
        *p++ = key->md_index;
    }
    if (form & FORM_BYTES) {
        if (key->length > 0) {
            memcpy(mem->window + *at, key->bytes, key->length);
        }
        length = ucp_squeeze(mem->window, *at, *at + key->length, squeezed);
        *at += key->length;
        if (length >= LONG_KEY) {
            *p++ = (uint8_t)(LONG_KEY | (length >> 8));
        }
        *p++ = (uint8_t)length;
        memcpy(p, squeezed, length);
        p += length;
    }
    return p;
}

/* Returns the maximum length in bytes of what follows the header. */
static size_t body_bound(const ucp_packed_mem_t *mem)
{
    size_t bound = 3 + sizeof(uint64_t) + UCP_RANGE_MAX;
    unsigned i;

    for (i = 0; i < mem->num_keys; ++i) {
        bound += 4 + ucp_squeeze_bound(mem->keys[i].length);
    }
    return bound;
}

ucs_status_t ucp_packed_write(ucp_packed_mem_t *mem, uint8_t kind,
                              void **buffer_p, size_t *length_p)
{
    size_t at    = WINDOW_START;
    size_t total = 0;
    uint8_t *body, *p;
    size_t header;
    unsigned i;

    for (i = 0; i < mem->num_keys; ++i) {
        total += mem->keys[i].length;
    }
    if (total > UCP_PACKED_MAX_KEYS) {
        ucs_error("the keys of all domains would be %zu bytes long, of at most"
                  " %d; limit the devices by UCX_NET_DEVICES",
                  total, (int)UCP_PACKED_MAX_KEYS);
        return UCS_ERR_EXCEEDS_LIMIT;
    }

    body = malloc(UCP_SEAL_MAX_HEADER + body_bound(mem));
    if (body == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    window_init(mem);
    p = put_memory(body, mem);
    for (i = 0; i < mem->num_keys; ++i) {
        p = put_key(p, mem, i, &at);
    }

    header = ucp_seal_header((size_t)(p - body));
    memmove(body + header, body, (size_t)(p - body));
    *length_p = header + (size_t)(p - body);
    *buffer_p = body;
    ucp_seal_close(body, *length_p, kind);
    return UCS_OK;
}

/* ------------------------------------------------------------- reading -- */

static int read_memory(ucp_reader_t *reader, ucp_packed_mem_t *mem)
{
    const uint8_t *sizes = ucp_reader_take(reader, 1), *kinds, *p;
    ucp_le64_t id;

    if (sizes == NULL) {
        return 0;
    }
    mem->prot      = UCP_MEM_PROT_ALL;
    mem->by_owner  = 1;
    mem->symmetric = 0;
    mem->mem_type  = UCS_MEMORY_TYPE_HOST;
    if (*sizes & SIZES_NOT_USUAL) {
        kinds = ucp_reader_take(reader, 2);
        if ((kinds == NULL) || (kinds[1] >= UCS_MEMORY_TYPE_LAST)) {
            return 0;
        }
        unpack_rights(kinds[0], mem);
        mem->mem_type = (ucs_memory_type_t)kinds[1];
    }
    p = ucp_reader_take(reader, sizeof(id) + ucp_range_size(*sizes));
    if (p == NULL) {
        return 0;
    }
    memcpy(&id, p, sizeof(id));
    mem->id = ucp_le64_get(id);
    return ucp_range_unpack(*sizes, p + sizeof(id), &mem->address,
                            &mem->length);
}

/* Reads the contents of a component's key. *at: end of the used bytes in
 * mem->window; the key is decompressed to this place, and *at advances. */
static int read_bytes(ucp_reader_t *reader, ucp_packed_mem_t *mem, size_t *at,
                      ucp_packed_key_t *key)
{
    const uint8_t *p = ucp_reader_take(reader, 1);
    size_t length, end;

    if (p == NULL) {
        return 0;
    }
    length = *p;
    if (length & LONG_KEY) {
        p = ucp_reader_take(reader, 1);
        if (p == NULL) {
            return 0;
        }
        length = ((length & ~(size_t)LONG_KEY) << 8) | *p;
    }
    p = ucp_reader_take(reader, length);
    if (p == NULL) {
        return 0;
    }
    end = ucp_unsqueeze(p, length, mem->window, *at, sizeof(mem->window));
    if (end == SIZE_MAX) {
        return 0;
    }
    key->bytes  = mem->window + *at;
    key->length = end - *at;
    *at         = end;
    return 1;
}

static int read_key(ucp_reader_t *reader, unsigned *next_md, size_t *at,
                    ucp_packed_mem_t *mem)
{
    ucp_packed_key_t key = {.bytes = mem->window, .length = 8};
    uint8_t head         = *ucp_reader_take(reader, 1);
    const uint8_t *domain;

    key.code = head >> FORM_BITS;
    if (head & FORM_DOMAIN) {
        domain = ucp_reader_take(reader, 1);
        if (domain == NULL) {
            return 0;
        }
        *next_md = *domain;
    }
    if ((head & FORM_BYTES) && !read_bytes(reader, mem, at, &key)) {
        return 0;
    }
    if ((key.code != CODE_LATER) && (mem->num_keys < UCP_MAX_MDS)) {
        key.md_index               = (uint8_t)*next_md;
        mem->keys[mem->num_keys++] = key;
        ++*next_md;
    }
    return 1;
}

ucs_status_t ucp_packed_read(const void *buffer, size_t length, uint8_t kind,
                             ucp_packed_mem_t *mem)
{
    const char *reason = NULL;
    unsigned next_md   = 0;
    size_t at          = WINDOW_START;
    ucp_reader_t reader;

    mem->num_keys = 0;
    reader.p      = ucp_seal_open(buffer, length, kind, &reader.left, &reason);
    if (reader.p == NULL) {
        goto err;
    }

    reason = "malformed";
    if (!read_memory(&reader, mem)) {
        goto err;
    }
    window_init(mem);
    while (reader.left > 0) {
        if (!read_key(&reader, &next_md, &at, mem)) {
            goto err;
        }
    }
    return UCS_OK;

err:
    ucs_diag("rejected a packed key of %zu bytes: %s", length, reason);
    return UCS_ERR_INVALID_PARAM;
}
