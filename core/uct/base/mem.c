/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uct_mem_alloc(): tries each method of the caller's list until one succeeds. A
 * method that cannot satisfy the request is skipped without a message. For
 * example, the heap cannot provide a fixed address, and only a memory domain
 * can provide device memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <uct/api/uct.h>

#include "ucs/debug/log.h"
#include "ucs/sys/math.h"
#include "ucs/sys/sys.h"
#include "uct/base/md.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* The parameters of an allocation, with defaults for those that the caller did
 * not set. */
typedef struct uct_mem_request {
    size_t length;  /* bytes */
    unsigned flags; /* UCT_MD_MEM_* */
    void *address;  /* required address with UCT_MD_MEM_FLAG_FIXED; otherwise a
                     * hint, or NULL */
    ucs_memory_type_t mem_type;
    const uct_md_h *mds; /* domains for the method "md", in this order */
    unsigned num_mds;    /* length of that array */
    const char *name;    /* of the allocation, for messages */
    ucs_sys_device_t sys_device; /* device of the memory, or
                                  * UCS_SYS_DEVICE_ID_UNKNOWN */
    uint64_t secret;             /* see uct_mem_alloc_secret() */
} uct_mem_request_t;

static ucs_status_t uct_mem_request_init(uct_mem_request_t *request,
                                         size_t length,
                                         const uct_mem_alloc_params_t *params)
{
    const uint64_t mask = params->field_mask;

    *request = (uct_mem_request_t){
        .length = length,
        .flags  = UCT_MD_MEM_ACCESS_LOCAL_READ | UCT_MD_MEM_ACCESS_LOCAL_WRITE,
        .mem_type   = UCS_MEMORY_TYPE_HOST,
        .name       = "anonymous-uct_mem_alloc",
        .sys_device = UCS_SYS_DEVICE_ID_UNKNOWN,
    };

    if (mask & UCT_MEM_ALLOC_PARAM_FIELD_FLAGS) {
        request->flags = params->flags;
    }
    if (mask & UCT_MEM_ALLOC_PARAM_FIELD_ADDRESS) {
        request->address = params->address;
    }
    if (mask & UCT_MEM_ALLOC_PARAM_FIELD_MEM_TYPE) {
        request->mem_type = params->mem_type;
    }
    if (mask & UCT_MEM_ALLOC_PARAM_FIELD_MDS) {
        request->mds     = params->mds.mds;
        request->num_mds = params->mds.count;
    }
    if ((mask & UCT_MEM_ALLOC_PARAM_FIELD_NAME) && (params->name != NULL)) {
        request->name = params->name;
    }
    if (mask & UCT_MEM_ALLOC_PARAM_FIELD_SYS_DEVICE) {
        request->sys_device = params->sys_device;
    }

    if (length > PTRDIFF_MAX) {
        return UCS_ERR_NO_MEMORY; /* C permits no larger object */
    }

    if (((unsigned)request->mem_type >= UCS_MEMORY_TYPE_LAST) ||
        ((request->num_mds > 0) && (request->mds == NULL))) {
        return UCS_ERR_INVALID_PARAM;
    }

    /* a fixed address must be page-aligned */
    if ((request->flags & UCT_MD_MEM_FLAG_FIXED) &&
        ((request->address == NULL) ||
         ((uintptr_t)request->address % ucs_get_page_size() != 0))) {
        return UCS_ERR_INVALID_PARAM;
    }

    return UCS_OK;
}

static void uct_mem_fill(uct_allocated_memory_t *mem, uct_alloc_method_t method,
                         void *address, size_t length)
{
    *mem = (uct_allocated_memory_t){
        .address    = address,
        .length     = length,
        .method     = method,
        .mem_type   = UCS_MEMORY_TYPE_HOST,
        .memh       = UCT_MEM_HANDLE_NULL,
        .sys_device = UCS_SYS_DEVICE_ID_UNKNOWN,
    };
}

/* Returns the device that the domain has selected for the memory; for host
 * memory, or if the domain does not tell the device, the requested one. */
static ucs_sys_device_t uct_mem_device_of(const uct_allocated_memory_t *mem,
                                          const uct_mem_request_t *request)
{
    uct_md_mem_attr_t attr = {.field_mask = UCT_MD_MEM_ATTR_FIELD_SYS_DEV};

    if ((mem->mem_type == UCS_MEMORY_TYPE_HOST) ||
        (uct_md_mem_query(mem->md, mem->address, mem->length, &attr) !=
         UCS_OK)) {
        return request->sys_device;
    }
    return attr.sys_dev;
}

static ucs_status_t uct_mem_alloc_from_md(uct_md_h md,
                                          const uct_mem_request_t *request,
                                          uct_allocated_memory_t *mem)
{
    const ucx_md_attr_t *attr              = uct_md_attr(md);
    const ucx_mem_alloc_params_t md_params = {
        .size     = sizeof(md_params),
        .flags    = request->flags,
        .mem_type = request->mem_type,
        .sys_dev  = request->sys_device,
        .name     = request->name,
        .secret   = request->secret,
    };
    size_t length = request->length;
    void *address = request->address;
    uct_mem_h memh;
    ucs_status_t status;

    if (!(attr->flags & UCT_MD_FLAG_ALLOC) ||
        !(attr->alloc_mem_types & UCS_BIT(request->mem_type)) ||
        ((request->flags & UCT_MD_MEM_FLAG_FIXED) &&
         !(attr->flags & UCT_MD_FLAG_FIXED))) {
        return UCS_ERR_UNSUPPORTED;
    }

    if (length > attr->max_alloc) {
        return UCS_ERR_NO_MEMORY;
    }

    status = md->ops->mem_alloc(md, &length, &address, &md_params, &memh);
    if (status != UCS_OK) {
        return status;
    }

    uct_mem_fill(mem, UCT_ALLOC_METHOD_MD, address, length);
    mem->mem_type   = request->mem_type;
    mem->md         = md;
    mem->memh       = memh;
    mem->sys_device = uct_mem_device_of(mem, request);
    return UCS_OK;
}

static ucs_status_t uct_mem_alloc_md(const uct_mem_request_t *request,
                                     uct_allocated_memory_t *mem)
{
    ucs_status_t status = UCS_ERR_NO_MEMORY;
    unsigned i;

    for (i = 0; i < request->num_mds; ++i) {
        status = uct_mem_alloc_from_md(request->mds[i], request, mem);
        if (status == UCS_OK) {
            break;
        }
    }

    /* The status is that of the last domain. The other methods fail with
     * UCS_ERR_NO_MEMORY, so a domain that cannot allocate at all does too. */
    return (status == UCS_ERR_UNSUPPORTED) ? UCS_ERR_NO_MEMORY : status;
}

/* Returns whether the heap can satisfy the request. It cannot provide a fixed
 * address. It cannot lock memory either, because the memory shares pages with
 * other objects. */
static int uct_mem_fits_heap(const uct_mem_request_t *request)
{
    return (request->mem_type == UCS_MEMORY_TYPE_HOST) &&
           !(request->flags & (UCT_MD_MEM_FLAG_FIXED | UCT_MD_MEM_FLAG_LOCK));
}

static ucs_status_t uct_mem_alloc_heap(const uct_mem_request_t *request,
                                       uct_allocated_memory_t *mem)
{
    void *address;

    if (!uct_mem_fits_heap(request) ||
        (posix_memalign(&address, UCS_CACHE_LINE_SIZE, request->length) != 0)) {
        return UCS_ERR_NO_MEMORY;
    }

    uct_mem_fill(mem, UCT_ALLOC_METHOD_HEAP, address, request->length);
    return UCS_OK;
}

/* Returns the size in bytes of a transparent huge page, or 0 if they are
 * disabled. */
static size_t uct_thp_size(void)
{
    char line[128];
    long size;

    if ((ucs_read_file_line("/sys/kernel/mm/transparent_hugepage/enabled", line,
                            sizeof(line)) != UCS_OK) ||
        (strstr(line, "[never]") != NULL) ||
        (ucs_read_file_number(
             "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", &size) !=
         UCS_OK) ||
        (size <= 0) || !ucs_is_pow2((size_t)size)) {
        return 0;
    }
    return (size_t)size;
}

static ucs_status_t uct_mem_alloc_thp(const uct_mem_request_t *request,
                                      uct_allocated_memory_t *mem)
{
    size_t page = uct_thp_size();
    void *address;
    size_t length;

    /* skip requests for less than a huge page, which would waste most of it */
    if (!uct_mem_fits_heap(request) || (page == 0) ||
        (request->length < page) ||
        ucs_check_add(request->length, page - 1, &length)) {
        return UCS_ERR_NO_MEMORY;
    }

    length = ucs_align_down_pow2(length, page);
    if (posix_memalign(&address, page, length) != 0) {
        return UCS_ERR_NO_MEMORY;
    }

    if (madvise(address, length, MADV_HUGEPAGE) != 0) {
        free(address);
        return UCS_ERR_NO_MEMORY;
    }

    uct_mem_fill(mem, UCT_ALLOC_METHOD_THP, address, length);
    return UCS_OK;
}

/* Allocates by mmap(). The length is rounded up to pages of `page` bytes. */
static ucs_status_t uct_mem_alloc_map(const uct_mem_request_t *request,
                                      uct_alloc_method_t method, size_t page,
                                      int map_flags,
                                      uct_allocated_memory_t *mem)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | map_flags;
    void *address;
    size_t length;

    if ((request->mem_type != UCS_MEMORY_TYPE_HOST) || (page == 0) ||
        ucs_check_add(request->length, page - 1, &length)) {
        return UCS_ERR_NO_MEMORY;
    }

    length = ucs_align_down_pow2(length, page);
    if (request->flags & UCT_MD_MEM_FLAG_FIXED) {
        flags |= MAP_FIXED_NOREPLACE;
    }

    address = mmap(request->address, length, PROT_READ | PROT_WRITE, flags, -1,
                   0);
    if (address == MAP_FAILED) {
        return UCS_ERR_NO_MEMORY;
    }

    /* A kernel that does not know MAP_FIXED_NOREPLACE ignores it, and may
     * return another address. */
    if ((request->flags & UCT_MD_MEM_FLAG_FIXED) &&
        (address != request->address)) {
        goto err;
    }

    if ((request->flags & UCT_MD_MEM_FLAG_LOCK) &&
        (mlock(address, length) != 0)) {
        if (!(request->flags & UCT_MD_MEM_FLAG_HIDE_ERRORS)) {
            ucs_diag("%s: could not lock %zu bytes: %s; see `ulimit -l`",
                     request->name, length, strerror(errno));
        }
        goto err;
    }

    uct_mem_fill(mem, method, address, length);
    return UCS_OK;

err:
    munmap(address, length);
    return UCS_ERR_NO_MEMORY;
}

static ucs_status_t uct_mem_alloc_by(const uct_mem_request_t *request,
                                     uct_alloc_method_t method,
                                     uct_allocated_memory_t *mem)
{
    static const uct_alloc_method_t choice[] = {
        UCT_ALLOC_METHOD_MD,
        UCT_ALLOC_METHOD_THP,
        UCT_ALLOC_METHOD_HEAP,
        UCT_ALLOC_METHOD_MMAP,
    };
    ucs_status_t status = UCS_ERR_NO_MEMORY;
    unsigned i;

    switch (method) {
    case UCT_ALLOC_METHOD_THP:
        return uct_mem_alloc_thp(request, mem);
    case UCT_ALLOC_METHOD_MD:
        return uct_mem_alloc_md(request, mem);
    case UCT_ALLOC_METHOD_HEAP:
        return uct_mem_alloc_heap(request, mem);
    case UCT_ALLOC_METHOD_MMAP:
        return uct_mem_alloc_map(request, method, ucs_get_page_size(), 0, mem);
    case UCT_ALLOC_METHOD_HUGE:
        return uct_mem_alloc_map(request, method, ucs_get_huge_page_size(),
                                 MAP_HUGETLB, mem);
    case UCT_ALLOC_METHOD_DEFAULT:
        for (i = 0; (status != UCS_OK) && (i < ucs_static_array_size(choice));
             ++i) {
            status = uct_mem_alloc_by(request, choice[i], mem);
        }
        return status;
    default:
        return UCS_ERR_INVALID_PARAM;
    }
}

ucs_status_t uct_mem_alloc(size_t length, const uct_alloc_method_t *methods,
                           unsigned num_methods,
                           const uct_mem_alloc_params_t *params,
                           uct_allocated_memory_t *mem)
{
    return uct_mem_alloc_secret(length, methods, num_methods, params, 0, mem);
}

ucs_status_t uct_mem_alloc_secret(size_t length,
                                  const uct_alloc_method_t *methods,
                                  unsigned num_methods,
                                  const uct_mem_alloc_params_t *params,
                                  uint64_t secret, uct_allocated_memory_t *mem)
{
    uct_mem_request_t request;
    ucs_status_t status;
    unsigned i;

    if ((length == 0) || (methods == NULL) || (num_methods == 0) ||
        (params == NULL) || (mem == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    status = uct_mem_request_init(&request, length, params);
    if (status != UCS_OK) {
        return status;
    }
    request.secret = secret;

    for (i = 0; i < num_methods; ++i) {
        status = uct_mem_alloc_by(&request, methods[i], mem);
        if ((status == UCS_OK) || (status == UCS_ERR_INVALID_PARAM)) {
            return status;
        }
    }

    if (!(request.flags & UCT_MD_MEM_FLAG_HIDE_ERRORS)) {
        ucs_diag("%s: none of %u methods could allocate %zu bytes: %s",
                 request.name, num_methods, length, ucs_status_string(status));
    }
    return status;
}

ucs_status_t uct_mem_free(const uct_allocated_memory_t *mem)
{
    if (mem == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }

    switch (mem->method) {
    case UCT_ALLOC_METHOD_MD:
        return mem->md->ops->mem_free(mem->md, mem->memh);
    case UCT_ALLOC_METHOD_THP:
    case UCT_ALLOC_METHOD_HEAP:
        free(mem->address);
        return UCS_OK;
    case UCT_ALLOC_METHOD_MMAP:
    case UCT_ALLOC_METHOD_HUGE:
        return (munmap(mem->address, mem->length) == 0) ? UCS_OK :
                                                          UCS_ERR_INVALID_PARAM;
    default:
        return UCS_ERR_INVALID_PARAM;
    }
}
