/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unpacks worker addresses: checks the header, decompresses the body, and
 * finds the peer's interfaces. address.h has the format.
 */
#include "ucp/wireup/address_format.h"

#include "ucp/base/reader.h"
#include "ucs/datastruct/hash.h"
#include "ucs/debug/log.h"

#include <stdlib.h>
#include <string.h>

uint16_t ucp_address_tl_code(const char *tl_name)
{
    return (uint16_t)ucs_hash_bytes(tl_name, strlen(tl_name), 0);
}

static ucs_status_t unpack_resource(uint8_t md_index, uint8_t iface_index,
                                    ucp_reader_t value,
                                    ucp_address_info_t *info)
{
    const uint8_t *head = ucp_reader_take(&value, RESOURCE_HEAD);
    ucp_address_entry_t *entry;

    if (info->num_entries == UCP_MAX_RESOURCES) {
        return UCS_OK; /* The array is full: ignore the rest of the peer's
                        * interfaces */
    }

    entry = &info->entries[info->num_entries];
    if ((head == NULL) || (value.left > head[2] + (size_t)UINT8_MAX)) {
        return UCS_ERR_INVALID_ADDR;
    }
    entry->tl_code         = (uint16_t)(head[0] | (head[1] << 8));
    entry->md_index        = md_index;
    entry->iface_index     = iface_index;
    entry->dev_addr_length = head[2];
    entry->dev_addr        = ucp_reader_take(&value, head[2]);
    if (entry->dev_addr == NULL) {
        return UCS_ERR_INVALID_ADDR;
    }
    entry->iface_addr_length = (uint8_t)value.left;
    entry->iface_addr        = value.p;
    ++info->num_entries;
    return UCS_OK;
}

static ucs_status_t take_number(ucp_reader_t *value, uint64_t *number_p)
{
    const uint8_t *p = ucp_reader_take(value, sizeof(ucp_le64_t));
    ucp_le64_t number;

    if (p == NULL) {
        return UCS_ERR_INVALID_ADDR;
    }
    memcpy(&number, p, sizeof(number));
    *number_p = ucp_le64_get(number);
    return UCS_OK;
}

static ucs_status_t unpack_field(uint8_t type, ucp_reader_t value,
                                 ucp_address_info_t *info)
{
    const uint8_t *p;
    ucp_le32_t host;

    if (type >= FIELD_RESOURCE) {
        return unpack_resource((type >> MD_SHIFT) & MAX_MD, type & MAX_IFACE,
                               value, info);
    }
    switch (type) {
    case FIELD_HOST:
        p = ucp_reader_take(&value, sizeof(host));
        if (p == NULL) {
            return UCS_ERR_INVALID_ADDR;
        }
        memcpy(&host, p, sizeof(host));
        info->host = ucp_le32_get(host);
        return UCS_OK;
    case FIELD_NAME:
        if (value.left >= sizeof(info->name)) {
            return UCS_ERR_INVALID_ADDR;
        }
        memcpy(info->name, value.p, value.left);
        info->name[value.left] = '\0';
        return UCS_OK;
    case FIELD_FAR_RESOURCE:
        p = ucp_reader_take(&value, 2);
        return (p == NULL) ? UCS_ERR_INVALID_ADDR :
                             unpack_resource(p[0], p[1], value, info);
    default:
        return UCS_OK;
    }
}

/* Reads the next field. Returns zero if it is truncated. */
static int take_field(ucp_reader_t *reader, uint8_t *type_p,
                      ucp_reader_t *value)
{
    const uint8_t *head = ucp_reader_take(reader, 2), *more;

    if (head == NULL) {
        return 0;
    }
    *type_p     = head[0];
    value->left = head[1];
    if (head[1] == LONG_FIELD) {
        more = ucp_reader_take(reader, 2);
        if (more == NULL) {
            return 0;
        }
        value->left = more[0] | ((size_t)more[1] << 8);
    }
    value->p = ucp_reader_take(reader, value->left);
    return value->p != NULL;
}

/* Writes sixteen hexadecimal digits. With printf(), this would take half of the
 * time of unpacking an address. */
static void name_by_number(char *name, uint64_t number)
{
    unsigned i;

    for (i = 0; i < 16; ++i) {
        name[i] = "0123456789abcdef"[(number >> (60 - 4 * i)) & 0xf];
    }
    name[16] = '\0';
}

static ucs_status_t unpack_fields(ucp_reader_t reader, ucp_address_info_t *info)
{
    ucs_status_t status = take_number(&reader, &info->uuid);
    ucp_reader_t value;
    uint8_t type;

    name_by_number(info->name, info->uuid);
    while ((status == UCS_OK) && (reader.left > 0)) {
        status = take_field(&reader, &type, &value) ?
                     unpack_field(type, value, info) :
                     UCS_ERR_INVALID_ADDR;
    }
    return ((status == UCS_OK) && (info->uuid != 0)) ? UCS_OK :
                                                       UCS_ERR_INVALID_ADDR;
}

ucs_status_t ucp_address_unpack(const void *address, size_t length,
                                ucp_address_info_t *info)
{
    const char *reason = NULL;
    const uint8_t *body;
    size_t body_length, end;

    info->uuid        = 0;
    info->host        = 0;
    info->name[0]     = '\0';
    info->num_entries = 0;

    body = ucp_seal_open(address, length, UCP_SEAL_ADDRESS, &body_length,
                         &reason);
    if (body == NULL) {
        goto err;
    }

    reason = "malformed";
    memset(info->bytes, 0, START);
    end = ucp_unsqueeze(body, body_length, info->bytes, START,
                        sizeof(info->bytes));
    if ((end != SIZE_MAX) &&
        (unpack_fields((ucp_reader_t){info->bytes + START, end - START},
                       info) == UCS_OK)) {
        return UCS_OK;
    }
err:
    ucs_diag("rejected a worker address of %zu bytes: %s", length, reason);
    return UCS_ERR_INVALID_ADDR;
}

int ucp_address_is_local(const ucp_address_info_t *info)
{
    return info->host == this_host();
}

ucs_status_t ucp_worker_address_query(ucp_address_t *address,
                                      ucp_worker_address_attr_t *attr)
{
    ucp_address_info_t *info = malloc(sizeof(*info));
    ucs_status_t status;

    if (info == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    status = ucp_address_unpack(address, ucp_address_length(address), info);
    if ((status == UCS_OK) &&
        (attr->field_mask & UCP_WORKER_ADDRESS_ATTR_FIELD_UID)) {
        attr->worker_uid = info->uuid;
    }
    free(info);
    return status;
}
