/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the folder stage/ share: ucp_copier, an interface that
 * copies to and from memory that the processor cannot access (stage.h), its
 * buffers in host memory (fragments), and ucp_stage, the copiers of a worker.
 */
#ifndef UCP_STAGE_COPIER_H
#define UCP_STAGE_COPIER_H

#include "ucp/base/worker.h"
#include "ucp/stage/stage.h"

struct ucp_copier {
    ucp_stage_t *stage;
    uct_iface_h iface;
    uct_ep_h ep;
    uct_md_h md;
    /** Memory types that the copier supports */
    uint64_t mem_types;
    /** Limits in bytes; an operation whose maximum is 0 is not supported */
    size_t max_put_short;
    size_t max_get_short;
    size_t max_put_zcopy;
    size_t max_get_zcopy;
    size_t min_put_zcopy;
    size_t min_get_zcopy;
    size_t frag_size;   /**< Bytes that a fragment holds */
    unsigned under_way; /**< Number of copies in flight */
    unsigned num_frags; /**< Number of allocated fragments */
    /** Non-zero: fragments are registered with `md`, because copies are faster
     *  then */
    int pins;
    ucs_list_link_t idle; /**< Fragments that are not in use */
    /** Fragments for small copies in the background (gather.c), an array; NULL
     *  until they are needed */
    ucp_stage_frag_t *small;
    char *small_data;           /**< Data of all fragments in `small` */
    uct_mem_h small_memh;       /**< Registration of `small_data`; or NULL */
    ucs_list_link_t idle_small; /**< Those of `small` that are not in use */
};

/** The copiers of a worker, and the fragments with a copy that is not complete
 *  or whose callback has not been called. States of a fragment:
 *    idle --get--> in use --start--> [waiting -->] copying --> done
 *    done --callback--> in use --put--> idle
 *  A fragment without a callback returns from copying to "in use". */
struct ucp_stage {
    ucp_worker_h worker;
    ucp_copier_t *copiers;
    unsigned num_copiers;
    /** Copier for each type of memory; NULL if there is none */
    ucp_copier_t *by_type[UCS_MEMORY_TYPE_LAST];
    /** Fragments whose copy is not posted, because the copier had no send
     *  resources */
    ucs_list_link_t waiting;
    ucs_list_link_t copying; /**< Fragments whose copy is in flight */
    /** Fragments whose copy is complete and whose callback has not been
     *  called */
    ucs_list_link_t done;
    /** Id of stage_progress() (copy.c) among the worker's progress callbacks;
     *  UCS_CALLBACKQ_ID_NULL if it is not registered */
    int progress_id;
    /** Non-zero if the caller of a small copy has waited for it since the last
     *  progress: further small copies are then made in the background
     *  (gather.c). [0]: copies from the user's memory, [1]: to it */
    uint8_t gathers[2];
};

/** Returns whether the length is within the limits of put_zcopy (to_user) or
 *  get_zcopy of the copier, which copy in the background. */
static inline int ucp_stage_can_post(const ucp_copier_t *copier, size_t length,
                                     int to_user)
{
    return to_user ? (length <= copier->max_put_zcopy) &&
                         (length >= copier->min_put_zcopy) :
                     (length <= copier->max_get_zcopy) &&
                         (length >= copier->min_get_zcopy);
}

/** Adds the function that progresses the copies (stage_progress() in copy.c) to
 *  the worker's progress, if it is not there. The function removes itself when
 *  no copy is left. */
void ucp_stage_want_progress(ucp_stage_t *stage);

/** Registers memory of fragments with the copier's domain, if that makes copies
 *  faster. *memh_p is UCT_MEM_HANDLE_NULL if the memory is not registered. */
void ucp_stage_register(ucp_copier_t *copier, void *data, size_t size,
                        uct_mem_h *memh_p);
void ucp_stage_deregister(ucp_copier_t *copier, uct_mem_h memh);

/** Returns whether a fragment is one of those for small copies. */
int ucp_stage_is_small(const ucp_stage_frag_t *frag);
void ucp_stage_small_free(ucp_copier_t *copier);

/** Frees the fragments of a copier before it is closed. */
void ucp_stage_frags_free(ucp_copier_t *copier);

#endif
