/* SPDX-License-Identifier: BSD-3-Clause */
/* Mappings of device memory: see mapping.h. */
#include "mapping.h"
#include "descriptor.h"
#include "process.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ----------------------------------------------------- opening, closing -- */

/* Returns whether the opened memory is as long as the key states. The length in
 * the key is untrusted input from the peer, and a copy beyond the end of the
 * memory would make the device's context unusable. */
static int is_as_long(const accel_mapping_t *mapping)
{
    const uint64_t address = mapping->opened.address;
    accel_memory_t memory;
    uint64_t offset;

    if ((accel_driver.find((void *)(uintptr_t)address, &memory) != UCS_OK) ||
        (memory.kind != ACCEL_DEVICE) || (address < (uintptr_t)memory.base)) {
        return 0;
    }
    offset = address - (uintptr_t)memory.base;
    return (offset <= memory.length) &&
           (memory.length - offset >= mapping->key.length);
}

/* Opens the memory of a mapping. The context of the device must be current. */
static int open_in_context(accel_mapping_t *mapping)
{
    int fd     = -1;
    int result = UCS_OK;

    if (mapping->key.fd >= 0) {
        fd = accel_descriptor_get(&mapping->key);
        if (fd < 0) {
            return UCS_ERR_REJECTED;
        }
    }
    result = accel_driver.open_memory(&mapping->key, fd, &mapping->opened);
    if (fd >= 0) {
        close(fd); /* The driver keeps the memory open without the descriptor */
    }
    if ((result == UCS_OK) && !is_as_long(mapping)) {
        accel_driver.close_memory(&mapping->key, &mapping->opened);
        result = UCS_ERR_INVALID_ADDR;
    }
    return result;
}

static int open_mapping(accel_mapping_t *mapping)
{
    accel_scope_t scope;
    int result;

    mapping->opened.device = accel_device_by_pci(&mapping->key.pci);
    if (mapping->opened.device < 0) {
        return UCS_ERR_NO_DEVICE;
    }
    result = accel_md_enter(mapping->list->md, mapping->opened.device, &scope);
    if (result == UCS_OK) {
        result = open_in_context(mapping);
        accel_driver.leave(&scope);
    }
    return result;
}

static void close_mapping(accel_mapping_t *mapping)
{
    accel_scope_t scope;

    /* With `is_lost`, the memory is closed already. */
    if (!mapping->is_lost &&
        (accel_md_enter(mapping->list->md, mapping->opened.device, &scope) ==
         UCS_OK)) {
        accel_driver.close_memory(&mapping->key, &mapping->opened);
        accel_driver.leave(&scope);
    }
    free(mapping);
}

static int has_kind(const accel_mapping_t *mapping, unsigned kinds)
{
    return (kinds & (1u << mapping->key.kind)) != 0;
}

/* ------------------------------------------------------------- the list -- */

/* Removes the mapping *link from the list. Closes the mapping if no operation
 * uses it; otherwise accel_mapping_put() closes it after the last operation. */
static void drop(accel_mappings_t *mappings, accel_mapping_t **link)
{
    accel_mapping_t *mapping = *link;

    *link              = mapping->next;
    mapping->is_listed = 0;
    --mappings->num;
    if (mapping->users == 0) {
        close_mapping(mapping);
    }
}

void accel_mapping_put(accel_mapping_t *mapping)
{
    accel_mapping_t **link = &mapping->list->first;

    if (--mapping->users > 0) {
        return;
    }
    if (!mapping->is_listed) {
        close_mapping(mapping);
    } else if ((mapping->list->max == 0) ||
               has_kind(mapping, accel_driver.transient_kinds)) {
        while (*link != mapping) {
            link = &(*link)->next;
        }
        drop(mapping->list, link);
    }
}

/* Returns whether the mapping is that of this key. The caller has compared the
 * owners. */
static int is_of(const accel_mapping_t *mapping, const accel_key_t *key)
{
    return (mapping->key.kind == key->kind) && (mapping->key.id == key->id) &&
           (mapping->key.start == key->start) &&
           (mapping->key.length == key->length) &&
           (memcmp(mapping->key.handle, key->handle, sizeof(key->handle)) == 0);
}

static int overlaps(const accel_mapping_t *mapping, const accel_key_t *key)
{
    return (mapping->key.start < key->start + key->length) &&
           (key->start < mapping->key.start + mapping->key.length);
}

/* Returns the mapping of a key and moves it to the start of the list, or
 * returns NULL. Drops mappings of other allocations of the same owner at these
 * addresses, because the owner has freed those allocations. */
static accel_mapping_t *find(accel_mappings_t *mappings, const accel_key_t *key)
{
    accel_mapping_t **link = &mappings->first;
    accel_mapping_t *mapping;

    while ((mapping = *link) != NULL) {
        if (!accel_process_is_same(&mapping->key.owner, &key->owner) ||
            !overlaps(mapping, key)) {
            link = &mapping->next;
        } else if (is_of(mapping, key)) {
            *link           = mapping->next;
            mapping->next   = mappings->first;
            mappings->first = mapping;
            return mapping;
        } else {
            drop(mappings, link);
        }
    }
    return NULL;
}

/* Drops the least recently used mappings beyond the maximum number. At least
 * the first one stays, because the caller is about to use it. */
static void limit(accel_mappings_t *mappings)
{
    unsigned keep          = (mappings->max > 0) ? mappings->max : 1;
    accel_mapping_t **link = &mappings->first;
    unsigned i;

    for (i = 0; (i < keep) && (*link != NULL); ++i) {
        link = &(*link)->next;
    }
    while (*link != NULL) {
        drop(mappings, link);
    }
}

ucs_status_t accel_mapping_get(accel_mappings_t *mappings,
                               const accel_key_t *key,
                               accel_mapping_t **mapping_p)
{
    const ucx_host_t *host   = mappings->md->host;
    accel_mapping_t *mapping = find(mappings, key);
    int result;

    if (mapping == NULL) {
        mapping = calloc(1, sizeof(*mapping));
        if (mapping == NULL) {
            return UCS_ERR_NO_MEMORY;
        }
        mapping->list = mappings;
        mapping->key  = *key;
        result        = open_mapping(mapping);
        if (result != UCS_OK) {
            ucx_diag("%s: %lu bytes at 0x%lx of process %d cannot be"
                     " opened: %s",
                     accel_driver.names.ipc_transport,
                     (unsigned long)key->length, (unsigned long)key->start,
                     (int)key->owner.pid, accel_error(result));
            free(mapping);
            return accel_status(result);
        }
        mapping->is_listed = 1;
        mapping->next      = mappings->first;
        mappings->first    = mapping;
        ++mappings->num;
        limit(mappings);
    }
    *mapping_p = mapping;
    return UCS_OK;
}

void accel_mappings_lost(accel_mappings_t *mappings, int device, int is_reset)
{
    accel_mapping_t **link = &mappings->first;

    while (*link != NULL) {
        if (((*link)->opened.device == device) &&
            has_kind(*link, accel_driver.lost_kinds)) {
            (*link)->is_lost = is_reset;
            drop(mappings, link);
        } else {
            link = &(*link)->next;
        }
    }
}

void accel_mappings_close(accel_mappings_t *mappings,
                          const accel_process_t *owner)
{
    accel_mapping_t **link = &mappings->first;

    while (*link != NULL) {
        if ((owner == NULL) ||
            accel_process_is_same(&(*link)->key.owner, owner)) {
            drop(mappings, link);
        } else {
            link = &(*link)->next;
        }
    }
}
