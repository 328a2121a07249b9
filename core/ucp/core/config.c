/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The variables of UCP: their table, and the calls that read and change them.
 */
#include "ucp/core/config.h"

#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

/* In the order of ucp_rndv_scheme_t. */
static const char *const rndv_schemes[] = {"auto", "get_zcopy", "put_zcopy",
                                           "am", NULL};

static const ucs_config_field_t fields[] = {
    {"TLS", "all",
     "Transports to use, by name or alias, separated by commas; \"all\" is\n"
     "every one there is. A leading ^ uses all but those that are listed.\n"
     "An endpoint to the worker itself always works, listed or not.",
     offsetof(ucp_config_options_t, tls), UCS_CONFIG_TYPE_ALLOW_LIST},

    {"NET_DEVICES", "all",
     "Network devices to use, by the names that ucx_info shows, separated by\n"
     "commas. A leading ^ uses all but those that are listed.",
     offsetof(ucp_config_options_t, net_devices), UCS_CONFIG_TYPE_ALLOW_LIST},

    {"ZCOPY_THRESH", "auto",
     "Message size, in bytes, from which eager messages are sent from where\n"
     "they lie instead of being copied. auto: decided by estimated cost.",
     offsetof(ucp_config_options_t, zcopy_thresh), UCS_CONFIG_TYPE_MEMUNITS},

    {"RNDV_THRESH", "auto",
     "Message size, in bytes, from which a message waits for its receive\n"
     "before its data is sent. auto: decided by estimated cost.",
     offsetof(ucp_config_options_t, rndv_thresh), UCS_CONFIG_TYPE_MEMUNITS},

    {"RNDV_SCHEME", "auto",
     "How the data of a rendezvous goes, where there is a choice:\n"
     "get_zcopy - the receiver fetches it\n"
     "put_zcopy - the sender puts it where the receiver says\n"
     "am        - in fragments, by active messages\n"
     "auto      - whichever costs least for the size",
     offsetof(ucp_config_options_t, rndv_scheme),
     UCS_CONFIG_TYPE_ENUM(rndv_schemes)},

    {"RNDV_FRAG_SIZE", "auto",
     "Size, in bytes, of the fragments of a rendezvous by active messages, as\n"
     "far as the transport allows. auto: as it allows, but at most 64k.",
     offsetof(ucp_config_options_t, rndv_frag_size), UCS_CONFIG_TYPE_MEMUNITS},

    {"PROTO_INFO", "n",
     "Show, for every kind of endpoint that is made, which protocol carries\n"
     "which operation and size.",
     offsetof(ucp_config_options_t, proto_info), UCS_CONFIG_TYPE_BOOL},

    {NULL}
};

UCS_CONFIG_DEFINE_TABLE(ucp_config_table, "UCP context", "", fields,
                        ucp_config_options_t);

ucs_status_t ucp_config_options_clone(ucp_config_options_t *dest,
                                      const ucp_config_options_t *src)
{
    ucs_status_t status = ucs_config_clone(&ucp_config_table, dest, src);

    if (status == UCS_OK) {
        if (dest->zcopy_thresh == UCS_MEMUNITS_AUTO) {
            dest->zcopy_thresh = SIZE_MAX;
        }
        if (dest->rndv_thresh == UCS_MEMUNITS_AUTO) {
            dest->rndv_thresh = SIZE_MAX;
        } else if (dest->rndv_thresh == UCS_MEMUNITS_INF) {
            dest->rndv_thresh = SIZE_MAX - 1; /* as late as can be */
        }
        if (dest->rndv_frag_size == UCS_MEMUNITS_AUTO) {
            dest->rndv_frag_size = 0;
        }
    }
    return status;
}

void ucp_config_options_release(ucp_config_options_t *options)
{
    ucs_config_release(&ucp_config_table, options);
}

static char *copy_or_null(const char *text, int *failed)
{
    char *copy = NULL;

    if (text != NULL) {
        copy     = strdup(text);
        *failed |= (copy == NULL);
    }
    return copy;
}

ucs_status_t ucp_config_read(const char *env_prefix, const char *filename,
                             ucp_config_t **config_p)
{
    ucs_config_source_t source;
    ucp_config_t *config;
    ucs_status_t status;
    int failed = 0;

    config = calloc(1, sizeof(*config));
    if (config == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    config->app_prefix = copy_or_null(env_prefix, &failed);
    config->filename   = copy_or_null(filename, &failed);
    ucs_config_overrides_init(&config->overrides);
    if (failed) {
        status = UCS_ERR_NO_MEMORY;
        goto err;
    }

    source.app_prefix = config->app_prefix;
    source.filename   = config->filename;
    source.overrides  = NULL;
    status = ucs_config_read(&ucp_config_table, &source, &config->options);
    if (status != UCS_OK) {
        goto err;
    }

    *config_p = config;
    return UCS_OK;

err:
    ucs_config_overrides_cleanup(&config->overrides);
    free(config->filename);
    free(config->app_prefix);
    free(config);
    return status;
}

void ucp_config_release(ucp_config_t *config)
{
    ucs_config_release(&ucp_config_table, &config->options);
    ucs_config_overrides_cleanup(&config->overrides);
    free(config->filename);
    free(config->app_prefix);
    free(config);
}

ucs_status_t ucp_config_modify(ucp_config_t *config, const char *name,
                               const char *value)
{
    ucs_status_t status = ucs_config_set(&ucp_config_table, &config->options,
                                         name, value);

    if (status == UCS_ERR_NO_ELEM) {
        /* a transport's, perhaps: it is told when its options are read */
        return ucs_config_overrides_set(&config->overrides, name, value);
    }
    return status;
}

void ucp_config_print(const ucp_config_t *config, FILE *stream,
                      const char *title, ucs_config_print_flags_t print_flags)
{
    ucs_config_print(stream, title, &ucp_config_table, &config->options,
                     config->app_prefix, print_flags);
}

void ucp_config_warn_unknown(const char *app_prefix)
{
    ucs_config_warn_unknown(app_prefix, NULL, NULL);
}
