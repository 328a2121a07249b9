/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pool of objects of one size, allocated in chunks and kept for reuse. Not
 * thread-safe: the user of the pool serializes access.
 *
 *   chunk: | pad | header | object | pad | header | object | ...
 *
 * The header is one pointer: to the next free object, or to the pool while the
 * object is in use, so that returning an object needs no pool argument.
 */
#ifndef UCS_MPOOL_H
#define UCS_MPOOL_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

#if defined(__SANITIZE_ADDRESS__)
#define UCS_MPOOL_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UCS_MPOOL_POISON 1
#endif
#endif
#ifdef UCS_MPOOL_POISON
#include <sanitizer/asan_interface.h>
#endif

BEGIN_C_DECLS

/** @addtogroup UCS_DATASTRUCT
 *  @{ */

typedef struct ucs_mpool ucs_mpool_t;

/** Header of an object. Packed, because align_offset may put the object at any
 *  address. */
typedef union ucs_mpool_elem {
    /** while the object is free: the next free object, or NULL */
    union ucs_mpool_elem *next;
    /** while the object is in use: its pool */
    ucs_mpool_t *mpool;
} UCS_S_PACKED ucs_mpool_elem_t;

/** Callbacks of the user of a pool. Each may be NULL. */
typedef struct ucs_mpool_ops {
    /** Allocates at least *size_p bytes, and stores the size in *size_p. */
    ucs_status_t (*chunk_alloc)(ucs_mpool_t *mp, size_t *size_p,
                                void **chunk_p);
    /** Releases what chunk_alloc allocated. */
    void (*chunk_release)(ucs_mpool_t *mp, void *chunk);

    /** Called once for each object of a new chunk. The pool does not change the
     * object's contents between uses. */
    void (*obj_init)(ucs_mpool_t *mp, void *obj, void *chunk);
    /** Called for each object before its chunk is released. */
    void (*obj_cleanup)(ucs_mpool_t *mp, void *obj);

    /** Writes a description of an object that was not returned. */
    void (*obj_str)(ucs_mpool_t *mp, void *obj, char *buf, size_t max);
} ucs_mpool_ops_t;

/** Parameters of a pool; begin with ucs_mpool_params_reset(). */
typedef struct ucs_mpool_params {
    size_t priv_size;           /**< bytes of private data at
                                 *   ucs_mpool_priv() */
    size_t elem_size;           /**< size of an object in bytes */
    size_t align_offset;        /**< offset in the object of the byte that is
                                 *   aligned */
    size_t alignment;           /**< alignment in bytes of the byte at
                                 *   align_offset; a power of two */
    int malloc_safe;            /**< nonzero: do not call malloc, and allocate
                                 *   from the kernel: for pools that hooks of
                                 *   malloc use */
    unsigned elems_per_chunk;   /**< number of objects in the first chunk */
    size_t max_chunk_size;      /**< limit for the size of a chunk in bytes,
                                 *   except for ucs_mpool_reserve(); a chunk
                                 *   has at least one object */
    unsigned max_elems;         /**< maximum number of objects; UINT_MAX: no
                                 *   limit */
    double grow_factor;         /**< factor by which each chunk is larger than
                                 *   the previous one, >= 1 */
    const ucs_mpool_ops_t *ops; /**< callbacks; the table must outlive the pool;
                                 *   NULL: no callbacks */
    const char *name;           /**< name for messages; copied */
} ucs_mpool_params_t;

/** A pool. Only the functions of this header access the members. */
struct ucs_mpool {
    ucs_mpool_elem_t *freelist;  /**< list of free objects; NULL: empty */
    struct ucs_mpool_data *data; /**< the rest of the pool's state */
};

/** Maximum length of a pool's name, including the terminating zero. */
#define UCS_MPOOL_NAME_MAX 64

/** State of a pool. Programs may read "ops", to find the structure that
 *  contains their table of callbacks; the other members are private. */
typedef struct ucs_mpool_data {
    size_t elem_size;               /**< size of an object in bytes */
    size_t stride;                  /**< distance in bytes between the headers
                                     *   of two objects */
    size_t alignment;               /**< alignment in bytes of the aligned byte;
                                     *   a power of two */
    size_t align_offset;            /**< offset in bytes from the header to the
                                     *   aligned byte */
    int malloc_safe;                /**< as in the parameters */
    unsigned num_elems;             /**< number of objects in all chunks */
    unsigned max_elems;             /**< as in the parameters */
    double next_chunk_elems;        /**< number of objects in the next chunk */
    double grow_factor;             /**< as in the parameters */
    size_t max_chunk_size;          /**< as in the parameters */
    struct ucs_mpool_chunk *chunks; /**< list of all chunks */
    const ucs_mpool_ops_t *ops;     /**< as in the parameters; a table without
                                     *   functions instead of NULL */
    void *priv;                     /**< private data of the user */
    char name[UCS_MPOOL_NAME_MAX];  /**< name for messages */
} ucs_mpool_data_t;

/** Fills in defaults: 128 objects in the first chunk, each chunk twice as large
 *  as the previous one up to 1 MiB, no maximum number of objects. */
void ucs_mpool_params_reset(ucs_mpool_params_t *params);

/**
 * Initializes an empty pool. Chunks are allocated when objects are needed.
 *
 * @return UCS_ERR_INVALID_PARAM, after a message, if the parameters are
 *         invalid; UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_mpool_init(const ucs_mpool_params_t *params, ucs_mpool_t *mp);

/** Releases all chunks, including objects in use. With @a leak_check, a warning
 * with the pool's name is logged for each of the first 8 objects in use, and
 * one with the number of the others. */
void ucs_mpool_cleanup(ucs_mpool_t *mp, int leak_check);

/**
 * Returns the private data of the user: priv_size bytes, which are initially
 * zero.
 *
 * @return The private data
 */
void *ucs_mpool_priv(ucs_mpool_t *mp);

/**
 * Returns the name of a pool, for messages.
 *
 * @return The name; valid as long as the pool
 */
const char *ucs_mpool_name(const ucs_mpool_t *mp);

/**
 * For ops.chunk_alloc: allocates huge pages, if the kernel has free ones and at
 * least half of a huge page is requested, otherwise other memory.
 *
 * @param [in]    mp       Pool, for its malloc_safe.
 * @param [in,out] size_p   Requested size in bytes; set to the allocated size.
 * @param [out]   chunk_p  The memory, aligned for any type. Release it by
 *                         ucs_mpool_hugetlb_free().
 *
 * @return UCS_OK; UCS_ERR_NO_MEMORY
 */
ucs_status_t ucs_mpool_hugetlb_malloc(ucs_mpool_t *mp, size_t *size_p,
                                      void **chunk_p);

/** For ops.chunk_release: releases memory of ucs_mpool_hugetlb_malloc(). */
void ucs_mpool_hugetlb_free(ucs_mpool_t *mp, void *chunk);

/**
 * Ensures that @a num_elems objects are free: allocates a chunk for the missing
 * ones, if the limit allows.
 *
 * @return UCS_OK; UCS_ERR_EXCEEDS_LIMIT; UCS_ERR_NO_MEMORY
 */
ucs_status_t ucs_mpool_reserve(ucs_mpool_t *mp, unsigned num_elems);

/**
 * Counts the objects of a pool.
 *
 * @return How many objects exist, in use or free
 */
unsigned ucs_mpool_num_elems(const ucs_mpool_t *mp);

/**
 * Counts the objects in use.
 *
 * @return How many objects are in use
 */
unsigned ucs_mpool_num_used(const ucs_mpool_t *mp);

/**
 * Tests whether all objects that the limit allows are in use.
 *
 * @return 1 if they are, else 0
 */
int ucs_mpool_is_exhausted(const ucs_mpool_t *mp);

/**
 * Takes an object.
 *
 * @return The object; NULL if the limit or the memory is exhausted
 */
void *ucs_mpool_get(ucs_mpool_t *mp);

/**
 * Allocates a chunk and takes an object from it. Called when no object is free.
 *
 * @return The object; NULL if the limit or the memory is exhausted
 */
void *ucs_mpool_get_grow(ucs_mpool_t *mp);

/** Returns an object to its pool. */
void ucs_mpool_put(void *obj);

/**
 * Returns the header of an object.
 *
 * @return The header, in front of the object
 */
static inline ucs_mpool_elem_t *ucs_mpool_obj_to_elem(void *obj)
{
    return (ucs_mpool_elem_t *)obj - 1;
}

/**
 * Returns the pool of an object that is in use.
 *
 * @return The pool
 */
static inline ucs_mpool_t *ucs_mpool_obj_owner(void *obj)
{
    return ucs_mpool_obj_to_elem(obj)->mpool;
}

/** Marks an object as unused for the address sanitizer. */
void ucs_mpool_poison(ucs_mpool_t *mp, void *obj);

/** Marks an object as used for the address sanitizer. */
void ucs_mpool_unpoison(ucs_mpool_t *mp, void *obj);

/**
 * Takes an object. Hot path.
 *
 * @return The object; NULL if the limit or the memory is exhausted
 */
static UCS_F_ALWAYS_INLINE void *ucs_mpool_get_inline(ucs_mpool_t *mp)
{
    ucs_mpool_elem_t *elem = mp->freelist;

    if (ucs_unlikely(elem == NULL)) {
        return ucs_mpool_get_grow(mp);
    }

    mp->freelist = elem->next;
    elem->mpool  = mp;
#ifdef UCS_MPOOL_POISON
    ucs_mpool_unpoison(mp, elem + 1);
#endif
    return elem + 1;
}

/** Hot path: returns an object to its pool. */
static UCS_F_ALWAYS_INLINE void ucs_mpool_put_inline(void *obj)
{
    ucs_mpool_elem_t *elem = ucs_mpool_obj_to_elem(obj);
    ucs_mpool_t *mp        = elem->mpool;

#ifdef UCS_MPOOL_POISON
    ucs_mpool_poison(mp, obj);
#endif
    elem->next   = mp->freelist;
    mp->freelist = elem;
}

/** @} */

END_C_DECLS

#endif
