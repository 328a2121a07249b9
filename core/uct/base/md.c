/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public functions that open and query memory domains and register memory:
 * they check the caller's parameters and then call the plugin. rkey.c has
 * keys, mem.c allocation.
 */
#include "uct/base/md.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "uct/base/memtype.h"
#include "uct/base/state.h"

ucs_status_t uct_md_config_read(uct_component_h component,
                                const char *env_prefix, const char *filename,
                                uct_md_config_t **config_p)
{
    const uct_code_t *code;
    ucs_status_t status;

    if ((component == NULL) || (config_p == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    code = uct_component_code(component, &status);
    if (code == NULL) {
        return status;
    }

    return uct_config_create(code->md_config, env_prefix, filename,
                             (void **)config_p);
}

/* Gets the domain's attributes from the plugin, when the domain is opened. */
static ucs_status_t uct_md_query_attr(uct_md_h md, ucx_md_attr_t *attr)
{
    memset(attr, 0, sizeof(*attr));
    attr->size = sizeof(*attr);
    memset(&attr->local_cpus, 0xff, sizeof(attr->local_cpus));
    return md->ops->query(md, attr);
}

static void uct_md_state_free(uct_md_state_t *state)
{
    free(state->resources);
    free(state->check.md);
    pthread_mutex_destroy(&state->lock);
    free(state);
}

static ucs_status_t uct_md_open_checked(const uct_code_t *code,
                                        const ucx_md_open_args_t *args,
                                        const uct_md_state_t *state,
                                        uct_md_h *md_p)
{
    ucs_status_t status = code->full.md_open(code->desc, args, md_p);

    if (uct_checks != NULL) {
        uct_checks->opened(code->full.name, "md_open", status,
                           (status == UCS_OK) ? (*md_p)->host : NULL, state);
    }
    return status;
}

static ucs_status_t uct_md_open_with(const uct_code_t *code,
                                     uct_component_h component,
                                     const char *md_name, const void *options,
                                     uct_md_h *md_p)
{
    uct_md_state_t *state   = calloc(1, sizeof(*state));
    ucx_md_open_args_t args = {
        .size = sizeof(args),
        .head =
            {
                .ops       = &code->md_ops,
                .component = code->desc,
                .host      = state,
            },
        .name   = md_name,
        .config = options,
    };
    const uct_component_decl_t *decl;
    ucs_status_t status;
    uct_md_h md;

    if (state == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    pthread_mutex_init(&state->lock, NULL);
    state->component = component;
    state->code      = code;
    decl             = uct_component_decl(component);
    if (uct_checks != NULL) {
        status = uct_checks->md_create(decl->name, code->check_md_ops,
                                       decl->md_flags, decl->mem_types,
                                       &state->check.md);
        if (status != UCS_OK) {
            goto err_free;
        }
    }

    status = uct_md_open_checked(code, &args, state, &md);
    if (status != UCS_OK) {
        goto err_free;
    }

    status = uct_md_query_attr(md, &state->attr);
    if (status != UCS_OK) {
        goto err_close;
    }

    status = uct_memtype_md_opened(md);
    if (status != UCS_OK) {
        goto err_close;
    }

    uct_component_opened(component);
    *md_p = md;
    return UCS_OK;

err_close:
    md->ops->close(md);
err_free:
    uct_md_state_free(state);
    return status;
}

ucs_status_t uct_md_open(uct_component_h component, const char *md_name,
                         const uct_md_config_t *config, uct_md_h *md_p)
{
    const uct_code_t *code;
    const void *options;
    ucs_status_t status;
    void *own;

    if ((component == NULL) || (md_name == NULL) || (md_p == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    if (strnlen(md_name, UCT_MD_NAME_MAX) >= UCT_MD_NAME_MAX) {
        return UCS_ERR_NO_DEVICE; /* no domain has this name */
    }

    code = uct_component_code(component, &status);
    if (code == NULL) {
        return status;
    }

    if (code->full.md_open == NULL) {
        return UCS_ERR_NO_DEVICE;
    }

    status = uct_config_options(code->md_config, config, &own, &options);
    if (status != UCS_OK) {
        return status;
    }

    status = uct_md_open_with(code, component, md_name, options, md_p);
    uct_config_release(own);
    return status;
}

void uct_md_close(uct_md_h md)
{
    uct_md_state_t *state = uct_md_state(md);

    uct_memtype_md_closed(md);
    md->ops->close(md);
    uct_component_closed(state->component);
    uct_md_state_free(state);
}

uct_component_h uct_md_component(uct_md_h md)
{
    return uct_md_state(md)->component;
}

const ucx_md_attr_t *uct_md_attr(uct_md_h md)
{
    return &uct_md_state(md)->attr;
}

ucs_status_t uct_md_query(uct_md_h md, uct_md_attr_t *md_attr)
{
    const ucx_md_attr_t *attr = uct_md_attr(md);

    if (md_attr == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }

    memset(md_attr, 0, sizeof(*md_attr));
    md_attr->cap.max_alloc        = attr->max_alloc;
    md_attr->cap.max_reg          = attr->max_reg;
    md_attr->cap.flags            = attr->flags;
    md_attr->cap.reg_mem_types    = attr->reg_mem_types;
    md_attr->cap.detect_mem_types = attr->detect_mem_types;
    md_attr->cap.alloc_mem_types  = attr->alloc_mem_types;
    md_attr->cap.access_mem_types = attr->access_mem_types;
    md_attr->reg_cost             = attr->reg_cost;
    md_attr->rkey_packed_size     = attr->rkey_packed_size;
    md_attr->local_cpus           = attr->local_cpus;
    strcpy(md_attr->component_name,
           uct_component_decl(uct_md_component(md))->name);
    return UCS_OK;
}

ucs_status_t uct_md_mem_reg_v2(uct_md_h md, void *address, size_t length,
                               const ucx_mem_reg_params_t *params,
                               uct_mem_h *memh_p)
{
    if ((length == 0) || (memh_p == NULL) ||
        ((address == NULL) && !(params->flags & UCT_MD_MEM_GVA) &&
         (params->dmabuf_fd == UCT_DMABUF_FD_INVALID))) {
        return UCS_ERR_INVALID_PARAM;
    }

    return md->ops->mem_reg(md, address, length, params, memh_p);
}

ucs_status_t uct_md_mem_reg(uct_md_h md, void *address, size_t length,
                            unsigned flags, uct_mem_h *memh_p)
{
    const ucx_mem_reg_params_t params = {
        .size      = sizeof(params),
        .flags     = flags,
        .dmabuf_fd = UCT_DMABUF_FD_INVALID,
    };

    return uct_md_mem_reg_v2(md, address, length, &params, memh_p);
}

ucs_status_t uct_md_mem_dereg_v2(uct_md_h md, uct_mem_h memh,
                                 const ucx_mem_dereg_params_t *params)
{
    if (memh == UCT_MEM_HANDLE_NULL) {
        return UCS_ERR_INVALID_PARAM;
    }

    if ((params->flags & UCX_MEM_DEREG_INVALIDATE) && (params->comp == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    return md->ops->mem_dereg(md, memh, params);
}

ucs_status_t uct_md_mem_dereg(uct_md_h md, uct_mem_h memh)
{
    const ucx_mem_dereg_params_t params = {.size = sizeof(params)};

    return uct_md_mem_dereg_v2(md, memh, &params);
}

ucs_status_t uct_md_mem_advise(uct_md_h md, uct_mem_h memh, void *addr,
                               size_t length, uct_mem_advice_t advice)
{
    if ((length == 0) || (addr == NULL) || (memh == UCT_MEM_HANDLE_NULL) ||
        ((advice != UCT_MADV_NORMAL) && (advice != UCT_MADV_WILLNEED))) {
        return UCS_ERR_INVALID_PARAM;
    }

    return md->ops->mem_advise(md, memh, addr, length, advice);
}

ucs_status_t uct_md_mem_info(uct_md_h md, const void *address, size_t length,
                             unsigned wanted, ucx_mem_attr_t *attr)
{
    *attr = (ucx_mem_attr_t){
        .size         = sizeof(*attr),
        .mem_type     = UCS_MEMORY_TYPE_UNKNOWN,
        .sys_dev      = UCS_SYS_DEVICE_ID_UNKNOWN,
        .base_address = (void *)address,
        .alloc_length = length,
        .dmabuf_fd    = UCT_DMABUF_FD_INVALID,
        .wanted       = wanted,
    };

    return md->ops->mem_query(md, address, length, attr);
}

ucs_status_t uct_md_mem_query(uct_md_h md, const void *address, size_t length,
                              uct_md_mem_attr_t *mem_attr)
{
    ucx_mem_attr_t attr;
    ucs_status_t status;
    uint64_t mask;

    if ((address == NULL) || (length == 0) || (mem_attr == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    mask   = mem_attr->field_mask;
    status = uct_md_mem_info(md, address, length,
                             (mask & UCT_MD_MEM_ATTR_FIELD_DMABUF_FD) ?
                                 UCX_MEM_WANT_DMABUF :
                                 0,
                             &attr);
    if (status != UCS_OK) {
        return status;
    }

    if (mask & UCT_MD_MEM_ATTR_FIELD_MEM_TYPE) {
        mem_attr->mem_type = attr.mem_type;
    }
    if (mask & UCT_MD_MEM_ATTR_FIELD_SYS_DEV) {
        mem_attr->sys_dev = attr.sys_dev;
    }
    if (mask & UCT_MD_MEM_ATTR_FIELD_BASE_ADDRESS) {
        mem_attr->base_address = attr.base_address;
    }
    if (mask & UCT_MD_MEM_ATTR_FIELD_ALLOC_LENGTH) {
        mem_attr->alloc_length = attr.alloc_length;
    }
    if (mask & UCT_MD_MEM_ATTR_FIELD_DMABUF_OFFSET) {
        mem_attr->dmabuf_offset = attr.dmabuf_offset;
    }
    if (mask & UCT_MD_MEM_ATTR_FIELD_DMABUF_FD) {
        mem_attr->dmabuf_fd = attr.dmabuf_fd;
    } else if (attr.dmabuf_fd != UCT_DMABUF_FD_INVALID) {
        close(attr.dmabuf_fd); /* the plugin has returned a descriptor that the
                                * caller did not request */
    }
    return UCS_OK;
}

ucs_status_t uct_md_detect_memory_type(uct_md_h md, const void *addr,
                                       size_t length,
                                       ucs_memory_type_t *mem_type_p)
{
    ucx_mem_attr_t attr;
    ucs_status_t status;

    if (mem_type_p == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }

    status = uct_md_mem_info(md, addr, length, 0, &attr);
    if (attr.dmabuf_fd != UCT_DMABUF_FD_INVALID) {
        close(attr.dmabuf_fd);
    }
    if ((status != UCS_OK) || (attr.mem_type == UCS_MEMORY_TYPE_UNKNOWN)) {
        /* A domain may detect the type of memory that it has allocated, even if
         * its attributes contain no type that it detects. Therefore the
         * attributes are checked only after the query has failed. */
        return (uct_md_attr(md)->detect_mem_types == 0) ? UCS_ERR_UNSUPPORTED :
                                                          UCS_ERR_INVALID_ADDR;
    }

    *mem_type_p = attr.mem_type;
    return UCS_OK;
}

int uct_md_is_sockaddr_accessible(uct_md_h md, const ucs_sock_addr_t *sockaddr,
                                  uct_sockaddr_accessibility_t mode)
{
    if ((sockaddr == NULL) || (sockaddr->addr == NULL) ||
        ((mode != UCT_SOCKADDR_ACC_LOCAL) &&
         (mode != UCT_SOCKADDR_ACC_REMOTE))) {
        return 0;
    }

    return md->ops->is_sockaddr_accessible(md, sockaddr, mode);
}
