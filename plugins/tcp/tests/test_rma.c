/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts and gets: sizes, strided entries (also of active messages), order,
 * remote completion, number of system calls, and peers that request memory
 * without permission.
 */
#include "pattern.h"
#include "raw.h"
#include "side.h"
#include "suite.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ID     2
#define WINDOW (8u << 20)
#define GUARD  64

/* Counts the plugin's calls of send() and sendmsg(): symbols of the executable
 * take precedence over those of the C library. */
static unsigned num_sends;

ssize_t send(int fd, const void *data, size_t length, int flags)
{
    ++num_sends;
    return syscall(SYS_sendto, fd, data, length, flags, NULL, 0);
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
    ++num_sends;
    return syscall(SYS_sendmsg, fd, msg, flags);
}

static volatile unsigned received, completed;

static ucs_status_t on_am(void *arg, void *data, size_t length, unsigned flags)
{
    ++received;
    return UCS_OK;
}

static void on_complete(uct_completion_t *comp)
{
    EXPECT_EQ(comp->status, UCS_OK);
    comp->count = 1;
    ++completed;
}

static uct_completion_t completion = {on_complete, 1, UCS_OK};

/* One side's memory, as described to the other side: address and packed key. */
typedef struct window {
    uint64_t address;
    uint8_t rkey[64];
} window_t;

typedef struct rma_side {
    side_t side;
    uct_ep_h ep;
    uint8_t *memory;
    uct_mem_h memh;
    window_t peer;
    uct_rkey_bundle_t rkey;
} rma_side_t;

static void open_rma(rma_side_t *rma, int fd, unsigned access)
{
    window_t own;

    memset(rma, 0, sizeof(*rma));
    side_open(&rma->side, NULL);
    EXPECT_EQ(uct_iface_set_am_handler(rma->side.iface, ID, on_am, rma, 0),
              UCS_OK);
    rma->ep     = side_meet(&rma->side, fd, NULL);
    rma->memory = malloc(WINDOW + 2 * GUARD);
    memset(rma->memory, 0xee, WINDOW + 2 * GUARD);
    EXPECT_EQ(uct_md_mem_reg(rma->side.md, rma->memory + GUARD, WINDOW, access,
                             &rma->memh),
              UCS_OK);
    memset(&own, 0, sizeof(own));
    own.address = (uint64_t)(uintptr_t)(rma->memory + GUARD);
    EXPECT_EQ(uct_md_mkey_pack(rma->side.md, rma->memh, own.rkey), UCS_OK);
    side_write(fd, &own, sizeof(own));
    side_read(fd, &rma->peer, sizeof(rma->peer));
    EXPECT_EQ(uct_rkey_unpack(rma->side.component, rma->peer.rkey, &rma->rkey),
              UCS_OK);
}

static void close_rma(rma_side_t *rma, int fd)
{
    for (int i = 0; i < GUARD; ++i) {
        EXPECT_EQ(rma->memory[i], 0xee);
        EXPECT_EQ(rma->memory[GUARD + WINDOW + i], 0xee);
    }
    uct_ep_destroy(rma->ep);
    side_barrier(&rma->side, fd);
    uct_rkey_release(rma->side.component, &rma->rkey);
    EXPECT_EQ(uct_md_mem_dereg(rma->side.md, rma->memh), UCS_OK);
    free(rma->memory);
    EXPECT_EQ(rma->side.failures, 0);
    side_close(&rma->side);
}

/* --- Sending ------------------------------------------------------------- */

static uint8_t *source;
static size_t pack_length;

static size_t pack(void *dst, void *arg)
{
    memcpy(dst, source, pack_length);
    return pack_length;
}

static void unpack(void *dst, const void *data, size_t length)
{
    memcpy(dst, data, length);
}

static void put(rma_side_t *rma, char kind, size_t offset, size_t length,
                unsigned pieces)
{
    uint64_t remote = rma->peer.address + offset;
    unsigned before = completed;
    uct_iov_t iov[4];
    ucs_status_t status;
    size_t done = 0, part;

    for (unsigned i = 0; i < pieces; ++i) {
        part   = (i + 1 == pieces) ? length - done : (length - done) / 2;
        iov[i] = (uct_iov_t){source + done, part, NULL, 0, 1};
        done += part;
    }
    pack_length = length;
    do {
        if (kind == 's') {
            status = uct_ep_put_short(rma->ep, source, (unsigned)length, remote,
                                      rma->rkey.rkey);
        } else if (kind == 'b') {
            ssize_t n = uct_ep_put_bcopy(rma->ep, pack, NULL, remote,
                                         rma->rkey.rkey);
            status    = (n < 0) ? (ucs_status_t)n : UCS_OK;
        } else {
            status = uct_ep_put_zcopy(rma->ep, iov, pieces, remote,
                                      rma->rkey.rkey, &completion);
        }
        if (status == UCS_ERR_NO_RESOURCE) {
            side_progress(&rma->side);
        }
    } while (status == UCS_ERR_NO_RESOURCE);
    if (kind == 's') {
        EXPECT_TRUE((status == UCS_OK) || (status == UCS_INPROGRESS));
    } else if (status == UCS_INPROGRESS) {
        side_wait(&rma->side, &completed, before + 1, "a put");
    } else {
        EXPECT_EQ(status, UCS_OK);
    }
}

static void get(rma_side_t *rma, char kind, void *buffer, size_t offset,
                size_t length, unsigned pieces)
{
    uint64_t remote = rma->peer.address + offset;
    unsigned before = completed;
    uct_iov_t iov[4];
    ucs_status_t status;
    size_t done = 0, part;

    for (unsigned i = 0; i < pieces; ++i) {
        part   = (i + 1 == pieces) ? length - done : (length - done) / 2;
        iov[i] = (uct_iov_t){(char *)buffer + done, part, NULL, 0, 1};
        done += part;
    }
    do {
        if (kind == 'b') {
            status = uct_ep_get_bcopy(rma->ep, unpack, buffer, length, remote,
                                      rma->rkey.rkey, &completion);
        } else {
            status = uct_ep_get_zcopy(rma->ep, iov, pieces, remote,
                                      rma->rkey.rkey, &completion);
        }
        if (status == UCS_ERR_NO_RESOURCE) {
            side_progress(&rma->side);
        }
    } while (status == UCS_ERR_NO_RESOURCE);
    EXPECT_EQ(status, UCS_INPROGRESS);
    side_wait(&rma->side, &completed, before + 1, "a get");
}

/* --- Sizes --------------------------------------------------------------- */

/* Writes data, reads it back and compares. */
static void round_trip(rma_side_t *rma, char kind, size_t length,
                       unsigned pieces)
{
    static uint64_t seed;
    size_t offset = (seed * 13) % 97;
    uint8_t *back = malloc(length + 1);

    pattern_fill(source, ++seed, length);
    put(rma, kind, offset, length, pieces);
    back[length] = 0x5a;
    get(rma, ((kind != 'z') && (length <= 65536)) ? 'b' : 'z', back, offset,
        length, pieces);
    EXPECT_EQ(pattern_check(back, seed, length), -1);
    EXPECT_EQ(back[length], 0x5a);
    free(back);
}

static void reads_and_writes(void *arg, int fd)
{
    uct_iface_attr_t *attr;
    rma_side_t rma;

    source = malloc(WINDOW);
    open_rma(&rma, fd, UCT_MD_MEM_ACCESS_ALL);
    attr = &rma.side.attr;
    for (size_t size = 1; size <= WINDOW / 2; size *= 2) {
        for (size_t length = size - (size > 1); length <= size + 1; ++length) {
            if (length <= attr->cap.put.max_short) {
                round_trip(&rma, 's', length, 1);
            }
            if (length <= attr->cap.put.max_bcopy) {
                round_trip(&rma, 'b', length, 1);
            }
            round_trip(&rma, 'z', length, 1);
            round_trip(&rma, 'z', length, (length > 8) ? 4 : 1);
        }
    }
    round_trip(&rma, 's', attr->cap.put.max_short, 1);
    round_trip(&rma, 'b', attr->cap.put.max_bcopy, 1);
    EXPECT_EQ(side_flush(&rma.side, rma.ep, UCT_FLUSH_FLAG_REMOTE), UCS_OK);
    side_barrier(&rma.side, fd);
    close_rma(&rma, fd);
    free(source);
}

static void offers_memory(void *arg, int fd)
{
    rma_side_t rma;

    open_rma(&rma, fd, UCT_MD_MEM_ACCESS_ALL);
    side_barrier(&rma.side, fd);
    close_rma(&rma, fd);
}

PAIR_TEST(rma_moves_every_size_both_ways, reads_and_writes, offers_memory)

/* --- Strided entries ----------------------------------------------------- */

#define MAX_BUFFERS 32
#define PIECE       128
#define STRIDE      200

/* Starts one operation on `count` buffers, described by a single entry. The
 * connection has send resources. */
static ucs_status_t start_strided(rma_side_t *rma, char kind, void *buffer,
                                  unsigned count)
{
    uct_iov_t iov = {buffer, PIECE, NULL, STRIDE, count};

    if (kind == 'a') {
        return uct_ep_am_zcopy(rma->ep, ID, NULL, 0, &iov, 1, 0, &completion);
    } else if (kind == 'p') {
        return uct_ep_put_zcopy(rma->ep, &iov, 1, rma->peer.address,
                                rma->rkey.rkey, &completion);
    }
    return uct_ep_get_zcopy(rma->ep, &iov, 1, rma->peer.address, rma->rkey.rkey,
                            &completion);
}

/* Too many buffers are invalid, not a lack of resources: a retry would never
 * succeed. The largest number works. */
static void strides(void *arg, int fd)
{
    static const char kinds[] = "apgap";
    uint8_t *back             = malloc((MAX_BUFFERS + 1) * STRIDE);
    ucs_status_t status;
    unsigned before;
    rma_side_t rma;

    source = malloc(WINDOW);
    open_rma(&rma, fd, UCT_MD_MEM_ACCESS_ALL);
    pattern_fill(source, 5, (MAX_BUFFERS + 1) * STRIDE);
    put(&rma, 's', 0, 1, 1); /* Opens the connection */
    for (const char *kind = kinds; *kind != '\0'; ++kind) {
        uint8_t *buffer = (*kind == 'g') ? back : source;

        EXPECT_EQ(side_flush(&rma.side, rma.ep, UCT_FLUSH_FLAG_REMOTE), UCS_OK);
        before = completed;
        EXPECT_EQ(start_strided(&rma, *kind, buffer, MAX_BUFFERS + 1),
                  UCS_ERR_INVALID_PARAM);
        status = start_strided(&rma, *kind, buffer, MAX_BUFFERS);
        if (status == UCS_INPROGRESS) {
            side_wait(&rma.side, &completed, before + 1, "an operation");
        } else {
            EXPECT_EQ(status, UCS_OK);
        }
    }
    for (unsigned i = 0; i < MAX_BUFFERS; ++i) {
        EXPECT_EQ(memcmp(back + i * STRIDE, source + i * STRIDE, PIECE), 0);
    }
    side_barrier(&rma.side, fd);
    close_rma(&rma, fd);
    free(back);
    free(source);
}

PAIR_TEST(rma_rejects_vectors_of_too_many_buffers, strides, offers_memory)

/* --- Order --------------------------------------------------------------- */

/* Handler of a message that is sent after a put: the data of the put must have
 * been written. */
static ucs_status_t on_after_put(void *arg, void *data, size_t length,
                                 unsigned flags)
{
    rma_side_t *rma = arg;
    uint64_t head[2];

    memcpy(head, data, sizeof(head));
    EXPECT_EQ(head[0], received);
    EXPECT_EQ(pattern_check(rma->memory + GUARD, head[0], head[1]), -1);
    ++received;
    return UCS_OK;
}

#define NUM_ORDERED 300

static void puts_then_tells(void *arg, int fd)
{
    static const char kinds[] = "szbz";
    uint64_t length;
    rma_side_t rma;

    source = malloc(WINDOW);
    open_rma(&rma, fd, UCT_MD_MEM_ACCESS_ALL);
    for (uint64_t i = 0; i < NUM_ORDERED; ++i) {
        length = (i % 4 == 0) ? 1 + i * 7 % 8000 :
                 (i % 4 == 2) ? 1 + i * 211 % 65000 :
                                1 + i * 10007 % 3000000;
        pattern_fill(source, i, length);
        put(&rma, kinds[i % 4], 0, length, 1);
        side_am_short(&rma.side, rma.ep, ID, i, &length, sizeof(length));
        /* The memory is reused: wait until the peer has checked it */
        EXPECT_EQ(side_flush(&rma.side, rma.ep, UCT_FLUSH_FLAG_REMOTE), UCS_OK);
        side_wait(&rma.side, &received, (unsigned)i + 1, "the answer");
    }
    side_barrier(&rma.side, fd);
    close_rma(&rma, fd);
    free(source);
}

static void checks_after_put(void *arg, int fd)
{
    rma_side_t rma;

    open_rma(&rma, fd, UCT_MD_MEM_ACCESS_ALL);
    EXPECT_EQ(uct_iface_set_am_handler(rma.side.iface, ID, on_after_put, &rma,
                                       0),
              UCS_OK);
    for (unsigned i = 0; i < NUM_ORDERED; ++i) {
        side_wait(&rma.side, &received, i + 1, "a message after a put");
        side_am_short(&rma.side, rma.ep, ID, i, NULL, 0);
    }
    side_barrier(&rma.side, fd);
    close_rma(&rma, fd);
}

PAIR_TEST(rma_put_is_in_place_before_what_follows, puts_then_tells,
          checks_after_put)

/* Small puts are collected; a following flush sends them by one system call.
 * Without a flush, the next progress sends them. */
static void puts_at_once(void *arg, int fd)
{
    rma_side_t rma;

    source = malloc(4096);
    open_rma(&rma, fd, UCT_MD_MEM_ACCESS_ALL);
    put(&rma, 's', 0, 8, 1); /* Establishes the connection */
    EXPECT_EQ(side_flush(&rma.side, rma.ep, UCT_FLUSH_FLAG_REMOTE), UCS_OK);

    num_sends = 0;
    pattern_fill(source, 1, 4096);
    put(&rma, 's', 0, 4096, 1);
    put(&rma, 'b', 4096, 4096, 1);
    EXPECT_EQ(num_sends, 0);
    EXPECT_EQ(side_flush(&rma.side, rma.ep, UCT_FLUSH_FLAG_REMOTE), UCS_OK);
    EXPECT_EQ(num_sends, 1);
    side_write(fd, "f", 1);
    side_barrier(&rma.side, fd);

    num_sends = 0;
    pattern_fill(source, 2, 4096);
    put(&rma, 's', 0, 4096, 1);
    EXPECT_EQ(num_sends, 0);
    side_progress(&rma.side);
    EXPECT_EQ(num_sends, 1);
    side_barrier(&rma.side, fd);
    close_rma(&rma, fd);
    free(source);
}

static void is_put_to(void *arg, int fd)
{
    double end;
    char told;
    rma_side_t rma;

    open_rma(&rma, fd, UCT_MD_MEM_ACCESS_ALL);
    side_read_later(&rma.side, fd, &told, 1);
    EXPECT_EQ(pattern_check(rma.memory + GUARD, 1, 4096), -1);
    EXPECT_EQ(pattern_check(rma.memory + GUARD + 4096, 1, 4096), -1);
    side_barrier(&rma.side, fd);

    end = side_now() + SIDE_TIMEOUT;
    while (pattern_check(rma.memory + GUARD, 2, 4096) != -1) {
        EXPECT_TRUE(side_now() < end);
        side_progress(&rma.side);
    }
    side_barrier(&rma.side, fd);
    close_rma(&rma, fd);
}

PAIR_TEST(rma_small_puts_and_their_flush_are_one_send, puts_at_once, is_put_to)

/* A get after a fence reads what an earlier put has written, and a put after a
 * fence does not change what an earlier get reads. */
static void fences(void *arg, int fd)
{
    uint8_t *back = malloc(1 << 20);
    unsigned before;
    uct_iov_t iov;
    rma_side_t rma;

    source = malloc(1 << 20);
    open_rma(&rma, fd, UCT_MD_MEM_ACCESS_ALL);
    for (uint64_t i = 1; i <= 50; ++i) {
        pattern_fill(source, i, 1 << 20);
        put(&rma, 'z', 0, 1 << 20, 1);
        EXPECT_EQ(uct_ep_fence(rma.ep, 0), UCS_OK);
        before = completed;
        iov    = (uct_iov_t){back, 1 << 20, NULL, 0, 1};
        while (uct_ep_get_zcopy(rma.ep, &iov, 1, rma.peer.address,
                                rma.rkey.rkey,
                                &completion) == UCS_ERR_NO_RESOURCE) {
            side_progress(&rma.side);
        }
        EXPECT_EQ(uct_ep_fence(rma.ep, 0), UCS_OK);
        pattern_fill(source, i + 1000, 4096);
        put(&rma, 's', 0, 4096, 1);
        side_wait(&rma.side, &completed, before + 1, "a get");
        EXPECT_EQ(pattern_check(back, i, 1 << 20), -1);
    }
    side_barrier(&rma.side, fd);
    close_rma(&rma, fd);
    free(back);
    free(source);
}

PAIR_TEST(rma_fence_orders_gets_before_puts, fences, offers_memory)

/* Starts more gets than may be outstanding on a connection, and progresses
 * while there are no send resources. */
static void gets_many(void *arg, int fd)
{
    unsigned issued = 0;
    uint8_t *back   = malloc(400 * 8192);
    ucs_status_t status;
    uct_iov_t iov;
    rma_side_t rma;

    source = malloc(WINDOW);
    open_rma(&rma, fd, UCT_MD_MEM_ACCESS_ALL);
    pattern_fill(source, 77, 400 * 8192);
    put(&rma, 'z', 0, 400 * 8192, 1);
    completed = 0;
    for (unsigned i = 0; i < 400; ++i) {
        iov = (uct_iov_t){back + i * 8192, 8192, NULL, 0, 1};
        while ((status = uct_ep_get_zcopy(rma.ep, &iov, 1,
                                          rma.peer.address + i * 8192,
                                          rma.rkey.rkey, &completion)) ==
               UCS_ERR_NO_RESOURCE) {
            side_progress(&rma.side);
        }
        EXPECT_EQ(status, UCS_INPROGRESS);
        ++issued;
    }
    EXPECT_EQ(side_flush(&rma.side, rma.ep, 0), UCS_OK);
    EXPECT_EQ(completed, issued);
    EXPECT_EQ(pattern_check(back, 77, 400 * 8192), -1);
    side_barrier(&rma.side, fd);
    close_rma(&rma, fd);
    free(back);
    free(source);
}

PAIR_TEST(rma_takes_more_gets_than_fit_at_once, gets_many, offers_memory)

/* --- Malicious peers ------------------------------------------------------ */

typedef struct target {
    side_t side;
    uint8_t *memory;
    uct_mem_h memh;
    tcp_wire_rkey_t rkey;
} target_t;

static void send_put(int fd, uint64_t key, uint64_t address,
                     uint32_t data_length, uint32_t sent)
{
    struct {
        uint64_t frame;
        tcp_wire_put_t put;
        uint8_t data[4096];
    } out;

    memset(&out, 0x66, sizeof(out));
    out.frame       = tcp_wire_frame(TCP_WIRE_PUT, 0,
                                     (uint32_t)sizeof(out.put) + data_length);
    out.put.key     = htole64(key);
    out.put.address = htole64(address);
    raw_send(fd, &out, offsetof(typeof(out), data) + sent);
}

static void send_get(int fd, uint64_t key, uint64_t address, uint64_t length)
{
    struct {
        uint64_t frame;
        tcp_wire_get_t get;
    } out;

    out.frame       = tcp_wire_frame(TCP_WIRE_GET, 0, sizeof(out.get));
    out.get.key     = htole64(key);
    out.get.address = htole64(address);
    out.get.length  = htole64(length);
    raw_send(fd, &out, sizeof(out));
}

static void expect_untouched(const target_t *target)
{
    for (int i = 0; i < 8192; ++i) {
        EXPECT_EQ(target->memory[i], 0x11);
    }
}

/* Each attempt ends in a closed connection and unchanged memory. */
static void meets_thieves(void *arg, int unused)
{
    uint64_t id = 0x1000, key, base;
    target_t target;
    double end;
    int fd;

    side_open(&target.side, NULL);
    target.memory = malloc(8192);
    memset(target.memory, 0x11, 8192);
    EXPECT_EQ(uct_md_mem_reg(target.side.md, target.memory + 2048, 4096,
                             UCT_MD_MEM_ACCESS_REMOTE_PUT, &target.memh),
              UCS_OK);
    EXPECT_EQ(uct_md_mkey_pack(target.side.md, target.memh, &target.rkey),
              UCS_OK);
    key  = le64toh(target.rkey.key);
    base = (uint64_t)(uintptr_t)(target.memory + 2048);

    const struct {
        uint64_t key;
        uint64_t address;
        uint32_t length;
    } puts[] = {
        {key ^ 1, base, 64},           {0, base, 64},
        {key + 0x10000, base, 64}, /* Same bucket of the table of keys */
        {key, base - 1, 64},           {key, base + 4096, 1},
        {key, base + 4000, 97},        {key, base, 4097},
        {key, UINT64_MAX - 8, 64},     {key, 0, 64},
        {key, base, TCP_WIRE_SEG_MAX}, {key, base, 0x7fffffff},
    };
    for (unsigned i = 0; i < sizeof(puts) / sizeof(puts[0]); ++i) {
        fd = raw_peer(&target.side, ++id);
        send_put(fd, puts[i].key, puts[i].address, puts[i].length, 64);
        raw_wait_closed(&target.side, fd);
        close(fd);
        expect_untouched(&target);
    }

    /* Gets fail: the key permits puts only */
    const struct {
        uint64_t key, address, length;
    } gets[] = {
        {key, base, 64},         {key ^ 4, base, 64},  {key, base, 0},
        {key, base, UINT64_MAX}, {key, UINT64_MAX, 2},
    };
    for (unsigned i = 0; i < sizeof(gets) / sizeof(gets[0]); ++i) {
        fd = raw_peer(&target.side, ++id);
        send_get(fd, gets[i].key, gets[i].address, gets[i].length);
        raw_wait_closed(&target.side, fd);
        close(fd);
    }

    /* The memory is deregistered when 1000 of 4096 bytes of a put have
     * arrived */
    fd = raw_peer(&target.side, ++id);
    send_put(fd, key, base, 4096, 1000);
    end = side_now() + SIDE_TIMEOUT;
    while (target.memory[2048 + 999] != 0x66) {
        EXPECT_TRUE(side_now() < end);
        side_progress(&target.side);
    }
    EXPECT_EQ(uct_md_mem_dereg(target.side.md, target.memh), UCS_OK);
    memset(target.memory, 0x11, 8192);
    send_put(fd, key, base, 4096, 3000);
    raw_wait_closed(&target.side, fd);
    close(fd);
    expect_untouched(&target);

    free(target.memory);
    EXPECT_EQ(target.side.failures, 0);
    side_close(&target.side);
}

static void does_nothing(void *arg, int fd)
{
}

PAIR_TEST(rma_without_the_right_key_touches_nothing, meets_thieves,
          does_nothing)

/* Unpacking rejects only a key of zeros. An invalid key other than 0 is
 * rejected by the owner of the memory when it is used. */
static void unpacks_garbage(void *arg, int fd)
{
    uint8_t packed[64];
    uct_rkey_bundle_t rkey;
    side_t side;

    side_open(&side, NULL);
    memset(packed, 0, sizeof(packed));
    EXPECT_EQ(uct_rkey_unpack(side.component, packed, &rkey),
              UCS_ERR_INVALID_PARAM);
    side_close(&side);
}

PAIR_TEST(rma_refuses_a_bad_packed_key, unpacks_garbage, does_nothing)

SUITE_RUN("tcp rma", rma_moves_every_size_both_ways,
          rma_rejects_vectors_of_too_many_buffers,
          rma_put_is_in_place_before_what_follows,
          rma_small_puts_and_their_flush_are_one_send,
          rma_fence_orders_gets_before_puts,
          rma_takes_more_gets_than_fit_at_once,
          rma_without_the_right_key_touches_nothing,
          rma_refuses_a_bad_packed_key)
