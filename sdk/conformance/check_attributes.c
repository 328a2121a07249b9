/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules 10, 24 and 25 of sdk/ABI.md: an interface has no capability that the
 * manifest does not declare; each capability has its slots (function pointers
 * in the tables of operations) and valid limits; costs are finite numbers, in
 * the same units as those of the manifest.
 */
#include "offers.h"
#include "party.h"
#include "plugin.h"
#include "slots.h"

#include <math.h>
#include <stdio.h>
#include <ucs/sys/math.h>

#define ADDRESS_MAX 65536

/* Limits of the ratio of the same cost in the manifest and of an interface: the
 * larger one divided by the smaller one. A ratio above DECLARED_MAX is a
 * finding: the unit must be wrong. A ratio above DECLARED_NOTE is only a note,
 * because devices of one transport differ. */
#define DECLARED_MAX  1000.0
#define DECLARED_NOTE 10.0

/* All defined flags UCT_IFACE_FLAG_*, except those of events. */
#define KNOWN_FLAGS \
    (UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY | \
     UCT_IFACE_FLAG_AM_ZCOPY | UCT_IFACE_FLAG_PENDING | \
     UCT_IFACE_FLAG_PUT_SHORT | UCT_IFACE_FLAG_PUT_BCOPY | \
     UCT_IFACE_FLAG_PUT_ZCOPY | UCT_IFACE_FLAG_GET_SHORT | \
     UCT_IFACE_FLAG_GET_BCOPY | UCT_IFACE_FLAG_GET_ZCOPY | \
     UCT_IFACE_FLAG_ATOMIC_CPU | UCT_IFACE_FLAG_ATOMIC_DEVICE | \
     UCT_IFACE_FLAG_ERRHANDLE_SHORT_BUF | UCT_IFACE_FLAG_ERRHANDLE_BCOPY_BUF | \
     UCT_IFACE_FLAG_ERRHANDLE_ZCOPY_BUF | UCT_IFACE_FLAG_ERRHANDLE_AM_ID | \
     UCT_IFACE_FLAG_ERRHANDLE_REMOTE_MEM | \
     UCT_IFACE_FLAG_ERRHANDLE_BCOPY_LEN | \
     UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE | UCT_IFACE_FLAG_EP_CHECK | \
     UCT_IFACE_FLAG_CONNECT_TO_IFACE | UCT_IFACE_FLAG_CONNECT_TO_EP | \
     UCT_IFACE_FLAG_CONNECT_TO_SOCKADDR | UCT_IFACE_FLAG_AM_DUP | \
     UCT_IFACE_FLAG_CB_SYNC | UCT_IFACE_FLAG_CB_ASYNC | \
     UCT_IFACE_FLAG_EP_KEEPALIVE | UCT_IFACE_FLAG_TAG_EAGER_SHORT | \
     UCT_IFACE_FLAG_TAG_EAGER_BCOPY | UCT_IFACE_FLAG_TAG_EAGER_ZCOPY | \
     UCT_IFACE_FLAG_TAG_RNDV_ZCOPY | UCT_IFACE_FLAG_INTER_NODE | \
     UCT_IFACE_FLAG_DEVICE_EP)

/* Capabilities and the words for them in manifests. Findings use the words. */
static const struct {
    uint64_t flag;
    const char *word;
} words[] = {
    {UCT_IFACE_FLAG_AM_SHORT, "am_short"},
    {UCT_IFACE_FLAG_AM_BCOPY, "am_bcopy"},
    {UCT_IFACE_FLAG_AM_ZCOPY, "am_zcopy"},
    {UCT_IFACE_FLAG_PUT_SHORT, "put_short"},
    {UCT_IFACE_FLAG_PUT_BCOPY, "put_bcopy"},
    {UCT_IFACE_FLAG_PUT_ZCOPY, "put_zcopy"},
    {UCT_IFACE_FLAG_GET_SHORT, "get_short"},
    {UCT_IFACE_FLAG_GET_BCOPY, "get_bcopy"},
    {UCT_IFACE_FLAG_GET_ZCOPY, "get_zcopy"},
    {UCT_IFACE_FLAG_TAG_EAGER_SHORT, "tag_eager_short"},
    {UCT_IFACE_FLAG_TAG_EAGER_BCOPY, "tag_eager_bcopy"},
    {UCT_IFACE_FLAG_TAG_EAGER_ZCOPY, "tag_eager_zcopy"},
    {UCT_IFACE_FLAG_TAG_RNDV_ZCOPY, "tag_rndv_zcopy"},
    {UCT_IFACE_FLAG_PENDING, "pending"},
    {UCT_IFACE_FLAG_CONNECT_TO_IFACE, "connect_to_iface"},
    {UCT_IFACE_FLAG_CONNECT_TO_EP, "connect_to_ep"},
    {UCT_IFACE_FLAG_CONNECT_TO_SOCKADDR, "connect_to_sockaddr"},
    {UCT_IFACE_FLAG_AM_DUP, "am_dup"},
    {UCT_IFACE_FLAG_CB_SYNC, "cb_sync"},
    {UCT_IFACE_FLAG_CB_ASYNC, "cb_async"},
    {UCT_IFACE_FLAG_ATOMIC_CPU, "atomic_cpu"},
    {UCT_IFACE_FLAG_ATOMIC_DEVICE, "atomic_device"},
    {UCT_IFACE_FLAG_EP_CHECK, "ep_check"},
    {UCT_IFACE_FLAG_EP_KEEPALIVE, "ep_keepalive"},
    {UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE, "peer_failure"},
    {UCT_IFACE_FLAG_DEVICE_EP, "device_ep"},
};

/* Writes the words for `flags` to `text`, separated by commas. */
static const char *words_of(uint64_t flags, char *text, size_t size)
{
    size_t length = 0;
    unsigned i;

    text[0] = '\0';
    for (i = 0; (i < ucs_static_array_size(words)) && (length < size); ++i) {
        if (flags & words[i].flag) {
            length += (size_t)snprintf(text + length, size - length, "%s%s",
                                       (length == 0) ? "" : ", ",
                                       words[i].word);
        }
    }
    return text;
}

/* Adds a note for capabilities that the manifest declares and this device does
 * not have. That is permitted, but the core selects transports by the
 * manifest. */
static void note_unused(run_t *run, const uct_iface_attr_t *attr)
{
    const uint64_t flags = run_transport(run)->iface_flags & ~attr->cap.flags;
    char text[256];

    if (words_of(flags, text, sizeof(text))[0] != '\0') {
        check_note(run, "declared by the manifest, but not offered here: %s",
                   text);
    }
}

static void check_declared(run_t *run, const uct_iface_attr_t *attr)
{
    const ucx_manifest_transport_t *tl = run_transport(run);
    const ucx_manifest_flags_t *known  = &run->target->manifest->known;
    const struct {
        uint64_t flags;
        unsigned declared;
        const char *word;
    } atomics[] = {
        {attr->cap.atomic32.op_flags, UCX_MANIFEST_ATOMIC32_POST,
         "atomic32_post"},
        {attr->cap.atomic32.fop_flags, UCX_MANIFEST_ATOMIC32_FETCH,
         "atomic32_fetch"},
        {attr->cap.atomic64.op_flags, UCX_MANIFEST_ATOMIC64_POST,
         "atomic64_post"},
        {attr->cap.atomic64.fop_flags, UCX_MANIFEST_ATOMIC64_FETCH,
         "atomic64_fetch"},
    };
    uint64_t flags;
    char text[256];
    unsigned i;

    /* A manifest cannot declare flags that have no word in its schema */
    flags = attr->cap.flags & known->iface & ~tl->iface_flags;
    check_that(run, 10, flags == 0,
               "the interface can do what the manifest "
               "does not declare: %s",
               words_of(flags, text, sizeof(text)));

    flags = attr->cap.event_flags & known->event & ~tl->event_flags;
    check_that(run, 10, flags == 0,
               "the interface has events that the "
               "manifest does not declare (UCT_IFACE_FLAG_EVENT_* 0x%llx)",
               (unsigned long long)flags);

    for (i = 0; i < ucs_static_array_size(atomics); ++i) {
        check_that(run, 10,
                   (atomics[i].flags == 0) ||
                       (tl->atomics & atomics[i].declared),
                   "the interface has %s, which the manifest does not declare",
                   atomics[i].word);
    }
}

/* Checks the limits of one class of operations; the structures of the three
 * classes have the same members. */
#define check_class(_run, _attr, _class, _CLASS) \
    do { \
        const uint64_t _flags = (_attr)->cap.flags; \
\
        if (_flags & UCT_IFACE_FLAG_##_CLASS##_SHORT) { \
            check_that(_run, 25, (_attr)->cap._class.max_short > 0, \
                       #_class "_short is there, its max_short is 0"); \
        } \
        if (_flags & UCT_IFACE_FLAG_##_CLASS##_BCOPY) { \
            check_that(_run, 25, (_attr)->cap._class.max_bcopy > 0, \
                       #_class "_bcopy is there, its max_bcopy is 0"); \
        } \
        if (_flags & UCT_IFACE_FLAG_##_CLASS##_ZCOPY) { \
            check_zcopy(_run, #_class, (_attr)->cap._class.min_zcopy, \
                        (_attr)->cap._class.max_zcopy, \
                        (_attr)->cap._class.max_iov, \
                        (_attr)->cap._class.opt_zcopy_align, \
                        (_attr)->cap._class.align_mtu); \
        } \
    } while (0)

static void check_zcopy(run_t *run, const char *name, size_t min, size_t max,
                        size_t max_iov, size_t align, size_t mtu)
{
    check_that(run, 25, (max > 0) && (min <= max),
               "%s_zcopy is there for %zu to %zu bytes", name, min, max);
    check_that(run, 25, max_iov > 0, "%s_zcopy is there, its max_iov is 0",
               name);
    check_that(run, 25, (align == 0) || ucs_is_pow2(align),
               "%s: opt_zcopy_align %zu is no power of two", name, align);
    check_that(run, 25, (mtu == 0) || (align <= mtu) || (mtu == 1),
               "%s: align_mtu %zu is below opt_zcopy_align %zu", name, mtu,
               align);
}

static void check_limits(run_t *run, const uct_iface_attr_t *attr)
{
    const uint64_t flags = attr->cap.flags;

    check_class(run, attr, am, AM);
    check_class(run, attr, put, PUT);
    check_class(run, attr, get, GET);
    check_that(run, 25,
               !(flags & UCT_IFACE_FLAG_AM_SHORT) ||
                   (attr->cap.am.max_short >= sizeof(uint64_t)),
               "am_short takes %zu bytes: its header alone has 8",
               attr->cap.am.max_short);
    check_that(run, 25,
               !(flags & UCT_IFACE_FLAG_AM_ZCOPY) ||
                   (attr->cap.am.max_hdr <= attr->cap.am.max_zcopy),
               "a header of am_zcopy may be longer (%zu) than a message (%zu)",
               attr->cap.am.max_hdr, attr->cap.am.max_zcopy);
    check_that(run, 25, attr->device_addr_len <= ADDRESS_MAX,
               "a device address of %zu bytes", attr->device_addr_len);
    check_that(run, 25, attr->iface_addr_len <= ADDRESS_MAX,
               "an interface address of %zu bytes", attr->iface_addr_len);
    check_that(run, 25,
               !(flags & UCT_IFACE_FLAG_CONNECT_TO_EP) ||
                   ((attr->ep_addr_len > 0) &&
                    (attr->ep_addr_len <= ADDRESS_MAX)),
               "endpoints are connected by addresses of %zu bytes",
               attr->ep_addr_len);
    check_that(run, 25, attr->max_num_eps > 0, "max_num_eps is 0");
    check_that(run, 25, attr->dev_num_paths > 0, "dev_num_paths is 0");
}

static void check_flags(run_t *run, const uct_iface_attr_t *attr)
{
    const uint64_t flags = attr->cap.flags;
    const uint64_t am    = UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY |
                        UCT_IFACE_FLAG_AM_ZCOPY;
    const uint64_t sources = UCT_IFACE_FLAG_EVENT_SEND_COMP |
                             UCT_IFACE_FLAG_EVENT_RECV |
                             UCT_IFACE_FLAG_EVENT_RECV_SIG;
    const uint64_t ways = UCT_IFACE_FLAG_EVENT_FD |
                          UCT_IFACE_FLAG_EVENT_ASYNC_CB;
    const uint64_t events  = attr->cap.event_flags;
    const uint64_t atomics = attr->cap.atomic32.op_flags |
                             attr->cap.atomic32.fop_flags |
                             attr->cap.atomic64.op_flags |
                             attr->cap.atomic64.fop_flags;

    check_that(run, 25, !(flags & ~KNOWN_FLAGS),
               "flags without meaning: 0x%llx",
               (unsigned long long)(flags & ~KNOWN_FLAGS));
    check_that(run, 25, !(events & ~(sources | ways)),
               "event flags without meaning: 0x%llx",
               (unsigned long long)(events & ~(sources | ways)));
    check_that(run, 25,
               flags & (UCT_IFACE_FLAG_CONNECT_TO_IFACE |
                        UCT_IFACE_FLAG_CONNECT_TO_EP |
                        UCT_IFACE_FLAG_CONNECT_TO_SOCKADDR),
               "there is no way to connect");
    check_that(run, 25,
               !(flags & am) ||
                   (flags & (UCT_IFACE_FLAG_CB_SYNC | UCT_IFACE_FLAG_CB_ASYNC)),
               "it has active messages, but neither CB_SYNC nor CB_ASYNC");
    check_that(run, 25, !(events & sources) == !(events & ways),
               "events need both something to report and a way to report it");
    check_that(run, 25, (atomics >> UCT_ATOMIC_OP_LAST) == 0,
               "atomic operations that do not exist");
    check_that(run, 25,
               (atomics == 0) || (flags & (UCT_IFACE_FLAG_ATOMIC_CPU |
                                           UCT_IFACE_FLAG_ATOMIC_DEVICE)),
               "it has atomics, but neither ATOMIC_CPU nor ATOMIC_DEVICE");
}

/* Checks that each capability of the interface has its slots. */
static void check_slots(run_t *run, const uct_iface_attr_t *attr)
{
    const ucx_transport_t *tl = offers_transport(run, plugin_load(run));

    if (tl != NULL) {
        offers_check_slots(run, 25, "the interface advertises", tl,
                           attr->cap.flags, attr->cap.event_flags);
    }
}

static int is_cost(double value)
{
    return isfinite(value) && (value >= 0);
}

static void check_stated_costs(run_t *run, const uct_iface_attr_t *attr)
{
    check_that(run, 25, is_cost(attr->overhead), "overhead is %g",
               attr->overhead);
    check_that(run, 25, is_cost(attr->latency.c) && is_cost(attr->latency.m),
               "latency is %g + %g * endpoints", attr->latency.c,
               attr->latency.m);
    check_that(run, 25,
               is_cost(attr->bandwidth.dedicated) &&
                   is_cost(attr->bandwidth.shared) &&
                   (attr->bandwidth.dedicated + attr->bandwidth.shared > 0),
               "bandwidth is %g dedicated, %g shared",
               attr->bandwidth.dedicated, attr->bandwidth.shared);
}

/* Compares a cost in the manifest, one typical value for all devices, with the
 * cost that this interface states. Both are in SI units; `unit` converts them
 * to the unit of the manifest for output. `declared` is 0 if the manifest does
 * not contain the cost. */
static void compare_declared(run_t *run, const char *member, double unit,
                             double declared, double stated)
{
    double ratio;

    if ((declared <= 0) || (stated <= 0)) {
        return;
    }
    ratio = fmax(declared, stated) / fmin(declared, stated);
    check_that(run, 24, ratio <= DECLARED_MAX,
               "the manifest has %s %g, the interface %g", member,
               declared / unit, stated / unit);
    if ((ratio > DECLARED_NOTE) && (ratio <= DECLARED_MAX)) {
        check_note(run, "the manifest has %s %g, this interface %g", member,
                   declared / unit, stated / unit);
    }
}

static void check_declared_costs(run_t *run, const uct_iface_attr_t *attr)
{
    const ucx_manifest_transport_t *tl = run_transport(run);

    compare_declared(run, "latency_ns", 1e-9, tl->latency,
                     attr->latency.c + attr->latency.m + 2 * attr->overhead);
    compare_declared(run, "bandwidth_mbps", 1e6, tl->bandwidth,
                     attr->bandwidth.dedicated + attr->bandwidth.shared);
}

/* Operations that have their own capability. Atomics, which do not, are
 * missing. */
static const struct {
    uint64_t flag;
    ucx_op_t op;
} estimated[] = {
    {UCT_IFACE_FLAG_AM_SHORT, UCX_OP_AM_SHORT},
    {UCT_IFACE_FLAG_AM_BCOPY, UCX_OP_AM_BCOPY},
    {UCT_IFACE_FLAG_AM_ZCOPY, UCX_OP_AM_ZCOPY},
    {UCT_IFACE_FLAG_PUT_SHORT, UCX_OP_PUT_SHORT},
    {UCT_IFACE_FLAG_PUT_BCOPY, UCX_OP_PUT_BCOPY},
    {UCT_IFACE_FLAG_PUT_ZCOPY, UCX_OP_PUT_ZCOPY},
    {UCT_IFACE_FLAG_GET_SHORT, UCX_OP_GET_SHORT},
    {UCT_IFACE_FLAG_GET_BCOPY, UCX_OP_GET_BCOPY},
    {UCT_IFACE_FLAG_GET_ZCOPY, UCX_OP_GET_ZCOPY},
    {UCT_IFACE_FLAG_TAG_EAGER_SHORT, UCX_OP_TAG_SHORT},
    {UCT_IFACE_FLAG_TAG_EAGER_BCOPY, UCX_OP_TAG_BCOPY},
    {UCT_IFACE_FLAG_TAG_EAGER_ZCOPY, UCX_OP_TAG_ZCOPY},
};

static int is_offered(const uct_iface_attr_t *attr, ucx_op_t op)
{
    unsigned i;

    for (i = 0; i < ucs_static_array_size(estimated); ++i) {
        if (estimated[i].op == op) {
            return (attr->cap.flags & estimated[i].flag) != 0;
        }
    }
    return ((op == UCX_OP_ATOMIC_FETCH) ?
                (attr->cap.atomic32.fop_flags | attr->cap.atomic64.fop_flags) :
                (attr->cap.atomic32.op_flags | attr->cap.atomic64.op_flags)) !=
           0;
}

static void check_estimates(run_t *run, party_t *party)
{
    ucx_perf_t perf;
    ucx_op_t op;

    for (op = UCX_OP_AM_SHORT; op <= UCX_OP_TAG_ZCOPY; ++op) {
        check_doing(run, "estimating the cost of operation %u", op);
        if (is_offered(party->attr, op) &&
            (slots_estimate(party->iface, party->attr, op, &perf) == UCS_OK)) {
            check_that(run, 25,
                       is_cost(perf.send_pre_overhead) &&
                           is_cost(perf.send_post_overhead) &&
                           is_cost(perf.recv_overhead) &&
                           is_cost(perf.latency.c) && is_cost(perf.latency.m) &&
                           is_cost(perf.bandwidth.dedicated) &&
                           is_cost(perf.bandwidth.shared),
                       "the estimate for operation %u is no cost", op);
        }
    }
}

void check_attributes(run_t *run)
{
    static party_t party;

    if (!party_open(run, &party, 0)) {
        return;
    }
    check_declared(run, party.attr);
    note_unused(run, party.attr);
    check_limits(run, party.attr);
    check_flags(run, party.attr);
    check_slots(run, party.attr);
    check_stated_costs(run, party.attr);
    check_declared_costs(run, party.attr);
    check_estimates(run, &party);
    party_close(&party);
}
