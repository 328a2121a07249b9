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
 * Queries the attributes of a memory domain. They do not change.
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
 * @param [in]     md        Memory domain to ask.
 * @param [in]     address   Start of the range, not NULL.
 * @param [in]     length    Bytes, above 0.
 * @param [in,out] mem_attr  Set field_mask; the fields asked for are filled,
 *                           with their value for "unknown" where the domain
 *                           cannot detect them.
 *
 * @return UCS_OK if at least one field was detected. UCS_ERR_INVALID_ADDR or
 *         another error if the domain does not know the memory.
 */
ucs_status_t uct_md_mem_query(uct_md_h md, const void *address, size_t length,
                              uct_md_mem_attr_t *mem_attr);

/**
 * Detects the memory type of a range of memory.
 *
 * @param [in]  md          Memory domain to ask.
 * @param [in]  addr        Start of the range.
 * @param [in]  length      Bytes of it.
 * @param [out] mem_type_p  Type.
 *
 * @return UCS_ERR_INVALID_ADDR if the domain does not recognise the memory.
 *         UCS_ERR_UNSUPPORTED if it detects no types of memory, that is, if
 *         uct_md_attr_t::cap.detect_mem_types is 0.
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
 * @param [in] mode      To listen on it, or to connect to it.
 *
 * @return Nonzero if so.
 */
int uct_md_is_sockaddr_accessible(uct_md_h md, const ucs_sock_addr_t *sockaddr,
                                  uct_sockaddr_accessibility_t mode);

/*
 * Allocation and registration.
 */

/**
 * Allocates memory by the first method that works.
 *
 * @param [in]  length       Bytes, above 0. More may be allocated.
 * @param [in]  methods      Methods to try, in this order. For
 *                           UCT_ALLOC_METHOD_MD, the domains of the parameters
 *                           are tried in their order.
 * @param [in]  num_methods  How many.
 * @param [in]  params       Other parameters.
 * @param [out] mem          The memory; release it by uct_mem_free().
 *
 * @return UCS_ERR_NO_MEMORY if no method worked, or the error of the last one.
 */
ucs_status_t uct_mem_alloc(size_t length, const uct_alloc_method_t *methods,
                           unsigned num_methods,
                           const uct_mem_alloc_params_t *params,
                           uct_allocated_memory_t *mem);

/**
 * Frees memory of uct_mem_alloc(), by the method it came from. Nothing may use
 * the memory any more.
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM if the memory is not such memory; or
 *         the error of the domain
 */
ucs_status_t uct_mem_free(const uct_allocated_memory_t *mem);

/**
 * Registers memory for zero-copy operations and remote access. Needs
 * UCT_MD_FLAG_REG. The memory has to stay mapped until it is deregistered.
 *
 * @param [in]  md       Memory domain.
 * @param [in]  address  First byte.
 * @param [in]  length   Bytes, above 0.
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
 * Advises how memory is going to be used. It affects performance only, and may
 * do nothing. Needs UCT_MD_FLAG_ADVISE.
 *
 * @param [in] md      Memory domain.
 * @param [in] memh    Handle of memory allocated or registered there.
 * @param [in] addr    Start of a range within it.
 * @param [in] length  Bytes, above 0.
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
 * Packs the key by which peers access memory.
 *
 * @param [in]  md           Memory domain.
 * @param [in]  memh         Memory registered there, with the access wanted.
 * @param [out] rkey_buffer  Room for uct_md_attr::rkey_packed_size bytes, which
 *                           may be sent to peers.
 *
 * @return UCS_OK; UCS_ERR_UNSUPPORTED if the domain has no remote keys;
 *         UCS_ERR_INVALID_PARAM
 */
ucs_status_t uct_md_mkey_pack(uct_md_h md, uct_mem_h memh, void *rkey_buffer);

/**
 * Makes a peer's key usable.
 *
 * @param [in]  component    The component that packed it: the one whose
 *                           transport reaches the peer's device.
 * @param [in]  rkey_buffer  Packed key.
 * @param [out] rkey_ob      Key; give it back with uct_rkey_release().
 *
 * @return UCS_ERR_INVALID_PARAM if the component did not pack this;
 *         UCS_ERR_UNREACHABLE if the memory cannot be reached from here.
 */
ucs_status_t uct_rkey_unpack(uct_component_h component, const void *rkey_buffer,
                             uct_rkey_bundle_t *rkey_ob);

/**
 * Gives a plain pointer to a peer's memory. Needs UCT_COMPONENT_FLAG_RKEY_PTR.
 *
 * @param [in]  component    Component that unpacked the key.
 * @param [in]  rkey_ob      Key.
 * @param [in]  remote_addr  Address at the peer, within the key's memory.
 * @param [out] addr_p       Where it is here; valid until the key is released.
 *
 * @return UCS_ERR_UNSUPPORTED if this memory cannot be had directly;
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
