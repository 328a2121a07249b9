/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that the processor may not touch: which of the user's buffers are of
 * that kind, and copies between them and ordinary memory.
 *
 * A copier does the copies: an interface on a device of the accelerator class,
 * whose domain reaches both kinds of memory without keys. Its one endpoint leads
 * to the process itself: put writes the memory at an address, get reads it. Data
 * is "staged" when it goes through ordinary memory on its way.
 *
 * A worker whose context has no copier has no stage, and pays nothing.
 */
#ifndef UCP_STAGE_H
#define UCP_STAGE_H

#include <ucp/api/ucp.h>
#include <ucx/transport.h>

#include "ucp/core/types.h"
#include "ucp/dt/dt.h"
#include "ucs/datastruct/list.h"

typedef struct ucp_copier ucp_copier_t;
typedef struct ucp_stage ucp_stage_t;
typedef struct ucp_stage_frag ucp_stage_frag_t;

/** A copy is over, whatever its status. Called from progress, by a worker that
 *  holds nothing of it any more. */
typedef void (*ucp_stage_done_t)(ucp_stage_frag_t *frag);

/** A piece of ordinary memory that data waits in, with one copy under way. */
struct ucp_stage_frag {
    ucs_list_link_t  link;
    uct_completion_t comp;
    ucp_copier_t     *copier;
    ucp_stage_done_t done;
    ucp_request_t    *req;      /**< For whom; NULL: nobody wants it any more */
    void             *memory;   /**< The user's end of the copy */
    size_t           offset;    /**< The caller's: of the data in its message */
    size_t           length;
    ucs_status_t     status;
    uint8_t          to_user;   /**< Else from there */
    uct_mem_h        memh;      /**< The copier's, of `data`; or NULL */
    char             *data;
};

/** Opens the copiers of the context's resources; NULL in *stage_p: none. */
ucs_status_t ucp_stage_open(ucp_worker_h worker, ucp_stage_t **stage_p);

/** Nothing is under way any more. */
void ucp_stage_close(ucp_stage_t *stage);

/** Waits until no copy is under way and everybody has been told. */
void ucp_stage_finish(ucp_stage_t *stage);

/** True if progress has something to do: do not sleep. */
int ucp_stage_is_busy(const ucp_stage_t *stage);

/** The copier for a type of memory, or NULL. */
ucp_copier_t *ucp_stage_copier(const ucp_stage_t *stage,
                               ucs_memory_type_t type);

/**
 * Finds out what memory a walk over user data leads through, by the user's word
 * or by detection, and turns it into a staged one if the processor may not touch
 * that. UCS_ERR_UNSUPPORTED, with a message: nobody here can copy it.
 * UCS_ERR_INVALID_PARAM: no such type, or several kinds in one list.
 */
ucs_status_t ucp_stage_adopt(ucp_worker_h worker, ucp_dt_iter_t *iter,
                             const ucp_request_param_t *param);

/* --------------------------------------------------------------- copying -- */

/** Copies and returns when that is done. Nobody is called back meanwhile. */
ucs_status_t ucp_stage_copy(ucp_copier_t *copier, void *memory, void *data,
                            size_t length, int to_user);

/** Bytes that a fragment holds. */
size_t ucp_stage_frag_size(const ucp_copier_t *copier);

/** Takes a fragment; NULL: as many are in use as are good, or out of memory. The
 *  caller then copies by ucp_stage_copy. */
ucp_stage_frag_t *ucp_stage_frag_get(ucp_copier_t *copier);
void ucp_stage_frag_put(ucp_stage_frag_t *frag);

/** Begins a copy between frag->data and frag->memory: frag->length bytes.
 *  `done` is called from a later progress. */
void ucp_stage_frag_start(ucp_stage_frag_t *frag, int to_user,
                          ucp_stage_done_t done);

/** Waits until no copy touches the request's memory. Its fragments are nobody's
 *  then: `done` finds `req` NULL and puts them back. */
void ucp_stage_forget(ucp_stage_t *stage, ucp_request_t *req);

/* ------------------------------------------- on behalf of a peer's access -- */

/**
 * Copies between registered memory of any type and `data`, if the peer may do
 * that; see ucp_mem_table_hold for errors. For memory for which that says
 * UCS_ERR_UNSUPPORTED. `data` NULL: only asks whether it could.
 */
ucs_status_t ucp_stage_access(ucp_worker_h worker, uint64_t id,
                              uint64_t address, uint64_t length, unsigned prot,
                              void *data, int to_user);

#endif
