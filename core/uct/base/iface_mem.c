/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uct_iface_mem_alloc() and uct_iface_mem_free(). uct_iface_mem_free() has no
 * interface as an argument. Therefore memory from the mem_alloc slot of a
 * transport is recorded here with its interface, so that the mem_free slot of
 * the transport can free it. Memory from the default mem_alloc slot is not
 * recorded: uct_mem_free() frees it by its allocation method.
 */
#include <pthread.h>
#include <stdlib.h>
#include <uct/api/uct.h>

#include "uct/base/defaults.h"
#include "uct/base/state.h"

/* A block from the mem_alloc slot of a transport. */
typedef struct uct_iface_mem {
    struct uct_iface_mem *next;
    void *address;     /* start of the block */
    uct_iface_h iface; /* that has allocated it */
} uct_iface_mem_t;

static pthread_mutex_t uct_iface_mem_lock = PTHREAD_MUTEX_INITIALIZER;
static uct_iface_mem_t *uct_iface_mems; /* all such blocks; under the lock */

static void uct_iface_mem_remember(uct_iface_mem_t *entry, uct_iface_h iface,
                                   void *address)
{
    entry->iface   = iface;
    entry->address = address;
    pthread_mutex_lock(&uct_iface_mem_lock);
    entry->next    = uct_iface_mems;
    uct_iface_mems = entry;
    pthread_mutex_unlock(&uct_iface_mem_lock);
}

/* Removes the record of a memory block and returns its interface. Returns NULL
 * if there is no record. */
static uct_iface_h uct_iface_mem_forget(const void *address)
{
    uct_iface_h iface = NULL;
    uct_iface_mem_t **link, *entry;

    pthread_mutex_lock(&uct_iface_mem_lock);
    for (link = &uct_iface_mems; (entry = *link) != NULL; link = &entry->next) {
        if (entry->address == address) {
            iface = entry->iface;
            *link = entry->next;
            free(entry);
            break;
        }
    }
    pthread_mutex_unlock(&uct_iface_mem_lock);

    return iface;
}

ucs_status_t uct_iface_mem_alloc(uct_iface_h iface, size_t length,
                                 unsigned flags, const char *name,
                                 uct_allocated_memory_t *mem)
{
    uct_iface_mem_t *entry;
    ucs_status_t status;

    if ((length == 0) || (mem == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    if (iface->ops->mem_alloc == uct_default_iface_ops.mem_alloc) {
        return iface->ops->mem_alloc(iface, length, flags, name, mem);
    }

    entry = malloc(sizeof(*entry));
    if (entry == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    status = iface->ops->mem_alloc(iface, length, flags, name, mem);
    if (status != UCS_OK) {
        free(entry);
        return status;
    }

    uct_iface_mem_remember(entry, iface, mem->address);
    return UCS_OK;
}

void uct_iface_mem_free(const uct_allocated_memory_t *mem)
{
    uct_iface_h iface;

    if (mem == NULL) {
        return;
    }

    iface = uct_iface_mem_forget(mem->address);
    if (iface != NULL) {
        iface->ops->mem_free(iface, mem);
    } else {
        (void)uct_mem_free(mem);
    }
}
