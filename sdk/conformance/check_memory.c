/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and get of every kind that the interface supports, with lengths at and
 * between their limits, to and from memory of the peer. Checks each byte, and
 * that the bytes around the range do not change.
 */
#include "peer.h"
#include "remote.h"
#include "slots.h"

#include <stdlib.h>
#include <string.h>

#include "pattern.h"

#define SHOWN_SIZE (PARTY_ZCOPY_MAX + 4096) /* Bytes that the peer provides */
#define GUARD      64 /* Number of bytes on each side that must not change */

typedef enum rma_op {
    PUT_SHORT,
    PUT_BCOPY,
    PUT_ZCOPY,
    GET_SHORT,
    GET_BCOPY,
    GET_ZCOPY,
    RMA_OPS,
} rma_op_t;

static const struct {
    const char *name;
    uint64_t flag;
} rma_ops[] = {
    {"put_short", UCT_IFACE_FLAG_PUT_SHORT},
    {"put_bcopy", UCT_IFACE_FLAG_PUT_BCOPY},
    {"put_zcopy", UCT_IFACE_FLAG_PUT_ZCOPY},
    {"get_short", UCT_IFACE_FLAG_GET_SHORT},
    {"get_bcopy", UCT_IFACE_FLAG_GET_BCOPY},
    {"get_zcopy", UCT_IFACE_FLAG_GET_ZCOPY},
};

static int is_put(rma_op_t op)
{
    return op <= PUT_ZCOPY;
}

static void range_of(const uct_iface_attr_t *attr, rma_op_t op, size_t *min_p,
                     size_t *max_p)
{
    const size_t mins[] = {0, 0, attr->cap.put.min_zcopy,
                           0, 0, attr->cap.get.min_zcopy};
    const size_t maxs[] = {attr->cap.put.max_short, attr->cap.put.max_bcopy,
                           attr->cap.put.max_zcopy, attr->cap.get.max_short,
                           attr->cap.get.max_bcopy, attr->cap.get.max_zcopy};

    *min_p = mins[op];
    *max_p = size_min(maxs[op], PARTY_ZCOPY_MAX);
}

typedef struct pack {
    const void *data;
    size_t length;
} pack_t;

static size_t pack_put(void *dest, void *arg)
{
    const pack_t *pack = arg;

    memcpy(dest, pack->data, pack->length);
    return pack->length;
}

static void unpack_get(void *arg, const void *data, size_t length)
{
    memcpy(arg, data, length);
}

/* Tries an operation once, with `length` bytes of the local buffer. */
static ucs_status_t try_op(remote_t *remote, rma_op_t op, size_t length,
                           uint64_t address, party_done_t *done)
{
    uct_ep_h ep         = remote->party->ep;
    char *data          = (char *)remote->local.address + GUARD;
    const uct_rkey_t rk = remote->key.rkey;
    const uct_iov_t iov = {
        .buffer = data,
        .length = length,
        .memh   = remote->local.memh,
        .count  = 1,
    };
    pack_t pack = {data, length};
    ssize_t packed;

    switch (op) {
    case PUT_SHORT:
        return uct_ep_put_short(ep, data, (unsigned)length, address, rk);
    case PUT_BCOPY:
        packed = uct_ep_put_bcopy(ep, pack_put, &pack, address, rk);
        return (packed < 0) ? (ucs_status_t)packed : UCS_OK;
    case PUT_ZCOPY:
        return uct_ep_put_zcopy(ep, &iov, 1, address, rk, &done->comp);
    case GET_SHORT:
        return uct_ep_get_short(ep, data, (unsigned)length, address, rk);
    case GET_BCOPY:
        return uct_ep_get_bcopy(ep, unpack_get, data, length, address, rk,
                                &done->comp);
    default:
        return uct_ep_get_zcopy(ep, &iov, 1, address, rk, &done->comp);
    }
}

static int run_op(remote_t *remote, rma_op_t op, size_t length,
                  uint64_t address)
{
    ucs_status_t status = UCS_ERR_NO_RESOURCE;
    party_done_t done;

    party_done_init(&done, remote->party);
    check_doing(remote->run, "%s of %zu bytes", rma_ops[op].name, length);
    party_wait(remote->party,
               (status = try_op(remote, op, length, address, &done)) !=
                   UCS_ERR_NO_RESOURCE,
               PARTY_PATIENCE);
    return remote_finish(remote, rma_ops[op].name, status, &done);
}

static void check_put(remote_t *remote, rma_op_t op, size_t length)
{
    const uint64_t address = remote->address + GUARD;
    char *data             = (char *)remote->local.address + GUARD;
    uint64_t bad;

    pattern_fill(data, length, 0, length);
    if (!remote_set(remote, remote->address, length + 2 * GUARD, 0) ||
        !run_op(remote, op, length, address) || !remote_flush(remote)) {
        return;
    }

    if (remote_check(remote, address, length, length, &bad)) {
        check_that(remote->run, 26, bad == length,
                   "%s of %zu bytes: byte %llu is wrong at the peer after a "
                   "flush",
                   rma_ops[op].name, length, (unsigned long long)bad);
    }
    if (remote_check(remote, remote->address, GUARD, 0, &bad)) {
        check_that(remote->run, 26, bad == GUARD,
                   "%s of %zu bytes has written before its place",
                   rma_ops[op].name, length);
    }
    if (remote_check(remote, address + length, GUARD, 0, &bad)) {
        check_that(remote->run, 26, bad == GUARD,
                   "%s of %zu bytes has written beyond its place",
                   rma_ops[op].name, length);
    }
}

static void check_get(remote_t *remote, rma_op_t op, size_t length)
{
    const uint64_t address = remote->address + GUARD;
    char *all              = remote->local.address;
    size_t bad, i;

    memset(all, 0x3c, length + 2 * GUARD);
    if (!remote_set(remote, address, length, length) ||
        !run_op(remote, op, length, address)) {
        return;
    }

    bad = pattern_find_bad(all + GUARD, length, 0, length);
    check_that(remote->run, 26, bad == length,
               "%s of %zu bytes: byte %zu is wrong", rma_ops[op].name, length,
               bad);
    for (i = 0; i < GUARD; ++i) {
        if (!check_that(remote->run, 26,
                        (all[i] == 0x3c) && (all[GUARD + length + i] == 0x3c),
                        "%s of %zu bytes has written around its place",
                        rma_ops[op].name, length)) {
            return;
        }
    }
}

static void check_op(remote_t *remote, rma_op_t op)
{
    size_t lengths[40], min, max, power;
    unsigned count = 0, i;

    range_of(remote->party->attr, op, &min, &max);
    lengths[count++] = size_max(min, 1);
    for (power = 8; (power <= max) && (count < 30); power *= 8) {
        if (power - 1 >= min) {
            lengths[count++] = power - 1;
            lengths[count++] = power;
        }
    }
    lengths[count++] = max;

    for (i = 0; (i < count) && !check_has_failed(remote->run); ++i) {
        if (is_put(op)) {
            check_put(remote, op, lengths[i]);
        } else {
            check_get(remote, op, lengths[i]);
        }
    }
}

void check_memory(run_t *run)
{
    static remote_t remote;
    static party_t party;
    static peer_t peer;
    unsigned there = 0;
    rma_op_t op;

    if (!conversation_begin(run, &peer, &party, 0)) {
        return;
    }

    for (op = PUT_SHORT; op < RMA_OPS; ++op) {
        there += !!(party.attr->cap.flags & rma_ops[op].flag);
    }
    if (there == 0) {
        check_skip(run, "it has neither put nor get");
    } else if ((slots_md_attr(party.md).flags & UCT_MD_FLAG_NEED_RKEY) &&
               !memory_is_possible(party.md)) {
        check_skip(run, "its keys are for memory that the processor cannot"
                        " access");
    } else if (remote_begin(run, &peer, &party, SHOWN_SIZE, &remote)) {
        for (op = PUT_SHORT; op < RMA_OPS; ++op) {
            if (party.attr->cap.flags & rma_ops[op].flag) {
                check_op(&remote, op);
            }
        }
        remote_end(&remote);
    }
    conversation_end(&peer, &party);
}
