/* SPDX-License-Identifier: BSD-3-Clause */
/* ugni over the provider shm: shared memory regions that killed processes leave
 * behind, failed accesses to remote memory, the registration cache. */
#include "node.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LENGTH      = 4096,
    NAME_OFFSET = 32, /* Offset of libfabric's address in an interface
                       * address */
};

static char memory[LENGTH], data[LENGTH];

static void on_end(uct_completion_t *comp)
{
}

/* Opens a node over shm in another process, kills the process, and stores the
 * addresses of the node in *node. */
static void open_and_kill(node_t *node)
{
    domain_t domain;
    int fds[2];
    pid_t pid;

    ck_assert_int_eq(pipe(fds), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        domain_open(&domain);
        node_open(node, &domain);
        (void)!write(fds[1], node, sizeof(*node));
        pause();
    }
    ck_assert_int_eq(read(fds[0], node, sizeof(*node)), sizeof(*node));
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    close(fds[0]);
    close(fds[1]);
}

/* Stores in `path` the path of the node's shared memory region, which a killed
 * process leaves behind. */
static void region_path(const node_t *node, char path[NODE_ADDR_MAX])
{
    static const char prefix[] = "fi_shm://";
    const char *name           = node->addr[NODE_SMSG] + NAME_OFFSET;

    ck_assert_mem_eq(name, prefix, sizeof(prefix) - 1);
    snprintf(path, NODE_ADDR_MAX, "/dev/shm/%.*s", NODE_ADDR_MAX / 2,
             name + sizeof(prefix) - 1);
}

START_TEST(region_of_a_killed_process_is_removed_later)
{
    const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    char path[NODE_ADDR_MAX];
    domain_t domain;
    node_t node;

    open_and_kill(&node);
    region_path(&node, path);
    domain_open(&domain);
    node_open(&node, &domain);
    ck_assert_int_eq(access(path, F_OK), 0); /* A region that is not old is not
                                              * removed yet */
    node_close(&node);
    ck_assert_int_eq(utimensat(AT_FDCWD, path, old, 0), 0);
    node_open(&node, &domain);
    ck_assert_int_ne(access(path, F_OK), 0);
    node_close(&node);
    uct_md_close(domain.md);
}
END_TEST

/* Opens a pair, and creates an endpoint of its first node to `victim`, whose
 * process has been killed. `path`: the file that shows its memory region. */
static void open_to_killed(node_t *victim, char *path, pair_t *pair,
                           uct_ep_h *access)
{
    open_and_kill(victim);
    region_path(victim, path);
    pair_open(pair, memory, LENGTH);
    ASSERT_OK(node_connect(&pair->a, NODE_RDMA, victim, access));
}

/* The get itself detects that the process is gone, and makes the endpoint
 * fail. */
START_TEST(access_to_a_killed_process_fails)
{
    uct_completion_t comp = {.func = on_end, .count = 1, .status = UCS_OK};
    uct_iov_t iov         = {.buffer = data, .length = 64, .count = 1};
    char path[NODE_ADDR_MAX];
    uct_ep_h access;
    node_t victim;
    pair_t pair;

    open_to_killed(&victim, path, &pair, &access);
    ck_assert_int_eq(uct_ep_get_zcopy(access, &iov, 1, (uintptr_t)memory,
                                      pair.rkey.rkey, &comp),
                     UCS_ERR_NO_RESOURCE);
    NODE_WAIT(&pair.a, &pair.b, pair.a.failures == 1);
    ck_assert_int_eq(pair.a.failed, UCS_ERR_CONNECTION_RESET);
    ck_assert_int_eq(comp.count, 1);
    uct_ep_destroy(access);
    pair_close(&pair);
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

static size_t pack(void *to, void *arg)
{
    ++*(unsigned *)arg;
    memset(to, 'x', 64);
    return 64;
}

/* The user may be unable to pack the same data again: a put that has packed it
 * succeeds, and the endpoint fails. */
START_TEST(put_to_a_killed_process_packs_once)
{
    char path[NODE_ADDR_MAX];
    unsigned packed = 0;
    uct_ep_h access;
    node_t victim;
    pair_t pair;

    open_to_killed(&victim, path, &pair, &access);
    ck_assert_int_eq(uct_ep_put_bcopy(access, pack, &packed, (uintptr_t)memory,
                                      pair.rkey.rkey),
                     64);
    NODE_WAIT(&pair.a, &pair.b, pair.a.failures == 1);
    ck_assert_int_eq(pair.a.failed, UCS_ERR_CONNECTION_RESET);
    ck_assert_int_eq(node_flush(&pair.a, access, &pair.b),
                     UCS_ERR_CONNECTION_RESET);
    ck_assert_uint_eq(packed, 1);
    uct_ep_destroy(access);
    pair_close(&pair);
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

/* Waits until an access to unmapped memory has failed. `access`: the endpoint
 * of pair->a on which it was started; `status`: the result of starting it. */
static void expect_failure(pair_t *pair, uct_ep_h access, ucs_status_t status)
{
    ck_assert_int_eq(status, UCS_INPROGRESS);
    NODE_WAIT(&pair->a, &pair->b, pair->a.failures == 1);
    ck_assert_int_eq(pair->a.failed, UCS_ERR_IO_ERROR);
    uct_ep_destroy(access);
    pair->a.failures = 0;
}

START_TEST(access_to_unmapped_memory_fails_at_once)
{
    uct_completion_t comp = {.func = on_end, .count = 1, .status = UCS_OK};
    uct_completion_t add  = {.func = on_end, .count = 1, .status = UCS_OK};
    uct_iov_t iov         = {.buffer = data, .length = 64, .count = 1};
    uct_rkey_bundle_t rkey;
    uct_ep_h access, other;
    uint64_t result;
    uct_mem_h memh;
    pair_t pair;
    char *page;

    pair_open(&pair, memory, LENGTH);
    page = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(page, MAP_FAILED);
    memh = node_register(&pair.domain, page, LENGTH, &rkey);
    ASSERT_OK(node_connect(&pair.a, NODE_RDMA, &pair.b, &access));
    ASSERT_OK(node_connect(&pair.a, NODE_RDMA, &pair.b, &other));
    ck_assert_int_eq(munmap(page, LENGTH), 0);
    /* This atomic is outstanding when the get below fails. The error must not
     * be attributed to the atomic. */
    ck_assert_int_eq(uct_ep_atomic64_fetch(other, UCT_ATOMIC_OP_ADD, 1, &result,
                                           (uintptr_t)memory, pair.rkey.rkey,
                                           &add),
                     UCS_INPROGRESS);
    expect_failure(&pair, access,
                   uct_ep_get_zcopy(access, &iov, 1, (uintptr_t)page, rkey.rkey,
                                    &comp));
    ck_assert_int_eq(comp.count, 0);
    ck_assert_int_eq(comp.status, UCS_ERR_IO_ERROR);
    NODE_WAIT(&pair.a, &pair.b, add.count == 0);
    ASSERT_OK(add.status);
    ck_assert_int_eq(memory[0], 1);
    ASSERT_OK(uct_ep_get_zcopy(other, &iov, 1, (uintptr_t)memory,
                               pair.rkey.rkey, &comp));
    ck_assert_int_eq(data[0], 1);
    uct_ep_destroy(other);
    ASSERT_OK(uct_md_mem_dereg(pair.domain.md, memh));
    uct_rkey_release(pair.domain.component, &rkey);
    pair_close(&pair);
}
END_TEST

/* Registers the page with `flags`, stores its packed key in `key`, and
 * deregisters the page. */
static void key_of(const domain_t *domain, void *page, unsigned flags,
                   void *key, size_t size)
{
    uct_md_attr_t attr;
    uct_mem_h memh;

    ASSERT_OK(uct_md_query(domain->md, &attr));
    ck_assert_uint_le(attr.rkey_packed_size, size);
    memset(key, 0, size);
    ASSERT_OK(uct_md_mem_reg(domain->md, page, LENGTH, flags, &memh));
    ASSERT_OK(uct_md_mkey_pack(domain->md, memh, key));
    ASSERT_OK(uct_md_mem_dereg(domain->md, memh));
}

/* Each registration has a random key, so equal keys show that the registration
 * is the same. */
START_TEST(registration_is_kept_until_memory_is_unmapped)
{
    const unsigned flags = UCT_MD_MEM_ACCESS_REMOTE_PUT |
                           UCT_MD_MEM_ACCESS_REMOTE_GET;
    const int map_flags = MAP_PRIVATE | MAP_ANONYMOUS;
    char first[256], second[256];
    domain_t domain;
    char *page, *again;

    setenv("UCX_UGNI_RCACHE", "y", 1);
    domain_open(&domain);
    page = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, map_flags, -1, 0);
    ck_assert_ptr_ne(page, MAP_FAILED);
    key_of(&domain, page, flags, first, sizeof(first));
    key_of(&domain, page, flags, second, sizeof(second));
    ck_assert_mem_eq(first, second, sizeof(first));

    /* Memory with all access rights, which peers may access, is not cached: it
     * has a registration and a key of its own. */
    key_of(&domain, page, UCT_MD_MEM_ACCESS_ALL, second, sizeof(second));
    ck_assert_mem_ne(first, second, sizeof(first));

    ck_assert_int_eq(munmap(page, LENGTH), 0);
    again = mmap(page, LENGTH, PROT_READ | PROT_WRITE, map_flags | MAP_FIXED,
                 -1, 0);
    ck_assert_ptr_eq(again, page);
    key_of(&domain, page, flags, second, sizeof(second));
    ck_assert_mem_ne(first, second, sizeof(first));
    uct_md_close(domain.md);
    ck_assert_int_eq(munmap(page, LENGTH), 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("shm");

    tcase_add_test(tcase, region_of_a_killed_process_is_removed_later);
    tcase_add_test(tcase, access_to_a_killed_process_fails);
    tcase_add_test(tcase, put_to_a_killed_process_packs_once);
    tcase_add_test(tcase, access_to_unmapped_memory_fails_at_once);
    tcase_add_test(tcase, registration_is_kept_until_memory_is_unmapped);
    return node_run(tcase);
}
