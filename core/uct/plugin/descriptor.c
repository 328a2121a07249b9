/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uct_descriptor_check(): checks the descriptor that the entry point of a
 * plugin has returned: sizes of the tables, names, required slots (function
 * pointers in the tables), and agreement with the manifest. A pointer that is
 * not NULL is assumed to be valid, because the plugin's code runs in this
 * process and could do any harm anyway.
 */
#include "uct/plugin/descriptor.h"

#include <stdio.h>
#include <string.h>

#include "uct/plugin/descriptor_config.h"

/* Limits; larger values mean that the descriptor is damaged. */
#define TABLE_SIZE_MAX  65536 /* bytes of one table */
#define COMPONENTS_MAX  32    /* components of a plugin */
#define TRANSPORTS_MAX  32    /* transports of a component */
#define PLUGIN_NAME_MAX 33    /* bytes, including the final 0 */
#define VERSION_MAX     65    /* bytes, including the final 0 */

/* Smallest valid size of the table `type` in bytes. `member` is the last member
 * that the table has in version 1.0 of the plugin ABI. */
#define TABLE_MIN(type, member) \
    (offsetof(type, member) + sizeof(((type *)0)->member))

/* State of one check. */
typedef struct descriptor_check {
    const uct_manifest_t *manifest;
    uct_rejection_t *rejection; /* receives the first fault; may be NULL */
    const char *component;      /* name of the component that is being checked;
                                 * NULL: none */
    const char *transport;      /* name of the transport of this component that
                                 * is being checked; NULL: none */
} descriptor_check_t;

/* Returns the part of the descriptor that is being checked, for messages: the
 * word "plugin", the name of a component, or COMPONENT/TRANSPORT. `buffer` may
 * hold the result. */
static const char *place(const descriptor_check_t *check, char *buffer,
                         size_t size)
{
    if (check->component == NULL) {
        return "plugin";
    } else if (check->transport == NULL) {
        return check->component;
    }
    snprintf(buffer, size, "%s/%s", check->component, check->transport);
    return buffer;
}

/* Checks that a table is present, and its size, which is its first member.
 * `minimum` is in bytes; `what` names the table in messages. */
static ucs_status_t check_table(descriptor_check_t *check, const void *table,
                                size_t minimum, const char *what)
{
    char where[64];
    size_t size;

    if (table == NULL) {
        return uct_reject(check->rejection, UCT_REJECT_DESCRIPTOR,
                          "%s: %s is missing",
                          place(check, where, sizeof(where)), what);
    }

    memcpy(&size, table, sizeof(size));
    if ((size < minimum) || (size > TABLE_SIZE_MAX)) {
        return uct_reject(check->rejection, UCT_REJECT_DESCRIPTOR,
                          "%s: %s states a size of %zu bytes, expected %zu to "
                          "%d",
                          place(check, where, sizeof(where)), what, size,
                          minimum, TABLE_SIZE_MAX);
    }
    return UCS_OK;
}

/* Rejects the descriptor if `present` is 0; `what` names the slots. */
static ucs_status_t check_slot(descriptor_check_t *check, int present,
                               const char *what)
{
    char where[64];

    if (present) {
        return UCS_OK;
    }
    return uct_reject(check->rejection, UCT_REJECT_DESCRIPTOR,
                      "%s: the required %s is missing",
                      place(check, where, sizeof(where)), what);
}

/* Checks that a name is not empty, is shorter than `max` bytes, and has only
 * characters that are allowed in lists such as UCX_TLS. */
static ucs_status_t check_name(descriptor_check_t *check, const char *name,
                               size_t max, const char *what)
{
    size_t length = (name == NULL) ? 0 : strnlen(name, max);

    if ((length == 0) || (length == max) ||
        (strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") != length)) {
        return uct_reject(check->rejection, UCT_REJECT_DESCRIPTOR,
                          "the name of a %s is missing, longer than %zu "
                          "letters or has letters other than a-z 0-9 _ -",
                          what, max - 1);
    }
    return UCS_OK;
}

static ucs_status_t check_config(descriptor_check_t *check,
                                 const ucx_config_table_t *table,
                                 const char *what)
{
    if (table == NULL) {
        return UCS_OK;
    }
    return uct_descriptor_check_config(table, check->manifest, check->component,
                                       what, check->rejection);
}

/* --- Transports -------------------------------------------------------- */

static ucs_status_t check_transport_slots(descriptor_check_t *check,
                                          const ucx_transport_t *transport)
{
    const ucx_iface_ops_t *iface_ops = transport->iface_ops;
    const ucx_ep_ops_t *ep_ops       = transport->ep_ops;
    ucs_status_t status;

    status = check_slot(check, transport->query_devices != NULL,
                        "query_devices");
    if (status == UCS_OK) {
        status = check_slot(check, transport->iface_open != NULL, "iface_open");
    }
    if (status == UCS_OK) {
        status = check_table(check, iface_ops,
                             TABLE_MIN(ucx_iface_ops_t, flush), "iface_ops");
    }
    if (status == UCS_OK) {
        status = check_slot(check,
                            (iface_ops->close != NULL) &&
                                (iface_ops->query != NULL) &&
                                (iface_ops->ep_create != NULL) &&
                                (iface_ops->flush != NULL),
                            "close, query, ep_create or flush of iface_ops");
    }
    if (status == UCS_OK) {
        status = check_table(check, ep_ops, TABLE_MIN(ucx_ep_ops_t, destroy),
                             "ep_ops");
    }
    if (status == UCS_OK) {
        status = check_slot(check, ep_ops->destroy != NULL,
                            "destroy of ep_ops");
    }
    return status;
}

static ucs_status_t check_transport(descriptor_check_t *check,
                                    const uct_manifest_component_t *declared,
                                    const ucx_transport_t *transport)
{
    ucs_status_t status;

    check->transport = NULL;
    status = check_table(check, transport, TABLE_MIN(ucx_transport_t, ep_ops),
                         "a transport");
    if (status == UCS_OK) {
        status = check_name(check, transport->name, UCT_TL_NAME_MAX,
                            "transport");
    }
    if (status != UCS_OK) {
        return status;
    }

    check->transport = transport->name;
    if (uct_manifest_transport(declared, transport->name) == NULL) {
        return uct_reject(check->rejection, UCT_REJECT_UNDECLARED,
                          "%s/%s: the manifest names no such transport",
                          check->component, transport->name);
    }
    status = check_transport_slots(check, transport);
    if (status == UCS_OK) {
        status = check_config(check, transport->config, transport->name);
    }
    return status;
}

static ucs_status_t check_transports(descriptor_check_t *check,
                                     const uct_manifest_component_t *declared,
                                     const ucx_component_t *component)
{
    ucs_status_t status = UCS_OK;
    unsigned i, j;

    if ((component->num_transports > TRANSPORTS_MAX) ||
        ((component->num_transports > 0) && (component->transports == NULL))) {
        return uct_reject(check->rejection, UCT_REJECT_DESCRIPTOR,
                          "%s: %u transports%s; at most %d are possible",
                          check->component, component->num_transports,
                          (component->transports == NULL) ? ", but no table" :
                                                            "",
                          TRANSPORTS_MAX);
    }

    for (i = 0; (status == UCS_OK) && (i < component->num_transports); ++i) {
        status = check_transport(check, declared, component->transports[i]);
        for (j = 0; (status == UCS_OK) && (j < i); ++j) {
            if (!strcmp(component->transports[i]->name,
                        component->transports[j]->name)) {
                status = uct_reject(check->rejection, UCT_REJECT_DESCRIPTOR,
                                    "%s: two transports are called %s",
                                    check->component, check->transport);
            }
        }
    }
    check->transport = NULL;
    return status;
}

/* --- Components -------------------------------------------------------- */

static ucs_status_t check_cm(descriptor_check_t *check,
                             const uct_manifest_component_t *declared,
                             const ucx_component_t *component)
{
    const ucx_cm_ops_t *ops = UCX_TABLE_HAS(component, cm_ops) ?
                                  component->cm_ops :
                                  NULL;
    ucs_status_t status;

    if (ops == NULL) {
        return check_slot(check, !(component->flags & UCT_COMPONENT_FLAG_CM),
                          "cm_ops, which its flags announce,");
    } else if (declared->cms.count == 0) {
        return uct_reject(check->rejection, UCT_REJECT_UNDECLARED,
                          "%s: the manifest names no connection manager",
                          component->name);
    }

    status = check_table(check, ops, TABLE_MIN(ucx_cm_ops_t, ep_ops), "cm_ops");
    if (status == UCS_OK) {
        status = check_slot(check,
                            (ops->open != NULL) && (ops->close != NULL) &&
                                (ops->query != NULL) &&
                                (ops->ep_create != NULL),
                            "open, close, query or ep_create of cm_ops");
    }
    if (status == UCS_OK) {
        status = check_slot(check,
                            (ops->listener_create == NULL) ==
                                (ops->listener_destroy == NULL),
                            "other half of listener_create and "
                            "listener_destroy");
    }
    if (status == UCS_OK) {
        status = check_table(check, ops->ep_ops,
                             TABLE_MIN(ucx_ep_ops_t, destroy),
                             "ep_ops of the connection manager");
    }
    if (status == UCS_OK) {
        status = check_slot(check, ops->ep_ops->destroy != NULL,
                            "destroy of the connection manager's ep_ops");
    }
    return status;
}

static ucs_status_t check_md(descriptor_check_t *check,
                             const ucx_component_t *component)
{
    ucs_status_t status;

    status = check_slot(check,
                        (component->query_md_resources != NULL) &&
                            (component->md_open != NULL),
                        "query_md_resources or md_open");
    if (status == UCS_OK) {
        status = check_table(check, component->md_ops,
                             TABLE_MIN(ucx_md_ops_t, query), "md_ops");
    }
    if (status == UCS_OK) {
        status = check_slot(check,
                            (component->md_ops->close != NULL) &&
                                (component->md_ops->query != NULL),
                            "close or query of md_ops");
    }
    return status;
}

static ucs_status_t check_component(descriptor_check_t *check,
                                    const ucx_component_t *component)
{
    const uct_manifest_component_t *declared;
    ucs_status_t status;

    check->component = NULL;
    status           = check_table(check, component,
                                   TABLE_MIN(ucx_component_t, num_transports),
                                   "a component");
    if (status == UCS_OK) {
        status = check_name(check, component->name, UCT_COMPONENT_NAME_MAX,
                            "component");
    }
    if (status != UCS_OK) {
        return status;
    }

    check->component = component->name;
    declared         = uct_manifest_component(check->manifest, component->name);
    if (declared == NULL) {
        return uct_reject(check->rejection, UCT_REJECT_UNDECLARED,
                          "%s: the manifest names no such component",
                          component->name);
    }

    status = check_md(check, component);
    if (status == UCS_OK) {
        status = check_transports(check, declared, component);
    }
    if (status == UCS_OK) {
        status = check_cm(check, declared, component);
    }
    if (status == UCS_OK) {
        status = check_config(check, component->md_config, "memory domain");
    }
    if (status == UCS_OK) {
        status = check_config(check, component->cm_config,
                              "connection manager");
    }
    return status;
}

static ucs_status_t check_components(descriptor_check_t *check,
                                     const ucx_plugin_t *descriptor)
{
    ucs_status_t status = UCS_OK;
    unsigned i, j;

    if ((descriptor->components == NULL) || (descriptor->num_components == 0) ||
        (descriptor->num_components > COMPONENTS_MAX)) {
        return uct_reject(check->rejection, UCT_REJECT_DESCRIPTOR,
                          "%u components%s; 1 to %d are possible",
                          descriptor->num_components,
                          (descriptor->components == NULL) ? ", but no table" :
                                                             "",
                          COMPONENTS_MAX);
    }

    for (i = 0; (status == UCS_OK) && (i < descriptor->num_components); ++i) {
        status = check_component(check, descriptor->components[i]);
        for (j = 0; (status == UCS_OK) && (j < i); ++j) {
            if (!strcmp(descriptor->components[i]->name,
                        descriptor->components[j]->name)) {
                status = uct_reject(check->rejection, UCT_REJECT_DESCRIPTOR,
                                    "two components are called %s",
                                    descriptor->components[i]->name);
            }
        }
    }
    return status;
}

/* --- The plugin -------------------------------------------------------- */

/* Checks that the manifest and the code belong together: ABI version, plugin
 * name and version. */
static ucs_status_t check_identity(descriptor_check_t *check,
                                   const ucx_plugin_t *descriptor)
{
    const uct_manifest_t *manifest = check->manifest;
    ucs_status_t status;

    if (UCX_PLUGIN_ABI_MAJOR_OF(descriptor->abi) != UCX_PLUGIN_ABI_MAJOR) {
        return uct_reject(check->rejection, UCT_REJECT_ABI_MAJOR,
                          "the library was built for plugin ABI %u.%u, this "
                          "core has %d.%d",
                          UCX_PLUGIN_ABI_MAJOR_OF(descriptor->abi),
                          UCX_PLUGIN_ABI_MINOR_OF(descriptor->abi),
                          UCX_PLUGIN_ABI_MAJOR, UCX_PLUGIN_ABI_MINOR);
    } else if (manifest->abi > descriptor->abi) {
        /* The manifest of a newer minor version than the core's may contain
         * unknown members and words. A manifest that states a newer version
         * than its library must not have this exemption. */
        return uct_reject(check->rejection, UCT_REJECT_UNDECLARED,
                          "the manifest states plugin ABI %u.%u, the library "
                          "was built for %u.%u",
                          UCX_PLUGIN_ABI_MAJOR_OF(manifest->abi),
                          UCX_PLUGIN_ABI_MINOR_OF(manifest->abi),
                          UCX_PLUGIN_ABI_MAJOR_OF(descriptor->abi),
                          UCX_PLUGIN_ABI_MINOR_OF(descriptor->abi));
    }

    status = check_name(check, descriptor->name, PLUGIN_NAME_MAX, "plugin");
    if (status != UCS_OK) {
        return status;
    } else if (strcmp(descriptor->name, manifest->name)) {
        return uct_reject(check->rejection, UCT_REJECT_UNDECLARED,
                          "the library is of the plugin %s, the manifest of %s",
                          descriptor->name, manifest->name);
    } else if ((descriptor->version == NULL) ||
               (strnlen(descriptor->version, VERSION_MAX) == VERSION_MAX)) {
        return uct_reject(check->rejection, UCT_REJECT_DESCRIPTOR,
                          "the plugin's version is missing or too long");
    } else if (strcmp(descriptor->version, manifest->version)) {
        return uct_reject(check->rejection, UCT_REJECT_UNDECLARED,
                          "the library is version %s, the manifest %s",
                          descriptor->version, manifest->version);
    }
    return UCS_OK;
}

ucs_status_t uct_descriptor_check(const ucx_plugin_t *descriptor,
                                  const uct_manifest_t *manifest,
                                  uct_rejection_t *rejection)
{
    descriptor_check_t check = {manifest, rejection, NULL, NULL};
    ucs_status_t status;

    status = check_table(&check, descriptor,
                         TABLE_MIN(ucx_plugin_t, num_components),
                         "the descriptor");
    if (status == UCS_OK) {
        status = check_identity(&check, descriptor);
    }
    if (status == UCS_OK) {
        status = check_components(&check, descriptor);
    }
    return status;
}
