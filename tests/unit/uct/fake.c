/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plugin "fake" for tests. Its component has two transports: "fk" has
 * shorter tables of operations than the core, as an older plugin has; "longfk"
 * has longer ones, as a newer plugin has. If the plugin is linked into a test
 * (FAKE_LINKED_IN), a third one, "badfk", lacks required operations.
 */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

fake_log_t fake_log;

static const char *const color_names[] = {"red", "green", "blue", NULL};

#define FIELD(_name, _type, _member, _dflt, ...) \
    { \
        .name = _name, .type = _type, \
        .offset = offsetof(fake_options_t, _member), .dflt = _dflt, \
        .help = "For tests.", __VA_ARGS__ \
    }

static const ucx_config_field_t tl_fields[] = {
    FIELD("NUMBER", UCX_CONFIG_INT, number, "7", .min = -10, .max = 10),
    FIELD("COUNT", UCX_CONFIG_UINT, count, "inf"),
    FIELD("BIG", UCX_CONFIG_ULONG, big, "5000000000"),
    FIELD("RATIO", UCX_CONFIG_DOUBLE, ratio, "0.5", .min = 0, .max = 1),
    FIELD("ON", UCX_CONFIG_BOOL, on, "y"),
    FIELD("TERNARY", UCX_CONFIG_TERNARY, ternary, "try"),
    FIELD("ON_OFF", UCX_CONFIG_ON_OFF_AUTO, on_off, "auto"),
    FIELD("TEXT", UCX_CONFIG_STRING, text, "hello"),
    FIELD("COLOR", UCX_CONFIG_ENUM, color, "green", .values = color_names),
    FIELD("COLORS", UCX_CONFIG_BITMAP, colors, "red,blue",
          .values = color_names),
    FIELD("BYTES", UCX_CONFIG_MEMUNITS, bytes, "4k", .min = 1024, .max = 8192),
    FIELD("SECONDS", UCX_CONFIG_TIME, seconds, "5ms", .min = 1e-3, .max = 10),
    FIELD("BW", UCX_CONFIG_BANDWIDTH, bandwidth, "auto", .min = 1e6,
          .max = 1e12),
    FIELD("LIST", UCX_CONFIG_STRING_LIST, list, "a,b"),
    FIELD("ALLOW", UCX_CONFIG_ALLOW_LIST, allow, "^x"),
};

static const ucx_config_table_t tl_config = {
    .size         = sizeof(tl_config),
    .prefix       = "FAKE_",
    .options_size = sizeof(fake_options_t),
    .field_size   = sizeof(ucx_config_field_t),
    .fields       = tl_fields,
    .num_fields   = ucs_static_array_size(tl_fields),
};

/* Descriptions of variables. If the plugin is linked into a test, they have the
 * format of an older plugin and lack the last member (the range of values). */
#ifdef FAKE_LINKED_IN
typedef struct old_field {
    const char *name;
    ucx_config_type_t type;
    size_t offset;
    const char *dflt;
    const char *help;
    const char *const *values;
} old_field_t;
#else
typedef ucx_config_field_t old_field_t;
#endif

static const old_field_t md_fields[] = {
    {.name = "TEXT", .type = UCX_CONFIG_STRING, .dflt = "", .help = "A text."},
    {
        .name   = "COLOR",
        .type   = UCX_CONFIG_ENUM,
        .offset = sizeof(char *),
        .dflt   = "blue",
        .help   = "A color.",
        .values = color_names,
    },
};

static const ucx_config_table_t md_config = {
    .size         = sizeof(md_config),
    .prefix       = "FAKE_MD_",
    .options_size = 2 * sizeof(char *),
    .field_size   = sizeof(old_field_t),
    .fields       = (const void *)md_fields,
    .num_fields   = 2,
};

/* --- Memory domains ------------------------------------------------------ */

static ucs_status_t query_mds(const ucx_component_t *component,
                              uct_md_resource_desc_t **mds_p, unsigned *num_p)
{
    *mds_p = calloc(2, sizeof(**mds_p));
    strcpy((*mds_p)[0].md_name, "fake0");
    strcpy((*mds_p)[1].md_name, "fake1");
    *num_p = 2;
    return UCS_OK;
}

static ucs_status_t md_open(const ucx_component_t *component,
                            const ucx_md_open_args_t *args, uct_md_h *md_p)
{
    const char *text = *(char *const *)args->config;
    uct_md_t *md;

    if (strncmp(args->name, "fake", 4) != 0) {
        return UCS_ERR_NO_DEVICE;
    }

    snprintf(fake_log.md_text, sizeof(fake_log.md_text), "%s", text);
    md = malloc(sizeof(*md));
    ucx_md_init(md, args);
    ++fake_log.opened_mds;
    *md_p = md;
    return UCS_OK;
}

static void md_close(uct_md_h md)
{
    ++fake_log.closed_mds;
    free(md);
}

static ucs_status_t md_query(uct_md_h md, ucx_md_attr_t *attr)
{
    attr->flags           = UCT_MD_FLAG_ALLOC;
    attr->max_alloc       = 1 << 20;
    attr->alloc_mem_types = UCS_BIT(UCS_MEMORY_TYPE_HOST) |
                            UCS_BIT(UCS_MEMORY_TYPE_CUDA);
    attr->detect_mem_types = UCS_BIT(UCS_MEMORY_TYPE_CUDA);
    return UCS_OK;
}

static ucs_status_t mem_alloc(uct_md_h md, size_t *length, void **address,
                              const ucx_mem_alloc_params_t *params,
                              uct_mem_h *memh_p)
{
    *length  = (*length + 4095) & ~(size_t)4095;
    *address = malloc(*length);
    *memh_p  = *address;
    ++fake_log.allocated;
    return UCS_OK;
}

static ucs_status_t mem_free(uct_md_h md, uct_mem_h memh)
{
    free(memh);
    ++fake_log.freed;
    return UCS_OK;
}

/* mem_query() reports addresses below this one as CUDA memory. */
#define DEVICE_END 0x100000

static ucs_status_t mem_query(uct_md_h md, const void *address, size_t length,
                              ucx_mem_attr_t *attr)
{
    if ((uintptr_t)address >= DEVICE_END) {
        return UCS_ERR_INVALID_ADDR;
    }

    attr->mem_type     = UCS_MEMORY_TYPE_CUDA;
    attr->sys_dev      = 3;
    attr->base_address = (void *)0x1000;
    attr->alloc_length = DEVICE_END - 0x1000;
    return UCS_OK;
}

static const ucx_md_ops_t md_ops = {
    /* the table ends before mkey_pack */
    .size      = offsetof(ucx_md_ops_t, mkey_pack),
    .close     = md_close,
    .query     = md_query,
    .mem_alloc = mem_alloc,
    .mem_free  = mem_free,
    .mem_query = mem_query,
    /* beyond `size`: the core must not read it */
    .mkey_pack = (void *)(uintptr_t)0xdead,
};

/* --- Transports ------------------------------------------------------------ */

static ucs_status_t query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                  unsigned *num_p)
{
    *devices_p = calloc(1, sizeof(**devices_p));
    strcpy((*devices_p)[0].name, "dev0");
    (*devices_p)[0].type    = UCT_DEVICE_TYPE_ACC;
    (*devices_p)[0].sys_dev = 3;
    *num_p                  = 1;
    return UCS_OK;
}

static ucs_status_t iface_open(uct_md_h md, const ucx_iface_open_args_t *args,
                               uct_iface_h *iface_p)
{
    const fake_options_t *options = args->config;
    uct_iface_t *iface            = malloc(sizeof(*iface));

    ucx_iface_init(iface, args);
    if (options != NULL) {
        fake_log.number = options->number;
        snprintf(fake_log.text, sizeof(fake_log.text), "%s", options->text);
    }
    snprintf(fake_log.dev_name, sizeof(fake_log.dev_name), "%s",
             args->dev_name);
    fake_log.is_polled = ucx_iface_is_polled(args);
    ++fake_log.opened_ifaces;
    *iface_p = iface;
    return UCS_OK;
}

static void iface_close(uct_iface_h iface)
{
    ++fake_log.closed_ifaces;
    free(iface);
}

static ucs_status_t iface_query(uct_iface_h iface, ucx_iface_attr_t *attr)
{
    attr->base.cap.flags = UCT_IFACE_FLAG_CONNECT_TO_EP |
                           UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_CB_SYNC;
    attr->base.cap.am.max_short = 64;
    attr->base.cap.am.max_iov   = 4;
    attr->base.ep_addr_len      = 6;
    attr->base.dev_num_paths    = 1;
    attr->base.overhead         = 1e-6;
    return UCS_OK;
}

static ucs_status_t iface_estimate(uct_iface_h iface, ucx_perf_t *perf)
{
    perf->send_pre_overhead = 42;
    return UCS_OK;
}

static ucs_status_t ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                              uct_ep_h *ep_p)
{
    uct_ep_t *ep = malloc(sizeof(*ep));

    ucx_ep_init(ep, iface);
    *ep_p = ep;
    return UCS_OK;
}

static ucs_status_t iface_flush(uct_iface_h iface, unsigned flags,
                                uct_completion_t *comp)
{
    return UCS_INPROGRESS;
}

static ucs_status_t iface_mem_alloc(uct_iface_h iface, size_t length,
                                    unsigned flags, const char *name,
                                    uct_allocated_memory_t *mem)
{
    mem->address = malloc(length);
    mem->length  = length;
    /* so that only iface_mem_free() can free the memory */
    mem->method  = UCT_ALLOC_METHOD_LAST;
    return UCS_OK;
}

static void iface_mem_free(uct_iface_h iface, const uct_allocated_memory_t *mem)
{
    ++fake_log.iface_freed;
    free(mem->address);
}

/* Sends nothing; returns the status of a send whose data was copied and which
 * completes later. */
static ucs_status_t am_short(uct_ep_h ep, uint8_t id, uint64_t header,
                             const void *payload, unsigned length)
{
    return UCS_INPROGRESS;
}

static void ep_destroy(uct_ep_h ep)
{
    free(ep);
}

static ucs_status_t connect_to_ep(uct_ep_h ep,
                                  const uct_device_addr_t *dev_addr,
                                  size_t dev_addr_length,
                                  const uct_ep_addr_t *ep_addr,
                                  size_t ep_addr_length)
{
    fake_log.connect_ep_addr_length = ep_addr_length;
    return UCS_OK;
}

static const ucx_iface_ops_t short_iface_ops = {
    .size      = offsetof(ucx_iface_ops_t, fence),
    .close     = iface_close,
    .query     = iface_query,
    .ep_create = ep_create,
    .flush     = iface_flush,
};

static const ucx_ep_ops_t short_ep_ops = {
    .size          = offsetof(ucx_ep_ops_t, is_connected),
    .am_short      = am_short,
    .destroy       = ep_destroy,
    .connect_to_ep = connect_to_ep,
};

/* A table of a newer ABI: two more slots than these headers define. */
static const struct {
    ucx_iface_ops_t known;
    void *unknown[2];
} long_iface_ops = {
    .known =
        {
            .size      = sizeof(long_iface_ops),
            .close     = iface_close,
            .query     = iface_query,
            .estimate  = iface_estimate,
            .ep_create = ep_create,
            .flush     = iface_flush,
            .mem_alloc = iface_mem_alloc,
            .mem_free  = iface_mem_free,
        },
    .unknown = {(void *)0xdead, (void *)0xdead},
};

static const struct {
    ucx_ep_ops_t known;
    void *unknown[2];
} long_ep_ops = {
    .known   = {.size = sizeof(long_ep_ops), .destroy = ep_destroy},
    .unknown = {(void *)0xdead, (void *)0xdead},
};

static const ucx_transport_t tl_short = {
    .size          = sizeof(tl_short),
    .name          = "fk",
    .config        = &tl_config,
    .query_devices = query_devices,
    .iface_open    = iface_open,
    .iface_ops     = &short_iface_ops,
    .ep_ops        = &short_ep_ops,
};

static const ucx_transport_t tl_long = {
    .size          = sizeof(tl_long),
    .name          = "longfk",
    .query_devices = query_devices,
    .iface_open    = iface_open,
    .iface_ops     = &long_iface_ops.known,
    .ep_ops        = &long_ep_ops.known,
};

#ifdef FAKE_LINKED_IN
static const ucx_iface_ops_t bad_iface_ops = {
    .size  = sizeof(bad_iface_ops),
    .query = iface_query,
};

static const ucx_transport_t tl_bad = {
    .size          = sizeof(tl_bad),
    .name          = "badfk",
    .query_devices = query_devices,
    .iface_open    = iface_open,
    .iface_ops     = &bad_iface_ops,
    .ep_ops        = &short_ep_ops,
};
#endif

static const ucx_transport_t *const transports[] = {&tl_short, &tl_long,
#ifdef FAKE_LINKED_IN
                                                    &tl_bad
#endif
};

/* --- Connection manager ---------------------------------------------------- */

static ucs_status_t cm_open(const ucx_component_t *component,
                            const ucx_cm_open_args_t *args, uct_cm_h *cm_p)
{
    uct_cm_t *cm = malloc(sizeof(*cm));

    ucx_cm_init(cm, args);
    *cm_p = cm;
    return UCS_OK;
}

static void cm_close(uct_cm_h cm)
{
    free(cm);
}

static ucs_status_t cm_ep_create(uct_cm_h cm, const uct_ep_params_t *params,
                                 uct_ep_h *ep_p)
{
    uct_ep_t *ep = malloc(sizeof(*ep));

    ucx_cm_ep_init(ep, cm);
    *ep_p = ep;
    return UCS_OK;
}

#ifndef FAKE_LINKED_IN
static ucs_status_t cm_query(uct_cm_h cm, uct_cm_attr_t *attr)
{
    attr->max_conn_priv = 32;
    return UCS_OK;
}
#endif

static const ucx_ep_ops_t cm_ep_ops = {
    .size    = sizeof(cm_ep_ops),
    .destroy = ep_destroy,
};

static const ucx_cm_ops_t cm_ops = {
    .size  = sizeof(cm_ops),
    .open  = cm_open,
    .close = cm_close,
/* The table lacks the required slot `query` if it is linked into a test: the
 * core must use its default. The loader rejects a module without it. */
#ifndef FAKE_LINKED_IN
    .query = cm_query,
#endif
    .ep_create = cm_ep_create,
    .ep_ops    = &cm_ep_ops,
};

static const ucx_component_t component = {
    .size               = sizeof(component),
    .name               = "fake",
    .flags              = UCT_COMPONENT_FLAG_CM,
    .md_config          = &md_config,
    .query_md_resources = query_mds,
    .md_open            = md_open,
    .md_ops             = &md_ops,
    .transports         = transports,
    .num_transports     = ucs_static_array_size(transports),
    .cm_ops             = &cm_ops,
};

static const ucx_component_t *const components[] = {&component};

static const ucx_plugin_t plugin = {
    .size           = sizeof(plugin),
    .abi            = UCX_PLUGIN_ABI_VERSION,
    .name           = "fake",
    .version        = "1.0.0",
    .components     = components,
    .num_components = 1,
};

ucs_status_t fake_plugin_entry(const ucx_plugin_args_t *args,
                               const ucx_plugin_t **plugin_p)
{
    fake_log.host = args->host;
    *plugin_p     = &plugin;
    return UCS_OK;
}

#ifndef FAKE_LINKED_IN
ucs_status_t ucx_plugin_entry(const ucx_plugin_args_t *args,
                              const ucx_plugin_t **plugin_p)
{
    return fake_plugin_entry(args, plugin_p);
}
#endif
