/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words that manifests of plugins use for operations, capabilities and
 * peers, and the flags of the UCT API that the words stand for. The schema of
 * manifests (sdk/manifest.schema.json) lists the same words; a test compares
 * the lists here with those of the schema.
 */
#include "uct/plugin/manifest.h"

#include <string.h>

#include <ucs/memory/memory_type.h>
#include <uct/api/uct.h>

const char *const uct_manifest_operations[] = {
    "am_short",        "am_bcopy",        "am_zcopy",
    "put_short",       "put_bcopy",       "put_zcopy",
    "get_short",       "get_bcopy",       "get_zcopy",
    "atomic32_post",   "atomic32_fetch",  "atomic64_post",
    "atomic64_fetch",  "tag_eager_short", "tag_eager_bcopy",
    "tag_eager_zcopy", "tag_rndv_zcopy",  NULL,
};

/* Interface flag of each word in uct_manifest_operations. It is 0 for atomics,
 * for which uct_iface_attr_t has masks of operations instead of flags. */
static const uint64_t operation_flags[] = {UCT_IFACE_FLAG_AM_SHORT,
                                           UCT_IFACE_FLAG_AM_BCOPY,
                                           UCT_IFACE_FLAG_AM_ZCOPY,
                                           UCT_IFACE_FLAG_PUT_SHORT,
                                           UCT_IFACE_FLAG_PUT_BCOPY,
                                           UCT_IFACE_FLAG_PUT_ZCOPY,
                                           UCT_IFACE_FLAG_GET_SHORT,
                                           UCT_IFACE_FLAG_GET_BCOPY,
                                           UCT_IFACE_FLAG_GET_ZCOPY,
                                           0,
                                           0,
                                           0,
                                           0,
                                           UCT_IFACE_FLAG_TAG_EAGER_SHORT,
                                           UCT_IFACE_FLAG_TAG_EAGER_BCOPY,
                                           UCT_IFACE_FLAG_TAG_EAGER_ZCOPY,
                                           UCT_IFACE_FLAG_TAG_RNDV_ZCOPY};

const char *const uct_manifest_tl_capabilities[] = {"pending",
                                                    "connect_to_iface",
                                                    "connect_to_ep",
                                                    "connect_to_sockaddr",
                                                    "am_dup",
                                                    "cb_sync",
                                                    "cb_async",
                                                    "atomic_cpu",
                                                    "atomic_device",
                                                    "ep_check",
                                                    "ep_keepalive",
                                                    "peer_failure",
                                                    "device_ep",
                                                    "event_send_comp",
                                                    "event_recv",
                                                    "event_recv_sig",
                                                    "event_fd",
                                                    "event_async_cb",
                                                    NULL};

/* Interface flag of each word in uct_manifest_tl_capabilities; 0 for the words
 * of events, whose flags are in event_flags[]. The arrays are separate because
 * event flags and interface flags have overlapping values. */
static const uint64_t capability_flags[] = {
    UCT_IFACE_FLAG_PENDING,
    UCT_IFACE_FLAG_CONNECT_TO_IFACE,
    UCT_IFACE_FLAG_CONNECT_TO_EP,
    UCT_IFACE_FLAG_CONNECT_TO_SOCKADDR,
    UCT_IFACE_FLAG_AM_DUP,
    UCT_IFACE_FLAG_CB_SYNC,
    UCT_IFACE_FLAG_CB_ASYNC,
    UCT_IFACE_FLAG_ATOMIC_CPU,
    UCT_IFACE_FLAG_ATOMIC_DEVICE,
    UCT_IFACE_FLAG_EP_CHECK,
    UCT_IFACE_FLAG_EP_KEEPALIVE,
    UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE,
    UCT_IFACE_FLAG_DEVICE_EP,
    0,
    0,
    0,
    0,
    0,
};

/* Event flag of each word in uct_manifest_tl_capabilities; 0 for words that do
 * not describe an event. */
static const uint64_t event_flags[] = {0,
                                       0,
                                       0,
                                       0,
                                       0,
                                       0,
                                       0,
                                       0,
                                       0,
                                       0,
                                       0,
                                       0,
                                       0,
                                       UCT_IFACE_FLAG_EVENT_SEND_COMP,
                                       UCT_IFACE_FLAG_EVENT_RECV,
                                       UCT_IFACE_FLAG_EVENT_RECV_SIG,
                                       UCT_IFACE_FLAG_EVENT_FD,
                                       UCT_IFACE_FLAG_EVENT_ASYNC_CB};

const char *const uct_manifest_md_capabilities[] = {
    "alloc",      "reg",      "need_memh", "need_rkey",  "advise",
    "fixed",      "rkey_ptr", "sockaddr",  "invalidate", "exported_mkey",
    "reg_dmabuf", "detect",   NULL,
};

/* Memory-domain flag of each word in uct_manifest_md_capabilities. The word
 * "detect" (the domain can detect memory types) has no flag: uct_md_query()
 * returns this capability as the mask cap.detect_mem_types. */
static const uint64_t md_flags[] = {
    UCT_MD_FLAG_ALLOC,         UCT_MD_FLAG_REG,        UCT_MD_FLAG_NEED_MEMH,
    UCT_MD_FLAG_NEED_RKEY,     UCT_MD_FLAG_ADVISE,     UCT_MD_FLAG_FIXED,
    UCT_MD_FLAG_RKEY_PTR,      UCT_MD_FLAG_SOCKADDR,   UCT_MD_FLAG_INVALIDATE,
    UCT_MD_FLAG_EXPORTED_MKEY, UCT_MD_FLAG_REG_DMABUF, 0,
};

_Static_assert(sizeof(operation_flags) / sizeof(uint64_t) + 1 ==
                   sizeof(uct_manifest_operations) / sizeof(const char *),
               "one flag for each operation");
_Static_assert(sizeof(event_flags) == sizeof(capability_flags),
               "one event flag, or none, for each capability");
_Static_assert(sizeof(md_flags) / sizeof(uint64_t) + 1 ==
                   sizeof(uct_manifest_md_capabilities) / sizeof(const char *),
               "one flag for each capability");
_Static_assert(sizeof(capability_flags) / sizeof(uint64_t) + 1 ==
                   sizeof(uct_manifest_tl_capabilities) / sizeof(const char *),
               "one flag for each capability");

const char *const uct_manifest_reaches[] = {"self", "node", "network", NULL};

uint64_t uct_manifest_word_bit(const char *const *list, const char *word)
{
    unsigned i;

    for (i = 0; list[i] != NULL; ++i) {
        if (!strcmp(list[i], word)) {
            return 1ull << i;
        }
    }
    return 0;
}

/* Returns the union of all flags[i] for which bit i of `bits` is set. */
static uint64_t flags_of(const uint64_t *flags, unsigned count, uint64_t bits)
{
    uint64_t result = 0;
    unsigned i;

    for (i = 0; i < count; ++i) {
        if (bits & (1ull << i)) {
            result |= flags[i];
        }
    }
    return result;
}

uint64_t uct_manifest_iface_flags(const uct_manifest_transport_t *transport)
{
    uint64_t result;

    result = flags_of(operation_flags,
                      sizeof(operation_flags) / sizeof(operation_flags[0]),
                      transport->operations) |
             flags_of(capability_flags,
                      sizeof(capability_flags) / sizeof(capability_flags[0]),
                      transport->capabilities);
    if (transport->reach & UCT_REACH_NETWORK) {
        result |= UCT_IFACE_FLAG_INTER_NODE;
    }
    return result;
}

uint64_t uct_manifest_event_flags(const uct_manifest_transport_t *transport)
{
    return flags_of(event_flags, sizeof(event_flags) / sizeof(event_flags[0]),
                    transport->capabilities);
}

uint64_t uct_manifest_md_flags(const uct_manifest_component_t *component)
{
    return flags_of(md_flags, sizeof(md_flags) / sizeof(md_flags[0]),
                    component->capabilities);
}

uct_device_type_t
uct_manifest_device_type(const uct_manifest_transport_t *transport)
{
    /* In the order of uct_device_type_t, so that the position is the type. */
    static const char *const words[] = {"network", "shm", "acc", "self", NULL};
    uint64_t bit = uct_manifest_word_bit(words, transport->device_class);

    /* The schema accepts an unknown word only in a manifest of a newer minor
     * ABI version; such a device counts as a network device. */
    return (bit == 0) ? UCT_DEVICE_TYPE_NET :
                        (uct_device_type_t)__builtin_ctzll(bit);
}

int uct_names_has(const uct_names_t *list, const char *name)
{
    unsigned i;

    for (i = 0; i < list->count; ++i) {
        if (!strcmp(list->name[i], name)) {
            return 1;
        }
    }
    return 0;
}
