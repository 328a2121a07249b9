/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data in memory that the processor cannot access, for example of a GPU:
 * detects which of the user's buffers are in such memory, and copies between
 * these and host memory. Data that goes through host memory is called "staged".
 *
 * A copier makes the copies: an interface on a device of the accelerator class,
 * whose memory domain accesses both kinds of memory without keys. Its only
 * endpoint is connected to the process itself: put writes the memory at an
 * address, get reads it.
 *
 * ucp_stage_t holds the copiers of a worker. ucp_worker_t::stage is NULL if the
 * context has no copier.
 */
#ifndef UCP_STAGE_H
#define UCP_STAGE_H

#include <ucp/api/ucp.h>
#include <ucx/transport.h>

#include "ucp/base/dt_iter.h"
#include "ucp/base/types.h"
#include "ucs/datastruct/list.h"

typedef struct ucp_copier ucp_copier_t;
typedef struct ucp_stage ucp_stage_t;
typedef struct ucp_stage_frag ucp_stage_frag_t;
typedef struct ucp_stage_pipe ucp_stage_pipe_t;

/** Called from progress when a copy is complete; frag->status is its result.
 *  The function owns the fragment, and releases it by ucp_stage_frag_put() or
 *  uses it again. */
typedef void (*ucp_stage_done_t)(ucp_stage_frag_t *frag);

/** A fragment: a buffer in host memory, which is the source or the destination
 *  of one copy at a time. */
struct ucp_stage_frag {
    ucs_list_link_t link; /**< In a list of the copier or of ucp_stage_t
                           *   (copier.h) */
    uct_completion_t comp;
    ucp_copier_t *copier;
    /** NULL if the caller waits for the copy */
    ucp_stage_done_t done;
    /** The request that uses the fragment; NULL if no request needs it any
     *  more */
    ucp_request_t *req;
    void *memory;   /**< The user's memory */
    uint32_t place; /**< Location of `memory`, or 0: see ucp_stage_copy() */
    /** For use by the caller: offset of the data in its message */
    size_t offset;
    size_t length;       /**< Bytes to copy */
    ucs_status_t status; /**< Result of the copy, after it is complete */
    /** Non-zero if the copy is to the user's memory, zero if it is from
     *  there */
    uint8_t to_user;
    uint8_t busy; /**< Non-zero from the start of the copy to its completion */
    /** Registration of `data` with the copier's domain; or NULL */
    uct_mem_h memh;
    char *data; /**< The buffer in host memory */
};

/** Opens the copiers of the context's resources. *stage_p is NULL if there are
 *  none. */
ucs_status_t ucp_stage_open(ucp_worker_h worker, ucp_stage_t **stage_p);

/** Closes the copiers. No copy may be in flight. */
void ucp_stage_close(ucp_stage_t *stage);

/** Progresses the copies until none is in flight and all callbacks have been
 *  called. */
void ucp_stage_finish(ucp_stage_t *stage);

/** Returns non-zero if progress has work to do: the worker must not sleep. */
int ucp_stage_is_busy(const ucp_stage_t *stage);

/** Returns the copier for a type of memory, or NULL. */
ucp_copier_t *ucp_stage_copier(const ucp_stage_t *stage,
                               ucs_memory_type_t type);

/**
 * Determines the memory type of user data, from the user's parameters or by
 * detection. If the processor cannot access the memory, the iterator is changed
 * to use a copier. Logs an error and returns UCS_ERR_UNSUPPORTED if there is no
 * copier for the type, UCS_ERR_INVALID_PARAM if the type is invalid, or if a
 * list of buffers has several types that the processor cannot access.
 */
ucs_status_t ucp_stage_adopt(ucp_worker_h worker, ucp_dt_iter_t *iter,
                             const ucp_request_param_t *param);

/* --------------------------------------------------------------- copying -- */

/** Copies and returns when the copy is complete. No callback of UCP runs in
 *  the meantime. `place`: the location of `memory` that its domain has
 *  reported when its type was detected (ucx_mem_attr_t), or 0. `to_user`:
 *  non-zero to copy from `data` to `memory`. */
ucs_status_t ucp_stage_copy(ucp_copier_t *copier, uint32_t place, void *memory,
                            void *data, size_t length, int to_user);

/** Returns the number of bytes that a fragment holds. */
size_t ucp_stage_frag_size(const ucp_copier_t *copier);

/** Allocates a fragment. Returns NULL if the copier has reached its limit of
 *  fragments, or if out of memory; the caller then does without, for example by
 *  ucp_stage_copy(). */
ucp_stage_frag_t *ucp_stage_frag_get(ucp_copier_t *copier);
void ucp_stage_frag_put(ucp_stage_frag_t *frag);

/**
 * Called before a small copy. Returns a fragment if the copy should be made in
 * the background, because another small copy in this direction was made since
 * the last progress, or copies are in flight. Returns NULL if the caller should
 * copy and wait: the copy is the first one or too long, or no fragment is
 * available.
 */
ucp_stage_frag_t *ucp_stage_gather(ucp_copier_t *copier, size_t length,
                                   int to_user);

/** Waits for a copy that was started with `done`. Afterwards `done` is called
 *  from progress unless it was called before. */
void ucp_stage_frag_settle(ucp_stage_frag_t *frag);

/** Starts a copy between frag->data and frag->memory: frag->length bytes.
 *  `done` is called from a later progress; it is NULL if the caller waits for
 *  the copy. */
void ucp_stage_frag_start(ucp_stage_frag_t *frag, int to_user,
                          ucp_stage_done_t done);

/** Waits for a copy that was started without `done`; returns its status. It
 *  calls no callback of UCP. */
ucs_status_t ucp_stage_frag_wait(ucp_stage_frag_t *frag);

/** Waits until no copy accesses the memory of the request; its copies that have
 *  not started are cancelled. Afterwards `req` of the fragments that the
 *  request used is NULL. Their `done` functions are still called, and must
 *  release the fragments by ucp_stage_frag_put(). */
void ucp_stage_forget(ucp_stage_t *stage, ucp_request_t *req);

/* ------------------------------------------------------------- pipelines -- */

/**
 * A pipeline (ucp_stage_pipe_t) copies one block of memory in order, for a
 * caller that sends or receives the block part by part. Copies are made ahead
 * of the parts that are read, or behind those that are written, so that the
 * copier and the caller work at the same time. `pipe_p`: a variable of the
 * caller, which is NULL before the first part. While the pipeline exists,
 * nothing but its copies may change the block.
 */

/** Copies `length` bytes at `memory` to `data`, and starts copies of the bytes
 *  that follow. `left`: bytes from `memory` to the end of the block. The
 *  pipeline is closed with the last part, or by ucp_stage_pipe_close(). */
ucs_status_t ucp_stage_pipe_read(ucp_copier_t *copier, uint32_t place,
                                 ucp_stage_pipe_t **pipe_p, void *memory,
                                 size_t left, void *data, size_t length);

/** Waits for the copies from the block that are under way. Their data is kept
 *  for later reads. */
void ucp_stage_pipe_settle(ucp_stage_pipe_t *pipe);

/** Copies `length` bytes of `data` to `memory`, which follows the previous
 *  part. The copies are complete only after ucp_stage_pipe_close(). */
ucs_status_t ucp_stage_pipe_write(ucp_copier_t *copier, uint32_t place,
                                  ucp_stage_pipe_t **pipe_p, void *memory,
                                  const void *data, size_t length);

/** Waits for all copies and frees the pipeline; returns the first failure of a
 *  copy to the block. */
ucs_status_t ucp_stage_pipe_close(ucp_stage_pipe_t **pipe_p);

/* ------------------------------------------------------ access by a peer -- */

/**
 * Carries out a peer's access to registered memory of any type: copies from
 * `data` to the memory if `to_user` is set, otherwise from the memory to
 * `data`.
 * Used if ucp_mem_table_hold() returns UCS_ERR_UNSUPPORTED; returns the same
 * errors as that function if the access is not allowed. If `data` is NULL, only
 * checks the access.
 */
ucs_status_t ucp_stage_access(ucp_worker_h worker, uint64_t id,
                              uint64_t address, uint64_t length, unsigned prot,
                              void *data, int to_user);

#endif
