/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that load the library by dlopen(RTLD_LOCAL), use it, and call
 * dlclose(): the library stays loaded if it has intercepted calls, and is
 * unloaded otherwise.
 */
#include "heard.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>

static heard_t heard;

typedef struct library {
    void *object;
    void (*set_opts)(const ucm_global_config_t *);
    ucs_status_t (*set)(int, int, ucm_event_callback_t, void *);
    void (*unset)(int, ucm_event_callback_t, void *);
} library_t;

static void library_open(library_t *library)
{
    library->object = dlopen(UCM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library->object != NULL, "%s", dlerror());
    *(void **)&library->set_opts = dlsym(library->object,
                                         "ucm_set_global_opts");
    *(void **)&library->set   = dlsym(library->object, "ucm_set_event_handler");
    *(void **)&library->unset = dlsym(library->object,
                                      "ucm_unset_event_handler");
    ck_assert_ptr_nonnull(library->unset);
}

static int munmap_is_heard(void)
{
    void *address = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                         0);

    heard_clear(&heard);
    munmap(address, PAGE);
    return heard_range(&heard, UCM_EVENT_VM_UNMAPPED, address, PAGE);
}

START_TEST(library_that_intercepts_stays)
{
    ucm_global_config_t options = {
        .log_level      = UCS_LOG_LEVEL_WARN,
        .enable_events  = 1,
        .mmap_hook_mode = (_i & 1) ? UCM_MMAP_HOOK_RELOC : UCM_MMAP_HOOK_BISTRO,
        .enable_malloc_hooks        = 1,
        .enable_malloc_reloc        = 1,
        .module_unload_prevent_mode = (_i & 2) ? UCM_UNLOAD_PREVENT_MODE_NOW :
                                                 UCM_UNLOAD_PREVENT_MODE_LAZY,
    };
    library_t library;
    Dl_info info;

    library_open(&library);
    library.set_opts(&options);
    ck_ok(library.set(VM_EVENTS, 0, heard_cb, &heard));
    ck_assert(munmap_is_heard());
    library.unset(VM_EVENTS, heard_cb, &heard);
    ck_assert_int_eq(dlclose(library.object), 0);
    ck_assert_int_ne(dladdr((void *)library.set, &info), 0);
    ck_assert(!munmap_is_heard());
    free(malloc(64ul << 20));

    library_open(&library);
    ck_ok(library.set(VM_EVENTS, 0, heard_cb, &heard));
    ck_assert(munmap_is_heard());
}
END_TEST

START_TEST(library_that_does_not_intercept_is_unloaded)
{
    library_t library;
    Dl_info info;

    library_open(&library);
    ck_ok(library.set(VM_EVENTS | UCM_EVENT_FLAG_NO_INSTALL, 0, heard_cb,
                      &heard));
    library.unset(VM_EVENTS, heard_cb, &heard);
    ck_assert_int_eq(dlclose(library.object), 0);
    ck_assert_int_eq(dladdr((void *)library.set, &info), 0);
    /* fork() must not call handlers of the unloaded library */
    ck_assert_int_eq(system("true"), 0);
}
END_TEST

int main(void)
{
    Suite *suite    = suite_create("unload");
    TCase *tcase    = tcase_create("unload");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, library_that_intercepts_stays, 0, 4);
    tcase_add_test(tcase, library_that_does_not_intercept_is_unloaded);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? 0 : 1;
}
