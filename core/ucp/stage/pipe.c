/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pipelines: copies of one block of memory, part by part and in order, while
 * the caller sends or receives the parts.
 *
 *   read:   memory ==copier==> fragments --> parts      copies are ahead
 *   write:  parts --> fragments ==copier==> memory      copies are behind
 *
 * The fragments of a pipeline are a ring. In a read, the copier fills the
 * fragments, and the caller takes data from the first one. In a write, the
 * caller adds data to the last fragment, whose copy starts when it holds enough
 * data.
 */
#include "ucp/stage/copier.h"

#include "ucs/debug/log.h"
#include "ucs/sys/math.h"

#include <ucx/copy.h>

#include <stdlib.h>

enum {
    DEPTH = 4, /* Maximum number of fragments of a pipeline */
    /* A pipeline uses 1 / PARTS of each fragment, but at least LEAST bytes. A
     * whole fragment holds many messages of a network, so that the first
     * message would wait for the copy of all their data. */
    PARTS = 4,
    LEAST = 4096,
};

struct ucp_stage_pipe {
    ucp_copier_t *copier;
    uint32_t place;      /* See ucp_stage_copy() */
    char *at;            /* Address of the next part in the block */
    size_t used;         /* Read: bytes of the first fragment that the caller
                          * has received */
    ucs_status_t status; /* Write: first error of a copy, or UCS_OK */
    unsigned head;       /* Index of the first fragment in `frags` */
    unsigned count;      /* Number of fragments in `frags` */
    /* Write: non-zero if the copy of the last fragment is not started, so that
     * data can be added to it */
    int filling;
    ucp_stage_frag_t *frags[DEPTH];
};

static size_t chunk_size(const ucp_copier_t *copier)
{
    size_t size = copier->frag_size;

    return ucs_min(size, ucs_max(size / PARTS, (size_t)LEAST));
}

static ucp_stage_frag_t *first(const ucp_stage_pipe_t *pipe)
{
    return pipe->frags[pipe->head];
}

static ucp_stage_frag_t *last(const ucp_stage_pipe_t *pipe)
{
    return pipe->frags[(pipe->head + pipe->count - 1) % DEPTH];
}

/* Appends a fragment. Returns NULL if none is available. */
static ucp_stage_frag_t *append(ucp_stage_pipe_t *pipe)
{
    ucp_stage_frag_t *frag;

    frag = (pipe->count < DEPTH) ? ucp_stage_frag_get(pipe->copier) : NULL;
    if (frag != NULL) {
        pipe->frags[(pipe->head + pipe->count) % DEPTH] = frag;
        ++pipe->count;
        frag->req    = NULL;
        frag->place  = pipe->place;
        frag->length = 0;
        frag->status = UCS_OK;
        frag->busy   = 0;
    }
    return frag;
}

/* Waits for the copy of the first fragment and releases the fragment. Returns
 * the status of the copy. */
static ucs_status_t remove_first(ucp_stage_pipe_t *pipe)
{
    ucp_stage_frag_t *frag = first(pipe);
    ucs_status_t status    = ucp_stage_frag_wait(frag);

    ucp_stage_frag_put(frag);
    pipe->head = (pipe->head + 1) % DEPTH;
    pipe->used = 0;
    --pipe->count;
    return status;
}

static ucp_stage_pipe_t *open_at(ucp_copier_t *copier, uint32_t place,
                                 void *memory)
{
    ucp_stage_pipe_t *pipe = calloc(1, sizeof(*pipe));

    if (pipe != NULL) {
        pipe->copier = copier;
        pipe->place  = place;
        pipe->at     = memory;
    }
    return pipe;
}

/* Returns the pipeline for a part at `memory`, or NULL if out of memory. If the
 * pipeline is at another position, because the caller starts again from the
 * beginning of the block, it is replaced. */
static ucp_stage_pipe_t *get_pipe(ucp_copier_t *copier, uint32_t place,
                                  ucp_stage_pipe_t **pipe_p, void *memory)
{
    if ((*pipe_p != NULL) && ((*pipe_p)->at != memory)) {
        (void)ucp_stage_pipe_close(pipe_p);
    }
    if (*pipe_p == NULL) {
        *pipe_p = open_at(copier, place, memory);
    }
    return *pipe_p;
}

/* --------------------------------------------------------------- reading -- */

/* Starts copies of the block up to the address `end`, as long as fragments are
 * available. */
static void read_ahead(ucp_stage_pipe_t *pipe, char *end)
{
    char *next = (pipe->count == 0) ?
                     pipe->at :
                     (char *)last(pipe)->memory + last(pipe)->length;
    ucp_stage_frag_t *frag;

    while ((next < end) && ((frag = append(pipe)) != NULL)) {
        frag->memory = next;
        frag->length = ucs_min((size_t)(end - next), chunk_size(pipe->copier));
        next += frag->length;
        ucp_stage_frag_start(frag, 0, NULL);
    }
}

/* Copies bytes of the first fragment to `data`. Returns their number, 0 on
 * failure. */
static size_t consume(ucp_stage_pipe_t *pipe, void *data, size_t length,
                      ucs_status_t *status_p)
{
    ucp_stage_frag_t *frag = first(pipe);
    size_t chunk           = ucs_min(frag->length - pipe->used, length);

    *status_p = ucp_stage_frag_wait(frag);
    if (*status_p != UCS_OK) {
        ucs_diag("a copy from %p failed: %s", frag->memory,
                 ucs_status_string(*status_p));
        return 0;
    }

    ucx_copy(data, frag->data + pipe->used, chunk);
    pipe->used += chunk;
    pipe->at += chunk;
    if (pipe->used == frag->length) {
        (void)remove_first(pipe);
    }
    return chunk;
}

ucs_status_t ucp_stage_pipe_read(ucp_copier_t *copier, uint32_t place,
                                 ucp_stage_pipe_t **pipe_p, void *memory,
                                 size_t left, void *data, size_t length)
{
    char *bytes         = data;
    char *end           = (char *)memory + left;
    ucs_status_t status = UCS_OK;
    ucp_stage_pipe_t *pipe;
    size_t chunk;

    if ((*pipe_p == NULL) && (left == length)) {
        return ucp_stage_copy(copier, place, memory, data, length, 0);
    }

    pipe = get_pipe(copier, place, pipe_p, memory);
    if (pipe == NULL) {
        return ucp_stage_copy(copier, place, memory, data, length, 0);
    }
    for (; (length > 0) && (status == UCS_OK);
         bytes += chunk, length -= chunk) {
        read_ahead(pipe, end);
        if (pipe->count > 0) {
            chunk = consume(pipe, bytes, length, &status);
        } else { /* no fragment is available */
            chunk  = length;
            status = ucp_stage_copy(copier, place, pipe->at, bytes, chunk, 0);
            pipe->at += chunk;
        }
    }
    if (status != UCS_OK) {
        return status;
    }

    read_ahead(pipe, end);
    if (pipe->at == end) {
        (void)ucp_stage_pipe_close(pipe_p);
    }
    return UCS_OK;
}

void ucp_stage_pipe_settle(ucp_stage_pipe_t *pipe)
{
    unsigned i;

    for (i = 0; (pipe != NULL) && (i < pipe->count); ++i) {
        (void)ucp_stage_frag_wait(pipe->frags[(pipe->head + i) % DEPTH]);
    }
}

/* --------------------------------------------------------------- writing -- */

static void start_filled(ucp_stage_pipe_t *pipe)
{
    if (pipe->filling) {
        pipe->filling = 0;
        ucp_stage_frag_start(last(pipe), 1, NULL);
    }
}

static void note(ucp_stage_pipe_t *pipe, ucs_status_t status)
{
    if ((status != UCS_OK) && (pipe->status == UCS_OK)) {
        ucs_diag("a copy to memory that ends at %p failed: %s", pipe->at,
                 ucs_status_string(status));
        pipe->status = status;
    }
}

/* Returns the fragment for the next bytes, or NULL if none is available. */
static ucp_stage_frag_t *fillable(ucp_stage_pipe_t *pipe)
{
    ucp_stage_frag_t *frag;

    if (pipe->filling) {
        return last(pipe);
    }
    frag = append(pipe);
    if ((frag == NULL) && (pipe->count > 0)) {
        note(pipe, remove_first(pipe));
        frag = append(pipe);
    }
    if (frag != NULL) {
        frag->memory  = pipe->at;
        pipe->filling = 1;
    }
    return frag;
}

ucs_status_t ucp_stage_pipe_write(ucp_copier_t *copier, uint32_t place,
                                  ucp_stage_pipe_t **pipe_p, void *memory,
                                  const void *data, size_t length)
{
    ucp_stage_pipe_t *pipe = get_pipe(copier, place, pipe_p, memory);
    size_t size            = chunk_size(copier);
    const char *bytes      = data;
    ucp_stage_frag_t *frag;
    size_t chunk;

    if (pipe == NULL) {
        return ucp_stage_copy(copier, place, memory, (void *)data, length, 1);
    }
    for (; length > 0; bytes += chunk, length -= chunk, pipe->at += chunk) {
        frag = fillable(pipe);
        if (frag == NULL) {
            chunk = length;
            note(pipe, ucp_stage_copy(copier, place, pipe->at, (void *)bytes,
                                      chunk, 1));
            continue;
        }
        chunk = ucs_min(size - frag->length, length);
        ucx_copy(frag->data + frag->length, bytes, chunk);
        frag->length += chunk;
        if (frag->length == size) {
            start_filled(pipe);
        }
    }
    /* If data fills at least half of the last fragment, its copy starts without
     * waiting for the next part. */
    if (pipe->filling && (last(pipe)->length >= size / 2)) {
        start_filled(pipe);
    }
    return UCS_OK;
}

ucs_status_t ucp_stage_pipe_close(ucp_stage_pipe_t **pipe_p)
{
    ucp_stage_pipe_t *pipe = *pipe_p;
    ucs_status_t status;

    if (pipe == NULL) {
        return UCS_OK;
    }
    start_filled(pipe);
    while (pipe->count > 0) {
        note(pipe, remove_first(pipe));
    }
    status = pipe->status;
    free(pipe);
    *pipe_p = NULL;
    return status;
}
