/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory types of addresses (memtype.h). Memory that plugins announce is
 * recorded in the cache of libucs (ucs/memory/memtype.h). For other memory,
 * libucs calls uct_memtype_told(), which queries the open memory domains that
 * detect types. libucs may remember which pages are host memory, so that it
 * does not call the function for them again.
 */
#include "uct/base/memtype.h"

#include <pthread.h>
#include <stdlib.h>

#include "ucm/memtype.h"
#include "ucs/memory/memtype.h"
#include "uct/base/md.h"
#include "uct/base/mem_events.h"

static pthread_rwlock_t uct_tellers_lock = PTHREAD_RWLOCK_INITIALIZER;
static uct_md_h *uct_tellers;      /* open domains that detect memory types */
static unsigned uct_tellers_count; /* length of that array */

/* Protects the two variables below. The subscription to memory events takes the
 * dynamic linker's lock while it holds this one. The detection of a type must
 * not wait for that, so uct_tellers_lock is separate. */
static pthread_mutex_t uct_listen_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned uct_listen_count; /* number of open domains that detect types */
static int uct_is_listening;      /* subscribed to memory events */

static int uct_range_is_valid(const void *address, size_t length)
{
    return (length > 0) && ((uintptr_t)address + length > (uintptr_t)address);
}

void uct_memtype_add(void *address, size_t length, ucs_memory_type_t type,
                     ucs_sys_device_t sys_dev)
{
    if (!uct_range_is_valid(address, length) ||
        ((unsigned)type >= UCS_MEMORY_TYPE_LAST)) {
        return;
    }

    ucs_memtype_cache_update(address, length, type, sys_dev, 0);
    ucm_mem_type_alloc(address, length, type);
}

void uct_memtype_remove(void *address, size_t length)
{
    if (!uct_range_is_valid(address, length)) {
        return;
    }

    ucm_mem_type_free(address, length, UCS_MEMORY_TYPE_LAST);
    ucs_memtype_cache_remove(address, length);
}

/* The detector of libucs (ucs_memtype_detector_t): called for an address whose
 * type is not recorded. Queries the domains until one of them knows the
 * type. */
static int uct_memtype_told(const void *address, size_t length,
                            ucs_memory_info_t *info, uint32_t *place_p)
{
    int is_known = 0;
    ucx_mem_attr_t attr;
    unsigned i;

    pthread_rwlock_rdlock(&uct_tellers_lock);
    for (i = 0; (i < uct_tellers_count) && !is_known; ++i) {
        if ((uct_md_mem_info(uct_tellers[i], address, length, 0, &attr) ==
             UCS_OK) &&
            (attr.mem_type != UCS_MEMORY_TYPE_UNKNOWN)) {
            info->type         = attr.mem_type;
            info->sys_dev      = attr.sys_dev;
            info->base_address = attr.base_address;
            info->alloc_length = attr.alloc_length;
            *place_p           = attr.place;
            is_known           = 1;
        }
    }
    pthread_rwlock_unlock(&uct_tellers_lock);
    return is_known;
}

static void uct_memtype_unmapped(ucx_mem_event_t event, void *address,
                                 size_t length, void *arg)
{
    ucs_memtype_forget_range(address, length);
}

/* Called when a domain that detects types was opened. If it is the first one,
 * subscribes to memory events. If that succeeds, every unmapping is reported,
 * so that libucs can remember which pages are host memory. Otherwise libucs
 * queries the domains for each address. */
static void uct_memtype_listen(void)
{
    pthread_mutex_lock(&uct_listen_lock);
    if (uct_listen_count++ == 0) {
        uct_is_listening = (uct_host_mem_event_subscribe(UCX_MEM_EVENT_UNMAPPED,
                                                         uct_memtype_unmapped,
                                                         NULL) == UCS_OK);
        ucs_memtype_remember_pages(uct_is_listening);
    }
    pthread_mutex_unlock(&uct_listen_lock);
}

static void uct_memtype_stop_listening(void)
{
    pthread_mutex_lock(&uct_listen_lock);
    if ((--uct_listen_count == 0) && uct_is_listening) {
        ucs_memtype_remember_pages(0);
        uct_host_mem_event_unsubscribe(uct_memtype_unmapped, NULL);
        uct_is_listening = 0;
    }
    pthread_mutex_unlock(&uct_listen_lock);
}

ucs_status_t uct_memtype_md_opened(uct_md_h md)
{
    ucs_status_t status = UCS_OK;
    uct_md_h *tellers;

    if (uct_md_attr(md)->detect_mem_types == 0) {
        return UCS_OK;
    }

    pthread_rwlock_wrlock(&uct_tellers_lock);
    tellers = realloc(uct_tellers, (uct_tellers_count + 1) * sizeof(*tellers));
    if (tellers == NULL) {
        status = UCS_ERR_NO_MEMORY;
    } else {
        uct_tellers                      = tellers;
        uct_tellers[uct_tellers_count++] = md;
    }
    pthread_rwlock_unlock(&uct_tellers_lock);
    if (status == UCS_OK) {
        ucs_memtype_detector_set(uct_memtype_told);
        uct_memtype_listen();
    }
    return status;
}

void uct_memtype_md_closed(uct_md_h md)
{
    int is_last;
    unsigned i;

    if (uct_md_attr(md)->detect_mem_types == 0) {
        return;
    }

    uct_memtype_stop_listening();
    pthread_rwlock_wrlock(&uct_tellers_lock);
    for (i = 0; i < uct_tellers_count; ++i) {
        if (uct_tellers[i] == md) {
            uct_tellers[i] = uct_tellers[--uct_tellers_count];
            break;
        }
    }
    is_last = (uct_tellers_count == 0);
    if (is_last) {
        free(uct_tellers);
        uct_tellers = NULL;
    }
    pthread_rwlock_unlock(&uct_tellers_lock);
    if (is_last) {
        ucs_memtype_detector_set(NULL);
    }
}

ucs_memory_type_t uct_mem_locate(const void *address, size_t length,
                                 uint32_t *place_p)
{
    ucs_memory_info_t found;

    *place_p = 0;
    return ((length > 0) &&
            (ucs_memtype_find(address, length, &found, place_p) == UCS_OK) &&
            (found.type != UCS_MEMORY_TYPE_UNKNOWN)) ?
               found.type :
               UCS_MEMORY_TYPE_HOST;
}

ucs_status_t uct_mem_detect(const void *address, size_t length,
                            ucx_mem_info_t *info)
{
    ucs_memory_info_t found;
    uint32_t place;

    if ((info == NULL) || !UCX_TABLE_HAS(info, length)) {
        return UCS_ERR_INVALID_PARAM;
    }

    info->type    = UCS_MEMORY_TYPE_HOST;
    info->sys_dev = UCS_SYS_DEVICE_ID_UNKNOWN;
    info->base    = (void *)address;
    info->length  = length;

    if (ucs_memtype_is_all_host() || (address == NULL) || (length == 0)) {
        return UCS_OK;
    }

    if ((ucs_memtype_find(address, length, &found, &place) == UCS_OK) &&
        (found.type != UCS_MEMORY_TYPE_UNKNOWN)) {
        info->type    = found.type;
        info->sys_dev = found.sys_dev;
        info->base    = found.base_address;
        info->length  = found.alloc_length;
    }
    return UCS_OK;
}
