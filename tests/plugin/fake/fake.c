/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plugin with a selectable defect. The file fake.txt in its folder contains
 * three words: the name of the plugin, its version, and its defect. The plugin
 * transfers no data.
 */
#include <ucx/plugin.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEWER_ABI UCX_PLUGIN_ABI(UCX_PLUGIN_ABI_MAJOR, 9)

/* Number of calls of the entry point, which the tests read. */
UCX_PLUGIN_EXPORT int fake_entries;

static char fake_name[64], fake_version[64], fake_defect[64];
static char fake_folder[4096];

typedef struct fake_options {
    int value;
} fake_options_t;

static ucs_status_t query_md_resources(const ucx_component_t *component,
                                       uct_md_resource_desc_t **mds_p,
                                       unsigned *num_p)
{
    uct_md_resource_desc_t *md = calloc(1, sizeof(*md));

    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    strcpy(md->md_name, "fake");
    *mds_p = md;
    *num_p = 1;
    return UCS_OK;
}

static ucs_status_t md_open(const ucx_component_t *component,
                            const ucx_md_open_args_t *args, uct_md_h *md_p)
{
    uct_md_t *md = calloc(1, sizeof(*md));

    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_md_init(md, args);
    *md_p = md;
    return UCS_OK;
}

static void md_close(uct_md_h md)
{
    free(md);
}

static ucs_status_t md_query(uct_md_h md, ucx_md_attr_t *attr)
{
    return UCS_OK;
}

static ucs_status_t query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                  unsigned *num_p)
{
    ucx_device_desc_t *device;

    *devices_p = NULL;
    *num_p     = 0;
    if (strcmp(fake_defect, "without-device") == 0) {
        return UCS_OK;
    }
    device = calloc(1, sizeof(*device));
    if (device == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    strcpy(device->name, "fake0");
    device->type    = UCT_DEVICE_TYPE_NET;
    device->sys_dev = UCS_SYS_DEVICE_ID_UNKNOWN;
    *devices_p      = device;
    *num_p          = 1;
    return UCS_OK;
}

static ucs_status_t iface_open(uct_md_h md, const ucx_iface_open_args_t *args,
                               uct_iface_h *iface_p)
{
    return UCS_ERR_NO_DEVICE;
}

static void iface_close(uct_iface_h iface)
{
}

static ucs_status_t iface_query(uct_iface_h iface, ucx_iface_attr_t *attr)
{
    return UCS_OK;
}

static ucs_status_t ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                              uct_ep_h *ep_p)
{
    return UCS_ERR_NO_DEVICE;
}

static ucs_status_t iface_flush(uct_iface_h iface, unsigned flags,
                                uct_completion_t *comp)
{
    return UCS_OK;
}

static void ep_destroy(uct_ep_h ep)
{
}

static ucs_status_t cm_open(const ucx_component_t *component,
                            const ucx_cm_open_args_t *args, uct_cm_h *cm_p)
{
    return UCS_ERR_NO_DEVICE;
}

static void cm_close(uct_cm_h cm)
{
}

static ucs_status_t cm_query(uct_cm_h cm, uct_cm_attr_t *attr)
{
    return UCS_OK;
}

static ucs_status_t cm_ep_create(uct_cm_h cm, const uct_ep_params_t *params,
                                 uct_ep_h *ep_p)
{
    return UCS_ERR_NO_DEVICE;
}

/* Writes a file that shows that fini() was called. */
static void fini(void)
{
    char path[sizeof(fake_folder) + 16];
    FILE *file;

    snprintf(path, sizeof(path), "%s/fini", fake_folder);
    file = fopen(path, "w");
    if (file != NULL) {
        fclose(file);
    }
}

static ucx_md_ops_t md_ops = {
    .size  = sizeof(md_ops),
    .close = md_close,
    .query = md_query,
};
static ucx_iface_ops_t iface_ops = {
    .size      = sizeof(iface_ops),
    .close     = iface_close,
    .query     = iface_query,
    .ep_create = ep_create,
    .flush     = iface_flush,
};
static ucx_ep_ops_t ep_ops = {
    .size    = sizeof(ep_ops),
    .destroy = ep_destroy,
};
static ucx_cm_ops_t cm_ops = {
    .size      = sizeof(cm_ops),
    .open      = cm_open,
    .close     = cm_close,
    .query     = cm_query,
    .ep_create = cm_ep_create,
    .ep_ops    = &ep_ops,
};

static ucx_config_field_t fields[] = {
    {"VALUE", UCX_CONFIG_INT, 0, "1", "A number.", NULL, 0, 0},
    {"WORD", UCX_CONFIG_BOOL, 0, "y", "A choice.", NULL, 0, 0},
};
static ucx_config_table_t config = {
    .size         = sizeof(config),
    .prefix       = "FAKE_",
    .options_size = sizeof(fake_options_t),
    .field_size   = sizeof(ucx_config_field_t),
    .fields       = fields,
    .num_fields   = 2,
};

static ucx_transport_t transport = {
    .size          = sizeof(transport),
    .name          = "fake",
    .config        = &config,
    .query_devices = query_devices,
    .iface_open    = iface_open,
    .iface_ops     = &iface_ops,
    .ep_ops        = &ep_ops,
};
static ucx_transport_t transport2 = {
    .size          = sizeof(transport2),
    .name          = "fake2",
    .query_devices = query_devices,
    .iface_open    = iface_open,
    .iface_ops     = &iface_ops,
    .ep_ops        = &ep_ops,
};

static const ucx_transport_t *transports[] = {&transport, &transport2};

static char component_name[64];
static ucx_component_t component = {
    .size               = sizeof(component),
    .name               = component_name,
    .query_md_resources = query_md_resources,
    .md_open            = md_open,
    .md_ops             = &md_ops,
    .transports         = transports,
    .num_transports     = 1,
};
static ucx_component_t component2 = {
    .size               = sizeof(component2),
    .name               = "unasked",
    .query_md_resources = query_md_resources,
    .md_open            = md_open,
    .md_ops             = &md_ops,
};

static const ucx_component_t *components[] = {&component, &component2};

/* The descriptor. With the defect "newer-minor" it is that of a newer minor
 * version, which has more members than in these headers. */
static struct {
    ucx_plugin_t plugin;
    void *member_of_tomorrow[4];
} descriptor = {
    .plugin =
        {
            .size           = sizeof(ucx_plugin_t),
            .abi            = UCX_PLUGIN_ABI_VERSION,
            .name           = fake_name,
            .version        = fake_version,
            .components     = components,
            .num_components = 1,
            .fini           = fini,
        },
};

static int is(const char *defect)
{
    return !strcmp(fake_defect, defect);
}

static void spoil_plugin(void)
{
    ucx_plugin_t *plugin = &descriptor.plugin;

    if (is("plugin-size-short")) {
        plugin->size = 8;
    } else if (is("plugin-size-absurd")) {
        plugin->size = (size_t)1 << 40;
    } else if (is("plugin-name-null")) {
        plugin->name = NULL;
    } else if (is("plugin-name-other")) {
        plugin->name = "somebody";
    } else if (is("plugin-version-null")) {
        plugin->version = NULL;
    } else if (is("plugin-version-other")) {
        plugin->version = "9.9.9";
    } else if (is("plugin-abi-major")) {
        plugin->abi = UCX_PLUGIN_ABI(UCX_PLUGIN_ABI_MAJOR + 1, 0);
    } else if (is("newer-minor")) {
        plugin->abi  = NEWER_ABI;
        plugin->size = sizeof(descriptor);
    } else if (is("components-null")) {
        plugin->components = NULL;
    } else if (is("components-none")) {
        plugin->num_components = 0;
    } else if (is("components-absurd")) {
        plugin->num_components = 4000000000u;
    } else if (is("component-null")) {
        components[0] = NULL;
    } else if (is("component-undeclared")) {
        plugin->num_components = 2;
    } else if (is("component-twice")) {
        components[1]          = &component;
        plugin->num_components = 2;
    }
}

static void spoil_component(void)
{
    if (is("component-size-short")) {
        component.size = 24;
    } else if (is("component-name-null")) {
        component.name = NULL;
    } else if (is("component-name-long")) {
        component.name = "a_name_that_is_longer_than_any_component_may_have";
    } else if (is("component-md-open-null")) {
        component.md_open = NULL;
    } else if (is("md-ops-null")) {
        component.md_ops = NULL;
    } else if (is("md-ops-size-short")) {
        md_ops.size = sizeof(size_t);
    } else if (is("md-query-null")) {
        md_ops.query = NULL;
    } else if (is("transports-null")) {
        component.transports = NULL;
    } else if (is("transports-absurd")) {
        component.num_transports = 1u << 31;
    } else if (is("transport-undeclared")) {
        component.num_transports = 2;
    } else if (is("transport-twice")) {
        transports[1]            = &transport;
        component.num_transports = 2;
    } else if (is("cm-flag-without-ops")) {
        component.flags = UCT_COMPONENT_FLAG_CM;
    } else if (is("cm-undeclared") || is("cm-good")) {
        component.cm_ops = &cm_ops;
    } else if (is("cm-open-null")) {
        component.cm_ops = &cm_ops;
        cm_ops.open      = NULL;
    }
}

static void spoil_transport(void)
{
    if (is("transport-null")) {
        transports[0] = NULL;
    } else if (is("transport-size-short")) {
        transport.size = sizeof(size_t);
    } else if (is("transport-name-letters")) {
        transport.name = "fa/ke";
    } else if (is("iface-ops-null")) {
        transport.iface_ops = NULL;
    } else if (is("iface-ops-size-absurd")) {
        iface_ops.size = SIZE_MAX;
    } else if (is("iface-close-null")) {
        iface_ops.close = NULL;
    } else if (is("ep-destroy-null")) {
        ep_ops.destroy = NULL;
    }
}

static void spoil_config(void)
{
    if (is("config-prefix-undeclared")) {
        config.prefix = "OTHER_";
    } else if (is("config-size-short")) {
        config.size = 4;
    } else if (is("config-field-outside")) {
        fields[1].offset = 1000;
    } else if (is("config-default-null")) {
        fields[0].dflt = NULL;
    } else if (is("config-type-unknown")) {
        fields[0].type = (ucx_config_type_t)99;
    } else if (is("config-fields-absurd")) {
        config.num_fields = 1u << 30;
    } else if (is("config-enum-without-values")) {
        fields[0].type = UCX_CONFIG_ENUM;
    }
}

/* Reads fake.txt. Returns 0 on failure. */
static int read_orders(const char *folder)
{
    char path[sizeof(fake_folder) + 16];
    FILE *file;
    int count;

    snprintf(fake_folder, sizeof(fake_folder), "%s", folder);
    snprintf(path, sizeof(path), "%s/fake.txt", folder);
    file = fopen(path, "r");
    if (file == NULL) {
        return 0;
    }
    count = fscanf(file, "%63s %63s %63s", fake_name, fake_version,
                   fake_defect);
    fclose(file);
    return count == 3;
}

ucs_status_t ucx_plugin_entry(const ucx_plugin_args_t *args,
                              const ucx_plugin_t **plugin_p)
{
    ++fake_entries;
    if (!read_orders(args->directory)) {
        snprintf(args->reason, args->reason_size, "no orders in %s",
                 args->directory);
        return UCS_ERR_IO_ERROR;
    } else if ((args->abi_min > UCX_PLUGIN_ABI_VERSION) ||
               (UCX_PLUGIN_ABI_MAJOR_OF(args->abi_max) !=
                UCX_PLUGIN_ABI_MAJOR)) {
        return UCS_ERR_UNSUPPORTED;
    } else if (is("reject")) {
        snprintf(args->reason, args->reason_size,
                 "the firmware \033[31mis too old\n");
        return UCS_ERR_UNSUPPORTED;
    } else if (is("reject-unended")) {
        memset(args->reason, 'x', args->reason_size);
        return UCS_ERR_IO_ERROR;
    } else if (is("reject-silently")) {
        return UCS_ERR_IO_ERROR;
    } else if (is("no-device")) {
        snprintf(args->reason, args->reason_size, "no card in any slot");
        return UCS_ERR_NO_DEVICE;
    } else if (is("descriptor-null")) {
        *plugin_p = NULL;
        return UCS_OK;
    } else if (is("recurse")) {
        /* In the test of this defect, machine_guid() loads this plugin
         * recursively, and returns 1 if that load fails */
        if (args->host->machine_guid() != 1) {
            snprintf(args->reason, args->reason_size, "it was let in again");
            return UCS_ERR_INVALID_PARAM;
        }
    }

    snprintf(component_name, sizeof(component_name), "%.15s", fake_name);
    spoil_plugin();
    spoil_component();
    spoil_transport();
    spoil_config();
    *plugin_p = &descriptor.plugin;
    return UCS_OK;
}
