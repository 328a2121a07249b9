/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a plugin's manifest (a JSON file that describes the plugin) and
 * represents it as a structure. The functions run no code of the plugin and
 * access no file but the manifest. Whether the plugin is usable is decided
 * elsewhere, in registry_scan.c.
 *
 * A file in the format of a manifest may also be an override: settings of an
 * administrator for the plugin that it names.
 */
#ifndef UCT_PLUGIN_MANIFEST_H
#define UCT_PLUGIN_MANIFEST_H

#include <jansson.h>
#include <stdint.h>

#include <uct/api/uct.h>

#include "uct/plugin/rejection.h"
#include "uct/plugin/schema.h"
#include "uct/plugin/trust.h"

#define UCT_MANIFEST_SIZE_MAX  (1u << 20) /* bytes of a file */
#define UCT_MANIFEST_DEPTH_MAX 32         /* nested objects and arrays */

typedef enum uct_manifest_kind {
    UCT_MANIFEST_PLUGIN,
    UCT_MANIFEST_OVERRIDE, /* an administrator's settings for a plugin */
} uct_manifest_kind_t;

/* Peers that a transport can reach, as bits: the same process, other processes
 * of the same machine, other machines. In the order of
 * uct_manifest_reaches[]. */
enum {
    UCT_REACH_SELF    = 1u << 0,
    UCT_REACH_NODE    = 1u << 1,
    UCT_REACH_NETWORK = 1u << 2,
};

/* Kinds of requirements that must be met before a plugin is loaded: a device
 * node, a kernel module, a shared library. UCT_NEED_LAST is their number. */
typedef enum uct_need_kind {
    UCT_NEED_DEVICE,
    UCT_NEED_MODULE,
    UCT_NEED_LIBRARY,
    UCT_NEED_LAST,
} uct_need_kind_t;

typedef struct uct_need {
    const char *name; /* shell pattern of device paths, name of a module, or
                       * soname or absolute path of a library */
    const char *hint; /* what the user should install; may be NULL */
} uct_need_t;

/* A set of requirements, all of which must be met. Both arrays are indexed by
 * uct_need_kind_t: list[kind] has count[kind] elements. */
typedef struct uct_need_group {
    uct_need_t *list[UCT_NEED_LAST];
    unsigned count[UCT_NEED_LAST];
} uct_need_group_t;

typedef struct uct_requires {
    uct_need_group_t all;     /* must be met */
    uct_need_group_t *any_of; /* at least one of these groups must be met, too,
                               * if there are any */
    unsigned num_any_of;      /* number of groups in `any_of` */
    const char *hint;         /* what the user should do if a requirement
                               * without its own hint is missing, or no group of
                               * `any_of` is met; may be NULL */
} uct_requires_t;

/* A list of strings; `name` is NULL if `count` is 0. */
typedef struct uct_names {
    const char **name;
    unsigned count;
} uct_names_t;

typedef struct uct_manifest_transport {
    const char *name;
    uct_names_t aliases;      /* other names that select it in UCX_TLS */
    uint64_t operations;      /* bit i: uct_manifest_operations[i] */
    uint64_t capabilities;    /* bit i: uct_manifest_tl_capabilities[i] */
    unsigned reach;           /* UCT_REACH_* */
    double latency_ns;        /* nanoseconds; 0: not declared */
    double bandwidth_mbps;    /* 10^6 bytes per second; 0: not declared */
    const char *device_class; /* "network", "shm", "acc" or "self"; another
                               * word if written for a newer minor version of
                               * the plugin ABI */
    uct_names_t device_globs; /* shell patterns of the names of its devices;
                               * empty: any name */
} uct_manifest_transport_t;

typedef struct uct_manifest_component {
    const char *name;
    uint64_t memory_types; /* bit i: memory type i (ucs_memory_type_t) */
    uint64_t capabilities; /* bit i: uct_manifest_md_capabilities[i] */
    uct_names_t cms;       /* names of its connection managers */
    uct_manifest_transport_t *transports; /* array */
    unsigned num_transports;              /* elements of `transports` */
} uct_manifest_component_t;

typedef struct uct_manifest_block uct_manifest_block_t;

typedef struct uct_manifest {
    uct_manifest_kind_t kind;
    const char *name; /* of the plugin; in an override, of the plugin that it
                       * changes */

    /* Members of plugins only */
    const char *version;
    const char *vendor;
    const char *license;
    const char *description;
    uint32_t abi;        /* ABI version that the plugin was built for, encoded
                          * by UCX_PLUGIN_ABI() */
    uint32_t abi_min;    /* oldest ABI version of a core that the plugin can
                          * work with, encoded in the same way */
    const char *library; /* path of the shared object, relative to the
                          * manifest's folder */
    uct_manifest_component_t *components; /* array */
    unsigned num_components;              /* elements of `components` */
    uct_requires_t requires;
    uct_names_t conflicts;       /* plugins that cannot be used together with
                                  * this one */
    uct_names_t replaces;        /* plugins that are not used if this one is */
    uct_names_t config_prefixes; /* beginnings of its variables' names, without
                                  * "UCX_": "TCP" allows UCX_TCP_* */
    int by_default;              /* 0: used only if selected by name */

    /* Members of plugins and overrides */
    int has_priority; /* 1 if the file states a priority */
    int priority;     /* plugins of higher priority come first; 0 if the file
                       * states none */

    /* Members of overrides only */
    int has_enabled;    /* 1 if the file states `enabled` */
    int enabled;        /* 0: the plugin must not be used */
    const char *reason; /* shown to users of a disabled plugin; may be NULL */

    /* Private: memory that uct_manifest_free() releases */
    json_t *root;                 /* JSON tree, which contains the strings */
    uct_manifest_block_t *blocks; /* list of blocks, which contain the
                                   * arrays */
} uct_manifest_t;

/* The words that manifests use. The position of a word in its list is the
 * number of its bit in the bit masks above. Each list is terminated by NULL.
 * The words for memory types are in ucs_memory_type_words. */
extern const char *const uct_manifest_operations[];
extern const char *const uct_manifest_tl_capabilities[];
extern const char *const uct_manifest_md_capabilities[];
extern const char *const uct_manifest_reaches[];

/* Returns the bit mask (1 << position) of `word` in such a list, or 0 if the
 * list does not contain it. */
uint64_t uct_manifest_word_bit(const char *const *list, const char *word);

/* Convert the bit masks and words of a manifest to constants of the public API.
 * The first three return UCT_IFACE_FLAG_*, UCT_IFACE_FLAG_EVENT_* and
 * UCT_MD_FLAG_*. The last returns UCT_DEVICE_TYPE_NET for an unknown device
 * class. */
uint64_t uct_manifest_iface_flags(const uct_manifest_transport_t *transport);
uint64_t uct_manifest_event_flags(const uct_manifest_transport_t *transport);
uint64_t uct_manifest_md_flags(const uct_manifest_component_t *component);
uct_device_type_t
uct_manifest_device_type(const uct_manifest_transport_t *transport);

/*
 * Parses the text of a manifest, of `length` bytes. The text need not be
 * zero-terminated, may contain any bytes, and is not referenced afterwards. On
 * failure `rejection` (may be NULL) receives the reason. Release the result by
 * uct_manifest_free().
 */
ucs_status_t uct_manifest_parse(const char *text, size_t length,
                                uct_manifest_t **manifest_p,
                                uct_rejection_t *rejection);

/*
 * Reads and parses the file `path`. `real_folder` may be NULL, or a folder
 * whose path contains no symbolic links; the path of a file directly in this
 * folder is resolved with fewer system calls. If `trust` is NULL, owner and
 * permissions are not checked (for the command `ucx-plugins validate`);
 * otherwise `trust_flags` are UCT_TRUST_*. `real_path`, if not NULL, receives
 * the path of the file without links; it must have PATH_MAX bytes. On failure
 * `rejection` (may be NULL) receives the reason.
 */
ucs_status_t uct_manifest_read(const char *path, const char *real_folder,
                               uct_trust_t *trust, unsigned trust_flags,
                               char *real_path, uct_manifest_t **manifest_p,
                               uct_rejection_t *rejection);

void uct_manifest_free(uct_manifest_t *manifest);

/* Return the first component or transport of this name, or NULL. */
const uct_manifest_component_t *
uct_manifest_component(const uct_manifest_t *manifest, const char *name);

const uct_manifest_transport_t *
uct_manifest_transport(const uct_manifest_component_t *component,
                       const char *name);

/* Nonzero if `list` contains `name`. */
int uct_names_has(const uct_names_t *list, const char *name);

#endif
