/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UCT, the transport interface: components, workers, interfaces and endpoints.
 * Programs include this file, which includes the other headers: uct_md.h
 * (memory), uct_ops.h (sending and receiving), uct_cm.h (connections by socket
 * address).
 *
 * Rules for all calls, unless stated otherwise:
 * - The thread mode of a worker applies to the worker, its interfaces and
 *   connection managers, and their endpoints and listeners. Objects of other
 *   kinds may be used by several threads at once.
 * - Output parameters are set on success only.
 * - A call that returns ucs_status_t returns UCS_OK, or UCS_ERR_INVALID_PARAM
 *   for invalid parameters, UCS_ERR_NO_MEMORY if memory cannot be allocated,
 *   UCS_ERR_UNSUPPORTED if the transport does not support the call, or a status
 *   that its description lists.
 * - Handles passed in must be valid; they are not checked.
 */
#ifndef UCT_API_UCT_H_
#define UCT_API_UCT_H_

#include <uct/api/tl.h>
#include <uct/api/uct_cm.h>
#include <uct/api/uct_def.h>
#include <uct/api/uct_iface_def.h>
#include <uct/api/uct_md.h>
#include <uct/api/uct_ops.h>
#include <uct/api/version.h>
#include <ucs/async/async_fwd.h>
#include <ucs/datastruct/callbackq_compat.h>
#include <ucs/datastruct/list.h>
#include <ucs/memory/numa.h>
#include <ucs/type/thread_mode.h>

BEGIN_C_DECLS

/*
 * Components.
 */

/** @addtogroup UCT_RESOURCE
 *  @{ */

/**
 * Lists the components that this process can use.
 *
 * @param [out] components_p      Array of handles; release it by
 *                                uct_release_component_list(). The handles
 *                                outlive the array.
 * @param [out] num_components_p  Number of them.
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM; UCS_ERR_NO_MEMORY
 */
ucs_status_t uct_query_components(uct_component_h **components_p,
                                  unsigned *num_components_p);

/** Frees the array of uct_query_components(); NULL is ignored. */
void uct_release_component_list(uct_component_h *components);

/**
 * Queries the attributes of a component.
 *
 * @param [in]     component       Component.
 * @param [in,out] component_attr  Set field_mask, and md_resources if it is
 *                                 requested; the requested fields are filled.
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM if md_resources is requested and NULL;
 *         or, if one of the fields md_* is requested, the error of loading the
 *         plugin
 */
ucs_status_t uct_component_query(uct_component_h component,
                                 uct_component_attr_t *component_attr);

/*
 * Configuration. A configuration contains the settings for one kind of object
 * (memory domain, interface, connection manager), and may be used to open any
 * number of such objects.
 */

/**
 * Creates the configuration of a transport's interfaces from defaults, file and
 * environment. The environment overrides the file, the file the defaults.
 *
 * @param [in]  md          Memory domain of the transport.
 * @param [in]  tl_name     Transport. NULL for interfaces opened by socket
 *                          address, on domains with UCT_MD_FLAG_SOCKADDR.
 * @param [in]  env_prefix  If not NULL, the variables PREFIX_UCX_xx take
 *                          precedence over UCX_xx.
 * @param [in]  filename    If not NULL, a file to read; a missing file is not
 *                          an error.
 * @param [out] config_p    Configuration; release with uct_config_release().
 *
 * @return UCS_ERR_NO_ELEM if the domain has no such transport;
 *         UCS_ERR_INVALID_PARAM for a value that cannot be parsed.
 */
ucs_status_t uct_md_iface_config_read(uct_md_h md, const char *tl_name,
                                      const char *env_prefix,
                                      const char *filename,
                                      uct_iface_config_t **config_p);

/** Frees a configuration of any of the three kinds. Objects that were opened
 *  with it are not affected. */
void uct_config_release(void *config);

/**
 * Returns the value of a setting as text.
 *
 * @param [in]  config  uct_iface_config_t, uct_md_config_t or uct_cm_config_t.
 * @param [in]  name    Name of the setting, with or without the prefixes of its
 *                      variable: SEG_SIZE, TCP_SEG_SIZE or UCX_TCP_SEG_SIZE.
 * @param [out] value   The caller's buffer; zero-terminated, truncated if it is
 *                      too small.
 * @param [in]  max     Size of the buffer in bytes.
 *
 * @return UCS_ERR_NO_ELEM if there is no such setting.
 */
ucs_status_t uct_config_get(void *config, const char *name, char *value,
                            size_t max);

/**
 * Changes a setting.
 *
 * @param [in] config  uct_iface_config_t, uct_md_config_t or uct_cm_config_t.
 * @param [in] name    Name of the setting, as for uct_config_get().
 * @param [in] value   New value as text.
 *
 * @return UCS_ERR_NO_ELEM if there is no such setting, UCS_ERR_INVALID_PARAM if
 *         the value is invalid; the setting is unchanged then.
 */
ucs_status_t uct_config_modify(void *config, const char *name,
                               const char *value);

/*
 * Transports on a memory domain.
 */

/**
 * Lists the transports and devices that can be opened on a memory domain.
 *
 * @param [in]  md               Memory domain.
 * @param [out] resources_p      Array; release it by
 *                               uct_release_tl_resource_list().
 * @param [out] num_resources_p  Number of them; 0 is not an error.
 *
 * @return UCS_OK, also if there are none; UCS_ERR_INVALID_PARAM;
 *         UCS_ERR_NO_MEMORY
 */
ucs_status_t uct_md_query_tl_resources(uct_md_h md,
                                       uct_tl_resource_desc_t **resources_p,
                                       unsigned *num_resources_p);

/** Frees the array of uct_md_query_tl_resources(); NULL is ignored. */
void uct_release_tl_resource_list(uct_tl_resource_desc_t *resources);

/** @} */

/*
 * Workers.
 */

/** @addtogroup UCT_CONTEXT
 *  @{ */

/**
 * Creates a worker, which progresses its interfaces. Workers are independent of
 * each other: a program may have one for each thread.
 *
 * @param [in]  async        Context for asynchronous events; not NULL. It must
 *                           exist longer than the worker.
 * @param [in]  thread_mode  How threads will use the worker and the objects
 *                           that are created on it.
 * @param [out] worker_p     Worker.
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for an unknown thread mode;
 *         UCS_ERR_NO_MEMORY
 */
ucs_status_t uct_worker_create(ucs_async_context_t *async,
                               ucs_thread_mode_t thread_mode,
                               uct_worker_h *worker_p);

/** Destroys a worker; close its interfaces and connection managers first. */
void uct_worker_destroy(uct_worker_h worker);

/**
 * Progresses the worker's interfaces whose progress is enabled: they send and
 * receive, and call most callbacks. Must not be called from a callback.
 *
 * @param [in] worker  Worker.
 *
 * @return 0 if there was nothing to do; otherwise the number of events that
 *         were processed.
 */
unsigned uct_worker_progress(uct_worker_h worker);

/**
 * Adds a callback that uct_worker_progress() calls: every time, or only once
 * with UCS_CALLBACKQ_FLAG_ONESHOT. Any thread may add callbacks at any time.
 *
 * @param [in]     worker  Worker.
 * @param [in]     func    Callback; returns the number of events that it
 *                         processed.
 * @param [in]     arg     Its argument.
 * @param [in]     flags   Bits of ucs_callbackq_flags.
 * @param [in,out] id_p    If UCS_CALLBACKQ_ID_NULL, becomes the callback's
 *                         identifier. Otherwise the call has no effect.
 */
void uct_worker_progress_register_safe(uct_worker_h worker, ucs_callback_t func,
                                       void *arg, unsigned flags,
                                       uct_worker_cb_id_t *id_p);

/**
 * Removes a callback of uct_worker_progress_register_safe(). Any thread may
 * remove callbacks at any time. If another thread is running the callback, it
 * may still be running after the return.
 *
 * @param [in]     worker  Worker.
 * @param [in,out] id_p    Identifier; becomes UCS_CALLBACKQ_ID_NULL. If it has
 *                         this value already, the call has no effect.
 */
void uct_worker_progress_unregister_safe(uct_worker_h worker,
                                         uct_worker_cb_id_t *id_p);

/** @} */

/*
 * Interfaces.
 */

/** @addtogroup UCT_RESOURCE
 *  @{ */

/**
 * Opens a transport. Progress is disabled initially, see
 * uct_iface_progress_enable().
 *
 * @param [in]  md       Memory domain.
 * @param [in]  worker   Worker that will progress the interface.
 * @param [in]  params   The transport and device, and options.
 * @param [in]  config   From uct_md_iface_config_read() for the same transport.
 * @param [out] iface_p  Interface.
 *
 * @return UCS_ERR_NO_DEVICE if there is no such transport or device.
 */
ucs_status_t uct_iface_open(uct_md_h md, uct_worker_h worker,
                            const uct_iface_params_t *params,
                            const uct_iface_config_t *config,
                            uct_iface_h *iface_p);

/** Closes an interface; destroy its endpoints and release its descriptors
 *  first. */
void uct_iface_close(uct_iface_h iface);

/**
 * Queries the attributes of an interface. The attributes do not change.
 *
 * @param [in]  iface       Interface.
 * @param [out] iface_attr  All fields are filled.
 *
 * @return UCS_OK, or UCS_ERR_INVALID_PARAM
 */
ucs_status_t uct_iface_query(uct_iface_h iface, uct_iface_attr_t *iface_attr);

/**
 * Writes the address of the interface's device. Interfaces on the same device
 * have the same device address.
 *
 * @param [in]  iface  Interface.
 * @param [out] addr   Buffer of uct_iface_attr::device_addr_len bytes.
 *
 * @return UCS_OK, or UCS_ERR_INVALID_PARAM
 */
ucs_status_t uct_iface_get_device_address(uct_iface_h iface,
                                          uct_device_addr_t *addr);

/**
 * Writes the address of the interface. Needs UCT_IFACE_FLAG_CONNECT_TO_IFACE.
 *
 * @param [in]  iface  Interface.
 * @param [out] addr   Buffer of uct_iface_attr::iface_addr_len bytes.
 *
 * @return UCS_OK; UCS_ERR_UNSUPPORTED without that flag; UCS_ERR_INVALID_PARAM
 */
ucs_status_t uct_iface_get_address(uct_iface_h iface, uct_iface_addr_t *addr);

/**
 * Checks whether an address is reachable, as far as this side can determine: a
 * positive result does not mean that the network works.
 *
 * @param [in] iface       Interface.
 * @param [in] dev_addr    The peer's device address; NULL if such addresses are
 *                         empty (device_addr_len is 0), and only then.
 * @param [in] iface_addr  The peer's interface address; NULL if and only if
 *                         iface_addr_len is 0.
 *
 * @return Nonzero if the address is reachable.
 */
int uct_iface_is_reachable(const uct_iface_h iface,
                           const uct_device_addr_t *dev_addr,
                           const uct_iface_addr_t *iface_addr);

/**
 * Returns the descriptor that becomes readable when there are events. Needs
 * UCT_IFACE_FLAG_EVENT_FD. The interface owns it: poll it, but do not read from
 * it or close it.
 *
 * @param [in]  iface  Interface.
 * @param [out] fd_p   Descriptor.
 *
 * @return UCS_OK; UCS_ERR_UNSUPPORTED without that flag; UCS_ERR_INVALID_PARAM
 */
ucs_status_t uct_iface_event_fd_get(uct_iface_h iface, int *fd_p);

/**
 * Arms the descriptor: it becomes readable at the next event. Required before
 * each wait; the usual loop progresses until nothing is left, arms, and waits
 * only if that succeeded.
 *
 * @param [in] iface   Interface.
 * @param [in] events  Bits of uct_iface_event_types.
 *
 * @return UCS_OK: the descriptor becomes readable at the next event.
 *         UCS_ERR_BUSY: there are events to progress already; the descriptor is
 *         not armed.
 */
ucs_status_t uct_iface_event_arm(uct_iface_h iface, unsigned events);

/**
 * Makes uct_worker_progress() progress the interface.
 *
 * @param [in] iface  Interface.
 * @param [in] flags  Bits of uct_progress_types. Without
 *                    UCT_PROGRESS_THREAD_SAFE, no other thread may be in
 *                    uct_worker_progress().
 */
void uct_iface_progress_enable(uct_iface_h iface, unsigned flags);

/** Disables progress of the interface, so that the worker's other interfaces
 *  are progressed faster; parameters as for uct_iface_progress_enable(). */
void uct_iface_progress_disable(uct_iface_h iface, unsigned flags);

/**
 * Progresses one interface, whether its progress is enabled or not.
 *
 * @param [in] iface  Interface.
 *
 * @return 0 if there was nothing to do; otherwise the number of events that
 *         were processed.
 */
unsigned uct_iface_progress(uct_iface_h iface);

/**
 * Allocates host memory: by a function of the transport, if it has one,
 * otherwise by the memory domain, which registers the memory. If the domain
 * cannot allocate, allocates memory of the process that is not registered.
 *
 * @param [in]  iface   Interface.
 * @param [in]  length  Length in bytes, above 0.
 * @param [in]  flags   Bits of uct_md_mem_flags.
 * @param [in]  name    Purpose of the memory, for log messages.
 * @param [out] mem     The memory; release it by uct_iface_mem_free().
 *
 * @return UCS_OK; UCS_ERR_NO_MEMORY if no method can allocate it;
 *         UCS_ERR_INVALID_PARAM
 */
ucs_status_t uct_iface_mem_alloc(uct_iface_h iface, size_t length,
                                 unsigned flags, const char *name,
                                 uct_allocated_memory_t *mem);

/** Frees memory of uct_iface_mem_alloc(); it must not be in use. */
void uct_iface_mem_free(const uct_allocated_memory_t *mem);

/*
 * Endpoints.
 */

/**
 * Creates an endpoint, in one of these ways:
 *
 * - iface alone: not connected. Exchange addresses, then call
 *   uct_ep_connect_to_ep(). Needs UCT_IFACE_FLAG_CONNECT_TO_EP.
 * - iface, dev_addr, iface_addr: connected to the peer's interface. Needs
 *   UCT_IFACE_FLAG_CONNECT_TO_IFACE.
 * - sockaddr with cm, or with iface that has
 *   UCT_IFACE_FLAG_CONNECT_TO_SOCKADDR: a client of the server at sockaddr.
 * - cm and conn_request: the server's side of a connection.
 *
 * The connection need not be established when the call returns. A failure is
 * reported to the error handler, or to the callbacks of connection setup.
 * Operations on an endpoint that is not connected yet are queued, or return
 * UCS_ERR_NO_RESOURCE.
 *
 * @param [in]  params  Parameters as described above. A conn_request is
 *                      consumed in any case, also after a failure.
 * @param [out] ep_p    Endpoint.
 *
 * @return UCS_ERR_UNREACHABLE if the address cannot be reached, or another
 *         error.
 */
ucs_status_t uct_ep_create(const uct_ep_params_t *params, uct_ep_h *ep_p);

/**
 * Destroys an endpoint. Purge its pending queue before
 * (uct_ep_pending_purge()). Active messages that were accepted before are still
 * delivered while the interface is open and progressed. Other operations in
 * flight may be cancelled, and closing the interface does not wait for them:
 * flush first to complete them. Buffers of operations in flight belong to the
 * transport until the interface is closed.
 */
void uct_ep_destroy(uct_ep_h ep);

/**
 * Writes the address of an endpoint. Needs UCT_IFACE_FLAG_CONNECT_TO_EP.
 *
 * @param [in]  ep    Endpoint.
 * @param [out] addr  Buffer of uct_iface_attr::ep_addr_len bytes.
 *
 * @return UCS_OK; UCS_ERR_UNSUPPORTED without that flag; UCS_ERR_INVALID_PARAM
 */
ucs_status_t uct_ep_get_address(uct_ep_h ep, uct_ep_addr_t *addr);

/**
 * Connects an endpoint to the peer's endpoint; the peer must connect its
 * endpoint, too. Needs UCT_IFACE_FLAG_CONNECT_TO_EP.
 *
 * @param [in] ep        Endpoint that was created unconnected.
 * @param [in] dev_addr  The peer's device address.
 * @param [in] ep_addr   The peer's endpoint address.
 *
 * @return UCS_OK; UCS_ERR_UNSUPPORTED without that flag; UCS_ERR_INVALID_PARAM
 *         for an invalid address; or the error of the device
 */
ucs_status_t uct_ep_connect_to_ep(uct_ep_h ep,
                                  const uct_device_addr_t *dev_addr,
                                  const uct_ep_addr_t *ep_addr);

/**
 * Checks whether the peer is alive. Needs UCT_IFACE_FLAG_EP_CHECK.
 *
 * @param [in] ep     Endpoint.
 * @param [in] flags  0.
 * @param [in] comp   Called with the result if the check takes time; may be
 *                    NULL: only the error handler is notified of a lost peer
 *                    then.
 *
 * @return UCS_OK: alive, or comp is NULL and the check is in progress.
 *         UCS_INPROGRESS: comp will be called. UCS_ERR_NO_RESOURCE: try later.
 *         Another status: the error of the endpoint.
 */
ucs_status_t uct_ep_check(const uct_ep_h ep, unsigned flags,
                          uct_completion_t *comp);

/** @} */

END_C_DECLS

#endif
