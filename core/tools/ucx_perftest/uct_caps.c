/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks whether a transport has the capabilities that a test requires. If it
 * does not have the layout (-D), the error lists the possible layouts. */
#include "uct_side.h"

#include <stdio.h>

/* Limits in bytes of active messages, put or get, for each layout (-D); 0: the
 * transport does not support the layout. */
struct limits {
    size_t most[4]; /* by enum params_layout */
    size_t min_zcopy;
    const char *what;
};

static size_t if_has(const struct uct_side *side, uint64_t flag, size_t limit)
{
    return (side->attr.cap.flags & flag) ? limit : 0;
}

static struct limits limits_of(const struct uct_side *side, unsigned feature)
{
    const uct_iface_attr_t *attr = &side->attr;

    if (feature == PERF_UCT_AM) {
        size_t brief = if_has(side, UCT_IFACE_FLAG_AM_SHORT,
                              attr->cap.am.max_short);

        return (struct limits){
            {brief, brief,
             if_has(side, UCT_IFACE_FLAG_AM_BCOPY, attr->cap.am.max_bcopy),
             if_has(side, UCT_IFACE_FLAG_AM_ZCOPY, attr->cap.am.max_zcopy)},
            attr->cap.am.min_zcopy,
            "active messages"};
    }
    if (feature == PERF_UCT_PUT) {
        return (struct limits){
            {if_has(side, UCT_IFACE_FLAG_PUT_SHORT, attr->cap.put.max_short), 0,
             if_has(side, UCT_IFACE_FLAG_PUT_BCOPY, attr->cap.put.max_bcopy),
             if_has(side, UCT_IFACE_FLAG_PUT_ZCOPY, attr->cap.put.max_zcopy)},
            attr->cap.put.min_zcopy,
            "put"};
    }
    return (struct limits){
        {if_has(side, UCT_IFACE_FLAG_GET_SHORT, attr->cap.get.max_short), 0,
         if_has(side, UCT_IFACE_FLAG_GET_BCOPY, attr->cap.get.max_bcopy),
         if_has(side, UCT_IFACE_FLAG_GET_ZCOPY, attr->cap.get.max_zcopy)},
        attr->cap.get.min_zcopy,
        "get"};
}

static ucs_status_t lacks_layout(struct perf_run *run,
                                 const struct limits *limits)
{
    static const char *names[] = {"short", "shortiov", "bcopy", "zcopy"};
    unsigned layout            = run->params.layout, i;
    char others[96]            = "";
    size_t used                = 0;

    for (i = 0; i < 4; ++i) {
        if (limits->most[i] >= params_size(&run->params)) {
            used += snprintf(others + used, sizeof(others) - used, "%s-D %s",
                             (used == 0) ? "" : ", ", names[i]);
        }
    }
    if (limits->most[layout] > 0) {
        return perf_error(run, UCS_ERR_UNSUPPORTED,
                          "%s of %s by %s has at "
                          "most %zu bytes; possible with this size: %s",
                          limits->what, run->params.transport, names[layout],
                          limits->most[layout],
                          (used == 0) ? "nothing" : others);
    }
    return perf_error(run, UCS_ERR_UNSUPPORTED,
                      "%s has no %s by %s; possible "
                      "with this size: %s",
                      run->params.transport, limits->what, names[layout],
                      (used == 0) ? "nothing" : others);
}

static ucs_status_t check_header(struct perf_run *run,
                                 const struct uct_side *side)
{
    if (side->header > side->size) {
        return perf_error(run, UCS_ERR_INVALID_PARAM,
                          "a message of %zu bytes "
                          "(-s) cannot hold a header of %zu (-H)",
                          side->size, side->header);
    }
    if ((run->params.layout == LAYOUT_SHORT) &&
        (side->header != UCT_SIDE_HEADER)) {
        return perf_error(run, UCS_ERR_INVALID_PARAM,
                          "short messages have a "
                          "header of 8 bytes, not of %zu (-H)",
                          side->header);
    }
    if ((run->params.layout == LAYOUT_ZCOPY) &&
        (side->header > side->attr.cap.am.max_hdr)) {
        return perf_error(run, UCS_ERR_INVALID_PARAM,
                          "%s takes headers of at "
                          "most %zu bytes (-H)",
                          run->params.transport, side->attr.cap.am.max_hdr);
    }
    if (!(side->attr.cap.flags &
          (UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY))) {
        return perf_error(run, UCS_ERR_UNSUPPORTED,
                          "%s has no active messages for the reply",
                          run->params.transport);
    }
    return UCS_OK;
}

static ucs_status_t check_atomics(struct perf_run *run,
                                  const struct uct_side *side)
{
    static const unsigned operations[] = {
        [PERF_UCT_ADD]   = UCT_ATOMIC_OP_ADD,
        [PERF_UCT_FADD]  = UCT_ATOMIC_OP_ADD,
        [PERF_UCT_SWAP]  = UCT_ATOMIC_OP_SWAP,
        [PERF_UCT_CSWAP] = UCT_ATOMIC_OP_CSWAP,
    };
    unsigned feature = run->test->features;
    uint64_t bit     = UINT64_C(1) << operations[feature];
    uint64_t flags;

    if (side->size == sizeof(uint32_t)) {
        flags = (feature == PERF_UCT_ADD) ? side->attr.cap.atomic32.op_flags :
                                            side->attr.cap.atomic32.fop_flags;
    } else {
        flags = (feature == PERF_UCT_ADD) ? side->attr.cap.atomic64.op_flags :
                                            side->attr.cap.atomic64.fop_flags;
    }
    return (flags & bit) ? UCS_OK :
                           perf_error(run, UCS_ERR_UNSUPPORTED,
                                      "%s does not do this atomic "
                                      "operation with %zu bytes",
                                      run->params.transport, side->size);
}

ucs_status_t uct_check_caps(struct perf_run *run, const struct uct_side *side)
{
    unsigned feature = run->test->features;
    struct limits limits;

    if (feature >= PERF_UCT_ADD) {
        return check_atomics(run, side);
    }
    limits = limits_of(side, feature);
    if ((limits.most[run->params.layout] == 0) ||
        (side->size > limits.most[run->params.layout])) {
        return lacks_layout(run, &limits);
    }
    if ((run->params.layout == LAYOUT_ZCOPY) &&
        (side->size < limits.min_zcopy)) {
        return perf_error(run, UCS_ERR_UNSUPPORTED,
                          "%s of %s by zcopy has at "
                          "least %zu bytes (-s)",
                          limits.what, run->params.transport, limits.min_zcopy);
    }
    return (feature == PERF_UCT_AM) ? check_header(run, side) : UCS_OK;
}
