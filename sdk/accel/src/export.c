/* SPDX-License-Identifier: BSD-3-Clause */
/* Export of device memory: see export.h. */
#include "export.h"
#include "process.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Maximum number of exports that are kept although no registration uses
 * them. */
enum { MAX_IDLE = 64 };

/* Returns whether the allocation is device memory and contains the whole
 * range. */
static int is_within(const accel_allocation_t *memory, uint64_t address,
                     size_t length)
{
    uint64_t offset = address - memory->start;

    return memory->is_device && (memory->id != 0) &&
           (address >= memory->start) && (offset < memory->length) &&
           (length <= memory->length - offset);
}

static accel_export_t *export_new(accel_md_t *md,
                                  const accel_allocation_t *memory,
                                  ucs_status_t *status_p)
{
    accel_export_t *export = calloc(1, sizeof(*export));
    accel_scope_t scope;
    uint64_t secret;
    int result;

    *status_p = (export == NULL) ? UCS_ERR_NO_MEMORY :
                                   accel_process_self(&export->key.owner);
    if (*status_p == UCS_OK) {
        *status_p = accel_secret(&secret);
    }
    if (*status_p == UCS_OK) {
        result = accel_pci_of(memory->device, &export->key.pci);
        if (result == UCS_OK) {
            result = accel_md_enter(md, memory->device, &scope);
        }
        if (result == UCS_OK) {
            export->key.start  = memory->start;
            export->key.length = memory->length;
            export->key.fd     = -1;
            export->id         = memory->id;

            result         = accel_driver.export_memory(memory, &export->key);
            export->key.id = (export->key.fd >= 0) ? secret : memory->id;
            accel_driver.leave(&scope);
        }
        *status_p = (result == UCS_OK) ? UCS_OK : UCS_ERR_UNSUPPORTED;
    }
    if (*status_p != UCS_OK) {
        free(export);
        return NULL;
    }
    return export;
}

/* -------------------------------------------------------------- the list -- */

static void drop(accel_export_t **link)
{
    accel_export_t *export = *link;

    *link = export->next;
    if (accel_driver.export_release != NULL) {
        accel_driver.export_release(&export->key);
    } else if (export->key.fd >= 0) {
        close(export->key.fd);
    }
    free(export);
}

/* Returns whether the exported memory is still allocated. */
static int is_current(const accel_export_t *export)
{
    accel_allocation_t memory;

    return (accel_driver.describe(export->key.start, &memory) == UCS_OK) &&
           (memory.start == export->key.start) && (memory.id == export->id);
}

/* Of the exports that no registration uses, drops those whose memory was freed,
 * and the least recently used ones beyond MAX_IDLE. */
static void tidy(accel_md_t *md)
{
    accel_export_t **link = &md->exports;
    unsigned idle         = 0;

    while (*link != NULL) {
        if (((*link)->users == 0) &&
            ((++idle > MAX_IDLE) || !is_current(*link))) {
            drop(link);
        } else {
            link = &(*link)->next;
        }
    }
}

/* Removes the export of this allocation from the list and returns the export,
 * or NULL if there is none. */
static accel_export_t *take(accel_md_t *md, const accel_allocation_t *memory)
{
    accel_export_t **link = &md->exports;
    accel_export_t *export;

    while (((export = *link) != NULL) &&
           ((export->key.start != memory->start) ||
            (export->id != memory->id) ||
            (export->key.length != memory->length))) {
        link = &export->next;
    }
    if (export != NULL) {
        *link = export->next;
    }
    return export;
}

ucs_status_t accel_export_get(accel_md_t *md, const void *address,
                              size_t length, accel_export_t **export_p)
{
    ucs_status_t status = UCS_OK;
    accel_export_t *export;
    accel_allocation_t memory;

    if ((accel_driver.describe((uintptr_t)address, &memory) != UCS_OK) ||
        !is_within(&memory, (uintptr_t)address, length)) {
        return UCS_ERR_UNSUPPORTED;
    }
    pthread_mutex_lock(&md->exports_lock);
    export = take(md, &memory);
    if (export == NULL) {
        tidy(md);
        export = export_new(md, &memory, &status);
    }
    if (export != NULL) {
        export->next = md->exports;
        md->exports  = export;
        ++export->users;
    }
    pthread_mutex_unlock(&md->exports_lock);
    *export_p = export;
    return status;
}

void accel_export_put(accel_md_t *md, accel_export_t *export)
{
    pthread_mutex_lock(&md->exports_lock);
    --export->users;
    pthread_mutex_unlock(&md->exports_lock);
}

/* Returns whether this is the packed key of the export. The name of the socket
 * is not compared, because it may have changed since the key was packed. */
static int has_key(const accel_export_t *export, const void *packed_key,
                   unsigned socket)
{
    accel_key_t key = export->key;
    char packed[ACCEL_KEY_SIZE];

    key.socket = socket;
    accel_key_pack(&key, packed);
    return memcmp(packed, packed_key, sizeof(packed)) == 0;
}

int accel_export_dup(accel_md_t *md, const void *packed_key)
{
    const accel_export_t *export;
    accel_key_t key;
    int fd = -1;

    if (accel_key_unpack(packed_key, ACCEL_KEY_SIZE, &key) != UCS_OK) {
        return -1;
    }
    pthread_mutex_lock(&md->exports_lock);
    for (export = md->exports; export != NULL; export = export->next) {
        if ((export->key.fd >= 0) && has_key(export, packed_key, key.socket)) {
            fd = fcntl(export->key.fd, F_DUPFD_CLOEXEC, 0);
            break;
        }
    }
    pthread_mutex_unlock(&md->exports_lock);
    return fd;
}

void accel_exports_close(accel_md_t *md)
{
    while (md->exports != NULL) {
        drop(&md->exports);
    }
}
