/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public functions for remote keys. A memory domain packs a key into bytes;
 * any process that has the same component unpacks them. An unpacked key
 * (uct_rkey_bundle_t) points to its component, so that a call with another
 * component is rejected.
 */
#include "uct/base/md.h"
#include "uct/base/state.h"

ucs_status_t uct_md_mkey_pack_v2(uct_md_h md, uct_mem_h memh, void *address,
                                 size_t length, unsigned flags, void *buffer)
{
    if ((memh == UCT_MEM_HANDLE_NULL) || (buffer == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    return md->ops->mkey_pack(md, memh, address, length, flags, buffer);
}

ucs_status_t uct_md_process_key_pack(uct_md_h md, void *buffer)
{
    if (uct_md_attr(md)->process_key_packed_size == 0) {
        return UCS_ERR_UNSUPPORTED;
    }
    return md->ops->mkey_pack(md, UCT_MEM_HANDLE_NULL, NULL, 0,
                              UCX_MKEY_PACK_PROCESS, buffer);
}

ucs_status_t uct_md_mkey_pack(uct_md_h md, uct_mem_h memh, void *rkey_buffer)
{
    /* pack a key for the whole registration */
    return uct_md_mkey_pack_v2(md, memh, NULL, SIZE_MAX, 0, rkey_buffer);
}

ucs_status_t uct_md_mem_attach(uct_md_h md, const void *buffer, size_t length,
                               uct_mem_h *memh_p)
{
    if ((buffer == NULL) || (memh_p == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    return md->ops->mem_attach(md, buffer, length, memh_p);
}

ucs_status_t uct_rkey_unpack_sized(uct_component_h component,
                                   const void *rkey_buffer, size_t length,
                                   ucs_sys_device_t sys_dev,
                                   uct_rkey_bundle_t *rkey_ob)
{
    uct_rkey_bundle_t bundle = {0};
    const uct_code_t *code;
    ucs_status_t status;

    if ((component == NULL) || (rkey_ob == NULL) ||
        ((rkey_buffer == NULL) && (length > 0))) {
        return UCS_ERR_INVALID_PARAM;
    }

    code = uct_component_code(component, &status);
    if (code == NULL) {
        return status;
    }

    /* a component without this slot has keys without contents */
    if (code->full.rkey_unpack != NULL) {
        status = code->full.rkey_unpack(code->desc, rkey_buffer, length,
                                        sys_dev, &bundle.rkey, &bundle.handle);
        if (uct_checks != NULL) {
            uct_checks->returned(code->full.name, "rkey_unpack", status);
        }
        if (status != UCS_OK) {
            return status;
        }
    }

    bundle.type = component;
    *rkey_ob    = bundle;
    return UCS_OK;
}

ucs_status_t uct_rkey_unpack(uct_component_h component, const void *rkey_buffer,
                             uct_rkey_bundle_t *rkey_ob)
{
    if (rkey_buffer == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }

    /* The API has no length of the key: it requires that the caller passes a
     * complete key. */
    return uct_rkey_unpack_sized(component, rkey_buffer, SIZE_MAX,
                                 UCS_SYS_DEVICE_ID_UNKNOWN, rkey_ob);
}

/* Returns the code of the component, or NULL. UCS_ERR_INVALID_PARAM if another
 * component has unpacked the key. */
static const uct_code_t *uct_rkey_code(uct_component_h component,
                                       const uct_rkey_bundle_t *rkey_ob,
                                       ucs_status_t *status_p)
{
    if ((component == NULL) || (rkey_ob == NULL) ||
        (rkey_ob->type != component)) {
        *status_p = UCS_ERR_INVALID_PARAM;
        return NULL;
    }

    return uct_component_code(component, status_p);
}

ucs_status_t uct_rkey_ptr(uct_component_h component, uct_rkey_bundle_t *rkey_ob,
                          uint64_t remote_addr, void **addr_p)
{
    const uct_code_t *code;
    ucs_status_t status;

    code = uct_rkey_code(component, rkey_ob, &status);
    if (code == NULL) {
        return status;
    }

    if (addr_p == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }

    if (code->full.rkey_ptr == NULL) {
        return UCS_ERR_UNSUPPORTED;
    }

    status = code->full.rkey_ptr(code->desc, rkey_ob->rkey, rkey_ob->handle,
                                 remote_addr, addr_p);
    if (uct_checks != NULL) {
        uct_checks->returned(code->full.name, "rkey_ptr", status);
    }
    return status;
}

ucs_status_t uct_rkey_release(uct_component_h component,
                              const uct_rkey_bundle_t *rkey_ob)
{
    const uct_code_t *code;
    ucs_status_t status;

    code = uct_rkey_code(component, rkey_ob, &status);
    if (code == NULL) {
        return status;
    }

    if (code->full.rkey_release == NULL) {
        return UCS_OK;
    }

    status = code->full.rkey_release(code->desc, rkey_ob->rkey,
                                     rkey_ob->handle);
    if (uct_checks != NULL) {
        uct_checks->returned(code->full.name, "rkey_release", status);
    }
    return status;
}

ucs_status_t uct_rkey_compare(uct_component_h component, uct_rkey_t a,
                              uct_rkey_t b, int *result)
{
    const uct_code_t *code;
    ucs_status_t status;

    if ((component == NULL) || (result == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    code = uct_component_code(component, &status);
    if (code == NULL) {
        return status;
    }

    if (code->full.rkey_compare == NULL) {
        *result = (a > b) - (a < b);
        return UCS_OK;
    }

    status = code->full.rkey_compare(code->desc, a, b, result);
    if (uct_checks != NULL) {
        uct_checks->returned(code->full.name, "rkey_compare", status);
    }
    return status;
}
