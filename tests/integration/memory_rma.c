/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that is inaccessible to the processor, on either side or both, in put,
 * get and atomic operations. A direct access crashes: the pages have no access
 * rights.
 */
#include "common/data.h"
#include "common/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DRIVER,
    PEER,
    MOST = 4 * 1024 * 1024,
    SIZE = MOST + MEMORY_GUARD,
};

static const size_t sizes[] = {0,      1,      7,       64,   65,
                               2000,   8100,   8192,    9000, 70000,
                               262144, 262145, 1000003, MOST};

enum { NUM_SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static const uint64_t features = UCP_FEATURE_RMA | UCP_FEATURE_AMO32 |
                                 UCP_FEATURE_AMO64;

struct talk {
    struct team *team;
    struct side side;
    struct side_ep *ep;
    struct memory memory[MEMORY_MAX_KINDS];
    ucp_rkey_h
        rkey[MEMORY_MAX_KINDS]; /* The driver's keys of the peer's memory */
    uint64_t remote[MEMORY_MAX_KINDS];
    /* Number of the last message; the same on both sides */
    uint64_t message;
};

static void agree(struct talk *talk)
{
    team_barrier(talk->team, side_progress, &talk->side);
}

static ucs_status_t finish(struct talk *talk, ucs_status_ptr_t request)
{
    double end = test_now() + test_seconds(30);
    ucs_status_t status;

    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_RAW_STATUS(request);
    }
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        side_progress(&talk->side);
        if (test_now() > end) {
            FAIL("an operation is not over after 30 s");
        }
    }
    ucp_request_free(request);
    return status;
}

static void swap_keys(struct talk *talk)
{
    uint64_t address;
    size_t size;
    void *key;
    int kind;

    for (kind = 0; kind < memory_kinds(); ++kind) {
        if (talk->team->rank == PEER) {
            address = (uintptr_t)talk->memory[kind].address;
            EXPECT_OK(
                ucp_memh_pack(talk->memory[kind].memh, NULL, &key, &size));
            team_put(talk->team, DRIVER, &address, sizeof(address));
            team_put(talk->team, DRIVER, &size, sizeof(size));
            team_put(talk->team, DRIVER, key, size);
            ucp_memh_buffer_release(key, NULL);
        } else {
            team_get_progressing(talk->team, PEER, &talk->remote[kind],
                                 sizeof(talk->remote[kind]), side_progress,
                                 &talk->side);
            team_get(talk->team, PEER, &size, sizeof(size));
            key = malloc(size);
            team_get(talk->team, PEER, key, size);
            EXPECT_OK(ucp_ep_rkey_unpack(talk->ep->ep, key, &talk->rkey[kind]));
            free(key);
        }
    }
}

static void test_put(struct talk *talk, int from, int to)
{
    static const ucp_request_param_t plain = {0};
    unsigned i;

    for (i = 0; i < NUM_SIZES; ++i) {
        uint64_t message = ++talk->message;

        if (talk->team->rank == PEER) {
            memory_prepare(&talk->memory[to], sizes[i]);
        }
        agree(talk);
        if (talk->team->rank == DRIVER) {
            data_fill(talk->memory[from].view, sizes[i], message);
            EXPECT_OK(finish(talk, ucp_put_nbx(talk->ep->ep,
                                               talk->memory[from].address,
                                               sizes[i], talk->remote[to],
                                               talk->rkey[to], &plain)));
            EXPECT_OK(side_flush(talk->ep));
        }
        agree(talk);
        if (talk->team->rank == PEER) {
            memory_verify(&talk->memory[to], sizes[i], message);
        }
    }
}

static void test_get(struct talk *talk, int from, int to)
{
    static const ucp_request_param_t plain = {0};
    unsigned i;

    for (i = 0; i < NUM_SIZES; ++i) {
        uint64_t message = ++talk->message;

        if (talk->team->rank == PEER) {
            data_fill(talk->memory[from].view, sizes[i], message);
        }
        agree(talk);
        if (talk->team->rank == DRIVER) {
            memory_prepare(&talk->memory[to], sizes[i]);
            EXPECT_OK(
                finish(talk, ucp_get_nbx(talk->ep->ep, talk->memory[to].address,
                                         sizes[i], talk->remote[from],
                                         talk->rkey[from], &plain)));
            memory_verify(&talk->memory[to], sizes[i], message);
        }
        agree(talk);
    }
}

/* One operation on the peer's word; the operand and the result are in memory of
 * kind `here`. Returns the old value. */
static uint64_t atomic(struct talk *talk, int here, int there,
                       ucp_atomic_op_t op, size_t size, uint64_t operand,
                       uint64_t swap, bool fetch)
{
    struct memory *memory     = &talk->memory[here];
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
        .datatype     = ucp_dt_make_contig(size),
    };
    uint64_t result = 0;

    memcpy(memory->view, &operand, size);
    memcpy(memory->view + 8, &swap, size);
    if (fetch) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
        param.reply_buffer = memory->address + 8;
    }
    EXPECT_OK(finish(talk, ucp_atomic_op_nbx(talk->ep->ep, op, memory->address,
                                             1, talk->remote[there] + 16,
                                             talk->rkey[there], &param)));
    if (fetch) {
        memcpy(&result, memory->view + 8, size);
    } else {
        EXPECT_OK(side_flush(talk->ep));
    }
    return result;
}

static void test_atomics(struct talk *talk, int here, int there)
{
    size_t size;
    uint64_t word;

    for (size = 4; size <= 8; size += 4) {
        word = 5;
        if (talk->team->rank == PEER) {
            memcpy(talk->memory[there].view + 16, &word, size);
        }
        agree(talk);
        if (talk->team->rank == DRIVER) {
            atomic(talk, here, there, UCP_ATOMIC_OP_ADD, size, 7, 0, false);
            EXPECT_INT(atomic(talk, here, there, UCP_ATOMIC_OP_ADD, size, 1, 0,
                              true),
                       ==, 12);
            EXPECT_INT(atomic(talk, here, there, UCP_ATOMIC_OP_SWAP, size, 40,
                              0, true),
                       ==, 13);
            EXPECT_INT(atomic(talk, here, there, UCP_ATOMIC_OP_CSWAP, size, 41,
                              9, true),
                       ==, 40);
            EXPECT_INT(atomic(talk, here, there, UCP_ATOMIC_OP_CSWAP, size, 40,
                              0xf0, true),
                       ==, 40);
            atomic(talk, here, there, UCP_ATOMIC_OP_AND, size, 0x3c, 0, false);
            EXPECT_INT(atomic(talk, here, there, UCP_ATOMIC_OP_OR, size, 3, 0,
                              true),
                       ==, 0x30);
            EXPECT_INT(atomic(talk, here, there, UCP_ATOMIC_OP_XOR, size, 1, 0,
                              true),
                       ==, 0x33);
        }
        agree(talk);
        if (talk->team->rank == PEER) {
            word = 0;
            memcpy(&word, talk->memory[there].view + 16, size);
            EXPECT_INT(word, ==, 0x32);
        }
    }
}

/* Outside the key's memory, and from memory without a copier. */
static void test_refusals(struct talk *talk)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE,
        .memory_type  = MEMORY_FOREIGN_TYPE,
    };

    if (talk->team->rank == DRIVER) {
        EXPECT_STATUS(UCS_PTR_RAW_STATUS(
                          ucp_put_nbx(talk->ep->ep, talk->memory[1].address, 8,
                                      talk->remote[1], talk->rkey[1], &param)),
                      UCS_ERR_UNSUPPORTED);
        param.op_attr_mask = 0;
        EXPECT_STATUS(finish(talk,
                             ucp_get_nbx(talk->ep->ep, talk->memory[1].address,
                                         64, talk->remote[1] + 2 * SIZE,
                                         talk->rkey[1], &param)),
                      UCS_ERR_INVALID_ADDR);
    }
    agree(talk);
}

static void work(struct team *team, void *arg)
{
    static const struct {
        const char *name;
        void (*run)(struct talk *talk, int from, int to);
    } tests[] = {
        {"put", test_put},
        {"get", test_get},
        {"atomics", test_atomics},
    };
    struct talk talk = {.team = team};
    unsigned i;
    int from, to, kind;

    side_open(&talk.side, features);
    talk.ep = side_meet(&talk.side, team, 1 - team->rank);
    for (kind = 0; kind < memory_kinds(); ++kind) {
        memory_make(&talk.side, &talk.memory[kind], SIZE, kind);
    }
    agree(&talk);
    swap_keys(&talk);
    for (i = 0; i < sizeof(tests) / sizeof(tests[0]); ++i) {
        for (from = 0; from < memory_kinds(); ++from) {
            for (to = 0; to < memory_kinds(); ++to) {
                if (team->rank == DRIVER) {
                    printf("%s: %s to %s\n", tests[i].name,
                           memory_kind_name(from), memory_kind_name(to));
                    fflush(stdout);
                }
                agree(&talk);
                tests[i].run(&talk, from, to);
            }
        }
    }
    test_refusals(&talk);
    for (kind = 0; kind < memory_kinds(); ++kind) {
        if (team->rank == DRIVER) {
            ucp_rkey_destroy(talk.rkey[kind]);
        }
        memory_drop(&talk.side, &talk.memory[kind]);
    }
    side_close_ep(talk.ep, UCP_EP_CLOSE_FLAG_FORCE);
    side_close(&talk.side);
}

int main(void)
{
    struct team team = {.limit = 60};

    return team_run(&team, 2, work, NULL);
}
