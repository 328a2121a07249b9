/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Components inside the core: the declaration from the manifest, which is
 * available without loading, and the code, which is loaded when an object is
 * opened.
 *
 * A handle is valid for the life of the process: the code of a loaded plugin is
 * not unloaded while a user may hold an address in it.
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
    const char *const *aliases; /* num_aliases other names in a selection
                                 * list */
    unsigned num_aliases;
    uint64_t cap_flags;   /* UCT_IFACE_FLAG_* */
    uint64_t event_flags; /* UCT_IFACE_FLAG_EVENT_* */
    uint64_t features;    /* UCT_IFACE_FEATURE_* */
    unsigned reach;       /* UCT_TL_REACH_* */
    uct_device_type_t dev_type;
    double latency;   /* s; 0: not declared */
    double bandwidth; /* bytes/s; 0: not declared */
} uct_tl_decl_t;

/* Maximum capabilities of a component, as declared. */
typedef struct uct_component_decl {
    const char *name;
    const char *plugin; /* NULL: built in */
    uint64_t flags;     /* UCT_COMPONENT_FLAG_* */
    uint64_t md_flags;  /* UCT_MD_FLAG_* */
    uint64_t mem_types; /* bits by ucs_memory_type_t */
    int priority;       /* higher is first */
    int by_name_only;   /* used only if selected by name */
    const uct_tl_decl_t *transports;
    unsigned num_transports;
} uct_component_decl_t;

/* Returns the declaration, never NULL. Loads no code. */
const uct_component_decl_t *uct_component_decl(uct_component_h component);

/*
 * For tools: loads the code and lets the plugin check whether this process can
 * use the component, which may start drivers. On an error, `reason` receives
 * the cause, or an empty text if the status is sufficient.
 */
ucs_status_t uct_component_inspect(uct_component_h component, char *reason,
                                   size_t reason_size);

/* True if the code is loaded; always true for a built-in component. */
int uct_component_is_loaded(uct_component_h component);

/*
 * Loads the code if it is not loaded; thread-safe. A failure other than
 * UCS_ERR_NO_MEMORY is stored and returned by later calls; its reason is logged
 * once, and `ucx-plugins why` shows it.
 */
ucs_status_t uct_component_load(uct_component_h component);

/* Count the open domains and connection managers of the component. While there
 * are any, uct_component_free_all() does not unload the code. */
void uct_component_opened(uct_component_h component);
void uct_component_closed(uct_component_h component);

/* Finds a component by name; NULL if there is none. Loads no code. */
uct_component_h uct_component_find(const char *name);

/*
 * Returns the first component after `previous` (from the start if NULL) that
 * declares a transport with the name or alias `name`, in the order of
 * uct_query_components(); NULL if there is none. Loads no code.
 */
uct_component_h uct_component_find_by_tl(const char *name,
                                         uct_component_h previous);

/* True if the transport has the name or alias `name`. */
int uct_tl_decl_is_called(const uct_tl_decl_t *tl, const char *name);

#endif
