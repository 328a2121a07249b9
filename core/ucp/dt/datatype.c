/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp_dt_create_generic, ucp_dt_destroy and ucp_dt_query. */
#include "ucp/dt/dt.h"

#include <stdlib.h>

ucs_status_t ucp_dt_create_generic(const ucp_generic_dt_ops_t *ops,
                                   void *context, ucp_datatype_t *datatype_p)
{
    ucp_dt_generic_t *dt;

    if ((ops == NULL) || (datatype_p == NULL) || (ops->start_pack == NULL) ||
        (ops->start_unpack == NULL) || (ops->packed_size == NULL) ||
        (ops->pack == NULL) || (ops->unpack == NULL) || (ops->finish == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    /* Aligned, because the low bits of the handle contain the class of the
     * datatype. */
    dt = aligned_alloc(16, (sizeof(*dt) + 15) & ~(size_t)15);
    if (dt == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    dt->ops     = *ops;
    dt->context = context;
    *datatype_p = (ucp_datatype_t)(uintptr_t)dt | UCP_DATATYPE_GENERIC;
    return UCS_OK;
}

void ucp_dt_destroy(ucp_datatype_t datatype)
{
    if (ucp_datatype_class(datatype) == UCP_DATATYPE_GENERIC) {
        free((void *)(uintptr_t)(datatype &
                                 ~(ucp_datatype_t)UCP_DATATYPE_CLASS_MASK));
    }
}

ucs_status_t ucp_dt_query(ucp_datatype_t datatype, ucp_datatype_attr_t *attr)
{
    size_t count       = (attr->field_mask & UCP_DATATYPE_ATTR_FIELD_COUNT) ?
                             attr->count :
                             1;
    const void *buffer = (attr->field_mask & UCP_DATATYPE_ATTR_FIELD_BUFFER) ?
                             attr->buffer :
                             NULL;
    ucp_dt_iter_t iter;
    ucs_status_t status;

    if ((ucp_datatype_class(datatype) == UCP_DATATYPE_IOV) &&
        (buffer == NULL) && (count > 0)) {
        return UCS_ERR_INVALID_PARAM;
    }

    if (!(attr->field_mask & UCP_DATATYPE_ATTR_FIELD_PACKED_SIZE)) {
        return UCS_OK;
    }

    status = ucp_dt_iter_init(&iter, (void *)buffer, count, datatype, 0);
    if (status == UCS_OK) {
        attr->packed_size = iter.length;
        ucp_dt_iter_cleanup(&iter);
    }
    return status;
}
