/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of all classes of operations. A class is, for example, tagged
 * messages, streams, or the rendezvous that several of them use; each has a
 * folder of its own in core/ucp. A new class is a new folder and a new row
 * here. The table of their descriptions (core/classes.c), and the memory that
 * each class has in a worker and in an endpoint (base/worker.h, base/ep.h) are
 * made from this list. This file is the only one that names all classes.
 *
 * The order of the rows matters. A request to cancel or describe a receive goes
 * to the classes in this order, until one of them recognizes the receive. Of
 * protocols with equal costs, the one of the earliest class is selected. The
 * classes of small messages come first, so that their state is near the members
 * of the worker that every message uses.
 */
#ifndef UCP_CLASSES_H
#define UCP_CLASSES_H

/**
 * row(name, worker, ep, bits)
 *
 *   name    the class's description is ucp_NAME_class
 *   worker  bytes of its state in a worker (member areas.NAME of ucp_worker);
 *           the class accesses it by UCP_AREA_ACCESSOR (base/area.h)
 *   ep      bytes of its state in an endpoint (member areas.NAME of ucp_ep)
 *   bits    further bytes in an endpoint, which are not aligned (member
 *           bits.NAME of ucp_ep)
 *
 * If the structure of a class is larger than these bytes, its UCP_AREA_ACCESSOR
 * does not compile.
 */
/* clang-format off */
#define UCP_CLASSES(row) \
    row(tag,    296,  0, 1) \
    row(am,      64,  0, 0) \
    row(stream, 136,  8, 0) \
    row(rma,     40, 16, 2) \
    row(amo,      0,  0, 0) \
    row(rndv,     0,  0, 0) \
    row(multi,    0, 24, 0) \
    row(learn,    8,  0, 0) \
    row(wireup, 160,  8, 0) \
    row(cm,       8,  0, 0) \
    row(end,      0,  0, 0)
/* clang-format on */

/** Flags of requests that one class sets and reads; each comment begins with
 *  the name of the class. The flags of a request are bits of one word, so they
 *  are listed together here, and no bit is used twice. base/request.h has the
 *  flags with a meaning for all classes. */
enum {
    /** tag: posted receive, may be cancelled */
    UCP_REQUEST_FLAG_EXPECTED  = 1 << 5,
    /** rndv: send whose announcement (RTS) was sent; the receiver may refer to
     *  the request */
    UCP_REQUEST_FLAG_ANNOUNCED = 1 << 8,
    /** stream: receive posted on a stream, may be cancelled */
    UCP_REQUEST_FLAG_STREAM    = 1 << 9,
    /** tag: receive of a message whose data has not all arrived: a message in
     *  fragments, or a fetched one (tag/fetch.h) */
    UCP_REQUEST_FLAG_ARRIVING  = 1 << 10,
    /** rndv: receive whose data arrives by rendezvous */
    UCP_REQUEST_FLAG_BY_RNDV   = 1 << 11,
    /** tag: posted receive that is also posted to a transport
     *  (tag/offload.h) */
    UCP_REQUEST_FLAG_OFFLOADED = 1 << 14,
};

#endif
