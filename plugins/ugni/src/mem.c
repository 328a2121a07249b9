/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registration of memory. Memory is registered with all devices (domains of
 * libfabric), because a peer may access it through any of them. If the provider
 * demands FI_MR_ENDPOINT, memory is registered with endpoints: with the
 * endpoint of each port (ugni_port_t), each time with the same key, and also
 * with ports that are opened later. If such a provider chooses the keys, peers
 * access memory through one endpoint of the device (target.c). Memory is then
 * registered with ports only if they need descriptors of local memory.
 */
#include "iface.h"
#include "mem.h"

#include <string.h>
#include <sys/random.h>

enum {
    KEY_ATTEMPTS = 16, /* Maximum number of random keys that are tried for a
                        * registration, because a key may be in use */
};

/* --- Keys ----------------------------------------------------------------- */

static int is_key_used(const ugni_md_t *md, unsigned device, uint64_t key)
{
    const ugni_mem_t *mem;

    for (mem = md->mems; mem != NULL; mem = mem->next) {
        if ((device < mem->num) && (mem->parts[device].key == key)) {
            return 1;
        }
    }
    return 0;
}

/* Stores a random key, which a peer cannot guess. The key has at most as many
 * bytes as the provider accepts (mr_key_size). Providers that choose keys
 * themselves ignore it. Returns 0 or an error of libfabric. */
static int random_key(const ugni_md_t *md, unsigned device, uint64_t *key_p)
{
    const ucx_host_t *host = md->host;
    const size_t size      = md->devices[device].info->domain_attr->mr_key_size;
    uint64_t key           = 0;

    do {
        if (getrandom(&key, sizeof(key), 0) != sizeof(key)) {
            ucx_error("ugni: the system provides no random numbers for keys of "
                      "memory");
            return -FI_EIO;
        }
        if (size < sizeof(key)) {
            key &= (1ull << (8 * size)) - 1;
        }
        /* With FI_MR_ENDPOINT, the key must be unused on all ports, because the
         * memory is registered with the same key on ports opened later. */
    } while ((md->mr_mode & FI_MR_ENDPOINT) && is_key_used(md, device, key));
    *key_p = key;
    return 0;
}

/* --- Regions -------------------------------------------------------------- */

int ugni_region_open(const ugni_md_t *md, const ugni_device_t *device,
                     struct fid_ep *ep, const ugni_mem_t *mem, uint64_t access,
                     uint64_t key, struct fid_mr **mr_p)
{
    int rc = ugni_hmem_register(device, mem, access, key, mr_p);

    if ((rc != 0) || !(md->mr_mode & FI_MR_ENDPOINT)) {
        return rc;
    }
    rc = fi_mr_bind(*mr_p, &ep->fid, 0);
    if (rc == 0) {
        rc = fi_mr_enable(*mr_p);
    }
    if (rc != 0) {
        fi_close(&(*mr_p)->fid);
    }
    return rc;
}

/* Returns whether memory is registered with ports. */
static int has_regions_of_ports(const ugni_md_t *md)
{
    return (md->mr_mode & FI_MR_ENDPOINT) &&
           (!md->has_targets || (md->mr_mode & FI_MR_LOCAL));
}

/* Returns the endpoint with which memory is registered: that of `port`, or that
 * of the device's target if `port` is NULL. NULL: no endpoint is needed. */
static struct fid_ep *ep_of(const ugni_device_t *device,
                            const ugni_port_t *port)
{
    return (port != NULL)           ? port->ep :
           (device->target != NULL) ? device->target->ep :
                                      NULL;
}

/* Registers memory with a port of a device; if `port` is NULL, with the domain
 * or the target. Returns 0 or an error of libfabric. */
static int add_region(ugni_md_t *md, ugni_mem_t *mem, unsigned device,
                      ugni_port_t *port)
{
    const uint64_t access = FI_READ | FI_WRITE | FI_REMOTE_READ |
                            FI_REMOTE_WRITE;
    ugni_part_t *part     = &mem->parts[device];
    ugni_region_t *region = calloc(1, sizeof(*region));
    int rc;

    if (region == NULL) {
        return -FI_ENOMEM;
    }
    rc = ugni_region_open(md, &md->devices[device],
                          ep_of(&md->devices[device], port), mem, access,
                          part->key, &region->mr);
    if (rc != 0) {
        free(region);
        return rc;
    }
    if (port == NULL) {
        part->remote = region->mr;
    }
    region->port  = port;
    region->next  = part->regions;
    part->regions = region;
    return 0;
}

/* Closes the registrations of a port, or all registrations if `port` is
 * NULL. */
static void close_regions(ugni_part_t *part, const ugni_port_t *port)
{
    ugni_region_t **link = &part->regions, *region;

    while ((region = *link) != NULL) {
        if ((port != NULL) && (region->port != port)) {
            link = &region->next;
            continue;
        }
        *link = region->next;
        fi_close(&region->mr->fid);
        free(region);
    }
}

static int register_with_ports(ugni_md_t *md, ugni_mem_t *mem, unsigned device)
{
    ugni_port_t *port;
    int rc = 0;

    for (port = md->ports; (port != NULL) && (rc == 0); port = port->next) {
        if (port->device == &md->devices[device]) {
            rc = add_region(md, mem, device, port);
        }
    }
    return rc;
}

/* Makes all registrations of memory on one device, with one random key. Returns
 * 0 or an error of libfabric. */
static int register_with(ugni_md_t *md, ugni_mem_t *mem, unsigned device)
{
    int rc = -FI_ENOKEY;

    for (int i = 0; (i < KEY_ATTEMPTS) && (rc == -FI_ENOKEY); ++i) {
        rc = random_key(md, device, &mem->parts[device].key);
        if (rc != 0) {
            return rc;
        }
        if (md->has_targets || !(md->mr_mode & FI_MR_ENDPOINT)) {
            rc = add_region(md, mem, device, NULL);
        }
        if ((rc == 0) && has_regions_of_ports(md)) {
            rc = register_with_ports(md, mem, device);
        }
        if (rc != 0) {
            close_regions(&mem->parts[device], NULL);
        }
    }
    return rc;
}

ucs_status_t ugni_mems_add_port(ugni_md_t *md, ugni_port_t *port)
{
    const ucx_host_t *host = md->host;
    unsigned device        = (unsigned)(port->device - md->devices);
    ugni_mem_t *mem;
    int rc = 0;

    if (!has_regions_of_ports(md)) {
        return UCS_OK;
    }
    for (mem = md->mems; (mem != NULL) && (rc == 0); mem = mem->next) {
        rc = add_region(md, mem, device, port);
    }
    if (rc == 0) {
        return UCS_OK;
    }
    ugni_mems_remove_port(md, port);
    ucx_error("ugni: cannot register memory with a new endpoint of %s: %s",
              port->info->domain_attr->name, fi_strerror(-rc));
    return (rc == -FI_ENOMEM) ? UCS_ERR_NO_MEMORY : UCS_ERR_IO_ERROR;
}

void ugni_mems_remove_port(ugni_md_t *md, ugni_port_t *port)
{
    unsigned device = (unsigned)(port->device - md->devices);

    for (ugni_mem_t *mem = md->mems; mem != NULL; mem = mem->next) {
        close_regions(&mem->parts[device], port);
    }
}

/* Returns whether libfabric needs the descriptor of a buffer. */
static int needs_desc(const ugni_port_t *port, const ugni_mem_t *mem)
{
    return port->is_local || ((mem != UCT_MEM_HANDLE_NULL) &&
                              (mem->type != UCS_MEMORY_TYPE_HOST));
}

void *ugni_mem_desc(const ugni_port_t *port, uct_mem_h memh)
{
    ugni_md_t *md         = port->md;
    unsigned device       = (unsigned)(port->device - md->devices);
    const ugni_mem_t *mem = memh;
    const ugni_region_t *region;

    if (!needs_desc(port, mem)) {
        return NULL;
    }
    if (!(md->mr_mode & FI_MR_ENDPOINT)) {
        return fi_mr_desc(mem->parts[device].regions->mr);
    }
    pthread_mutex_lock(&md->lock); /* Other threads add and remove ports */
    for (region = mem->parts[device].regions; region->port != port;
         region = region->next) {
    }
    pthread_mutex_unlock(&md->lock);
    return fi_mr_desc(region->mr);
}

/* --- Memory --------------------------------------------------------------- */

static void mem_free(ugni_mem_t *mem)
{
    for (unsigned i = 0; i < mem->num; ++i) {
        close_regions(&mem->parts[i], NULL);
    }
    free(mem);
}

/* Registers memory with all devices. The caller holds the lock. */
static int register_all(ugni_md_t *md, ugni_mem_t *mem)
{
    const ucx_host_t *host = md->host;
    int rc                 = 0;

    while ((mem->num < md->num_devices) && (rc == 0)) {
        if (ugni_device_open(md, &md->devices[mem->num]) != UCS_OK) {
            return -FI_EIO;
        }
        rc = register_with(md, mem, mem->num);
        if (rc != 0) {
            ucx_debug("ugni: cannot register %zu bytes at %p with %s: %s",
                      mem->length, mem->address,
                      md->devices[mem->num].info->domain_attr->name,
                      fi_strerror(-rc));
        }
        ++mem->num;
    }
    return rc;
}

ucs_status_t ugni_mem_new(ugni_md_t *md, void *address, size_t length,
                          ucs_memory_type_t type, ugni_mem_t **mem_p)
{
    ugni_mem_t *mem;
    int rc;

    mem = calloc(1, sizeof(*mem) + UGNI_MAX_DEVICES * sizeof(mem->parts[0]));
    if (mem == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    mem->address = address;
    mem->length  = length;
    mem->type    = type;
    pthread_mutex_lock(&md->lock);
    mem->base = (md->mr_mode & FI_MR_VIRT_ADDR) ? 0 : (uintptr_t)address;
    rc        = register_all(md, mem);
    if (rc == 0) {
        mem->next = md->mems;
        if (mem->next != NULL) {
            mem->next->prev = mem;
        }
        md->mems = mem;
    }
    pthread_mutex_unlock(&md->lock);
    if (rc != 0) {
        mem_free(mem);
        return (rc == -FI_ENOMEM) ? UCS_ERR_NO_MEMORY :
               ((rc == -FI_EFAULT) || (rc == -FI_EINVAL)) ?
                                    UCS_ERR_INVALID_ADDR :
                                    UCS_ERR_IO_ERROR;
    }
    *mem_p = mem;
    return UCS_OK;
}

void ugni_mem_delete(ugni_md_t *md, ugni_mem_t *mem)
{
    pthread_mutex_lock(&md->lock);
    *((mem->prev == NULL) ? &md->mems : &mem->prev->next) = mem->next;
    if (mem->next != NULL) {
        mem->next->prev = mem->prev;
    }
    pthread_mutex_unlock(&md->lock);
    mem_free(mem);
}

static ucs_memory_type_t type_of(const ugni_md_t *md, const void *address,
                                 size_t length)
{
    ucx_mem_info_t info = {.size = sizeof(info), .type = UCS_MEMORY_TYPE_HOST};

    if ((md->hmem != 0) &&
        (md->host->mem_detect(address, length, &info) != UCS_OK)) {
        return UCS_MEMORY_TYPE_HOST;
    }
    return info.type;
}

ucs_status_t ugni_mem_reg(uct_md_h uct_md, void *address, size_t length,
                          const ucx_mem_reg_params_t *params, uct_mem_h *memh_p)
{
    ugni_md_t *md          = (ugni_md_t *)uct_md;
    ucs_memory_type_t type = type_of(md, address, length);
    ugni_mem_t *mem;
    ucs_status_t status = UCS_ERR_UNSUPPORTED;

    if ((params != NULL) && UCX_TABLE_HAS(params, dmabuf_fd) &&
        (params->dmabuf_fd != -1)) {
        return UCS_ERR_UNSUPPORTED; /* libfabric 1.17 registers no dmabuf */
    }
    if (type == UCS_MEMORY_TYPE_HOST) {
        status = ugni_cache_get(md, address, length, params, &mem);
    }
    if (status == UCS_ERR_UNSUPPORTED) {
        status = ugni_mem_new(md, address, length, type, &mem);
    }
    if (status == UCS_OK) {
        *memh_p = mem;
    }
    return status;
}

ucs_status_t ugni_mem_dereg(uct_md_h uct_md, uct_mem_h memh,
                            const ucx_mem_dereg_params_t *params)
{
    ugni_md_t *md   = (ugni_md_t *)uct_md;
    ugni_mem_t *mem = memh;

    if ((params != NULL) && (params->flags & UCX_MEM_DEREG_INVALIDATE)) {
        return UCS_ERR_UNSUPPORTED; /* The domain's attributes do not declare
                                     * invalidation */
    }
    if (mem->cached != NULL) {
        md->host->rcache_put(md->rcache, mem->cached);
    } else {
        ugni_mem_delete(md, mem);
    }
    return UCS_OK;
}
