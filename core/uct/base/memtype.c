/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types of memory. Announced ranges are kept sorted and apart in an array:
 * there are few of them, and each is looked up far more often than changed.
 */
#include "uct/base/memtype.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ucm/memtype.h"
#include "ucs/debug/log.h"
#include "uct/base/md.h"

typedef struct uct_memtype_range {
    uintptr_t         start;
    uintptr_t         end;      /* behind the last byte */
    ucs_memory_type_t type;
    ucs_sys_device_t  sys_dev;
} uct_memtype_range_t;

static pthread_rwlock_t uct_memtype_lock = PTHREAD_RWLOCK_INITIALIZER;
static uct_memtype_range_t *uct_ranges;
static size_t uct_ranges_capacity;
static atomic_size_t uct_ranges_count;
static uct_md_h *uct_tellers;           /* open domains that tell types */
static atomic_uint uct_tellers_count;

/* Index of the first range that ends behind `address`; with the lock held. */
static size_t uct_ranges_search(uintptr_t address)
{
    size_t low = 0, high = atomic_load(&uct_ranges_count);

    while (low < high) {
        size_t middle = low + ((high - low) / 2);

        if (uct_ranges[middle].end > address) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* Room for two more ranges than there are. */
static int uct_ranges_reserve(void)
{
    size_t need = atomic_load(&uct_ranges_count) + 2;
    uct_memtype_range_t *ranges;

    if (need <= uct_ranges_capacity) {
        return 1;
    }

    need   = need * 2;
    ranges = realloc(uct_ranges, need * sizeof(*ranges));
    if (ranges == NULL) {
        return 0;
    }

    uct_ranges          = ranges;
    uct_ranges_capacity = need;
    return 1;
}

static void uct_ranges_insert(size_t index, const uct_memtype_range_t *range)
{
    size_t count = atomic_load(&uct_ranges_count);

    memmove(&uct_ranges[index + 1], &uct_ranges[index],
            (count - index) * sizeof(*uct_ranges));
    uct_ranges[index] = *range;
    atomic_store(&uct_ranges_count, count + 1);
}

static void uct_ranges_erase(size_t index)
{
    size_t count = atomic_load(&uct_ranges_count) - 1;

    memmove(&uct_ranges[index], &uct_ranges[index + 1],
            (count - index) * sizeof(*uct_ranges));
    atomic_store(&uct_ranges_count, count);
}

/* Takes [start, end) out, cutting what reaches beyond it. One range that
 * reaches beyond both ends becomes two: there must be room. */
static void uct_ranges_cut(uintptr_t start, uintptr_t end)
{
    size_t index = uct_ranges_search(start);
    uct_memtype_range_t rest;

    while ((index < atomic_load(&uct_ranges_count)) &&
           (uct_ranges[index].start < end)) {
        uct_memtype_range_t *range = &uct_ranges[index];

        if ((range->start < start) && (range->end > end)) {
            rest       = *range;
            rest.start = end;
            range->end = start;
            uct_ranges_insert(index + 1, &rest);
            return;
        }

        if (range->start < start) {
            range->end = start;
            ++index;
        } else if (range->end > end) {
            range->start = end;
            return;
        } else {
            uct_ranges_erase(index);
        }
    }
}

static int uct_range_is_valid(const void *address, size_t length)
{
    return (length > 0) && ((uintptr_t)address + length > (uintptr_t)address);
}

void uct_memtype_add(void *address, size_t length, ucs_memory_type_t type,
                     ucs_sys_device_t sys_dev)
{
    const uct_memtype_range_t range = {
        .start   = (uintptr_t)address,
        .end     = (uintptr_t)address + length,
        .type    = type,
        .sys_dev = sys_dev
    };

    if (!uct_range_is_valid(address, length) ||
        ((unsigned)type >= UCS_MEMORY_TYPE_LAST)) {
        return;
    }

    pthread_rwlock_wrlock(&uct_memtype_lock);
    if (uct_ranges_reserve()) {
        uct_ranges_cut(range.start, range.end);
        /* host memory is what is not listed */
        if (type != UCS_MEMORY_TYPE_HOST) {
            uct_ranges_insert(uct_ranges_search(range.start), &range);
        }
    } else {
        ucs_warn("no memory to note the type of %zu bytes at %p; domains will "
                 "be asked for it", length, address);
    }
    pthread_rwlock_unlock(&uct_memtype_lock);
    ucm_mem_type_alloc(address, length, type);
}

void uct_memtype_remove(void *address, size_t length)
{
    if (!uct_range_is_valid(address, length)) {
        return;
    }

    ucm_mem_type_free(address, length, UCS_MEMORY_TYPE_LAST);
    pthread_rwlock_wrlock(&uct_memtype_lock);
    if (uct_ranges_reserve()) {
        uct_ranges_cut((uintptr_t)address, (uintptr_t)address + length);
    }
    pthread_rwlock_unlock(&uct_memtype_lock);
}

ucs_status_t uct_memtype_md_opened(uct_md_h md)
{
    ucs_status_t status = UCS_OK;
    uct_md_h *tellers;
    unsigned count;

    if (uct_md_attr(md)->detect_mem_types == 0) {
        return UCS_OK;
    }

    pthread_rwlock_wrlock(&uct_memtype_lock);
    count   = atomic_load(&uct_tellers_count);
    tellers = realloc(uct_tellers, (count + 1) * sizeof(*tellers));
    if (tellers == NULL) {
        status = UCS_ERR_NO_MEMORY;
    } else {
        tellers[count] = md;
        uct_tellers    = tellers;
        atomic_store(&uct_tellers_count, count + 1);
    }
    pthread_rwlock_unlock(&uct_memtype_lock);
    return status;
}

void uct_memtype_md_closed(uct_md_h md)
{
    unsigned count, i;

    if (uct_md_attr(md)->detect_mem_types == 0) {
        return;
    }

    pthread_rwlock_wrlock(&uct_memtype_lock);
    count = atomic_load(&uct_tellers_count);
    for (i = 0; i < count; ++i) {
        if (uct_tellers[i] == md) {
            uct_tellers[i] = uct_tellers[count - 1];
            atomic_store(&uct_tellers_count, --count);
            break;
        }
    }
    if (count == 0) {
        free(uct_tellers);
        uct_tellers = NULL;
    }
    pthread_rwlock_unlock(&uct_memtype_lock);
}

/* Among what was announced; with the lock held. */
static int uct_memtype_announced(const void *address, ucx_mem_info_t *info)
{
    size_t index = uct_ranges_search((uintptr_t)address);
    const uct_memtype_range_t *range;

    if (index >= atomic_load(&uct_ranges_count)) {
        return 0;
    }

    range = &uct_ranges[index];
    if (range->start > (uintptr_t)address) {
        return 0;
    }

    info->type    = range->type;
    info->sys_dev = range->sys_dev;
    info->base    = (void *)range->start;
    info->length  = range->end - range->start;
    return 1;
}

/* By the domains' word; with the lock held. */
static int uct_memtype_told(const void *address, size_t length,
                            ucx_mem_info_t *info)
{
    unsigned i;

    for (i = 0; i < atomic_load(&uct_tellers_count); ++i) {
        uct_md_mem_attr_t attr = {
            .field_mask = UCT_MD_MEM_ATTR_FIELD_MEM_TYPE |
                          UCT_MD_MEM_ATTR_FIELD_SYS_DEV |
                          UCT_MD_MEM_ATTR_FIELD_BASE_ADDRESS |
                          UCT_MD_MEM_ATTR_FIELD_ALLOC_LENGTH
        };

        if ((uct_md_mem_query(uct_tellers[i], address, length, &attr) ==
             UCS_OK) &&
            (attr.mem_type != UCS_MEMORY_TYPE_UNKNOWN)) {
            info->type    = attr.mem_type;
            info->sys_dev = attr.sys_dev;
            info->base    = attr.base_address;
            info->length  = attr.alloc_length;
            return 1;
        }
    }
    return 0;
}

ucs_status_t uct_mem_detect(const void *address, size_t length,
                            ucx_mem_info_t *info)
{
    if ((info == NULL) || !UCX_TABLE_HAS(info, length)) {
        return UCS_ERR_INVALID_PARAM;
    }

    info->type    = UCS_MEMORY_TYPE_HOST;
    info->sys_dev = UCS_SYS_DEVICE_ID_UNKNOWN;
    info->base    = (void *)address;
    info->length  = length;

    if (((atomic_load_explicit(&uct_ranges_count, memory_order_acquire) == 0) &&
         (atomic_load_explicit(&uct_tellers_count, memory_order_acquire) ==
          0)) ||
        (address == NULL) || (length == 0)) {
        return UCS_OK;
    }

    pthread_rwlock_rdlock(&uct_memtype_lock);
    if (!uct_memtype_announced(address, info)) {
        (void)uct_memtype_told(address, length, info);
    }
    pthread_rwlock_unlock(&uct_memtype_lock);
    return UCS_OK;
}
