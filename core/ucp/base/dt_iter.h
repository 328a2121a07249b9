/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_dt_iter_t, the position in the user's data: the part of a request that
 * packing and unpacking advance. dt/dt.h has the functions that pack and
 * unpack.
 */
#ifndef UCP_DT_ITER_H
#define UCP_DT_ITER_H

#include <ucp/api/ucp.h>
#include <ucs/sys/compiler_def.h>

/** The object that the handle of a generic datatype points to. */
typedef struct ucp_dt_generic {
    void *context;
    ucp_generic_dt_ops_t ops;
} ucp_dt_generic_t;

typedef enum {
    UCP_DT_CLASS_CONTIG,
    UCP_DT_CLASS_IOV,
    UCP_DT_CLASS_GENERIC,
    /** Contiguous or iov, in memory that the processor cannot access (for
     *  example of a GPU): packed and unpacked by a copier (stage/stage.h) */
    UCP_DT_CLASS_STAGED,
    UCP_DT_CLASS_LAST,
} ucp_dt_class_t;

struct ucp_copier;
struct ucp_stage_frag;
struct ucp_stage_pipe;

/** Position in user data. "STAGED" in the comments means that dt_class is
 *  UCP_DT_CLASS_STAGED. A STAGED iterator has u.iov.count 0 if the data is
 *  contiguous. */
typedef struct ucp_dt_iter {
    uint8_t dt_class; /**< ucp_dt_class_t */
    uint8_t mem_type; /**< ucs_memory_type_t */
    /** STAGED and contiguous: all data was copied to the host buffer
     *  u.iov.frag, or the copy is in flight */
    uint8_t fetched;
    /** STAGED and contiguous: the location of the memory, which the copier
     *  needs. The memory domain that has detected the memory type has reported
     *  it (ucx_mem_attr_t); 0: unknown */
    uint32_t place;
    /** Packed size in bytes; for a receive, the size of the buffer */
    size_t length;
    size_t offset;  /**< Packed or unpacked bytes so far */
    ucp_mem_h memh; /**< User's handle for all of the memory, or NULL */
    union {
        struct {
            void *buffer;
        } contig;
        struct {
            union {
                const ucp_dt_iov_t *iov;
                /** STAGED and contiguous: the start of the data */
                void *memory;
            };
            /** STAGED: the transport that copies between host memory and this
             *  memory (stage/stage.h) */
            struct ucp_copier *copier;
            union {
                /** Data in entries of an iov: number of bytes of entry `index`
                 *  that were packed or unpacked */
                size_t inside;
                /** STAGED and contiguous: copies in flight, which fetch data
                 *  before it is packed or store data after it was unpacked
                 *  (stage/stage.h); or NULL */
                struct ucp_stage_pipe *pipe;
                /** Used instead of `pipe` if `fetched` */
                struct ucp_stage_frag *frag;
            };
            uint32_t count;
            uint32_t index; /**< Index of the entry at `offset` */
        } iov;
        struct {
            const ucp_dt_generic_t *dt;
            void *state;
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

/** True if the data is in blocks of memory that the processor can access and
 *  that a transport can send by zero-copy. */
static inline int ucp_dt_class_is_touchable(unsigned dt_class)
{
    return (dt_class == UCP_DT_CLASS_CONTIG) || (dt_class == UCP_DT_CLASS_IOV);
}

static inline size_t ucp_dt_contig_length(ucp_datatype_t datatype, size_t count)
{
    return (size_t)(datatype >> UCP_DATATYPE_SHIFT) * count;
}

/** Initializes an iterator over contiguous bytes in host memory. It needs no
 *  ucp_dt_iter_cleanup(). */
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

/** True if the data is one block of memory. Its address is in u.contig.buffer,
 *  which shares its place in the union with u.iov.memory. */
static inline int ucp_dt_iter_is_flat(const ucp_dt_iter_t *iter)
{
    return (iter->dt_class == UCP_DT_CLASS_CONTIG) ||
           ((iter->dt_class == UCP_DT_CLASS_STAGED) &&
            (iter->u.iov.count == 0));
}

/** Changes a contiguous or iov iterator to class STAGED with this copier. Must
 *  be called before anything is packed or unpacked. */
static inline void ucp_dt_iter_stage(ucp_dt_iter_t *iter,
                                     struct ucp_copier *copier)
{
    if (iter->dt_class == UCP_DT_CLASS_CONTIG) {
        iter->u.iov.count = 0;
        iter->u.iov.index = 0;
        iter->u.iov.pipe  = NULL;
    }
    iter->dt_class     = UCP_DT_CLASS_STAGED;
    iter->fetched      = 0;
    iter->place        = 0;
    iter->u.iov.copier = copier;
}

#endif
