/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls on memory domains: opening, allocation, registration and remote keys.
 * Part of uct.h, which has the rules for all calls.
 */
#ifndef UCT_API_UCT_MD_H_
#define UCT_API_UCT_MD_H_

#include <uct/api/uct_md_def.h>
#include <ucs/config/types.h>

BEGIN_C_DECLS

/** @addtogroup UCT_MD
 *  @{ */

/**
 * Creates the configuration of a component's memory domains. Parameters and
 * rules are those of uct_md_iface_config_read().
 *
 * @param [in]  component   Component.
 * @param [in]  env_prefix  Additional prefix of environment variables, or NULL.
 * @param [in]  filename    File to read, or NULL.
 * @param [out] config_p    Configuration; release with uct_config_release().
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for a value that cannot be parsed; or
 *         the error of loading the plugin
 */
ucs_status_t uct_md_config_read(uct_component_h component,
                                const char *env_prefix, const char *filename,
                                uct_md_config_t **config_p);

/**
 * Opens a memory domain.
 *
 * @param [in]  component  Component.
 * @param [in]  md_name    Name of one of its domains, see
 *                         uct_component_query().
 * @param [in]  config     From uct_md_config_read() for the same component.
 * @param [out] md_p       Memory domain.
 *
 * @return UCS_ERR_NO_DEVICE if there is no such domain, or it cannot be used.
 */
ucs_status_t uct_md_open(uct_component_h component, const char *md_name,
                         const uct_md_config_t *config, uct_md_h *md_p);

/** Closes a memory domain; close its interfaces and free or deregister its
 *  memory first. */
void uct_md_close(uct_md_h md);

/**
 * Queries the attributes of a memory domain. The attributes do not change.
 *
 * @param [in]  md       Memory domain.
 * @param [out] md_attr  All fields are filled.
 *
 * @return UCS_OK, or UCS_ERR_INVALID_PARAM
 */
ucs_status_t uct_md_query(uct_md_h md, uct_md_attr_t *md_attr);

/**
 * Detects the properties of a range of memory.
 *
 * @param [in]     md        Memory domain.
 * @param [in]     address   Start of the range, not NULL.
 * @param [in]     length    Length in bytes, above 0.
 * @param [in,out] mem_attr  Set field_mask; the requested fields are filled.
 *                           Fields that the domain cannot detect get their
 *                           value for "unknown".
 *
 * @return UCS_OK if at least one field was detected. UCS_ERR_INVALID_ADDR or
 *         another error if the domain does not know the memory.
 */
ucs_status_t uct_md_mem_query(uct_md_h md, const void *address, size_t length,
                              uct_md_mem_attr_t *mem_attr);

/**
 * Detects the memory type of a range of memory.
 *
 * @param [in]  md          Memory domain.
 * @param [in]  addr        Start of the range.
 * @param [in]  length      Length of the range in bytes.
 * @param [out] mem_type_p  Type.
 *
 * @return UCS_ERR_INVALID_ADDR if the domain does not recognise the memory.
 *         UCS_ERR_UNSUPPORTED if the domain detects no types of memory, that
 *         is, if uct_md_attr_t::cap.detect_mem_types is 0.
 */
ucs_status_t uct_md_detect_memory_type(uct_md_h md, const void *addr,
                                       size_t length,
                                       ucs_memory_type_t *mem_type_p);

/**
 * Checks whether a domain supports a socket address. Needs
 * UCT_MD_FLAG_SOCKADDR.
 *
 * @param [in] md        Memory domain.
 * @param [in] sockaddr  Address.
 * @param [in] mode      Whether to listen at the address, or to connect to it.
 *
 * @return Nonzero if the domain supports the address.
 */
int uct_md_is_sockaddr_accessible(uct_md_h md, const ucs_sock_addr_t *sockaddr,
                                  uct_sockaddr_accessibility_t mode);

/*
 * Allocation and registration.
 */

/**
 * Allocates memory by the first method that succeeds.
 *
 * @param [in]  length       Length in bytes, above 0. More may be allocated.
 * @param [in]  methods      Methods to try, in this order. For
 *                           UCT_ALLOC_METHOD_MD, the domains in the parameters
 *                           are tried in order.
 * @param [in]  num_methods  Number of methods.
 * @param [in]  params       Other parameters.
 * @param [out] mem          The memory; release it by uct_mem_free().
 *
 * @return UCS_ERR_NO_MEMORY if no method succeeded, or the error of the last
 *         method.
 */
ucs_status_t uct_mem_alloc(size_t length, const uct_alloc_method_t *methods,
                           unsigned num_methods,
                           const uct_mem_alloc_params_t *params,
                           uct_allocated_memory_t *mem);

/**
 * Frees memory of uct_mem_alloc(), by the method that allocated it. The memory
 * must not be in use.
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM if uct_mem_alloc() did not allocate it;
 *         or the error of the domain
 */
ucs_status_t uct_mem_free(const uct_allocated_memory_t *mem);

/**
 * Registers memory for zero-copy operations and remote access. Needs
 * UCT_MD_FLAG_REG. The memory must remain mapped until it is deregistered.
 *
 * @param [in]  md       Memory domain.
 * @param [in]  address  First byte.
 * @param [in]  length   Length in bytes, above 0.
 * @param [in]  flags    Bits of uct_md_mem_flags.
 * @param [out] memh_p   Handle for operations and uct_md_mkey_pack().
 *
 * @return UCS_OK; UCS_ERR_UNSUPPORTED without that flag; UCS_ERR_NO_MEMORY,
 *         also at a limit of locked memory; UCS_ERR_INVALID_PARAM; or the error
 *         of the device
 */
ucs_status_t uct_md_mem_reg(uct_md_h md, void *address, size_t length,
                            unsigned flags, uct_mem_h *memh_p);

/**
 * Deregisters memory. No operation may use the registration.
 *
 * @return UCS_OK, or UCS_ERR_INVALID_PARAM
 */
ucs_status_t uct_md_mem_dereg(uct_md_h md, uct_mem_h memh);

/**
 * Advises how memory will be used. The advice can affect performance only, and
 * may be ignored. Needs UCT_MD_FLAG_ADVISE.
 *
 * @param [in] md      Memory domain.
 * @param [in] memh    Handle of memory that the domain allocated or registered.
 * @param [in] addr    Start of a range within it.
 * @param [in] length  Length in bytes, above 0.
 * @param [in] advice  Advice.
 *
 * @return UCS_OK; UCS_ERR_UNSUPPORTED without that flag; UCS_ERR_INVALID_PARAM
 */
ucs_status_t uct_md_mem_advise(uct_md_h md, uct_mem_h memh, void *addr,
                               size_t length, uct_mem_advice_t advice);

/*
 * Remote keys.
 */

/**
 * Packs the key that peers need to access memory.
 *
 * @param [in]  md           Memory domain.
 * @param [in]  memh         Memory that the domain registered, with the flags
 *                           of the required access.
 * @param [out] rkey_buffer  Buffer of uct_md_attr::rkey_packed_size bytes,
 *                           which may be sent to peers.
 *
 * @return UCS_OK; UCS_ERR_UNSUPPORTED if the domain has no remote keys;
 *         UCS_ERR_INVALID_PARAM
 */
ucs_status_t uct_md_mkey_pack(uct_md_h md, uct_mem_h memh, void *rkey_buffer);

/**
 * Unpacks a key of a peer, for use in operations.
 *
 * @param [in]  component    Component that packed the key: its transport must
 *                           reach the device of the peer.
 * @param [in]  rkey_buffer  Packed key.
 * @param [out] rkey_ob      Key; release it by uct_rkey_release().
 *
 * @return UCS_ERR_INVALID_PARAM if the component did not pack this key;
 *         UCS_ERR_UNREACHABLE if this process cannot reach the memory.
 */
ucs_status_t uct_rkey_unpack(uct_component_h component, const void *rkey_buffer,
                             uct_rkey_bundle_t *rkey_ob);

/**
 * Returns a pointer by which this process can access a peer's memory directly.
 * Needs UCT_COMPONENT_FLAG_RKEY_PTR.
 *
 * @param [in]  component    Component that unpacked the key.
 * @param [in]  rkey_ob      Key.
 * @param [in]  remote_addr  Address at the peer, within the key's memory.
 * @param [out] addr_p       Local address of the memory; valid until the key is
 *                           released.
 *
 * @return UCS_ERR_UNSUPPORTED if direct access to this memory is not possible;
 *         UCS_ERR_INVALID_ADDR if the address is not within it.
 */
ucs_status_t uct_rkey_ptr(uct_component_h component, uct_rkey_bundle_t *rkey_ob,
                          uint64_t remote_addr, void **addr_p);

/**
 * Releases a key of uct_rkey_unpack(). No operation may use it.
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for a key of another component
 */
ucs_status_t uct_rkey_release(uct_component_h component,
                              const uct_rkey_bundle_t *rkey_ob);

/** @} */

END_C_DECLS

#endif
