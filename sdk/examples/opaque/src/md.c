/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory domain. The pages of an allocation are mapped twice: at the user's
 * address without access rights, and at another address for the plugin's copies
 * (copy.c).
 */
#include "opaque.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The memory handle of an allocation, or of a registration of host memory. In
 * that of a registration all members are 0. */
typedef struct block {
    struct block *next;
    char *address; /* The user's address */
    char *shadow;  /* Address of the plugin's mapping of the same pages */
    size_t length; /* Bytes, a multiple of the page size */
    int fd;        /* The memory file that contains the pages */
} block_t;

/* Protects the list of allocations. All domains of the process share the list,
 * so that each domain detects the allocations of all. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static block_t *blocks;

static ucs_status_t md_query(uct_md_h md, ucx_md_attr_t *attr)
{
    const uint64_t host   = UCS_BIT(UCS_MEMORY_TYPE_HOST);
    const uint64_t opaque = UCS_BIT(OPAQUE_MEMORY_TYPE);

    (void)md;
    attr->flags            = UCT_MD_FLAG_ALLOC | UCT_MD_FLAG_REG;
    attr->max_alloc        = SIZE_MAX / 2;
    attr->max_reg          = SIZE_MAX;
    attr->reg_mem_types    = host;
    attr->detect_mem_types = opaque;
    attr->alloc_mem_types  = opaque;
    attr->access_mem_types = host | opaque;
    attr->reg_alignment    = 1;
    return UCS_OK;
}

/* Maps the pages at the user's address and at the plugin's address. Returns 0
 * on failure; block_free() then unmaps what was mapped. */
static int map_twice(block_t *block)
{
    char name[32];

    block->fd      = -1;
    block->shadow  = MAP_FAILED;
    /* Reserve the user's address first, because the name of the memory file
     * contains it */
    block->address = mmap(NULL, block->length, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block->address == MAP_FAILED) {
        return 0;
    }

    snprintf(name, sizeof(name), "opaque-%lx", (unsigned long)block->address);
    block->fd = memfd_create(name, MFD_CLOEXEC);
    if ((block->fd < 0) || (ftruncate(block->fd, (off_t)block->length) != 0)) {
        return 0;
    }

    block->shadow = mmap(NULL, block->length, PROT_READ | PROT_WRITE,
                         MAP_SHARED, block->fd, 0);
    return (block->shadow != MAP_FAILED) &&
           (mmap(block->address, block->length, PROT_NONE,
                 MAP_SHARED | MAP_FIXED, block->fd, 0) == block->address);
}

static void block_free(block_t *block)
{
    if (block->shadow != MAP_FAILED) {
        munmap(block->shadow, block->length);
    }
    if (block->fd >= 0) {
        close(block->fd);
    }
    if (block->address != MAP_FAILED) {
        munmap(block->address, block->length);
    }
    free(block);
}

static ucs_status_t mem_alloc(uct_md_h md, size_t *length, void **address,
                              const ucx_mem_alloc_params_t *params,
                              uct_mem_h *memh_p)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    block_t *block;

    (void)md;
    if ((params->mem_type != OPAQUE_MEMORY_TYPE) ||
        (params->flags & UCT_MD_MEM_FLAG_FIXED)) {
        return UCS_ERR_UNSUPPORTED;
    }

    block = malloc(sizeof(*block));
    if (block == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    block->length = (*length + page - 1) / page * page;
    if (!map_twice(block)) {
        block_free(block);
        return UCS_ERR_NO_MEMORY;
    }

    pthread_mutex_lock(&lock);
    block->next = blocks;
    blocks      = block;
    pthread_mutex_unlock(&lock);
    *length  = block->length;
    *address = block->address;
    *memh_p  = block;
    return UCS_OK;
}

static ucs_status_t mem_free(uct_md_h md, uct_mem_h memh)
{
    block_t *block = memh;
    block_t **link;

    (void)md;
    pthread_mutex_lock(&lock);
    for (link = &blocks; *link != block; link = &(*link)->next) {
    }
    *link = block->next;
    pthread_mutex_unlock(&lock);
    block_free(block);
    return UCS_OK;
}

static ucs_status_t mem_reg(uct_md_h md, void *address, size_t length,
                            const ucx_mem_reg_params_t *params,
                            uct_mem_h *memh_p)
{
    block_t *registration;

    (void)md;
    (void)address;
    (void)length;
    if (params->dmabuf_fd >= 0) {
        return UCS_ERR_UNSUPPORTED;
    }
    registration = calloc(1, sizeof(*registration));
    if (registration == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    *memh_p = registration;
    return UCS_OK;
}

static ucs_status_t mem_dereg(uct_md_h md, uct_mem_h memh,
                              const ucx_mem_dereg_params_t *params)
{
    (void)md;
    if (params->flags & UCX_MEM_DEREG_INVALIDATE) {
        return UCS_ERR_UNSUPPORTED;
    }
    free(memh);
    return UCS_OK;
}

/* Returns the allocation that contains an address, or NULL. Called with the
 * lock held. */
static const block_t *find(const char *address)
{
    const block_t *block;

    for (block = blocks; block != NULL; block = block->next) {
        if ((address >= block->address) &&
            (address < block->address + block->length)) {
            return block;
        }
    }
    return NULL;
}

static ucs_status_t mem_query(uct_md_h md, const void *address, size_t length,
                              ucx_mem_attr_t *attr)
{
    ucs_status_t status = UCS_ERR_INVALID_ADDR;
    const block_t *block;

    (void)md;
    (void)length;
    pthread_mutex_lock(&lock);
    block = find(address);
    if (block != NULL) {
        attr->mem_type     = OPAQUE_MEMORY_TYPE;
        attr->base_address = block->address;
        attr->alloc_length = block->length;
        status             = UCS_OK;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

void *opaque_touchable(const void *address, size_t length)
{
    const char *start = address;
    void *result      = (void *)address;
    const block_t *block;

    pthread_mutex_lock(&lock);
    block = find(start);
    if (block != NULL) {
        result = (length <= (size_t)(block->address + block->length - start)) ?
                     block->shadow + (start - block->address) :
                     NULL;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

const ucx_md_ops_t opaque_md_ops = {
    .size      = sizeof(opaque_md_ops),
    .close     = ucx_simple_md_close,
    .query     = md_query,
    .mem_alloc = mem_alloc,
    .mem_free  = mem_free,
    .mem_reg   = mem_reg,
    .mem_dereg = mem_dereg,
    .mem_query = mem_query,
};
