/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packing and unpacking of worker addresses; the format is in address.h.
 */
#include "ucp/wireup/address.h"

#include "ucs/debug/log.h"
#include "ucs/sys/uid.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAGIC          = 0x5543,   /* "CU" on the wire */
    VERSION        = 1,
    FIELD_UUID     = 1,
    FIELD_NAME     = 2,
    FIELD_RESOURCE = 3,
    FIELD_HOST     = 4,
    MAX_LENGTH     = UINT16_MAX
};

typedef struct {
    ucp_le16_t magic;
    uint8_t    version;
    uint8_t    flags;
    ucp_le16_t length;
    ucp_le16_t inverse;
    ucp_le32_t checksum;
} header_t;

typedef struct {
    uint8_t    type;
    ucp_le16_t length;
} field_t;

_Static_assert(sizeof(header_t) == 12, "wire layout");
_Static_assert(sizeof(field_t) == 3, "wire layout");

/* Of everything but itself. */
static uint32_t checksum(const header_t *header, size_t length)
{
    uint64_t hash = ucs_hash_bytes(header, offsetof(header_t, checksum), 0);

    return (uint32_t)ucs_hash_bytes(header + 1, length - sizeof(*header),
                                    hash);
}

/* ------------------------------------------------------------- packing -- */

/* Room for every field of a worker, by the largest that it can be. */
static size_t packed_bound(ucp_worker_h worker)
{
    size_t length = sizeof(header_t) +
                    2 * (sizeof(field_t) + sizeof(uint64_t)) +
                    sizeof(field_t) + UCP_ENTITY_NAME_MAX;
    unsigned i;

    for (i = 0; i < worker->num_ifaces; ++i) {
        const uct_iface_attr_t *attr = &worker->ifaces[i].attr->base;

        length += sizeof(field_t) + 5 + UCT_TL_NAME_MAX +
                  attr->device_addr_len + attr->iface_addr_len;
    }
    return length;
}

static uint8_t *put_field(uint8_t *p, uint8_t type, const void *value,
                          size_t length)
{
    field_t field = {type, ucp_le16((uint16_t)length)};

    memcpy(p, &field, sizeof(field));
    if (value != NULL) {
        memcpy(p + sizeof(field), value, length);
    }
    return p + sizeof(field) + length;
}

static uint8_t *put_number(uint8_t *p, uint8_t type, uint64_t number)
{
    ucp_le64_t value = ucp_le64(number);

    return put_field(p, type, &value, sizeof(value));
}

static uint8_t *put_counted(uint8_t *p, const void *value, size_t length)
{
    *p = (uint8_t)length;
    memcpy(p + 1, value, length);
    return p + 1 + length;
}

/* Returns where the next field goes, or NULL when the interface failed. */
static uint8_t *put_iface(uint8_t *p, ucp_worker_iface_t *wiface,
                          const ucp_resource_t *resource)
{
    const char *tl_name          = resource->tl_name;
    const uct_iface_attr_t *attr = &wiface->attr->base;
    uint8_t bytes[UINT8_MAX];
    uint8_t *value        = p + sizeof(field_t);
    size_t iface_addr_len = 0;
    uint8_t *end;

    memset(bytes, 0, sizeof(bytes));
    end = put_counted(value, tl_name, strlen(tl_name));
    if (uct_iface_get_device_address(wiface->iface,
                                     (uct_device_addr_t *)bytes) != UCS_OK) {
        return NULL;
    }
    end = put_counted(end, bytes, attr->device_addr_len);
    /* an interface that cannot be connected to has no address of its own */
    if (attr->cap.flags & UCT_IFACE_FLAG_CONNECT_TO_IFACE) {
        iface_addr_len = attr->iface_addr_len;
        if (uct_iface_get_address(wiface->iface, (uct_iface_addr_t *)bytes) !=
            UCS_OK) {
            return NULL;
        }
    }
    end    = put_counted(end, bytes, iface_addr_len);
    *end++ = resource->md_index;
    *end++ = (uint8_t)(wiface - wiface->worker->ifaces);
    return put_field(p, FIELD_RESOURCE, NULL, (size_t)(end - value));
}

static int is_packed(ucp_worker_iface_t *wiface, const ucp_resource_t *resource,
                     unsigned flags)
{
    const uct_iface_attr_t *attr = &wiface->attr->base;

    if ((flags & UCP_WORKER_ADDRESS_FLAG_NET_ONLY) &&
        (resource->dev_type != UCT_DEVICE_TYPE_NET)) {
        return 0;
    }
    return (attr->cap.flags & (UCT_IFACE_FLAG_CONNECT_TO_IFACE |
                               UCT_IFACE_FLAG_CONNECT_TO_EP)) &&
           (attr->device_addr_len <= UINT8_MAX) &&
           (attr->iface_addr_len <= UINT8_MAX);
}

/* Completes an address of that length, which begins with its header. */
static void seal(uint8_t *buffer, size_t length)
{
    header_t *header = (header_t *)buffer;

    header->magic    = ucp_le16(MAGIC);
    header->version  = VERSION;
    header->flags    = 0;
    header->length   = ucp_le16((uint16_t)length);
    header->inverse  = ucp_le16((uint16_t)~length);
    header->checksum = ucp_le32(checksum(header, length));
}

/* Appends the interfaces that their transport prefers, or the others: peers who
 * cannot tell which is better take the first. */
static uint8_t *put_ifaces(uint8_t *p, ucp_worker_h worker, unsigned flags,
                           int preferred)
{
    unsigned i;

    for (i = 0; i < worker->num_ifaces; ++i) {
        ucp_worker_iface_t *wiface = &worker->ifaces[i];
        ucp_resource_t *resource   =
                &worker->context->resources[wiface->resource];
        uint8_t *next;

        if (((wiface->attr->base.priority > 0) == preferred) &&
            is_packed(wiface, resource, flags)) {
            next = put_iface(p, wiface, resource);
            p    = (next != NULL) ? next : p;
        }
    }
    return p;
}

ucs_status_t ucp_address_pack(ucp_worker_h worker, unsigned flags,
                              void **address_p, size_t *length_p)
{
    uint8_t *buffer = calloc(1, packed_bound(worker));
    uint8_t *p;

    if (buffer == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    p = put_number(buffer + sizeof(header_t), FIELD_UUID, worker->uuid);
    p = put_number(p, FIELD_HOST, ucs_machine_guid());
    p = put_field(p, FIELD_NAME, worker->name, strlen(worker->name));
    p = put_ifaces(p, worker, flags, 1);
    p = put_ifaces(p, worker, flags, 0);

    if (p - buffer > MAX_LENGTH) {
        ucs_error("the address of worker %s would be %td bytes long, of at"
                  " most %d; limit the devices by UCX_NET_DEVICES",
                  worker->name, p - buffer, MAX_LENGTH);
        free(buffer);
        return UCS_ERR_EXCEEDS_LIMIT;
    }

    seal(buffer, (size_t)(p - buffer));
    *address_p = buffer;
    *length_p  = (size_t)(p - buffer);
    return UCS_OK;
}

/* Appends those interfaces that are on the device, or those that are not, as
 * far as they fit before `limit`. */
static uint8_t *put_near(uint8_t *p, const uint8_t *limit, ucp_worker_h worker,
                         const char *dev_name, int on_device)
{
    unsigned i;

    for (i = 0; i < worker->num_ifaces; ++i) {
        ucp_worker_iface_t *wiface = &worker->ifaces[i];
        ucp_resource_t *resource   =
                &worker->context->resources[wiface->resource];
        uint8_t *next;

        if (((strcmp(resource->dev_name, dev_name) == 0) != on_device) ||
            !is_packed(wiface, resource, 0)) {
            continue;
        }
        if (!on_device && (resource->dev_type == UCT_DEVICE_TYPE_NET) &&
            !worker->context->options.cm_use_all_devices) {
            continue;
        }
        next = put_iface(p, wiface, resource);
        p    = ((next != NULL) && (next <= limit)) ? next : p;
    }
    return p;
}

ucs_status_t ucp_address_pack_near(ucp_worker_h worker, const char *dev_name,
                                   size_t max_length, void **address_p,
                                   size_t *length_p)
{
    size_t name_length = strlen(worker->name);
    uint8_t *buffer    = calloc(1, packed_bound(worker));
    uint8_t *p, *first, *limit;

    if (buffer == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    limit = buffer + ((max_length < MAX_LENGTH) ? max_length : MAX_LENGTH);
    first = put_number(buffer + sizeof(header_t), FIELD_UUID, worker->uuid);
    p     = put_near(first, limit, worker, dev_name, 1);
    p     = put_near(p, limit, worker, dev_name, 0);
    if (p == first) {
        ucs_error("%zu bytes of private data do not hold the address of one"
                  " device of worker %s", max_length, worker->name);
        free(buffer);
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    /* what else fits, the more useful first */
    if (sizeof(field_t) + sizeof(ucp_le64_t) <= (size_t)(limit - p)) {
        p = put_number(p, FIELD_HOST, ucs_machine_guid());
        if (name_length + sizeof(field_t) <= (size_t)(limit - p)) {
            p = put_field(p, FIELD_NAME, worker->name, name_length);
        }
    }

    seal(buffer, (size_t)(p - buffer));
    *address_p = buffer;
    *length_p  = (size_t)(p - buffer);
    return UCS_OK;
}

/* ----------------------------------------------------------- unpacking -- */

/* What is left of the bytes that are being read. */
typedef struct {
    const uint8_t *p;
    size_t        left;
} reader_t;

static const uint8_t *take(reader_t *reader, size_t length)
{
    const uint8_t *p = reader->p;

    if (length > reader->left) {
        return NULL;
    }
    reader->p    += length;
    reader->left -= length;
    return p;
}

static const uint8_t *take_counted(reader_t *reader, uint8_t *length_p)
{
    const uint8_t *count = take(reader, 1);

    if (count == NULL) {
        return NULL;
    }
    *length_p = *count;
    return take(reader, *count);
}

static ucs_status_t unpack_resource(reader_t value, ucp_address_info_t *info)
{
    ucp_address_entry_t *entry;
    const uint8_t *name, *index;
    uint8_t name_length = 0;

    if (info->num_entries == UCP_MAX_RESOURCES) {
        return UCS_OK; /* more than anybody has: the first will do */
    }

    entry = &info->entries[info->num_entries];
    name  = take_counted(&value, &name_length);
    entry->dev_addr   = (name == NULL) ? NULL :
                        take_counted(&value, &entry->dev_addr_length);
    entry->iface_addr = (entry->dev_addr == NULL) ? NULL :
                        take_counted(&value, &entry->iface_addr_length);
    if ((entry->iface_addr == NULL) || (name_length == 0) ||
        (name_length >= sizeof(entry->tl_name)) ||
        (memchr(name, '\0', name_length) != NULL)) {
        return UCS_ERR_INVALID_ADDR;
    }

    memcpy(entry->tl_name, name, name_length);
    entry->tl_name[name_length] = '\0';
    index                       = take(&value, 1);
    entry->md_index             = (index != NULL) ? *index : UCP_NULL_MD;
    index                       = take(&value, 1);
    entry->iface_index          = (index != NULL) ? *index : UCP_NULL_IFACE;
    ++info->num_entries;
    return UCS_OK;
}

static ucs_status_t unpack_number(reader_t value, uint64_t *number_p)
{
    ucp_le64_t number;

    if (value.left != sizeof(number)) {
        return UCS_ERR_INVALID_ADDR;
    }
    memcpy(&number, value.p, sizeof(number));
    *number_p = ucp_le64_get(number);
    return UCS_OK;
}

static ucs_status_t unpack_field(uint8_t type, reader_t value,
                                 ucp_address_info_t *info)
{
    switch (type) {
    case FIELD_UUID:
        return unpack_number(value, &info->uuid);
    case FIELD_HOST:
        return unpack_number(value, &info->host);
    case FIELD_NAME:
        if (value.left >= sizeof(info->name)) {
            return UCS_ERR_INVALID_ADDR;
        }
        memcpy(info->name, value.p, value.left);
        info->name[value.left] = '\0';
        return UCS_OK;
    case FIELD_RESOURCE:
        return unpack_resource(value, info);
    default:
        return UCS_OK;
    }
}

size_t ucp_address_length(const void *address)
{
    header_t header;
    uint16_t length;

    memcpy(&header, address, sizeof(header));
    length = ucp_le16_get(header.length);
    if ((ucp_le16_get(header.magic) != MAGIC) || (header.version < VERSION) ||
        (length < sizeof(header)) ||
        ((length ^ ucp_le16_get(header.inverse)) != UINT16_MAX)) {
        return 0;
    }
    return length;
}

ucs_status_t ucp_address_unpack(const void *address, size_t length,
                                ucp_address_info_t *info)
{
    const char *reason = "no address at all";
    const uint8_t *field_bytes, *value_bytes;
    reader_t reader, value;
    header_t header;
    field_t field;

    info->uuid        = 0;
    info->host        = 0;
    info->name[0]     = '\0';
    info->num_entries = 0;

    if ((length < sizeof(header)) || (ucp_address_length(address) == 0)) {
        goto err;
    }

    memcpy(&header, address, sizeof(header));
    reason = "cut short";
    if (ucp_le16_get(header.length) > length) {
        goto err;
    }

    reader.p    = (const uint8_t *)address + sizeof(header);
    reader.left = ucp_le16_get(header.length) - sizeof(header);
    reason      = "damaged: the checksum does not fit";
    if (checksum(address, ucp_le16_get(header.length)) !=
        ucp_le32_get(header.checksum)) {
        goto err;
    }

    reason = "malformed";
    while (reader.left > 0) {
        field_bytes = take(&reader, sizeof(field));
        if (field_bytes == NULL) {
            goto err;
        }
        memcpy(&field, field_bytes, sizeof(field));
        value.left  = ucp_le16_get(field.length);
        value_bytes = take(&reader, value.left);
        if (value_bytes == NULL) {
            goto err;
        }
        value.p = value_bytes;
        if (unpack_field(field.type, value, info) != UCS_OK) {
            goto err;
        }
    }

    if (info->uuid != 0) {
        return UCS_OK;
    }
err:
    ucs_diag("refused a worker address of %zu bytes: %s", length, reason);
    return UCS_ERR_INVALID_ADDR;
}

int ucp_address_is_local(const ucp_address_info_t *info)
{
    return info->host == ucs_machine_guid();
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
