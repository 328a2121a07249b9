/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens the copiers of a worker (stage.h), and detects which of the user's
 * buffers are in memory that the processor cannot access.
 */
#include "ucp/stage/copier.h"

#include "ucp/mem/mem.h"
#include "ucs/debug/log.h"
#include "ucs/type/memory_type.h"
#include "uct/base/md.h"
#include "uct/base/memtype.h"

#include <stdlib.h>
#include <string.h>

/* FRAG_SIZE: default size of a fragment in bytes. At this size, starting a copy
 * on a device takes little time compared with the copy itself. LEAST_FRAG_SIZE:
 * is used instead of a smaller size that the user has set. */
enum { FRAG_SIZE = 256 * 1024, LEAST_FRAG_SIZE = 4096 };

/* ------------------------------------------------------------- copiers -- */

static ucs_status_t open_iface(ucp_worker_h worker,
                               const ucp_resource_t *resource, uct_md_h md,
                               uct_iface_h *iface_p)
{
    ucp_context_h context     = worker->context;
    uct_iface_params_t params = {
        .field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE |
                      UCT_IFACE_PARAM_FIELD_DEVICE,
        .open_mode            = UCT_IFACE_OPEN_MODE_DEVICE,
        .mode.device.tl_name  = resource->tl_name,
        .mode.device.dev_name = resource->dev_name,
    };
    uct_iface_config_t *config;
    ucs_status_t status;

    status = uct_md_iface_config_read(md, resource->tl_name,
                                      context->app_prefix, context->config_file,
                                      &config);
    if (status != UCS_OK) {
        return status;
    }
    ucp_context_apply_overrides(context, config);
    status = uct_iface_open(md, worker->uct, &params, config, iface_p);
    uct_config_release(config);
    return status;
}

/* Creates an endpoint that is connected to this process itself. */
static ucs_status_t connect_to_self(uct_iface_h iface, uct_ep_h *ep_p)
{
    const uct_iface_attr_t *attr = &uct_iface_attr(iface)->base;
    uct_ep_params_t params       = {
              .field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR |
                            UCT_EP_PARAM_FIELD_IFACE_ADDR |
                            UCT_EP_PARAM_FIELD_DEV_ADDR_LENGTH |
                            UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH,
              .iface             = iface,
              .dev_addr_length   = attr->device_addr_len,
              .iface_addr_length = attr->iface_addr_len,
    };
    char *addresses;
    ucs_status_t status;

    addresses = calloc(1, attr->device_addr_len + attr->iface_addr_len + 1);
    if (addresses == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    params.dev_addr   = (uct_device_addr_t *)addresses;
    params.iface_addr = (uct_iface_addr_t *)(addresses + attr->device_addr_len);
    status            = UCS_OK;
    if (attr->device_addr_len > 0) {
        status = uct_iface_get_device_address(iface, (uct_device_addr_t *)
                                                         params.dev_addr);
    }
    if ((status == UCS_OK) && (attr->iface_addr_len > 0)) {
        status = uct_iface_get_address(iface,
                                       (uct_iface_addr_t *)params.iface_addr);
    }
    if (status == UCS_OK) {
        status = uct_ep_create(&params, ep_p);
    }
    free(addresses);
    return status;
}

/* Returns the size of a fragment: that of UCX_RNDV_FRAG_SIZE or the default,
 * limited to one operation of the copier. */
static size_t select_frag_size(ucp_context_h context,
                               const ucp_copier_t *copier)
{
    size_t size = ucp_config_sizes_get(&context->options.rndv_frag_size,
                                       copier->mem_types &
                                           ~UCS_BIT(UCS_MEMORY_TYPE_HOST));

    if (size == 0) {
        size = FRAG_SIZE;
    } else if (size < LEAST_FRAG_SIZE) {
        size = LEAST_FRAG_SIZE;
    }
    if ((copier->max_put_zcopy > 0) && (copier->max_put_zcopy < size)) {
        size = copier->max_put_zcopy;
    }
    if ((copier->max_get_zcopy > 0) && (copier->max_get_zcopy < size)) {
        size = copier->max_get_zcopy;
    }
    return size;
}

static void take_limits(ucp_copier_t *copier)
{
    const uct_iface_attr_t *attr = &uct_iface_attr(copier->iface)->base;
    uint64_t flags               = attr->cap.flags;

    if (flags & UCT_IFACE_FLAG_PUT_SHORT) {
        copier->max_put_short = attr->cap.put.max_short;
    }
    if (flags & UCT_IFACE_FLAG_GET_SHORT) {
        copier->max_get_short = attr->cap.get.max_short;
    }
    if (flags & UCT_IFACE_FLAG_PUT_ZCOPY) {
        copier->max_put_zcopy = attr->cap.put.max_zcopy;
        copier->min_put_zcopy = attr->cap.put.min_zcopy;
    }
    if (flags & UCT_IFACE_FLAG_GET_ZCOPY) {
        copier->max_get_zcopy = attr->cap.get.max_zcopy;
        copier->min_get_zcopy = attr->cap.get.min_zcopy;
    }
}

/* Returns non-zero if the copier can copy any length in both directions. */
static int is_complete(const ucp_copier_t *copier)
{
    return ((copier->max_put_short > 0) ||
            ((copier->max_put_zcopy > 0) && (copier->min_put_zcopy <= 1))) &&
           ((copier->max_get_short > 0) ||
            ((copier->max_get_zcopy > 0) && (copier->min_get_zcopy <= 1)));
}

static ucs_status_t open_copier(ucp_stage_t *stage,
                                const ucp_resource_t *resource,
                                ucp_copier_t *copier)
{
    ucp_worker_h worker       = stage->worker;
    uct_md_h md               = worker->context->mds[resource->md_index].md;
    const ucx_md_attr_t *attr = uct_md_attr(md);
    ucs_status_t status;

    copier->stage     = stage;
    copier->md        = md;
    copier->mem_types = attr->access_mem_types;
    copier->pins      = (attr->flags & UCT_MD_FLAG_REG) &&
                   (attr->reg_mem_types & UCS_BIT(UCS_MEMORY_TYPE_HOST));
    ucs_list_head_init(&copier->idle);
    ucs_list_head_init(&copier->idle_small);

    status = open_iface(worker, resource, md, &copier->iface);
    if (status != UCS_OK) {
        return status;
    }

    take_limits(copier);
    copier->frag_size = select_frag_size(worker->context, copier);
    status = is_complete(copier) ? connect_to_self(copier->iface, &copier->ep) :
                                   UCS_ERR_UNSUPPORTED;
    if (status != UCS_OK) {
        uct_iface_close(copier->iface);
    }
    return status;
}

/* The first copier that supports a type becomes its copier. */
static void assign_types(ucp_stage_t *stage, ucp_copier_t *copier)
{
    unsigned type;

    for (type = 0; type < UCS_MEMORY_TYPE_LAST; ++type) {
        if ((copier->mem_types & UCS_BIT(type)) &&
            (stage->by_type[type] == NULL)) {
            stage->by_type[type] = copier;
        }
    }
}

static unsigned count_copiers(ucp_context_h context)
{
    unsigned count = 0;
    unsigned i;

    for (i = 0; i < context->num_resources; ++i) {
        count += context->resources[i].is_copier;
    }
    return count;
}

ucs_status_t ucp_stage_open(ucp_worker_h worker, ucp_stage_t **stage_p)
{
    ucp_context_h context = worker->context;
    unsigned count        = count_copiers(context);
    ucp_stage_t *stage;
    ucs_status_t status;
    unsigned i;

    *stage_p = NULL;
    if (count == 0) {
        return UCS_OK;
    }

    stage = calloc(1, sizeof(*stage));
    if (stage == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    stage->worker      = worker;
    stage->progress_id = UCS_CALLBACKQ_ID_NULL;
    ucs_list_head_init(&stage->waiting);
    ucs_list_head_init(&stage->copying);
    ucs_list_head_init(&stage->done);
    stage->copiers = calloc(count, sizeof(*stage->copiers));
    if (stage->copiers == NULL) {
        free(stage);
        return UCS_ERR_NO_MEMORY;
    }

    for (i = 0; i < context->num_resources; ++i) {
        const ucp_resource_t *resource = &context->resources[i];
        ucp_copier_t *copier           = &stage->copiers[stage->num_copiers];

        if (!resource->is_copier) {
            continue;
        }
        status = open_copier(stage, resource, copier);
        if (status == UCS_OK) {
            ++stage->num_copiers;
            assign_types(stage, copier);
        } else {
            ucs_diag("%s/%s: cannot be used for copies: %s", resource->tl_name,
                     resource->dev_name, ucs_status_string(status));
            memset(copier, 0, sizeof(*copier));
        }
    }
    *stage_p = stage;
    return UCS_OK;
}

void ucp_stage_close(ucp_stage_t *stage)
{
    unsigned i;

    if (stage == NULL) {
        return;
    }

    for (i = 0; i < stage->num_copiers; ++i) {
        ucp_stage_frags_free(&stage->copiers[i]);
        uct_ep_destroy(stage->copiers[i].ep);
        uct_iface_close(stage->copiers[i].iface);
    }
    free(stage->copiers);
    free(stage);
}

ucp_copier_t *ucp_stage_copier(const ucp_stage_t *stage, ucs_memory_type_t type)
{
    return ((stage == NULL) || ((unsigned)type >= UCS_MEMORY_TYPE_LAST)) ?
               NULL :
               stage->by_type[type];
}

/* ----------------------------------------------------------- detection -- */

/* Returns the type that the user specified, or UNKNOWN. */
static ucs_memory_type_t told_type(const ucp_request_param_t *param)
{
    if (param->op_attr_mask & UCP_OP_ATTR_FIELD_MEMORY_TYPE) {
        return param->memory_type;
    }
    if ((param->op_attr_mask & UCP_OP_ATTR_FIELD_MEMH) &&
        (param->memh != NULL)) {
        return param->memh->mem_type;
    }
    return UCS_MEMORY_TYPE_UNKNOWN;
}

/* Finds the memory type of a list of buffers. Memory that the processor can
 * access may be mixed with one type that it cannot access: the result is then
 * that type; else HOST. */
static ucs_status_t detect_list(const ucp_dt_iov_t *iov, size_t count,
                                ucs_memory_type_t *type_p)
{
    ucs_memory_type_t type;
    uint32_t place;
    size_t i;

    *type_p = UCS_MEMORY_TYPE_HOST;
    for (i = 0; i < count; ++i) {
        type = uct_mem_locate(iov[i].buffer, iov[i].length, &place);
        if (UCS_MEM_IS_ACCESSIBLE_FROM_CPU(type) || (type == *type_p)) {
            continue;
        }
        if (!UCS_MEM_IS_ACCESSIBLE_FROM_CPU(*type_p)) {
            ucs_error("a list of buffers mixes %s and %s memory",
                      ucs_memory_type_name(*type_p),
                      ucs_memory_type_name(type));
            return UCS_ERR_INVALID_PARAM;
        }
        *type_p = type;
    }
    return UCS_OK;
}

static ucs_status_t type_of(ucp_worker_h worker, const ucp_dt_iter_t *iter,
                            const ucp_request_param_t *param,
                            ucs_memory_type_t *type_p, uint32_t *place_p)
{
    *place_p = 0;
    *type_p  = told_type(param);
    if ((unsigned)*type_p > UCS_MEMORY_TYPE_UNKNOWN) {
        ucs_error("an operation on memory of type %d, which does not exist",
                  (int)*type_p);
        return UCS_ERR_INVALID_PARAM;
    }
    if (*type_p != UCS_MEMORY_TYPE_UNKNOWN) {
        return UCS_OK;
    }
    if (worker->stage == NULL) {
        *type_p = UCS_MEMORY_TYPE_HOST;
        return UCS_OK;
    }
    if (iter->dt_class == UCP_DT_CLASS_CONTIG) {
        *type_p = uct_mem_locate(iter->u.contig.buffer, iter->length, place_p);
        return UCS_OK;
    }
    return detect_list(iter->u.iov.iov, iter->u.iov.count, type_p);
}

ucs_status_t ucp_stage_adopt(ucp_worker_h worker, ucp_dt_iter_t *iter,
                             const ucp_request_param_t *param)
{
    ucs_memory_type_t type;
    ucp_copier_t *copier;
    ucs_status_t status;
    uint32_t place;

    if ((iter->dt_class == UCP_DT_CLASS_GENERIC) || (iter->length == 0)) {
        return UCS_OK; /* the user's functions access the memory, or there is
                        * none */
    }

    status = type_of(worker, iter, param, &type, &place);
    if (status != UCS_OK) {
        return status;
    }

    iter->mem_type = (uint8_t)type;
    if (UCS_MEM_IS_ACCESSIBLE_FROM_CPU(type)) {
        return UCS_OK;
    }

    copier = ucp_stage_copier(worker->stage, type);
    if (copier == NULL) {
        ucs_error("no transport in use here copies %s memory: see UCX_TLS and"
                  " `ucx-plugins list`",
                  ucs_memory_type_name(type));
        return UCS_ERR_UNSUPPORTED;
    }
    ucp_dt_iter_stage(iter, copier);
    iter->place = place;
    return UCS_OK;
}
