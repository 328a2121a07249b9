/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies a plugin's tables of functions to tables of the core's ABI version.
 * Slots that the plugin does not have get the defaults of defaults_*.c.
 */
#include "uct/base/tables.h"

#include <string.h>

#include "uct/base/defaults.h"

typedef void (*uct_slot_t)(void);

_Static_assert(sizeof(uct_slot_t) == sizeof(void *),
               "slots of functions and of data have one size");
_Static_assert(offsetof(ucx_ep_ops_t, am_short) == sizeof(size_t),
               "slots follow the size without a gap");

/* Copies those slots of `from` that are not NULL to the table `to`. Slots
 * beyond the end of either table are ignored. Both tables consist of their size
 * and pointers. to_size and from_size: bytes of the tables. */
static void uct_slots_merge(void *to, size_t to_size, const void *from,
                            size_t from_size)
{
    size_t end = (from_size < to_size) ? from_size : to_size;
    size_t offset;
    uct_slot_t slot;

    for (offset = sizeof(size_t); offset + sizeof(slot) <= end;
         offset += sizeof(slot)) {
        memcpy(&slot, (const char *)from + offset, sizeof(slot));
        if (slot != NULL) {
            memcpy((char *)to + offset, &slot, sizeof(slot));
        }
    }
}

#define UCT_DEFINE_COMPLETE(_name, _type, _defaults) \
    void _name(_type *to, const _type *from) \
    { \
        *to = _defaults; \
        if (from != NULL) { \
            uct_slots_merge(to, sizeof(*to), from, from->size); \
        } \
        to->size = sizeof(*to); \
    }

UCT_DEFINE_COMPLETE(uct_md_ops_complete, ucx_md_ops_t, uct_default_md_ops)
UCT_DEFINE_COMPLETE(uct_iface_ops_complete, ucx_iface_ops_t,
                    uct_default_iface_ops)
UCT_DEFINE_COMPLETE(uct_ep_ops_complete, ucx_ep_ops_t, uct_default_ep_ops)

void uct_cm_ops_complete(ucx_cm_ops_t *to, const ucx_cm_ops_t *from)
{
    *to = uct_default_cm_ops;
    if (from != NULL) {
        uct_slots_merge(to, sizeof(*to), from, from->size);
    }
    to->size   = sizeof(*to);
    to->ep_ops = NULL;
}

/* Copies the members that exist both in the plugin's version of the structure
 * (`from`) and in the core's (`to`). Sets the other members of `to` to zero. */
static void uct_desc_copy(void *to, size_t to_size, const void *from,
                          size_t from_size)
{
    memset(to, 0, to_size);
    memcpy(to, from, (from_size < to_size) ? from_size : to_size);
    memcpy(to, &to_size, sizeof(to_size));
}

void uct_component_desc_complete(ucx_component_t *to,
                                 const ucx_component_t *from)
{
    uct_desc_copy(to, sizeof(*to), from, from->size);
}

void uct_transport_desc_complete(ucx_transport_t *to,
                                 const ucx_transport_t *from)
{
    uct_desc_copy(to, sizeof(*to), from, from->size);
}

/* True if a table is NULL, too small to have the slot, or has NULL in it. */
#define UCT_LACKS(_table, _slot) \
    (((_table) == NULL) || !UCX_TABLE_HAS(_table, _slot) || \
     ((_table)->_slot == NULL))

const char *uct_transport_missing_slot(const ucx_transport_t *transport)
{
    const ucx_iface_ops_t *iface_ops;
    const ucx_ep_ops_t *ep_ops;

    if (!UCX_TABLE_HAS(transport, ep_ops)) {
        return "ep_ops";
    }

    iface_ops = transport->iface_ops;
    ep_ops    = transport->ep_ops;
    return (transport->name == NULL)          ? "name" :
           (transport->query_devices == NULL) ? "query_devices" :
           (transport->iface_open == NULL)    ? "iface_open" :
           UCT_LACKS(iface_ops, close)        ? "iface_ops.close" :
           UCT_LACKS(iface_ops, query)        ? "iface_ops.query" :
           UCT_LACKS(iface_ops, ep_create)    ? "iface_ops.ep_create" :
           UCT_LACKS(iface_ops, flush)        ? "iface_ops.flush" :
           UCT_LACKS(ep_ops, destroy)         ? "ep_ops.destroy" :
                                                NULL;
}
