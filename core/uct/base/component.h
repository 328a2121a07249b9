/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Components inside the core. A component has a declaration, which is what the
 * manifest of its plugin declares and is available without the plugin's code,
 * and the code, which is loaded when it is needed first.
 *
 * A handle is valid until the core is unloaded, and so is the code of a loaded
 * plugin: users may have pointers to both.
 */
#ifndef UCT_BASE_COMPONENT_H
#define UCT_BASE_COMPONENT_H

#include <uct/api/uct.h>

/* Peers that a transport can reach. */
enum {
    UCT_TL_REACH_SELF    = 1u << 0, /* the process itself */
    UCT_TL_REACH_NODE    = 1u << 1, /* other processes of the host */
    UCT_TL_REACH_NETWORK = 1u << 2, /* other hosts */
};

/* Maximum capabilities of a transport, as declared. The query of an interface
 * returns the actual capabilities. */
typedef struct uct_tl_decl {
    const char *name;
    const char *const *aliases; /* other names by which users may select the
                                 * transport in UCX_TLS */
    unsigned num_aliases;       /* length of that array */
    uint64_t cap_flags;         /* UCT_IFACE_FLAG_* */
    uint64_t event_flags;       /* UCT_IFACE_FLAG_EVENT_* */
    uint64_t features;          /* UCT_IFACE_FEATURE_* */
    unsigned reach;             /* which peers it can reach: UCT_TL_REACH_* */
    uct_device_type_t dev_type; /* of all its devices */
    double latency;             /* s; 0: not declared */
    double bandwidth;           /* bytes/s; 0: not declared */
} uct_tl_decl_t;

/* Maximum capabilities of a component, as declared. */
typedef struct uct_component_decl {
    const char *name;
    const char *plugin; /* name of the plugin; NULL: part of the core */
    uint64_t flags;     /* UCT_COMPONENT_FLAG_* */
    uint64_t md_flags;  /* UCT_MD_FLAG_* of its memory domains */
    uint64_t mem_types; /* memory types that it supports, as UCS_BIT() of
                         * ucs_memory_type_t */
    int priority;       /* of the plugin: those with a higher one come first */
    int by_name_only;   /* its transports are used only if the user selects them
                         * by name */
    const uct_tl_decl_t *transports;
    unsigned num_transports;
} uct_component_decl_t;

/* Returns the declaration, never NULL. Loads no code. */
const uct_component_decl_t *uct_component_decl(uct_component_h component);

/*
 * For tools: loads the code and calls the plugin's inspect slot, which checks
 * whether this process can use the component, and for that may initialize the
 * device's own libraries (for example CUDA). On an error, `reason` receives the
 * cause, or "" if there is nothing to add to the status.
 */
ucs_status_t uct_component_inspect(uct_component_h component, char *reason,
                                   size_t reason_size);

/* True if uct_component_load() has loaded the code. Until then false, also for
 * a built-in component. */
int uct_component_is_loaded(uct_component_h component);

/*
 * Loads the code if it is not loaded; thread-safe. A failure other than
 * UCS_ERR_NO_MEMORY is stored and returned by later calls; its reason is logged
 * once, and `ucx-plugins why` shows it.
 */
ucs_status_t uct_component_load(uct_component_h component);

/* Called when a memory domain or connection manager of the component was opened
 * or closed. While any of them is open, uct_component_free_all() has no
 * effect. */
void uct_component_opened(uct_component_h component);
void uct_component_closed(uct_component_h component);

/* Returns the first component with this name, or NULL. Loads no code. */
uct_component_h uct_component_find(const char *name);

/*
 * Searches the components in the order of uct_query_components(), beginning
 * after `previous`, or with the first one if that is NULL. Returns the first
 * that declares a transport with the name or alias `name`; NULL if there is
 * none. Loads no code.
 */
uct_component_h uct_component_find_by_tl(const char *name,
                                         uct_component_h previous);

/* True if the transport has the name or alias `name`. */
int uct_tl_decl_is_called(const uct_tl_decl_t *tl, const char *name);

#endif
