/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of this folder share: copiers and their fragments.
 */
#ifndef UCP_STAGE_COPIER_H
#define UCP_STAGE_COPIER_H

#include "ucp/core/worker.h"
#include "ucp/stage/stage.h"

struct ucp_copier {
    ucp_stage_t     *stage;
    uct_iface_h     iface;
    uct_ep_h        ep;
    uct_md_h        md;
    uint64_t        mem_types;     /**< It copies to and from these */
    size_t          max_put_short; /**< 0: not by that way */
    size_t          max_get_short;
    size_t          max_put_zcopy;
    size_t          max_get_zcopy;
    size_t          min_put_zcopy;
    size_t          min_get_zcopy;
    size_t          frag_size;
    unsigned        under_way;     /**< Copies that it has not finished */
    unsigned        num_frags;     /**< That exist */
    int             pins;          /**< Its copies are better from memory that
                                        it knows */
    ucs_list_link_t idle;          /**< Fragments that nobody uses */
};

/** Where a fragment is:
 *    idle --get--> the caller's --start--> copying --> done --> the caller's
 *                                 `-> waiting (for room) -^
 */
struct ucp_stage {
    ucp_worker_h    worker;
    ucp_copier_t    *copiers;
    unsigned        num_copiers;
    ucp_copier_t    *by_type[UCS_MEMORY_TYPE_LAST];
    ucs_list_link_t waiting;       /**< The copier had no room */
    ucs_list_link_t copying;
    ucs_list_link_t done;          /**< Somebody is to be told */
    int             progress_id;
};

/** Frees the fragments of a copier that is about to close. */
void ucp_stage_frags_free(ucp_copier_t *copier);

#endif
