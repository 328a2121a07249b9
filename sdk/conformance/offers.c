/* SPDX-License-Identifier: BSD-3-Clause */
/* The slots of each capability: see offers.h. */
#include "offers.h"

#include <string.h>

#define HAS_SLOT(_table, _slot) \
    (UCX_TABLE_HAS(_table, _slot) && ((_table)->_slot != NULL))

/* A capability with its slots in the tables of one transport. One of the first
 * three members names the capability, the other two are 0. */
typedef struct offer {
    uint64_t flag;     /* UCT_IFACE_FLAG_* */
    uint64_t event;    /* UCT_IFACE_FLAG_EVENT_* */
    unsigned atomic;   /* UCX_MANIFEST_ATOMIC* */
    int is_there;      /* The transport has all slots of the capability */
    const char *slots; /* Names of the slots, for findings */
} offer_t;

#define OFFERS_MAX 32

#define EP_OFFER(_FLAG, _slot) \
    { \
        UCT_IFACE_FLAG_##_FLAG, 0, 0, HAS_SLOT(ep, _slot), #_slot \
    }
#define EP_ATOMIC(_WORD, _slot) \
    { \
        0, 0, UCX_MANIFEST_##_WORD, HAS_SLOT(ep, _slot), #_slot \
    }

/* Fills `offers` and returns their number. */
static unsigned list_offers(const ucx_transport_t *tl, offer_t *offers)
{
    const ucx_iface_ops_t *iface = tl->iface_ops;
    const ucx_ep_ops_t *ep       = tl->ep_ops;
    const offer_t all[]          = {
                 EP_OFFER(AM_SHORT, am_short),
                 EP_OFFER(AM_BCOPY, am_bcopy),
                 EP_OFFER(AM_ZCOPY, am_zcopy),
                 EP_OFFER(PUT_SHORT, put_short),
                 EP_OFFER(PUT_BCOPY, put_bcopy),
                 EP_OFFER(PUT_ZCOPY, put_zcopy),
                 EP_OFFER(GET_SHORT, get_short),
                 EP_OFFER(GET_BCOPY, get_bcopy),
                 EP_OFFER(GET_ZCOPY, get_zcopy),
                 EP_OFFER(TAG_EAGER_SHORT, tag_eager_short),
                 EP_OFFER(TAG_EAGER_BCOPY, tag_eager_bcopy),
                 EP_OFFER(TAG_EAGER_ZCOPY, tag_eager_zcopy),
                 EP_OFFER(TAG_RNDV_ZCOPY, tag_rndv_zcopy),
                 EP_ATOMIC(ATOMIC32_POST, atomic32_post),
                 EP_ATOMIC(ATOMIC64_POST, atomic64_post),
                 EP_ATOMIC(ATOMIC32_FETCH, atomic32_fetch),
                 EP_ATOMIC(ATOMIC64_FETCH, atomic64_fetch),
                 EP_OFFER(EP_CHECK, check),
                 {UCT_IFACE_FLAG_PENDING, 0, 0,
                  HAS_SLOT(ep, pending_add) && HAS_SLOT(ep, pending_purge),
                  "pending_add and pending_purge"},
                 {UCT_IFACE_FLAG_CONNECT_TO_EP, 0, 0,
                  HAS_SLOT(ep, get_address) && HAS_SLOT(ep, connect_to_ep),
                  "get_address and connect_to_ep of endpoints"},
                 {UCT_IFACE_FLAG_CONNECT_TO_IFACE, 0, 0, HAS_SLOT(iface, is_reachable),
                  "is_reachable"},
                 {0, UCT_IFACE_FLAG_EVENT_FD, 0,
                  HAS_SLOT(iface, event_fd_get) && HAS_SLOT(iface, event_arm),
                  "event_fd_get and event_arm"},
    };

    _Static_assert(sizeof(all) <= OFFERS_MAX * sizeof(offer_t), "offers");
    memcpy(offers, all, sizeof(all));
    return ucs_static_array_size(all);
}

const ucx_transport_t *offers_transport(const run_t *run,
                                        const ucx_plugin_t *plugin)
{
    const ucx_component_t *component;
    unsigned i, j;

    for (i = 0; (plugin != NULL) && (i < plugin->num_components); ++i) {
        component = plugin->components[i];
        if (strcmp(component->name, run->resource->component) != 0) {
            continue;
        }
        for (j = 0; j < component->num_transports; ++j) {
            if (!strcmp(component->transports[j]->name, run->resource->tl)) {
                return component->transports[j];
            }
        }
    }
    return NULL;
}

void offers_check_slots(run_t *run, int rule, const char *who,
                        const ucx_transport_t *tl, uint64_t flags,
                        uint64_t events)
{
    offer_t offers[OFFERS_MAX];
    unsigned count = list_offers(tl, offers), i;

    for (i = 0; i < count; ++i) {
        check_that(run, rule,
                   offers[i].is_there || (!(flags & offers[i].flag) &&
                                          !(events & offers[i].event)),
                   "transport %s: %s what the missing slot %s would do",
                   tl->name, who, offers[i].slots);
    }
}

void offers_check_declared(run_t *run, const ucx_transport_t *tl,
                           const ucx_manifest_transport_t *declared)
{
    /* CONNECT_TO_IFACE need not be declared for its slot is_reachable, because
     * transports with CONNECT_TO_EP have this slot, too */
    const uint64_t shared = UCT_IFACE_FLAG_CONNECT_TO_IFACE;
    offer_t offers[OFFERS_MAX];
    unsigned count = list_offers(tl, offers), i;

    for (i = 0; i < count; ++i) {
        check_that(run, 24,
                   !offers[i].is_there || (offers[i].flag & shared) ||
                       (declared->iface_flags & offers[i].flag) ||
                       (declared->event_flags & offers[i].event) ||
                       (declared->atomics & offers[i].atomic),
                   "transport %s: the manifest does not declare what the slot "
                   "%s does, so that the core never calls it",
                   tl->name, offers[i].slots);
    }
}
