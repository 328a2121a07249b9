/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registers memory for remote access by the peer, packs and unpacks the list of
 * remote keys. rndv.h defines the format.
 */
#include "ucp/rndv/rndv.h"

#include "ucs/debug/log.h"
#include "uct/base/md.h"

int ucp_rndv_reg_remote(ucp_ep_h ep, const ucp_rails_t *rails,
                        const ucp_dt_iter_t *dt, size_t length, unsigned access,
                        ucp_memhs_t *memhs)
{
    if (ucp_memhs_reg(ep, rails, UCT_MD_FLAG_NEED_RKEY, dt->memh,
                      dt->u.contig.buffer, length, access, memhs) == 0) {
        ucp_memhs_dereg(ep->worker, memhs);
        return 0;
    }
    return 1;
}

/* ------------------------------------------------------------- packing -- */

/* Returns the bytes of the key of a domain's memory. Message and key together
 * state the range, so a process key suffices: it is shorter, and an announcement
 * with one of cma fits into a cache line. */
static size_t key_size(const ucp_lane_config_t *lane)
{
    return !(lane->md_flags & UCT_MD_FLAG_NEED_RKEY) ? 0 :
           (lane->process_key_size > 0)              ? lane->process_key_size :
                                                       lane->rkey_size;
}

int ucp_rndv_keys_fit(const ucp_lane_config_t *lane)
{
    return sizeof(ucp_rndv_key_t) + key_size(lane) <= UCP_RNDV_MAX_KEYS;
}

/* Writes a ucp_rndv_key_t and the key of one domain, if the domain needs keys.
 * Returns the number of bytes; 0 if a needed key is missing or does not fit. */
static size_t pack_key(ucp_ep_h ep, unsigned lane, uct_mem_h memh,
                       ucp_rndv_key_t *key, size_t max_size)
{
    const ucp_lane_config_t *config = &ep->config->lanes[lane];
    uct_md_h md                     = ucp_ep_lane_domain(ep, lane)->md;
    size_t size                     = key_size(config);
    ucs_status_t status             = UCS_OK;

    if (sizeof(*key) + size > max_size) {
        return 0;
    }
    key->md_index = config->md_index;
    key->size     = (uint8_t)size;
    if (size > 0) {
        status = (config->process_key_size > 0) ?
                     uct_md_process_key_pack(md, key + 1) :
                     uct_md_mkey_pack(md, memh, key + 1);
    }
    if (status != UCS_OK) {
        ucs_debug("ep %p: no key for a buffer: %s", ep,
                  ucs_status_string(status));
        return 0;
    }
    return sizeof(*key) + size;
}

size_t ucp_rndv_keys_pack(ucp_ep_h ep, const ucp_rails_t *rails,
                          const ucp_memhs_t *memhs, void *keys)
{
    size_t size = 0;
    unsigned slot;

    for (slot = 0; slot < memhs->num; ++slot) {
        size += pack_key(ep, ucp_rails_slot_lane(rails, slot),
                         memhs->memh[slot],
                         (ucp_rndv_key_t *)((char *)keys + size),
                         UCP_RNDV_MAX_KEYS - size);
    }
    return size;
}

/* ----------------------------------------------------------- unpacking -- */

static int is_for(const ucp_lane_config_t *lane, unsigned md_index, int get)
{
    return (lane->remote_md == md_index) && (md_index != UCP_NULL_MD) &&
           ucp_md_serves_any_memory(lane->md_flags) &&
           ((get ? lane->get.max_zcopy : lane->put.max_zcopy) > 0);
}

/* Unpacks the peer's key for a lane. Returns zero if it is invalid. */
static int unpack(ucp_ep_h ep, unsigned lane, const ucp_rndv_key_t *key,
                  uct_rkey_bundle_t *rkey)
{
    ucs_status_t status;

    rkey->rkey = UCT_INVALID_RKEY;
    rkey->type = NULL;
    if (!(ep->config->lanes[lane].md_flags & UCT_MD_FLAG_NEED_RKEY)) {
        return 1;
    }

    status = uct_rkey_unpack_sized(ucp_ep_lane_domain(ep, lane)->component,
                                   key + 1, key->size,
                                   UCS_SYS_DEVICE_ID_UNKNOWN, rkey);
    if (status != UCS_OK) {
        rkey->type = NULL;
        ucs_diag("ep %p: cannot use the peer's remote key (%s); the data is"
                 " sent by another scheme",
                 ep, ucs_status_string(status));
        return 0;
    }
    return 1;
}

/* The part of a list of keys that is not unpacked yet. */
typedef struct {
    const char *p;
    size_t size;
} list_t;

/* Returns the next key and moves behind it; NULL at the end of the list, or if
 * the rest is too short for a key. */
static const ucp_rndv_key_t *next_key(list_t *list)
{
    const ucp_rndv_key_t *key = (const ucp_rndv_key_t *)list->p;
    size_t size;

    if ((list->size < sizeof(*key)) ||
        (key->size > list->size - sizeof(*key))) {
        return NULL;
    }
    size = sizeof(*key) + key->size;
    list->p += size;
    list->size -= size;
    return key;
}

int ucp_rndv_keys_have(const void *keys, size_t size, unsigned md_index)
{
    list_t list = {keys, size};
    const ucp_rndv_key_t *key;

    do {
        key = next_key(&list);
    } while ((key != NULL) && (key->md_index != md_index));
    return key != NULL;
}

/* Unpacks the keys for the domains of all of these lanes. Returns zero if one
 * is missing or invalid; no key is then kept. */
static int open_all(ucp_request_t *req, const ucp_rails_t *rails, list_t keys)
{
    ucp_ep_h ep = req->send.ep;
    const ucp_rndv_key_t *key;
    unsigned slot, lane;
    list_t list;

    for (slot = 0; slot < rails->num_slots; ++slot) {
        lane = ucp_rails_slot_lane(rails, slot);
        list = keys;
        do {
            key = next_key(&list);
        } while ((key != NULL) && !is_for(&ep->config->lanes[lane],
                                          key->md_index, rails->is_get));
        if ((key == NULL) ||
            !unpack(ep, lane, key, &ucp_send_rndv(req)->rkeys[slot])) {
            ucp_rndv_rkeys_release(req);
            return 0;
        }
        ucp_send_rndv(req)->num_keys = (uint8_t)(slot + 1);
    }
    return rails->num > 0;
}

const ucp_rails_t *ucp_rndv_keys_accept(ucp_request_t *req, const void *keys,
                                        size_t size, int get)
{
    const ucp_ep_config_t *config = req->send.ep->config;
    const ucp_rails_t *rails      = get ? &config->rndv_get : &config->rndv_put;
    list_t list                   = {keys, size};
    const ucp_rndv_key_t *key;
    unsigned lane;

    ucp_send_rndv(req)->num_keys = 0;
    if (open_all(req, rails, list)) {
        return rails;
    }

    /* Otherwise use any lane to one of the domains in the list. */
    while ((key = next_key(&list)) != NULL) {
        for (lane = 0; lane < config->num_lanes; ++lane) {
            if (is_for(&config->lanes[lane], key->md_index, get) &&
                unpack(req->send.ep, lane, key,
                       &ucp_send_rndv(req)->rkeys[0])) {
                ucp_send_rndv(req)->num_keys = 1;
                return get ? &config->single_get[lane] :
                             &config->single_put[lane];
            }
        }
    }
    return NULL;
}

void ucp_rndv_rkeys_release(ucp_request_t *req)
{
    unsigned slot;

    for (slot = 0; slot < ucp_send_rndv(req)->num_keys; ++slot) {
        uct_rkey_bundle_t *rkey = &ucp_send_rndv(req)->rkeys[slot];

        if (rkey->type != NULL) {
            uct_rkey_release(rkey->type, rkey);
        }
    }
    ucp_send_rndv(req)->num_keys = 0;
}
