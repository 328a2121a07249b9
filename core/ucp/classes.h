/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of all classes of operations. A new class is a new folder and a new
 * row here. The table of their descriptions (core/classes.c), and the memory
 * that each class has in a worker and in an endpoint (base/worker.h, base/ep.h)
 * are made from this list. This file is the only one that names all classes.
 *
 * The order of the rows matters: the first class that recognizes a receive
 * cancels or describes it, and if protocols have equal costs, that of the first
 * class is selected. The classes of small messages come first, so that their
 * state is near the hot members of the worker.
 */
#ifndef UCP_CLASSES_H
#define UCP_CLASSES_H

/**
 * row(name, worker, ep, bits)
 *
 *   name    the class's description is ucp_NAME_class
 *   worker  bytes of its state in a worker: UCP_AREA_ACCESSOR(...,
 *           struct ucp_worker, areas.NAME, ...)
 *   ep      bytes of its state in an endpoint: struct ucp_ep, areas.NAME
 *   bits    further bytes in an endpoint, which are not aligned:
 *           struct ucp_ep, bits.NAME
 *
 * A class whose structure is larger than these bytes does not compile.
 */
/* clang-format off */
#define UCP_CLASSES(row) \
    row(tag,    288,  0, 0) \
    row(am,      64,  0, 0) \
    row(stream, 136,  8, 0) \
    row(rma,     40, 16, 2) \
    row(amo,      0,  0, 0) \
    row(rndv,     0,  0, 0) \
    row(multi,    0, 16, 0) \
    row(learn,    8,  0, 0) \
    row(wireup, 160,  8, 0) \
    row(cm,       8,  0, 0) \
    row(end,      0,  0, 0)
/* clang-format on */

/** Flags of requests that one class sets and reads. The flags of a request are
 *  bits of one word: they are listed together, so that no bit is used twice.
 *  base/request.h has the flags with a meaning for all classes. */
enum {
    /** tag: posted receive, may be cancelled */
    UCP_REQUEST_FLAG_EXPECTED  = 1 << 5,
    /** rndv: announced, the peer may reply */
    UCP_REQUEST_FLAG_ANNOUNCED = 1 << 8,
    /** stream: receive posted on a stream, may be cancelled */
    UCP_REQUEST_FLAG_STREAM    = 1 << 9,
    /** tag: receive whose fragments are arriving, may be cancelled */
    UCP_REQUEST_FLAG_ARRIVING  = 1 << 10,
    /** rndv: receive that is matched with an announcement */
    UCP_REQUEST_FLAG_BY_RNDV   = 1 << 11,
};

#endif
