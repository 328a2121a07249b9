/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walking over the user's data: an iterator that packs it into bytes or unpacks
 * bytes into it, whatever its datatype is and wherever its memory lies.
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

/** The descriptor that a generic datatype handle points to. */
typedef struct ucp_dt_generic {
    void                 *context;
    ucp_generic_dt_ops_t ops;
} ucp_dt_generic_t;

typedef enum {
    UCP_DT_CLASS_CONTIG,
    UCP_DT_CLASS_IOV,
    UCP_DT_CLASS_GENERIC,
    UCP_DT_CLASS_STAGED,   /**< Contiguous or iov, in memory that the processor
                                may not touch: packed and unpacked by a copier */
    UCP_DT_CLASS_LAST
} ucp_dt_class_t;

struct ucp_copier;

/** Where a walk over user data stands. */
typedef struct ucp_dt_iter {
    uint8_t dt_class;       /**< ucp_dt_class_t */
    uint8_t mem_type;       /**< ucs_memory_type_t */
    size_t  length;         /**< Bytes when packed; when receiving: room */
    size_t  offset;         /**< Packed bytes that have been gone through */
    ucp_mem_h memh;         /**< The user's handle, which covers all of the
                                 memory; NULL: none */
    union {
        struct {
            void *buffer;
        } contig;
        struct {
            union {
                const ucp_dt_iov_t *iov;
                void               *memory; /**< STAGED, count is 0: all of
                                                 it */
            };
            struct ucp_copier  *copier;     /**< STAGED */
            size_t             inside;      /**< Bytes into the entry */
            uint32_t           count;
            uint32_t           index;       /**< Entry of `offset` */
        } iov;
        struct {
            const ucp_dt_generic_t *dt;
            void                   *state;
        } generic;
    } u;
} ucp_dt_iter_t;

static inline unsigned ucp_datatype_class(ucp_datatype_t datatype)
{
    return (unsigned)(datatype & UCP_DATATYPE_CLASS_MASK);
}

static inline int ucp_dt_is_contig(ucp_datatype_t datatype)
{
    return ucp_datatype_class(datatype) == UCP_DATATYPE_CONTIG;
}

/** The processor and the transports may touch the memory. */
static inline int ucp_dt_class_is_touchable(unsigned dt_class)
{
    return (dt_class == UCP_DT_CLASS_CONTIG) || (dt_class == UCP_DT_CLASS_IOV);
}

static inline size_t
ucp_dt_contig_length(ucp_datatype_t datatype, size_t count)
{
    return (size_t)(datatype >> UCP_DATATYPE_SHIFT) * count;
}

/** What makes a buffer more than plain bytes of the processor's, perhaps. */
#define UCP_DT_PARAM_FIELDS \
    (UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_MEMORY_TYPE | \
     UCP_OP_ATTR_FIELD_MEMH)

/** Is memory of this handle plain bytes at the address that the user gives?
 *  NULL is fine. */
int ucp_dt_memh_is_plain(ucp_mem_h memh);

/** Are the bytes at the user's address those of the operation, and the
 *  processor's? */
static UCS_F_ALWAYS_INLINE int
ucp_dt_is_plain(const ucp_request_param_t *param)
{
    return ucs_likely(!(param->op_attr_mask & UCP_DT_PARAM_FIELDS)) ||
           (((param->op_attr_mask & UCP_DT_PARAM_FIELDS) ==
             UCP_OP_ATTR_FIELD_MEMH) && ucp_dt_memh_is_plain(param->memh));
}

/** Length in bytes if the operation is on plain contiguous bytes, else -1. */
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
                               &length) || (length > SSIZE_MAX)) {
        return -1;
    }
    return (ssize_t)length;
}

/** For plain bytes: cannot fail, needs no cleanup. */
static UCS_F_ALWAYS_INLINE void
ucp_dt_iter_init_contig(ucp_dt_iter_t *iter, void *buffer, size_t length)
{
    iter->dt_class        = UCP_DT_CLASS_CONTIG;
    iter->mem_type        = UCS_MEMORY_TYPE_HOST;
    iter->length          = length;
    iter->offset          = 0;
    iter->memh            = NULL;
    iter->u.contig.buffer = buffer;
}

/**
 * Begins a walk. `unpack` says in which direction the bytes go. Errors:
 * UCS_ERR_INVALID_PARAM for a datatype that does not exist (strided ones are a
 * number without a way to describe them) or whose size overflows. The state of a
 * generic one is its own matter; NULL is fine. The memory is the processor's.
 */
ucs_status_t ucp_dt_iter_init(ucp_dt_iter_t *iter, void *buffer, size_t count,
                              ucp_datatype_t datatype, int unpack);

/** Likewise for an operation of the user's: its datatype, its memory handle, and
 *  its memory of whatever type. Further errors are those of ucp_mem_find_buffer
 *  and ucp_stage_adopt. */
ucs_status_t ucp_dt_iter_begin(ucp_worker_h worker, ucp_dt_iter_t *iter,
                               void *buffer, size_t count,
                               const ucp_request_param_t *param, int unpack);

/** Makes a walk over memory one by a copier. Nothing was gone through yet. */
void ucp_dt_iter_stage(ucp_dt_iter_t *iter, struct ucp_copier *copier);

/** It is one piece of memory, at u.contig.buffer. */
static inline int ucp_dt_iter_is_flat(const ucp_dt_iter_t *iter)
{
    return (iter->dt_class == UCP_DT_CLASS_CONTIG) ||
           ((iter->dt_class == UCP_DT_CLASS_STAGED) &&
            (iter->u.iov.count == 0));
}

/** Ends a walk; calls `finish` of a generic datatype. */
void ucp_dt_iter_cleanup(ucp_dt_iter_t *iter);

/** Packs at most `max` bytes from where it stands, goes on by as many, and
 *  returns how many. None, where there are some: a failure. */
size_t ucp_dt_iter_pack(ucp_dt_iter_t *iter, void *dest, size_t max);

/** Unpacks bytes that belong at `offset` of the packed data; the caller has
 *  checked that they fit. An error is the generic datatype's or the copier's. */
ucs_status_t ucp_dt_iter_unpack(ucp_dt_iter_t *iter, size_t offset,
                                const void *src, size_t length);

/** The same from the start, quick for a few contiguous bytes. Hot path. */
static UCS_F_ALWAYS_INLINE ucs_status_t
ucp_dt_iter_unpack_small(ucp_dt_iter_t *iter, const void *src, size_t length)
{
    if (ucs_likely((iter->dt_class == UCP_DT_CLASS_CONTIG) &&
                   (length <= 64))) {
        ucx_copy_small(iter->u.contig.buffer, src, length);
        return UCS_OK;
    }
    return ucp_dt_iter_unpack(iter, 0, src, length);
}

/**
 * Describes the data from where it stands, at most `max` bytes in at most
 * `max_iov` pieces of memory, without going on. Not generic ones. Those of a
 * staged walk are for who can reach them: see ucp_lane_reaches().
 * Returns the number of pieces; *length_p is their sum.
 */
size_t ucp_dt_iter_iov(const ucp_dt_iter_t *iter, size_t max, uct_iov_t *iov,
                       size_t max_iov, uct_mem_h memh, size_t *length_p);

/** Goes on by `length` bytes. Not generic ones. */
void ucp_dt_iter_advance(ucp_dt_iter_t *iter, size_t length);

/** Goes back to the start. Not generic ones. */
void ucp_dt_iter_rewind(ucp_dt_iter_t *iter);

/** Calls cleanup where there is something to clean. Hot path. */
static UCS_F_ALWAYS_INLINE void ucp_dt_iter_finish(ucp_dt_iter_t *iter)
{
    if (ucs_unlikely(iter->dt_class == UCP_DT_CLASS_GENERIC)) {
        ucp_dt_iter_cleanup(iter);
    }
}

#endif
