/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put, get and atomic operations with memory that is inaccessible to the
 * processor (memory.h), on either side or both; also operations that fail. A
 * direct access by the library crashes: the pages have no access rights.
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
    /* Set on the member DRIVER: keys and addresses of the memory of the member
     * PEER, by kind (memory.h) */
    ucp_rkey_h rkey[MEMORY_MAX_KINDS];
    uint64_t remote[MEMORY_MAX_KINDS];
    /* Number of the last operation, for data_fill(); the same on both sides */
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

static void put(struct talk *talk, int from, int to, size_t size)
{
    static const ucp_request_param_t plain = {0};
    uint64_t message                       = ++talk->message;

    if (talk->team->rank == PEER) {
        memory_prepare(&talk->memory[to], size);
    }
    agree(talk);
    if (talk->team->rank == DRIVER) {
        data_fill(talk->memory[from].view, size, message);
        EXPECT_OK(
            finish(talk,
                   ucp_put_nbx(talk->ep->ep, talk->memory[from].address, size,
                               talk->remote[to], talk->rkey[to], &plain)));
        EXPECT_OK(side_flush(talk->ep));
    }
    agree(talk);
    if (talk->team->rank == PEER) {
        memory_verify(&talk->memory[to], size, message);
    }
}

static void test_put(struct talk *talk, int from, int to)
{
    unsigned step = (unsigned)memory_size_step();
    unsigned i;

    for (i = 0; i < NUM_SIZES; i += step) {
        put(talk, from, to, sizes[i]);
    }
}

static void get(struct talk *talk, int from, int to, size_t size)
{
    static const ucp_request_param_t plain = {0};
    uint64_t message                       = ++talk->message;

    if (talk->team->rank == PEER) {
        data_fill(talk->memory[from].view, size, message);
    }
    agree(talk);
    if (talk->team->rank == DRIVER) {
        memory_prepare(&talk->memory[to], size);
        EXPECT_OK(
            finish(talk,
                   ucp_get_nbx(talk->ep->ep, talk->memory[to].address, size,
                               talk->remote[from], talk->rkey[from], &plain)));
        memory_verify(&talk->memory[to], size, message);
    }
    agree(talk);
}

static void test_get(struct talk *talk, int from, int to)
{
    unsigned step = (unsigned)memory_size_step();
    unsigned i;

    for (i = 0; i < NUM_SIZES; i += step) {
        get(talk, from, to, sizes[i]);
    }
}

/* One atomic operation on the peer's word in memory of kind `there`. The
 * operand and the result are in memory of kind `here`. `swap`: new value of a
 * compare-and-swap. Returns the old value with `fetch`; otherwise flushes and
 * returns 0. */
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

/* Operations that fail: with memory that no plugin can copy, and outside the
 * memory of the key. */
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

static void open_talk(struct talk *talk, struct team *team)
{
    int kind;

    *talk = (struct talk){.team = team};
    side_open(&talk->side, features);
    talk->ep = side_meet(&talk->side, team, 1 - team->rank);
    for (kind = 0; kind < memory_kinds(); ++kind) {
        memory_make(&talk->side, &talk->memory[kind], SIZE, kind);
    }
    agree(talk);
    swap_keys(talk);
}

static void close_talk(struct talk *talk)
{
    int kind;

    for (kind = 0; kind < memory_kinds(); ++kind) {
        if (talk->team->rank == DRIVER) {
            ucp_rkey_destroy(talk->rkey[kind]);
        }
        memory_drop(&talk->side, &talk->memory[kind]);
    }
    side_close_ep(talk->ep, UCP_EP_CLOSE_FLAG_FORCE);
    side_close(&talk->side);
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
    struct talk talk;
    unsigned i;
    int from, to;

    open_talk(&talk, team);
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
    close_talk(&talk);
}

/* A put or get with device memory on one side, whose third copy fails. */
struct failure {
    const char *name;
    int failing; /* Rank of the side with the device memory */
    bool is_get;
    /* Of the operation. If it is UCS_OK, the flush returns the error. */
    ucs_status_t status;
};

static const struct failure failures[] = {
    {"put from device memory", DRIVER, false, UCS_ERR_IO_ERROR},
    {"get into device memory", DRIVER, true, UCS_ERR_IO_ERROR},
    {"put to device memory", PEER, false, UCS_OK},
    {"get from device memory", PEER, true, UCS_ERR_IO_ERROR},
};

enum { NUM_FAILURES = sizeof(failures) / sizeof(failures[0]) };

/* Set by --no-copies: the transport accesses device memory itself, so that
 * there are no copies that could fail, and all operations succeed. */
static bool no_copies;

static ucs_status_t run_failure(struct talk *talk,
                                const struct failure *failure, int here,
                                int there)
{
    static const ucp_request_param_t plain = {0};
    ucp_ep_h ep                            = talk->ep->ep;
    void *buffer                           = talk->memory[here].address;

    return finish(talk, failure->is_get ?
                            ucp_get_nbx(ep, buffer, MOST, talk->remote[there],
                                        talk->rkey[there], &plain) :
                            ucp_put_nbx(ep, buffer, MOST, talk->remote[there],
                                        talk->rkey[there], &plain));
}

/* The operation ends with an error, or the next flush returns the error, once;
 * with --no-copies both succeed. Later operations use ordinary memory of both
 * sides and succeed. */
static void fail(struct team *team, void *arg)
{
    const struct failure *failure = arg;
    ucs_status_t lost             = no_copies ? UCS_OK : UCS_ERR_IO_ERROR;
    ucs_status_t status           = no_copies ? UCS_OK : failure->status;
    int is_mine                   = (failure->failing == DRIVER);
    struct talk talk;

    if (team->rank == failure->failing) {
        memory_fail();
    }
    open_talk(&talk, team);
    if (team->rank == DRIVER) {
        printf("copies fail: %s\n", failure->name);
        fflush(stdout);
        EXPECT_STATUS(run_failure(&talk, failure, is_mine, !is_mine), status);
        EXPECT_STATUS(side_flush(talk.ep), (status == UCS_OK) ? lost : UCS_OK);
        EXPECT_OK(side_flush(talk.ep));
    }
    agree(&talk);
    put(&talk, 0, 0, MOST);
    get(&talk, 0, 0, MOST);
    close_talk(&talk);
}

/* With "--failures", the operations of failures[] run after the normal ones.
 * With "--no-copies" they run, too, and must succeed. */
int main(int argc, char **argv)
{
    struct team team    = {.limit = 60};
    struct team failing = {.limit = 60, .silent = true};
    int status          = team_run(&team, 2, work, NULL);
    unsigned i;

    if ((argc < 2) || memory_is_direct()) {
        /* Direct transports copy the memory; the tests of these transports
         * cover failures. */
        return status;
    }
    no_copies = (strcmp(argv[1], "--no-copies") == 0);
    for (i = 0; (i < NUM_FAILURES) && (status == 0); ++i) {
        status = team_run(&failing, 2, fail, (void *)&failures[i]);
    }
    return status;
}
