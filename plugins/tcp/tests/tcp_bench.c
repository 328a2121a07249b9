/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Benchmark of the transport alone, with two processes pinned to two cores:
 * latency and rate of 8-byte messages, bandwidth of larger ones, cost of
 * opening. Not a test: slowness is no failure.
 */
#include "side.h"

#include <sched.h>
#include <string.h>

static unsigned bench_received;
static uint64_t bench_bytes;

static ucs_status_t on_am(void *arg, void *data, size_t length, unsigned flags)
{
    ++bench_received;
    bench_bytes += length;
    return UCS_OK;
}

static void pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

static void latency(side_t *side, uct_ep_h ep, int first, unsigned rounds)
{
    double start = 0;

    for (unsigned i = 0; i < rounds + rounds / 10; ++i) {
        unsigned target = bench_received + 1;

        if (i == rounds / 10) {
            start = side_now();
        }
        if (first) {
            side_am_short(side, ep, 1, i, NULL, 0);
        }
        while (bench_received < target) {
            side_progress(side);
        }
        if (!first) {
            side_am_short(side, ep, 1, i, NULL, 0);
        }
    }
    if (first) {
        printf("latency   8 B: %.2f us\n",
               (side_now() - start) / rounds / 2 * 1e6);
    }
}

/* Measures the rate of messages. The sender calls progress after each `window`
 * messages, as an application with a limited number of outstanding sends
 * does. */
static void rate(side_t *side, uct_ep_h ep, int first, unsigned count,
                 unsigned window, int fd)
{
    double start;

    side_barrier(side, fd);
    start = side_now();
    if (first) {
        for (unsigned i = 0; i < count; ++i) {
            side_am_short(side, ep, 1, i, &start, 8);
            if (i % window == 0) {
                side_progress(side);
            }
        }
        side_flush(side, ep, 0);
        side_wait(side, &bench_received, bench_received + 1, "the answer");
        printf("rate      8 B (window %u): %.2f M/s\n", window,
               count / (side_now() - start) / 1e6);
    } else {
        side_wait(side, &bench_received, bench_received + count, "messages");
        side_am_short(side, ep, 1, 0, NULL, 0);
        side_flush(side, ep, 0);
    }
}

static unsigned zcopy_done;

static void on_zcopy(uct_completion_t *comp)
{
    ++zcopy_done;
    comp->count = 1;
}

static void stream(side_t *side, uct_ep_h ep, int first, size_t size,
                   const char *what, int fd, uint8_t *buffer, uint64_t remote,
                   uct_rkey_bundle_t *rkey)
{
    uct_completion_t comp = {on_zcopy, 1, UCS_OK};
    uct_iov_t iov         = {buffer, size, NULL, 0, 1};
    unsigned count = (unsigned)((2ul << 30) / size), outstanding = 0;
    ucs_status_t status;
    double start;

    side_barrier(side, fd);
    start      = side_now();
    zcopy_done = 0;
    if (first) {
        for (unsigned i = 0; i < count;) {
            if (*what == 'p') {
                status = uct_ep_put_zcopy(ep, &iov, 1, remote, rkey->rkey,
                                          &comp);
            } else if (*what == 'g') {
                status = uct_ep_get_zcopy(ep, &iov, 1, remote, rkey->rkey,
                                          &comp);
            } else {
                status = uct_ep_am_zcopy(ep, 1, NULL, 0, &iov, 1, 0, &comp);
            }
            if (status == UCS_INPROGRESS) {
                ++outstanding;
                ++i;
            } else if (status == UCS_OK) {
                ++i;
            } else {
                EXPECT_EQ(status, UCS_ERR_NO_RESOURCE);
            }
            if ((status == UCS_ERR_NO_RESOURCE) ||
                (outstanding - zcopy_done >= 16)) {
                side_progress(side);
            }
        }
        side_wait(side, &zcopy_done, outstanding, "completions");
        EXPECT_EQ(side_flush(side, ep, UCT_FLUSH_FLAG_REMOTE), UCS_OK);
        printf("%s %7zu B: %.2f GB/s\n", what, size,
               (double)count * (double)size / (side_now() - start) / 1e9);
    }
    side_barrier(side, fd);
}

static void costs(side_t *side, const side_addr_t *peer)
{
    uct_ep_h eps[1000];
    side_addr_t addr;
    uct_iface_h iface;
    double start, mid, end;

    start = side_now();
    for (int i = 0; i < 100; ++i) {
        iface = side_open_iface(side, NULL, &addr);
        uct_iface_close(iface);
    }
    mid = side_now();
    for (int i = 0; i < 1000; ++i) {
        eps[i] = side_connect(side, peer);
    }
    end = side_now();
    printf("iface open+close %.1f us, endpoint %.2f us\n",
           (mid - start) / 100 * 1e6, (end - mid) / 1000 * 1e6);
    for (int i = 0; i < 1000; ++i) {
        uct_ep_destroy(eps[i]);
    }
}

static void bench(int first, int fd)
{
    size_t length    = 1 << 20;
    uint8_t *buffer  = aligned_alloc(4096, length), packed[64];
    uint64_t address = (uint64_t)(uintptr_t)buffer, remote;
    uct_rkey_bundle_t rkey;
    side_addr_t peer;
    uct_md_attr_t md_attr;
    uct_mem_h memh;
    side_t side;
    uct_ep_h ep;

    pin(first);
    memset(buffer, first, length);
    side_open(&side, getenv("TCP_BENCH_CONFIG"));
    EXPECT_EQ(uct_iface_set_am_handler(side.iface, 1, on_am, NULL, 0), UCS_OK);
    ep = side_meet(&side, fd, &peer);

    EXPECT_EQ(uct_md_query(side.md, &md_attr), UCS_OK);
    EXPECT_EQ(uct_md_mem_reg(side.md, buffer, length, UCT_MD_MEM_ACCESS_ALL,
                             &memh),
              UCS_OK);
    EXPECT_EQ(uct_md_mkey_pack(side.md, memh, packed), UCS_OK);
    side_write(fd, packed, sizeof(packed));
    side_write(fd, &address, sizeof(address));
    side_read(fd, packed, sizeof(packed));
    side_read(fd, &remote, sizeof(remote));
    EXPECT_EQ(uct_rkey_unpack(side.component, packed, &rkey), UCS_OK);

    if (first) {
        costs(&side, &peer);
    }
    side_barrier(&side, fd);
    for (int i = 0; i < 3; ++i) {
        latency(&side, ep, first, 50000);
    }
    for (int i = 0; i < 2; ++i) {
        rate(&side, ep, first, 4000000, 64, fd);
        rate(&side, ep, first, 4000000, 1000, fd);
    }
    for (int i = 0; i < 2; ++i) {
        stream(&side, ep, first, 65536, "am", fd, buffer, remote, &rkey);
        stream(&side, ep, first, 262144, "am", fd, buffer, remote, &rkey);
        stream(&side, ep, first, 65536, "put", fd, buffer, remote, &rkey);
        stream(&side, ep, first, 1048576, "put", fd, buffer, remote, &rkey);
        stream(&side, ep, first, 65536, "get", fd, buffer, remote, &rkey);
        stream(&side, ep, first, 1048576, "get", fd, buffer, remote, &rkey);
    }

    uct_ep_destroy(ep);
    side_barrier(&side, fd);
    uct_rkey_release(side.component, &rkey);
    uct_md_mem_dereg(side.md, memh);
    side_close(&side);
    free(buffer);
}

static void second(void *arg, int fd)
{
    bench(0, fd);
}

int main(void)
{
    pid_t pid;
    int fd;

    setvbuf(stdout, NULL, _IOLBF, 0);
    pid = side_fork(second, NULL, &fd);
    bench(1, fd);
    return side_join(pid) ? 0 : 1;
}
