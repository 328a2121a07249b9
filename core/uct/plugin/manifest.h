/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plugin's manifest as a structure. Reading it runs no code of the plugin and
 * accesses only the manifest. The scan of the registry decides whether the
 * plugin is usable.
 */
#ifndef UCT_PLUGIN_MANIFEST_H
#define UCT_PLUGIN_MANIFEST_H

#include <jansson.h>
#include <stdint.h>

#include <uct/api/uct.h>

#include "uct/plugin/rejection.h"
#include "uct/plugin/schema.h"
#include "uct/plugin/trust.h"

#define UCT_MANIFEST_SIZE_MAX  (1u << 20)
#define UCT_MANIFEST_DEPTH_MAX 32

typedef enum uct_manifest_kind {
    UCT_MANIFEST_PLUGIN,
    UCT_MANIFEST_OVERRIDE, /* an administrator's settings for a plugin */
} uct_manifest_kind_t;

/* Peers that a transport can reach, as bits. */
enum {
    UCT_REACH_SELF    = 1u << 0,
    UCT_REACH_NODE    = 1u << 1,
    UCT_REACH_NETWORK = 1u << 2,
};

/* Requirements for loading a plugin. */
typedef enum uct_need_kind {
    UCT_NEED_DEVICE,
    UCT_NEED_MODULE,
    UCT_NEED_LIBRARY,
    UCT_NEED_LAST,
} uct_need_kind_t;

typedef struct uct_need {
    const char *name;
    const char *hint; /* what to install; may be NULL */
} uct_need_t;

/* A set of requirements, all of which must be met. */
typedef struct uct_need_group {
    uct_need_t *list[UCT_NEED_LAST];
    unsigned count[UCT_NEED_LAST];
} uct_need_group_t;

typedef struct uct_requires {
    uct_need_group_t all;
    uct_need_group_t *any_of; /* one of the groups must be met; empty: no
                               * requirement */
    unsigned num_any_of;
    const char *hint; /* for the whole group; may be NULL */
} uct_requires_t;

typedef struct uct_names {
    const char **name;
    unsigned count;
} uct_names_t;

typedef struct uct_manifest_transport {
    const char *name;
    uct_names_t aliases;
    uint64_t operations;   /* bits by uct_manifest_operations[] */
    uint64_t capabilities; /* bits by uct_manifest_tl_capabilities[] */
    unsigned reach;
    double latency_ns;     /* 0: not declared */
    double bandwidth_mbps; /* 10^6 bytes per second; 0: not declared */
    const char *device_class;
    uct_names_t device_globs; /* empty: any device */
} uct_manifest_transport_t;

typedef struct uct_manifest_component {
    const char *name;
    uint64_t memory_types; /* bits by ucs_memory_type_t */
    uint64_t capabilities; /* bits by uct_manifest_md_capabilities[] */
    uct_names_t cms;
    uct_manifest_transport_t *transports;
    unsigned num_transports;
} uct_manifest_component_t;

typedef struct uct_manifest_block uct_manifest_block_t;

typedef struct uct_manifest {
    uct_manifest_kind_t kind;
    const char *name; /* name of the plugin, also in an override */

    /* Members of plugins only */
    const char *version;
    const char *vendor;
    const char *license;
    const char *description;
    uint32_t abi;     /* UCX_PLUGIN_ABI() that the plugin was built for */
    uint32_t abi_min; /* oldest ABI version of a core that the plugin
                       * supports */
    const char *library;
    uct_manifest_component_t *components;
    unsigned num_components;
    uct_requires_t requires;
    uct_names_t conflicts;
    uct_names_t replaces;
    uct_names_t config_prefixes;
    int by_default; /* 0: only if selected by name */

    /* Members of plugins and overrides */
    int has_priority;
    int priority;

    /* Members of overrides only */
    int has_enabled;
    int enabled;
    const char *reason; /* may be NULL */

    /* Private. The strings belong to the JSON tree, the arrays to the
     * blocks. */
    json_t *root;
    uct_manifest_block_t *blocks;
} uct_manifest_t;

/* The words that manifests use, indexed by bit; each list is terminated by
 * NULL. For memory types see ucs_memory_type_words. */
extern const char *const uct_manifest_operations[];
extern const char *const uct_manifest_tl_capabilities[];
extern const char *const uct_manifest_md_capabilities[];
extern const char *const uct_manifest_reaches[];

/* Returns the bit of `word` in such a list, or 0. */
uint64_t uct_manifest_word_bit(const char *const *list, const char *word);

/* Convert the words of a manifest to constants of the public API:
 * UCT_IFACE_FLAG_*, UCT_IFACE_FLAG_EVENT_*, UCT_MD_FLAG_*, and a device
 * type. */
uint64_t uct_manifest_iface_flags(const uct_manifest_transport_t *transport);
uint64_t uct_manifest_event_flags(const uct_manifest_transport_t *transport);
uint64_t uct_manifest_md_flags(const uct_manifest_component_t *component);
uct_device_type_t
uct_manifest_device_type(const uct_manifest_transport_t *transport);

/*
 * Parses the text of a manifest. The text need not be zero-terminated, may
 * contain anything, and is not referenced afterwards.
 */
ucs_status_t uct_manifest_parse(const char *text, size_t length,
                                uct_manifest_t **manifest_p,
                                uct_rejection_t *rejection);

/*
 * Reads and parses the file `path`. `real_folder` may be NULL, or a folder
 * whose path contains no links; the path of a file directly in this folder is
 * resolved faster. If `trust` is NULL, owner and permissions are not checked
 * (for `validate`). `real_path`, if not NULL, receives the path of the file
 * without links, at most PATH_MAX bytes.
 */
ucs_status_t uct_manifest_read(const char *path, const char *real_folder,
                               uct_trust_t *trust, unsigned trust_flags,
                               char *real_path, uct_manifest_t **manifest_p,
                               uct_rejection_t *rejection);

void uct_manifest_free(uct_manifest_t *manifest);

const uct_manifest_component_t *
uct_manifest_component(const uct_manifest_t *manifest, const char *name);

const uct_manifest_transport_t *
uct_manifest_transport(const uct_manifest_component_t *component,
                       const char *name);

/* Nonzero if `list` contains `name`. */
int uct_names_has(const uct_names_t *list, const char *name);

#endif
