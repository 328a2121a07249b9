/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that every process maps at the same address with
 * UCP_MEM_MAP_SYMMETRIC_RKEY: the keys of all peers compare equal, and one of
 * them can be used with every peer. When memory is mapped again, its new key
 * differs from the old one.
 */
#include "common/data.h"
#include "common/side.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MEMBERS = 4, PART = 256 * 1024, LENGTH = MEMBERS * PART, KEY_MAX = 512 };

static const uint64_t features         = UCP_FEATURE_RMA | UCP_FEATURE_AMO64;
static const ucp_request_param_t plain = {0};

/* Mapped before the processes are forked: at the same address in all of them.
 * Each member writes to its part of all peers' memory; the first word of a part
 * is for atomics. */
static char *memory;

struct packed {
    size_t size;
    char key[KEY_MAX];
};

struct member {
    struct team *team;
    struct side side;
    struct side_ep *eps[MEMBERS]; /* By rank; NULL for the own rank */
    ucp_mem_h memh;
};

static void agree(struct member *self)
{
    team_barrier(self->team, side_progress, &self->side);
}

static ucp_mem_h map(struct side *side, unsigned flags)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS,
        .address = memory,
        .length  = LENGTH,
        .flags   = flags,
    };
    ucp_mem_h memh;

    EXPECT_OK(ucp_mem_map(side->context, &params, &memh));
    return memh;
}

static void put_key(struct member *self, ucp_mem_h memh, int rank)
{
    struct packed packed = {0};
    void *key;

    EXPECT_OK(ucp_memh_pack(memh, NULL, &key, &packed.size));
    EXPECT_INT(packed.size, <=, KEY_MAX);
    memcpy(packed.key, key, packed.size);
    ucp_memh_buffer_release(key, NULL);
    team_put(self->team, rank, &packed, sizeof(packed));
}

static ucp_rkey_h get_key(struct member *self, int rank)
{
    struct packed packed;
    ucp_rkey_h rkey;

    team_get_progressing(self->team, rank, &packed, sizeof(packed),
                         side_progress, &self->side);
    EXPECT_OK(ucp_ep_rkey_unpack(self->eps[rank]->ep, packed.key, &rkey));
    return rkey;
}

static int order(struct member *self, ucp_rkey_h a, ucp_rkey_h b)
{
    const ucp_rkey_compare_params_t params = {.field_mask = 0};
    int result;

    EXPECT_OK(ucp_rkey_compare(self->side.worker, a, b, &params, &result));
    return result;
}

static ucs_status_t put(struct member *self, int rank, const void *data,
                        size_t length, uint64_t address, ucp_rkey_h rkey)
{
    ucs_status_t status;

    status = side_wait(&self->side,
                       ucp_put_nbx(self->eps[rank]->ep, data, length, address,
                                   rkey, &plain),
                       "put");
    return (status == UCS_OK) ? side_flush(self->eps[rank]) : status;
}

static ucs_status_t get(struct member *self, int rank, void *data,
                        size_t length, uint64_t address, ucp_rkey_h rkey)
{
    return side_wait(&self->side,
                     ucp_get_nbx(self->eps[rank]->ep, data, length, address,
                                 rkey, &plain),
                     "get");
}

static ucs_status_t add(struct member *self, int rank, uint64_t value,
                        uint64_t address, ucp_rkey_h rkey)
{
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
        .datatype     = ucp_dt_make_contig(sizeof(value)),
    };
    ucs_status_t status;

    status = side_wait(&self->side,
                       ucp_atomic_op_nbx(self->eps[rank]->ep, UCP_ATOMIC_OP_ADD,
                                         &value, 1, address, rkey, &param),
                       "add");
    return (status == UCS_OK) ? side_flush(self->eps[rank]) : status;
}

/* Returns the rank of the i-th peer, counted from the own rank. */
static int peer(struct member *self, int i)
{
    return (self->team->rank + i) % MEMBERS;
}

static void write_all(struct member *self, ucp_rkey_h rkey)
{
    uint64_t start = (uintptr_t)memory + (unsigned)self->team->rank * PART;
    char *data = malloc(PART), *copy = malloc(PART);
    int i;

    for (i = 1; i < MEMBERS; ++i) {
        data_fill(data, PART, (unsigned)peer(self, i) + 1);
        memset(data, 0, 16);
        EXPECT_OK(put(self, peer(self, i), data, PART, start, rkey));
        EXPECT_OK(put(self, peer(self, i), "8 bytes", 8, start + 8, rkey));
        EXPECT_OK(
            add(self, peer(self, i), (unsigned)peer(self, i), start, rkey));
        memcpy(data + 8, "8 bytes", 8);
        data[0] = (char)peer(self, i);
        EXPECT_OK(get(self, peer(self, i), copy, PART, start, rkey));
        EXPECT_INT(memcmp(copy, data, PART), ==, 0);
        EXPECT_OK(get(self, peer(self, i), copy, 1, start, rkey));
        EXPECT_INT(copy[0], ==, peer(self, i));
    }
    free(data);
    free(copy);
}

static void verify_own(struct member *self)
{
    char *data = malloc(PART);
    int i;

    data_fill(data, PART, (unsigned)self->team->rank + 1);
    memset(data, 0, 16);
    memcpy(data + 8, "8 bytes", 8);
    data[0] = (char)self->team->rank;
    for (i = 1; i < MEMBERS; ++i) {
        EXPECT_INT(memcmp(memory + peer(self, i) * PART, data, PART), ==, 0);
    }
    free(data);
}

/* Before the key of a peer is unpacked, operations to that peer are rejected,
 * even with the equal key of another peer. */
static void check_missing(struct member *self, int rank, ucp_rkey_h rkey)
{
    uint64_t word = 0;

    EXPECT_STATUS(put(self, rank, &word, 8, (uintptr_t)memory, rkey),
                  UCS_ERR_INVALID_PARAM);
    EXPECT_STATUS(get(self, rank, &word, 8, (uintptr_t)memory, rkey),
                  UCS_ERR_INVALID_PARAM);
    EXPECT_STATUS(add(self, rank, 1, (uintptr_t)memory, rkey),
                  UCS_ERR_INVALID_PARAM);
}

/* Unpacks the keys of all peers, which compare equal, and keeps one of them. */
static ucp_rkey_h keep_one(struct member *self)
{
    ucp_rkey_h kept, rkey;
    int i;

    for (i = 1; i < MEMBERS; ++i) {
        put_key(self, self->memh, peer(self, i));
    }
    kept = get_key(self, peer(self, 1));
    check_missing(self, peer(self, 2), kept);
    for (i = 2; i < MEMBERS; ++i) {
        rkey = get_key(self, peer(self, i));
        EXPECT_INT(order(self, kept, rkey), ==, 0);
        ucp_rkey_destroy((i == 2) ? kept : rkey);
        kept = (i == 2) ? rkey : kept;
    }
    return kept;
}

/* Without UCP_MEM_MAP_SYMMETRIC_RKEY, keys of different peers differ. */
static void check_ordinary(struct member *self, ucp_rkey_h symmetric)
{
    ucp_mem_h memh = map(&self->side, 0);
    ucp_rkey_h rkeys[MEMBERS];
    int i;

    for (i = 1; i < MEMBERS; ++i) {
        put_key(self, memh, peer(self, i));
    }
    for (i = 1; i < MEMBERS; ++i) {
        rkeys[i] = get_key(self, peer(self, i));
        EXPECT_INT(order(self, symmetric, rkeys[i]), !=, 0);
        if (i > 1) {
            EXPECT_INT(order(self, rkeys[1], rkeys[i]), !=, 0);
            EXPECT_INT(order(self, rkeys[1], rkeys[i]), ==,
                       -order(self, rkeys[i], rkeys[1]));
        }
    }
    for (i = 1; i < MEMBERS; ++i) {
        ucp_rkey_destroy(rkeys[i]);
    }
    agree(self);
    EXPECT_OK(ucp_mem_unmap(self->side.context, memh));
}

/* Rank 0 maps its memory again: the others must use its new key. */
static void check_again(struct member *self, ucp_rkey_h old)
{
    ucp_rkey_h fresh;
    char byte = 'x';
    int i;

    agree(self);
    if (self->team->rank == 0) {
        EXPECT_OK(ucp_mem_unmap(self->side.context, self->memh));
        self->memh = map(&self->side, UCP_MEM_MAP_SYMMETRIC_RKEY);
        memset(memory, 0, LENGTH);
        for (i = 1; i < MEMBERS; ++i) {
            put_key(self, self->memh, i);
        }
        agree(self);
        for (i = 1; i < MEMBERS; ++i) {
            EXPECT_INT(memory[i], ==, 'x');
            memory[i] = 0;
        }
        for (i = 0; i < LENGTH; ++i) {
            EXPECT_INT(memory[i], ==, 0);
        }
    } else {
        fresh = get_key(self, 0);
        EXPECT_INT(order(self, old, fresh), !=, 0);
        EXPECT_OK(put(self, 0, &byte, 1,
                      (uintptr_t)memory + (unsigned)self->team->rank, fresh));
        ucp_rkey_destroy(fresh);
        agree(self);
    }
    agree(self);
}

static void run(struct team *team, void *arg)
{
    struct member self = {.team = team};
    ucp_rkey_h rkey;
    int i;

    (void)arg;
    side_open(&self.side, features);
    self.memh = map(&self.side, UCP_MEM_MAP_SYMMETRIC_RKEY);
    for (i = 0; i < MEMBERS; ++i) {
        if (i != team->rank) {
            self.eps[i] = side_meet(&self.side, team, i);
        }
    }

    rkey = keep_one(&self);
    write_all(&self, rkey);
    agree(&self);
    verify_own(&self);
    check_ordinary(&self, rkey);
    check_again(&self, rkey);
    ucp_rkey_destroy(rkey);
    for (i = 0; i < MEMBERS; ++i) {
        if (i != team->rank) {
            side_close_ep(self.eps[i], 0);
        }
    }
    EXPECT_OK(ucp_mem_unmap(self.side.context, self.memh));
    side_close(&self.side);
}

int main(void)
{
    struct team team = {.limit = 60};

    memory = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(memory != MAP_FAILED);
    return team_run(&team, MEMBERS, run, NULL);
}
