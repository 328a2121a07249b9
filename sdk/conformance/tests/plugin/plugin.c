/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry point and its defects. */
#include "probe.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static char probe_defect[64];

int probe_breaks(const char *defect)
{
    return strcmp(probe_defect, defect) == 0;
}

/* A variable that names a path, with and without UCX_CONFIG_FLAG_PATH. */
#define TRACE_FIELD(_flags) \
    { \
        { \
            .name = "TRACE", .type = UCX_CONFIG_STRING, .dflt = "", \
            .help  = "The path of a file to write; empty: none.", \
            .flags = (_flags) \
        } \
    }

static const ucx_config_field_t marked[]   = TRACE_FIELD(UCX_CONFIG_FLAG_PATH);
static const ucx_config_field_t unmarked[] = TRACE_FIELD(0);

#define TRACE_TABLE(_fields) \
    { \
        .size = sizeof(ucx_config_table_t), .prefix = "PROBE_", \
        .options_size = sizeof(char *), \
        .field_size = sizeof(ucx_config_field_t), .fields = (_fields), \
        .num_fields = 1 \
    }

static const ucx_config_table_t marked_table   = TRACE_TABLE(marked);
static const ucx_config_table_t unmarked_table = TRACE_TABLE(unmarked);

static const ucx_transport_t *const transports[] = {&probe_transport};

/* Instances of all cores in this process. Each core calls fini() once; the last
 * call frees all instances. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static probe_instance_t *instances[16];
static unsigned num_instances, num_left;

static void fini(void)
{
    pthread_mutex_lock(&lock);
    if (++num_left == num_instances) {
        while (num_instances > 0) {
            free(instances[--num_instances]);
        }
        num_left = 0;
    }
    pthread_mutex_unlock(&lock);
}

static void instance_init(probe_instance_t *instance, const ucx_host_t *host)
{
    instance->host          = host;
    instance->components[0] = &instance->component;
    instance->component     = (ucx_component_t){
            .size               = sizeof(instance->component),
            .name               = "probe",
            .query_md_resources = probe_md_resources,
            .md_open            = probe_md_open,
            .md_ops             = &probe_md_ops,
            .md_config          = probe_breaks("path-unmarked") ? &unmarked_table :
                                                                  &marked_table,
            .rkey_unpack        = probe_rkey_unpack,
            .rkey_release       = probe_rkey_release,
            .transports         = transports,
            .num_transports     = 1,
    };
    instance->plugin = (ucx_plugin_t){
        .size           = sizeof(instance->plugin),
        .abi            = UCX_PLUGIN_ABI_VERSION,
        .name           = "probe",
        .version        = "1.0.0",
        .components     = instance->components,
        .num_components = 1,
        .fini           = fini,
    };
}

static probe_instance_t *instance_create(const ucx_host_t *host)
{
    probe_instance_t *instance = NULL;

    pthread_mutex_lock(&lock);
    if ((num_instances > 0) && probe_breaks("one-for-all")) {
        instance = instances[0];
    } else if (num_instances < sizeof(instances) / sizeof(instances[0])) {
        instance = calloc(1, sizeof(*instance));
        if (instance != NULL) {
            instance_init(instance, host);
            instances[num_instances++] = instance;
        }
    }
    pthread_mutex_unlock(&lock);
    return instance;
}

static void *run_thread(void *arg)
{
    pause();
    return NULL;
}

static void compute(double seconds)
{
    clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);

    while (clock() < end) {
    }
}

/* The defects "entry-sleeps" and "entry-computes": takes long, but only in the
 * first call, like a plugin that then stores what it has found out about a
 * device. */
static void be_slow(void)
{
    static int is_known;

    if (!is_known && probe_breaks("entry-sleeps")) {
        usleep(1200000);
    } else if (!is_known && probe_breaks("entry-computes")) {
        compute(0.2);
    }
    is_known = 1;
}

/* Carries out the selected defect, if it is that the entry point takes long,
 * prints, opens a descriptor or starts a thread. */
static void do_too_much(void)
{
    pthread_t thread;

    be_slow();

    if (probe_breaks("entry-prints")) {
        printf("probe: here I am\n");
    } else if (probe_breaks("entry-opens")) {
        if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0) {
            return;
        }
    } else if (probe_breaks("entry-thread")) {
        if (pthread_create(&thread, NULL, run_thread, NULL) == 0) {
            pthread_detach(thread);
        }
    }
}

static int speaks(const ucx_plugin_args_t *args)
{
    if (probe_breaks("entry-takes-all")) {
        return 1;
    } else if (probe_breaks("entry-rejects-newer")) {
        return args->abi_max == UCX_PLUGIN_ABI_VERSION;
    }
    return (UCX_PLUGIN_ABI_MAJOR_OF(args->abi_min) <= UCX_PLUGIN_ABI_MAJOR) &&
           (UCX_PLUGIN_ABI_MAJOR_OF(args->abi_max) >= UCX_PLUGIN_ABI_MAJOR);
}

ucs_status_t ucx_plugin_entry(const ucx_plugin_args_t *args,
                              const ucx_plugin_t **plugin_p)
{
    const char *folder = strrchr(args->directory, '/');
    probe_instance_t *instance;

    snprintf(probe_defect, sizeof(probe_defect), "%s",
             (folder == NULL) ? args->directory : folder + 1);
    if (!speaks(args)) {
        if (probe_breaks("entry-reason-long")) {
            memset(args->reason, 'x', args->reason_size + 1);
            args->reason[args->reason_size - 1] = '\0';
        } else if (!probe_breaks("entry-no-reason")) {
            snprintf(args->reason, args->reason_size,
                     "the probe speaks plugin ABI 1");
        }
        return UCS_ERR_UNSUPPORTED;
    }

    instance = instance_create(args->host);
    if (instance == NULL) {
        snprintf(args->reason, args->reason_size, "out of memory");
        return UCS_ERR_NO_MEMORY;
    }
    do_too_much();
    if (probe_breaks("slot-missing")) {
        probe_ep_ops.am_bcopy = NULL;
    }
    if (probe_breaks("flag-without-slot")) {
        probe_ep_ops.put_bcopy = NULL;
    }
    if (probe_breaks("required-slot-missing")) {
        probe_ep_ops.destroy = NULL;
    }
    *plugin_p = &instance->plugin;
    return UCS_OK;
}
