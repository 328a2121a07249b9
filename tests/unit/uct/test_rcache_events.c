/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registration cache as plugins use it (the host's table of services), with
 * memory events: a registration is not returned again after its memory was
 * unmapped. Also the events that plugins receive, threads, and fork(). The
 * memory domain of this test registers nothing and counts the calls.
 */
#include "common.h"

#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ucs/debug/log.h"
#include "uct/base/rcache.h"
#include "uct/base/state.h"

#define PAGE  4096ul
#define MAGIC 0x1badb002u

typedef struct my_region {
    ucx_rcache_region_t super;
    unsigned magic;
} my_region_t;

/* The emulated memory domain: counters, and what its functions do besides. */
typedef struct domain {
    atomic_uint regs, deregs;
    void *unmap;     /* Page that reg() unmaps once; NULL: none */
    sem_t *released; /* Semaphore that dereg() posts; NULL: none */
    /* Bytes that reg() and dereg() allocate and free; 0: none */
    size_t allocate;
} domain_t;

static domain_t domain;
static ucx_rcache_t *rcache;

static void use_heap(const domain_t *dom)
{
    if (dom->allocate > 0) {
        char *volatile block = malloc(dom->allocate);

        block[0] = 1;
        free(block);
    }
}

static ucs_status_t reg(void *arg, ucx_rcache_region_t *region, unsigned flags)
{
    domain_t *dom = arg;
    void *unmap   = dom->unmap;

    ((my_region_t *)region)->magic = MAGIC;
    ++dom->regs;
    use_heap(dom);
    if (unmap != NULL) {
        dom->unmap = NULL;
        munmap(unmap, PAGE);
    }
    return UCS_OK;
}

/* Several threads call this function, even while another thread forks. It must
 * not use ck_assert(), because libcheck takes a lock, which would stay locked
 * in the child. */
static void dereg(void *arg, ucx_rcache_region_t *region)
{
    domain_t *dom = arg;

    if (((my_region_t *)region)->magic != MAGIC) {
        abort();
    }
    ++dom->deregs;
    use_heap(dom);
    if (dom->released != NULL) {
        sem_post(dom->released);
    }
}

static ucs_status_t create(void)
{
    const ucx_rcache_params_t params = {
        .size        = sizeof(params),
        .name        = "counting",
        .region_size = sizeof(my_region_t),
        .alignment   = PAGE,
        .max_regions = SIZE_MAX,
        .max_bytes   = SIZE_MAX,
        .mem_reg     = reg,
        .mem_dereg   = dereg,
        .arg         = &domain,
    };

    memset(&domain, 0, sizeof(domain));
    return uct_host.rcache_create(&params, &rcache);
}

static void setup(void)
{
    ck_ok(create());
}

static void teardown(void)
{
    uct_host.rcache_destroy(rcache);
    ck_assert_uint_eq(domain.regs, domain.deregs);
}

static ucx_rcache_region_t *get(void *address, size_t length)
{
    ucx_rcache_region_t *region;

    ck_ok(uct_host.rcache_get(rcache, address, length, 1, &region));
    return region;
}

/* Gets a registration from the cache and releases it, as a transfer does. */
static void touch(void *address, size_t length)
{
    uct_host.rcache_put(rcache, get(address, length));
}

static char *map_at(void *address, size_t length)
{
    char *place = mmap(address, length, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS |
                           ((address != NULL) ? MAP_FIXED : 0),
                       -1, 0);

    ck_assert_ptr_ne(place, MAP_FAILED);
    return place;
}

START_TEST(buffer_that_stays_is_registered_once)
{
    char *buffer = map_at(NULL, 8 * PAGE);

    touch(buffer, 8 * PAGE);
    touch(buffer + PAGE, PAGE);
    free(malloc(1 << 20)); /* unmaps memory that is not registered */
    touch(buffer, 8 * PAGE);
    ck_assert_uint_eq(domain.regs, 1);
    munmap(buffer, 8 * PAGE);
}
END_TEST

START_TEST(buffer_mapped_again_is_registered_anew)
{
    char *buffer = map_at(NULL, 8 * PAGE);

    touch(buffer, 8 * PAGE);
    munmap(buffer, 8 * PAGE);
    /* deregistration does not happen inside munmap() */
    ck_assert_uint_eq(domain.deregs, 0);
    map_at(buffer, 8 * PAGE);
    touch(buffer, 8 * PAGE);
    ck_assert_uint_eq(domain.regs, 2);
    ck_assert_uint_eq(domain.deregs, 1);

    /* A registration also becomes invalid if a part of its memory is unmapped,
     * or replaced by another mapping. */
    munmap(buffer + 3 * PAGE, PAGE);
    map_at(buffer + 3 * PAGE, PAGE);
    touch(buffer, 8 * PAGE);
    ck_assert_uint_eq(domain.regs, 3);
    map_at(buffer, PAGE);
    touch(buffer, 8 * PAGE);
    ck_assert_uint_eq(domain.regs, 4);
    munmap(buffer, 8 * PAGE);
}
END_TEST

START_TEST(freed_block_is_registered_anew)
{
    const size_t length = 64ul << 20;
    char *block         = malloc(length);

#ifdef __SANITIZE_THREAD__
    free(block);
    /* the thread sanitizer's heap calls the system directly: there are no
     * events */
    return;
#endif

    touch(block, length);
    free(block);
    block = malloc(length);
    touch(block, length);
    free(block);
    ck_assert_uint_eq(domain.regs, 2);
}
END_TEST

START_TEST(dropped_pages_are_registered_anew)
{
    char *buffer = map_at(NULL, 8 * PAGE);

    touch(buffer, 4 * PAGE);
    madvise(buffer, PAGE, MADV_WILLNEED);
    touch(buffer, 4 * PAGE);
    ck_assert_uint_eq(domain.regs, 1);
    madvise(buffer, PAGE, MADV_DONTNEED);
    touch(buffer, 4 * PAGE);
    ck_assert_uint_eq(domain.regs, 2);
    munmap(buffer, 8 * PAGE);
}
END_TEST

START_TEST(moved_buffer_is_registered_anew)
{
    char *buffer = map_at(NULL, 2 * PAGE), *place = map_at(NULL, 4 * PAGE);

    touch(buffer, 2 * PAGE);
    touch(place, 4 * PAGE);
    ck_assert_ptr_eq(mremap(buffer, 2 * PAGE, 4 * PAGE,
                            MREMAP_MAYMOVE | MREMAP_FIXED, place),
                     place);
    touch(place, 4 * PAGE);
    ck_assert_uint_eq(domain.regs, 3);
    map_at(buffer, 2 * PAGE);
    touch(buffer, 2 * PAGE);
    ck_assert_uint_eq(domain.regs, 4);
    munmap(buffer, 2 * PAGE);
    munmap(place, 4 * PAGE);
}
END_TEST

START_TEST(held_region_stays_registered)
{
    char *buffer              = map_at(NULL, 4 * PAGE);
    ucx_rcache_region_t *held = get(buffer, 4 * PAGE), *other;

    munmap(buffer, 4 * PAGE);
    map_at(buffer, 4 * PAGE);
    other = get(buffer, 4 * PAGE);
    ck_assert_ptr_ne(other, held);
    ck_assert_uint_eq(domain.deregs, 0);
    uct_host.rcache_put(rcache, held);
    ck_assert_uint_eq(domain.deregs, 1);
    uct_host.rcache_put(rcache, other);
    ck_assert_uint_eq(domain.deregs, 1);
    munmap(buffer, 4 * PAGE);
}
END_TEST

START_TEST(unmapped_while_it_is_registered_is_not_kept)
{
    char *buffer = map_at(NULL, 4 * PAGE);

    domain.unmap = buffer + PAGE;
    touch(buffer, 4 * PAGE);
    ck_assert_uint_eq(uct_rcache_num_regions(rcache), 0);
    ck_assert_uint_eq(domain.deregs, 1);
    map_at(buffer + PAGE, PAGE);
    touch(buffer, 4 * PAGE);
    ck_assert_uint_eq(domain.regs, 2);
    ck_assert_uint_eq(uct_rcache_num_regions(rcache), 1);
    munmap(buffer, 4 * PAGE);
}
END_TEST

START_TEST(released_device_memory_is_registered_anew)
{
    char *memory = map_at(NULL, 2 * PAGE);

    uct_host.mem_type_allocated(memory, 2 * PAGE, UCS_MEMORY_TYPE_CUDA, 0);
    touch(memory, 2 * PAGE);
    uct_host.mem_type_released(memory, 2 * PAGE);
    uct_host.mem_type_allocated(memory, 2 * PAGE, UCS_MEMORY_TYPE_CUDA, 0);
    touch(memory, 2 * PAGE);
    ck_assert_uint_eq(domain.regs, 2);
    uct_host.mem_type_released(memory, 2 * PAGE);
    munmap(memory, 2 * PAGE);
}
END_TEST

/* A program unmaps more memory than UCX_RCACHE_MAX_UNRELEASED and does not use
 * the cache any more: the cache must deregister the memory on its own. */
START_TEST(much_unmapped_memory_is_released_without_a_use)
{
    struct timespec limit;
    sem_t released;
    char *buffer;

    setenv("UCX_RCACHE_MAX_UNRELEASED", "1M", 1);
    ck_ok(create());
    sem_init(&released, 0, 0);
    domain.released = &released;
    buffer          = map_at(NULL, 512 * PAGE);
    touch(buffer, 512 * PAGE);
    munmap(buffer, 512 * PAGE);
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 20;
    ck_assert_int_eq(sem_timedwait(&released, &limit), 0);
    ck_assert_uint_eq(domain.deregs, 1);
    teardown();
    sem_destroy(&released);
}
END_TEST

/* --- Settings of the user ------------------------------------------------ */

START_TEST(there_is_no_cache_when_it_is_switched_off)
{
    static const char *const settings[][2] = {
        {"UCX_MEM_EVENTS", "n"},
        {"UCX_MEM_MMAP_HOOK_MODE", "none"},
        {"UCX_RCACHE_ENABLE", "n"},
    };

    setenv(settings[_i][0], settings[_i][1], 1);
    ck_status(create(), UCS_ERR_UNSUPPORTED);
}
END_TEST

START_TEST(limits_of_the_user_hold)
{
    char *buffer = map_at(NULL, 8 * PAGE);

    setenv("UCX_RCACHE_MAX_REGIONS", "2", 1);
    setenv("UCX_RCACHE_MAX_SIZE", "8k", 1);
    ck_ok(create());
    touch(buffer, PAGE);
    touch(buffer + 2 * PAGE, PAGE);
    touch(buffer + 4 * PAGE, PAGE);
    ck_assert_uint_eq(uct_rcache_num_regions(rcache), 2);
    touch(buffer + 5 * PAGE, 3 * PAGE);
    ck_assert_uint_eq(uct_rcache_num_regions(rcache), 2);
    teardown();
    munmap(buffer, 8 * PAGE);
}
END_TEST

/* --- Events for plugins -------------------------------------------------- */

typedef struct told {
    unsigned mapped, unmapped;
    void *address;
    size_t length;
} told_t;

static void note(ucx_mem_event_t event, void *address, size_t length, void *arg)
{
    told_t *told = arg;

    if (event == UCX_MEM_EVENT_MAPPED) {
        ++told->mapped;
    } else if (event == UCX_MEM_EVENT_UNMAPPED) {
        ++told->unmapped;
        told->address = address;
        told->length  = length;
    }
}

START_TEST(plugin_is_told_until_it_unsubscribes)
{
    volatile told_t both = {0}, one = {0};
    char *buffer;

    ck_status(uct_host.mem_event_subscribe(UCX_MEM_EVENT_UNMAPPED, NULL, NULL),
              UCS_ERR_INVALID_PARAM);
    ck_status(uct_host.mem_event_subscribe(0, note, NULL),
              UCS_ERR_INVALID_PARAM);
    ck_status(uct_host.mem_event_subscribe(1u << 9, note, NULL),
              UCS_ERR_INVALID_PARAM);

    ck_ok(uct_host.mem_event_subscribe(UCX_MEM_EVENT_UNMAPPED |
                                           UCX_MEM_EVENT_MAPPED,
                                       note, (void *)&both));
    ck_ok(uct_host.mem_event_subscribe(UCX_MEM_EVENT_UNMAPPED, note,
                                       (void *)&one));
    both.mapped = both.unmapped = one.unmapped = 0;
    buffer                                     = map_at(NULL, 3 * PAGE);
    munmap(buffer, 3 * PAGE);
    ck_assert_uint_eq(both.mapped, 1);
    ck_assert_uint_eq(both.unmapped, 1);
    ck_assert_ptr_eq(both.address, buffer);
    ck_assert_uint_eq(both.length, 3 * PAGE);
    ck_assert_uint_eq(one.mapped, 0);
    ck_assert_uint_eq(one.unmapped, 1);

    uct_host.mem_event_unsubscribe(note, (void *)&both);
    munmap(map_at(NULL, PAGE), PAGE);
    ck_assert_uint_eq(both.unmapped, 1);
    ck_assert_uint_eq(one.unmapped, 2);
    uct_host.mem_event_unsubscribe(note, (void *)&one);
    uct_host.mem_event_unsubscribe(note, (void *)&one);
}
END_TEST

/* --- Threads and fork ---------------------------------------------------- */

static atomic_int stop;
static atomic_uint rounds;

/* Thread function. The heap unmaps memory while it holds its locks, and the
 * domain's functions use the heap: the test hangs if the cache holds its lock
 * while it calls the domain. */
static void *allocate_and_transfer(void *arg)
{
    while (!atomic_load(&stop)) {
        const size_t length = 300 * 1024;
        char *small[64];
        char *large = malloc(length);
        ucx_rcache_region_t *region;
        unsigned i;

        for (i = 0; i < 64; ++i) {
            small[i] = malloc(3000);
        }
        if (uct_host.rcache_get(rcache, large, length, 1, &region) != UCS_OK) {
            abort();
        }
        uct_host.rcache_put(rcache, region);
        for (i = 0; i < 64; ++i) {
            free(small[i]);
        }
        free(large);
        atomic_fetch_add(&rounds, 1);
    }
    return NULL;
}

static void run_threads(pthread_t *threads, unsigned count)
{
    unsigned i;

    /* makes the heap return memory to the system often */
    mallopt(M_TRIM_THRESHOLD, 4096);
    mallopt(M_MMAP_THRESHOLD, 256 * 1024);
    domain.allocate = 5000;
    for (i = 0; i < count; ++i) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL,
                                        allocate_and_transfer, NULL),
                         0);
    }
}

static void stop_threads(pthread_t *threads, unsigned count)
{
    unsigned i;

    atomic_store(&stop, 1);
    for (i = 0; i < count; ++i) {
        pthread_join(threads[i], NULL);
    }
}

START_TEST(threads_allocate_and_transfer)
{
    pthread_t threads[4];

    run_threads(threads, 4);
    while (atomic_load(&rounds) < 2000) {
        sched_yield();
    }
    stop_threads(threads, 4);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    /* the heaps of sanitizers do not return freed memory to the system */
    ck_assert_uint_gt(domain.deregs, 0);
#endif
}
END_TEST

/* the locks of the address sanitizer's heap do not survive fork() */
#ifndef __SANITIZE_ADDRESS__

/* Runs in a child of a process whose threads use the cache. Returns 0, or the
 * number of the check that failed. */
static int use_memory_as_a_child(char *buffer)
{
    unsigned deregs = domain.deregs;
    ucx_rcache_region_t *region;
    ucx_rcache_t *parents = rcache;

    /* Takes the cache's lock. In the parent, another thread may have held it
     * during the fork. */
    munmap(buffer, PAGE);
    free(malloc(1 << 20));
    if (uct_host.rcache_get(parents, buffer + PAGE, PAGE, 1, &region) !=
        UCS_ERR_UNSUPPORTED) {
        return 1;
    }
    uct_host.rcache_destroy(parents);
    if (domain.deregs != deregs) {
        return 2; /* the child must not deregister memory of the parent */
    }

#ifdef __SANITIZE_THREAD__
    /* The thread sanitizer does not support threads, such as the cache's
     * service thread, in the child of a process with threads. */
    return 0;
#endif
    /* the child can create a cache of its own */
    if (create() != UCS_OK) {
        return 3;
    }
    buffer = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    touch(buffer, PAGE);
    munmap(buffer, PAGE);
    if (uct_rcache_num_regions(rcache) != 0) {
        return 4;
    }
    uct_host.rcache_destroy(rcache);
    return (domain.regs == domain.deregs) ? 0 : 5;
}

START_TEST(child_of_a_busy_parent_works)
{
    char *buffer = map_at(NULL, 4 * PAGE);
    pthread_t threads[2];
    unsigned i;
    int status;
    pid_t pid;

    touch(buffer, 4 * PAGE);
    run_threads(threads, 2);
    for (i = 0; i < 10; ++i) {
        pid = fork();
        if (pid == 0) {
            alarm(20);
            _exit(use_memory_as_a_child(buffer));
        }
        ck_assert_int_gt(pid, 0);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_msg(status == 0, "the child ended with %#x", status);
    }
    stop_threads(threads, 2);
    munmap(buffer, 4 * PAGE);
}
END_TEST

#endif

int main(void)
{
    Suite *suite = suite_create("rcache events");
    TCase *tcase = tcase_create("cache"), *bare = tcase_create("bare");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, buffer_that_stays_is_registered_once);
    tcase_add_test(tcase, buffer_mapped_again_is_registered_anew);
    tcase_add_test(tcase, freed_block_is_registered_anew);
    tcase_add_test(tcase, dropped_pages_are_registered_anew);
    tcase_add_test(tcase, moved_buffer_is_registered_anew);
    tcase_add_test(tcase, held_region_stays_registered);
    tcase_add_test(tcase, unmapped_while_it_is_registered_is_not_kept);
    tcase_add_test(tcase, released_device_memory_is_registered_anew);
    tcase_add_test(tcase, threads_allocate_and_transfer);
#ifndef __SANITIZE_ADDRESS__
    tcase_add_test(tcase, child_of_a_busy_parent_works);
#endif
    suite_add_tcase(suite, tcase);

    tcase_add_test(bare, much_unmapped_memory_is_released_without_a_use);
    tcase_add_loop_test(bare, there_is_no_cache_when_it_is_switched_off, 0, 3);
    tcase_add_test(bare, limits_of_the_user_hold);
    tcase_add_test(bare, plugin_is_told_until_it_unsubscribes);
    suite_add_tcase(suite, bare);
    return run_suite(suite);
}
