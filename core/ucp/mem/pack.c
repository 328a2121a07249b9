/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_memh_pack, and the import of memory that another process has exported.
 * Packing collects the keys of all memory domains. The import attaches memory
 * domains of this process to the memory of the other one. packed.h has the
 * format.
 */
#include "ucp/mem/mem.h"
#include "ucp/mem/packed.h"

#include "ucp/mem/table.h"
#include "ucs/debug/log.h"
#include "uct/base/component.h"
#include "uct/base/md.h"

#include <stdlib.h>
#include <string.h>

/* Returns the length in bytes of the domain's packed key of this kind
 * (UCP_PACKED_*). It is 0 for domains whose keys have no contents. */
static size_t key_size(const ucx_md_attr_t *attr, uint8_t kind)
{
    return (kind == UCP_PACKED_EXPORTED) ? attr->exported_mkey_packed_size :
                                           attr->rkey_packed_size;
}

/* Appends the key of one domain to mem->keys. `bytes` has space for the
 * contents of the key. Returns zero if the domain has no key for this
 * memory. */
static int add_key(ucp_mem_h memh, unsigned md_index, uint8_t kind,
                   uint8_t *bytes, ucp_packed_mem_t *mem)
{
    const ucp_md_t *md        = &memh->context->mds[md_index];
    const ucx_md_attr_t *attr = uct_md_attr(md->md);
    ucp_packed_key_t *key     = &mem->keys[mem->num_keys];
    uct_mem_h uct_memh;
    ucs_status_t status;

    if ((kind == UCP_PACKED_EXPORTED) &&
        !(attr->flags & UCT_MD_FLAG_EXPORTED_MKEY)) {
        return 0;
    }

    uct_memh = ucp_mem_of_domain(memh, md_index);
    if (uct_memh == UCT_MEM_HANDLE_NULL) {
        return 0;
    }

    status = (key_size(attr, kind) == 0) ?
                 UCS_OK :
                 uct_md_mkey_pack_v2(md->md, uct_memh, NULL, SIZE_MAX,
                                     (kind == UCP_PACKED_EXPORTED) ?
                                         UCX_MKEY_PACK_EXPORT :
                                         0,
                                     bytes);
    if (status != UCS_OK) {
        ucs_diag("%s: cannot pack a key: %s", md->name,
                 ucs_status_string(status));
        return 0;
    }

    key->code     = ucp_packed_code(uct_component_decl(md->component)->name);
    key->md_index = (uint8_t)md_index;
    key->bytes    = bytes;
    key->length   = key_size(attr, kind);
    ++mem->num_keys;
    return 1;
}

/* True if this process can carry out accesses to the memory that peers request
 * by messages. */
static int is_by_owner(ucp_mem_h memh)
{
    return !(memh->flags & UCP_MEM_FLAG_ELSEWHERE) &&
           (UCS_MEM_IS_ACCESSIBLE_FROM_CPU(memh->mem_type) ||
            (memh->context->staged_types & UCS_BIT(memh->mem_type)));
}

static ucs_status_t pack(ucp_mem_h memh, uint8_t kind, void **buffer_p,
                         size_t *length_p)
{
    ucp_context_h context = memh->context;
    size_t max_size       = 0;
    ucp_packed_mem_t *mem = malloc(sizeof(*mem));
    ucs_status_t status   = UCS_ERR_NO_MEMORY;
    uint8_t *bytes, *p;
    unsigned i;

    for (i = 0; i < context->num_mds; ++i) {
        max_size += key_size(uct_md_attr(context->mds[i].md), kind);
    }
    bytes = malloc(max_size + 1);
    if ((mem == NULL) || (bytes == NULL)) {
        goto out;
    }

    mem->id        = memh->id;
    mem->address   = (uintptr_t)memh->address;
    mem->length    = memh->length;
    mem->prot      = memh->prot;
    mem->mem_type  = memh->mem_type;
    mem->by_owner  = is_by_owner(memh);
    mem->symmetric = !!(memh->flags & UCP_MEM_MAP_SYMMETRIC_RKEY);
    mem->num_keys  = 0;
    for (i = 0, p = bytes; i < context->num_mds; ++i) {
        if (add_key(memh, i, kind, p, mem)) {
            p += key_size(uct_md_attr(context->mds[i].md), kind);
        }
    }

    if ((kind == UCP_PACKED_EXPORTED) && (mem->num_keys == 0)) {
        ucs_diag("no memory domain can export memory at %p", memh->address);
        status = UCS_ERR_UNSUPPORTED;
        goto out;
    }
    status = ucp_packed_write(mem, kind, buffer_p, length_p);
out:
    free(bytes);
    free(mem);
    return status;
}

ucs_status_t ucp_memh_pack(ucp_mem_h memh, const ucp_memh_pack_params_t *params,
                           void **buffer_p, size_t *buffer_size_p)
{
    uint64_t flags = ((params != NULL) &&
                      (params->field_mask & UCP_MEMH_PACK_PARAM_FIELD_FLAGS)) ?
                         params->flags :
                         0;

    if ((memh == NULL) || (flags & ~(uint64_t)UCP_MEMH_PACK_FLAG_EXPORT)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (!(flags & UCP_MEMH_PACK_FLAG_EXPORT)) {
        return pack(memh, UCP_PACKED_RKEY, buffer_p, buffer_size_p);
    }
    if (!(memh->context->features & UCP_FEATURE_EXPORTED_MEMH)) {
        ucs_error("ucp_memh_pack: exporting memory needs"
                  " UCP_FEATURE_EXPORTED_MEMH in ucp_init");
        return UCS_ERR_INVALID_PARAM;
    }
    return pack(memh, UCP_PACKED_EXPORTED, buffer_p, buffer_size_p);
}

void ucp_memh_buffer_release(void *buffer,
                             const ucp_memh_buffer_release_params_t *params)
{
    free(buffer);
}

/* -------------------------------------------------------------- import -- */

/* Tries to map imported memory into this process, by a remote key of the
 * domain. If this succeeds, sets memh->window and memh->address (the local
 * address), and clears UCP_MEM_FLAG_ELSEWHERE. Otherwise only devices can
 * access the memory. */
static void open_window(ucp_mem_h memh, unsigned md_index, uint64_t address)
{
    const ucp_md_t *md = &memh->context->mds[md_index];
    size_t size        = uct_md_attr(md->md)->rkey_packed_size;
    uct_rkey_bundle_t key;
    void *local, *bytes;

    bytes = malloc(size + 1);
    if (bytes == NULL) {
        return;
    }
    if ((uct_md_mkey_pack(md->md, memh->memhs[md_index], bytes) != UCS_OK) ||
        (uct_rkey_unpack_sized(md->component, bytes, size,
                               UCS_SYS_DEVICE_ID_UNKNOWN, &key) != UCS_OK)) {
        goto out;
    }
    if (uct_rkey_ptr(md->component, &key, address, &local) == UCS_OK) {
        memh->address = local;
        memh->flags &= ~UCP_MEM_FLAG_ELSEWHERE;
        memh->window.component = md->component;
        memh->window.key       = key;
    } else {
        uct_rkey_release(md->component, &key);
    }
out:
    free(bytes);
}

static void attach(ucp_mem_h memh, const ucp_packed_key_t *key,
                   uint64_t address)
{
    ucp_context_h context = memh->context;
    ucs_status_t status;
    unsigned i;

    for (i = 0; i < context->num_mds; ++i) {
        if ((memh->known & UCS_BIT(i)) ||
            !(uct_md_attr(context->mds[i].md)->flags &
              UCT_MD_FLAG_EXPORTED_MKEY) ||
            (ucp_packed_code(
                 uct_component_decl(context->mds[i].component)->name) !=
             key->code)) {
            continue;
        }
        status = uct_md_mem_attach(context->mds[i].md, key->bytes, key->length,
                                   &memh->memhs[i]);
        if (status != UCS_OK) {
            ucs_diag("%s: cannot attach to exported memory: %s",
                     context->mds[i].name, ucs_status_string(status));
            continue;
        }
        memh->known |= UCS_BIT(i);
        if (memh->flags & UCP_MEM_FLAG_ELSEWHERE) {
            open_window(memh, i, address);
        }
    }
}

ucs_status_t ucp_mem_import(ucp_context_h context, const void *buffer,
                            ucp_mem_h *memh_p)
{
    ucp_packed_mem_t *mem;
    ucs_status_t status;
    ucp_mem_h memh;
    unsigned i;

    if (buffer == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }

    mem  = malloc(sizeof(*mem));
    memh = ucp_mem_new(context);
    if ((mem == NULL) || (memh == NULL)) {
        status = UCS_ERR_NO_MEMORY;
        goto err;
    }

    status = ucp_packed_read(buffer,
                             ucp_packed_length(buffer, UCP_PACKED_EXPORTED),
                             UCP_PACKED_EXPORTED, mem);
    if (status != UCS_OK) {
        goto err;
    }

    memh->address              = (void *)(uintptr_t)mem->address;
    memh->length               = mem->length;
    memh->mem_type             = mem->mem_type;
    memh->prot                 = mem->prot;
    memh->flags                = UCP_MEM_FLAG_IMPORTED | UCP_MEM_FLAG_ELSEWHERE;
    memh->window.owner_address = mem->address;
    for (i = 0; i < mem->num_keys; ++i) {
        attach(memh, &mem->keys[i], mem->address);
    }
    if (memh->known == 0) {
        ucs_diag("no memory domain here can attach to the exported memory");
        status = UCS_ERR_UNREACHABLE;
        goto err;
    }

    status = ucp_mem_table_add(&context->mems, memh);
    if (status != UCS_OK) {
        goto err;
    }
    *memh_p = memh;
    free(mem);
    return UCS_OK;

err:
    if (memh != NULL) {
        ucp_mem_free(memh);
    }
    free(mem);
    return status;
}
