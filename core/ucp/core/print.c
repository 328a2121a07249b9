/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_context_print_info, ucp_worker_print_info and ucp_ep_print_info. Programs
 * parse these lines: MPI libraries search them for the transports and devices
 * of a context. Therefore the format must not change. mem/print.c has
 * ucp_mem_print_info.
 */
#include "ucp/proto/ep.h"

#include "ucp/learn/trial.h"
#include "ucp/proto/measure.h"
#include "ucp/wireup/address.h"
#include "uct/base/component.h"

#include <stdlib.h>
#include <string.h>

enum { LABEL = 24, LANE = 33 };

static void print_title(FILE *stream, const char *title)
{
    fprintf(stream, "#\n# UCP %s\n#\n", title);
}

/* ------------------------------------------------------------- context -- */

static const char *component_name(const ucp_md_t *md)
{
    return uct_component_decl(md->component)->name;
}

/* Returns the index of a domain's component among the components in use. */
static unsigned component_index(ucp_context_h context, unsigned md_index)
{
    unsigned i, j, count = 0;

    for (i = 0; i < context->num_mds; ++i) {
        for (j = 0; context->mds[j].component != context->mds[i].component;
             ++j) {
        }
        if (context->mds[i].component == context->mds[md_index].component) {
            return count;
        }
        count += (j == i);
    }
    return count;
}

/* Returns the index of a resource's device among the devices. Several resources
 * may have the same device. */
static unsigned device_index(ucp_context_h context, unsigned resource_index)
{
    const ucp_resource_t *resources = context->resources;
    unsigned i, j, count = 0;

    for (i = 0; i < context->num_resources; ++i) {
        for (j = 0; strcmp(resources[j].dev_name, resources[i].dev_name) != 0;
             ++j) {
        }
        if (strcmp(resources[i].dev_name, resources[resource_index].dev_name) ==
            0) {
            return count;
        }
        count += (j == i);
    }
    return count;
}

UCS_F_COLD void ucp_context_print_info(const ucp_context_h context,
                                       FILE *stream)
{
    unsigned i, next = 0;

    print_title(stream, "context");
    for (i = 0; i < context->num_mds; ++i) {
        if (component_index(context, i) == next) {
            fprintf(stream, "#     component %-2u :  %s\n", next++,
                    component_name(&context->mds[i]));
        }
    }
    fprintf(stream, "#\n");
    for (i = 0; i < context->num_mds; ++i) {
        fprintf(stream, "#            md %-2u :  component %-2u %s \n", i,
                component_index(context, i), context->mds[i].name);
    }
    fprintf(stream, "#\n");
    for (i = 0; i < context->num_resources; ++i) {
        const ucp_resource_t *resource = &context->resources[i];

        fprintf(stream,
                "#      resource %-2u :  md %-2u dev %-2u flags -- "
                "%s/%s\n",
                i, resource->md_index, device_index(context, i),
                resource->tl_name, resource->dev_name);
    }
    fprintf(stream, "#\n");
}

/* ----------------------------------------------------------- protocols -- */

/* Returns the name by which other UCX implementations print a protocol, for
 * example "egr/short" for "am/short". */
static const char *usual_name(const char *name)
{
    static const char *const names[][2] = {
        {"short", "egr/short"}, {"bcopy", "egr/bcopy"}, {"copy", "egr/bcopy"},
        {"zcopy", "egr/zcopy"}, {"multi", "egr/multi"}, {"rndv", "rndv"},
    };
    const char *kind = strchr(name, '/');
    size_t i;

    kind = (kind == NULL) ? name : kind + 1;
    for (i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        if (strcmp(kind, names[i][0]) == 0) {
            return names[i][1];
        }
    }
    return name;
}

/* Prints the protocols that are selected for contiguous host memory, and the
 * sizes at which they change. */
static void print_thresholds(const ucp_ep_config_t *config, ucp_op_t op,
                             FILE *stream)
{
    const ucp_proto_step_t *step =
        config->tables[op][UCP_DT_CLASS_CONTIG].steps;

    fprintf(stream, "#%*s: 0", LABEL, ucp_proto_op_name(op));
    for (; step->max != SIZE_MAX; ++step) {
        fprintf(stream, "..<%s>..%zu", usual_name(step->proto->name),
                step->max + 1);
    }
    fprintf(stream, "..<%s>..(inf)\n", usual_name(step->proto->name));
}

/* Continues a line of sizes and names, such as
 * "0..<short>..65..<bcopy>..(inf)", with the kind of transfer for sizes above
 * `*end` and up to `max`; sets `*end` to `max`. Prints nothing if there are no
 * such sizes. */
static void print_kind(const char *name, size_t max, size_t *end, FILE *stream)
{
    if ((max <= *end) || (*end == SIZE_MAX)) {
        return;
    }
    if (*end > 0) {
        fprintf(stream, "%zu", *end + 1);
    }
    fprintf(stream, "..<%s>..", name);
    *end = max;
}

/* Prints up to which size one put or get over a lane is a short operation, a
 * buffered copy or zero-copy. Longer transfers take several of the last
 * kind. */
static void print_rma(const char *name, unsigned lane,
                      const ucp_lane_rma_t *rma, FILE *stream)
{
    size_t end = 0;

    fprintf(stream, "#%*s[%u]: 0", LABEL - 3, name, lane);
    print_kind("short", rma->max_short, &end, stream);
    print_kind("bcopy", rma->max_bcopy, &end, stream);
    print_kind("zcopy", rma->max_zcopy, &end, stream);
    fprintf(stream, "(inf)\n");
}

static void print_protocols(const ucp_ep_config_t *config, uint64_t features,
                            FILE *stream)
{
    unsigned op, i;

    for (op = 0; op < UCP_OP_MESSAGE_LAST; ++op) {
        if (features & ucp_proto_op_feature((ucp_op_t)op)) {
            print_thresholds(config, (ucp_op_t)op, stream);
        }
    }
    for (i = 0; (i < config->num_lanes) && (features & UCP_FEATURE_RMA); ++i) {
        if (config->rma_lanes & UCS_BIT(i)) {
            print_rma("put", i, &config->lanes[i].put, stream);
            print_rma("get", i, &config->lanes[i].get, stream);
        }
    }
}

/* -------------------------------------------------------------- worker -- */

/* Prints on one line those interfaces of the worker for which `has` is true. */
static void print_ifaces(ucp_worker_h worker, const char *label,
                         int (*has)(const ucp_lane_config_t *lane),
                         FILE *stream)
{
    const char *separator = "";
    unsigned i;

    fprintf(stream, "#%*s: ", LABEL, label);
    for (i = 0; i < worker->num_ifaces; ++i) {
        const ucp_resource_t *resource = ucp_worker_iface_resource(worker, i);

        if (has(&worker->ifaces[i].lane)) {
            fprintf(stream, "%s%u:%s/%s", separator, worker->ifaces[i].resource,
                    resource->tl_name, resource->dev_name);
            separator = ", ";
        }
    }
    fprintf(stream, "\n");
}

static int has_messages(const ucp_lane_config_t *lane)
{
    return lane->am.max_bcopy > 0;
}

/* Prints the lanes and protocols of endpoints with this configuration. A
 * configuration with other measured bandwidths, or with a lane that has failed,
 * is derived from another one (`whole`) and left out here; ucp_ep_print_info()
 * prints it for its endpoint. */
static void print_config(ucp_worker_h worker, const ucp_ep_config_t *config,
                         FILE *stream)
{
    unsigned i;

    if (config->unconnected || (config != config->whole)) {
        return;
    }
    fprintf(stream, "#\n#%*s:", LABEL, "endpoints over");
    for (i = 0; i < config->num_lanes; ++i) {
        const ucp_resource_t *resource =
            ucp_worker_iface_resource(worker, config->lanes[i].iface_index);

        fprintf(stream, " %s/%s", resource->tl_name, resource->dev_name);
    }
    fprintf(stream, "%s\n", config->err_mode ? ", peer failures reported" : "");
    print_protocols(config, worker->context->features, stream);
}

UCS_F_COLD void ucp_worker_print_info(ucp_worker_h worker, FILE *stream)
{
    const uint64_t amo = UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64;
    uint64_t features  = worker->context->features;
    ucs_status_t status;
    size_t length;
    void *address;
    unsigned i;

    fprintf(stream, "#\n# UCP worker '%s'\n#\n", worker->name);
    ucp_worker_enter(worker);
    status = ucp_address_pack(worker, 0, &address, &length);
    if (status == UCS_OK) {
        fprintf(stream, "#%*s: %zu bytes\n", LABEL, "address", length);
        free(address);
    } else {
        fprintf(stream, "#%*s: <%s>\n", LABEL, "address",
                ucs_status_string(status));
    }
    print_ifaces(worker, "messages", has_messages, stream);
    if (features & UCP_FEATURE_RMA) {
        print_ifaces(worker, "put and get", ucp_lane_can_rma, stream);
    }
    if (features & amo) {
        print_ifaces(worker, "atomics", ucp_lane_can_amo, stream);
    }
    for (i = 0; i < worker->num_configs; ++i) {
        print_config(worker, worker->configs[i], stream);
    }
    ucp_worker_leave(worker);
    fprintf(stream, "#\n");
}

/* ------------------------------------------------------------ endpoint -- */

/* Returns the position of `lane` among the lanes that support one use, for
 * example atomics. The position of `best` is 0; the others follow in ascending
 * order. `best` may be UCP_NULL_LANE: none. */
static unsigned rank(ucp_lane_map_t lanes, unsigned best, unsigned lane)
{
    unsigned count = (best < UCP_MAX_LANES);
    unsigned i;

    if (lane == best) {
        return 0;
    }
    for (i = 0; i < lane; ++i) {
        count += (i != best) && (lanes & UCS_BIT(i));
    }
    return count;
}

/* Prints what an endpoint uses a lane for. */
static void print_uses(const ucp_ep_config_t *config, unsigned lane,
                       FILE *stream)
{
    const ucp_rails_t *rails = (config->rndv_get.num > 0) ? &config->rndv_get :
                                                            &config->rndv_put;
    unsigned i;

    if (lane == UCP_AM_LANE) {
        fprintf(stream, " am am_bw#0");
    }
    for (i = 0; i < rails->num; ++i) {
        if (rails->rail[i].lane == lane) {
            fprintf(stream, " rma_bw#%u", i);
        }
    }
    if (config->rma_lanes & UCS_BIT(lane)) {
        fprintf(stream, " rma#%u",
                rank(config->rma_lanes, config->rma_lane, lane));
    }
    if (config->amo_lanes & UCS_BIT(lane)) {
        fprintf(stream, " amo#%u",
                rank(config->amo_lanes, config->amo_lane, lane));
    }
    if (config->err_mode && (lane == UCP_AM_LANE)) {
        fprintf(stream, " keepalive");
    }
    fprintf(stream, "\n");
}

static void print_lane(ucp_ep_h ep, unsigned index, FILE *stream)
{
    const ucp_lane_config_t *lane = &ep->config->lanes[index];
    const ucp_resource_t *resource =
        ucp_worker_iface_resource(ep->worker, lane->iface_index);
    char here[128];

    snprintf(here, sizeof(here), "%2u:%s/%s.0 md[%u]",
             ep->worker->ifaces[lane->iface_index].resource, resource->tl_name,
             resource->dev_name, lane->md_index);
    fprintf(stream, "#%*s[%u]: %-*s-> md[%u]/%s/sysdev[%u]", LABEL - 3, "lane",
            index, LANE, here, lane->remote_md,
            component_name(&ep->worker->context->mds[lane->md_index]),
            resource->sys_dev);
    print_uses(ep->config, index, stream);
}

/* Prints the bandwidths by which protocols for large data are selected, after
 * measuring them if necessary, and the results of trials (learn/trial.h). */
static void print_costs(ucp_ep_h ep, FILE *stream)
{
    char costs[128];

    ucp_ep_measure(ep, UCP_MEASURE_COPY_MIN);
    if (ucp_measure_describe(ep->config, costs, sizeof(costs))) {
        fprintf(stream, "#%*s: %s\n", LABEL, "costs", costs);
    }
    ucp_trial_print(ep, stream);
}

UCS_F_COLD void ucp_ep_print_info(ucp_ep_h ep, FILE *stream)
{
    ucp_worker_h worker = ep->worker;
    unsigned i;

    ucp_worker_enter(worker);
    print_title(stream, "endpoint");
    if (ep->config->unconnected) {
        fprintf(stream, "#               peer: <not connected>\n");
    } else {
        fprintf(stream, "#               peer: worker %lx\n", ep->peer_uuid);
        for (i = 0; i < ep->config->num_lanes; ++i) {
            print_lane(ep, i, stream);
        }
        print_costs(ep, stream);
        fprintf(stream, "#\n");
        print_protocols(ep->config, worker->context->features, stream);
    }
    fprintf(stream, "#\n");
    ucp_worker_leave(worker);
}
