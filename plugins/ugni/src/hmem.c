/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers memory with the interface of libfabric for its type (FI_HMEM_*),
 * and finds out which types of accelerator memory libfabric supports. */
#include "mem.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>

#include <stdlib.h>
#include <sys/uio.h>

enum { PROBE_SIZE = 4096 }; /* Bytes that is_known() registers */

/* Memory types of UCX, and the interface of libfabric for each */
static const struct {
    ucs_memory_type_t type;
    enum fi_hmem_iface iface;
} types[] = {
    {UCS_MEMORY_TYPE_CUDA, FI_HMEM_CUDA},
    {UCS_MEMORY_TYPE_CUDA_MANAGED, FI_HMEM_CUDA},
    {UCS_MEMORY_TYPE_ROCM, FI_HMEM_ROCR},
    {UCS_MEMORY_TYPE_ROCM_MANAGED, FI_HMEM_ROCR},
    {UCS_MEMORY_TYPE_ZE_DEVICE, FI_HMEM_ZE},
    {UCS_MEMORY_TYPE_ZE_MANAGED, FI_HMEM_ZE},
    {UCS_MEMORY_TYPE_ZE_HOST, FI_HMEM_ZE},
};

enum { NUM_TYPES = sizeof(types) / sizeof(types[0]) };

static enum fi_hmem_iface iface_of(ucs_memory_type_t type)
{
    for (unsigned i = 0; i < NUM_TYPES; ++i) {
        if (types[i].type == type) {
            return types[i].iface;
        }
    }
    return FI_HMEM_SYSTEM;
}

int ugni_hmem_register(const ugni_device_t *device, const ugni_mem_t *mem,
                       uint64_t access, uint64_t key, struct fid_mr **mr_p)
{
    const struct iovec iov = {
        .iov_base = mem->address,
        .iov_len  = mem->length,
    };
    const struct fi_mr_attr attr = {
        .mr_iov        = &iov,
        .iov_count     = 1,
        .access        = access,
        .requested_key = key,
        .iface         = iface_of(mem->type),
    };

    return (attr.iface == FI_HMEM_SYSTEM) ?
               fi_mr_reg(device->domain, mem->address, mem->length, access, 0,
                         key, 0, mr_p, NULL) :
               fi_mr_regattr(device->domain, &attr, 0, mr_p);
}

/* Returns whether libfabric supports the interface (FI_HMEM_*) of a memory
 * type. libfabric has no list of its interfaces. A registration returns
 * -FI_ENOSYS or -FI_EOPNOTSUPP if libfabric was built without the interface, or
 * if the driver of the accelerator is missing. Other errors are expected,
 * because the memory registered here is host memory. */
static int is_known(const ugni_device_t *device, ucs_memory_type_t type,
                    void *address)
{
    const ugni_mem_t mem = {
        .address = address,
        .length  = PROBE_SIZE,
        .type    = type,
    };
    struct fid_mr *mr;
    int rc = ugni_hmem_register(device, &mem, FI_READ | FI_WRITE, 0, &mr);

    if (rc == 0) {
        fi_close(&mr->fid);
    }
    return (rc != -FI_ENOSYS) && (rc != -FI_EOPNOTSUPP);
}

void ugni_hmem_probe(ugni_md_t *md)
{
    const ucx_host_t *host = md->host;
    void *page             = aligned_alloc(PROBE_SIZE, PROBE_SIZE);

    if ((page != NULL) && (ugni_device_open(md, &md->devices[0]) == UCS_OK)) {
        for (unsigned i = 0; i < NUM_TYPES; ++i) {
            if (is_known(&md->devices[0], types[i].type, page)) {
                md->hmem |= UCS_BIT(types[i].type);
            }
        }
    }
    free(page);
    if ((md->hmem == 0) && (md->wants_hmem == UCS_YES)) {
        ucx_warn("UCX_UGNI_HMEM=y, but libfabric has no interface of "
                 "accelerators here: their memory is not registered");
    }
}
