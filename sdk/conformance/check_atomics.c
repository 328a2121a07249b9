/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomics: each operation that the interface supports changes the peer's word
 * correctly and, if it fetches, returns the old value.
 */
#include "peer.h"
#include "remote.h"

#include <inttypes.h>
#include <string.h>

static const char *const op_names[] = {"add", "and",  "or",
                                       "xor", "swap", "cswap"};

static const uint64_t operand = 0x0ff0aa5512345677ull;

typedef struct word {
    size_t size; /* 4 or 8 */
    uint64_t address;
    uint64_t value; /* Value that the word must have now */
} word_t;

/* Truncates a value to the size of the word. */
static uint64_t cut(const word_t *word, uint64_t value)
{
    return (word->size == sizeof(uint32_t)) ? (uint32_t)value : value;
}

/* Returns the value that the word must have after the operation. */
static uint64_t apply(const word_t *word, uct_atomic_op_t op, uint64_t value)
{
    switch (op) {
    case UCT_ATOMIC_OP_ADD:
        return cut(word, word->value + value);
    case UCT_ATOMIC_OP_AND:
        return cut(word, word->value & value);
    case UCT_ATOMIC_OP_OR:
        return cut(word, word->value | value);
    case UCT_ATOMIC_OP_XOR:
        return cut(word, word->value ^ value);
    default:
        return cut(word, value);
    }
}

static ucs_status_t post(remote_t *remote, const word_t *word,
                         uct_atomic_op_t op, uint64_t value)
{
    uct_ep_h ep = remote->party->ep;

    return (word->size == sizeof(uint32_t)) ?
               uct_ep_atomic32_post(ep, op, (uint32_t)value, word->address,
                                    remote->key.rkey) :
               uct_ep_atomic64_post(ep, op, value, word->address,
                                    remote->key.rkey);
}

/* `compare` is used by compare-and-swap only. */
static ucs_status_t fetch(remote_t *remote, const word_t *word,
                          uct_atomic_op_t op, uint64_t compare, uint64_t value,
                          void *result, uct_completion_t *comp)
{
    const uct_rkey_t rkey = remote->key.rkey;
    uct_ep_h ep           = remote->party->ep;

    if (word->size == sizeof(uint32_t)) {
        return (op == UCT_ATOMIC_OP_CSWAP) ?
                   uct_ep_atomic_cswap32(ep, (uint32_t)compare, (uint32_t)value,
                                         word->address, rkey, result, comp) :
                   uct_ep_atomic32_fetch(ep, op, (uint32_t)value, result,
                                         word->address, rkey, comp);
    }
    return (op == UCT_ATOMIC_OP_CSWAP) ?
               uct_ep_atomic_cswap64(ep, compare, value, word->address, rkey,
                                     result, comp) :
               uct_ep_atomic64_fetch(ep, op, value, result, word->address, rkey,
                                     comp);
}

static void check_post(remote_t *remote, word_t *word, uct_atomic_op_t op)
{
    ucs_status_t status = UCS_ERR_NO_RESOURCE;
    uint64_t found;

    check_doing(remote->run, "posting the atomic %s of %zu bytes", op_names[op],
                word->size);
    party_wait(remote->party,
               (status = post(remote, word, op, operand)) !=
                   UCS_ERR_NO_RESOURCE,
               PARTY_PATIENCE);
    if (!check_that(remote->run, 26, !UCS_STATUS_IS_ERR(status),
                    "posting %s of %zu bytes answers %s", op_names[op],
                    word->size, ucs_status_string(status)) ||
        !remote_flush(remote)) {
        return;
    }

    word->value = apply(word, op, operand);
    if (remote_word(remote, word->address, word->size, &found)) {
        check_that(remote->run, 26, found == word->value,
                   "after %s of %zu bytes there is %#" PRIx64 ", not %#" PRIx64,
                   op_names[op], word->size, found, word->value);
    }
}

static void check_fetch_with(remote_t *remote, word_t *word, uct_atomic_op_t op,
                             uint64_t compare, uint64_t value)
{
    ucs_status_t status = UCS_ERR_NO_RESOURCE;
    uint64_t found, old, result = 0;
    uint32_t result32;
    party_done_t done;

    party_done_init(&done, remote->party);
    check_doing(remote->run, "the fetching atomic %s of %zu bytes",
                op_names[op], word->size);
    party_wait(remote->party,
               (status = fetch(remote, word, op, compare, value, &result,
                               &done.comp)) != UCS_ERR_NO_RESOURCE,
               PARTY_PATIENCE);
    if (!remote_finish(remote, op_names[op], status, &done)) {
        return;
    }

    memcpy(&result32, &result, sizeof(result32));
    old = (word->size == sizeof(uint32_t)) ? result32 : result;
    check_that(remote->run, 26, old == word->value,
               "%s of %zu bytes fetches %#" PRIx64 ", there was %#" PRIx64,
               op_names[op], word->size, old, word->value);

    if ((op != UCT_ATOMIC_OP_CSWAP) || (word->value == compare)) {
        word->value = apply(word, op, value);
    }
    if (remote_word(remote, word->address, word->size, &found)) {
        check_that(remote->run, 26, found == word->value,
                   "after %s of %zu bytes there is %#" PRIx64 ", not %#" PRIx64,
                   op_names[op], word->size, found, word->value);
    }
}

static void check_fetch(remote_t *remote, word_t *word, uct_atomic_op_t op)
{
    if (op == UCT_ATOMIC_OP_CSWAP) {
        check_fetch_with(remote, word, op, cut(word, word->value + 1), operand);
        check_fetch_with(remote, word, op, word->value, cut(word, ~operand));
    } else {
        check_fetch_with(remote, word, op, 0, cut(word, operand));
    }
}

static void check_word(remote_t *remote, size_t size, uint64_t posts,
                       uint64_t fetches)
{
    word_t word = {.size = size, .address = remote->address + 64};
    uct_atomic_op_t op;

    if (!remote_set(remote, remote->address, 128, 0)) {
        return;
    }
    for (op = UCT_ATOMIC_OP_ADD; op < UCT_ATOMIC_OP_LAST; ++op) {
        if (posts & UCS_BIT(op)) {
            check_post(remote, &word, op);
        }
        if (fetches & UCS_BIT(op)) {
            check_fetch(remote, &word, op);
        }
    }
}

void check_atomics(run_t *run)
{
    const uct_iface_attr_t *attr;
    static remote_t remote;
    static party_t party;
    static peer_t peer;

    if (!conversation_begin(run, &peer, &party, 0)) {
        return;
    }

    attr = party.attr;
    if (!(attr->cap.atomic32.op_flags | attr->cap.atomic32.fop_flags |
          attr->cap.atomic64.op_flags | attr->cap.atomic64.fop_flags)) {
        check_skip(run, "it has no atomics");
    } else if (remote_begin(run, &peer, &party, 4096, &remote)) {
        check_word(&remote, sizeof(uint32_t), attr->cap.atomic32.op_flags,
                   attr->cap.atomic32.fop_flags);
        check_word(&remote, sizeof(uint64_t), attr->cap.atomic64.op_flags,
                   attr->cap.atomic64.fop_flags);
        remote_end(&remote);
    }
    conversation_end(&peer, &party);
}
