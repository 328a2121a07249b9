/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Definitions that the files of this folder share: copiers and their fragments.
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
    /** Limits in bytes; if one is 0, the operation is not supported */
    size_t max_put_short;
    size_t max_get_short;
    size_t max_put_zcopy;
    size_t max_get_zcopy;
    size_t min_put_zcopy;
    size_t min_get_zcopy;
    size_t frag_size;
    unsigned under_way; /**< Copies in flight */
    unsigned num_frags; /**< Number of allocated fragments */
    /** Copies are faster from registered memory */
    int pins;
    ucs_list_link_t idle; /**< Fragments that are not in use */
};

/** States of a fragment:
 *    idle --get--> in use --start--> [waiting -->] copying --> done --> in use
 *    waiting: until there are send resources */
struct ucp_stage {
    ucp_worker_h worker;
    ucp_copier_t *copiers;
    unsigned num_copiers;
    ucp_copier_t *by_type[UCS_MEMORY_TYPE_LAST];
    /** Fragments for which the copier had no send resources */
    ucs_list_link_t waiting;
    ucs_list_link_t copying;
    /** Fragments whose callback has not been called */
    ucs_list_link_t done;
    int progress_id;
};

/** Frees the fragments of a copier before it is closed. */
void ucp_stage_frags_free(ucp_copier_t *copier);

#endif
