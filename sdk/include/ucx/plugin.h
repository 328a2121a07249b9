/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry point of a plugin, and all of the plugin ABI by one include.
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

/** What a plugin is: constant data of its own. */
typedef struct ucx_plugin {
    size_t                      size;
    uint32_t                    abi;       /**< UCX_PLUGIN_ABI_VERSION of the
                                                headers it was built with */
    const char                  *name;     /**< As in the manifest */
    const char                  *version;  /**< As in the manifest */
    const ucx_component_t *const *components;
    unsigned                    num_components;
    /** The last call; everything of the plugin is closed. May be NULL. */
    void (*fini)(void);
} ucx_plugin_t;

/** What the entry point is given. */
typedef struct ucx_plugin_args {
    size_t           size;
    uint32_t         abi_min;     /**< The range of ABI versions that the core */
    uint32_t         abi_max;     /**< speaks, by UCX_PLUGIN_ABI() */
    const ucx_host_t *host;       /**< Valid until fini() */
    const char       *directory;  /**< Where the manifest lies; copied if kept */
    char             *reason;     /**< A plugin that refuses says why, for a */
    size_t           reason_size; /**< person, in at most so many bytes */
} ucx_plugin_args_t;

/**
 * The one symbol that a plugin exports, with the version node UCX_PLUGIN_1.0.
 *
 * Opens no device and starts no thread: it only answers. UCS_OK stores a
 * descriptor that stays valid until fini(). Refusals: UCS_ERR_UNSUPPORTED (ABI
 * range does not fit), UCS_ERR_NO_DEVICE (nothing here that it could drive) or
 * any other error, each with a reason.
 */
typedef ucs_status_t (*ucx_plugin_entry_t)(const ucx_plugin_args_t *args,
                                           const ucx_plugin_t **plugin_p);

#define UCX_PLUGIN_ENTRY_SYMBOL "ucx_plugin_entry"

UCX_PLUGIN_EXPORT ucs_status_t
ucx_plugin_entry(const ucx_plugin_args_t *args, const ucx_plugin_t **plugin_p);

UCX_END_DECLS

#endif
