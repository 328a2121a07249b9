/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * <ucx/count.h>: an operation that consists of several parts completes once,
 * with the first error, whether its parts complete before or after
 * ucx_count_close().
 */
#include "common.h"

#include <ucx/count.h>

typedef struct user {
    uct_completion_t comp;
    unsigned calls;
} user_t;

static void on_end(uct_completion_t *comp)
{
    ++((user_t *)comp)->calls;
}

static user_t make_user(int count)
{
    return (user_t){
        .comp =
            {
                .func   = on_end,
                .count  = count,
                .status = UCS_OK,
            },
    };
}

START_TEST(the_last_of_several_operations_calls)
{
    user_t user = make_user(3);

    ucx_complete(NULL, UCS_ERR_IO_ERROR);
    ucx_complete(&user.comp, UCS_OK);
    ucx_complete(&user.comp, UCS_ERR_IO_ERROR);
    ck_assert_uint_eq(user.calls, 0);
    ucx_complete(&user.comp, UCS_ERR_CANCELED);
    ck_assert_uint_eq(user.calls, 1);
    ck_status(user.comp.status, UCS_ERR_IO_ERROR);
}
END_TEST

START_TEST(an_operation_without_parts_is_complete)
{
    user_t user        = make_user(1);
    ucx_count_t *count = ucx_count_create(&user.comp);

    ck_ok(ucx_count_close(count));
    ck_assert_uint_eq(user.calls, 0);
}
END_TEST

START_TEST(parts_that_end_at_once_call_nothing)
{
    user_t user        = make_user(1);
    ucx_count_t *count = ucx_count_create(&user.comp);

    ucx_count_add(count);
    ucx_count_result(count, UCS_OK);
    /* this part completes before its start returns */
    ucx_complete(ucx_count_add(count), UCS_OK);
    ucx_count_result(count, UCS_INPROGRESS);
    ck_ok(ucx_count_close(count));
    ck_assert_uint_eq(user.calls, 0);
}
END_TEST

START_TEST(the_last_part_calls_with_the_first_error)
{
    user_t user        = make_user(1);
    ucx_count_t *count = ucx_count_create(&user.comp);
    uct_completion_t *first, *second;

    first = ucx_count_add(count);
    ucx_count_result(count, UCS_INPROGRESS);
    second = ucx_count_add(count);
    ucx_count_result(count, UCS_INPROGRESS);
    ck_status(ucx_count_close(count), UCS_INPROGRESS);
    ucx_complete(first, UCS_ERR_ENDPOINT_TIMEOUT);
    ck_assert_uint_eq(user.calls, 0);
    ucx_complete(second, UCS_OK);
    ck_assert_uint_eq(user.calls, 1);
    ck_status(user.comp.status, UCS_ERR_ENDPOINT_TIMEOUT);
}
END_TEST

/* A part cannot be started: the call returns the error, and the user's
 * completion is not called. */
START_TEST(an_error_of_a_start_is_the_result_of_the_call)
{
    user_t user        = make_user(1);
    ucx_count_t *count = ucx_count_create(&user.comp);
    uct_completion_t *first;

    first = ucx_count_add(count);
    ucx_count_result(count, UCS_INPROGRESS);
    ucx_count_add(count);
    ucx_count_result(count, UCS_ERR_NO_MEMORY);
    ck_status(ucx_count_close(count), UCS_ERR_NO_MEMORY);
    ucx_complete(first, UCS_OK);
    ck_assert_uint_eq(user.calls, 0);
    ck_assert_int_eq(user.comp.count, 1);
}
END_TEST

/* The interface is closed before a part has ended: the user's completion is not
 * called. */
START_TEST(a_dropped_part_calls_nothing)
{
    user_t user        = make_user(1);
    ucx_count_t *count = ucx_count_create(&user.comp);
    uct_completion_t *first, *second;

    first = ucx_count_add(count);
    ucx_count_result(count, UCS_INPROGRESS);
    second = ucx_count_add(count);
    ucx_count_result(count, UCS_INPROGRESS);
    ck_status(ucx_count_close(count), UCS_INPROGRESS);
    ucx_complete(first, UCS_OK);
    ucx_count_drop(second);
    ck_assert_uint_eq(user.calls, 0);
    ck_assert_int_eq(user.comp.count, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("count");
    TCase *tcase = tcase_create("count");

    tcase_add_test(tcase, the_last_of_several_operations_calls);
    tcase_add_test(tcase, an_operation_without_parts_is_complete);
    tcase_add_test(tcase, parts_that_end_at_once_call_nothing);
    tcase_add_test(tcase, the_last_part_calls_with_the_first_error);
    tcase_add_test(tcase, an_error_of_a_start_is_the_result_of_the_call);
    tcase_add_test(tcase, a_dropped_part_calls_nothing);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
