/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies between memory that the processor cannot access and host memory, by a
 * copier (stage.h): blocking ones, and copies of fragments in the background.
 * The completion callbacks of the transport only move fragments to the list
 * `done`; the worker's progress calls the function `done` of each fragment.
 */
#include "ucp/stage/copier.h"

#include "ucp/mem/mem.h"
#include "ucp/mem/table.h"
#include "ucs/debug/log.h"
#include "uct/base/md.h"

#include <stdlib.h>

/* MAX_FRAGS: maximum number of fragments of a copier, enough to keep a device
 * and the network busy. DATA_ALIGNMENT: of a fragment's buffer, in bytes. */
enum { MAX_FRAGS = 32, DATA_ALIGNMENT = 4096 };

/* ----------------------------------------------------- blocking copies -- */

typedef struct {
    uct_completion_t comp;
    int done;
} waited_t;

static void waited_done(uct_completion_t *comp)
{
    ucs_container_of(comp, waited_t, comp)->done = 1;
}

/* Evaluates the status of an operation of the copier. UCS_ERR_NO_RESOURCE:
 * progresses the copier and returns non-zero, and the caller repeats the
 * operation. UCS_INPROGRESS: waits until it is complete, and stores its status
 * in *status_p. Progresses only the copier's interface, so that no callback of
 * UCP runs in the meantime. */
static int is_full(ucp_copier_t *copier, const waited_t *waited,
                   ucs_status_t *status_p)
{
    if (*status_p == UCS_ERR_NO_RESOURCE) {
        uct_iface_progress(copier->iface);
        return 1;
    }
    if (*status_p == UCS_INPROGRESS) {
        while (!waited->done) {
            uct_iface_progress(copier->iface);
        }
        *status_p = waited->comp.status;
    }
    return 0;
}

/* Flushes the copier: a short put that returned UCS_INPROGRESS is complete only
 * after a flush. */
static ucs_status_t flush(ucp_copier_t *copier)
{
    waited_t waited = {.comp = {.func = waited_done, .count = 1}};
    ucs_status_t status;

    do {
        status = copier->ep->ops->flush(copier->ep, UCT_FLUSH_FLAG_LOCAL,
                                        &waited.comp);
    } while (is_full(copier, &waited, &status));
    return status;
}

/* Returns the remote key for the copier's put and get. If the memory's domain
 * has reported the location of the memory, it is passed as the key, so that the
 * copier need not detect it again. */
static uct_rkey_t rkey_of(uint32_t place)
{
    return (place != 0) ? place : UCT_INVALID_RKEY;
}

static ucs_status_t copy_short(ucp_copier_t *copier, uint32_t place,
                               void *memory, void *data, size_t length,
                               int to_user)
{
    uct_ep_h ep = copier->ep;
    ucs_status_t status;

    do {
        status = to_user ?
                     ep->ops->put_short(ep, data, (unsigned)length,
                                        (uintptr_t)memory, rkey_of(place)) :
                     ep->ops->get_short(ep, data, (unsigned)length,
                                        (uintptr_t)memory, rkey_of(place));
        if (status == UCS_ERR_NO_RESOURCE) {
            uct_iface_progress(copier->iface);
        }
    } while (status == UCS_ERR_NO_RESOURCE);
    return (status == UCS_INPROGRESS) ? flush(copier) : status;
}

/* Starts a copy by put_zcopy or get_zcopy. If it returns UCS_INPROGRESS, the
 * transport calls `comp` when the copy is complete. */
static ucs_status_t post(ucp_copier_t *copier, uint32_t place, void *memory,
                         void *data, size_t length, uct_mem_h memh, int to_user,
                         uct_completion_t *comp)
{
    uct_ep_h ep         = copier->ep;
    const uct_iov_t iov = {
        .buffer = data,
        .length = length,
        .memh   = memh,
        .count  = 1,
    };

    return to_user ? ep->ops->put_zcopy(ep, &iov, 1, (uintptr_t)memory,
                                        rkey_of(place), comp) :
                     ep->ops->get_zcopy(ep, &iov, 1, (uintptr_t)memory,
                                        rkey_of(place), comp);
}

static ucs_status_t copy_posted(ucp_copier_t *copier, uint32_t place,
                                void *memory, void *data, size_t length,
                                int to_user)
{
    waited_t waited = {.comp = {.func = waited_done, .count = 1}};
    ucs_status_t status;

    do {
        status = post(copier, place, memory, data, length, UCT_MEM_HANDLE_NULL,
                      to_user, &waited.comp);
    } while (is_full(copier, &waited, &status));
    return status;
}

ucs_status_t ucp_stage_copy(ucp_copier_t *copier, uint32_t place, void *memory,
                            void *data, size_t length, int to_user)
{
    size_t max_short  = to_user ? copier->max_put_short : copier->max_get_short;
    size_t max_posted = to_user ? copier->max_put_zcopy : copier->max_get_zcopy;
    size_t min_posted = to_user ? copier->min_put_zcopy : copier->min_get_zcopy;
    char *p           = memory;
    char *q           = data;
    ucs_status_t status = UCS_OK;
    size_t chunk;

    if (max_short > UINT32_MAX) {
        max_short = UINT32_MAX;
    }
    for (; (length > 0) && (status == UCS_OK);
         p += chunk, q += chunk, length -= chunk) {
        if ((length > max_short) && (max_posted > 0) &&
            (length >= min_posted)) {
            chunk  = (length < max_posted) ? length : max_posted;
            status = copy_posted(copier, place, p, q, chunk, to_user);
        } else {
            chunk  = (length < max_short) ? length : max_short;
            status = copy_short(copier, place, p, q, chunk, to_user);
        }
    }
    if (status != UCS_OK) {
        ucs_diag("a copy %s %p failed: %s", to_user ? "to" : "from", memory,
                 ucs_status_string(status));
    }
    return status;
}

/* ----------------------------------------------------------- fragments -- */

size_t ucp_stage_frag_size(const ucp_copier_t *copier)
{
    return copier->frag_size;
}

void ucp_stage_register(ucp_copier_t *copier, void *data, size_t size,
                        uct_mem_h *memh_p)
{
    const unsigned flags = UCT_MD_MEM_ACCESS_LOCAL_READ |
                           UCT_MD_MEM_ACCESS_LOCAL_WRITE |
                           UCT_MD_MEM_FLAG_HIDE_ERRORS;

    *memh_p = UCT_MEM_HANDLE_NULL;
    if (copier->pins &&
        (uct_md_mem_reg(copier->md, data, size, flags, memh_p) != UCS_OK)) {
        /* copies work without registration, but more slowly */
        *memh_p = UCT_MEM_HANDLE_NULL;
    }
}

void ucp_stage_deregister(ucp_copier_t *copier, uct_mem_h memh)
{
    if (memh != UCT_MEM_HANDLE_NULL) {
        uct_md_mem_dereg(copier->md, memh);
    }
}

static ucp_stage_frag_t *frag_new(ucp_copier_t *copier)
{
    size_t size            = copier->frag_size;
    ucp_stage_frag_t *frag = calloc(1, sizeof(*frag));

    if (frag == NULL) {
        return NULL;
    }
    if (posix_memalign((void **)&frag->data, DATA_ALIGNMENT, size) != 0) {
        free(frag);
        return NULL;
    }

    frag->copier = copier;
    ucp_stage_register(copier, frag->data, size, &frag->memh);
    ++copier->num_frags;
    return frag;
}

ucp_stage_frag_t *ucp_stage_frag_get(ucp_copier_t *copier)
{
    if (!ucs_list_is_empty(&copier->idle)) {
        return ucs_list_extract_head(&copier->idle, ucp_stage_frag_t, link);
    }
    return (copier->num_frags < MAX_FRAGS) ? frag_new(copier) : NULL;
}

void ucp_stage_frag_put(ucp_stage_frag_t *frag)
{
    ucs_list_add_head(ucp_stage_is_small(frag) ? &frag->copier->idle_small :
                                                 &frag->copier->idle,
                      &frag->link);
}

void ucp_stage_frags_free(ucp_copier_t *copier)
{
    ucp_stage_frag_t *frag;

    while (!ucs_list_is_empty(&copier->idle)) {
        frag = ucs_list_extract_head(&copier->idle, ucp_stage_frag_t, link);
        ucp_stage_deregister(copier, frag->memh);
        free(frag->data);
        free(frag);
        --copier->num_frags;
    }
    ucp_stage_small_free(copier);
}

static void over(ucp_stage_frag_t *frag, ucs_status_t status)
{
    ucs_list_del(&frag->link);
    frag->status = status;
    frag->busy   = 0;
    if (frag->done != NULL) {
        ucs_list_add_tail(&frag->copier->stage->done, &frag->link);
    }
}

static void frag_copied(uct_completion_t *comp)
{
    ucp_stage_frag_t *frag = ucs_container_of(comp, ucp_stage_frag_t, comp);

    --frag->copier->under_way;
    over(frag, comp->status);
}

/* Posts the copy of a fragment in the waiting list. A copy that the transport
 * cannot make in the background is made at once. Returns zero if there are no
 * send resources. */
static int try_post(ucp_stage_frag_t *frag)
{
    ucp_copier_t *copier = frag->copier;
    ucp_stage_t *stage   = copier->stage;
    ucs_status_t status;

    if (!ucp_stage_can_post(copier, frag->length, frag->to_user)) {
        over(frag, ucp_stage_copy(copier, frag->place, frag->memory, frag->data,
                                  frag->length, frag->to_user));
        return 1;
    }

    frag->comp = (uct_completion_t){
        .func   = frag_copied,
        .count  = 1,
        .status = UCS_OK,
    };
    ucs_list_del(&frag->link);
    ucs_list_add_tail(&stage->copying, &frag->link);
    ++copier->under_way;
    status = post(copier, frag->place, frag->memory, frag->data, frag->length,
                  frag->memh, frag->to_user, &frag->comp);
    if (status == UCS_INPROGRESS) {
        return 1;
    }

    --copier->under_way;
    if (status == UCS_ERR_NO_RESOURCE) {
        ucs_list_del(&frag->link);
        ucs_list_add_head(&stage->waiting, &frag->link);
        return 0;
    }
    over(frag, status);
    return 1;
}

static unsigned progress_copiers(ucp_stage_t *stage)
{
    unsigned count = 0;
    unsigned i;

    for (i = 0; i < stage->num_copiers; ++i) {
        if (stage->copiers[i].under_way > 0) {
            count += uct_iface_progress(stage->copiers[i].iface);
        }
    }
    while (!ucs_list_is_empty(&stage->waiting) &&
           try_post(ucs_list_head(&stage->waiting, ucp_stage_frag_t, link))) {
        ++count;
    }
    return count;
}

/* Calls the callbacks of the fragments that are complete now. Fragments that
 * complete during these calls have to wait, so that the loop terminates. */
static unsigned tell(ucp_stage_t *stage)
{
    unsigned count = 0;
    ucp_stage_frag_t *frag, *last;

    if (ucs_list_is_empty(&stage->done)) {
        return 0;
    }
    last = ucs_list_tail(&stage->done, ucp_stage_frag_t, link);
    do {
        frag = ucs_list_extract_head(&stage->done, ucp_stage_frag_t, link);
        frag->done(frag);
        ++count;
    } while ((frag != last) && !ucs_list_is_empty(&stage->done));
    return count;
}

static unsigned stage_progress(void *arg)
{
    ucp_stage_t *stage = arg;
    unsigned count     = progress_copiers(stage);

    stage->gathers[0] = 0;
    stage->gathers[1] = 0;
    count += tell(stage);
    if (!ucp_stage_is_busy(stage)) {
        uct_worker_progress_unregister_safe(stage->worker->uct,
                                            &stage->progress_id);
    }
    return count;
}

int ucp_stage_is_busy(const ucp_stage_t *stage)
{
    return (stage != NULL) && (!ucs_list_is_empty(&stage->waiting) ||
                               !ucs_list_is_empty(&stage->copying) ||
                               !ucs_list_is_empty(&stage->done));
}

void ucp_stage_want_progress(ucp_stage_t *stage)
{
    /* Does nothing if the function is registered already */
    uct_worker_progress_register_safe(stage->worker->uct, stage_progress, stage,
                                      0, &stage->progress_id);
}

void ucp_stage_frag_start(ucp_stage_frag_t *frag, int to_user,
                          ucp_stage_done_t done)
{
    ucp_stage_t *stage = frag->copier->stage;

    frag->to_user = (uint8_t)to_user;
    frag->busy    = 1;
    frag->done    = done;
    ucs_list_add_tail(&stage->waiting, &frag->link);
    if (ucs_list_is_only(&stage->waiting, &frag->link)) {
        (void)try_post(frag);
    }
    ucp_stage_want_progress(stage);
}

void ucp_stage_frag_settle(ucp_stage_frag_t *frag)
{
    while (frag->busy) {
        progress_copiers(frag->copier->stage);
    }
}

ucs_status_t ucp_stage_frag_wait(ucp_stage_frag_t *frag)
{
    ucp_stage_frag_settle(frag);
    return frag->status;
}

/* Returns non-zero if a copy of the request is in flight. */
static int has_copies(const ucp_stage_t *stage, const ucp_request_t *req)
{
    ucp_stage_frag_t *frag;

    ucs_list_for_each(frag, &stage->copying, link) {
        if (frag->req == req) {
            return 1;
        }
    }
    return 0;
}

void ucp_stage_forget(ucp_stage_t *stage, ucp_request_t *req)
{
    ucp_stage_frag_t *frag, *next;
    unsigned i;

    ucs_list_for_each_safe(frag, next, &stage->waiting, link) {
        if (frag->req == req) {
            over(frag, UCS_ERR_CANCELED);
        }
    }
    while (has_copies(stage, req)) {
        for (i = 0; i < stage->num_copiers; ++i) {
            uct_iface_progress(stage->copiers[i].iface);
        }
    }
    ucs_list_for_each(frag, &stage->done, link) {
        if (frag->req == req) {
            frag->req = NULL;
        }
    }
}

void ucp_stage_finish(ucp_stage_t *stage)
{
    while (ucp_stage_is_busy(stage)) {
        progress_copiers(stage);
        tell(stage);
    }
    if (stage != NULL) {
        uct_worker_progress_unregister_safe(stage->worker->uct,
                                            &stage->progress_id);
    }
}

/* ------------------------------------------------------ access by a peer -- */

ucs_status_t ucp_stage_access(ucp_worker_h worker, uint64_t id,
                              uint64_t address, uint64_t length, unsigned prot,
                              void *data, int to_user)
{
    ucp_mem_table_t *mems = &worker->context->mems;
    ucs_memory_type_t type;
    ucp_copier_t *copier;
    ucs_status_t status;

    status = ucp_mem_table_hold_any(mems, id, address, length, prot, &type);
    if (status != UCS_OK) {
        return status;
    }

    copier = ucp_stage_copier(worker->stage, type);
    if (copier == NULL) {
        status = UCS_ERR_UNSUPPORTED;
    } else if (data != NULL) {
        status = ucp_stage_copy(copier, 0, (void *)(uintptr_t)address, data,
                                length, to_user);
    }
    ucp_mem_table_release(mems);
    return status;
}
