/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of one end that the other end's lane reaches: registering it, and the
 * list of keys that tells how. The format is in rndv.h.
 */
#include "ucp/rndv/rndv.h"

#include "ucs/debug/log.h"
#include "uct/base/md.h"

static int reg(ucp_ep_h ep, unsigned lane, uint64_t needed, void *buffer,
               size_t length, unsigned access, uct_mem_h *memh_p)
{
    uct_md_h md = ucp_ep_lane_domain(ep, lane)->md;
    ucs_status_t status;

    *memh_p = UCT_MEM_HANDLE_NULL;
    if (!(ep->config->lanes[lane].md_flags & needed)) {
        return 1;
    }

    status = uct_md_mem_reg(md, buffer, length, access, memh_p);
    if (status != UCS_OK) {
        *memh_p = UCT_MEM_HANDLE_NULL;
        ucs_debug("ep %p: %zu bytes at %p cannot be registered with %s: %s", ep,
                  length, buffer, ucp_ep_lane_domain(ep, lane)->name,
                  ucs_status_string(status));
        return 0;
    }
    return 1;
}

int ucp_rndv_reg_remote(ucp_ep_h ep, unsigned lane, void *buffer,
                        size_t length, unsigned access, uct_mem_h *memh_p)
{
    return reg(ep, lane, UCT_MD_FLAG_NEED_RKEY, buffer, length, access, memh_p);
}

int ucp_rndv_reg_local(ucp_ep_h ep, unsigned lane, void *buffer, size_t length,
                       unsigned access, uct_mem_h *memh_p)
{
    return reg(ep, lane, UCT_MD_FLAG_NEED_MEMH, buffer, length, access, memh_p);
}

void ucp_rndv_dereg(ucp_worker_h worker, unsigned md_index, uct_mem_h *memh_p)
{
    if (*memh_p != UCT_MEM_HANDLE_NULL) {
        uct_md_mem_dereg(worker->context->mds[md_index].md, *memh_p);
        *memh_p = UCT_MEM_HANDLE_NULL;
    }
}

int ucp_rndv_keys_fit(const ucp_lane_config_t *lane)
{
    return !(lane->md_flags & UCT_MD_FLAG_NEED_RKEY) ||
           (sizeof(ucp_rndv_key_t) + lane->rkey_size <= UCP_RNDV_MAX_KEYS);
}

size_t ucp_rndv_keys_pack(ucp_ep_h ep, unsigned lane, uct_mem_h memh,
                          void *keys)
{
    const ucp_lane_config_t *config = &ep->config->lanes[lane];
    ucp_rndv_key_t *key             = keys;
    ucs_status_t status;

    key->md_index = config->md_index;
    key->size     = 0;
    if (memh != UCT_MEM_HANDLE_NULL) {
        key->size = (uint8_t)config->rkey_size;
        status    = uct_md_mkey_pack(ucp_ep_lane_domain(ep, lane)->md, memh,
                                     key + 1);
        if (status != UCS_OK) {
            ucs_debug("ep %p: no key for a buffer: %s", ep,
                      ucs_status_string(status));
            return 0;
        }
    }
    return sizeof(*key) + key->size;
}

static int is_for(const ucp_lane_config_t *lane, unsigned md_index, int get)
{
    return (lane->remote_md == md_index) && (md_index != UCP_NULL_MD) &&
           ucp_md_serves_any_memory(lane->md_flags) &&
           ((get ? lane->get.max_zcopy : lane->put.max_zcopy) > 0);
}

/* Makes a lane's key out of foreign bytes; zero: they are none. */
static int unpack(ucp_ep_h ep, unsigned lane, const void *bytes, size_t size,
                  uct_rkey_bundle_t *rkey)
{
    ucs_status_t status;

    rkey->rkey = UCT_INVALID_RKEY;
    rkey->type = NULL;
    if (!(ep->config->lanes[lane].md_flags & UCT_MD_FLAG_NEED_RKEY)) {
        return 1;
    }

    status = uct_rkey_unpack_sized(ucp_ep_lane_domain(ep, lane)->component,
                                   bytes, size, UCS_SYS_DEVICE_ID_UNKNOWN,
                                   rkey);
    if (status != UCS_OK) {
        rkey->type = NULL;
        ucs_diag("ep %p: cannot use the peer's remote key (%s); the data goes"
                 " another way", ep, ucs_status_string(status));
        return 0;
    }
    return 1;
}

unsigned ucp_rndv_keys_accept(ucp_ep_h ep, const void *keys, size_t size,
                              int get, uct_rkey_bundle_t *rkey)
{
    const char *p = keys;
    const ucp_rndv_key_t *key;
    unsigned lane, i;

    for (; size >= sizeof(*key); p += sizeof(*key) + key->size,
                                 size -= sizeof(*key) + key->size) {
        key = (const ucp_rndv_key_t *)p;
        if (key->size > size - sizeof(*key)) {
            break; /* cut short */
        }
        /* several lanes may lead to that domain: first the one for large data */
        for (i = 0; i <= ep->config->num_lanes; ++i) {
            lane = (i == 0) ? ep->config->rndv_lane : i - 1;
            if ((lane != UCP_NULL_LANE) &&
                is_for(&ep->config->lanes[lane], key->md_index, get) &&
                unpack(ep, lane, key + 1, key->size, rkey)) {
                return lane;
            }
        }
    }
    return UCP_NULL_LANE;
}

void ucp_rndv_rkey_release(uct_rkey_bundle_t *rkey)
{
    if (rkey->type != NULL) {
        uct_rkey_release(rkey->type, rkey);
        rkey->type = NULL;
    }
}
