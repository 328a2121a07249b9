/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The domain allocates memory as unnamed files. A key contains the id of the
 * process and the number of the file descriptor, by which the peer opens the
 * file.
 */
#include "probe.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct probe_memory {
    void *address;
    size_t length;
    int fd;
} probe_memory_t;

typedef struct probe_key {
    uint32_t magic;
    int32_t pid;
    int32_t fd;
    uint32_t reserved;
    uint64_t address;
    uint64_t length;
    uint64_t sum;
} probe_key_t;

/* An unpacked key. */
typedef struct probe_mapping {
    char *map;
    uint64_t address;
    uint64_t length;
} probe_mapping_t;

ucs_status_t probe_md_resources(const ucx_component_t *component,
                                uct_md_resource_desc_t **mds_p, unsigned *num_p)
{
    uct_md_resource_desc_t *md = calloc(1, sizeof(*md));

    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    strcpy(md->md_name, "probe");
    *mds_p = md;
    *num_p = 1;
    return UCS_OK;
}

ucs_status_t probe_md_open(const ucx_component_t *component,
                           const ucx_md_open_args_t *args, uct_md_h *md_p)
{
    /* volatile: prevents the compiler from removing the leak */
    static void *volatile lost UCS_F_MAYBE_UNUSED;
    uct_md_t *md = calloc(1, sizeof(*md));

    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    if (probe_breaks("md-crashes")) {
        abort();
    } else if (probe_breaks("tables-change")) {
        ((ucx_component_t *)component)->flags ^= 2;
    } else if (probe_breaks("leaks")) {
        lost = malloc(512);
    }
    ucx_md_init(md, args);
    *md_p = md;
    return UCS_OK;
}

static void probe_md_close(uct_md_h md)
{
    free(md);
}

static ucs_status_t probe_md_query(uct_md_h md, ucx_md_attr_t *attr)
{
    attr->flags            = UCT_MD_FLAG_ALLOC | UCT_MD_FLAG_NEED_RKEY;
    attr->max_alloc        = (uint64_t)1 << 30;
    attr->alloc_mem_types  = UCS_BIT(UCS_MEMORY_TYPE_HOST);
    attr->access_mem_types = UCS_BIT(UCS_MEMORY_TYPE_HOST);
    attr->rkey_packed_size = sizeof(probe_key_t);
    if (probe_breaks("md-undeclared")) {
        attr->flags |= UCT_MD_FLAG_ADVISE;
    }
    return UCS_OK;
}

/* For the defect "md-races": makes probe_mem_alloc() take so long that two
 * threads are in it at once. */
static void linger(void)
{
    if (probe_breaks("md-races")) {
        usleep(1000);
    }
}

static ucs_status_t probe_mem_alloc(uct_md_h md, size_t *length, void **address,
                                    const ucx_mem_alloc_params_t *params,
                                    uct_mem_h *memh_p)
{
    static atomic_int inside;
    probe_memory_t *memory;
    ucs_status_t status = UCS_ERR_NO_MEMORY;
    int others          = atomic_fetch_add(&inside, 1);

    memory = calloc(1, sizeof(*memory));
    if ((memory == NULL) || ((others > 0) && probe_breaks("md-races"))) {
        goto err;
    }

    linger();
    memory->length = *length;
    memory->fd     = memfd_create("probe", MFD_CLOEXEC);
    if ((memory->fd < 0) || (ftruncate(memory->fd, (off_t)*length) != 0)) {
        goto err_fd;
    }
    memory->address = mmap(NULL, *length, PROT_READ | PROT_WRITE, MAP_SHARED,
                           memory->fd, 0);
    if (memory->address == MAP_FAILED) {
        goto err_fd;
    }
    *address = memory->address;
    *memh_p  = memory;
    atomic_fetch_sub(&inside, 1);
    return UCS_OK;

err_fd:
    if (memory->fd >= 0) {
        close(memory->fd);
    }
err:
    free(memory);
    atomic_fetch_sub(&inside, 1);
    return status;
}

static ucs_status_t probe_mem_free(uct_md_h md, uct_mem_h memh)
{
    probe_memory_t *memory = memh;

    munmap(memory->address, memory->length);
    close(memory->fd);
    free(memory);
    return UCS_OK;
}

/* --- Keys ---------------------------------------------------------------- */

static uint64_t key_sum(const probe_key_t *key)
{
    const uint8_t *byte = (const uint8_t *)key;
    uint64_t sum        = 0xcbf29ce484222325ull;
    size_t i;

    for (i = 0; i < offsetof(probe_key_t, sum); ++i) {
        sum = (sum ^ byte[i]) * 0x100000001b3ull;
    }
    return sum;
}

static ucs_status_t probe_mkey_pack(uct_md_h md, uct_mem_h memh, void *address,
                                    size_t length, unsigned flags, void *buffer)
{
    const probe_memory_t *memory = memh;
    probe_key_t key              = {
                     .magic   = PROBE_MAGIC,
                     .pid     = (int32_t)getpid(),
                     .fd      = memory->fd,
                     .address = (uintptr_t)memory->address,
                     .length  = memory->length,
    };

    if (flags != 0) {
        return UCS_ERR_UNSUPPORTED;
    }
    key.sum = key_sum(&key);
    memcpy(buffer, &key, sizeof(key));
    return UCS_OK;
}

static int key_is_good(const void *buffer, size_t length, probe_key_t *key)
{
    if ((length < sizeof(*key)) && !probe_breaks("key-trusts")) {
        return 0;
    }
    memcpy(key, buffer, sizeof(*key));
    return (key->magic == PROBE_MAGIC) && (key->sum == key_sum(key)) &&
           (key->length > 0);
}

ucs_status_t probe_rkey_unpack(const ucx_component_t *component,
                               const void *buffer, size_t length,
                               ucs_sys_device_t sys_dev, uct_rkey_t *rkey_p,
                               void **handle_p)
{
    probe_mapping_t *mapping;
    probe_key_t key;
    struct stat st;
    char path[64];
    int fd;

    if (!key_is_good(buffer, length, &key)) {
        return UCS_ERR_INVALID_PARAM;
    }

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)key.pid, (int)key.fd);
    fd      = open(path, O_RDWR | O_CLOEXEC);
    mapping = calloc(1, sizeof(*mapping));
    if ((fd < 0) || (mapping == NULL) || (fstat(fd, &st) != 0) ||
        ((uint64_t)st.st_size < key.length)) {
        goto err;
    }
    mapping->map = mmap(NULL, key.length, PROT_READ | PROT_WRITE, MAP_SHARED,
                        fd, 0);
    if (mapping->map == MAP_FAILED) {
        goto err;
    }
    close(fd);
    mapping->address = key.address;
    mapping->length  = key.length;
    *rkey_p          = (uintptr_t)mapping;
    *handle_p        = mapping;
    return UCS_OK;

err:
    if (fd >= 0) {
        close(fd);
    }
    free(mapping);
    return UCS_ERR_UNREACHABLE;
}

ucs_status_t probe_rkey_release(const ucx_component_t *component,
                                uct_rkey_t rkey, void *handle)
{
    probe_mapping_t *mapping = handle;

    munmap(mapping->map, mapping->length);
    free(mapping);
    return UCS_OK;
}

void *probe_rkey_at(uct_rkey_t rkey, uint64_t address, size_t length)
{
    const probe_mapping_t *mapping = (const probe_mapping_t *)rkey;

    if ((address < mapping->address) || (length > mapping->length) ||
        (address - mapping->address > mapping->length - length)) {
        return NULL;
    }
    return mapping->map + (address - mapping->address);
}

const ucx_md_ops_t probe_md_ops = {
    .size      = sizeof(probe_md_ops),
    .close     = probe_md_close,
    .query     = probe_md_query,
    .mem_alloc = probe_mem_alloc,
    .mem_free  = probe_mem_free,
    .mkey_pack = probe_mkey_pack,
};
