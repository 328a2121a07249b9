/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads the library of the wrapped plugin, and describes the plugin's first
 * transport under the name of this plugin. The core calls the functions of the
 * wrapped memory domains directly. It calls functions with a component argument
 * by wrappers in this file, which pass the component of the wrapped plugin.
 */
#include "faults.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const notices[] = {"self", "check", "send", NULL};

#define FIELD(_name, _type, _member, _dflt, _min, _max, _help) \
    { \
        _name, UCX_CONFIG_##_type, offsetof(faults_config_t, _member), _dflt, \
            _help, NULL, _min, _max \
    }

static const ucx_config_field_t own_fields[] = {
    FIELD("SEED", ULONG, seed, "1", 0, 0,
          "Where the sequence of faults begins."),
    FIELD("NO_RESOURCE", DOUBLE, no_resource, "0.05", 0, 0.95,
          "Share of operations that return UCS_ERR_NO_RESOURCE."),
    FIELD("PENDING_DELAY", UINT, pending_delay, "8", 0, 1000000,
          "Maximum rounds of progress until a pending request is called."),
    FIELD("COMPLETION_DELAY", UINT, completion_delay, "8", 0, 1000000,
          "Rounds of progress, at most, that completions come late."),
    FIELD("RECEIVE_DELAY", UINT, receive_delay, "8", 0, 1000000,
          "Rounds of progress, at most, that messages are held back."),
    FIELD("EP_FAILURE", UINT, ep_failure, "0", 0, 1000000000,
          "About how many operations after which an endpoint fails; 0: never."),
    {"NOTICE", UCX_CONFIG_ENUM, offsetof(faults_config_t, notice), "self",
     "Who notices that a peer has gone: the transport by itself, a check, or "
     "the next send.",
     notices, 0, 0},
    FIELD("UNSTEADY", BOOL, unsteady, "n", 0, 0,
          "Whether every estimate of the bandwidth to a peer is another one."),
};

enum { NUM_OWN = sizeof(own_fields) / sizeof(own_fields[0]) };

/* Copies a table of another version of the plugin ABI, which may be shorter or
 * longer. Members that `from` does not have are zero in `to`, and members
 * beyond `size` bytes are not copied. The first member of a table is its size;
 * in `to` it is `size`. */
static void copy_table(void *to, size_t size, const void *from)
{
    size_t from_size;

    memset(to, 0, size);
    if (from != NULL) {
        memcpy(&from_size, from, sizeof(from_size));
        memcpy(to, from, (from_size < size) ? from_size : size);
        memcpy(to, &size, sizeof(size));
    }
}

/* ---------------------------------------------- the component's slots -- */

static const ucx_component_t *inner_of(const ucx_component_t *component)
{
    return faults_container_of(component, faults_component_t, super)->inner;
}

/* Returns the copy of the wrapped component, which has all slots of this
 * version of the plugin ABI. */
static const ucx_component_t *desc_of(const ucx_component_t *component)
{
    return &faults_container_of(component, faults_component_t, super)
                ->inner_desc;
}

static ucs_status_t query_mds(const ucx_component_t *component,
                              uct_md_resource_desc_t **mds_p, unsigned *num_p)
{
    return desc_of(component)->query_md_resources(inner_of(component), mds_p,
                                                  num_p);
}

static ucs_status_t md_open(const ucx_component_t *component,
                            const ucx_md_open_args_t *args, uct_md_h *md_p)
{
    return desc_of(component)->md_open(inner_of(component), args, md_p);
}

static ucs_status_t rkey_unpack(const ucx_component_t *component,
                                const void *buffer, size_t length,
                                ucs_sys_device_t sys_dev, uct_rkey_t *rkey_p,
                                void **handle_p)
{
    return desc_of(component)->rkey_unpack(inner_of(component), buffer, length,
                                           sys_dev, rkey_p, handle_p);
}

static ucs_status_t rkey_ptr(const ucx_component_t *component, uct_rkey_t rkey,
                             void *handle, uint64_t remote_address,
                             void **local_address_p)
{
    return desc_of(component)->rkey_ptr(inner_of(component), rkey, handle,
                                        remote_address, local_address_p);
}

static ucs_status_t rkey_release(const ucx_component_t *component,
                                 uct_rkey_t rkey, void *handle)
{
    return desc_of(component)->rkey_release(inner_of(component), rkey, handle);
}

static ucs_status_t rkey_compare(const ucx_component_t *component, uct_rkey_t a,
                                 uct_rkey_t b, int *result)
{
    return desc_of(component)->rkey_compare(inner_of(component), a, b, result);
}

/* ----------------------------------------------------------- description -- */

/* Returns the devices of the wrapped transport. Their type is replaced by the
 * one that the manifest of this plugin declares. */
static ucs_status_t query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                  unsigned *num_p)
{
    const faults_component_t *component =
        faults_container_of(md->component, faults_component_t, super);
    ucs_status_t status;
    unsigned i;

    status = component->instance->inner_transport.query_devices(md, devices_p,
                                                                num_p);
    for (i = 0; (status == UCS_OK) && (i < *num_p); ++i) {
        (*devices_p)[i].type = UCT_DEVICE_TYPE_SHM;
    }
    return status;
}

/* Makes a table of the variables of this plugin, followed by those of the
 * wrapped transport. */
static ucs_status_t make_config(faults_instance_t *instance)
{
    const ucx_config_table_t *inner = instance->inner_transport.config;
    unsigned more                   = (inner == NULL) ? 0 : inner->num_fields;
    ucx_config_field_t *fields;
    unsigned i;

    fields = calloc(NUM_OWN + more, sizeof(*fields));
    if (fields == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    memcpy(fields, own_fields, sizeof(own_fields));
    for (i = 0; i < more; ++i) {
        memcpy(&fields[NUM_OWN + i],
               (const char *)inner->fields + i * inner->field_size,
               (inner->field_size < sizeof(*fields)) ? inner->field_size :
                                                       sizeof(*fields));
        fields[NUM_OWN + i].offset += FAULTS_CONFIG_SIZE;
    }
    instance->fields = fields;
    instance->config = (ucx_config_table_t){
        .size         = sizeof(instance->config),
        .prefix       = "FAULTS_",
        .options_size = FAULTS_CONFIG_SIZE +
                        ((inner == NULL) ? 0 : inner->options_size),
        .field_size = sizeof(*fields),
        .fields     = fields,
        .num_fields = NUM_OWN + more,
    };
    return UCS_OK;
}

static void describe_component(faults_instance_t *instance)
{
    faults_component_t *component = &instance->component;
    const ucx_component_t *inner  = &component->inner_desc;
    ucx_component_t *super        = &component->super;

    if (inner->md_config != NULL) {
        instance->md_config        = *inner->md_config;
        instance->md_config.prefix = "FAULTS_";
        super->md_config           = &instance->md_config;
    }
    super->size               = sizeof(*super);
    super->name               = FAULTS_NAME;
    super->query_md_resources = query_mds;
    super->md_open            = md_open;
    super->md_ops             = inner->md_ops;
    super->rkey_unpack    = (inner->rkey_unpack != NULL) ? rkey_unpack : NULL;
    super->rkey_ptr       = (inner->rkey_ptr != NULL) ? rkey_ptr : NULL;
    super->rkey_release   = (inner->rkey_release != NULL) ? rkey_release : NULL;
    super->rkey_compare   = (inner->rkey_compare != NULL) ? rkey_compare : NULL;
    super->transports     = instance->transports;
    super->num_transports = 1;
    component->instance   = instance;
}

static void describe_transport(faults_instance_t *instance)
{
    faults_iface_ops_fill(&instance->iface_ops, &instance->inner_iface_ops);
    faults_ep_ops_fill(&instance->ep_ops, &instance->inner_ep_ops);
    instance->transport = (ucx_transport_t){
        .size          = sizeof(instance->transport),
        .name          = FAULTS_NAME,
        .config        = &instance->config,
        .query_devices = query_devices,
        .iface_open    = faults_iface_open,
        .iface_ops     = &instance->iface_ops,
        .ep_ops        = &instance->ep_ops,
    };
    instance->transports[0] = &instance->transport;
}

/* ---------------------------------------------------------- the library -- */

static const ucx_component_t *find_component(const ucx_plugin_t *plugin,
                                             const char *name)
{
    unsigned i;

    for (i = 0; i < plugin->num_components; ++i) {
        if (strcmp(plugin->components[i]->name, name) == 0) {
            return plugin->components[i];
        }
    }
    return NULL;
}

/* Calls the wrapped plugin's entry point, as a core does. */
static ucs_status_t call_entry(faults_instance_t *instance,
                               const ucx_plugin_args_t *args, const char *path)
{
    ucx_plugin_args_t inner_args = *args;
    ucx_plugin_entry_t entry;
    ucs_status_t status;
    char *directory, *slash;

    *(void **)&entry = dlsym(instance->library, UCX_PLUGIN_ENTRY_SYMBOL);
    if (entry == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }

    directory = strdup(path);
    if (directory == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    slash = strrchr(directory, '/');
    if (slash != NULL) {
        *slash = '\0';
    }

    instance->host = args->host;
    copy_table(&instance->inner_host, sizeof(instance->inner_host), args->host);
    instance->inner_host.iface_ep_failed = faults_inner_ep_failed;
    inner_args.host                      = &instance->inner_host;
    inner_args.directory                 = directory;
    status                               = entry(&inner_args, &instance->inner);
    free(directory);
    return status;
}

static ucs_status_t take_transport(faults_instance_t *instance,
                                   const ucx_component_t *inner)
{
    ucx_transport_t *transport = &instance->inner_transport;

    copy_table(&instance->component.inner_desc, sizeof(*inner), inner);
    instance->component.inner = inner;
    if (instance->component.inner_desc.num_transports == 0) {
        return UCS_ERR_NO_DEVICE;
    }

    copy_table(transport, sizeof(*transport),
               instance->component.inner_desc.transports[0]);
    copy_table(&instance->inner_iface_ops, sizeof(instance->inner_iface_ops),
               transport->iface_ops);
    copy_table(&instance->inner_ep_ops, sizeof(instance->inner_ep_ops),
               transport->ep_ops);
    if ((instance->inner_iface_ops.progress == NULL) ||
        (instance->inner_ep_ops.flush == NULL)) {
        return UCS_ERR_UNSUPPORTED;
    }
    return make_config(instance);
}

ucs_status_t faults_wrap(faults_instance_t *instance,
                         const ucx_plugin_args_t *args, const char **reason)
{
    const char *path = getenv("FAULTS_LIBRARY");
    const char *name = getenv("FAULTS_COMPONENT");
    const ucx_component_t *inner;
    ucs_status_t status;

    if ((path == NULL) || (name == NULL)) {
        *reason = "set FAULTS_LIBRARY to the shared object of the plugin to "
                  "wrap, and FAULTS_COMPONENT to the name of a component of it";
        return UCS_ERR_NO_DEVICE;
    }

    instance->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (instance->library == NULL) {
        *reason = "the library that FAULTS_LIBRARY names cannot be loaded";
        return UCS_ERR_IO_ERROR;
    }

    status = call_entry(instance, args, path);
    if (status != UCS_OK) {
        *reason = "the plugin that FAULTS_LIBRARY names refuses to be loaded";
        goto err;
    }

    inner  = find_component(instance->inner, name);
    status = (inner == NULL) ? UCS_ERR_NO_ELEM :
                               take_transport(instance, inner);
    if (status != UCS_OK) {
        *reason = "the component that FAULTS_COMPONENT names is not there, or "
                  "has no transport that can be wrapped";
        goto err;
    }

    describe_component(instance);
    describe_transport(instance);
    return UCS_OK;

err:
    faults_unwrap(instance);
    return status;
}

void faults_unwrap(faults_instance_t *instance)
{
    if ((instance->inner != NULL) && (instance->inner->fini != NULL)) {
        instance->inner->fini();
    }
    free(instance->fields);
    dlclose(instance->library);
    instance->inner   = NULL;
    instance->fields  = NULL;
    instance->library = NULL;
}
