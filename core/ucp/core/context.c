/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_init_version, ucp_cleanup and ucp_context_query: check the parameters and
 * set the members of a context. resources.c finds and opens the memory domains
 * and devices.
 */
#include "ucp/core/context.h"

#include "ucp/base/request.h"
#include "ucp/core/config.h"
#include "ucp/mem/table.h"
#include "ucp/stats/stats.h"
#include "ucs/debug/log.h"
#include "ucs/sys/sys.h"
#include "uct/base/words.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All bits of ucp_feature and ucp_params_field in this version of ucp.h.
 * ucp_init rejects other features, and ignores other fields unless the program
 * was built for a newer version, see ucp_context_check_fields(). */
enum {
    ALL_FEATURES = (UCP_FEATURE_DEVICE << 1) - 1,
    ALL_FIELDS   = (UCP_PARAM_FIELD_NODE_LOCAL_ID << 1) - 1,
};

static void set_name(ucp_context_t *context, const ucp_params_t *params)
{
    if ((params->field_mask & UCP_PARAM_FIELD_NAME) && (params->name != NULL)) {
        snprintf(context->name, sizeof(context->name), "%s", params->name);
    } else {
        snprintf(context->name, sizeof(context->name), "ucp_%d_%p",
                 (int)getpid(), (void *)context);
    }
}

static void take_params(ucp_context_t *context, const ucp_params_t *params)
{
    uint64_t mask = params->field_mask;

    context->features        = params->features;
    context->request_size    = (mask & UCP_PARAM_FIELD_REQUEST_SIZE) ?
                                   params->request_size :
                                   0;
    context->request_init    = (mask & UCP_PARAM_FIELD_REQUEST_INIT) ?
                                   params->request_init :
                                   NULL;
    context->request_cleanup = (mask & UCP_PARAM_FIELD_REQUEST_CLEANUP) ?
                                   params->request_cleanup :
                                   NULL;
    context->tag_sender_mask = (mask & UCP_PARAM_FIELD_TAG_SENDER_MASK) ?
                                   params->tag_sender_mask :
                                   0;
    context->shared          = (mask & UCP_PARAM_FIELD_MT_WORKERS_SHARED) ?
                                   params->mt_workers_shared :
                                   0;
    set_name(context, params);
}

/* Maximum values of the estimates. A part of a transport's latency is
 * multiplied by estimated_num_eps, and shared bandwidth is divided by
 * estimated_num_ppn. With larger numbers than in any real system, these two
 * terms would outweigh all other differences between transports. */
enum { MAX_ESTIMATED_EPS = 1 << 24, MAX_ESTIMATED_PPN = 1 << 12 };

static size_t clamp(size_t value, size_t max)
{
    return (value == 0) ? 1 : (value > max) ? max : value;
}

/* Reads the program's estimates. The variables UCX_NUM_EPS, UCX_NUM_PPN and
 * UCX_LOCAL_NODE_ID override them. */
static void take_estimates(ucp_context_t *context, const ucp_params_t *params)
{
    const ucp_config_options_t *options = &context->options;
    uint64_t mask                       = params->field_mask;
    size_t num_eps = 1, num_ppn = 1, local_id = SIZE_MAX;

    if (options->num_eps != UCS_ULUNITS_AUTO) {
        num_eps = options->num_eps;
    } else if (mask & UCP_PARAM_FIELD_ESTIMATED_NUM_EPS) {
        num_eps = params->estimated_num_eps;
    }
    if (options->num_ppn != UCS_ULUNITS_AUTO) {
        num_ppn = options->num_ppn;
    } else if (mask & UCP_PARAM_FIELD_ESTIMATED_NUM_PPN) {
        num_ppn = params->estimated_num_ppn;
    }
    if (options->local_node_id != UCS_ULUNITS_AUTO) {
        local_id = options->local_node_id;
    } else if (mask & UCP_PARAM_FIELD_NODE_LOCAL_ID) {
        local_id = params->node_local_id;
    }

    context->estimated_num_eps = clamp(num_eps, MAX_ESTIMATED_EPS);
    context->estimated_num_ppn = clamp(num_ppn, MAX_ESTIMATED_PPN);
    context->node_local_id     = local_id;
}

static ucs_status_t check_params(const ucp_params_t *params)
{
    if (!(params->field_mask & UCP_PARAM_FIELD_FEATURES) ||
        (params->features & ~(uint64_t)ALL_FEATURES)) {
        ucs_error("ucp_init: the features are missing or unknown (mask 0x%lx,"
                  " features 0x%lx)",
                  params->field_mask, params->features);
        return UCS_ERR_INVALID_PARAM;
    }
    if (params->features & UCP_FEATURE_DEVICE) {
        ucs_error("ucp_init: UCP_FEATURE_DEVICE is not supported: no transport"
                  " starts operations from device code");
        return UCS_ERR_UNSUPPORTED;
    }
    return UCS_OK;
}

/* Minor versions of UCP only add to the API. A program that was built for a
 * newer minor version runs as long as it uses none of the additions, which the
 * functions that create objects check (ucp_context_check_fields()). */
static ucs_status_t check_version(unsigned major, unsigned minor)
{
    static int has_warned;

    if (major != UCP_API_MAJOR) {
        ucs_error("this program was built for UCP %u.%u, but the library that"
                  " it found implements %u.%u: install a library of the same"
                  " major version, or see LD_LIBRARY_PATH",
                  major, minor, UCP_API_MAJOR, UCP_API_MINOR);
        return UCS_ERR_NOT_IMPLEMENTED;
    }
    if ((minor > UCP_API_MINOR) &&
        !__atomic_exchange_n(&has_warned, 1, __ATOMIC_RELAXED)) {
        ucs_warn("this program was built for UCP %u.%u, but the library that it"
                 " found implements %u.%u: what is newer will fail",
                 major, minor, UCP_API_MAJOR, UCP_API_MINOR);
    }
    return UCS_OK;
}

static void drop_config(ucp_context_t *context)
{
    free(context->config_file);
    free(context->app_prefix);
    ucs_config_overrides_cleanup(&context->overrides);
    ucp_config_options_release(&context->options);
}

static ucs_status_t take_config(ucp_context_t *context,
                                const ucp_config_t *config)
{
    int failed = 0;
    ucs_status_t status;

    status = ucp_config_options_clone(&context->options, &config->options);
    if (status != UCS_OK) {
        return status;
    }

    status = ucs_config_overrides_clone(&context->overrides,
                                        &config->overrides);
    if (status != UCS_OK) {
        ucp_config_options_release(&context->options);
        return status;
    }

    if (config->app_prefix != NULL) {
        context->app_prefix = strdup(config->app_prefix);
        failed |= (context->app_prefix == NULL);
    }
    if (config->filename != NULL) {
        context->config_file = strdup(config->filename);
        failed |= (context->config_file == NULL);
    }
    if (failed) {
        drop_config(context);
        return UCS_ERR_NO_MEMORY;
    }
    return UCS_OK;
}

/* Logs warnings about UCX_* variables that do not exist. Called after all
 * transports in use have registered their variables. */
static void warn_unknown(const ucp_context_t *context)
{
    const ucs_config_source_t source = {
        .app_prefix = context->app_prefix,
        .filename   = context->config_file,
        .overrides  = &context->overrides,
    };

    ucs_config_warn_unknown(&source, uct_config_prefixes(), NULL);
}

static void begin_counting(ucp_context_t *context)
{
    const ucs_config_source_t source = {
        .app_prefix = context->app_prefix,
        .filename   = context->config_file,
        .overrides  = &context->overrides,
    };

    context->counts = ucp_stats_open(&source);
}

static ucs_status_t create(const ucp_params_t *params,
                           const ucp_config_t *config, int is_newer,
                           ucp_context_h *context_p)
{
    ucp_context_t *context = calloc(1, sizeof(*context));
    ucs_status_t status;

    if (context == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    ucp_mem_table_init(&context->mems);
    ucs_config_overrides_init(&context->overrides);
    context->is_newer = is_newer;
    take_params(context, params);
    status = take_config(context, config);
    if (status != UCS_OK) {
        goto err_context;
    }

    take_estimates(context, params);
    status = ucp_context_open_resources(context);
    if (status != UCS_OK) {
        goto err_options;
    }

    begin_counting(context);
    warn_unknown(context);
    *context_p = context;
    return UCS_OK;

err_options:
    drop_config(context);
err_context:
    ucp_mem_table_cleanup(&context->mems);
    free(context);
    return status;
}

ucs_status_t ucp_init_version(unsigned api_major_version,
                              unsigned api_minor_version,
                              const ucp_params_t *params,
                              const ucp_config_t *config,
                              ucp_context_h *context_p)
{
    int is_newer             = (api_minor_version > UCP_API_MINOR);
    ucp_config_t *own_config = NULL;
    ucs_status_t status;

    status = check_version(api_major_version, api_minor_version);
    if (status == UCS_OK) {
        status = ucp_context_check_fields(is_newer, "ucp_init",
                                          params->field_mask, ALL_FIELDS);
    }
    if (status == UCS_OK) {
        status = check_params(params);
    }
    if (status != UCS_OK) {
        return status;
    }

    if (config == NULL) {
        status = ucp_config_read(NULL, NULL, &own_config);
        if (status != UCS_OK) {
            return status;
        }
        config = own_config;
    }

    status = create(params, config, is_newer, context_p);
    if (own_config != NULL) {
        ucp_config_release(own_config);
    }
    return status;
}

void ucp_cleanup(ucp_context_h context)
{
    if (context->counts) {
        ucp_stats_close();
    }
    ucp_mem_table_cleanup(&context->mems);
    ucp_context_close_resources(context);
    drop_config(context);
    free(context);
}

ucs_status_t ucp_context_query(ucp_context_h context, ucp_context_attr_t *attr)
{
    if (attr->field_mask & UCP_ATTR_FIELD_REQUEST_SIZE) {
        attr->request_size = sizeof(ucp_request_t);
    }
    if (attr->field_mask & UCP_ATTR_FIELD_THREAD_MODE) {
        attr->thread_mode = context->shared ? UCS_THREAD_MODE_MULTI :
                                              UCS_THREAD_MODE_SINGLE;
    }
    if (attr->field_mask & UCP_ATTR_FIELD_MEMORY_TYPES) {
        attr->memory_types = context->mem_types;
    }
    if (attr->field_mask & UCP_ATTR_FIELD_NAME) {
        snprintf(attr->name, sizeof(attr->name), "%s", context->name);
    }
    if (attr->field_mask & UCP_ATTR_FIELD_DEVICE_COUNTER_SIZE) {
        attr->device_counter_size = 0; /* ucp_init rejects UCP_FEATURE_DEVICE */
    }
    return UCS_OK;
}
