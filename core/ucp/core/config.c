/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration variables of UCP (UCX_*): the table of their names, types
 * and defaults, ucp_config_read and the other public functions, and copies of
 * the options.
 */
#include "ucp/core/config.h"


#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

/* Values of UCX_RNDV_SCHEME: four in the order of ucp_rndv_scheme_t, then names
 * that other implementations of UCX accept. rndv_synonyms has the scheme that
 * each of these names means here. get_ppln and put_ppln (pipelines) are not
 * schemes of their own, because large data is divided if necessary in every
 * scheme. */
enum { NUM_RNDV_SCHEMES = 4 };
static const char *const rndv_schemes[] = {"auto",     "get_zcopy", "put_zcopy",
                                           "am",       "get_ppln",  "put_ppln",
                                           "rkey_ptr", NULL};
static const unsigned rndv_synonyms[]   = {UCP_RNDV_SCHEME_GET,
                                           UCP_RNDV_SCHEME_PUT,
                                           UCP_RNDV_SCHEME_GET};

static const ucs_config_field_t fields[] = {
    {"TLS", "all",
     "Transports to use, by name or alias, separated by commas; \"all\": all\n"
     "that are available. A leading ^ selects all except those in the list; \\\n"
     "before a name selects the transport of exactly that name, not an alias;\n"
     "NAME:aux uses a transport only to connect others that need it. A transport\n"
     "of memory of devices includes the one that copies this memory.\n"
     "An endpoint to the worker itself always works.",
     offsetof(ucp_config_options_t, tls), UCS_CONFIG_TYPE_ALLOW_LIST},

    {"NET_DEVICES", "all",
     "Network devices to use, by the names that ucx_info shows, separated by\n"
     "commas. eth[0-3] is eth0 to eth3; a device's name stands for all of its\n"
     "ports. A leading ^ selects all except those in the list.",
     offsetof(ucp_config_options_t, devices[UCT_DEVICE_TYPE_NET]),
     UCS_CONFIG_TYPE_DEVICE_LIST},

    {"SHM_DEVICES", "all",
     "The same for devices of transports within this machine.",
     offsetof(ucp_config_options_t, devices[UCT_DEVICE_TYPE_SHM]),
     UCS_CONFIG_TYPE_DEVICE_LIST},

    {"ACC_DEVICES", "all",
     "The same for accelerators, such as the copy engines of GPUs.",
     offsetof(ucp_config_options_t, devices[UCT_DEVICE_TYPE_ACC]),
     UCS_CONFIG_TYPE_DEVICE_LIST},

    {"SELF_DEVICES", "all",
     "The same for devices that reach this process only. An endpoint to the\n"
     "worker itself works without any.",
     offsetof(ucp_config_options_t, devices[UCT_DEVICE_TYPE_SELF]),
     UCS_CONFIG_TYPE_DEVICE_LIST},

    {"WARN_INVALID_CONFIG", "y",
     "Warn about transports, devices and thresholds in the configuration that\n"
     "have no effect.",
     offsetof(ucp_config_options_t, warn_invalid_config), UCS_CONFIG_TYPE_BOOL},

    {"ZCOPY_THRESH", "auto",
     "Message size, in bytes, from which eager messages use zero-copy instead\n"
     "of a buffered copy. auto: selected by estimated cost.",
     offsetof(ucp_config_options_t, zcopy_thresh), UCS_CONFIG_TYPE_MEMUNITS},

    {"BCOPY_THRESH", "auto",
     "Message size, in bytes, from which eager messages use a buffered copy\n"
     "instead of a short send. auto or 0: selected by estimated cost.",
     offsetof(ucp_config_options_t, bcopy_thresh), UCS_CONFIG_TYPE_MEMUNITS},

    {"RNDV_THRESH", "auto",
     "Message size, in bytes, from which messages use the rendezvous protocol.\n"
     "auto: selected by estimated cost; inf: never. One size, or one for peers\n"
     "on this machine and one for others: intra:16k,inter:128k; the one that is\n"
     "not given is auto.",
     offsetof(ucp_config_options_t, rndv_thresh), UCP_CONFIG_TYPE_THRESH},

    {"MAX_EAGER_LANES", "1",
     "Maximum number of network devices for one eager message. An eager message\n"
     "is not divided: values above 1 have no effect.",
     offsetof(ucp_config_options_t, max_eager_lanes),
     UCS_CONFIG_TYPE_UINT_RANGE(1, 64), 0, "MAX_EAGER_RAILS"},

    {"MAX_RNDV_LANES", "2",
     "Maximum number of network devices for the data of one rendezvous, which is\n"
     "divided in proportion to their bandwidths; at most 4 are used.",
     offsetof(ucp_config_options_t, max_rndv_lanes),
     UCS_CONFIG_TYPE_UINT_RANGE(1, 64), 0, "MAX_RNDV_RAILS"},

    {"MAX_RMA_LANES", "1",
     "Maximum number of network devices for one large put or get.",
     offsetof(ucp_config_options_t, max_rma_lanes),
     UCS_CONFIG_TYPE_UINT_RANGE(1, 64), 0, "MAX_RMA_RAILS"},

    {"MULTI_LANE_MAX_RATIO", "4",
     "A lane is not used together with the fastest one if its bandwidth is\n"
     "smaller by more than this factor.",
     offsetof(ucp_config_options_t, max_lane_ratio),
     UCS_CONFIG_TYPE_DOUBLE_RANGE(1, 1e9)},

    {"RNDV_SCHEME", "auto",
     "How the data of a rendezvous is transferred, if several schemes are\n"
     "possible:\n"
     "get_zcopy - the receiver gets it\n"
     "put_zcopy - the sender puts it into the receiver's buffer\n"
     "am        - in fragments, by active messages\n"
     "auto      - selected by estimated cost\n"
     "get_ppln and rkey_ptr mean get_zcopy, put_ppln means put_zcopy.",
     offsetof(ucp_config_options_t, rndv_scheme),
     UCS_CONFIG_TYPE_ENUM(rndv_schemes)},

    {"RNDV_FRAG_SIZE", "auto",
     "Size, in bytes, of the fragments of a rendezvous by active messages and of\n"
     "eager messages, up to the transport's limit. auto: that limit, but at most\n"
     "64k, and less for messages below about 1m between processors whose\n"
     "bandwidth is known. One size, or one for each memory type, as in\n"
     "host:64k,cuda:4m: that of device memory is for the chunks that are copied\n"
     "to and from it.",
     offsetof(ucp_config_options_t, rndv_frag_size), UCP_CONFIG_TYPE_SIZES},

    {"PROTO_INFO", "n",
     "Log the protocols of each operation by size, for every configuration of\n"
     "endpoints.",
     offsetof(ucp_config_options_t, proto_info), UCS_CONFIG_TYPE_BOOL},

    {"PROTO_MEASURE", "y",
     "Select protocols by the bandwidths that transports measure while the\n"
     "program runs. n: by the declared bandwidths.",
     offsetof(ucp_config_options_t, proto_measure), UCS_CONFIG_TYPE_BOOL},

    {"PROTO_LEARN", "y",
     "Time large messages, try other protocols now and then, and select those\n"
     "that prove to be the fastest. n: select by estimated costs only.",
     offsetof(ucp_config_options_t, proto_learn), UCS_CONFIG_TYPE_BOOL},

    {"PROTO_LEARN_STREAMS", "y",
     "With UCX_PROTO_LEARN=y: do so for large messages, put and get that follow\n"
     "others, too, and separately for exchanges. n: those that follow others are\n"
     "selected by estimated costs.",
     offsetof(ucp_config_options_t, proto_learn_streams), UCS_CONFIG_TYPE_BOOL},

    {"TM_THRESH", "auto",
     "Size, in bytes, of the smallest receive buffer whose tag a transport\n"
     "matches, if the transport supports tag matching. auto: the transport's\n"
     "minimum.",
     offsetof(ucp_config_options_t, tm_thresh), UCS_CONFIG_TYPE_MEMUNITS},

    {"ADAPTIVE_PROGRESS", "y",
     "Poll interfaces without traffic less often. n: poll all of them in every\n"
     "progress.",
     offsetof(ucp_config_options_t, adaptive_progress), UCS_CONFIG_TYPE_BOOL},

    {"RNDV_SEND_NBR_THRESH", "256k",
     "Message size, in bytes, below which ucp_tag_send_nbr(), and sends with\n"
     "UCP_OP_ATTR_FLAG_FAST_CMPL, do not wait for the receiver.",
     offsetof(ucp_config_options_t, nbr_rndv_thresh), UCS_CONFIG_TYPE_MEMUNITS,
     0, "SEND_NBR_RNDV_THRESH"},

    {"NUM_EPS", "auto",
     "Expected number of endpoints, for the selection of transports. auto: the\n"
     "value that the application passes to ucp_init().",
     offsetof(ucp_config_options_t, num_eps), UCS_CONFIG_TYPE_ULUNITS},

    {"NUM_PPN", "auto",
     "Number of processes of the job on this machine, which share its devices,\n"
     "for the selection of transports. auto: the value that the application\n"
     "passes to ucp_init().",
     offsetof(ucp_config_options_t, num_ppn), UCS_CONFIG_TYPE_ULUNITS},

    {"LOCAL_NODE_ID", "auto",
     "Index of this process among those of the job on this machine, from 0.\n"
     "auto: the value that the application passes to ucp_init().",
     offsetof(ucp_config_options_t, local_node_id), UCS_CONFIG_TYPE_ULUNITS},

    {"SOCKADDR_TLS_PRIORITY", "*",
     "Connection managers, by component and in order of preference, separated\n"
     "by commas; \"*\": all others. A client uses the next one if one has no\n"
     "route; a listener listens with each.",
     offsetof(ucp_config_options_t, sockaddr_tls_priority),
     UCS_CONFIG_TYPE_STRING_ARRAY},

    {"CM_USE_ALL_DEVICES", "y",
     "Connections by socket address use any device that reaches the peer. n: of\n"
     "network devices, only the one with the route to that address.",
     offsetof(ucp_config_options_t, cm_use_all_devices), UCS_CONFIG_TYPE_BOOL},

    {"ADDRESS_DEBUG_INFO", "n",
     "Worker addresses contain the name of the worker, for the log messages of\n"
     "its peers. This makes them longer. With UCX_STATS they always contain it.",
     offsetof(ucp_config_options_t, address_debug_info), UCS_CONFIG_TYPE_BOOL},

    {"LISTENER_BACKLOG", "auto",
     "Number of clients that may wait to be accepted by a listener. auto: the\n"
     "limit of the system.",
     offsetof(ucp_config_options_t, listener_backlog), UCS_CONFIG_TYPE_ULUNITS},

    {"KEEPALIVE_INTERVAL", "20s",
     "Interval of the checks for lost peers, where the transport does not\n"
     "detect them by itself. For endpoints with\n"
     "UCP_ERR_HANDLING_MODE_PEER. 0 or inf: never.",
     offsetof(ucp_config_options_t, keepalive_interval), UCS_CONFIG_TYPE_TIME},

    {"KEEPALIVE_NUM_EPS", "128",
     "Number of endpoints of a worker that are checked in one interval, in turn.\n"
     "inf: all of them.",
     offsetof(ucp_config_options_t, keepalive_num_eps),
     UCS_CONFIG_TYPE_ULUNITS},

    {"WIREUP_TIMEOUT", "30m",
     "Time until an endpoint fails if its peer does not answer the request to\n"
     "connect lanes endpoint to endpoint, although it lives. A peer answers\n"
     "only when it makes progress. 0 or inf: never.",
     offsetof(ucp_config_options_t, wireup_timeout), UCS_CONFIG_TYPE_TIME},

    {NULL},
};

UCS_CONFIG_DEFINE_TABLE(ucp_config_table, "UCP context", "", fields,
                        ucp_config_options_t);

/* Converts the special values of a threshold (auto, inf) to those of the
 * protocol selection: "by cost" and "never". */
static void resolve_threshold(size_t *thresh)
{
    if (*thresh == UCS_MEMUNITS_AUTO) {
        *thresh = SIZE_MAX;
    } else if (*thresh == UCS_MEMUNITS_INF) {
        *thresh = UCP_PROTO_THRESH_NEVER;
    }
}

ucs_status_t ucp_config_options_clone(ucp_config_options_t *dest,
                                      const ucp_config_options_t *src)
{
    ucs_status_t status = ucs_config_clone(&ucp_config_table, dest, src);

    if (status == UCS_OK) {
        resolve_threshold(&dest->zcopy_thresh);
        resolve_threshold(&dest->rndv_thresh.intra);
        resolve_threshold(&dest->rndv_thresh.inter);
        if (dest->bcopy_thresh == UCS_MEMUNITS_AUTO) {
            dest->bcopy_thresh = 0;
        }
        if (dest->rndv_scheme >= NUM_RNDV_SCHEMES) {
            dest->rndv_scheme =
                rndv_synonyms[dest->rndv_scheme - NUM_RNDV_SCHEMES];
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
        copy = strdup(text);
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
        /* Not a variable of UCP. It may belong to a transport: keep it until
         * the options of the transport are read. */
        return ucs_config_overrides_set(&config->overrides, name, value);
    }
    return status;
}

UCS_F_COLD void ucp_config_print(const ucp_config_t *config, FILE *stream,
                                 const char *title,
                                 ucs_config_print_flags_t print_flags)
{
    ucs_config_print(stream, title, &ucp_config_table, &config->options,
                     config->app_prefix, print_flags);
}
