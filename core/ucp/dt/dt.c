/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_dt_iter_t for all datatypes and memory types: initialization from the
 * user's parameters, packing, unpacking, and the description of the data as
 * blocks of memory (uct_iov_t) for zero-copy.
 *
 * Data is "staged" if it is in memory that the processor cannot access, for
 * example of a GPU. A copier (stage/stage.h) then copies between this memory
 * and host memory.
 */
#include "ucp/dt/dt.h"

#include "ucp/base/worker.h"
#include "ucp/dt/bypass.h"
#include "ucp/mem/mem.h"
#include "ucp/stage/stage.h"
#include "ucs/debug/log.h"

#include <stdlib.h>

static ucs_status_t iov_init(ucp_dt_iter_t *iter, const ucp_dt_iov_t *iov,
                             size_t count)
{
    size_t i;

    if ((count > UINT32_MAX) || ((iov == NULL) && (count > 0))) {
        return UCS_ERR_INVALID_PARAM;
    }

    iter->dt_class     = UCP_DT_CLASS_IOV;
    iter->u.iov.iov    = iov;
    iter->u.iov.count  = (uint32_t)count;
    iter->u.iov.index  = 0;
    iter->u.iov.inside = 0;

    for (i = 0; i < count; ++i) {
        if (__builtin_add_overflow(iter->length, iov[i].length,
                                   &iter->length)) {
            return UCS_ERR_INVALID_PARAM;
        }
    }
    return UCS_OK;
}

static ucs_status_t generic_init(ucp_dt_iter_t *iter, void *buffer,
                                 size_t count, ucp_datatype_t datatype,
                                 int unpack)
{
    const ucp_dt_generic_t *dt =
        (const ucp_dt_generic_t *)(uintptr_t)(datatype &
                                              ~(ucp_datatype_t)
                                                  UCP_DATATYPE_CLASS_MASK);

    iter->dt_class        = UCP_DT_CLASS_GENERIC;
    iter->u.generic.dt    = dt;
    iter->u.generic.state = unpack ?
                                dt->ops.start_unpack(dt->context, buffer,
                                                     count) :
                                dt->ops.start_pack(dt->context, buffer, count);
    iter->length          = dt->ops.packed_size(iter->u.generic.state);
    return UCS_OK;
}

ucs_status_t ucp_dt_iter_init(ucp_dt_iter_t *iter, void *buffer, size_t count,
                              ucp_datatype_t datatype, int unpack)
{
    size_t elem_size = (size_t)(datatype >> UCP_DATATYPE_SHIFT);
    size_t length;

    iter->mem_type = UCS_MEMORY_TYPE_HOST;
    iter->length   = 0;
    iter->offset   = 0;
    iter->memh     = NULL;

    switch (ucp_datatype_class(datatype)) {
    case UCP_DATATYPE_CONTIG:
        if (__builtin_mul_overflow(elem_size, count, &length)) {
            return UCS_ERR_INVALID_PARAM;
        }
        ucp_dt_iter_init_contig(iter, buffer, length);
        return UCS_OK;
    case UCP_DATATYPE_IOV:
        return iov_init(iter, (const ucp_dt_iov_t *)buffer, count);
    case UCP_DATATYPE_GENERIC:
        return generic_init(iter, buffer, count, datatype, unpack);
    default:
        return UCS_ERR_INVALID_PARAM;
    }
}

int ucp_dt_memh_is_plain(ucp_mem_h memh)
{
    return (memh == NULL) || (!(memh->flags & UCP_MEM_FLAG_IMPORTED) &&
                              (memh->mem_type == UCS_MEMORY_TYPE_HOST));
}

/* True if the handle covers all entries of an iov list: a transfer uses one
 * memory handle for all entries. */
static int covers_list(const ucp_mem_t *memh, const ucp_dt_iter_t *iter)
{
    for (size_t i = 0; i < iter->u.iov.count; ++i) {
        const ucp_dt_iov_t *iov = &iter->u.iov.iov[i];

        if ((iov->length > 0) &&
            !ucp_mem_contains((uintptr_t)memh->address, memh->length,
                              (uintptr_t)iov->buffer, iov->length)) {
            return 0;
        }
    }
    return 1;
}

/* Stores the user's memory handle if it covers all entries of an iov list, and
 * is not imported; see adopt_memh(). */
static ucs_status_t adopt_list(ucp_context_h context, ucp_dt_iter_t *iter,
                               ucp_mem_h memh)
{
    int covers = covers_list(memh, iter);

    if (!(memh->flags & UCP_MEM_FLAG_IMPORTED)) {
        iter->memh = covers ? memh : NULL;
    } else if (!covers || (memh->flags & UCP_MEM_FLAG_ELSEWHERE)) {
        ucs_diag("rejected an operation: a list of buffers must be in the local"
                 " mapping of the imported memory");
        return UCS_ERR_INVALID_PARAM;
    }
    return ucp_mem_check_context(memh, context);
}

/* Contiguous data: checks that the user's memory handle covers the buffer, and
 * stores the handle in the iterator. If it is imported, translates the buffer to
 * a local address instead, because the registrations of an imported handle are
 * for the owner's addresses. A generic datatype: ignores the handle. */
static ucs_status_t adopt_memh(ucp_context_h context, ucp_dt_iter_t *iter,
                               ucp_mem_h memh)
{
    ucs_status_t status = UCS_OK;

    if (iter->dt_class == UCP_DT_CLASS_CONTIG) {
        status = ucp_mem_find_buffer(memh, context, &iter->u.contig.buffer,
                                     iter->length);
        if ((status == UCS_OK) && !(memh->flags & UCP_MEM_FLAG_IMPORTED)) {
            iter->memh = memh;
        }
    } else if (iter->dt_class == UCP_DT_CLASS_IOV) {
        status = adopt_list(context, iter, memh);
    }
    return status;
}

/* True if the data is contiguous, the user has passed neither a memory type nor
 * a handle, and the cache of memory types knows that it is host memory. */
static int is_known_host(const ucp_dt_iter_t *iter,
                         const ucp_request_param_t *param)
{
    return (iter->dt_class == UCP_DT_CLASS_CONTIG) &&
           !(param->op_attr_mask &
             (UCP_OP_ATTR_FIELD_MEMORY_TYPE | UCP_OP_ATTR_FIELD_MEMH)) &&
           ucs_memtype_is_known_host(iter->u.contig.buffer);
}

ucs_status_t ucp_dt_iter_begin(ucp_worker_h worker, ucp_dt_iter_t *iter,
                               void *buffer, size_t count,
                               const ucp_request_param_t *param, int unpack)
{
    ucp_datatype_t datatype = (param->op_attr_mask &
                               UCP_OP_ATTR_FIELD_DATATYPE) ?
                                  param->datatype :
                                  ucp_dt_make_contig(1);
    ucs_status_t status;

    status = ucp_dt_iter_init(iter, buffer, count, datatype, unpack);
    if ((status == UCS_OK) && (param->op_attr_mask & UCP_OP_ATTR_FIELD_MEMH) &&
        (param->memh != NULL)) {
        status = adopt_memh(worker->context, iter, param->memh);
    }
    if ((status == UCS_OK) &&
        ((worker->flags & UCP_WORKER_FLAG_STAGE) ||
         (param->op_attr_mask & UCP_OP_ATTR_FIELD_MEMORY_TYPE)) &&
        !is_known_host(iter, param)) {
        status = ucp_stage_adopt(worker, iter, param);
    }
    return status;
}

/* Waits until the copy to the host buffer is complete, and releases the buffer.
 * After this the user may free the memory. */
static void drop_fetched(ucp_dt_iter_t *iter)
{
    ucp_stage_frag_t *frag = iter->u.iov.frag;

    iter->fetched    = 0;
    iter->u.iov.pipe = NULL;
    ucp_stage_frag_settle(frag);
    frag->req = NULL;
    /* If `done` is not NULL, progress still calls it, and it releases the
     * buffer. */
    if (frag->done == NULL) {
        ucp_stage_frag_put(frag);
    }
}

void ucp_dt_iter_cleanup(ucp_dt_iter_t *iter)
{
    if (iter->dt_class == UCP_DT_CLASS_GENERIC) {
        iter->u.generic.dt->ops.finish(iter->u.generic.state);
        iter->dt_class = UCP_DT_CLASS_CONTIG;
    } else if ((iter->dt_class == UCP_DT_CLASS_STAGED) &&
               (iter->u.iov.count == 0)) {
        if (iter->fetched) {
            drop_fetched(iter);
        } else {
            (void)ucp_stage_pipe_close(&iter->u.iov.pipe);
        }
    }
}

/* Moves the position of an iov iterator to `offset`: forward from the current
 * position or, if `offset` is before it, from the start. */
static void iov_seek(ucp_dt_iter_t *iter, size_t offset)
{
    size_t left;

    if (offset < iter->offset) {
        iter->offset       = 0;
        iter->u.iov.index  = 0;
        iter->u.iov.inside = 0;
    }

    left         = offset - iter->offset + iter->u.iov.inside;
    iter->offset = offset;
    while ((iter->u.iov.index < iter->u.iov.count) &&
           (left >= iter->u.iov.iov[iter->u.iov.index].length)) {
        left -= iter->u.iov.iov[iter->u.iov.index].length;
        ++iter->u.iov.index;
    }
    iter->u.iov.inside = left;
}

/* Copies one contiguous part of the data, by the copier if the memory is
 * staged. */
static ucs_status_t chunk_copy(ucp_dt_iter_t *iter, void *memory, void *bytes,
                               size_t length, int unpack)
{
    if (iter->dt_class == UCP_DT_CLASS_STAGED) {
        return ucp_stage_copy(iter->u.iov.copier, 0, memory, bytes, length,
                              unpack);
    }
    ucx_copy(unpack ? memory : bytes, unpack ? bytes : memory, length);
    return UCS_OK;
}

/* Copies `length` bytes between `flat` and the iov entries, from the current
 * position, and advances the position. */
static ucs_status_t iov_copy(ucp_dt_iter_t *iter, void *flat, size_t length,
                             int unpack)
{
    char *bytes         = (char *)flat;
    ucs_status_t status = UCS_OK;

    while (length > 0) {
        const ucp_dt_iov_t *entry = &iter->u.iov.iov[iter->u.iov.index];
        size_t chunk              = entry->length - iter->u.iov.inside;
        char *memory              = (char *)entry->buffer + iter->u.iov.inside;

        if (chunk > length) {
            chunk = length;
        }
        if (chunk > 0) {
            status = chunk_copy(iter, memory, bytes, chunk, unpack);
            if (status != UCS_OK) {
                break;
            }
        }
        bytes += chunk;
        length -= chunk;
        iter->offset += chunk;
        iter->u.iov.inside += chunk;
        if (iter->u.iov.inside == entry->length) {
            ++iter->u.iov.index;
            iter->u.iov.inside = 0;
        }
    }
    return status;
}

/* Copies between `flat` and staged memory at `offset` of the data, by the
 * copier. */
static ucs_status_t staged_copy(ucp_dt_iter_t *iter, size_t offset, void *flat,
                                size_t length, int unpack)
{
    if (iter->u.iov.count == 0) {
        return ucp_stage_copy(iter->u.iov.copier, iter->place,
                              (char *)iter->u.iov.memory + offset, flat, length,
                              unpack);
    }
    iov_seek(iter, offset);
    return iov_copy(iter, flat, length, unpack);
}

/* Packs by the user's function. Returns the number of bytes; 0 if the function
 * failed. */
static size_t generic_pack(ucp_dt_iter_t *iter, void *dest, size_t length)
{
    const ucp_dt_generic_t *dt = iter->u.generic.dt;
    size_t packed;

    packed = dt->ops.pack(iter->u.generic.state, iter->offset, dest, length);
    if (packed > length) {
        ucs_error("a generic datatype packed %zu bytes into a buffer of %zu: "
                  "the memory after it may be corrupted",
                  packed, length);
        return 0;
    }
    return packed;
}

static size_t staged_pack(ucp_dt_iter_t *iter, void *dest, size_t length)
{
    size_t offset = iter->offset;
    ucs_status_t status;

    if ((iter->u.iov.count == 0) && iter->fetched) {
        ucx_copy(dest, iter->u.iov.frag->data + offset, length);
        iter->offset = offset + length;
        return length;
    }
    status = (iter->u.iov.count > 0) ?
                 staged_copy(iter, offset, dest, length, 0) :
                 ucp_stage_pipe_read(iter->u.iov.copier, iter->place,
                                     &iter->u.iov.pipe,
                                     (char *)iter->u.iov.memory + offset,
                                     iter->length - offset, dest, length);
    if (status == UCS_OK) {
        iter->offset = offset + length;
        return length;
    }
    if (iter->u.iov.count > 0) {
        /* Return to the position before the copy that failed */
        iov_seek(iter, offset);
    }
    return 0;
}

size_t ucp_dt_iter_pack(ucp_dt_iter_t *iter, void *dest, size_t max)
{
    size_t length = iter->length - iter->offset;

    if (length > max) {
        length = max;
    }
    if (length == 0) {
        return 0;
    }

    switch (iter->dt_class) {
    case UCP_DT_CLASS_CONTIG:
        /* `dest` may be shared memory that the receiver polls */
        ucx_copy_lines(dest, (char *)iter->u.contig.buffer + iter->offset,
                       length);
        iter->offset += length;
        break;
    case UCP_DT_CLASS_IOV:
        iov_copy(iter, dest, length, 0);
        break;
    case UCP_DT_CLASS_STAGED:
        length = staged_pack(iter, dest, length);
        break;
    default:
        /* A generic datatype may pack fewer bytes than fit. */
        length = generic_pack(iter, dest, length);
        iter->offset += length;
        break;
    }
    return length;
}

size_t ucp_dt_iter_pack_all(ucp_dt_iter_t *iter, void *dest, size_t max)
{
    size_t length = 0;
    size_t packed;

    do {
        packed = ucp_dt_iter_pack(iter, (char *)dest + length, max - length);
        length += packed;
    } while ((packed > 0) && (length < max) && (iter->offset < iter->length));
    return length;
}

ucs_status_t ucp_dt_iter_unpack(ucp_dt_iter_t *iter, size_t offset,
                                const void *src, size_t length)
{
    if (length == 0) {
        return UCS_OK;
    }

    switch (iter->dt_class) {
    case UCP_DT_CLASS_CONTIG:
        if (iter->length >= ucp_dt_bypass_min) {
            ucx_copy_stream((char *)iter->u.contig.buffer + offset, src,
                            length);
        } else {
            ucx_copy((char *)iter->u.contig.buffer + offset, src, length);
        }
        return UCS_OK;
    case UCP_DT_CLASS_IOV:
        iov_seek(iter, offset);
        return iov_copy(iter, (void *)src, length, 1);
    case UCP_DT_CLASS_STAGED:
        return staged_copy(iter, offset, (void *)src, length, 1);
    default:
        return iter->u.generic.dt->ops.unpack(iter->u.generic.state, offset,
                                              src, length);
    }
}

ucs_status_t ucp_dt_iter_unpack_next(ucp_dt_iter_t *iter, size_t offset,
                                     const void *src, size_t length)
{
    const int is_last = (offset + length == iter->length);
    ucs_status_t status, written;

    if (!ucp_dt_iter_is_flat(iter) || (iter->dt_class != UCP_DT_CLASS_STAGED) ||
        ((offset == 0) && is_last)) {
        return ucp_dt_iter_unpack(iter, offset, src, length);
    }
    status = ucp_stage_pipe_write(iter->u.iov.copier, iter->place,
                                  &iter->u.iov.pipe,
                                  (char *)iter->u.iov.memory + offset, src,
                                  length);
    if (is_last) {
        written = ucp_stage_pipe_close(&iter->u.iov.pipe);
        status  = (status == UCS_OK) ? written : status;
    }
    return status;
}

size_t ucp_dt_iter_iov(const ucp_dt_iter_t *iter, size_t max, uct_iov_t *iov,
                       size_t max_iov, uct_mem_h memh, size_t *length_p)
{
    size_t left  = iter->length - iter->offset;
    size_t count = 0;
    size_t index, inside;

    if (left > max) {
        left = max;
    }
    *length_p = 0;

    if (ucp_dt_iter_is_flat(iter)) {
        iov[0].buffer = (char *)iter->u.contig.buffer + iter->offset;
        iov[0].length = left;
        iov[0].memh   = memh;
        iov[0].stride = 0;
        iov[0].count  = 1;
        *length_p     = left;
        return 1;
    }

    inside = iter->u.iov.inside;
    for (index = iter->u.iov.index; (left > 0) && (count < max_iov); ++index) {
        const ucp_dt_iov_t *entry = &iter->u.iov.iov[index];
        size_t chunk              = entry->length - inside;

        if (chunk > left) {
            chunk = left;
        }
        if (chunk > 0) {
            iov[count].buffer = (char *)entry->buffer + inside;
            iov[count].length = chunk;
            iov[count].memh   = memh;
            iov[count].stride = 0;
            iov[count].count  = 1;
            ++count;
        }
        left -= chunk;
        *length_p += chunk;
        inside = 0;
    }
    return count;
}

void ucp_dt_iter_advance(ucp_dt_iter_t *iter, size_t length)
{
    if (!ucp_dt_iter_is_flat(iter)) {
        iov_seek(iter, iter->offset + length);
    } else {
        iter->offset += length;
    }
}

void ucp_dt_iter_rewind(ucp_dt_iter_t *iter)
{
    if (!ucp_dt_iter_is_flat(iter)) {
        iov_seek(iter, 0);
    }
    iter->offset = 0;
}
