/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Patching of functions: the lengths of the instructions at the start of a
 * function, and the patching of functions that the test creates. Those begin
 * like the functions of several C libraries, or with a jump of another
 * interceptor.
 */
#include "heard.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ucm/internal.h"

typedef struct sample {
    const char *name;
    unsigned length;
    uint8_t code[16];
} sample_t;

static const sample_t samples[] = {
    {"mov $11, %eax", 5, {0xb8, 0x0b, 0, 0, 0, 0x0f, 0x05}},
    {"mov %ecx, %r10d", 3, {0x41, 0x89, 0xca, 0x41}},
    {"mov %rcx, %r10", 3, {0x49, 0x89, 0xca}},
    {"test $0xfff, %r9d", 7, {0x41, 0xf7, 0xc1, 0xff, 0x0f, 0, 0, 0x75}},
    {"not %eax", 2, {0xf7, 0xd0}},
    {"sub $88, %rsp", 4, {0x48, 0x83, 0xec, 0x58}},
    {"sub $256, %rsp", 7, {0x48, 0x81, 0xec, 0, 1, 0, 0}},
    {"push %r12", 2, {0x41, 0x54, 0x4c}},
    {"push %rbp", 1, {0x55, 0x48}},
    {"mov 0xd51a7(%rip), %r12", 7, {0x4c, 0x8b, 0x25, 0xa7, 0x51, 0x0d, 0}},
    {"mov %fs:0x28, %rax", 9, {0x64, 0x48, 0x8b, 4, 0x25, 0x28, 0, 0, 0}},
    {"cmpb $0, 0xe42be(%rip)", 7, {0x80, 0x3d, 0xbe, 0x42, 0x0e, 0, 0}},
    {"endbr64", 4, {0xf3, 0x0f, 0x1e, 0xfa}},
    {"xor %eax, %eax", 2, {0x31, 0xc0}},
    {"movabs $..., %r11", 10, {0x49, 0xbb, 1, 2, 3, 4, 5, 6, 7, 8, 0x41}},
    {"jmp .", 5, {0xe9, 0xfb, 0xff, 0xff, 0xff}},
    {"lea 8(%rsp), %r10", 5, {0x4c, 0x8d, 0x54, 0x24, 8}},
    {"mov %r8, 0x40(%rsp)", 5, {0x4c, 0x89, 0x44, 0x24, 0x40}},
    {"nopw 0(%rax,%rax,1)", 10, {0x66, 0x2e, 0x0f, 0x1f, 0x84}},
    {"xchg %ax, %ax", 2, {0x66, 0x90}},
    {"unknown (VEX)", 0, {0xc5, 0xf8, 0x77}},
    {"mov $1, %ax", 0, {0x66, 0xb8, 1, 0}},
};

START_TEST(length_of_instructions)
{
    const sample_t *sample = &samples[_i];
    unsigned length        = ucm_x86_length(sample->code);

    ck_assert_msg(length == sample->length, "%s has %u bytes, not %u",
                  sample->name, sample->length, length);
}
END_TEST

/* --- Functions that the test makes ---------------------------------------- */

typedef int (*function_t)(void *, size_t, int);

static heard_t heard;
static void *published;

static void note_published(ucm_call_t call, void *previous)
{
    published = previous;
}

/* Copies the code to a new page, `offset` bytes after its start, and makes the
 * page executable. Returns the address of the copy. */
static uint8_t *place(const uint8_t *code, size_t length, size_t offset)
{
    uint8_t *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(page, MAP_FAILED);
    memset(page, 0xcc, PAGE);
    memcpy(page + offset, code, length);
    ck_assert_int_eq(mprotect(page, PAGE, PROT_READ | PROT_EXEC), 0);
    return page + offset;
}

/* Patches the function at `entry` so that it continues in ucm_madvise(). Then
 * calls the function and checks that this caused an event. */
static void check_patched(uint8_t *entry)
{
    const char *reason = "none";
    function_t function;
    void *address;

    published = &heard; /* note_published() must overwrite this */
    ck_assert_msg(ucm_patch(UCM_CALL_MADVISE, entry, note_published, &reason) ==
                      UCS_OK,
                  "%s", reason);
    ck_assert_int_eq(ucm_maps_prot(entry), PROT_READ | PROT_EXEC);

    ck_ok(ucm_set_event_handler(UCM_EVENT_MADVISE | UCM_EVENT_FLAG_NO_INSTALL,
                                0, heard_cb, &heard));
    *(void **)&function = entry;
    address = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_int_eq(function(address, PAGE, MADV_DONTNEED), 0);
    ck_assert_uint_eq(heard_count(&heard), 1);
    ck_assert_ptr_eq(heard.events[0].event.madvise.addr, address);
}

static const uint8_t plain[]  = {0xb8, 7, 0, 0, 0, 0xc3};
static const uint8_t marked[] = {0xf3, 0x0f, 0x1e, 0xfa, 0xb8,
                                 7,    0,    0,    0,    0xc3};

START_TEST(plain_function_is_changed)
{
    check_patched(place(plain, sizeof(plain), 64));
    ck_assert_ptr_null(published);
}
END_TEST

START_TEST(mark_of_a_branch_target_stays)
{
    uint8_t *entry = place(marked, sizeof(marked), 64);

    check_patched(entry);
    ck_assert_int_eq(memcmp(entry, marked, 4), 0);
    ck_assert_int_ne(memcmp(entry + 4, marked + 4, 5), 0);
}
END_TEST

static void *wait_for_end(void *arg)
{
    pthread_barrier_wait(arg);
    pthread_barrier_wait(arg);
    return NULL;
}

START_TEST(unsafe_function_is_left_alone_if_there_are_threads)
{
    static const uint8_t code[][6] = {
        {0x55, 0xb8, 7, 0, 0, 0},
        {0xc5, 0xf8, 0x77, 0xc3},
        {0x41, 0x89, 0xca, 0xc3},
    };
    uint8_t *entry     = place(code[_i], sizeof(code[_i]), 64);
    const char *reason = NULL;
    pthread_barrier_t barrier;
    struct stat st;
    pthread_t thread;

    pthread_barrier_init(&barrier, NULL, 2);
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_end, &barrier), 0);
    pthread_barrier_wait(&barrier);
    ck_assert_int_eq(ucm_patch(UCM_CALL_MADVISE, entry, note_published,
                               &reason),
                     UCS_ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(reason);
    ck_assert_int_eq(memcmp(entry, code[_i], sizeof(code[_i])), 0);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    /* The kernel may list a thread for a moment after it was joined */
    while ((stat("/proc/self/task", &st) == 0) && (st.st_nlink > 3)) {
        sched_yield();
    }
    /* with a single thread, no other one can be executing the function */
    check_patched(entry);
}
END_TEST

/* --- Other interceptors -------------------------------------------------- */

START_TEST(near_jump_of_another_is_passed_on_to)
{
    static const uint8_t code[] = {0xe9, 0x0b, 0, 0, 0};
    uint8_t *entry              = place(code, sizeof(code), 64);

    check_patched(entry);
    ck_assert_ptr_eq(published, entry + 16);
}
END_TEST

START_TEST(short_then_near_jump_of_another_is_passed_on_to)
{
    static const uint8_t code[] = {0xeb, 6,    0,    0, 0, 0, 0,
                                   0,    0xe9, 0x0b, 0, 0, 0};
    uint8_t *entry              = place(code, sizeof(code), 64);

    check_patched(entry);
    ck_assert_ptr_eq(published, entry + 24);
    ck_assert_int_eq(entry[0], 0xeb);
}
END_TEST

START_TEST(far_jump_of_another_is_passed_on_to)
{
    uint8_t code[13] = {0x49, 0xbb};
    void *target     = &heard;

    memcpy(code + 2, &target, sizeof(target));
    memcpy(code + 10, "\x41\xff\xe3", 3);
    check_patched(place(code, sizeof(code), 64));
    ck_assert_ptr_eq(published, target);
}
END_TEST

START_TEST(jump_by_memory_of_another_is_passed_on_to)
{
    uint8_t code[14] = {0xff, 0x25, 0, 0, 0, 0};
    void *target     = &heard;

    memcpy(code + 6, &target, sizeof(target));
    check_patched(place(code, sizeof(code), 64));
    ck_assert_ptr_eq(published, target);
}
END_TEST

/* A function that is far away from other mappings, as behind a large
 * mapping: the page with the jump instructions is placed within reach of the
 * function. */
START_TEST(far_away_function_is_changed)
{
    uint8_t *wish = (uint8_t *)0x200000000000;
    uint8_t *page = mmap(wish, PAGE, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_eq(page, wish);
    memcpy(page, plain, sizeof(plain));
    ck_assert_int_eq(mprotect(page, PAGE, PROT_READ | PROT_EXEC), 0);
    check_patched(page);
}
END_TEST

int main(void)
{
    const int num_samples = sizeof(samples) / sizeof(samples[0]);
    Suite *suite          = suite_create("patch");
    TCase *tcase          = tcase_create("patch");
    SRunner *runner       = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, length_of_instructions, 0, num_samples);
    tcase_add_test(tcase, plain_function_is_changed);
    tcase_add_test(tcase, mark_of_a_branch_target_stays);
    tcase_add_loop_test(tcase,
                        unsafe_function_is_left_alone_if_there_are_threads, 0,
                        3);
    tcase_add_test(tcase, near_jump_of_another_is_passed_on_to);
    tcase_add_test(tcase, short_then_near_jump_of_another_is_passed_on_to);
    tcase_add_test(tcase, far_jump_of_another_is_passed_on_to);
    tcase_add_test(tcase, jump_by_memory_of_another_is_passed_on_to);
    tcase_add_test(tcase, far_away_function_is_changed);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? 0 : 1;
}
