/* SPDX-License-Identifier: BSD-3-Clause */
/* The wire format of keys: see key.h. */
#include "key.h"

#include <endian.h>
#include <string.h>

typedef struct {
    uint8_t kind;
    uint8_t bus;
    uint8_t slot;
    uint8_t socket_high;
    uint16_t domain;
    uint16_t socket_low;
    uint32_t pid;
    uint32_t fd;
    uint64_t token;
    uint64_t start;
    uint64_t length;
    uint64_t id;
    char handle[ACCEL_HANDLE_SIZE];
} wire_t;

_Static_assert(sizeof(wire_t) == ACCEL_KEY_SIZE, "wire layout");
_Static_assert(offsetof(wire_t, handle) == 48, "wire layout");

enum { SLOT_BITS = 5 };

void accel_key_pack(const accel_key_t *key, void *buffer)
{
    wire_t wire = {
        .kind        = (uint8_t)key->kind,
        .bus         = key->pci.bus,
        .slot        = (uint8_t)(key->pci.slot | (key->pci.part << SLOT_BITS)),
        .socket_high = (uint8_t)(key->socket >> 16),
        .domain      = htole16(key->pci.domain),
        .socket_low  = htole16((uint16_t)key->socket),
        .pid         = htole32((uint32_t)key->owner.pid),
        .fd          = htole32((uint32_t)key->fd),
        .token       = htole64(key->owner.token),
        .start       = htole64(key->start),
        .length      = htole64(key->length),
        .id          = htole64(key->id),
    };

    memcpy(wire.handle, key->handle, sizeof(wire.handle));
    memcpy(buffer, &wire, sizeof(wire));
}

ucs_status_t accel_key_unpack(const void *buffer, size_t length,
                              accel_key_t *key)
{
    wire_t wire;

    if (length < sizeof(wire)) {
        return UCS_ERR_INVALID_PARAM;
    }
    memcpy(&wire, buffer, sizeof(wire));
    *key = (accel_key_t){
        .kind   = wire.kind,
        .owner  = {(pid_t)le32toh(wire.pid), le64toh(wire.token)},
        .pci    = {le16toh(wire.domain), wire.bus,
                   wire.slot & ((1 << SLOT_BITS) - 1), wire.slot >> SLOT_BITS},
        .fd     = (int)le32toh(wire.fd),
        .socket = ((unsigned)wire.socket_high << 16) | le16toh(wire.socket_low),
        .start  = le64toh(wire.start),
        .length = le64toh(wire.length),
        .id     = le64toh(wire.id),
    };
    memcpy(key->handle, wire.handle, sizeof(wire.handle));
    if ((wire.kind == 0) || (wire.kind > accel_driver.num_key_kinds) ||
        (key->owner.pid <= 0) || (key->owner.token == 0) ||
        (key->length == 0) || (key->start > UINT64_MAX - key->length)) {
        return UCS_ERR_INVALID_PARAM;
    }
    return UCS_OK;
}
