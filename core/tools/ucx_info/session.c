/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Creates the UCP context and worker according to the command line, and
 * measures the cost.
 */
#include "session.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ucs/debug/log.h"
#include "ucs/time/time.h"

struct info_session {
    ucp_context_h context;
    ucp_worker_h worker;
    info_cost_t context_cost;
    info_cost_t worker_cost;
    int failed; /* the context could not be created, which was reported */
};

/* ------------------------------------------------------------ features -- */

int info_features_parse(const char *letters, uint64_t *features_p,
                        int *error_mode_p, char *bad_p)
{
    static const struct {
        char letter;
        uint64_t features;
    } rows[] = {
        {'a', UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64},
        {'r', UCP_FEATURE_RMA},
        {'t', UCP_FEATURE_TAG},
        {'s', UCP_FEATURE_STREAM},
        {'m', UCP_FEATURE_AM},
        {'w', UCP_FEATURE_WAKEUP},
        {'e', 0},
    };
    uint64_t features = 0;
    size_t i;

    for (; *letters != '\0'; ++letters) {
        for (i = 0;
             (i < ucs_static_array_size(rows)) && (rows[i].letter != *letters);
             ++i) {
        }
        if (i == ucs_static_array_size(rows)) {
            *bad_p = *letters;
            return -1;
        }
        features |= rows[i].features;
        if ((*letters == 'e') && (error_mode_p != NULL)) {
            *error_mode_p = 1;
        }
    }
    if ((features & ~(uint64_t)UCP_FEATURE_WAKEUP) == 0) {
        *bad_p = '\0';
        return -1;
    }
    if (features_p != NULL) {
        *features_p = features;
    }
    return 0;
}

int info_error_mode(const info_t *info)
{
    int error_mode = 0;
    char bad;

    info_features_parse(info->features, NULL, &error_mode, &bad);
    return error_mode;
}

/* --------------------------------------------------------------- costs -- */

static int count_fds(void)
{
    DIR *dir  = opendir("/proc/self/fd");
    int count = 0;

    if (dir == NULL) {
        return 0;
    }
    while (readdir(dir) != NULL) {
        ++count;
    }
    closedir(dir);
    return count;
}

static double resident_bytes(void)
{
    unsigned long pages = 0;
    FILE *file          = fopen("/proc/self/statm", "r");

    if (file == NULL) {
        return 0;
    }
    if (fscanf(file, "%*u %lu", &pages) != 1) {
        pages = 0;
    }
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* Stores the values before the creation. The time is read last, to exclude the
 * other measurements. */
static void cost_begin(info_cost_t *cost)
{
    cost->bytes   = resident_bytes();
    cost->fds     = count_fds();
    cost->seconds = ucs_time_to_sec(ucs_get_time());
}

static void cost_end(info_cost_t *cost)
{
    cost->seconds = ucs_time_to_sec(ucs_get_time()) - cost->seconds;
    cost->bytes   = resident_bytes() - cost->bytes;
    cost->fds     = count_fds() - cost->fds;
}

/* ------------------------------------------------------------- objects -- */

static ucs_status_t set_or_complain(ucp_config_t *config, const char *name,
                                    const char *value)
{
    ucs_status_t status = ucp_config_modify(config, name, value);

    if (status != UCS_OK) {
        info_complain("UCX_%s could not be set to '%s': %s", name, value,
                      ucs_status_string(status));
    }
    return status;
}

/* Applies the settings of the command line to the UCP configuration. */
static ucs_status_t adjust_config(const info_t *info, ucp_config_t *config)
{
    char *transports = NULL, *devices = NULL;
    ucs_status_t status;

    status = info_select_transports(info, &transports);
    if (status == UCS_OK) {
        status = info_select_devices(info, &devices);
    }
    if ((status == UCS_OK) && (transports != NULL)) {
        status = set_or_complain(config, "TLS", transports);
    }
    if ((status == UCS_OK) && (devices != NULL)) {
        status = set_or_complain(config, "NET_DEVICES", devices);
    }
    /* The library prints tables of protocols (UCX_PROTO_INFO) to its log, which
     * -f directs to standard output. They must not be printed if the output is
     * JSON, or by the second process of -P. */
    if ((status == UCS_OK) && (info->json || (info->peer_fd >= 0))) {
        status = set_or_complain(config, "PROTO_INFO", "n");
    } else if ((status == UCS_OK) && info->full) {
        status = set_or_complain(config, "PROTO_INFO", "y");
        fflush(stdout);
        ucs_log_file_set("stdout");
    }
    free(transports);
    free(devices);
    return status;
}

static ucs_status_t make_context(const info_t *info, ucp_context_h *context_p)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME,
        .name       = "ucx_info",
    };
    ucp_config_t *config;
    ucs_status_t status;
    char bad;

    info_features_parse(info->features, &params.features, NULL, &bad);
    if (info->num_eps > 0) {
        params.field_mask |= UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
        params.estimated_num_eps = info->num_eps;
    }
    if (info->num_ppn > 0) {
        params.field_mask |= UCP_PARAM_FIELD_ESTIMATED_NUM_PPN;
        params.estimated_num_ppn = info->num_ppn;
    }

    status = ucp_config_read(info->prefix, NULL, &config);
    if (status != UCS_OK) {
        info_complain("the configuration cannot be read: %s",
                      ucs_status_string(status));
        return status;
    }

    status = adjust_config(info, config);
    if (status == UCS_OK) {
        status = ucp_init(&params, config, context_p);
        if (status != UCS_OK) {
            info_complain("cannot create a UCP context: %s. `ucx_info -d` "
                          "shows the devices",
                          ucs_status_string(status));
        }
    }
    ucp_config_release(config);
    return status;
}

static info_session_t *session(info_t *info)
{
    if (info->session == NULL) {
        info->session = calloc(1, sizeof(*info->session));
        if (info->session == NULL) {
            info_complain("out of memory");
        }
    }
    return info->session;
}

ucp_context_h info_session_context(info_t *info, const info_cost_t **cost_p)
{
    info_session_t *self = session(info);

    if ((self == NULL) || self->failed) {
        return NULL;
    }
    if (self->context == NULL) {
        cost_begin(&self->context_cost);
        if (make_context(info, &self->context) != UCS_OK) {
            self->context = NULL;
            self->failed  = 1;
            return NULL;
        }
        cost_end(&self->context_cost);
    }
    if (cost_p != NULL) {
        *cost_p = &self->context_cost;
    }
    return self->context;
}

ucp_worker_h info_session_worker(info_t *info, const info_cost_t **cost_p)
{
    ucp_worker_params_t params = {
        .field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_SINGLE,
    };
    ucp_context_h context = info_session_context(info, NULL);
    info_session_t *self  = info->session;
    ucs_status_t status;

    if (context == NULL) {
        return NULL;
    }
    if (self->worker == NULL) {
        cost_begin(&self->worker_cost);
        status = ucp_worker_create(context, &params, &self->worker);
        if (status != UCS_OK) {
            info_complain("cannot create a UCP worker: %s",
                          ucs_status_string(status));
            self->worker = NULL;
            return NULL;
        }
        cost_end(&self->worker_cost);
    }
    if (cost_p != NULL) {
        *cost_p = &self->worker_cost;
    }
    return self->worker;
}

void info_session_close(info_t *info)
{
    info_session_t *self = info->session;

    if (self == NULL) {
        return;
    }
    if (self->worker != NULL) {
        ucp_worker_destroy(self->worker);
    }
    if (self->context != NULL) {
        ucp_cleanup(self->context);
    }
    free(self);
    info->session = NULL;
}
