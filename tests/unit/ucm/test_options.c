/* SPDX-License-Identifier: BSD-3-Clause */
/* Options that a program sets by ucm_set_global_opts(): the mode of
 * interception, disabled events, the heap, run paths, and the log level. */
#include "heard.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE              65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

static heard_t heard;

static const ucm_global_config_t defaults = {
    .log_level                  = UCS_LOG_LEVEL_WARN,
    .enable_events              = 1,
    .mmap_hook_mode             = UCM_MMAP_HOOK_BISTRO,
    .enable_malloc_hooks        = 1,
    .enable_malloc_reloc        = 1,
    .cuda_hook_modes            = 0,
    .enable_dynamic_mmap_thresh = 1,
    .alloc_alignment            = 16,
    .dlopen_process_rpath       = 1,
    .module_unload_prevent_mode = UCM_UNLOAD_PREVENT_MODE_LAZY,
    .bistro_force_far_jump      = 1,
};

static ucs_status_t subscribe(const ucm_global_config_t *options)
{
    ucm_set_global_opts(options);
    return ucm_set_event_handler(VM_EVENTS, 0, heard_cb, &heard);
}

static int munmap_is_heard(void)
{
    void *address = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                         0);

    heard_clear(&heard);
    munmap(address, PAGE);
    return heard_range(&heard, UCM_EVENT_VM_UNMAPPED, address, PAGE);
}

/* Subscribes with these options. Returns whether UCM patched the code of the C
 * library's munmap(). */
static int changes_code(const ucm_global_config_t *options)
{
    void *code = dlsym(dlopen("libc.so.6", RTLD_LAZY), "munmap");
    uint8_t before[16];

    memcpy(before, code, sizeof(before));
    ck_ok(subscribe(options));
    ck_assert(munmap_is_heard());
    return memcmp(before, code, sizeof(before)) != 0;
}

START_TEST(mode_says_how_calls_are_intercepted)
{
    ucm_global_config_t options = defaults;

    options.mmap_hook_mode = (ucm_mmap_hook_mode_t)_i;
    switch (options.mmap_hook_mode) {
    case UCM_MMAP_HOOK_NONE:
        ck_assert_int_eq(subscribe(&options), UCS_ERR_UNSUPPORTED);
        ck_assert(!munmap_is_heard());
        break;
    case UCM_MMAP_HOOK_RELOC:
        ck_assert(!changes_code(&options));
        break;
    case UCM_MMAP_HOOK_BISTRO:
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
        ck_assert(changes_code(&options));
#else
        ck_assert(!changes_code(&options));
#endif
        break;
    default:
        ck_abort_msg("mode %d", _i);
    }
}
END_TEST

/* A security policy (prctl(PR_SET_MDWE)) can forbid this process to make pages
 * executable. Interception then cannot patch code, and replaces entries of the
 * objects' relocation tables instead. */
START_TEST(policy_against_new_code_leads_to_tables)
{
    if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) != 0) {
        return; /* the kernel is too old for this policy */
    }
    ck_assert(!changes_code(&defaults));
    ck_ok(ucm_test_events(VM_EVENTS));
}
END_TEST

START_TEST(settings_count_before_the_environment)
{
    ucm_global_config_t options = defaults;

    setenv("UCX_MEM_EVENTS", "n", 1);
    ck_ok(subscribe(&options));
    options.enable_events = 0;
    ucm_set_global_opts(&options);
    /* interception was installed before events were disabled, and stays */
    ck_ok(ucm_set_event_handler(VM_EVENTS, 1, heard_cb, &heard));
}
END_TEST

START_TEST(events_can_be_switched_off)
{
    ucm_global_config_t options = defaults;

    options.enable_events = 0;
    ck_assert_int_eq(subscribe(&options), UCS_ERR_UNSUPPORTED);
}
END_TEST

START_TEST(by_tables_the_heap_must_be_watched)
{
    ucm_global_config_t options = defaults;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return; /* the heap is that of the sanitizer, not the C library's */
#endif
    options.mmap_hook_mode      = UCM_MMAP_HOOK_RELOC;
    options.enable_malloc_reloc = 0;
    ck_assert_int_eq(subscribe(&options), UCS_ERR_UNSUPPORTED);
    /* a second subscription fails in the same way */
    ck_assert_int_eq(subscribe(&options), UCS_ERR_UNSUPPORTED);
    options.enable_malloc_reloc = 1;
    options.enable_malloc_hooks = 0;
    ck_ok(subscribe(&options));
    ck_assert(munmap_is_heard());
}
END_TEST

START_TEST(run_path_of_the_caller_can_be_left_out)
{
    ucm_global_config_t options = defaults;

    ck_assert_ptr_nonnull(ucm_dlopen(MAPPER_NAME, RTLD_LAZY));
    dlclose(dlopen(MAPPER_FOLDER "/" MAPPER_NAME, RTLD_LAZY | RTLD_NOLOAD));
    dlclose(dlopen(MAPPER_FOLDER "/" MAPPER_NAME, RTLD_LAZY | RTLD_NOLOAD));
    options.dlopen_process_rpath = 0;
    ucm_set_global_opts(&options);
    if (dlopen(MAPPER_FOLDER "/" MAPPER_NAME, RTLD_LAZY | RTLD_NOLOAD) ==
        NULL) {
        ck_assert_ptr_null(ucm_dlopen(MAPPER_NAME, RTLD_LAZY));
    }
}
END_TEST

START_TEST(messages_obey_the_level)
{
    ucm_global_config_t options = defaults;
    char text[4096]             = "";
    FILE *file                  = tmpfile();

    ck_assert_ptr_nonnull(file);
    options.log_level = (_i == 0) ? UCS_LOG_LEVEL_WARN : UCS_LOG_LEVEL_TRACE;
    ck_assert_int_ge(dup2(fileno(file), STDERR_FILENO), 0);
    options.mmap_hook_mode = UCM_MMAP_HOOK_NONE;
    ck_assert_int_eq(subscribe(&options), UCS_ERR_UNSUPPORTED);
    rewind(file);
    ck_assert_uint_lt(fread(text, 1, sizeof(text) - 1, file), sizeof(text));
    if (_i == 0) {
        ck_assert_str_eq(text, "");
    } else {
        ck_assert_ptr_nonnull(strstr(text, "UCX_MEM_MMAP_HOOK_MODE"));
    }
}
END_TEST

int main(void)
{
    Suite *suite    = suite_create("options");
    TCase *tcase    = tcase_create("options");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, mode_says_how_calls_are_intercepted, 0,
                        UCM_MMAP_HOOK_LAST);
    tcase_add_test(tcase, policy_against_new_code_leads_to_tables);
    tcase_add_test(tcase, settings_count_before_the_environment);
    tcase_add_test(tcase, events_can_be_switched_off);
    tcase_add_test(tcase, by_tables_the_heap_must_be_watched);
    tcase_add_test(tcase, run_path_of_the_caller_can_be_left_out);
    tcase_add_loop_test(tcase, messages_obey_the_level, 0, 2);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? 0 : 1;
}
