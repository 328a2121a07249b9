/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Subscribing to memory events: order of handlers, unsubscribing, calls from
 * inside a handler, fork, external events, lost interception, device memory.
 * Also that the code of the C library is unchanged before the first
 * subscription.
 */
#include "heard.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ucm/memtype.h"

static heard_t heard;

static void *map(size_t length)
{
    void *address = mmap(NULL, length, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(address, MAP_FAILED);
    return address;
}

/* --- Nothing before the first subscription ------------------------------ */

static const char *const functions[] = {"mmap",  "munmap", "mremap", "shmat",
                                        "shmdt", "sbrk",   "brk",    "madvise"};
#define NUM_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

static void read_functions(uint8_t code[][32])
{
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    unsigned i;

    ck_assert_ptr_nonnull(libc);
    for (i = 0; i < NUM_FUNCTIONS; ++i) {
        memcpy(code[i], dlsym(libc, functions[i]), 32);
    }
    dlclose(libc);
}

START_TEST(without_need_no_instruction_is_changed)
{
    uint8_t before[NUM_FUNCTIONS][32], after[NUM_FUNCTIONS][32];

    read_functions(before);
    ck_ok(ucm_set_event_handler(VM_EVENTS | UCM_EVENT_FLAG_NO_INSTALL, 0,
                                heard_cb, &heard));
    ck_ok(ucm_test_events(VM_EVENTS));
    ucm_vm_munmap(NULL, PAGE);
    ck_ok(ucm_set_event_handler(UCM_EVENT_MEM_TYPE_ALLOC, 0, heard_cb, &heard));
    ucm_set_external_event(VM_EVENTS);
    ck_ok(ucm_set_event_handler(VM_EVENTS, 0, heard_cb, &heard));
    ck_assert_ptr_nonnull(ucm_dlopen("libc.so.6", RTLD_LAZY));
    read_functions(after);
    ck_assert_int_eq(memcmp(before, after, sizeof(before)), 0);
}
END_TEST

START_TEST(switched_off_means_unsupported)
{
    uint8_t before[NUM_FUNCTIONS][32], after[NUM_FUNCTIONS][32];

    setenv((_i == 0) ? "UCX_MEM_EVENTS" : "UCX_MEM_MMAP_HOOK_MODE",
           (_i == 0) ? "n" : "none", 1);
    read_functions(before);
    ck_assert_int_eq(ucm_set_event_handler(VM_EVENTS, 0, heard_cb, &heard),
                     UCS_ERR_UNSUPPORTED);
    read_functions(after);
    ck_assert_int_eq(memcmp(before, after, sizeof(before)), 0);
    ucm_munmap(map(PAGE), PAGE);
    ck_assert_uint_eq(heard_count(&heard), 0);
}
END_TEST

START_TEST(nonsense_is_refused)
{
    ck_assert_int_eq(ucm_set_event_handler(VM_EVENTS, 0, NULL, NULL),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucm_set_event_handler(1 << 30, 0, heard_cb, &heard),
                     UCS_ERR_INVALID_PARAM);
    ucm_unset_event_handler(VM_EVENTS, heard_cb, &heard);
}
END_TEST

/* --- Order --------------------------------------------------------------- */

static char order[16];

static void note_order(ucm_event_type_t type, ucm_event_t *event, void *arg)
{
    const char *name = arg;
    size_t length    = strlen(order);

    ck_assert_uint_lt(length + 2, sizeof(order));
    order[length]     = name[0];
    order[length + 1] = (event->munmap.result == 0) ? '+' : '-';
    order[length + 2] = '\0';
}

START_TEST(priority_is_the_order_around_the_call)
{
    const int events = UCM_EVENT_MUNMAP;

    ck_ok(ucm_set_event_handler(events, 7, note_order, "d"));
    ck_ok(ucm_set_event_handler(events, -9, note_order, "a"));
    ck_ok(ucm_set_event_handler(events, 0, note_order, "c"));
    ck_ok(ucm_set_event_handler(events, -1, note_order, "b"));
    ck_assert_int_eq(munmap(map(PAGE), PAGE), 0);
    ck_assert_str_eq(order, "a-b-c+d+");
    order[0] = '\0';
    ucm_unset_event_handler(events, note_order, "b");
    ck_assert_int_eq(munmap(map(PAGE), PAGE), 0);
    ck_assert_str_eq(order, "a-c+d+");
}
END_TEST

static void make_the_call(ucm_event_type_t type, ucm_event_t *event, void *arg)
{
    event->munmap.result = ucm_orig_munmap(event->munmap.address,
                                           event->munmap.size);
    ++*(unsigned *)arg;
}

START_TEST(subscriber_below_zero_may_make_the_call)
{
    unsigned count = 0;
    void *address  = map(PAGE);

    ck_ok(ucm_set_event_handler(UCM_EVENT_MUNMAP, -1, make_the_call, &count));
    ck_assert_int_eq(munmap(address, PAGE), 0);
    ck_assert_uint_eq(count, 1);
    /* the page was unmapped once and is not mapped any more */
    ck_assert_int_eq(madvise(address, PAGE, MADV_DONTNEED), -1);
}
END_TEST

START_TEST(events_end_one_by_one)
{
    ck_ok(ucm_set_event_handler(UCM_EVENT_MMAP | UCM_EVENT_MUNMAP, 0, heard_cb,
                                &heard));
    ucm_unset_event_handler(UCM_EVENT_MMAP, heard_cb, &heard);
    heard_clear(&heard);
    munmap(map(PAGE), PAGE);
    ck_assert_uint_eq(heard_type(&heard, UCM_EVENT_MMAP), 0);
    ck_assert_uint_eq(heard_type(&heard, UCM_EVENT_MUNMAP), 1);
    ucm_unset_event_handler(UCM_EVENT_MUNMAP, heard_cb, &heard);
    heard_clear(&heard);
    munmap(map(PAGE), PAGE);
    ck_assert_uint_eq(heard_count(&heard), 0);
}
END_TEST

/* --- Calls from inside a handler ----------------------------------------- */

static void unmap_inside(ucm_event_type_t type, ucm_event_t *event, void *arg)
{
    void **inner  = arg;
    void *address = *inner;

    if (address != NULL) {
        *inner = NULL;
        munmap(address, PAGE);
        ucm_set_event_handler(UCM_EVENT_VM_MAPPED | UCM_EVENT_FLAG_NO_INSTALL,
                              0, heard_cb, &heard);
    }
}

START_TEST(handler_may_cause_events_and_subscribe)
{
    void *inner = map(PAGE), *first = inner, *outer = map(PAGE);

    ck_ok(ucm_set_event_handler(UCM_EVENT_VM_UNMAPPED, 0, heard_cb, &heard));
    ck_ok(
        ucm_set_event_handler(UCM_EVENT_VM_UNMAPPED, 1, unmap_inside, &inner));
    munmap(outer, PAGE);
    ck_unmapped(&heard, outer, PAGE);
    ck_unmapped(&heard, first, PAGE);
    munmap(map(PAGE), PAGE);
    ck_assert_uint_ge(heard_type(&heard, UCM_EVENT_VM_MAPPED), 1);
}
END_TEST

typedef struct slow {
    atomic_int inside, leave, left;
} slow_t;

static void stay_inside(ucm_event_type_t type, ucm_event_t *event, void *arg)
{
    slow_t *slow = arg;

    atomic_store(&slow->inside, 1);
    while (!atomic_load(&slow->leave)) {
        sched_yield();
    }
    /* time in which a ucm_unset_event_handler() that does not wait would
     * return */
    usleep(20000);
    atomic_store(&slow->left, 1);
}

static void *unmap_a_page(void *arg)
{
    munmap(map(PAGE), PAGE);
    return NULL;
}

static void *unset_slow(void *arg)
{
    slow_t *slow = arg;

    ucm_unset_event_handler(UCM_EVENT_MUNMAP, stay_inside, slow);
    return (void *)(intptr_t)atomic_load(&slow->left);
}

START_TEST(unsubscribing_waits_for_running_handlers)
{
    static slow_t slow;
    pthread_t inside, unset;
    void *left;

    /* First intercepts all calls: interception tests itself by calls that cause
     * events, which must not reach the slow handler. */
    ck_ok(ucm_set_event_handler(CALL_EVENTS, 0, heard_cb, &heard));
    ck_ok(ucm_set_event_handler(UCM_EVENT_MUNMAP, 0, stay_inside, &slow));
    ck_assert_int_eq(pthread_create(&inside, NULL, unmap_a_page, NULL), 0);
    while (!atomic_load(&slow.inside)) {
        sched_yield();
    }
    ck_assert_int_eq(pthread_create(&unset, NULL, unset_slow, &slow), 0);
    /* meanwhile this thread can subscribe and receive events */
    ck_ok(ucm_set_event_handler(UCM_EVENT_MMAP, 0, heard_cb, &heard));
    (void)map(PAGE);
    ck_assert_uint_ge(heard_type(&heard, UCM_EVENT_MMAP), 1);
    atomic_store(&slow.leave, 1);
    pthread_join(unset, &left);
    ck_assert_ptr_nonnull(left);
    pthread_join(inside, NULL);
}
END_TEST

START_TEST(child_is_told_although_the_parent_was_inside)
{
    static slow_t slow;
    pthread_t inside;
    int status;
    pid_t pid;

    ck_ok(ucm_set_event_handler(UCM_EVENT_VM_UNMAPPED, 0, heard_cb, &heard));
    ck_ok(ucm_set_event_handler(UCM_EVENT_MUNMAP, 0, stay_inside, &slow));
    ck_assert_int_eq(pthread_create(&inside, NULL, unmap_a_page, NULL), 0);
    while (!atomic_load(&slow.inside)) {
        sched_yield();
    }

    pid = fork();
    if (pid == 0) {
        void *address = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
                             -1, 0);

        ucm_unset_event_handler(UCM_EVENT_MUNMAP, stay_inside, &slow);
        heard_clear(&heard);
        munmap(address, PAGE);
        _exit(heard_range(&heard, UCM_EVENT_VM_UNMAPPED, address, PAGE) ? 0 :
                                                                          1);
    }
    ck_assert_int_gt(pid, 0);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    atomic_store(&slow.leave, 1);
    pthread_join(inside, NULL);
}
END_TEST

/* --- External events, tests of events, device memory --------------------- */

static void report_outside(ucm_event_type_t type, ucm_event_t *event, void *arg)
{
    ucm_vm_munmap(event->munmap.address, event->munmap.size);
}

START_TEST(trial_of_externals_needs_somebody_to_report)
{
    ucm_set_external_event(UCM_EVENT_VM_UNMAPPED);
    ck_ok(ucm_test_events(UCM_EVENT_VM_UNMAPPED));
    ck_assert_int_eq(ucm_test_external_events(UCM_EVENT_VM_UNMAPPED),
                     UCS_ERR_UNSUPPORTED);
    ucm_unset_external_event(UCM_EVENT_VM_UNMAPPED);
    ck_ok(ucm_test_external_events(UCM_EVENT_VM_UNMAPPED));

    /* The handler of munmap() acts as an external interceptor: it reports that
     * memory was unmapped. */
    ucm_set_external_event(UCM_EVENT_VM_UNMAPPED);
    ck_ok(ucm_set_event_handler(CALL_EVENTS, -1, report_outside, NULL));
    ck_ok(ucm_test_external_events(UCM_EVENT_VM_UNMAPPED));
}
END_TEST

#ifdef __x86_64__
START_TEST(test_of_events_detects_lost_interception)
{
    uint8_t before[NUM_FUNCTIONS][32], after[NUM_FUNCTIONS][32];
    uint8_t *code = (uint8_t *)dlsym(dlopen("libc.so.6", RTLD_LAZY), "munmap");
    void *page    = (void *)((uintptr_t)code & ~(PAGE - 1));

    read_functions(before);
    ck_ok(ucm_set_event_handler(VM_EVENTS, 0, heard_cb, &heard));
    ck_ok(ucm_test_events(VM_EVENTS));
    read_functions(after);
    if (memcmp(before[1], after[1], 32) == 0) {
        return; /* this mode of interception does not change the function */
    }
    ck_assert_int_eq(mprotect(page, 2 * PAGE,
                              PROT_READ | PROT_WRITE | PROT_EXEC),
                     0);
    /* restores the original code, as another library that has patched the
     * function may do */
    memcpy(code, before[1], 32);
    ck_assert_int_eq(ucm_test_events(VM_EVENTS), UCS_ERR_UNSUPPORTED);
    ck_ok(ucm_test_events(UCM_EVENT_VM_MAPPED));
}
END_TEST
#endif

START_TEST(device_memory_is_told)
{
    int memory;

    ck_ok(ucm_set_event_handler(UCM_EVENT_MEM_TYPE_ALLOC |
                                    UCM_EVENT_MEM_TYPE_FREE,
                                0, heard_cb, &heard));
    ucm_mem_type_alloc(&memory, sizeof(memory), UCS_MEMORY_TYPE_CUDA);
    ck_assert_uint_eq(heard_count(&heard), 1);
    ck_assert_int_eq(heard.events[0].type, UCM_EVENT_MEM_TYPE_ALLOC);
    ck_assert_int_eq(heard.events[0].event.mem_type.mem_type,
                     UCS_MEMORY_TYPE_CUDA);
    ucm_mem_type_free(&memory, sizeof(memory), UCS_MEMORY_TYPE_LAST);
    ck_assert_int_eq(heard.events[1].type, UCM_EVENT_MEM_TYPE_FREE);
    ck_assert_ptr_eq(heard.events[1].event.mem_type.address, &memory);
}
END_TEST

int main(void)
{
    Suite *suite    = suite_create("subscribe");
    TCase *tcase    = tcase_create("subscribe");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_test(tcase, without_need_no_instruction_is_changed);
    tcase_add_loop_test(tcase, switched_off_means_unsupported, 0, 2);
    tcase_add_test(tcase, nonsense_is_refused);
    tcase_add_test(tcase, priority_is_the_order_around_the_call);
    tcase_add_test(tcase, subscriber_below_zero_may_make_the_call);
    tcase_add_test(tcase, events_end_one_by_one);
    tcase_add_test(tcase, handler_may_cause_events_and_subscribe);
    tcase_add_test(tcase, unsubscribing_waits_for_running_handlers);
    tcase_add_test(tcase, child_is_told_although_the_parent_was_inside);
    tcase_add_test(tcase, trial_of_externals_needs_somebody_to_report);
#ifdef __x86_64__
    tcase_add_test(tcase, test_of_events_detects_lost_interception);
#endif
    tcase_add_test(tcase, device_memory_is_told);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? 0 : 1;
}
