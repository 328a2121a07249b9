/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registers one buffer with the memory domains of all lanes that share a
 * transfer, or uses the user's memory handle (memhs.h).
 */
#include "ucp/proto/memhs.h"

#include "ucp/mem/mem.h"
#include "ucs/debug/log.h"
#include "uct/base/md.h"
#include "uct/base/memtype.h"

/* Registers a buffer. If the domain can register some memory types only as a
 * dmabuf, the type of the buffer must be detected first. Otherwise all types
 * are registered by address, and the detection is omitted. */
static ucs_status_t reg_buffer(ucp_context_h context, unsigned md_index,
                               void *buffer, size_t length, unsigned access,
                               uct_mem_h *memh_p)
{
    uct_md_h md         = context->mds[md_index].md;
    ucx_mem_info_t info = {.size = sizeof(info)};

    if (ucp_md_reg_types(context, md_index) == uct_md_attr(md)->reg_mem_types) {
        return uct_md_mem_reg(md, buffer, length, access, memh_p);
    }
    if (uct_mem_detect(buffer, length, &info) != UCS_OK) {
        info.type = UCS_MEMORY_TYPE_HOST;
    }
    return ucp_md_register(context, md_index, buffer, length, info.type, access,
                           0, memh_p);
}

/* Sets the handle of one slot (memhs.h): takes it from the user's memory handle
 * if possible, otherwise registers the buffer. Returns zero if the domain
 * cannot use the memory. */
static int reg(ucp_ep_h ep, unsigned lane, ucp_mem_h user, void *buffer,
               size_t length, unsigned access, ucp_memhs_t *memhs,
               unsigned slot)
{
    const ucp_md_t *domain = ucp_ep_lane_domain(ep, lane);
    uct_mem_h *memh_p      = &memhs->memh[slot];
    ucs_status_t status;

    if (user != NULL) {
        *memh_p = ucp_mem_of_domain(user, ucp_ep_lane_md_index(ep, lane));
        if (*memh_p != UCT_MEM_HANDLE_NULL) {
            memhs->borrowed |= (uint8_t)UCS_BIT(slot);
            return 1;
        }
    }
    if (buffer == NULL) {
        /* The data is not contiguous: only a handle of the user can cover
         * it */
        return 0;
    }

    status = reg_buffer(ep->worker->context, ucp_ep_lane_md_index(ep, lane),
                        buffer, length, access, memh_p);
    if (status != UCS_OK) {
        *memh_p = UCT_MEM_HANDLE_NULL;
        ucs_debug("ep %p: %zu bytes at %p cannot be registered with %s: %s", ep,
                  length, buffer, domain->name, ucs_status_string(status));
    }
    return status == UCS_OK;
}

/* True if a domain with one of the flags `needed` must register the buffer. */
static int must_reg(const ucp_lane_config_t *lane, uint64_t needed)
{
    return (lane->md_flags & needed) &&
           ((needed != UCT_MD_FLAG_NEED_RKEY) || (lane->process_key_size == 0));
}

unsigned ucp_memhs_reg(ucp_ep_h ep, const ucp_rails_t *rails, uint64_t needed,
                       ucp_mem_h user, void *buffer, size_t length,
                       unsigned access, ucp_memhs_t *memhs)
{
    unsigned ready = 0;
    unsigned slot, lane;

    if ((user != NULL) &&
        !ucp_mem_allows(user, access & ~UCT_MD_MEM_FLAG_HIDE_ERRORS)) {
        /* The rights of the user's handle exclude this access, so its
         * registrations cannot be used: register the buffer again */
        user = NULL;
    }
    ucp_memhs_init(memhs);
    for (slot = 0; slot < rails->num_slots; ++slot) {
        lane                  = ucp_rails_slot_lane(rails, slot);
        memhs->memh[slot]     = UCT_MEM_HANDLE_NULL;
        memhs->md_index[slot] = (uint8_t)ucp_ep_lane_md_index(ep, lane);
        if (!must_reg(&ep->config->lanes[lane], needed) ||
            reg(ep, lane, user, buffer, length, access, memhs, slot)) {
            ready |= UCS_BIT(slot);
        }
    }
    memhs->num = rails->num_slots;
    return ready;
}

void ucp_memhs_dereg(ucp_worker_h worker, ucp_memhs_t *memhs)
{
    unsigned slot;

    for (slot = 0; slot < memhs->num; ++slot) {
        if ((memhs->memh[slot] != UCT_MEM_HANDLE_NULL) &&
            !(memhs->borrowed & UCS_BIT(slot))) {
            uct_md_mem_dereg(worker->context->mds[memhs->md_index[slot]].md,
                             memhs->memh[slot]);
        }
    }
    ucp_memhs_init(memhs);
}
