/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uct_manifest_parse(): checks the text of a plugin's manifest and converts it
 * to a structure. Size, depth of nesting, JSON syntax, ABI version and schema
 * are checked in this order, so that the error names the actual cause: a
 * manifest for another ABI version, for example, may also violate the schema.
 * manifest_file.c opens and reads the files.
 */
#include "uct/plugin/manifest.h"

#include <stdlib.h>
#include <string.h>

#include <ucx/abi.h>
#include "ucs/type/memory_type.h"

/* A block of memory for one array of a manifest. The blocks form a list, which
 * uct_manifest_free() frees. */
struct uct_manifest_block {
    uct_manifest_block_t *next;
    max_align_t data[]; /* the array */
};

/* --- Checks before parsing --------------------------------------------- */

/* Returns the largest number of nested objects and arrays in the text. Its only
 * purpose is to protect the parser, which is recursive, from too many levels;
 * for text that is not valid JSON, the number has no meaning. */
static unsigned nesting(const char *text, size_t length)
{
    unsigned depth = 0, deepest = 0;
    int in_string = 0;
    size_t i;

    for (i = 0; i < length; ++i) {
        if (in_string) {
            if (text[i] == '\\') {
                ++i;
            } else if (text[i] == '"') {
                in_string = 0;
            }
        } else if (text[i] == '"') {
            in_string = 1;
        } else if ((text[i] == '{') || (text[i] == '[')) {
            deepest = (++depth > deepest) ? depth : deepest;
        } else if (((text[i] == '}') || (text[i] == ']')) && (depth > 0)) {
            --depth;
        }
    }
    return deepest;
}

static ucs_status_t parse_json(const char *text, size_t length, json_t **root_p,
                               uct_rejection_t *rejection)
{
    json_error_t error;

    if (length > UCT_MANIFEST_SIZE_MAX) {
        return uct_reject(rejection, UCT_REJECT_TOO_LARGE,
                          "%zu bytes, at most %u are read", length,
                          UCT_MANIFEST_SIZE_MAX);
    } else if (nesting(text, length) > UCT_MANIFEST_DEPTH_MAX) {
        return uct_reject(rejection, UCT_REJECT_TOO_DEEP,
                          "%u levels of nesting, at most %u are read",
                          nesting(text, length), UCT_MANIFEST_DEPTH_MAX);
    }

    *root_p = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (*root_p == NULL) {
        /* Try again, because jansson may report a lack of memory as a syntax
         * error. If the second attempt has memory, it gives the true result. */
        *root_p = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    }
    if (*root_p == NULL) {
        /* Syntax errors have a line number; for a lack of memory it is -1. */
        return uct_reject(rejection,
                          (error.line < 0) ? UCT_REJECT_RESOURCES :
                                             UCT_REJECT_NOT_JSON,
                          "line %d, column %d: %s", error.line, error.column,
                          error.text);
    }
    return UCS_OK;
}

/* --- ABI --------------------------------------------------------------- */

/* Converts the ABI version "MAJOR.MINOR" to a value of UCX_PLUGIN_ABI().
 * Returns 0 if `text` is NULL or malformed. */
static uint32_t parse_abi(const char *text)
{
    unsigned long major, minor;
    char *end;

    if ((text == NULL) || (text[0] < '0') || (text[0] > '9')) {
        return 0;
    }
    major = strtoul(text, &end, 10);
    if ((end[0] != '.') || (end[1] < '0') || (end[1] > '9')) {
        return 0;
    }
    minor = strtoul(end + 1, &end, 10);
    if ((*end != '\0') || (major > UINT16_MAX) || (minor > UINT16_MAX)) {
        return 0;
    }
    return UCX_PLUGIN_ABI(major, minor);
}

/* Returns the text of a member, or NULL if it is absent or not a string. */
static const char *text_of(const json_t *object, const char *member)
{
    return json_string_value(json_object_get(object, member));
}

/*
 * Rejects a manifest of another major ABI version, or one that needs a newer
 * core. Adds UCT_SCHEMA_LENIENT to the flags for a manifest of a newer minor
 * version than the core's, which may have unknown members. The schema is
 * checked after this, because a manifest of another major version may follow
 * another schema.
 */
static ucs_status_t check_abi(json_t *root, unsigned *schema_flags_p,
                              uct_rejection_t *rejection)
{
    uint32_t abi     = parse_abi(text_of(root, "abi"));
    uint32_t abi_min = parse_abi(text_of(root, "abi_min"));

    if (abi == 0) {
        return UCS_OK; /* The version is missing or malformed: the schema
                        * check, which follows, reports it */
    }

    if (UCX_PLUGIN_ABI_MAJOR_OF(abi) != UCX_PLUGIN_ABI_MAJOR) {
        return uct_reject(rejection, UCT_REJECT_ABI_MAJOR,
                          "built for plugin ABI %s, this core has %d.%d",
                          text_of(root, "abi"), UCX_PLUGIN_ABI_MAJOR,
                          UCX_PLUGIN_ABI_MINOR);
    } else if (abi_min > UCX_PLUGIN_ABI_VERSION) {
        return uct_reject(rejection, UCT_REJECT_ABI_MIN,
                          "needs a core with plugin ABI %s, this one has "
                          "%d.%d",
                          text_of(root, "abi_min"), UCX_PLUGIN_ABI_MAJOR,
                          UCX_PLUGIN_ABI_MINOR);
    }

    if (abi > UCX_PLUGIN_ABI_VERSION) {
        *schema_flags_p |= UCT_SCHEMA_LENIENT;
    }
    return UCS_OK;
}

/* --- From JSON to the structure; the schema has checked the types ------ */

/* Allocates a zeroed array that is freed with the manifest. Returns NULL if
 * `count` is 0, or if memory is exhausted; in the second case sets *failed. */
static void *alloc(uct_manifest_t *manifest, size_t count, size_t size,
                   int *failed)
{
    uct_manifest_block_t *block;

    if (count == 0) {
        return NULL;
    }
    block = calloc(1, sizeof(*block) + count * size);
    if (block == NULL) {
        *failed = 1;
        return NULL;
    }
    block->next      = manifest->blocks;
    manifest->blocks = block;
    return block->data;
}

/* Converts an array of strings; `array` may be NULL (no names). */
static void take_names(uct_manifest_t *manifest, json_t *array,
                       uct_names_t *names, int *failed)
{
    size_t count = json_array_size(array), i;

    names->name = alloc(manifest, count, sizeof(*names->name), failed);
    if (names->name == NULL) {
        return;
    }
    names->count = count;
    for (i = 0; i < count; ++i) {
        names->name[i] = json_string_value(json_array_get(array, i));
    }
}

/* Returns the bit mask of the words in an array; bit i stands for list[i].
 * Unknown words are ignored: the schema accepts them only in a manifest of a
 * newer minor ABI version. */
static uint64_t take_bits(json_t *array, const char *const *list)
{
    uint64_t bits = 0;
    json_t *word;
    size_t i;

    json_array_foreach(array, i, word) {
        bits |= uct_manifest_word_bit(list, json_string_value(word));
    }
    return bits;
}

static void take_transport(uct_manifest_t *manifest, json_t *object,
                           uct_manifest_transport_t *transport, int *failed)
{
    transport->name         = text_of(object, "name");
    transport->operations   = take_bits(json_object_get(object, "operations"),
                                        uct_manifest_operations);
    transport->capabilities = take_bits(json_object_get(object, "capabilities"),
                                        uct_manifest_tl_capabilities);
    transport->reach        = take_bits(json_object_get(object, "reach"),
                                        uct_manifest_reaches);
    transport->latency_ns   = json_number_value(
          json_object_get(object, "latency_ns"));
    transport->bandwidth_mbps = json_number_value(
        json_object_get(object, "bandwidth_mbps"));
    transport->device_class = text_of(object, "device_class");
    take_names(manifest, json_object_get(object, "aliases"),
               &transport->aliases, failed);
    take_names(manifest, json_object_get(object, "device_globs"),
               &transport->device_globs, failed);
}

static void take_component(uct_manifest_t *manifest, json_t *object,
                           uct_manifest_component_t *component, int *failed)
{
    json_t *array = json_object_get(object, "transports");
    size_t count  = json_array_size(array), i;

    component->name         = text_of(object, "name");
    component->memory_types = take_bits(json_object_get(object, "memory_types"),
                                        ucs_memory_type_words);
    component->capabilities = take_bits(json_object_get(object, "capabilities"),
                                        uct_manifest_md_capabilities);
    take_names(manifest, json_object_get(object, "cm"), &component->cms,
               failed);

    component->transports = alloc(manifest, count,
                                  sizeof(*component->transports), failed);
    if (component->transports == NULL) {
        return;
    }
    component->num_transports = count;
    for (i = 0; i < count; ++i) {
        take_transport(manifest, json_array_get(array, i),
                       &component->transports[i], failed);
    }
}

static void take_needs(uct_manifest_t *manifest, json_t *object,
                       uct_need_group_t *group, int *failed)
{
    static const char *const members[UCT_NEED_LAST] = {
        [UCT_NEED_DEVICE]  = "device_nodes",
        [UCT_NEED_MODULE]  = "kernel_modules",
        [UCT_NEED_LIBRARY] = "libraries",
    };
    json_t *array, *item;
    size_t i;
    int kind;

    for (kind = 0; kind < UCT_NEED_LAST; ++kind) {
        array             = json_object_get(object, members[kind]);
        group->list[kind] = alloc(manifest, json_array_size(array),
                                  sizeof(*group->list[kind]), failed);
        if (group->list[kind] == NULL) {
            continue;
        }
        group->count[kind] = json_array_size(array);
        json_array_foreach(array, i, item) {
            group->list[kind][i].name = json_is_string(item) ?
                                            json_string_value(item) :
                                            text_of(item, "name");
            group->list[kind][i].hint = text_of(item, "hint");
        }
    }
}

static void take_requires(uct_manifest_t *manifest, json_t *object, int *failed)
{
    uct_requires_t *requires = &manifest->requires;
    json_t *array            = json_object_get(object, "any_of");
    size_t count             = json_array_size(array), i;

    take_needs(manifest, object, &requires->all, failed);
    requires->hint   = text_of(object, "hint");
    requires->any_of = alloc(manifest, count, sizeof(*requires->any_of),
                             failed);
    if (requires->any_of == NULL) {
        return;
    }
    requires->num_any_of = count;
    for (i = 0; i < count; ++i) {
        take_needs(manifest, json_array_get(array, i), &requires->any_of[i],
                   failed);
    }
}

static void take_plugin(uct_manifest_t *manifest, json_t *root, int *failed)
{
    json_t *array    = json_object_get(root, "components");
    json_t *dflt     = json_object_get(root, "default");
    size_t count     = json_array_size(array), i;
    uint32_t abi_min = parse_abi(text_of(root, "abi_min"));

    manifest->name        = text_of(root, "name");
    manifest->version     = text_of(root, "version");
    manifest->vendor      = text_of(root, "vendor");
    manifest->license     = text_of(root, "license");
    manifest->description = text_of(root, "description");
    manifest->library     = text_of(root, "library");
    manifest->abi         = parse_abi(text_of(root, "abi"));
    manifest->abi_min     = (abi_min != 0) ?
                                abi_min :
                                UCX_PLUGIN_ABI(UCX_PLUGIN_ABI_MAJOR, 0);
    manifest->by_default  = (dflt == NULL) || json_is_true(dflt);
    take_names(manifest, json_object_get(root, "conflicts"),
               &manifest->conflicts, failed);
    take_names(manifest, json_object_get(root, "replaces"), &manifest->replaces,
               failed);
    take_names(manifest, json_object_get(root, "config_prefixes"),
               &manifest->config_prefixes, failed);
    take_requires(manifest, json_object_get(root, "requires"), failed);

    manifest->components = alloc(manifest, count, sizeof(*manifest->components),
                                 failed);
    if (manifest->components == NULL) {
        return;
    }
    manifest->num_components = count;
    for (i = 0; i < count; ++i) {
        take_component(manifest, json_array_get(array, i),
                       &manifest->components[i], failed);
    }
}

static void take_override(uct_manifest_t *manifest, json_t *root)
{
    json_t *enabled = json_object_get(root, "enabled");

    manifest->kind        = UCT_MANIFEST_OVERRIDE;
    manifest->name        = text_of(root, "override");
    manifest->has_enabled = enabled != NULL;
    manifest->enabled     = json_is_true(enabled);
    manifest->reason      = text_of(root, "reason");
}

/* --- Rules that the schema cannot express ------------------------------ */

/* Rejects two components of the same name, and two transports of the same name
 * in one component. */
static ucs_status_t check_unique_names(const uct_manifest_t *manifest,
                                       uct_rejection_t *rejection)
{
    const uct_manifest_component_t *component;
    unsigned i, j;

    for (i = 0; i < manifest->num_components; ++i) {
        component = &manifest->components[i];
        if (uct_manifest_component(manifest, component->name) != component) {
            return uct_reject(rejection, UCT_REJECT_SCHEMA,
                              "/components/%u/name: the file has another "
                              "component %s",
                              i, component->name);
        }
        for (j = 0; j < component->num_transports; ++j) {
            if (uct_manifest_transport(component,
                                       component->transports[j].name) !=
                &component->transports[j]) {
                return uct_reject(rejection, UCT_REJECT_SCHEMA,
                                  "/components/%u/transports/%u/name: the "
                                  "component has another transport %s",
                                  i, j, component->transports[j].name);
            }
        }
    }
    return UCS_OK;
}

static ucs_status_t check_schema(json_t *root, unsigned flags,
                                 uct_rejection_t *rejection)
{
    uct_schema_offence_t offence;

    if (uct_schema_check(&uct_schema_manifest, root, flags, &offence) !=
        UCS_OK) {
        return uct_reject(rejection, UCT_REJECT_SCHEMA, "%s: %s",
                          (offence.pointer[0] == '\0') ? "the document" :
                                                         offence.pointer,
                          offence.what);
    }
    return UCS_OK;
}

ucs_status_t uct_manifest_parse(const char *text, size_t length,
                                uct_manifest_t **manifest_p,
                                uct_rejection_t *rejection)
{
    unsigned flags = 0;
    int failed     = 0;
    uct_manifest_t *manifest;
    ucs_status_t status;
    json_t *priority;

    manifest = calloc(1, sizeof(*manifest));
    if (manifest == NULL) {
        return uct_reject(rejection, UCT_REJECT_RESOURCES, "out of memory");
    }

    status = parse_json(text, length, &manifest->root, rejection);
    if (status == UCS_OK) {
        status = check_abi(manifest->root, &flags, rejection);
    }
    if (status == UCS_OK) {
        status = check_schema(manifest->root, flags, rejection);
    }
    if (status != UCS_OK) {
        goto err;
    }

    if (json_object_get(manifest->root, "override") != NULL) {
        take_override(manifest, manifest->root);
    } else {
        take_plugin(manifest, manifest->root, &failed);
    }
    priority               = json_object_get(manifest->root, "priority");
    manifest->has_priority = priority != NULL;
    manifest->priority     = (int)json_number_value(priority);

    status = failed ?
                 uct_reject(rejection, UCT_REJECT_RESOURCES, "out of memory") :
                 check_unique_names(manifest, rejection);
    if (status != UCS_OK) {
        goto err;
    }

    *manifest_p = manifest;
    return UCS_OK;

err:
    uct_manifest_free(manifest);
    return status;
}

void uct_manifest_free(uct_manifest_t *manifest)
{
    uct_manifest_block_t *block;

    while ((block = manifest->blocks) != NULL) {
        manifest->blocks = block->next;
        free(block);
    }
    json_decref(manifest->root);
    free(manifest);
}

const uct_manifest_component_t *
uct_manifest_component(const uct_manifest_t *manifest, const char *name)
{
    unsigned i;

    for (i = 0; i < manifest->num_components; ++i) {
        if (!strcmp(manifest->components[i].name, name)) {
            return &manifest->components[i];
        }
    }
    return NULL;
}

const uct_manifest_transport_t *
uct_manifest_transport(const uct_manifest_component_t *component,
                       const char *name)
{
    unsigned i;

    for (i = 0; i < component->num_transports; ++i) {
        if (!strcmp(component->transports[i].name, name)) {
            return &component->transports[i];
        }
    }
    return NULL;
}
