/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registered memory and its keys, and the identity of processes. The kernel
 * permits access to all memory of processes of the same user, so the process
 * that accesses the memory must check the key itself. The key is no protection
 * against a process of the same user that does not check keys.
 */
#include "procvm.h"

#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* ------------------------------------------------------------- process -- */

static uint64_t nonce; /* Random number of this process; 0: not drawn yet */

static int draw_nonce(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    int drawn;

    pthread_mutex_lock(&lock);
    drawn = (nonce != 0) ||
            ((getrandom(&nonce, sizeof(nonce), 0) == sizeof(nonce)) &&
             (nonce != 0));
    pthread_mutex_unlock(&lock);
    return drawn;
}

procvm_process_t procvm_self(void)
{
    procvm_process_t self = {
        .nonce   = nonce,
        .address = (uintptr_t)&nonce,
        .pid     = (uint32_t)getpid(),
    };
    struct stat st;

    if (stat("/proc/self/ns/net", &st) == 0) {
        self.network = st.st_ino;
    }
    return self;
}

static int read_word(uint32_t pid, uint64_t address, void *word, size_t length)
{
    struct iovec local  = {word, length};
    struct iovec remote = {(void *)(uintptr_t)address, length};

    return process_vm_readv((pid_t)pid, &local, 1, &remote, 1, 0) ==
           (ssize_t)length;
}

int procvm_is_process(const procvm_process_t *process)
{
    uint64_t word;

    return ((int32_t)process->pid > 0) &&
           read_word(process->pid, process->address, &word, sizeof(word)) &&
           (word == process->nonce);
}

/* -------------------------------------------------------------- memory -- */

/* The memory handle of a registration. */
typedef struct region {
    uint64_t nonce; /* Random number; 0 when the registration has ended */
    uint64_t address;
    uint64_t length;
} region_t;

int procvm_is_registered(const procvm_process_t *process,
                         const procvm_key_t *key)
{
    uint64_t word;

    return read_word(process->pid, key->region, &word, sizeof(word)) &&
           (word == key->nonce);
}

static ucs_status_t md_query(uct_md_h md, ucx_md_attr_t *attr)
{
    (void)md;
    attr->flags            = UCT_MD_FLAG_REG | UCT_MD_FLAG_NEED_RKEY;
    attr->max_reg          = SIZE_MAX;
    attr->reg_mem_types    = 1u << UCS_MEMORY_TYPE_HOST;
    attr->access_mem_types = 1u << UCS_MEMORY_TYPE_HOST;
    attr->reg_cost.c       = 1e-6;
    attr->rkey_packed_size = sizeof(procvm_key_t);
    attr->reg_alignment    = 1;
    return UCS_OK;
}

/* Registers memory. A plugin for a device would pin the pages here, and write
 * their addresses to the translation table of the device. */
static ucs_status_t mem_reg(uct_md_h md, void *address, size_t length,
                            const ucx_mem_reg_params_t *params,
                            uct_mem_h *memh_p)
{
    const uint64_t start = (uintptr_t)address;
    const uint32_t pid   = (uint32_t)getpid();
    region_t *region;
    char byte;

    (void)md;
    if (UCX_TABLE_HAS(params, dmabuf_fd) && (params->dmabuf_fd != -1)) {
        return UCS_ERR_UNSUPPORTED;
    }
    if ((start > UINT64_MAX - length) ||
        ((length > 0) && (!read_word(pid, start, &byte, 1) ||
                          !read_word(pid, start + length - 1, &byte, 1)))) {
        return UCS_ERR_INVALID_ADDR;
    }
    region = malloc(sizeof(*region));
    if (region == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    *region = (region_t){.address = start, .length = length};
    if (getrandom(&region->nonce, sizeof(region->nonce), 0) !=
        sizeof(region->nonce)) {
        free(region);
        return UCS_ERR_IO_ERROR;
    }
    *memh_p = region;
    return UCS_OK;
}

/* Ends a registration. A peer that begins a part of a copy (rma.c) later reads
 * 0, or other data, instead of the random number of the registration, and the
 * copy fails. A part that a peer has begun cannot be stopped, so
 * UCX_MEM_DEREG_INVALIDATE is not supported. */
static ucs_status_t mem_dereg(uct_md_h md, uct_mem_h memh,
                              const ucx_mem_dereg_params_t *params)
{
    (void)md;
    if ((params != NULL) && (params->flags & UCX_MEM_DEREG_INVALIDATE)) {
        return UCS_ERR_UNSUPPORTED;
    }
    __atomic_store_n(&((region_t *)memh)->nonce, 0, __ATOMIC_SEQ_CST);
    free(memh);
    return UCS_OK;
}

/* ---------------------------------------------------------------- keys -- */

static ucs_status_t mkey_pack(uct_md_h md, uct_mem_h memh, void *address,
                              size_t length, unsigned flags, void *buffer)
{
    const region_t *region = memh;
    const uint64_t start   = (uintptr_t)address;
    procvm_key_t key       = {region->nonce, (uintptr_t)&region->nonce,
                              region->address, region->length};

    (void)md;
    if (flags != 0) {
        return UCS_ERR_UNSUPPORTED;
    }
    if (address != NULL) {
        if ((start < key.address) || (length > key.length) ||
            (start - key.address > key.length - length)) {
            return UCS_ERR_INVALID_PARAM;
        }
        key.address = start;
        key.length  = length;
    }
    memcpy(buffer, &key, sizeof(key));
    return UCS_OK;
}

static ucs_status_t rkey_unpack(const ucx_component_t *component,
                                const void *buffer, size_t length,
                                ucs_sys_device_t sys_dev, uct_rkey_t *rkey_p,
                                void **handle_p)
{
    procvm_key_t *key;

    (void)component;
    (void)sys_dev;
    if (length < sizeof(*key)) {
        return UCS_ERR_INVALID_PARAM;
    }
    key = malloc(sizeof(*key));
    if (key == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    memcpy(key, buffer, sizeof(*key));
    if (key->address > UINT64_MAX - key->length) {
        free(key);
        return UCS_ERR_INVALID_PARAM;
    }
    *rkey_p   = (uintptr_t)key;
    *handle_p = NULL;
    return UCS_OK;
}

static ucs_status_t rkey_release(const ucx_component_t *component,
                                 uct_rkey_t rkey, void *handle)
{
    (void)component;
    (void)handle;
    free((void *)rkey);
    return UCS_OK;
}

/* ----------------------------------------------------------- component -- */

static ucs_status_t md_open(const ucx_component_t *component,
                            const ucx_md_open_args_t *args, uct_md_h *md_p)
{
    return draw_nonce() ? ucx_simple_md_open(component, args, md_p) :
                          UCS_ERR_IO_ERROR;
}

static const ucx_md_ops_t md_ops = {
    .size      = sizeof(md_ops),
    .close     = ucx_simple_md_close,
    .query     = md_query,
    .mem_reg   = mem_reg,
    .mem_dereg = mem_dereg,
    .mkey_pack = mkey_pack,
};

static const ucx_transport_t *const transports[] = {&procvm_transport};

const ucx_component_t procvm_component = {
    .size               = sizeof(procvm_component),
    .name               = PROCVM_NAME,
    .query_md_resources = ucx_simple_query_mds,
    .md_open            = md_open,
    .md_ops             = &md_ops,
    .rkey_unpack        = rkey_unpack,
    .rkey_release       = rkey_release,
    .transports         = transports,
    .num_transports     = 1,
};
