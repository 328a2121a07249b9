/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions on ucp_dt_iter_t (base/dt_iter.h), the position in the user's data:
 * they pack the data to a row of bytes, or unpack such bytes to it, for all
 * datatypes and memory types.
 *
 * "Staged" memory is memory that the processor cannot access, for example of a
 * GPU; a copier (stage/stage.h) copies between it and host memory.
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

/** Parameters of an operation that describe the buffer. Without any of them it
 *  is contiguous bytes, whose memory type may have to be detected
 *  (ucp_dt_is_known_host()). */
#define UCP_DT_PARAM_FIELDS \
    (UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_MEMORY_TYPE | \
     UCP_OP_ATTR_FIELD_MEMH)

/** True if `memh` is NULL, or if the processor can access its memory at the
 *  address that the user passes: it is host memory of this process, and not
 *  imported from another process. */
int ucp_dt_memh_is_plain(ucp_mem_h memh);

/** True if the user has set neither a datatype nor a memory type, and no memory
 *  handle for which ucp_dt_memh_is_plain() is false. The buffer is then
 *  contiguous bytes at the address that the user passes. */
static UCS_F_ALWAYS_INLINE int ucp_dt_is_plain(const ucp_request_param_t *param)
{
    return ucs_likely(!(param->op_attr_mask & UCP_DT_PARAM_FIELDS)) ||
           (((param->op_attr_mask & UCP_DT_PARAM_FIELDS) ==
             UCP_OP_ATTR_FIELD_MEMH) &&
            ucp_dt_memh_is_plain(param->memh));
}

/** Returns the length in bytes, at most SSIZE_MAX, if the buffer is contiguous
 *  and the parameters name no memory but host memory of this process. Otherwise
 *  returns -1. */
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

/** True if the buffer is known to be in host memory, so that the memory domains
 *  need not be asked for its type. Always true in a context without copiers.
 *  Hot path. */
static UCS_F_ALWAYS_INLINE int ucp_dt_is_known_host(ucp_worker_h worker,
                                                    const void *buffer)
{
    return ucs_likely(!(worker->flags & UCP_WORKER_FLAG_STAGE)) ||
           ucs_likely(ucs_memtype_is_known_host(buffer));
}

/**
 * Initializes an iterator over host memory. `unpack`: non-zero for a receive or
 * get. Returns UCS_ERR_INVALID_PARAM for an unknown datatype, an invalid iov
 * list, or a size that overflows. The state that a generic datatype's start
 * function returns is opaque and may be NULL.
 */
ucs_status_t ucp_dt_iter_init(ucp_dt_iter_t *iter, void *buffer, size_t count,
                              ucp_datatype_t datatype, int unpack);

/** As ucp_dt_iter_init(), for an operation of the user: takes the datatype, the
 *  memory handle and the memory type from `param`. Also returns the errors of
 *  ucp_mem_find_buffer and ucp_stage_adopt. */
ucs_status_t ucp_dt_iter_begin(ucp_worker_h worker, ucp_dt_iter_t *iter,
                               void *buffer, size_t count,
                               const ucp_request_param_t *param, int unpack);

/** True if the data is staged and all of it was copied to a host buffer, or is
 *  being copied there in the background. The data must not be packed before
 *  that copy is complete. */
static inline int ucp_dt_iter_is_fetched(const ucp_dt_iter_t *iter)
{
    return (iter->dt_class == UCP_DT_CLASS_STAGED) &&
           (iter->u.iov.count == 0) && iter->fetched;
}

/** Ends the use of an iterator: calls `finish` of a generic datatype; for
 *  staged memory, waits until the copies in flight are complete. */
void ucp_dt_iter_cleanup(ucp_dt_iter_t *iter);

/** Packs at most `max` bytes from the current position, advances the position,
 *  and returns the number of bytes. A result of 0 means that packing failed,
 *  unless the position is at the end of the data. */
size_t ucp_dt_iter_pack(ucp_dt_iter_t *iter, void *dest, size_t max);

/** Repeats ucp_dt_iter_pack() until `max` bytes are packed, the data ends, or
 *  packing fails: a generic datatype may pack fewer bytes than fit. */
size_t ucp_dt_iter_pack_all(ucp_dt_iter_t *iter, void *dest, size_t max);

/** Unpacks `length` bytes, which are at `offset` of the packed data; the caller
 *  has checked that they are within the data's length. Returns the errors of
 *  the generic datatype or the copier. */
ucs_status_t ucp_dt_iter_unpack(ucp_dt_iter_t *iter, size_t offset,
                                const void *src, size_t length);

/** As ucp_dt_iter_unpack(), for parts of the data that arrive in order. For
 *  staged memory the copy of a part may continue after the call. The call for
 *  the last part returns when all copies are complete, with an error if one of
 *  them has failed. */
ucs_status_t ucp_dt_iter_unpack_next(ucp_dt_iter_t *iter, size_t offset,
                                     const void *src, size_t length);

/** As ucp_dt_iter_unpack() at offset 0. Hot path for at most 64 contiguous
 *  bytes. */
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
 * Describes at most `max` bytes from the current position as at most `max_iov`
 * blocks of memory in `iov`. The position does not change. Not for generic
 * datatypes. For staged memory, only a transport that can access this memory
 * may use the blocks, see ucp_lane_reaches(). Returns the number of blocks;
 * *length_p is their total length.
 */
size_t ucp_dt_iter_iov(const ucp_dt_iter_t *iter, size_t max, uct_iov_t *iov,
                       size_t max_iov, uct_mem_h memh, size_t *length_p);

/** Advances the position by `length` bytes. Not for generic datatypes. */
void ucp_dt_iter_advance(ucp_dt_iter_t *iter, size_t length);

/** Sets the position to the start of the data. Not for generic datatypes. */
void ucp_dt_iter_rewind(ucp_dt_iter_t *iter);

/** Calls ucp_dt_iter_cleanup() if the class of the data needs it: generic or
 *  staged. Hot path. */
static UCS_F_ALWAYS_INLINE void ucp_dt_iter_finish(ucp_dt_iter_t *iter)
{
    if (ucs_unlikely(iter->dt_class >= UCP_DT_CLASS_GENERIC)) {
        ucp_dt_iter_cleanup(iter);
    }
}

#endif
