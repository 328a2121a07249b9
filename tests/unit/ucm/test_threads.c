/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads: interception begins while other threads execute the intercepted
 * calls, and handlers are added and removed while events arrive. Also threads
 * that end, and fork.
 */
#include "heard.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define NUM_THREADS 4

/* Number of events: those in this thread (told_here), and those in all threads.
 * told_here is volatile, because the compiler assumes that functions of the C
 * library call no function of the program. */
static __thread volatile unsigned told_here;
static atomic_uint told;

static void count_told(ucm_event_type_t type, ucm_event_t *event, void *arg)
{
    told_here = told_here + 1;
    atomic_fetch_add(&told, 1);
}

typedef struct hammer {
    pthread_t thread;
    atomic_uint rounds;
    unsigned told;
} hammer_t;

static atomic_int stop;

static void hammer_mappings(void)
{
    char *address = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (address == MAP_FAILED) {
        abort();
    }
    address[0] = 1;
    madvise(address, PAGE, MADV_DONTNEED);
    if (address[0] != 0) {
        abort();
    }
    address = mremap(address, 4 * PAGE, 8 * PAGE, MREMAP_MAYMOVE);
    if ((address == MAP_FAILED) || (munmap(address, 8 * PAGE) != 0)) {
        abort();
    }
}

static void hammer_heap(void)
{
    void *block = malloc(256 * 1024);

    if (block == NULL) {
        abort();
    }
    memset(block, 2, 256 * 1024);
    free(block);
}

static void hammer_once(void)
{
    hammer_mappings();
    hammer_heap();
}

static void *hammer_run(void *arg)
{
    hammer_t *hammer = arg;

    while (!atomic_load(&stop)) {
        hammer_once();
        atomic_fetch_add(&hammer->rounds, 1);
    }
    hammer->told = told_here;
    return NULL;
}

static void hammers_start(hammer_t *hammers)
{
    unsigned i;

    for (i = 0; i < NUM_THREADS; ++i) {
        ck_assert_int_eq(pthread_create(&hammers[i].thread, NULL, hammer_run,
                                        &hammers[i]),
                         0);
    }
    for (i = 0; i < NUM_THREADS; ++i) {
        while (atomic_load(&hammers[i].rounds) < 3) {
            sched_yield();
        }
    }
}

/* Waits until each thread has completed `rounds` more rounds of calls. */
static void hammers_wait(hammer_t *hammers, unsigned rounds)
{
    unsigned i;

    for (i = 0; i < NUM_THREADS; ++i) {
        unsigned before = atomic_load(&hammers[i].rounds);

        while (atomic_load(&hammers[i].rounds) - before < rounds) {
            sched_yield();
        }
    }
}

static void hammers_stop(hammer_t *hammers)
{
    unsigned i;

    atomic_store(&stop, 1);
    for (i = 0; i < NUM_THREADS; ++i) {
        pthread_join(hammers[i].thread, NULL);
    }
}

/* The test runs several times, each time in a new process, because interception
 * begins only once in a process. */
START_TEST(interception_begins_under_way)
{
    static hammer_t hammers[NUM_THREADS];
    unsigned i;

    hammers_start(hammers);
    ck_ok(ucm_set_event_handler(VM_EVENTS, 0, count_told, NULL));
    hammers_wait(hammers, 5);
    ck_ok(ucm_test_events(VM_EVENTS));
    hammers_stop(hammers);
    for (i = 0; i < NUM_THREADS; ++i) {
        ck_assert_uint_gt(hammers[i].told, 0);
    }
}
END_TEST

static pthread_barrier_t together;

static void *subscribe_together(void *arg)
{
    ucs_status_t *status = arg;

    pthread_barrier_wait(&together);
    *status = ucm_set_event_handler(VM_EVENTS, 0, count_told, arg);
    return NULL;
}

START_TEST(threads_begin_interception_together)
{
    ucs_status_t results[NUM_THREADS];
    pthread_t threads[NUM_THREADS];
    void *address;
    unsigned i;

    pthread_barrier_init(&together, NULL, NUM_THREADS);
    for (i = 0; i < NUM_THREADS; ++i) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, subscribe_together,
                                        &results[i]),
                         0);
    }
    for (i = 0; i < NUM_THREADS; ++i) {
        pthread_join(threads[i], NULL);
        ck_ok(results[i]);
    }
    address   = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    told_here = 0;
    munmap(address, PAGE);
    ck_assert_uint_eq(told_here, NUM_THREADS);
}
END_TEST

/* The argument of a handler. The test changes `magic` after it has removed the
 * handler: a call of the handler after that aborts. */
typedef struct subscriber {
    atomic_uint magic;
} subscriber_t;

static void check_magic(ucm_event_type_t type, ucm_event_t *event, void *arg)
{
    subscriber_t *subscriber = arg;

    if (atomic_load(&subscriber->magic) != 0x600d) {
        abort();
    }
}

START_TEST(subscriptions_come_and_go_under_way)
{
    static hammer_t hammers[NUM_THREADS];
    unsigned i;

    ck_ok(ucm_set_event_handler(VM_EVENTS, 0, count_told, NULL));
    hammers_start(hammers);
    for (i = 0; i < 200; ++i) {
        subscriber_t *subscriber = malloc(sizeof(*subscriber));

        ck_assert_ptr_nonnull(subscriber);
        atomic_init(&subscriber->magic, 0x600d);
        ck_ok(ucm_set_event_handler(VM_EVENTS, (int)(i % 3) - 1, check_magic,
                                    subscriber));
        sched_yield();
        ucm_unset_event_handler(VM_EVENTS, check_magic, subscriber);
        atomic_store(&subscriber->magic, 0xbad);
        free(subscriber);
    }
    hammers_stop(hammers);
}
END_TEST

/* Thread function. When the thread ends, the C library unmaps its stack, or
 * releases pages of it. These events occur after the destructors of the
 * thread's data have run. */
static void *end_at_once(void *arg)
{
    volatile char deep[65536];

    memset((char *)deep, 1, sizeof(deep));
    return NULL;
}

START_TEST(threads_end_while_subscribed)
{
    pthread_attr_t attr;
    pthread_t thread;
    unsigned i;

    ck_ok(ucm_set_event_handler(VM_EVENTS, 0, count_told, NULL));
    pthread_attr_init(&attr);
    for (i = 0; i < 50; ++i) {
        /* Each stack is larger than the one before, so that the C library
         * cannot reuse a cached stack, and unmaps stacks when its cache
         * exceeds its limit. */
        pthread_attr_setstacksize(&attr, (32ul << 20) + (i * (1ul << 20)));
        ck_assert_int_eq(pthread_create(&thread, &attr, end_at_once, NULL), 0);
        pthread_join(thread, NULL);
    }
    pthread_attr_destroy(&attr);
#ifndef __SANITIZE_THREAD__
    if (strcmp(getenv("UCX_MEM_MMAP_HOOK_MODE") ?: "bistro", "reloc") != 0) {
        /* Not with `reloc`: UCM then does not see the C library's internal
         * calls, because they do not use relocation tables. */
        ck_assert_uint_gt(atomic_load(&told), 50);
    }
#endif
}
END_TEST

START_TEST(children_of_busy_parents_work)
{
    static hammer_t hammers[NUM_THREADS];
    unsigned i;
    int status;
    pid_t pid;

    ck_ok(ucm_set_event_handler(VM_EVENTS, 0, count_told, NULL));
    hammers_start(hammers);
    for (i = 0; i < 10; ++i) {
        pid = fork();
        if (pid == 0) {
            told_here = 0;
            hammer_mappings();
#ifndef __SANITIZE_ADDRESS__
            /* the locks of the address sanitizer's heap do not survive
             * fork() */
            hammer_heap();
#endif
            ucm_unset_event_handler(VM_EVENTS, count_told, NULL);
            _exit((told_here > 0) ? 0 : 1);
        }
        ck_assert_int_gt(pid, 0);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_int_eq(status, 0);
    }
    hammers_stop(hammers);
}
END_TEST

int main(void)
{
    Suite *suite    = suite_create("threads");
    TCase *tcase    = tcase_create("threads");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 100);
    tcase_add_loop_test(tcase, interception_begins_under_way, 0, 20);
    tcase_add_test(tcase, threads_begin_interception_together);
    tcase_add_test(tcase, subscriptions_come_and_go_under_way);
    tcase_add_test(tcase, threads_end_while_subscribed);
    tcase_add_test(tcase, children_of_busy_parents_work);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? 0 : 1;
}
