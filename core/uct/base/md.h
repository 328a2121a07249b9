/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of memory domains and remote keys for UCP and the core's tools,
 * beyond the public API.
 */
#ifndef UCT_BASE_MD_H
#define UCT_BASE_MD_H

#include <uct/api/uct.h>
#include <ucx/component.h>

uct_component_h uct_md_component(uct_md_h md);

/* Returns the domain's attributes. They are queried once, when the domain is
 * opened, and are valid until it is closed. */
const ucx_md_attr_t *uct_md_attr(uct_md_h md);

/* As uct_md_mem_reg() and uct_md_mem_dereg(), with all parameters of the slots
 * mem_reg and mem_dereg of plugins. */
ucs_status_t uct_md_mem_reg_v2(uct_md_h md, void *address, size_t length,
                               const ucx_mem_reg_params_t *params,
                               uct_mem_h *memh_p);
ucs_status_t uct_md_mem_dereg_v2(uct_md_h md, uct_mem_h memh,
                                 const ucx_mem_dereg_params_t *params);

/* Packs a key for the range [address, +length) of a registration into `buffer`.
 * The key has uct_md_attr()->rkey_packed_size bytes, or
 * exported_mkey_packed_size bytes with the flag UCX_MKEY_PACK_EXPORT. `flags`:
 * UCX_MKEY_PACK_*, without UCX_MKEY_PACK_PROCESS. */
ucs_status_t uct_md_mkey_pack_v2(uct_md_h md, uct_mem_h memh, void *address,
                                 size_t length, unsigned flags, void *buffer);

/* Packs a key of all memory of this process that the domain could register into
 * `buffer`: uct_md_attr()->process_key_packed_size bytes. UCS_ERR_UNSUPPORTED:
 * that is 0. */
ucs_status_t uct_md_process_key_pack(uct_md_h md, void *buffer);

/* Returns the attributes that a domain detects for a range of memory. An
 * attribute that the domain does not detect gets a default: unknown type and
 * device, the given address and length, and no DMA-BUF. `wanted`: attributes
 * that are returned on request only, UCX_MEM_WANT_*. */
ucs_status_t uct_md_mem_info(uct_md_h md, const void *address, size_t length,
                             unsigned wanted, ucx_mem_attr_t *attr);

/* Creates a handle for memory that another process has exported. `buffer`: the
 * key, of `length` bytes, which that process has packed with
 * UCX_MKEY_PACK_EXPORT. */
ucs_status_t uct_md_mem_attach(uct_md_h md, const void *buffer, size_t length,
                               uct_mem_h *memh_p);

/*
 * As uct_rkey_unpack(), for a key that a peer has sent: reads at most `length`
 * bytes, and returns UCS_ERR_INVALID_PARAM for an invalid key. `sys_dev`: the
 * device that will use the key, or UCS_SYS_DEVICE_ID_UNKNOWN.
 */
ucs_status_t uct_rkey_unpack_sized(uct_component_h component,
                                   const void *rkey_buffer, size_t length,
                                   ucs_sys_device_t sys_dev,
                                   uct_rkey_bundle_t *rkey_ob);

/* Compares two keys of one component: *result is negative, 0 or positive, as
 * from memcmp(). */
ucs_status_t uct_rkey_compare(uct_component_h component, uct_rkey_t a,
                              uct_rkey_t b, int *result);

/** As uct_mem_alloc(); if a memory domain allocates the memory, the domain uses
 *  `secret` in the keys of the memory (see ucx_mem_reg_params_t). 0: the domain
 *  uses its own secret. */
ucs_status_t uct_mem_alloc_secret(size_t length,
                                  const uct_alloc_method_t *methods,
                                  unsigned num_methods,
                                  const uct_mem_alloc_params_t *params,
                                  uint64_t secret, uct_allocated_memory_t *mem);

#endif
