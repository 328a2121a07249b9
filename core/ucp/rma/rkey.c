/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote keys: ucp_ep_rkey_unpack, ucp_rkey_ptr, ucp_rkey_compare,
 * ucp_rkey_destroy. A packed key contains one key for each of the owner's
 * memory domains that have registered the memory. This file selects which of
 * these keys the lanes of an endpoint use.
 */
#include "ucp/rma/rkey.h"

#include "ucp/mem/packed.h"
#include "ucp/rma/symmetric.h"
#include "ucs/debug/log.h"
#include "uct/base/component.h"
#include "uct/base/md.h"

#include <stdlib.h>
#include <string.h>

static int is_component(uct_component_h component, const ucp_packed_key_t *key)
{
    return ucp_packed_code(uct_component_decl(component)->name) == key->code;
}

/* Returns the part that was unpacked for this component and the owner's domain
 * `md_index`, or NULL. */
static ucp_rkey_part_t *find_part(ucp_rkey_t *rkey, uct_component_h component,
                                  unsigned md_index)
{
    unsigned i;

    for (i = 0; i < rkey->num_parts; ++i) {
        if ((rkey->parts[i].component == component) &&
            (rkey->parts[i].md_index == md_index)) {
            return &rkey->parts[i];
        }
    }
    return NULL;
}

/* Unpacks the key of a component into a part of the rkey, unless that has been
 * done, and returns the part. Returns NULL if the key cannot be unpacked: the
 * caller then does not use the key. */
static ucp_rkey_part_t *add_part(ucp_rkey_t *rkey, uct_component_h component,
                                 const ucp_packed_key_t *packed)
{
    ucp_rkey_part_t *part = find_part(rkey, component, packed->md_index);
    ucs_status_t status;

    if (part != NULL) {
        return part;
    }

    part   = &rkey->parts[rkey->num_parts];
    status = uct_rkey_unpack_sized(component, packed->bytes, packed->length,
                                   UCS_SYS_DEVICE_ID_UNKNOWN, &part->key);
    if (status != UCS_OK) {
        ucs_debug("a key of %s cannot be used here: %s",
                  uct_component_decl(component)->name,
                  ucs_status_string(status));
        return NULL;
    }
    part->component = component;
    part->md_index  = packed->md_index;
    ++rkey->num_parts;
    return part;
}

/* Sets the key with which a lane accesses the memory. The packed key of a
 * component is for the lane if the lane's domain has the same component, and if
 * the key is of the owner's domain to which the lane is connected (remote_md),
 * unless that is unknown. Returns zero if the lane cannot access the memory. */
static int open_lane(ucp_rkey_t *rkey, ucp_ep_h ep, unsigned lane,
                     const ucp_packed_mem_t *mem)
{
    const ucp_lane_config_t *config = &ep->config->lanes[lane];
    uct_component_h component       = ucp_ep_lane_domain(ep, lane)->component;
    const ucp_rkey_part_t *part;
    unsigned i;

    for (i = 0; i < mem->num_keys; ++i) {
        const ucp_packed_key_t *packed = &mem->keys[i];

        if (!is_component(component, packed) ||
            ((config->remote_md != UCP_NULL_MD) &&
             (config->remote_md != packed->md_index))) {
            continue;
        }
        part = add_part(rkey, component, packed);
        if (part == NULL) {
            return 0;
        }
        rkey->keys[lane] = part->key.rkey;
        return 1;
    }

    /* Some transports need no key for any memory that they can access. */
    rkey->keys[lane] = UCT_INVALID_RKEY;
    return !(config->md_flags & UCT_MD_FLAG_NEED_RKEY) &&
           (config->rkey_size == 0) &&
           ((mem->mem_type == UCS_MEMORY_TYPE_HOST) ||
            ucp_lane_reaches(config, mem->mem_type));
}

/* Sets the keys of all lanes that put, get and atomics may use; returns the
 * lanes that can access the memory. */
static ucp_lane_map_t open_lanes(ucp_rkey_t *rkey, ucp_ep_h ep,
                                 const ucp_packed_mem_t *mem)
{
    ucp_lane_map_t wanted = ep->config->rma_lanes | ep->config->amo_lanes;
    ucp_lane_map_t opened = 0;
    unsigned i;

    for (i = 0; i < ep->config->num_lanes; ++i) {
        if ((wanted & UCS_BIT(i)) && open_lane(rkey, ep, i, mem)) {
            opened |= (ucp_lane_map_t)UCS_BIT(i);
        }
    }
    return opened;
}

/* Also unpacks keys of components that no lane uses, if ucp_rkey_ptr may get an
 * address from them. */
static void open_pointers(ucp_rkey_t *rkey, ucp_context_h context,
                          const ucp_packed_mem_t *mem)
{
    unsigned i, j, k;

    for (i = 0; i < mem->num_keys; ++i) {
        for (j = 0; j < context->num_mds; ++j) {
            uct_component_h component = context->mds[j].component;

            if (!(uct_component_decl(component)->flags &
                  UCT_COMPONENT_FLAG_RKEY_PTR) ||
                !is_component(component, &mem->keys[i])) {
                continue;
            }
            for (k = 0; (k < rkey->num_parts) &&
                        (rkey->parts[k].component != component);
                 ++k) {
            }
            if (k == rkey->num_parts) {
                add_part(rkey, component, &mem->keys[i]);
            }
        }
    }
}

void ucp_rkey_release(ucp_rkey_h rkey)
{
    unsigned i;

    for (i = 0; i < rkey->num_parts; ++i) {
        uct_rkey_release(rkey->parts[i].component, &rkey->parts[i].key);
    }
    free(rkey->packed);
    free(rkey);
}

static ucs_status_t make_rkey(ucp_ep_h ep, const ucp_packed_mem_t *mem,
                              ucp_rkey_h *rkey_p)
{
    int by_cpu          = mem->by_owner;
    ucs_status_t status = UCS_ERR_NO_MEMORY;
    ucp_lane_map_t opened;
    ucp_rkey_t *rkey;

    rkey = calloc(1, sizeof(*rkey) + (UCP_MAX_LANES + UCP_MAX_MDS) *
                                         sizeof(rkey->parts[0]));
    if (rkey == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    rkey->worker   = ep->worker;
    rkey->id       = mem->id;
    rkey->address  = mem->address;
    rkey->length   = mem->length;
    rkey->prot     = (uint16_t)mem->prot;
    rkey->mem_type = (uint8_t)mem->mem_type;
    opened         = open_lanes(rkey, ep, mem);
    open_pointers(rkey, ep->worker->context, mem);

    if ((opened == 0) && !by_cpu && !ep->config->unconnected) {
        status = UCS_ERR_UNREACHABLE;
        goto err;
    }
    rkey->lanes  = opened;
    rkey->config = ucp_rma_config_get(ep->worker, ep->config, opened, by_cpu);
    if (rkey->config == NULL) {
        goto err;
    }
    *rkey_p = rkey;
    return UCS_OK;

err:
    ucp_rkey_release(rkey);
    return status;
}

/* Keeps the packed bytes of a key for an endpoint without lanes, so that
 * ucp_rkey_open_late() can unpack its parts. */
static ucs_status_t keep_packed(ucp_rkey_t *rkey, const void *packed)
{
    size_t length = ucp_packed_length(packed, UCP_PACKED_RKEY);

    rkey->packed = malloc(length);
    if (rkey->packed == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    memcpy(rkey->packed, packed, length);
    return UCS_OK;
}

const ucp_rma_config_t *ucp_rkey_open_late(ucp_rkey_t *rkey, ucp_ep_h ep)
{
    const ucp_rma_config_t *config = NULL;
    ucp_packed_mem_t *mem          = malloc(sizeof(*mem));
    ucp_lane_map_t opened;

    if ((mem != NULL) &&
        (ucp_packed_read(rkey->packed,
                         ucp_packed_length(rkey->packed, UCP_PACKED_RKEY),
                         UCP_PACKED_RKEY, mem) == UCS_OK)) {
        opened = open_lanes(rkey, ep, mem);
        config = ucp_rma_config_get(ep->worker, ep->config, opened,
                                    rkey->config->by_cpu);
    }
    free(mem);
    if (config == NULL) {
        /* Accesses are carried out by messages if possible, and the next use
         * of the key tries again to unpack it for the lanes */
        return rkey->config->by_cpu ? rkey->config : NULL;
    }
    if ((opened == 0) && !config->by_cpu) {
        ucs_diag("ep %p: no lane can access the memory at 0x%lx, whose key was"
                 " unpacked before the endpoint was connected",
                 ep, rkey->address);
    }

    rkey->lanes  = opened;
    rkey->config = config;
    free(rkey->packed);
    rkey->packed = NULL;
    return config;
}

/* Unpacks a checked key, for an endpoint with or without lanes. */
static ucs_status_t unpack(ucp_ep_h ep, const void *packed,
                           const ucp_packed_mem_t *mem, ucp_rkey_h *rkey_p)
{
    ucs_status_t status = make_rkey(ep, mem, rkey_p);
    ucp_rkey_h rkey     = *rkey_p, shrunk;

    if (status != UCS_OK) {
        return status;
    }

    if (ep->config->unconnected) {
        status = keep_packed(rkey, packed);
    } else {
        /* Frees the space of unused parts, because programs keep thousands of
         * keys */
        shrunk  = realloc(rkey, sizeof(*rkey) +
                                    rkey->num_parts * sizeof(rkey->parts[0]));
        *rkey_p = (shrunk != NULL) ? shrunk : rkey;
        status  = mem->symmetric ? ucp_rkey_share(ep, rkey_p) : UCS_OK;
    }
    if (status != UCS_OK) {
        ucp_rkey_release(*rkey_p);
    }
    return status;
}

ucs_status_t ucp_ep_rkey_unpack(ucp_ep_h ep, const void *rkey_buffer,
                                ucp_rkey_h *rkey_p)
{
    ucp_worker_h worker = ep->worker;
    ucp_rkey_h rkey     = NULL;
    ucp_packed_mem_t *mem;
    ucs_status_t status;

    if ((rkey_buffer == NULL) || (rkey_p == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    mem = malloc(sizeof(*mem));
    if (mem == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    status = ucp_packed_read(rkey_buffer,
                             ucp_packed_length(rkey_buffer, UCP_PACKED_RKEY),
                             UCP_PACKED_RKEY, mem);
    if (status == UCS_OK) {
        ucp_worker_enter(worker);
        status = unpack(ep, rkey_buffer, mem, &rkey);
        ucp_worker_leave(worker);
    }
    free(mem);
    if (status == UCS_OK) {
        *rkey_p = rkey;
    }
    return status;
}

void ucp_rkey_destroy(ucp_rkey_h rkey)
{
    ucp_worker_h worker = rkey->worker;

    ucp_worker_enter(worker);
    if (ucp_rkey_is_shared(rkey)) {
        ucp_rkey_unshare(rkey);
    } else {
        ucp_rkey_release(rkey);
    }
    ucp_worker_leave(worker);
}

ucs_status_t ucp_rkey_ptr(ucp_rkey_h rkey, uint64_t raddr, void **addr_p)
{
    ucp_worker_h worker = rkey->worker;
    ucs_status_t status = UCS_ERR_UNREACHABLE;
    unsigned i;

    if (!ucp_rkey_covers(rkey, raddr, 1)) {
        return UCS_ERR_INVALID_ADDR;
    }

    /* The lock is needed because the component may map the memory now. */
    ucp_worker_enter(worker);
    for (i = 0; (i < rkey->num_parts) && (status != UCS_OK); ++i) {
        status = uct_rkey_ptr(rkey->parts[i].component, &rkey->parts[i].key,
                              raddr, addr_p);
    }
    ucp_worker_leave(worker);
    return (status == UCS_OK) ? UCS_OK : UCS_ERR_UNREACHABLE;
}

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static ucs_status_t compare_parts(const ucp_rkey_t *a, const ucp_rkey_t *b,
                                  int *result)
{
    ucs_status_t status = UCS_OK;
    unsigned i;

    *result = order(a->num_parts, b->num_parts);
    for (i = 0; (i < a->num_parts) && (*result == 0) && (status == UCS_OK);
         ++i) {
        *result = order((uintptr_t)a->parts[i].component,
                        (uintptr_t)b->parts[i].component);
        if (*result == 0) {
            status = uct_rkey_compare(a->parts[i].component,
                                      a->parts[i].key.rkey,
                                      b->parts[i].key.rkey, result);
        }
    }
    return status;
}

/* Compares two keys that are unpacked for the lanes of their endpoints. */
static ucs_status_t compare_open(const ucp_rkey_t *a, const ucp_rkey_t *b,
                                 int *result)
{
    /* A transfer may replace the configuration of a key by another one for the
     * same lanes, with other protocols: both have the same `whole` */
    *result = order((uintptr_t)a->config->ep_config->whole,
                    (uintptr_t)b->config->ep_config->whole);
    if (*result == 0) {
        *result = order(a->lanes, b->lanes);
    }
    return (*result == 0) ? compare_parts(a, b, result) : UCS_OK;
}

ucs_status_t ucp_rkey_compare(ucp_worker_h worker, ucp_rkey_h rkey1,
                              ucp_rkey_h rkey2,
                              const ucp_rkey_compare_params_t *params,
                              int *result)
{
    ucs_status_t status = UCS_OK;

    if ((rkey1 == NULL) || (rkey2 == NULL) || (params == NULL) ||
        (result == NULL) || (rkey1->worker != worker) ||
        (rkey2->worker != worker)) {
        return UCS_ERR_INVALID_PARAM;
    }

    /* locked, because transfers replace the configurations of keys */
    ucp_worker_enter(worker);
    *result = order(rkey1->id, rkey2->id);
    if (*result == 0) {
        *result = order(rkey1->prot, rkey2->prot);
    }
    /* A key that is not unpacked for its lanes yet has neither lanes nor parts;
     * its id, which is random, tells the memory */
    if ((*result == 0) && (rkey1->packed == NULL) && (rkey2->packed == NULL)) {
        status = compare_open(rkey1, rkey2, result);
    }
    ucp_worker_leave(worker);
    return status;
}
