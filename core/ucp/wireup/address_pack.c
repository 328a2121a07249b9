/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packs worker addresses: UUID, machine, name and interfaces of the worker,
 * compression and header. address.h has the format.
 */
#include "ucp/wireup/address_format.h"

#include "ucp/stats/stats.h"
#include "ucs/debug/log.h"

#include <stdlib.h>
#include <string.h>

/* An address that is being written. `end`: index of the first unused byte. The
 * first START bytes are zero and not part of the address. */
typedef struct {
    size_t end;
    uint8_t bytes[UCP_SQUEEZE_MAX];
} writer_t;

static writer_t *writer_new(ucp_worker_h worker)
{
    ucp_le64_t uuid  = ucp_le64(worker->uuid);
    writer_t *writer = calloc(1, sizeof(*writer));

    if (writer != NULL) {
        memcpy(writer->bytes + START, &uuid, sizeof(uuid));
        writer->end = START + sizeof(uuid);
    }
    return writer;
}

/* Starts a field of `length` bytes and returns the place of its contents.
 * Returns NULL if the address would be too long. */
static uint8_t *put_field(writer_t *writer, uint8_t type, size_t length)
{
    size_t head = (length < LONG_FIELD) ? 2 : MAX_FIELD_HEAD;
    uint8_t *p  = writer->bytes + writer->end;

    if (head + length > sizeof(writer->bytes) - writer->end) {
        return NULL;
    }
    p[0] = type;
    p[1] = (uint8_t)((head == 2) ? length : LONG_FIELD);
    if (head != 2) {
        p[2] = (uint8_t)length;
        p[3] = (uint8_t)(length >> 8);
    }
    writer->end += head + length;
    return p + head;
}

static int put_host(writer_t *writer)
{
    ucp_le32_t host = ucp_le32(this_host());
    uint8_t *p      = put_field(writer, FIELD_HOST, sizeof(host));

    if (p != NULL) {
        memcpy(p, &host, sizeof(host));
    }
    return p != NULL;
}

/* Adds the worker's name, which peers use only in log messages and statistics.
 * Adds nothing if neither UCX_ADDRESS_DEBUG_INFO nor statistics are enabled.
 * Returns zero if the address would be too long. */
static int put_name(writer_t *writer, ucp_worker_h worker)
{
    size_t length = strlen(worker->name);
    uint8_t *p    = NULL;

    if (!worker->context->options.address_debug_info &&
        (worker->stats == NULL)) {
        return 1;
    }
    p = put_field(writer, FIELD_NAME, length);
    if (p != NULL) {
        memcpy(p, worker->name, length);
    }
    return p != NULL;
}

/* Starts the field of an interface and writes the code of its transport. The
 * caller writes the rest: one byte for the length of the device address, and
 * both addresses, which have `length` bytes together. Returns NULL if the
 * address would be too long. */
static uint8_t *put_resource(writer_t *writer, unsigned md_index,
                             unsigned iface_index, uint16_t code, size_t length)
{
    int far = (md_index > MAX_MD) || (iface_index > MAX_IFACE);
    uint8_t *p;

    p = put_field(writer,
                  far ? FIELD_FAR_RESOURCE :
                        (uint8_t)(FIELD_RESOURCE | (md_index << MD_SHIFT) |
                                  iface_index),
                  (far ? 2 : 0) + RESOURCE_HEAD + length);
    if (p == NULL) {
        return NULL;
    }
    if (far) {
        *p++ = (uint8_t)md_index;
        *p++ = (uint8_t)iface_index;
    }
    *p++ = (uint8_t)code;
    *p++ = (uint8_t)(code >> 8);
    return p;
}

/* Adds an interface. Returns zero if the address would be too long. An
 * interface that fails to return its addresses is skipped, and the result is
 * non-zero. */
static int put_iface(writer_t *writer, ucp_worker_iface_t *wiface,
                     const ucp_resource_t *resource)
{
    const uct_iface_attr_t *attr = &wiface->attr->base;
    uint8_t device[UINT8_MAX] = {0}, own[UINT8_MAX] = {0};
    size_t iface_addr_len = 0;
    uint8_t *p;

    if (uct_iface_get_device_address(wiface->iface,
                                     (uct_device_addr_t *)device) != UCS_OK) {
        return 1;
    }
    /* an interface that only connects endpoint to endpoint has no address of
     * its own */
    if (attr->cap.flags & UCT_IFACE_FLAG_CONNECT_TO_IFACE) {
        iface_addr_len = attr->iface_addr_len;
        if (uct_iface_get_address(wiface->iface, (uct_iface_addr_t *)own) !=
            UCS_OK) {
            return 1;
        }
    }

    p = put_resource(writer, resource->md_index,
                     (unsigned)(wiface - wiface->worker->ifaces),
                     ucp_address_tl_code(resource->tl_name),
                     attr->device_addr_len + iface_addr_len);
    if (p == NULL) {
        return 0;
    }
    *p++ = (uint8_t)attr->device_addr_len;
    memcpy(p, device, attr->device_addr_len);
    memcpy(p + attr->device_addr_len, own, iface_addr_len);
    return 1;
}

static int is_packed(ucp_worker_iface_t *wiface, const ucp_resource_t *resource,
                     unsigned flags)
{
    const uct_iface_attr_t *attr = &wiface->attr->base;

    if ((flags & UCP_WORKER_ADDRESS_FLAG_NET_ONLY) &&
        (resource->dev_type != UCT_DEVICE_TYPE_NET)) {
        return 0;
    }
    return (attr->cap.flags &
            (UCT_IFACE_FLAG_CONNECT_TO_IFACE | UCT_IFACE_FLAG_CONNECT_TO_EP)) &&
           (attr->device_addr_len <= UINT8_MAX) &&
           (attr->iface_addr_len <= UINT8_MAX);
}

/* Compresses the written bytes and adds the header (base/seal.h), in memory
 * that the caller frees. */
static ucs_status_t seal(const writer_t *writer, void **address_p,
                         size_t *length_p)
{
    size_t bound = ucp_squeeze_bound(writer->end - START);
    uint8_t *buffer;
    size_t body, header;

    buffer = malloc(UCP_SEAL_MAX_HEADER + bound);
    if (buffer == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    body   = ucp_squeeze(writer->bytes, START, writer->end, buffer);
    header = ucp_seal_header(body);
    memmove(buffer + header, buffer, body);
    ucp_seal_close(buffer, header + body, UCP_SEAL_ADDRESS);
    *address_p = buffer;
    *length_p  = header + body;
    return UCS_OK;
}

/* Appends the interfaces whose transports declare a positive priority if
 * `preferred` is set, otherwise all others. The caller appends the preferred
 * ones first, because a peer selects the first of equal candidates. */
static int put_ifaces(writer_t *writer, ucp_worker_h worker, unsigned flags,
                      int preferred)
{
    int fits = 1;
    unsigned i;

    for (i = 0; (i < worker->num_ifaces) && fits; ++i) {
        ucp_worker_iface_t *wiface = &worker->ifaces[i];
        ucp_resource_t *resource =
            &worker->context->resources[wiface->resource];

        if (((wiface->attr->base.priority > 0) == preferred) &&
            is_packed(wiface, resource, flags)) {
            fits = put_iface(writer, wiface, resource);
        }
    }
    return fits;
}

ucs_status_t ucp_address_pack(ucp_worker_h worker, unsigned flags,
                              void **address_p, size_t *length_p)
{
    writer_t *writer = writer_new(worker);
    ucs_status_t status;

    if (writer == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    if (put_host(writer) && put_name(writer, worker) &&
        put_ifaces(writer, worker, flags, 1) &&
        put_ifaces(writer, worker, flags, 0)) {
        status = seal(writer, address_p, length_p);
    } else {
        ucs_error("the address of worker %s would have more than %zu bytes;"
                  " limit the devices by UCX_NET_DEVICES",
                  worker->name, sizeof(writer->bytes) - START);
        status = UCS_ERR_EXCEEDS_LIMIT;
    }
    free(writer);
    return status;
}

/* Returns non-zero if the compressed address with its header has at most
 * `max_length` bytes. */
static int fits(const writer_t *writer, size_t max_length)
{
    size_t length = SIZE_MAX;
    void *address;

    if (seal(writer, &address, &length) == UCS_OK) {
        free(address);
    }
    return length <= max_length;
}

/* Appends interfaces: if `on_device` is set, those on the device `dev_name`,
 * otherwise all others. Of the others, network devices are added only if the
 * option cm_use_all_devices is set. Skips an interface with which the address
 * would have more than `max_length` bytes. Returns the number of interfaces
 * that were added. */
static unsigned put_near(writer_t *writer, size_t max_length,
                         ucp_worker_h worker, const char *dev_name,
                         int on_device)
{
    unsigned count = 0, i;

    for (i = 0; i < worker->num_ifaces; ++i) {
        ucp_worker_iface_t *wiface = &worker->ifaces[i];
        ucp_resource_t *resource =
            &worker->context->resources[wiface->resource];
        size_t before = writer->end;

        if (((strcmp(resource->dev_name, dev_name) == 0) != on_device) ||
            !is_packed(wiface, resource, 0)) {
            continue;
        }
        if (!on_device && (resource->dev_type == UCT_DEVICE_TYPE_NET) &&
            !worker->context->options.cm_use_all_devices) {
            continue;
        }
        if (put_iface(writer, wiface, resource) && fits(writer, max_length)) {
            count += (writer->end > before);
        } else {
            writer->end = before;
        }
    }
    return count;
}

ucs_status_t ucp_address_pack_near(ucp_worker_h worker, const char *dev_name,
                                   size_t max_length, void **address_p,
                                   size_t *length_p)
{
    writer_t *writer = writer_new(worker);
    ucs_status_t status;
    size_t before;

    if (writer == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    if (put_near(writer, max_length, worker, dev_name, 1) +
            put_near(writer, max_length, worker, dev_name, 0) ==
        0) {
        ucs_error("%zu bytes of private data do not hold the address of one"
                  " device of worker %s",
                  max_length, worker->name);
        status = UCS_ERR_EXCEEDS_LIMIT;
        goto out;
    }
    /* Add the optional fields if they fit. The host is more useful than the
     * name: peers use it to estimate costs, and the name only in log
     * messages */
    before = writer->end;
    if (put_host(writer) && fits(writer, max_length)) {
        before = writer->end;
        if (put_name(writer, worker) && fits(writer, max_length)) {
            before = writer->end;
        }
    }
    writer->end = before;
    status      = seal(writer, address_p, length_p);
out:
    free(writer);
    return status;
}
