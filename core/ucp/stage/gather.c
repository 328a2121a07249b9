/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides whether a small copy is made in the background. The caller waits for
 * the first small copy: that has the lowest latency. If more follow before the
 * next progress, waiting for each in turn would be slow. So these are started
 * in the background and completed by progress; the copier can execute them
 * together.
 *
 * Their data is in small fragments (SMALL_SIZE bytes), which are parts of one
 * registered block.
 */
#include "ucp/stage/copier.h"

#include "uct/base/md.h"

#include <stdlib.h>

enum {
    SMALL_SIZE     = 4096,
    NUM_SMALL      = 128, /* Fragments of a copier: two batches of 64 messages
                           * in flight */
    DATA_ALIGNMENT = 4096,
};

/* Allocates all small fragments. Returns zero if out of memory. */
static int make_small(ucp_copier_t *copier)
{
    const size_t size = (size_t)NUM_SMALL * SMALL_SIZE;
    unsigned i;

    copier->small = calloc(NUM_SMALL, sizeof(*copier->small));
    if (copier->small == NULL) {
        return 0;
    }
    if (posix_memalign((void **)&copier->small_data, DATA_ALIGNMENT, size) !=
        0) {
        free(copier->small);
        copier->small = NULL;
        return 0;
    }
    ucp_stage_register(copier, copier->small_data, size, &copier->small_memh);
    for (i = 0; i < NUM_SMALL; ++i) {
        ucp_stage_frag_t *frag = &copier->small[i];

        frag->copier = copier;
        frag->memh   = copier->small_memh;
        frag->data   = copier->small_data + (size_t)i * SMALL_SIZE;
        ucs_list_add_tail(&copier->idle_small, &frag->link);
    }
    return 1;
}

void ucp_stage_small_free(ucp_copier_t *copier)
{
    if (copier->small != NULL) {
        ucp_stage_deregister(copier, copier->small_memh);
        free(copier->small_data);
        free(copier->small);
        copier->small = NULL;
    }
}

int ucp_stage_is_small(const ucp_stage_frag_t *frag)
{
    const ucp_copier_t *copier = frag->copier;

    return (copier->small != NULL) && (frag >= copier->small) &&
           (frag < copier->small + NUM_SMALL);
}

ucp_stage_frag_t *ucp_stage_gather(ucp_copier_t *copier, size_t length,
                                   int to_user)
{
    ucp_stage_t *stage = copier->stage;

    if ((length == 0) || (length > SMALL_SIZE) ||
        !ucp_stage_can_post(copier, length, to_user)) {
        return NULL;
    }
    if (!stage->gathers[to_user] && (copier->under_way == 0)) {
        stage->gathers[to_user] = 1;
        ucp_stage_want_progress(stage);
        return NULL;
    }
    if (ucs_list_is_empty(&copier->idle_small) &&
        ((copier->small != NULL) || !make_small(copier))) {
        return NULL;
    }
    return ucs_list_extract_head(&copier->idle_small, ucp_stage_frag_t, link);
}
