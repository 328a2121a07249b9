/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry point of a plugin. Includes the whole plugin ABI.
 */
#ifndef UCX_PLUGIN_H
#define UCX_PLUGIN_H

#include <ucx/abi.h>
#include <ucx/config.h>
#include <ucx/host.h>
#include <ucx/component.h>
#include <ucx/transport.h>
#include <ucx/cm.h>

UCX_BEGIN_DECLS

/** Descriptor of a plugin: constant data of the plugin. */
typedef struct ucx_plugin {
    size_t size;
    uint32_t abi;        /**< UCX_PLUGIN_ABI_VERSION of the headers with which
                          *   the plugin is built */
    const char *name;    /**< The name in the manifest */
    const char *version; /**< The version in the manifest */
    const ucx_component_t *const *components;
    unsigned num_components;
    /** Frees what the entry point has allocated. The last call into the plugin,
     *  after all its objects are closed. Any thread; may block, for example to
     *  stop threads of the plugin. May be NULL. */
    void (*fini)(void);
} ucx_plugin_t;

/** Arguments of the entry point. */
typedef struct ucx_plugin_args {
    size_t size;
    uint32_t abi_min;       /**< Oldest ABI version that the core supports,
                             *   encoded by UCX_PLUGIN_ABI() */
    uint32_t abi_max;       /**< Newest ABI version that the core supports */
    const ucx_host_t *host; /**< Valid until fini() */
    const char *directory;  /**< Folder of the manifest; valid during the
                             *   call */
    char *reason;           /**< Receives the reason of a rejection */
    size_t reason_size;     /**< Bytes at `reason` */
} ucx_plugin_args_t;

/**
 * Type of ucx_plugin_entry(), the one symbol that a plugin exports. The linker
 * gives the symbol the version node UCX_PLUGIN_1.0.
 *
 * The function opens no device and starts no thread. On UCS_OK it stores a
 * descriptor that is valid until fini(). Errors: UCS_ERR_UNSUPPORTED (the core
 * does not support the plugin's ABI version), UCS_ERR_NO_DEVICE (no device for
 * this plugin) or any other; each time, the function writes a reason to
 * args->reason. Any thread; several cores of one process may call it.
 */
typedef ucs_status_t (*ucx_plugin_entry_t)(const ucx_plugin_args_t *args,
                                           const ucx_plugin_t **plugin_p);

#define UCX_PLUGIN_ENTRY_SYMBOL "ucx_plugin_entry"

UCX_PLUGIN_EXPORT ucs_status_t ucx_plugin_entry(const ucx_plugin_args_t *args,
                                                const ucx_plugin_t **plugin_p);

UCX_END_DECLS

#endif
