/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory events for the registration cache and for plugins: at the first
 * subscription, UCM gets its settings from the configuration variables
 * (UCX_MEM_*) and intercepts the functions that map and unmap memory.
 */
#include "uct/base/mem_events.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/config/config.h"
#include "ucs/datastruct/list.h"
#include "ucs/debug/log.h"

/* --- Variables ----------------------------------------------------------- */

static const char *const mem_level_names[] = {"FATAL", "ERROR", "WARN",  "DIAG",
                                              "INFO",  "DEBUG", "TRACE", NULL};
static const char *const mem_mode_names[]  = {"none", "reloc", "bistro", NULL};
static const char *const mem_unload_names[] = {"lazy", "now", "none", NULL};

static const ucs_config_field_t mem_fields[] = {
    {"LOG_LEVEL", "WARN", "Log level of memory events.",
     offsetof(ucm_global_config_t, log_level),
     UCS_CONFIG_TYPE_ENUM(mem_level_names), 0},

    {"EVENTS", "y",
     "Intercept calls that map and unmap memory, if a registration cache or a\n"
     "program subscribes to memory events.",
     offsetof(ucm_global_config_t, enable_events), UCS_CONFIG_TYPE_BOOL, 0},

    {"MMAP_HOOK_MODE", "bistro",
     "How calls are intercepted.\n"
     "none   - not at all\n"
     "reloc  - by changing the tables through which loaded objects call\n"
     "bistro - by changing the first instructions of the functions; by tables\n"
     "         where that is not possible",
     offsetof(ucm_global_config_t, mmap_hook_mode),
     UCS_CONFIG_TYPE_ENUM(mem_mode_names), 0},

    {"MALLOC_HOOKS", "y",
     "Mode reloc: configure the C library's heap so that it does not return\n"
     "memory to the system.",
     offsetof(ucm_global_config_t, enable_malloc_hooks), UCS_CONFIG_TYPE_BOOL,
     0},

    {"MALLOC_RELOC", "y", "Mode reloc: intercept free() and realloc() also.",
     offsetof(ucm_global_config_t, enable_malloc_reloc), UCS_CONFIG_TYPE_BOOL,
     0},

    {"DLOPEN_PROCESS_RPATH", "y",
     "Mode reloc: dlopen() searches the run path of the calling object.",
     offsetof(ucm_global_config_t, dlopen_process_rpath), UCS_CONFIG_TYPE_BOOL,
     0},

    {"MODULE_UNLOAD_PREVENT_MODE", "lazy",
     "Keep the library loaded after it has intercepted calls.\n"
     "lazy - yes; its symbols are bound at their first use\n"
     "now  - yes; its symbols are bound at once\n"
     "none - no, for debugging",
     offsetof(ucm_global_config_t, module_unload_prevent_mode),
     UCS_CONFIG_TYPE_ENUM(mem_unload_names), 0},

    {NULL, NULL, NULL, 0, NULL, NULL, 0},
};

UCS_CONFIG_DEFINE_TABLE(mem_table, "Memory events", "MEM_", mem_fields,
                        ucm_global_config_t)

static const ucs_config_field_t rcache_fields[] = {
    {"ENABLE", "try",
     "Keep memory registered after use, if registration is expensive. It needs\n"
     "memory events; y warns if they are not available, try does not.",
     offsetof(uct_rcache_options_t, enable), UCS_CONFIG_TYPE_TERNARY, 0},

    {"MEM_PRIO", "1000", "Priority among the handlers of memory events.",
     offsetof(uct_rcache_options_t, mem_prio), UCS_CONFIG_TYPE_UINT, 0},

    {"MAX_REGIONS", "inf", "Maximum number of cached regions.",
     offsetof(uct_rcache_options_t, max_regions), UCS_CONFIG_TYPE_ULUNITS, 0},

    {"MAX_SIZE", "inf", "Maximum number of cached bytes.",
     offsetof(uct_rcache_options_t, max_size), UCS_CONFIG_TYPE_MEMUNITS, 0},

    {"MAX_UNRELEASED", "512M",
     "Registrations of unmapped memory are released at the next use of the\n"
     "cache, or when they exceed this number of bytes.",
     offsetof(uct_rcache_options_t, max_unreleased), UCS_CONFIG_TYPE_MEMUNITS,
     0},

    {NULL, NULL, NULL, 0, NULL, NULL, 0},
};

UCS_CONFIG_DEFINE_TABLE(rcache_table, "Registration cache", "RCACHE_",
                        rcache_fields, uct_rcache_options_t)

void uct_rcache_options_read(uct_rcache_options_t *options)
{
    if ((ucs_config_read(&rcache_table, NULL, options) == UCS_OK) ||
        (ucs_config_read_defaults(&rcache_table, options) == UCS_OK)) {
        ucs_config_release(&rcache_table, options);
    }
    if (options->max_regions >= UCS_ULUNITS_AUTO) {
        options->max_regions = SIZE_MAX;
    }
    if (options->max_size >= UCS_MEMUNITS_AUTO) {
        options->max_size = SIZE_MAX;
    }
}

/* --- fork ---------------------------------------------------------------- */

static atomic_uint fork_generation;

unsigned uct_fork_generation(void)
{
    return atomic_load_explicit(&fork_generation, memory_order_relaxed);
}

static void fork_in_child(void)
{
    atomic_fetch_add(&fork_generation, 1);
}

/* --- Subscriptions ------------------------------------------------------- */

static pthread_once_t mem_once = PTHREAD_ONCE_INIT;

static void mem_events_init(void)
{
    ucm_global_config_t options;

    pthread_atfork(NULL, NULL, fork_in_child);
    memset(&options, 0, sizeof(options));
    if (ucs_config_read(&mem_table, NULL, &options) == UCS_OK) {
        ucm_set_global_opts(&options);
        ucs_config_release(&mem_table, &options);
    }
}

ucs_status_t uct_mem_events_set(int events, int priority,
                                ucm_event_callback_t cb, void *arg)
{
    pthread_once(&mem_once, mem_events_init);
    return ucm_set_event_handler(events, priority, cb, arg);
}

/* --- Subscriptions of plugins -------------------------------------------- */

/* A subscription of a plugin, and the argument of its handler in UCM. */
typedef struct mem_subscriber {
    ucs_list_link_t list; /* link in mem_subscribers */
    ucx_mem_event_cb_t cb;
    void *arg;
} mem_subscriber_t;

static pthread_mutex_t mem_lock = PTHREAD_MUTEX_INITIALIZER;
static UCS_LIST_HEAD(mem_subscribers); /* protected by mem_lock */

/* Handler in UCM: passes an event to one subscriber. Runs in the thread that
 * maps or unmaps memory, inside that call. */
static void mem_event(ucm_event_type_t type, ucm_event_t *event, void *arg)
{
    const mem_subscriber_t *subscriber = arg;

    if (type == UCM_EVENT_VM_MAPPED) {
        subscriber->cb(UCX_MEM_EVENT_MAPPED, event->vm_mapped.address,
                       event->vm_mapped.size, subscriber->arg);
    } else {
        subscriber->cb(UCX_MEM_EVENT_UNMAPPED, event->vm_unmapped.address,
                       event->vm_unmapped.size, subscriber->arg);
    }
}

ucs_status_t uct_host_mem_event_subscribe(unsigned events,
                                          ucx_mem_event_cb_t cb, void *arg)
{
    mem_subscriber_t *subscriber;
    ucs_status_t status;

    if ((cb == NULL) || (events == 0) ||
        (events & ~(UCX_MEM_EVENT_UNMAPPED | UCX_MEM_EVENT_MAPPED))) {
        return UCS_ERR_INVALID_PARAM;
    }

    subscriber = malloc(sizeof(*subscriber));
    if (subscriber == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    subscriber->cb  = cb;
    subscriber->arg = arg;
    status          = uct_mem_events_set(
                 ((events & UCX_MEM_EVENT_UNMAPPED) ? UCM_EVENT_VM_UNMAPPED : 0) |
                     ((events & UCX_MEM_EVENT_MAPPED) ? UCM_EVENT_VM_MAPPED : 0),
                 0, mem_event, subscriber);
    if (status != UCS_OK) {
        free(subscriber);
        return status;
    }

    pthread_mutex_lock(&mem_lock);
    ucs_list_add_tail(&mem_subscribers, &subscriber->list);
    pthread_mutex_unlock(&mem_lock);
    return UCS_OK;
}

void uct_host_mem_event_unsubscribe(ucx_mem_event_cb_t cb, void *arg)
{
    mem_subscriber_t *subscriber, *next;
    UCS_LIST_HEAD(gone);

    pthread_mutex_lock(&mem_lock);
    ucs_list_for_each_safe(subscriber, next, &mem_subscribers, list) {
        if ((subscriber->cb == cb) && (subscriber->arg == arg)) {
            ucs_list_del(&subscriber->list);
            ucs_list_add_tail(&gone, &subscriber->list);
        }
    }
    pthread_mutex_unlock(&mem_lock);

    while (!ucs_list_is_empty(&gone)) {
        subscriber = ucs_list_extract_head(&gone, mem_subscriber_t, list);
        ucm_unset_event_handler(UCM_EVENT_VM_MAPPED | UCM_EVENT_VM_UNMAPPED,
                                mem_event, subscriber);
        free(subscriber);
    }
}
