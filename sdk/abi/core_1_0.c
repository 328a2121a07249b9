/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A minimal core with plugin ABI 1.0, which opens one interface of a plugin and
 * sends a message to it. Tests whether a plugin of a later ABI runs on a core
 * of 1.0. This file is compiled with the headers of 1.0 (older.py). Its tables
 * end at an inaccessible page: a plugin that accesses a member of a later
 * version without UCX_TABLE_HAS crashes.
 *
 * usage: core_1_0 LIBRARY FOLDER
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <ucx/plugin.h>

#define PATIENCE 60.0 /* Seconds until the message must have arrived */
#define GREETING 0x1122334455667788u

static unsigned received;

static void fail(const char *what, const char *detail)
{
    printf("%s: %s\n", what, detail);
    exit(1);
}

static void require(ucs_status_t status, const char *what)
{
    char text[32];

    if (status != UCS_OK) {
        snprintf(text, sizeof(text), "status %d", (int)status);
        fail(what, text);
    }
}

/* Returns a copy of the table that ends at an inaccessible page. */
static void *place(const void *table, size_t size)
{
    size_t page  = (size_t)sysconf(_SC_PAGESIZE);
    size_t pages = (size + page - 1) / page;
    char *memory = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if ((memory == MAP_FAILED) ||
        (mprotect(memory + pages * page, page, PROT_NONE) != 0)) {
        fail("memory for a table", "none");
    }
    return memcpy(memory + pages * page - size, table, size);
}

/* --- Services ------------------------------------------------------------ */

static const int log_level = UCS_LOG_LEVEL_FATAL;

static void __attribute__((format(printf, 4, 5)))
drop_line(int level, const char *file, int line, const char *format, ...)
{
    (void)level;
    (void)file;
    (void)line;
    (void)format;
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static uint64_t machine_guid(void)
{
    return 42;
}

static ucs_status_t note_failure(uct_iface_h iface, uct_ep_h ep,
                                 ucs_status_t status)
{
    (void)iface;
    (void)ep;
    require(status, "the endpoint");
    return UCS_OK;
}

/* Accepts the descriptor without monitoring it: no event occurs during the
 * run. */
static ucs_status_t add_fd(uct_worker_h worker, int fd, int events,
                           ucx_async_fd_cb_t cb, void *arg,
                           ucx_async_id_t *id_p)
{
    (void)worker;
    (void)fd;
    (void)events;
    (void)cb;
    (void)arg;
    *id_p = 1;
    return UCS_OK;
}

/* Accepts the timer without starting it: this program has no service thread. */
static ucs_status_t add_timer(uct_worker_h worker, double interval,
                              ucx_async_timer_cb_t cb, void *arg,
                              ucx_async_id_t *id_p)
{
    (void)worker;
    (void)interval;
    (void)cb;
    (void)arg;
    *id_p = 2;
    return UCS_OK;
}

static void remove_fd(ucx_async_id_t id)
{
    (void)id;
}

static void cancel_oneshot(uct_worker_h worker, ucx_oneshot_cb_t cb, void *arg)
{
    (void)worker;
    (void)cb;
    (void)arg;
}

/* --- Options ------------------------------------------------------------- */

static double read_time(const char *text)
{
    char *end;
    double value = strtod(text, &end);

    return !strcmp(text, "auto") ? -1 :
           !strcmp(end, "ms")    ? value * 1e-3 :
           !strcmp(end, "us")    ? value * 1e-6 :
                                   value;
}

static void set_option(const ucx_config_field_t *field, char *options)
{
    void *member = options + field->offset;

    switch (field->type) {
    case UCX_CONFIG_STRING:
        *(char **)member = strdup(field->dflt);
        break;
    case UCX_CONFIG_TIME:
        *(double *)member = read_time(field->dflt);
        break;
    case UCX_CONFIG_UINT:
        *(unsigned *)member = (unsigned)strtoul(field->dflt, NULL, 10);
        break;
    default:
        fail("a variable of a type that this program does not read",
             field->name);
    }
}

/* Returns options with their default values. In a plugin of a later version,
 * the structures that describe the options may be longer: table->field_size is
 * their size. */
static void *make_options(const ucx_config_table_t *table)
{
    char *options;
    unsigned i;

    if (table == NULL) {
        return NULL;
    }
    options = calloc(1, table->options_size + 1);
    for (i = 0; i < table->num_fields; ++i) {
        set_option((const ucx_config_field_t
                        *)(const void *)((const char *)table->fields +
                                         i * table->field_size),
                   options);
    }
    return options;
}

/* --- One interface ------------------------------------------------------- */

static ucs_status_t handle(void *arg, void *data, size_t length, unsigned flags)
{
    uint64_t value = 0;

    (void)arg;
    (void)flags;
    memcpy(&value, data, (length < sizeof(value)) ? length : sizeof(value));
    if (value != GREETING) {
        fail("the message", "damaged");
    }
    ++received;
    return UCS_OK;
}

static uct_md_h open_md(const ucx_component_t *component)
{
    ucx_md_open_args_t args = {
        .size   = sizeof(args),
        .head   = {.ops = component->md_ops, .component = component},
        .config = make_options(component->md_config),
    };
    uct_md_resource_desc_t *mds;
    uct_md_h md;
    unsigned count;

    require(component->query_md_resources(component, &mds, &count),
            "listing domains");
    if (count == 0) {
        fail("domains", "none");
    }
    args.name = mds[0].md_name;
    require(component->md_open(component, place(&args, sizeof(args)), &md),
            "opening a domain");
    free(mds);
    return md;
}

static void query_md(uct_md_h md)
{
    ucx_md_attr_t attr = {.size = sizeof(attr)};

    require(md->ops->query(md, place(&attr, sizeof(attr))),
            "querying a domain");
}

/* Allocates and frees memory, if the domain supports that. */
static void use_memory(uct_md_h md)
{
    ucx_mem_alloc_params_t params = {
        .size     = sizeof(params),
        .flags    = UCT_MD_MEM_ACCESS_ALL,
        .mem_type = UCS_MEMORY_TYPE_HOST,
        .sys_dev  = UCS_SYS_DEVICE_ID_UNKNOWN,
    };
    size_t length = 4096;
    void *address = NULL;
    uct_mem_h memh;

    if (!UCX_TABLE_HAS(md->ops, mem_alloc) || (md->ops->mem_alloc == NULL)) {
        return;
    }
    require(md->ops->mem_alloc(md, &length, &address,
                               place(&params, sizeof(params)), &memh),
            "allocating memory");
    memset(address, 1, length);
    require(md->ops->mem_free(md, memh), "freeing memory");
}

static uct_iface_h open_iface(const ucx_transport_t *transport, uct_md_h md)
{
    uct_iface_params_t params  = {.field_mask = 0};
    ucx_iface_open_args_t args = {
        .size   = sizeof(args),
        .params = &params,
        .config = make_options(transport->config),
    };
    ucx_device_desc_t *devices;
    unsigned count, i;
    uct_iface_h iface;

    args.head = (uct_iface_t){
        .ops    = transport->iface_ops,
        .ep_ops = transport->ep_ops,
        .md     = md,
    };
    for (i = 0; i < UCT_AM_ID_MAX; ++i) {
        args.head.am[i] = (ucx_am_slot_t){.cb = handle};
    }
    require(transport->query_devices(md, &devices, &count), "listing devices");
    if (count == 0) {
        fail("devices", "none");
    }
    args.dev_name = devices[0].name;
    require(transport->iface_open(md, place(&args, sizeof(args)), &iface),
            "opening an interface");
    free(devices);
    return iface;
}

static uct_ep_h connect_to_self(uct_iface_h iface, const ucx_iface_attr_t *attr)
{
    void *dev              = calloc(1, attr->base.device_addr_len + 1);
    void *addr             = calloc(1, attr->base.iface_addr_len + 1);
    uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR |
                      UCT_EP_PARAM_FIELD_IFACE_ADDR,
        .iface      = iface,
        .dev_addr   = dev,
        .iface_addr = addr,
    };
    uct_ep_h ep;

    require(iface->ops->get_device_address(iface, dev), "a device address");
    require(iface->ops->get_address(iface, addr), "an interface address");
    require(iface->ops->ep_create(iface, &params, &ep), "an endpoint");
    free(dev);
    free(addr);
    return ep;
}

/* Calls the slot `estimate` with a structure of 1.0, which ends at an
 * inaccessible page: a plugin that writes to a member of a later version
 * crashes. */
static void estimate(uct_iface_h iface)
{
    ucx_perf_t perf = {.size = sizeof(perf), .op = UCX_OP_AM_SHORT};

    if (UCX_TABLE_HAS(iface->ops, estimate) && (iface->ops->estimate != NULL)) {
        require(iface->ops->estimate(iface, place(&perf, sizeof(perf))),
                "estimating a cost");
    }
}

static void exchange(uct_iface_h iface)
{
    const ucx_iface_attr_t empty = {.size = sizeof(empty)};
    ucx_iface_attr_t *attr       = place(&empty, sizeof(empty));
    double end                   = now() + PATIENCE;
    uct_ep_h ep;

    require(iface->ops->query(iface, attr), "querying an interface");
    estimate(iface);
    ep = connect_to_self(iface, attr);
    require(ep->ops->am_short(ep, 7, GREETING, NULL, 0), "sending");
    while (((received == 0) || (iface->ops->flush(iface, 0, NULL) != UCS_OK)) &&
           (now() < end)) {
        iface->ops->progress(iface);
    }
    if (received != 1) {
        fail("the message", "it does not arrive once");
    }
    ep->ops->destroy(ep);
}

int main(int argc, char **argv)
{
    ucx_host_t host = {
        .size            = sizeof(host),
        .abi             = UCX_PLUGIN_ABI_VERSION,
        .log_level       = &log_level,
        .log             = drop_line,
        .async_add_fd    = add_fd,
        .async_add_timer = add_timer,
        .async_remove    = remove_fd,
        .progress_cancel = cancel_oneshot,
        .iface_ep_failed = note_failure,
        .machine_guid    = machine_guid,
        .time            = now,
    };
    char reason[256]       = "";
    ucx_plugin_args_t args = {
        .size        = sizeof(args),
        .abi_min     = UCX_PLUGIN_ABI_VERSION,
        .abi_max     = UCX_PLUGIN_ABI_VERSION,
        .directory   = (argc == 3) ? argv[2] : "",
        .reason      = reason,
        .reason_size = sizeof(reason),
    };
    ucx_plugin_entry_t entry;
    const ucx_plugin_t *plugin;
    uct_iface_h iface;
    void *library;
    uct_md_h md;

    if ((argc != 3) || (UCX_PLUGIN_ABI_MINOR != 0)) {
        fail("usage", "core_1_0 LIBRARY FOLDER, built with headers of 1.0");
    }
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fail("loading", dlerror());
    }
    *(void **)&entry = dlsym(library, UCX_PLUGIN_ENTRY_SYMBOL);
    if (entry == NULL) {
        fail("the entry point", "missing");
    }
    args.host = place(&host, sizeof(host));
    if (entry(place(&args, sizeof(args)), &plugin) != UCS_OK) {
        fail("rejected", reason);
    }

    md = open_md(plugin->components[0]);
    query_md(md);
    use_memory(md);
    iface = open_iface(plugin->components[0]->transports[0], md);
    exchange(iface);
    iface->ops->close(iface);
    md->ops->close(md);
    if (plugin->fini != NULL) {
        plugin->fini();
    }
    printf("%s, built for ABI %u.%u, runs on a core of 1.0\n", argv[1],
           UCX_PLUGIN_ABI_MAJOR_OF(plugin->abi),
           UCX_PLUGIN_ABI_MINOR_OF(plugin->abi));
    return 0;
}
