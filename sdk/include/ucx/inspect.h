/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tools that examine a plugin, such as ucx-plugin-check: the contents of a
 * manifest as the core reads it, whether the core uses the plugin and why not,
 * and what a tool needs of the core to run the plugin. Implemented by
 * libuct-core. It belongs neither to the UCT API nor to the plugin ABI: a tool
 * is built for the version of the core that it runs with.
 *
 * Any thread, unless a function says otherwise.
 */
#ifndef UCX_INSPECT_H
#define UCX_INSPECT_H

#include <ucs/config/types.h>
#include <uct/api/uct.h>
#include <ucx/plugin.h>

UCX_BEGIN_DECLS

/* --- Manifests ----------------------------------------------------------- */

/** Peers that a transport can reach, as bits. */
enum {
    UCX_MANIFEST_REACH_SELF    = 1u << 0,
    UCX_MANIFEST_REACH_NODE    = 1u << 1,
    UCX_MANIFEST_REACH_NETWORK = 1u << 2,
};

/** Atomic operations, as bits. */
enum {
    UCX_MANIFEST_ATOMIC32_POST  = 1u << 0,
    UCX_MANIFEST_ATOMIC32_FETCH = 1u << 1,
    UCX_MANIFEST_ATOMIC64_POST  = 1u << 2,
    UCX_MANIFEST_ATOMIC64_FETCH = 1u << 3,
};

/** Flags that a manifest can declare. A manifest cannot express other flags. */
typedef struct ucx_manifest_flags {
    uint64_t iface; /**< UCT_IFACE_FLAG_* */
    uint64_t event; /**< UCT_IFACE_FLAG_EVENT_* */
    uint64_t md;    /**< UCT_MD_FLAG_* */
} ucx_manifest_flags_t;

/** A transport, as its manifest declares it. */
typedef struct ucx_manifest_transport {
    const char *name;
    int has_operations;       /**< Non-zero: at least one operation is
                               *   declared */
    uint64_t iface_flags;     /**< UCT_IFACE_FLAG_* */
    uint64_t event_flags;     /**< UCT_IFACE_FLAG_EVENT_* */
    unsigned atomics;         /**< UCX_MANIFEST_ATOMIC* */
    unsigned reach;           /**< UCX_MANIFEST_REACH_* */
    const char *device_class; /**< The word for the device type in the
                               *   manifest */
    uct_device_type_t device_type;
    const char *const *device_globs; /**< Patterns of names of devices */
    unsigned num_device_globs;       /**< 0: any device */
    double latency;                  /**< Seconds; 0: not declared */
    double bandwidth;                /**< Bytes per second; 0: not declared */
} ucx_manifest_transport_t;

/** A component, as its manifest declares it. */
typedef struct ucx_manifest_component {
    const char *name;
    uint64_t memory_types; /**< Types of memory that the component supports: bit
                            *   n is the value n of ucs_memory_type_t */
    uint64_t md_flags;     /**< UCT_MD_FLAG_* */
    int has_cm;            /**< Non-zero: the component has a connection
                            *   manager */
    ucx_manifest_transport_t *transports; /**< num_transports entries */
    unsigned num_transports;
} ucx_manifest_component_t;

/** The manifest of a plugin. */
typedef struct ucx_manifest {
    const char *name; /**< Name of the plugin */
    const char *version;
    const char *library;        /**< File name of the shared object */
    ucx_manifest_flags_t known; /**< All flags that a manifest can declare; the
                                 *   same for every manifest */
    ucx_manifest_component_t *components; /**< num_components entries */
    unsigned num_components;
    void *manifest; /**< Private: owns the strings */
} ucx_manifest_t;

/** Reads a manifest without checking owner and permissions. Returns NULL if it
 * is not valid; `why` receives the reason. */
ucx_manifest_t *ucx_manifest_read(const char *path, char *why, size_t why_size);
/** Frees a manifest; NULL is ignored. */
void ucx_manifest_free(ucx_manifest_t *manifest);

/** Returns NULL if the component is not declared. */
const ucx_manifest_component_t *
ucx_manifest_component(const ucx_manifest_t *manifest, const char *name);
/** Returns NULL if the transport is not declared, or `component` is NULL. */
const ucx_manifest_transport_t *
ucx_manifest_transport(const ucx_manifest_component_t *component,
                       const char *name);

/* --- Plugins ------------------------------------------------------------- */

/** Whether the core uses a plugin, and if not, why. The texts do not end with a
 *  line feed. */
typedef struct ucx_verdict {
    unsigned code;  /**< 302 for UCX-P302; 0: the core uses the plugin */
    const char *id; /**< "UCX-P302" */
    const char *meaning;
    const char *remedy;
    char reason[1024]; /**< What is wrong with this plugin; empty if `code` is
                        *   0 */
} ucx_verdict_t;

/**
 * Finds a plugin among those that the process can find. `manifest_path` is the
 * path of its manifest without symbolic links, as from realpath(). Loads
 * nothing. The first call reads UCX_PLUGIN_PATH; later changes of this variable
 * have no effect.
 *
 * UCS_OK: *verdict states whether the core uses the plugin. UCS_ERR_NO_ELEM:
 * the plugin is not found. Other errors: the search failed.
 */
ucs_status_t ucx_inspect_find(const char *manifest_path,
                              ucx_verdict_t *verdict);

/**
 * Loads a plugin, which is found as by ucx_inspect_find(). Does the same as the
 * core, but passes the services of `host` to the plugin; the whole process then
 * uses the plugin with these services. `host` must be valid until the process
 * ends. If the call fails, *verdict states why.
 */
ucs_status_t ucx_inspect_load(const char *manifest_path, const ucx_host_t *host,
                              const ucx_plugin_t **descriptor_p,
                              ucx_verdict_t *verdict);

/* --- The running core ---------------------------------------------------- */

/** The services that the core passes to plugins. */
const ucx_host_t *ucx_inspect_host(void);

/** Receives a line of the log. If it returns non-zero, the log does not print
 *  the line. */
typedef int (*ucx_inspect_log_cb_t)(void *arg, const char *file, unsigned line,
                                    const char *function, ucs_log_level_t level,
                                    const char *message);

/** Sets the log level, and the function that receives each line, or NULL for
 *  none. Returns the previous level. No other thread may log during the
 *  call. */
ucs_log_level_t ucx_inspect_log(ucs_log_level_t level, ucx_inspect_log_cb_t cb,
                                void *arg);

/** Sets a function that is called whenever a call is queued for the next
 *  progress of the worker. The thread that queues the call calls `wake`. NULL
 *  removes the function. Must be called by the thread of the worker. */
void ucx_inspect_worker_wake(uct_worker_h worker, void (*wake)(void *arg),
                             void *arg);

/** Declares that the owner of the worker only polls, as for
 *  UCX_IFACE_OPEN_POLLED. Applies to interfaces that are opened later. */
void ucx_inspect_worker_polled(uct_worker_h worker);

/** Returns non-zero if a call is queued for the next progress of the worker. */
int ucx_inspect_worker_has_work(uct_worker_h worker);

UCX_END_DECLS

#endif
