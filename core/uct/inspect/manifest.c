/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions ucx_manifest_*, by which tools read manifests. They call the
 * core's own parser (uct/plugin/manifest.h) and convert its result to the types
 * of <ucx/inspect.h>. */
#include <ucx/inspect.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uct/plugin/manifest.h"

static const struct {
    const char *word;
    unsigned bit;
} atomic_words[] = {
    {"atomic32_post", UCX_MANIFEST_ATOMIC32_POST},
    {"atomic32_fetch", UCX_MANIFEST_ATOMIC32_FETCH},
    {"atomic64_post", UCX_MANIFEST_ATOMIC64_POST},
    {"atomic64_fetch", UCX_MANIFEST_ATOMIC64_FETCH},
};

static unsigned atomics_of(const uct_manifest_transport_t *from)
{
    unsigned atomics = 0, i;

    for (i = 0; i < sizeof(atomic_words) / sizeof(atomic_words[0]); ++i) {
        if (from->operations & uct_manifest_word_bit(uct_manifest_operations,
                                                     atomic_words[i].word)) {
            atomics |= atomic_words[i].bit;
        }
    }
    return atomics;
}

static unsigned reach_of(const uct_manifest_transport_t *from)
{
    return ((from->reach & UCT_REACH_SELF) ? UCX_MANIFEST_REACH_SELF : 0) |
           ((from->reach & UCT_REACH_NODE) ? UCX_MANIFEST_REACH_NODE : 0) |
           ((from->reach & UCT_REACH_NETWORK) ? UCX_MANIFEST_REACH_NETWORK : 0);
}

static void fill_transport(ucx_manifest_transport_t *transport,
                           const uct_manifest_transport_t *from)
{
    *transport = (ucx_manifest_transport_t){
        .name             = from->name,
        .has_operations   = (from->operations != 0),
        .iface_flags      = uct_manifest_iface_flags(from),
        .event_flags      = uct_manifest_event_flags(from),
        .atomics          = atomics_of(from),
        .reach            = reach_of(from),
        .device_class     = from->device_class,
        .device_type      = uct_manifest_device_type(from),
        .device_globs     = from->device_globs.name,
        .num_device_globs = from->device_globs.count,
        .latency          = from->latency_ns * 1e-9,
        .bandwidth        = from->bandwidth_mbps * 1e6,
    };
}

static int fill_component(ucx_manifest_component_t *component,
                          const uct_manifest_component_t *from)
{
    unsigned i;

    component->name         = from->name;
    component->memory_types = from->memory_types;
    component->md_flags     = uct_manifest_md_flags(from);
    component->has_cm       = (from->cms.count > 0);
    component->transports   = calloc(from->num_transports + 1,
                                     sizeof(*component->transports));
    if (component->transports == NULL) {
        return 0;
    }
    component->num_transports = from->num_transports;
    for (i = 0; i < from->num_transports; ++i) {
        fill_transport(&component->transports[i], &from->transports[i]);
    }
    return 1;
}

static ucx_manifest_flags_t known_flags(void)
{
    const uct_manifest_transport_t transport = {
        .operations   = UINT64_MAX,
        .capabilities = UINT64_MAX,
        .reach        = UINT32_MAX,
    };
    const uct_manifest_component_t component = {.capabilities = UINT64_MAX};

    return (ucx_manifest_flags_t){
        .iface = uct_manifest_iface_flags(&transport),
        .event = uct_manifest_event_flags(&transport),
        .md    = uct_manifest_md_flags(&component),
    };
}

/* Creates the public object, which takes ownership of the manifest. */
static ucx_manifest_t *manifest_create(uct_manifest_t *manifest)
{
    ucx_manifest_t *declared = calloc(1, sizeof(*declared));
    unsigned i;

    if (declared == NULL) {
        uct_manifest_free(manifest);
        return NULL;
    }
    declared->manifest   = manifest;
    declared->name       = manifest->name;
    declared->version    = manifest->version;
    declared->library    = manifest->library;
    declared->known      = known_flags();
    declared->components = calloc(manifest->num_components + 1,
                                  sizeof(*declared->components));
    if (declared->components == NULL) {
        ucx_manifest_free(declared);
        return NULL;
    }
    for (i = 0; i < manifest->num_components; ++i) {
        ++declared->num_components;
        if (!fill_component(&declared->components[i],
                            &manifest->components[i])) {
            ucx_manifest_free(declared);
            return NULL;
        }
    }
    return declared;
}

ucx_manifest_t *ucx_manifest_read(const char *path, char *why, size_t why_size)
{
    uct_manifest_t *manifest;
    char real[PATH_MAX];
    uct_rejection_t rejection;
    ucx_manifest_t *declared;

    if (uct_manifest_read(path, NULL, NULL, 0, real, &manifest, &rejection) !=
        UCS_OK) {
        snprintf(why, why_size, "%s %s: %.300s",
                 uct_rejection_info(rejection.code)->id,
                 uct_rejection_info(rejection.code)->meaning, rejection.reason);
        return NULL;
    }
    if (manifest->kind != UCT_MANIFEST_PLUGIN) {
        uct_manifest_free(manifest);
        snprintf(why, why_size,
                 "this is an administrator's override, not the "
                 "manifest of a plugin");
        return NULL;
    }
    declared = manifest_create(manifest);
    if (declared == NULL) {
        snprintf(why, why_size, "out of memory");
    }
    return declared;
}

void ucx_manifest_free(ucx_manifest_t *declared)
{
    unsigned i;

    if (declared == NULL) {
        return;
    }
    for (i = 0; i < declared->num_components; ++i) {
        free(declared->components[i].transports);
    }
    free(declared->components);
    uct_manifest_free(declared->manifest);
    free(declared);
}

const ucx_manifest_component_t *
ucx_manifest_component(const ucx_manifest_t *declared, const char *name)
{
    unsigned i;

    for (i = 0; i < declared->num_components; ++i) {
        if (!strcmp(declared->components[i].name, name)) {
            return &declared->components[i];
        }
    }
    return NULL;
}

const ucx_manifest_transport_t *
ucx_manifest_transport(const ucx_manifest_component_t *component,
                       const char *name)
{
    unsigned i;

    for (i = 0; (component != NULL) && (i < component->num_transports); ++i) {
        if (!strcmp(component->transports[i].name, name)) {
            return &component->transports[i];
        }
    }
    return NULL;
}
