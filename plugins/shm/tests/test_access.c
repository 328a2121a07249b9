/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Direct access to remote memory: puts, gets and atomics, between two processes
 * and within one, and ranges outside a key's memory.
 */
#include "md_side.h"
#include "access.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LENGTH ((size_t)256 << 10)

/* The process that allocates the memory. Sends its description to the peer over
 * fd, calls check() when the peer is done, and frees the memory after another
 * signal of the peer. */
static void owner(int which, int fd, void (*check)(char *memory))
{
    offer_t offer = {.length = LENGTH};
    void *address = NULL;
    uct_mem_h memh;
    side_t side;

    side_open(&side, which);
    EXPECT_EQ(side_alloc(&side, &offer.length, &address, 0, &memh), UCS_OK);
    offer.address = (uintptr_t)address;
    side_pack(&side, memh, offer.key);
    seg_write(fd, &offer, sizeof(offer));
    seg_await(fd);
    check(address);
    seg_signal(fd);
    seg_await(fd);
    side_free(&side, memh);
    side_close(&side);
}

static uint8_t byte_at(size_t at)
{
    return (uint8_t)(at * 37 + (at >> 8) * 11 + 5);
}

static void check_pattern(char *memory)
{
    for (size_t i = 0; i < LENGTH; ++i) {
        EXPECT_EQ((uint8_t)memory[i], byte_at(i));
    }
    memset(memory, 0x5a, LENGTH);
}

static void pattern_owner(void *arg, int fd)
{
    owner(*(int *)arg, fd, check_pattern);
}

static size_t pack(void *dest, void *arg)
{
    const uct_iov_t *iov = arg;

    memcpy(dest, iov->buffer, iov->length);
    return iov->length;
}

static void unpack(void *arg, const void *data, size_t length)
{
    memcpy(arg, data, length);
}

/* Copies `data` to the peer's memory up to the last byte, by puts of many sizes
 * and of all kinds. */
static void put_all(uint64_t address, uct_rkey_t rkey, char *data)
{
    size_t at = 0, piece = 1;
    uct_iov_t iov[3];

    for (unsigned n = 0; at < LENGTH; ++n) {
        piece = (piece * 5 + n) % ((n % 3 == 1) ? SHM_PUT_BCOPY_MAX : 20000);
        if ((piece > LENGTH - at) || (piece == 0)) {
            piece = (LENGTH - at > 3) ? 3 : 1;
        }
        if (n % 3 == 0) {
            EXPECT_EQ(shm_put_short(NULL, data + at, (unsigned)piece,
                                    address + at, rkey),
                      UCS_OK);
        } else if (n % 3 == 1) {
            iov[0] = (uct_iov_t){.buffer = data + at, .length = piece};
            EXPECT_EQ(shm_put_bcopy(NULL, pack, iov, address + at, rkey),
                      piece);
        } else {
            size_t half = piece / 2;

            iov[0] = (uct_iov_t){
                .buffer = data + at,
                .length = half,
                .count  = 1,
            };
            iov[1] = (uct_iov_t){.buffer = NULL, .length = 0, .count = 1};
            iov[2] = (uct_iov_t){
                .buffer = data + at + half,
                .stride = 1,
                .length = 1,
                .count  = (unsigned)(piece - half),
            };
            EXPECT_EQ(shm_put_zcopy(NULL, iov, 3, address + at, rkey, NULL),
                      UCS_OK);
        }
        at += piece;
    }
}

static void expect_invalid(uint64_t address, uint64_t length, uct_rkey_t rkey)
{
    char buffer[64] = "";
    uct_iov_t iov   = {.buffer = buffer, .length = 16, .count = 1};
    uint32_t r32;
    uint64_t r64,
        outside[] = {address - 1, address + length - 15, address + length, 0,
                     UINT64_MAX,  UINT64_MAX - 7};

    for (unsigned i = 0; i < sizeof(outside) / sizeof(outside[0]); ++i) {
        uint64_t at = outside[i];

        EXPECT_EQ(shm_put_short(NULL, buffer, 16, at, rkey),
                  UCS_ERR_INVALID_ADDR);
        EXPECT_EQ(shm_put_bcopy(NULL, pack, &iov, at, rkey),
                  UCS_ERR_INVALID_ADDR);
        EXPECT_EQ(shm_put_zcopy(NULL, &iov, 1, at, rkey, NULL),
                  UCS_ERR_INVALID_ADDR);
        EXPECT_EQ(shm_get_short(NULL, buffer, 16, at, rkey),
                  UCS_ERR_INVALID_ADDR);
        EXPECT_EQ(shm_get_bcopy(NULL, unpack, buffer, 16, at, rkey, NULL),
                  UCS_ERR_INVALID_ADDR);
        EXPECT_EQ(shm_get_zcopy(NULL, &iov, 1, at, rkey, NULL),
                  UCS_ERR_INVALID_ADDR);
    }

    /* Words that are outside, across the end, or not aligned */
    outside[1] = address + length - 2;
    outside[2] = address + 2;
    for (unsigned i = 0; i < sizeof(outside) / sizeof(outside[0]); ++i) {
        uint64_t at = outside[i];

        EXPECT_EQ(shm_atomic32_post(NULL, UCT_ATOMIC_OP_ADD, 1, at, rkey),
                  UCS_ERR_INVALID_ADDR);
        EXPECT_EQ(shm_atomic64_post(NULL, UCT_ATOMIC_OP_ADD, 1, at, rkey),
                  UCS_ERR_INVALID_ADDR);
        EXPECT_EQ(shm_atomic32_fetch(NULL, UCT_ATOMIC_OP_ADD, 1, &r32, at, rkey,
                                     NULL),
                  UCS_ERR_INVALID_ADDR);
        EXPECT_EQ(shm_atomic64_fetch(NULL, UCT_ATOMIC_OP_ADD, 1, &r64, at, rkey,
                                     NULL),
                  UCS_ERR_INVALID_ADDR);
        EXPECT_EQ(shm_atomic_cswap32(NULL, 0, 1, at, rkey, &r32, NULL),
                  UCS_ERR_INVALID_ADDR);
        EXPECT_EQ(shm_atomic_cswap64(NULL, 0, 1, at, rkey, &r64, NULL),
                  UCS_ERR_INVALID_ADDR);
    }
    iov = (uct_iov_t){.buffer = buffer, .length = SIZE_MAX / 2, .count = 4};
    EXPECT_EQ(shm_put_zcopy(NULL, &iov, 1, address, rkey, NULL),
              UCS_ERR_INVALID_ADDR);
    EXPECT_EQ(shm_put_short(NULL, buffer, 0, address + length, rkey), UCS_OK);
}

START_TEST(a_peer_puts_and_gets_to_the_last_byte_and_no_further)
{
    int fd, which = _i;
    char *data = malloc(LENGTH), *back = malloc(LENGTH);
    uct_rkey_t rkey;
    offer_t offer;
    side_t side;
    uct_iov_t iov;
    pid_t pid;

    for (size_t i = 0; i < LENGTH; ++i) {
        data[i] = (char)byte_at(i);
    }
    pid = seg_fork(pattern_owner, &which, 0, &fd);
    side_open(&side, which);
    seg_read(fd, &offer, sizeof(offer));
    ck_assert_int_eq(side_unpack(&side, offer.key, sizeof(offer.key), &rkey),
                     UCS_OK);
    put_all(offer.address, rkey, data);
    expect_invalid(offer.address, offer.length, rkey);

    iov = (uct_iov_t){.buffer = back, .length = LENGTH, .count = 1};
    ck_assert_int_eq(shm_get_zcopy(NULL, &iov, 1, offer.address, rkey, NULL),
                     UCS_OK);
    ck_assert_int_eq(memcmp(data, back, LENGTH), 0);
    memset(back, 0, LENGTH);
    ck_assert_int_eq(shm_get_bcopy(NULL, unpack, back, 777, offer.address + 9,
                                   rkey, NULL),
                     UCS_OK);
    ck_assert_int_eq(memcmp(data + 9, back, 777), 0);
    ck_assert_int_eq(shm_get_short(NULL, back, 8, offer.address + 13, rkey),
                     UCS_OK);
    ck_assert_int_eq(memcmp(data + 13, back, 8), 0);

    /* The owner now runs check_pattern(), which checks all bytes and then sets
     * them to 0x5a */
    seg_signal(fd);
    seg_await(fd);
    ck_assert_int_eq(shm_get_short(NULL, back, 4, offer.address + LENGTH - 4,
                                   rkey),
                     UCS_OK);
    ck_assert_int_eq(memcmp(back, "\x5a\x5a\x5a\x5a", 4), 0);
    seg_signal(fd);
    ck_assert(seg_join(pid, NULL));
    close(fd);

    /* A mapping stays valid after its owner has exited */
    ck_assert_int_eq(shm_put_short(NULL, data, 8, offer.address, rkey), UCS_OK);
    side_release(&side, rkey);
    side_close(&side);
    free(data);
    free(back);
}
END_TEST

#define ROUNDS 50000

/* Increments three counters, which another process increments at the same time,
 * by 3, 5 and 7. */
static void change_words(uint64_t address, uct_rkey_t rkey)
{
    uint64_t old64;
    uint32_t old32;

    for (int i = 0; i < ROUNDS; ++i) {
        EXPECT_EQ(shm_atomic64_post(NULL, UCT_ATOMIC_OP_ADD, 3, address, rkey),
                  UCS_OK);
        EXPECT_EQ(shm_atomic32_fetch(NULL, UCT_ATOMIC_OP_ADD, 5, &old32,
                                     address + 8, rkey, NULL),
                  UCS_OK);
        EXPECT_EQ(shm_get_short(NULL, &old64, 8, address + 16, rkey), UCS_OK);
        for (;;) {
            uint64_t expected = old64;

            EXPECT_EQ(shm_atomic_cswap64(NULL, expected, expected + 7,
                                         address + 16, rkey, &old64, NULL),
                      UCS_OK);
            if (old64 == expected) {
                break;
            }
        }
    }
}

static void count_by_key(void *arg, int fd)
{
    uct_rkey_t rkey;
    offer_t offer;
    side_t side;

    side_open(&side, *(int *)arg);
    seg_read(fd, &offer, sizeof(offer));
    EXPECT_EQ(side_unpack(&side, offer.key, sizeof(offer.key), &rkey), UCS_OK);
    seg_signal(fd);
    seg_await(fd);
    change_words(offer.address, rkey);
    side_release(&side, rkey);
    side_close(&side);
}

START_TEST(two_processes_count_without_losing)
{
    int fd, which = _i;
    offer_t offer = {.length = LENGTH};
    void *address = NULL;
    uint64_t *words;
    uct_rkey_t rkey;
    uct_mem_h memh;
    side_t side;
    pid_t pid;

    pid = seg_fork(count_by_key, &which, 0, &fd);
    side_open(&side, which);
    ck_assert_int_eq(side_alloc(&side, &offer.length, &address, 0, &memh),
                     UCS_OK);
    offer.address = (uintptr_t)address;
    side_pack(&side, memh, offer.key);
    ck_assert_int_eq(side_unpack(&side, offer.key, sizeof(offer.key), &rkey),
                     UCS_OK);
    seg_write(fd, &offer, sizeof(offer));
    seg_await(fd);
    seg_signal(fd);
    change_words(offer.address, rkey);
    ck_assert(seg_join(pid, NULL));
    words = address;
    ck_assert_uint_eq(words[0], 2 * ROUNDS * 3);
    ck_assert_uint_eq(words[1], 2 * ROUNDS * 5);
    ck_assert_uint_eq(words[2], 2 * ROUNDS * 7);
    side_release(&side, rkey);
    side_free(&side, memh);
    side_close(&side);
    close(fd);
}
END_TEST

#define CHECK_ATOMICS(_bits, _high) \
    do { \
        const uint##_bits##_t first = (uint##_bits##_t)(_high) | 0x0f0f; \
        const uint##_bits##_t value = (uint##_bits##_t)(_high) | 0x3333; \
        uint##_bits##_t *word       = address; \
        uint##_bits##_t old; \
        struct { \
            uct_atomic_op_t op; \
            uint##_bits##_t result; \
        } ops[] = {{UCT_ATOMIC_OP_ADD, (uint##_bits##_t)(first + value)}, \
                   {UCT_ATOMIC_OP_AND, first & value}, \
                   {UCT_ATOMIC_OP_OR, first | value}, \
                   {UCT_ATOMIC_OP_XOR, first ^ value}, \
                   {UCT_ATOMIC_OP_SWAP, value}}; \
\
        for (int i = 0; i < 5; ++i) { \
            *word = first; \
            ck_assert_int_eq(shm_atomic##_bits##_fetch(NULL, ops[i].op, value, \
                                                       &old, (uintptr_t)word, \
                                                       rkey, NULL), \
                             UCS_OK); \
            ck_assert_uint_eq(old, first); \
            ck_assert_uint_eq(*word, ops[i].result); \
            *word = first; \
            if (ops[i].op == UCT_ATOMIC_OP_SWAP) { \
                continue; \
            } \
            ck_assert_int_eq(shm_atomic##_bits##_post(NULL, ops[i].op, value, \
                                                      (uintptr_t)word, rkey), \
                             UCS_OK); \
            ck_assert_uint_eq(*word, ops[i].result); \
        } \
        *word = first; \
        ck_assert_int_eq(shm_atomic_cswap##_bits(NULL, value, 1, \
                                                 (uintptr_t)word, rkey, &old, \
                                                 NULL), \
                         UCS_OK); \
        ck_assert_uint_eq(old, first); \
        ck_assert_uint_eq(*word, first); \
        ck_assert_int_eq(shm_atomic_cswap##_bits(NULL, first, value, \
                                                 (uintptr_t)word, rkey, &old, \
                                                 NULL), \
                         UCS_OK); \
        ck_assert_uint_eq(old, first); \
        ck_assert_uint_eq(*word, value); \
    } while (0)

START_TEST(atomics_store_the_new_value_and_tell_the_old_one)
{
    void *address = NULL;
    size_t length = 8;
    uint8_t key[SHM_KEY_LENGTH];
    uct_rkey_t rkey;
    uct_mem_h memh;
    side_t side;

    side_open(&side, _i);
    ck_assert_int_eq(side_alloc(&side, &length, &address, 0, &memh), UCS_OK);
    side_pack(&side, memh, key);
    ck_assert_int_eq(side_unpack(&side, key, sizeof(key), &rkey), UCS_OK);
    CHECK_ATOMICS(32, 0xc0000000u);
    CHECK_ATOMICS(64, 0xc000000080000000ull);
    side_release(&side, rkey);
    side_free(&side, memh);
    side_close(&side);
}
END_TEST

SIDE_RUN("direct access", a_peer_puts_and_gets_to_the_last_byte_and_no_further,
         two_processes_count_without_losing,
         atomics_store_the_new_value_and_tell_the_old_one)
