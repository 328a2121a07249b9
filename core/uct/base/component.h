/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Components as the core knows them: the promise, which costs nothing to ask,
 * and the code behind it, which is loaded when something has to be opened.
 *
 * A handle stays valid for the life of the process: a plugin's code, once
 * loaded, is not unloaded under a user who may hold an address of it.
 */
#ifndef UCT_BASE_COMPONENT_H
#define UCT_BASE_COMPONENT_H

#include <uct/api/uct.h>

/* Peers that a transport may reach. */
enum {
    UCT_TL_REACH_SELF    = 1u << 0,  /* the process itself */
    UCT_TL_REACH_NODE    = 1u << 1,  /* other processes of the host */
    UCT_TL_REACH_NETWORK = 1u << 2   /* other hosts */
};

/* What a transport promises at most. The interface's query is the truth. */
typedef struct uct_tl_promise {
    const char        *name;
    const char *const *aliases;      /* num_aliases further words for it in a
                                        selection list */
    unsigned          num_aliases;
    uint64_t          cap_flags;     /* UCT_IFACE_FLAG_* */
    uint64_t          event_flags;   /* UCT_IFACE_FLAG_EVENT_* */
    uint64_t          features;      /* UCT_IFACE_FEATURE_* */
    unsigned          reach;         /* UCT_TL_REACH_* */
    uct_device_type_t dev_type;
    double            latency;       /* s; 0: not told */
    double            bandwidth;     /* bytes/s; 0: not told */
} uct_tl_promise_t;

/* What a component promises at most. */
typedef struct uct_component_promise {
    const char             *name;
    const char             *plugin;     /* NULL: built in */
    uint64_t               flags;       /* UCT_COMPONENT_FLAG_* */
    uint64_t               md_flags;    /* UCT_MD_FLAG_* */
    uint64_t               mem_types;   /* bits by ucs_memory_type_t */
    int                    priority;    /* higher comes first */
    int                    by_name_only; /* used only when asked for by name */
    const uct_tl_promise_t *transports;
    unsigned               num_transports;
} uct_component_promise_t;

/* Never NULL; loads nothing. */
const uct_component_promise_t *uct_component_promise(uct_component_h component);

/* True once the code is there; a built-in one's always is. */
int uct_component_is_loaded(uct_component_h component);

/*
 * Loads the code if it is not there yet; thread-safe. A failure is remembered
 * and told again by each later call; why it failed has been logged once and is
 * known to `ucx-plugins why`.
 */
ucs_status_t uct_component_load(uct_component_h component);

/* What is open of a component keeps it. */
void uct_component_opened(uct_component_h component);
void uct_component_closed(uct_component_h component);

/* By the component's name; NULL: there is none. Loads nothing. */
uct_component_h uct_component_find(const char *name);

/*
 * The first component after `previous` (NULL: from the start), in the order of
 * uct_query_components, that promises a transport which is called `name` or
 * has it among its aliases. NULL: no more. Loads nothing.
 */
uct_component_h
uct_component_find_by_tl(const char *name, uct_component_h previous);

/* True if the transport is called `name` or has it among its aliases. */
int uct_tl_promise_is_called(const uct_tl_promise_t *tl, const char *name);

#endif
