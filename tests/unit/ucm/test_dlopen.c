/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dlopen: UCM also intercepts the calls of objects that are loaded after
 * interception has started, and dlopen() still finds an object by the run path
 * of its caller. ucm_dlopen() does the same.
 */
#include "heard.h"

#include <dlfcn.h>
#include <sys/mman.h>

static heard_t heard;

static void setup(void)
{
    ck_ok(ucm_set_event_handler(VM_EVENTS, 0, heard_cb, &heard));
}

static void check_object(void *object)
{
    void *(*map_and_unmap)(void);
    void *address;

    ck_assert_msg(object != NULL, "%s", dlerror());
    *(void **)&map_and_unmap = dlsym(object, "mapper_map_and_unmap");
    ck_assert_ptr_nonnull(map_and_unmap);
    heard_clear(&heard);
    address = map_and_unmap();
    ck_assert_ptr_nonnull(address);
    ck_mapped(&heard, address, PAGE);
    ck_unmapped(&heard, address, PAGE);
    ck_assert_int_eq(dlclose(object), 0);
}

START_TEST(object_loaded_later_is_intercepted)
{
    check_object(
        dlopen(MAPPER_FOLDER "/" MAPPER_NAME,
               (_i == 0) ? RTLD_LAZY | RTLD_LOCAL : RTLD_NOW | RTLD_GLOBAL));
    check_object(dlopen(MAPPER_FOLDER "/" MAPPER_NAME, RTLD_NOW));
}
END_TEST

/* A sanitizer that intercepts dlopen() becomes the caller, so that the run path
 * of this program does not apply: not tested then. */
START_TEST(object_is_found_by_the_run_path_of_the_caller)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return;
#endif
    check_object(dlopen(MAPPER_NAME, RTLD_NOW | RTLD_LOCAL));
}
END_TEST

START_TEST(own_dlopen_does_the_same)
{
    check_object(ucm_dlopen(MAPPER_NAME, RTLD_NOW));
    check_object(ucm_dlopen(MAPPER_FOLDER "/" MAPPER_NAME, RTLD_LAZY));
    ck_assert_ptr_nonnull(dlsym(ucm_dlopen(NULL, RTLD_LAZY), "malloc"));
}
END_TEST

START_TEST(missing_object_leaves_the_usual_message)
{
    (void)dlerror();
    ck_assert_ptr_null(ucm_dlopen("no-such-object.so", RTLD_NOW));
    ck_assert_ptr_nonnull(strstr(dlerror(), "no-such-object.so"));
    ck_assert_ptr_null(dlopen("no-such-object.so", RTLD_NOW));
    ck_assert_ptr_nonnull(strstr(dlerror(), "no-such-object.so"));
}
END_TEST

int main(void)
{
    Suite *suite    = suite_create("dlopen");
    TCase *tcase    = tcase_create("dlopen");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_loop_test(tcase, object_loaded_later_is_intercepted, 0, 2);
    tcase_add_test(tcase, object_is_found_by_the_run_path_of_the_caller);
    tcase_add_test(tcase, own_dlopen_does_the_same);
    tcase_add_test(tcase, missing_object_leaves_the_usual_message);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? 0 : 1;
}
