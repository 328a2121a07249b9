/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory domains and remote keys of posix and sysv: allocation, registration,
 * access by a key, invalid keys, exported memory, and use by several threads.
 */
#include "md_side.h"
#include "access.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define LENGTH ((size_t)256 << 10)

/* --- Allocation ----------------------------------------------------------- */

static const char *which_name(int which)
{
    return (which == SHM_POSIX) ? "posix" : "sysv";
}

START_TEST(memory_is_on_pages_of_its_own)
{
    side_t side;
    ucx_md_attr_t attr = {.size = sizeof(attr)};
    void *address[20];
    uct_mem_h memh[20];
    size_t length;

    side_open(&side, _i);
    ck_assert_str_eq(side.component.super.name, which_name(_i));
    ck_assert_int_eq(side.ops->query(side.md, &attr), UCS_OK);
    ck_assert(attr.flags & UCT_MD_FLAG_ALLOC);
    ck_assert_uint_eq(attr.rkey_packed_size, SHM_KEY_LENGTH);
    for (int i = 0; i < 20; ++i) {
        length     = (size_t)1 << i;
        address[i] = NULL;
        ck_assert_int_eq(side_alloc(&side, &length, &address[i], 0, &memh[i]),
                         UCS_OK);
        ck_assert_uint_eq((uintptr_t)address[i] % 4096, 0);
        ck_assert_uint_ge(length, (size_t)1 << i);
        memset(address[i], i + 1, length);
    }
    for (int i = 0; i < 20; ++i) {
        ck_assert_int_eq(*(char *)address[i], i + 1);
        side_free(&side, memh[i]);
    }
    side_close(&side);
}
END_TEST

START_TEST(uncommitted_memory_uses_no_pages)
{
    side_t side;
    void *address = NULL;
    size_t length = (size_t)256 << 30;
    uct_mem_h memh;

    side_open(&side, _i);
    ck_assert_int_eq(side_alloc(&side, &length, &address,
                                UCT_MD_MEM_FLAG_NONBLOCK, &memh),
                     UCS_OK);
    ((char *)address)[length - 1] = 1;
    ck_assert_int_eq(side.ops->mem_advise(side.md, memh, (char *)address + 5,
                                          100000, UCT_MADV_WILLNEED),
                     UCS_OK);
    ck_assert_int_eq(side.ops->mem_advise(side.md, memh,
                                          (char *)address + length - 1, 2,
                                          UCT_MADV_WILLNEED),
                     UCS_ERR_INVALID_ADDR);
    if (_i == SHM_POSIX) {
        ck_assert_int_le(seg_memory(((shm_region_t *)memh)->seg), 200000);
    }
    side_free(&side, memh);
    side_close(&side);
}
END_TEST

START_TEST(memory_is_at_the_fixed_address_or_fails)
{
    const unsigned flags = UCT_MD_MEM_FLAG_FIXED | UCT_MD_MEM_FLAG_HIDE_ERRORS;
    unsigned errors      = seg_host_errors();
    side_t side;
    void *address, *place, *other;
    uct_mem_h memh, second;
    size_t length = LENGTH;

    side_open(&side, _i);
    place = mmap(NULL, 1 << 30, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(place, MAP_FAILED);
    munmap(place, 1 << 30);
    place   = (char *)place + (1 << 29);
    address = place;
    ck_assert_int_eq(side_alloc(&side, &length, &address, flags, &memh),
                     UCS_OK);
    ck_assert_ptr_eq(address, place);
    other = (char *)place + 4096;
    ck_assert_int_ne(side_alloc(&side, &length, &other, flags, &second),
                     UCS_OK);
    ck_assert_uint_eq(seg_host_errors(), errors);
    side_free(&side, memh);
    side_close(&side);
}
END_TEST

START_TEST(parts_of_own_memory_are_registered_and_nothing_else)
{
    ucx_mem_attr_t attr = {.size = sizeof(attr)};
    char *local         = malloc(4096);
    void *address       = NULL;
    size_t length       = LENGTH;
    uint8_t key[SHM_KEY_LENGTH];
    uct_mem_h memh, part;
    uct_rkey_t rkey;
    side_t side;
    char *mapped;

    side_open(&side, _i);
    ck_assert_int_eq(side_reg(&side, local, 4096, &part), UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(side_alloc(&side, &length, &address, 0, &memh), UCS_OK);
    ck_assert_int_eq(side_reg(&side, local, 4096, &part), UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(side_reg(&side, (char *)address + 100, length, &part),
                     UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(side_reg(&side, (char *)address - 1, 2, &part),
                     UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(side_reg(&side, (char *)address + 100, 50, &part), UCS_OK);
    ck_assert_int_eq(side.ops->mem_query(side.md, (char *)address + 1, 3,
                                         &attr),
                     UCS_OK);
    ck_assert_ptr_eq(attr.base_address, address);
    ck_assert_int_eq(side.ops->mem_query(side.md, local, 3, &attr),
                     UCS_ERR_INVALID_ADDR);

    /* While the part is registered, the whole allocation stays at its address,
     * although it is freed */
    strcpy((char *)address + 100, "still there");
    side_free(&side, memh);
    side_pack(&side, part, key);
    ck_assert_int_eq(side_unpack(&side, key, sizeof(key), &rkey), UCS_OK);
    ck_assert_int_eq(shm_rkey_ptr(&side.component.super, rkey, NULL,
                                  (uintptr_t)address + 100, (void **)&mapped),
                     UCS_OK);
    ck_assert_str_eq(mapped, "still there");
    ck_assert_int_eq(shm_rkey_ptr(&side.component.super, rkey, NULL,
                                  (uintptr_t)address + 150, (void **)&mapped),
                     UCS_ERR_INVALID_ADDR);
    side_release(&side, rkey);
    ck_assert_int_eq(side_dereg(&side, part), UCS_OK);
    side_close(&side);
    free(local);
}
END_TEST

/* --- Keys ----------------------------------------------------------------- */

static int count_maps(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    int count  = 0;
    char line[512];

    while (fgets(line, sizeof(line), file) != NULL) {
        count += (strstr(line, "ucx-shm") != NULL) ||
                 (strstr(line, "SYSV") != NULL);
    }
    fclose(file);
    return count;
}

START_TEST(a_thousand_keys_of_one_segment_attach_it_once)
{
    enum { NUM = 1000 };
    uct_rkey_t *rkeys = calloc(NUM, sizeof(*rkeys));
    void *address     = NULL, *ptr;
    size_t length     = LENGTH;
    uint8_t key[SHM_KEY_LENGTH];
    int maps, fds, order;
    uct_mem_h memh;
    side_t side;

    side_open(&side, _i);
    ck_assert_int_eq(side_alloc(&side, &length, &address, 0, &memh), UCS_OK);
    maps = count_maps();
    fds  = seg_count_fds();
    for (int i = 0; i < NUM; ++i) {
        ck_assert_int_eq(side.ops->mkey_pack(side.md, memh,
                                             (char *)address + 8 * i, 8, 0,
                                             key),
                         UCS_OK);
        ck_assert_int_eq(side_unpack(&side, key, sizeof(key), &rkeys[i]),
                         UCS_OK);
    }
    ck_assert_int_le(count_maps(), maps + 1);
    ck_assert_int_le(seg_count_fds(), fds + 1);

    /* Each key grants access to its part only */
    ck_assert_int_eq(shm_rkey_ptr(&side.component.super, rkeys[7], NULL,
                                  (uintptr_t)address + 56, &ptr),
                     UCS_OK);
    ck_assert_int_eq(shm_rkey_ptr(&side.component.super, rkeys[7], NULL,
                                  (uintptr_t)address + 64, &ptr),
                     UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(shm_rkey_compare(&side.component.super, rkeys[7], rkeys[8],
                                      &order),
                     UCS_OK);
    ck_assert_int_lt(order, 0);
    ck_assert_int_eq(shm_rkey_compare(&side.component.super, rkeys[8], rkeys[7],
                                      &order),
                     UCS_OK);
    ck_assert_int_gt(order, 0);
    side_release(&side, rkeys[7]);
    ck_assert_int_eq(side.ops->mkey_pack(side.md, memh, (char *)address + 64, 8,
                                         0, key),
                     UCS_OK);
    ck_assert_int_eq(side_unpack(&side, key, sizeof(key), &rkeys[7]), UCS_OK);
    ck_assert_int_eq(shm_rkey_compare(&side.component.super, rkeys[8], rkeys[7],
                                      &order),
                     UCS_OK);
    ck_assert_int_eq(order, 0);

    for (int i = 0; i < NUM; ++i) {
        side_release(&side, rkeys[i]);
    }
    ck_assert_int_eq(count_maps(), maps);
    ck_assert_int_eq(seg_count_fds(), fds);
    side_free(&side, memh);
    side_close(&side);
    free(rkeys);
}
END_TEST

static uint64_t random_state = 88172645463325252ull;

static uint32_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 16);
}

START_TEST(forged_keys_reach_nothing_outside_of_a_segment)
{
    void *address = NULL;
    size_t length = LENGTH;
    unsigned good = 0, bad = 0;
    uint8_t key[SHM_KEY_LENGTH], forged[SHM_KEY_LENGTH];
    const shm_rkey_t *seen;
    ucs_status_t status;
    uct_rkey_t rkey;
    uct_mem_h memh;
    side_t side;
    int fds;

    side_open(&side, _i);
    ck_assert_int_eq(side_alloc(&side, &length, &address, 0, &memh), UCS_OK);
    side_pack(&side, memh, key);
    ck_assert_int_eq(side_unpack(&side, key, sizeof(key), &rkey), UCS_OK);
    side_release(&side, rkey);
    fds = seg_count_fds();
    for (int i = 0; i < 5000; ++i) {
        size_t size = sizeof(key);

        memcpy(forged, key, sizeof(key));
        for (unsigned n = 1 + next_random() % 3; n > 0; --n) {
            forged[next_random() % sizeof(key)] ^=
                (uint8_t)(1u << (next_random() % 8));
        }
        if (next_random() % 16 == 0) {
            size = next_random() % sizeof(key);
        }
        status = side_unpack(&side, forged, size, &rkey);
        if (status != UCS_OK) {
            ck_assert((status == UCS_ERR_INVALID_PARAM) ||
                      (status == UCS_ERR_UNREACHABLE));
            ++bad;
            continue;
        }
        seen = (const shm_rkey_t *)rkey;
        ck_assert(seen->local >= seen->attached->mapped);
        ck_assert(seen->local + seen->length <=
                  seen->attached->mapped + length);
        seen->local[0]                = 1;
        seen->local[seen->length - 1] = 1;
        side_release(&side, rkey);
        ++good;
    }
    ck_assert_uint_gt(good, 100);
    ck_assert_uint_gt(bad, 1000);
    ck_assert_int_eq(seg_count_fds(), fds);
    side_free(&side, memh);
    side_close(&side);
}
END_TEST

/* Attaches the memory that the test has exported, packs a key of a part of it,
 * and sends that key to the test. */
static void importer(void *arg, int fd)
{
    uct_mem_h memh;
    offer_t offer;
    side_t side;

    side_open(&side, *(int *)arg);
    seg_read(fd, &offer, sizeof(offer));
    EXPECT_EQ(side.ops->mem_attach(side.md, offer.key, sizeof(offer.key) - 1,
                                   &memh),
              UCS_ERR_INVALID_PARAM);
    EXPECT_EQ(side.ops->mem_attach(side.md, offer.key, sizeof(offer.key),
                                   &memh),
              UCS_OK);
    EXPECT_EQ(side.ops->mkey_pack(side.md, memh,
                                  (void *)(uintptr_t)(offer.address + 10), 20,
                                  0, offer.key),
              UCS_OK);
    EXPECT_EQ(side_dereg(&side, memh), UCS_OK);
    seg_write(fd, &offer, sizeof(offer));
    seg_await(fd);
    side_close(&side);
}

START_TEST(exported_memory_is_attached_and_passed_on)
{
    int fd, which = _i;
    offer_t offer = {.length = LENGTH};
    void *address = NULL;
    uct_rkey_t rkey;
    uct_mem_h memh;
    side_t side;
    pid_t pid;

    pid = seg_fork(importer, &which, 0, &fd);
    side_open(&side, which);
    ck_assert_int_eq(side_alloc(&side, &offer.length, &address, 0, &memh),
                     UCS_OK);
    offer.address = (uintptr_t)address;
    ck_assert_int_eq(side.ops->mkey_pack(side.md, memh, NULL, SIZE_MAX,
                                         UCX_MKEY_PACK_EXPORT, offer.key),
                     UCS_OK);
    seg_write(fd, &offer, sizeof(offer));
    seg_read(fd, &offer, sizeof(offer));
    ck_assert_int_eq(side_unpack(&side, offer.key, sizeof(offer.key), &rkey),
                     UCS_OK);
    ck_assert_int_eq(shm_put_short(NULL, "by two keys", 12, offer.address + 10,
                                   rkey),
                     UCS_OK);
    ck_assert_int_eq(shm_put_short(NULL, "", 1, offer.address + 30, rkey),
                     UCS_ERR_INVALID_ADDR);
    ck_assert_str_eq((char *)address + 10, "by two keys");
    seg_signal(fd);
    ck_assert(seg_join(pid, NULL));
    side_release(&side, rkey);
    side_free(&side, memh);
    side_close(&side);
    close(fd);
}
END_TEST

/* --- Threads -------------------------------------------------------------- */

static uint8_t common_key[SHM_KEY_LENGTH];

static void *use_domain(void *arg)
{
    side_t *side = arg;
    uint8_t key[SHM_KEY_LENGTH];
    uct_mem_h memh, part;
    uct_rkey_t rkey;
    uint64_t old;

    for (int i = 0; i < 200; ++i) {
        void *address = NULL;
        size_t length = 4096 * (size_t)(1 + i % 7);

        EXPECT_EQ(side_alloc(side, &length, &address, 0, &memh), UCS_OK);
        EXPECT_EQ(side_reg(side, (char *)address + 8, 16, &part), UCS_OK);
        side_free(side, memh);
        side_pack(side, part, key);
        EXPECT_EQ(side_unpack(side, key, sizeof(key), &rkey), UCS_OK);
        EXPECT_EQ(shm_atomic64_fetch(NULL, UCT_ATOMIC_OP_ADD, 1, &old,
                                     (uintptr_t)address + 8, rkey, NULL),
                  UCS_OK);
        EXPECT_EQ(old, 0);
        side_release(side, rkey);
        EXPECT_EQ(side_dereg(side, part), UCS_OK);

        /* All threads attach and release the same segment */
        EXPECT_EQ(side_unpack(side, common_key, sizeof(common_key), &rkey),
                  UCS_OK);
        side_release(side, rkey);
    }
    return NULL;
}

START_TEST(many_threads_use_one_domain)
{
    size_t length = 4096;
    void *address = NULL;
    pthread_t threads[4];
    uct_mem_h memh;
    side_t side;
    int fds;

#ifdef __SANITIZE_THREAD__
    if (_i == SHM_SYSV) {
        return; /* The thread sanitizer mistakes memory that shmat() returned
                 * again for the old memory */
    }
#endif
    side_open(&side, _i);
    ck_assert_int_eq(side_alloc(&side, &length, &address, 0, &memh), UCS_OK);
    side_pack(&side, memh, common_key);
    fds = seg_count_fds();
    for (int i = 0; i < 4; ++i) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, use_domain, &side),
                         0);
    }
    for (int i = 0; i < 4; ++i) {
        pthread_join(threads[i], NULL);
    }
    ck_assert_int_eq(seg_count_fds(), fds);
    side_free(&side, memh);
    side_close(&side);
}
END_TEST

/* Listens as the creator of segments whose tokens begin with these 4 bytes. */
static int listen_as(const uint8_t *id)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fd                  = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    int length = sprintf(name.sun_path + 1, "ucx-shm-%02x%02x%02x%02x", id[0],
                         id[1], id[2], id[3]);

    EXPECT_GE(fd, 0);
    length += (int)offsetof(struct sockaddr_un, sun_path) + 1;
    EXPECT_EQ(bind(fd, (struct sockaddr *)&name, (socklen_t)length), 0);
    EXPECT_EQ(listen(fd, 1), 0);
    return fd;
}

typedef struct asker {
    side_t *side;
    uint8_t key[SHM_KEY_LENGTH];
} asker_t;

static void *ask_silent_process(void *arg)
{
    asker_t *asker = arg;
    uct_rkey_t rkey;

    EXPECT_EQ(side_unpack(asker->side, asker->key, sizeof(asker->key), &rkey),
              UCS_ERR_UNREACHABLE);
    return NULL;
}

/* A process in another PID namespace has to send the descriptor of its segment,
 * but does not answer. Meanwhile other threads can use the keys of others. */
START_TEST(a_silent_process_blocks_no_other_key)
{
    enum { TOKEN_AT = SHM_ADDRESS_LENGTH - SHM_TOKEN_LENGTH, INODE_AT = 1 };
    size_t length = 4096;
    void *address = NULL;
    uint8_t key[SHM_KEY_LENGTH], token[SHM_TOKEN_LENGTH];
    pthread_t thread;
    uct_mem_h memh;
    uct_rkey_t rkey;
    asker_t asker;
    side_t side;
    int listener, sock;

    if (_i == SHM_SYSV) {
        return; /* System V segments are attached by their number */
    }
    side_open(&side, _i);
    ck_assert_int_eq(side_alloc(&side, &length, &address, 0, &memh), UCS_OK);
    side_pack(&side, memh, key);

    /* Not to be found in /proc: the inode is another one */
    asker.side = &side;
    memcpy(asker.key, key, sizeof(key));
    asker.key[INODE_AT] ^= 1;
    asker.key[TOKEN_AT] ^= 1;
    listener = listen_as(asker.key + TOKEN_AT);
    ck_assert_int_eq(pthread_create(&thread, NULL, ask_silent_process, &asker),
                     0);
    sock = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    ck_assert_int_ge(sock, 0);
    ck_assert_int_eq(recv(sock, token, sizeof(token), 0), sizeof(token));

    ck_assert_int_eq(side_unpack(&side, key, sizeof(key), &rkey), UCS_OK);
    side_release(&side, rkey);
    /* The other thread still waits: it has not closed its socket */
    ck_assert_int_eq(recv(sock, token, sizeof(token), MSG_DONTWAIT), -1);
    ck_assert_int_eq(errno, EAGAIN);

    close(sock);
    close(listener);
    pthread_join(thread, NULL);
    side_free(&side, memh);
    side_close(&side);
}
END_TEST

SIDE_RUN("memory domain", memory_is_on_pages_of_its_own,
         uncommitted_memory_uses_no_pages,
         memory_is_at_the_fixed_address_or_fails,
         parts_of_own_memory_are_registered_and_nothing_else,
         a_thousand_keys_of_one_segment_attach_it_once,
         forged_keys_reach_nothing_outside_of_a_segment,
         exported_memory_is_attached_and_passed_on, many_threads_use_one_domain,
         a_silent_process_blocks_no_other_key)
