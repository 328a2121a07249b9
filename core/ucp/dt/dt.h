/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_dt_iter_t, the position in the user's data: packs the data to bytes, or
 * unpacks bytes to it, for all datatypes and memory types.
 */
#ifndef UCP_DT_H
#define UCP_DT_H

#include <limits.h>
#include <string.h>
#include <sys/types.h>
#include <ucp/api/ucp.h>
#include <ucs/sys/compiler_def.h>
#include <uct/api/uct.h>
#include <ucx/copy.h>

#include "ucp/base/dt_iter.h"
#include "ucp/base/worker.h"
#include "ucs/memory/memtype.h"

/** Fields of the parameters by which a buffer may be something else than plain
 *  host bytes. */
#define UCP_DT_PARAM_FIELDS \
    (UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_MEMORY_TYPE | \
     UCP_OP_ATTR_FIELD_MEMH)

/** True if `memh` is NULL or its memory is host memory of this process at the
 *  address that the user passes: not imported from another process, and
 *  accessible to the processor. */
int ucp_dt_memh_is_plain(ucp_mem_h memh);

/** True if the operation accesses plain bytes at the user's address, in host
 *  memory. */
static UCS_F_ALWAYS_INLINE int ucp_dt_is_plain(const ucp_request_param_t *param)
{
    return ucs_likely(!(param->op_attr_mask & UCP_DT_PARAM_FIELDS)) ||
           (((param->op_attr_mask & UCP_DT_PARAM_FIELDS) ==
             UCP_OP_ATTR_FIELD_MEMH) &&
            ucp_dt_memh_is_plain(param->memh));
}

/** Length in bytes if the operation is on contiguous bytes in host memory as
 *  the user describes it, else -1. The length is at most SSIZE_MAX. */
static UCS_F_ALWAYS_INLINE ssize_t
ucp_dt_plain_length(size_t count, const ucp_request_param_t *param)
{
    size_t length;

    if (!(param->op_attr_mask & UCP_DT_PARAM_FIELDS)) {
        return (count <= SSIZE_MAX) ? (ssize_t)count : -1;
    }
    if ((param->op_attr_mask & UCP_OP_ATTR_FIELD_MEMORY_TYPE) &&
        (param->memory_type != UCS_MEMORY_TYPE_HOST)) {
        return -1;
    }
    if ((param->op_attr_mask & UCP_OP_ATTR_FIELD_MEMH) &&
        !ucp_dt_memh_is_plain(param->memh)) {
        return -1;
    }
    if (!(param->op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE)) {
        return (count <= SSIZE_MAX) ? (ssize_t)count : -1;
    }
    if (!ucp_dt_is_contig(param->datatype) ||
        __builtin_mul_overflow(param->datatype >> UCP_DATATYPE_SHIFT, count,
                               &length) ||
        (length > SSIZE_MAX)) {
        return -1;
    }
    return (ssize_t)length;
}

/** True if the memory is known to be host memory without a query of the memory
 *  domains: always in a context without copiers. Hot path. */
static UCS_F_ALWAYS_INLINE int ucp_dt_is_known_host(ucp_worker_h worker,
                                                    const void *buffer)
{
    return ucs_likely(!(worker->flags & UCP_WORKER_FLAG_STAGE)) ||
           ucs_likely(ucs_memtype_is_known_host(buffer));
}

/**
 * Initializes an iterator over host memory. `unpack`: non-zero for a receive.
 * Returns UCS_ERR_INVALID_PARAM if the datatype is invalid (strided datatypes
 * have a class number, but the API cannot describe them) or if its size
 * overflows. The state of a generic datatype is opaque and may be NULL.
 */
ucs_status_t ucp_dt_iter_init(ucp_dt_iter_t *iter, void *buffer, size_t count,
                              ucp_datatype_t datatype, int unpack);

/** As ucp_dt_iter_init(), for an operation of the user: with its datatype,
 *  memory handle and memory type. Also returns the errors of
 *  ucp_mem_find_buffer and ucp_stage_adopt. */
ucs_status_t ucp_dt_iter_begin(ucp_worker_h worker, ucp_dt_iter_t *iter,
                               void *buffer, size_t count,
                               const ucp_request_param_t *param, int unpack);

/** True if the data is being copied to a host buffer in the background, or has
 *  been: it may be packed only when that copy is complete. */
static inline int ucp_dt_iter_is_fetched(const ucp_dt_iter_t *iter)
{
    return (iter->dt_class == UCP_DT_CLASS_STAGED) &&
           (iter->u.iov.count == 0) && iter->fetched;
}

/** Cleans up an iterator: calls `finish` of a generic datatype, and waits for
 *  copies of staged memory. */
void ucp_dt_iter_cleanup(ucp_dt_iter_t *iter);

/** Packs at most `max` bytes from the current position, advances, and returns
 *  the number of bytes. If bytes are left, the result 0 means that packing
 *  failed. */
size_t ucp_dt_iter_pack(ucp_dt_iter_t *iter, void *dest, size_t max);

/** As ucp_dt_iter_pack(), but calls a generic datatype again until `max` bytes
 *  are packed, no bytes are left, or it fails. */
size_t ucp_dt_iter_pack_all(ucp_dt_iter_t *iter, void *dest, size_t max);

/** Unpacks bytes at `offset` of the packed data; the caller has checked that
 *  they fit. Errors are those of the generic datatype or the copier. */
ucs_status_t ucp_dt_iter_unpack(ucp_dt_iter_t *iter, size_t offset,
                                const void *src, size_t length);

/** As ucp_dt_iter_unpack(), for parts of the data that arrive in order. The
 *  copies of earlier parts may continue after the call: they are complete, and
 *  their errors are returned, when the call with the last byte returns. */
ucs_status_t ucp_dt_iter_unpack_next(ucp_dt_iter_t *iter, size_t offset,
                                     const void *src, size_t length);

/** As ucp_dt_iter_unpack() at offset 0. Hot path for few contiguous bytes. */
static UCS_F_ALWAYS_INLINE ucs_status_t
ucp_dt_iter_unpack_small(ucp_dt_iter_t *iter, const void *src, size_t length)
{
    if (ucs_likely((iter->dt_class == UCP_DT_CLASS_CONTIG) && (length <= 64))) {
        ucx_copy_small(iter->u.contig.buffer, src, length);
        return UCS_OK;
    }
    return ucp_dt_iter_unpack(iter, 0, src, length);
}

/**
 * Describes the data from the current position, at most `max` bytes in at most
 * `max_iov` blocks of memory, without advancing. Not for generic datatypes.
 * Only a transport that can access staged memory may use its blocks: see
 * ucp_lane_reaches(). Returns the number of blocks; *length_p is their total
 * length.
 */
size_t ucp_dt_iter_iov(const ucp_dt_iter_t *iter, size_t max, uct_iov_t *iov,
                       size_t max_iov, uct_mem_h memh, size_t *length_p);

/** Advances by `length` bytes. Not for generic datatypes. */
void ucp_dt_iter_advance(ucp_dt_iter_t *iter, size_t length);

/** Returns to the start. Not for generic datatypes. */
void ucp_dt_iter_rewind(ucp_dt_iter_t *iter);

/** Calls ucp_dt_iter_cleanup() if the class of the data needs it. Hot path. */
static UCS_F_ALWAYS_INLINE void ucp_dt_iter_finish(ucp_dt_iter_t *iter)
{
    if (ucs_unlikely(iter->dt_class >= UCP_DT_CLASS_GENERIC)) {
        ucp_dt_iter_cleanup(iter);
    }
}

#endif
