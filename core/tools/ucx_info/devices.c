/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx_info -d: opens the memory domains and connection managers of the selected
 * components, and the selected transports on every device, and shows their
 * attributes. The selection uses the plugins' manifests, so that only the code
 * of selected components is loaded; the attributes come from that code.
 */
#include "devices.h"

#include <stdlib.h>
#include <string.h>

#include "ucs/async/async.h"
#include "ucs/host/topo.h"
#include "uct/base/component.h"
#include "uct/plugin/registry.h"

typedef struct {
    const info_t *info;
    ucs_async_context_t *async;
    uct_worker_h worker;
    int code;
} devices_t;

static const char *const device_types[] = {
    [UCT_DEVICE_TYPE_NET]  = "network",
    [UCT_DEVICE_TYPE_SHM]  = "intra-node",
    [UCT_DEVICE_TYPE_ACC]  = "accelerator",
    [UCT_DEVICE_TYPE_SELF] = "loopback",
};

_Static_assert(ucs_static_array_size(device_types) == UCT_DEVICE_TYPE_LAST,
               "a word for each");

/* ----------------------------------------------------------- selection -- */

static int is_type_wanted(const info_t *info, uct_device_type_t type)
{
    return (info->device_types == 0) || (info->device_types & UCS_BIT(type));
}

static int is_tl_wanted(const info_t *info, const uct_component_decl_t *decl,
                        const uct_tl_decl_t *tl)
{
    if (!is_type_wanted(info, tl->dev_type)) {
        return 0;
    }
    return (info->transport == NULL) ?
               !decl->by_name_only :
               uct_tl_decl_is_called(tl, info->transport);
}

/* Returns the declaration of a transport, or NULL. */
static const uct_tl_decl_t *find_decl(const uct_component_decl_t *decl,
                                      const char *tl_name)
{
    unsigned i;

    for (i = 0; i < decl->num_transports; ++i) {
        if (strcmp(decl->transports[i].name, tl_name) == 0) {
            return &decl->transports[i];
        }
    }
    return NULL;
}

static int is_component_wanted(const info_t *info,
                               const uct_component_decl_t *decl)
{
    unsigned i;

    for (i = 0; i < decl->num_transports; ++i) {
        if (is_tl_wanted(info, decl, &decl->transports[i])) {
            return 1;
        }
    }
    /* a component without transports may have memory or connection managers */
    return (decl->num_transports == 0) && (info->transport == NULL) &&
           (info->device_types == 0) && !decl->by_name_only;
}

/* --------------------------------------------------------------- queries -- */

/* Adds an error to the object, instead of the result that could not be
 * determined. */
static void fail(devices_t *devices, json_t *object, const char *what,
                 const char *name, ucs_status_t status)
{
    devices->code = INFO_BAD;
    json_object_set_new(object, "failure",
                        json_pack("{s:s, s:o, s:s}", "what", what, "name",
                                  json_text(name), "status",
                                  ucs_status_string(status)));
}

static ucs_status_t open_iface(devices_t *devices, uct_md_h md,
                               const uct_tl_resource_desc_t *tl,
                               uct_iface_h *iface_p)
{
    uct_iface_params_t params = {
        .field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE |
                      UCT_IFACE_PARAM_FIELD_DEVICE,
        .open_mode            = UCT_IFACE_OPEN_MODE_DEVICE,
        .mode.device.tl_name  = tl->tl_name,
        .mode.device.dev_name = tl->dev_name,
    };
    uct_iface_config_t *config;
    ucs_status_t status;

    status = uct_md_iface_config_read(md, tl->tl_name, devices->info->prefix,
                                      NULL, &config);
    if (status != UCS_OK) {
        return status;
    }
    status = uct_iface_open(md, devices->worker, &params, config, iface_p);
    uct_config_release(config);
    return status;
}

static json_t *ask_transport(devices_t *devices, uct_md_h md,
                             const uct_tl_resource_desc_t *tl)
{
    json_t *object = json_pack(
        "{s:s, s:o, s:s, s:o}", "transport", tl->tl_name, "device",
        json_text(tl->dev_name), "type",
        (tl->dev_type < UCT_DEVICE_TYPE_LAST) ? device_types[tl->dev_type] :
                                                "unknown",
        "system_device",
        (tl->sys_device == UCS_SYS_DEVICE_ID_UNKNOWN) ?
            json_null() :
            json_text(ucs_topo_sys_device_get_name(tl->sys_device)));
    uct_iface_attr_t attr;
    ucs_status_t status;
    uct_iface_h iface;

    status = open_iface(devices, md, tl, &iface);
    if (status != UCS_OK) {
        fail(devices, object, "failed to open interface", tl->dev_name, status);
        return object;
    }
    status = uct_iface_query(iface, &attr);
    if (status == UCS_OK) {
        json_object_set_new(object, "capabilities",
                            info_iface_attr_json(&attr));
    } else {
        fail(devices, object, "failed to query interface", tl->dev_name,
             status);
    }
    uct_iface_close(iface);
    return object;
}

static void ask_transports(devices_t *devices, const uct_component_decl_t *decl,
                           uct_md_h md, json_t *object)
{
    json_t *transports = json_array();
    const uct_tl_decl_t *tl;
    uct_tl_resource_desc_t *list;
    ucs_status_t status;
    unsigned count, i;

    json_object_set_new(object, "transports", transports);
    status = uct_md_query_tl_resources(md, &list, &count);
    if (status != UCS_OK) {
        fail(devices, object, "failed to query devices of",
             info_text(object, "name"), status);
        return;
    }
    for (i = 0; i < count; ++i) {
        tl = find_decl(decl, list[i].tl_name);
        if ((tl != NULL) && is_tl_wanted(devices->info, decl, tl)) {
            json_array_append_new(transports,
                                  ask_transport(devices, md, &list[i]));
        }
    }
    uct_release_tl_resource_list(list);
}

static json_t *ask_md(devices_t *devices, uct_component_h component,
                      const char *name)
{
    const uct_component_decl_t *decl = uct_component_decl(component);
    json_t *object = json_pack("{s:o}", "name", json_text(name));
    uct_md_config_t *config;
    uct_md_attr_t attr;
    ucs_status_t status;
    uct_md_h md;

    status = uct_md_config_read(component, devices->info->prefix, NULL,
                                &config);
    if (status == UCS_OK) {
        status = uct_md_open(component, name, config, &md);
        uct_config_release(config);
    }
    if (status != UCS_OK) {
        fail(devices, object, "failed to open memory domain", name, status);
        return object;
    }

    status = uct_md_query(md, &attr);
    if (status == UCS_OK) {
        info_md_attr_json(&attr, object);
        ask_transports(devices, decl, md, object);
    } else {
        fail(devices, object, "failed to query memory domain", name, status);
    }
    uct_md_close(md);
    return object;
}

static json_t *ask_cm(devices_t *devices, uct_component_h component,
                      const char *name)
{
    uct_cm_attr_t attr = {.field_mask = UCT_CM_ATTR_FIELD_MAX_CONN_PRIV};
    json_t *object     = json_pack("{s:s}", "name", name);
    uct_cm_config_t *config;
    ucs_status_t status;
    uct_cm_h cm;

    status = uct_cm_config_read(component, devices->info->prefix, NULL,
                                &config);
    if (status == UCS_OK) {
        status = uct_cm_open(component, devices->worker, config, &cm);
        uct_config_release(config);
    }
    if (status != UCS_OK) {
        fail(devices, object, "failed to open connection manager", name,
             status);
        return object;
    }

    status = uct_cm_query(cm, &attr);
    if (status == UCS_OK) {
        json_object_set_new(object, "max_conn_priv",
                            info_json_size(attr.max_conn_priv));
    } else {
        fail(devices, object, "failed to query connection manager", name,
             status);
    }
    uct_cm_close(cm);
    return object;
}

static void ask_mds(devices_t *devices, uct_component_h component,
                    json_t *object)
{
    uct_component_attr_t attr = {
        .field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT,
    };
    json_t *mds = json_array();
    ucs_status_t status;
    unsigned i;

    json_object_set_new(object, "memory_domains", mds);
    status = uct_component_query(component, &attr);
    if (status != UCS_OK) {
        goto err;
    }

    attr.field_mask   = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
    attr.md_resources = calloc(attr.md_resource_count + 1,
                               sizeof(*attr.md_resources));
    if (attr.md_resources == NULL) {
        status = UCS_ERR_NO_MEMORY;
        goto err;
    }
    status = uct_component_query(component, &attr);
    for (i = 0; (status == UCS_OK) && (i < attr.md_resource_count); ++i) {
        json_array_append_new(mds, ask_md(devices, component,
                                          attr.md_resources[i].md_name));
    }
    free(attr.md_resources);
    if (status == UCS_OK) {
        return;
    }

err:
    fail(devices, object, "failed to query component",
         info_text(object, "name"), status);
}

static json_t *ask_component(devices_t *devices, uct_component_h component)
{
    const uct_component_decl_t *decl = uct_component_decl(component);
    json_t *object = json_pack("{s:s, s:o}", "name", decl->name, "plugin",
                               (decl->plugin == NULL) ?
                                   json_null() :
                                   json_text(decl->plugin));
    char reason[512];

    if ((uct_component_inspect(component, reason, sizeof(reason)) != UCS_OK) &&
        (reason[0] != '\0')) {
        json_object_set_new(object, "unusable", json_text(reason));
        json_object_set_new(object, "memory_domains", json_array());
        return object;
    }
    ask_mds(devices, component, object);
    if ((decl->flags & UCT_COMPONENT_FLAG_CM) &&
        (json_object_get(object, "failure") == NULL)) {
        json_object_set_new(object, "connection_manager",
                            ask_cm(devices, component, decl->name));
    }
    return object;
}

/* Reports that -t selects nothing: the plugin that offers the transport and why
 * it is rejected, or the most similar word, or that -D excludes the
 * transport. */
static void complain_of_transport(const char *name)
{
    uct_plugin_registry_t *registry;
    char text[1024];

    if ((uct_plugin_registry_get(&registry) == UCS_OK) &&
        (uct_plugin_explain_word(registry, name, NULL, text, sizeof(text)) !=
         UCS_OK)) {
        info_complain("%s", text);
    } else {
        info_complain("-t %s: it has no device of the type that -D selects",
                      name);
    }
}

static json_t *ask_components(devices_t *devices)
{
    const info_t *info = devices->info;
    json_t *result     = json_array();
    uct_component_h *list;
    unsigned count, i;

    if (info_list_components(&list, &count) != UCS_OK) {
        devices->code = INFO_BAD;
        return result;
    }
    for (i = 0; i < count; ++i) {
        if (is_component_wanted(info, uct_component_decl(list[i]))) {
            json_array_append_new(result, ask_component(devices, list[i]));
        }
    }
    uct_release_component_list(list);

    if ((json_array_size(result) == 0) && (info->transport != NULL)) {
        complain_of_transport(info->transport);
        devices->code = INFO_BAD;
    }
    return result;
}

int info_devices_ask(info_t *info, json_t **answer_p)
{
    devices_t devices = {.info = info, .code = INFO_OK};
    ucs_status_t status;

    /* the interfaces are only queried, so no service thread is needed */
    status = ucs_async_context_create(UCS_ASYNC_MODE_POLL, &devices.async);
    if (status != UCS_OK) {
        goto err;
    }
    status = uct_worker_create(devices.async, UCS_THREAD_MODE_SINGLE,
                               &devices.worker);
    if (status != UCS_OK) {
        goto err_async;
    }

    *answer_p = json_pack("{s:o}", "components", ask_components(&devices));
    uct_worker_destroy(devices.worker);
    ucs_async_context_destroy(devices.async);
    return devices.code;

err_async:
    ucs_async_context_destroy(devices.async);
err:
    info_complain("cannot create a worker: %s", ucs_status_string(status));
    return INFO_BAD;
}

/* ------------------------------------------------------------- printing -- */

static int print_failure(const json_t *object, const char *indent)
{
    const json_t *failure = json_object_get(object, "failure");

    if (failure == NULL) {
        return 0;
    }
    printf("#%s< %s %s: %s >\n", indent, info_text(failure, "what"),
           info_text(failure, "name"), info_text(failure, "status"));
    return 1;
}

static void print_transport(const json_t *transport)
{
    const json_t *system = json_object_get(transport, "system_device");

    printf("#      Transport: %s\n", info_text(transport, "transport"));
    printf("#         Device: %s\n", info_text(transport, "device"));
    printf("#           Type: %s\n", info_text(transport, "type"));
    printf("#  System device: %s\n",
           json_is_null(system) ? "<unknown>" : json_string_value(system));
    if (!print_failure(transport, "   ")) {
        printf("#\n");
        info_iface_attr_print(json_object_get(transport, "capabilities"));
    }
    printf("#\n");
}

static void print_md(const json_t *component, const json_t *md)
{
    const json_t *transports = json_object_get(md, "transports");
    json_t *transport;
    size_t i;

    printf("#\n# Memory domain: %s\n", info_text(md, "name"));
    printf("#     Component: %s\n", info_text(component, "name"));
    if (print_failure(md, "   ")) {
        return;
    }
    info_md_attr_print(md);
    if (json_array_size(transports) == 0) {
        printf("#   < no supported devices found >\n");
    }
    printf("#\n");
    json_array_foreach(transports, i, transport) {
        print_transport(transport);
    }
}

void info_devices_print(const info_t *info, const json_t *answer)
{
    json_t *component, *md;
    const json_t *cm;
    size_t i, j;

    json_array_foreach(json_object_get(answer, "components"), i, component) {
        print_failure(component, " ");
        if (json_object_get(component, "unusable") != NULL) {
            printf("#\n# Component: %s\n#   < offers nothing here: %s >\n",
                   info_text(component, "name"),
                   info_text(component, "unusable"));
        }
        json_array_foreach(json_object_get(component, "memory_domains"), j,
                           md) {
            print_md(component, md);
        }
        cm = json_object_get(component, "connection_manager");
        if ((cm != NULL) && !print_failure(cm, " ")) {
            printf("#\n# Connection manager: %s\n", info_text(cm, "name"));
            printf("#      max_conn_priv: %" JSON_INTEGER_FORMAT " bytes\n",
                   info_int(cm, "max_conn_priv"));
        }
    }
    printf("#\n");
}
