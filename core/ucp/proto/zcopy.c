/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posts a request's data by put_zcopy or get_zcopy, chunk by chunk (zcopy.h).
 */
#include "ucp/proto/zcopy.h"

#include "ucp/dt/dt.h"
#include "ucp/proto/ep.h"
#include "ucs/sys/math.h"

enum { MAX_IOV = 16 };

int ucp_zcopy_register(ucp_ep_h ep, const ucp_rails_t *rails,
                       const ucp_dt_iter_t *dt, size_t length,
                       ucp_memhs_t *memhs)
{
    unsigned access = rails->is_get ? UCT_MD_MEM_ACCESS_LOCAL_WRITE :
                                      UCT_MD_MEM_ACCESS_LOCAL_READ;
    int is_flat     = ucp_dt_iter_is_flat(dt);

    if (!(ep->config->lanes[rails->rail[0].lane].md_flags &
          UCT_MD_FLAG_NEED_MEMH)) {
        /* The lanes of all rails have equal needs (see fits() in rails.c), so
         * none needs a registration. */
        ucp_memhs_none(rails, memhs);
        return 1;
    }
    if (!is_flat && (dt->memh == NULL)) {
        return 0;
    }
    if (ucp_memhs_reg(ep, rails, UCT_MD_FLAG_NEED_MEMH, dt->memh,
                      is_flat ? dt->u.contig.buffer : NULL, length, access,
                      memhs) != ucp_rails_slots(rails)) {
        ucp_memhs_dereg(ep->worker, memhs);
        return 0;
    }
    return 1;
}

ucs_status_t ucp_zcopy_post(ucp_request_t *req, const ucp_rails_t *rails,
                            const ucp_rails_chunk_t *chunk, uint64_t address,
                            uct_rkey_t key, const ucp_memhs_t *memhs)
{
    const ucp_rail_t *rail = chunk->rail;
    uct_ep_h uct           = ucp_ep_lane(req->send.ep, rail->lane);
    uct_iov_t iov[MAX_IOV];
    size_t iovcnt, length;
    ucs_status_t status;

    iovcnt    = ucp_dt_iter_iov(&req->dt, chunk->length, iov,
                                ucs_min(rail->max_iov, (size_t)MAX_IOV),
                                memhs->memh[rail->slot], &length);
    req->lane = rail->lane;
    ++req->send.comp.count;
    status = rails->is_get ? uct->ops->get_zcopy(uct, iov, iovcnt, address, key,
                                                 &req->send.comp) :
                             uct->ops->put_zcopy(uct, iov, iovcnt, address, key,
                                                 &req->send.comp);
    if (status == UCS_INPROGRESS) {
        status = UCS_OK;
    } else {
        --req->send.comp.count;
    }
    if (status == UCS_OK) {
        ucp_dt_iter_advance(&req->dt, length);
    }
    return status;
}
