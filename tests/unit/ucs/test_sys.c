/* SPDX-License-Identifier: BSD-3-Clause */
/* System queries, reading whole files, clocks and arithmetic. */
#include "suite.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ucs/host/guid.h"
#include "ucs/sys/cycles.h"
#include "ucs/sys/math.h"
#include "ucs/sys/sys.h"
#include "ucs/time/time.h"

START_TEST(files_are_read_whole_or_not_at_all)
{
    char path[] = "/tmp/ucs_test_sys.XXXXXX", *data, line[8];
    size_t length;
    long number;

    close(mkstemp(path));
    ck_ok(ucs_write_file(path, "0x1f\nmore", 9, 0640));
    ck_ok(ucs_read_file(path, 9, &data, &length));
    ck_assert_uint_eq(length, 9);
    ck_assert_str_eq(data, "0x1f\nmore");
    free(data);
    ck_assert_int_eq(ucs_read_file(path, 8, &data, NULL),
                     UCS_ERR_EXCEEDS_LIMIT);
    ck_ok(ucs_read_file_line(path, line, sizeof(line)));
    ck_assert_str_eq(line, "0x1f");
    ck_ok(ucs_read_file_number(path, &number));
    ck_assert_int_eq(number, 31);
    ck_ok(ucs_write_file(path, "12x", 3, 0640));
    ck_assert_int_eq(ucs_read_file_number(path, &number),
                     UCS_ERR_INVALID_PARAM);
    unlink(path);
    ck_assert_int_eq(ucs_read_file(path, 8, &data, NULL), UCS_ERR_NO_ELEM);
    ck_assert_int_eq(ucs_read_file("/tmp", 8, &data, NULL),
                     UCS_ERR_EXCEEDS_LIMIT);
    ck_ok(ucs_read_file("/proc/self/stat", 1 << 16, &data, &length));
    /* although fstat() reports a size of 0 for this file */
    ck_assert_uint_gt(length, 0);
    free(data);
}
END_TEST

START_TEST(arithmetic_does_not_wrap)
{
    size_t result;

    ck_assert_int_eq(ucs_check_add(SIZE_MAX - 1, 1, &result), 0);
    ck_assert_uint_eq(result, SIZE_MAX);
    ck_assert_int_ne(ucs_check_add(SIZE_MAX, 1, &result), 0);
    ck_assert_int_ne(ucs_check_mul(SIZE_MAX / 2, 3, &result), 0);
    ck_assert_uint_eq(ucs_align_up_pow2(65u, 64), 128);
    ck_assert_uint_eq(ucs_align_up_pow2(64u, 64), 64);
    ck_assert_uint_eq(ucs_padding(65ul, 64ul), 63);
    ck_assert_uint_eq(ucs_padding(64ul, 64ul), 0);
    ck_assert_uint_eq(ucs_roundup_pow2(0), 1);
    ck_assert_uint_eq(ucs_roundup_pow2(65), 128);
    ck_assert_uint_eq(ucs_roundup_pow2(64), 64);
    ck_assert_uint_eq(ucs_ilog2(1024), 10);
    ck_assert_uint_eq(UCS_MASK(64), UINT64_MAX);
    ck_assert_uint_eq(UCS_MASK(0), 0);
}
END_TEST

START_TEST(the_clock_goes_forward)
{
    ucs_time_t start = ucs_get_time();

    ck_assert_uint_ge(ucs_get_time(), start);
    ck_assert_uint_gt(start, 0);
    ck_assert_uint_eq(ucs_time_from_sec(1e30), UCS_TIME_INFINITY);
    ck_assert_uint_eq(ucs_time_from_sec(-1), 0);
    ck_assert_uint_eq(ucs_time_from_usec(1), 1000);
    ck_assert_double_eq_tol(ucs_time_to_msec(ucs_time_from_msec(7)), 7, 1e-9);
    ck_assert(UCS_SHORT_TIME_CMP((ucs_short_time_t)5, >, (ucs_short_time_t)-5));
}
END_TEST

/* The time of the ticks lies between two limits, however long the thread is
 * interrupted. */
START_TEST(the_fast_clock_has_a_known_rate)
{
    ucs_time_t first, second, third, fourth;
    uint64_t ticks;
    double seconds;

    first  = ucs_get_time();
    ticks  = ucs_cycles();
    second = ucs_get_time();
    do {
        third = ucs_get_time();
    } while (third - second < ucs_time_from_msec(2));
    ticks  = ucs_cycles() - ticks;
    fourth = ucs_get_time();

    seconds = (double)ticks / ucs_cycles_per_sec();
    ck_assert_double_ge(seconds, 0.98 * ucs_time_to_sec(third - second));
    ck_assert_double_le(seconds, 1.02 * ucs_time_to_sec(fourth - first));
}
END_TEST

START_TEST(identity_is_stable)
{
    ck_assert_uint_ne(ucs_get_system_id(), 0);
    ck_assert_uint_eq(ucs_get_system_id(), ucs_get_system_id());
    ck_assert_uint_ne(ucs_get_system_id(), ucs_boot_guid());
    ck_assert_uint_ne(ucs_generate_uuid(), ucs_generate_uuid());
    ck_assert_uint_gt(strlen(ucs_get_host_name()), 0);
    ck_assert_str_eq(ucs_get_exe_name(), "test_ucs_sys");
    ck_assert_int_eq(ucs_get_tid(), getpid());
    ck_assert_uint_eq(ucs_get_page_size(), (size_t)getpagesize());
    ck_assert_int_eq(ucs_sys_is_secure(), 0);
}
END_TEST

START_TEST(texts_and_errors)
{
    char buf[4];

    ck_assert_int_eq(ucs_strncpy_zero(buf, "abc", sizeof(buf)), 1);
    ck_assert_int_eq(ucs_strncpy_zero(buf, "abcd", sizeof(buf)), 0);
    ck_assert_str_eq(buf, "abc");
    ck_assert_int_eq(ucs_errno_to_status(0), UCS_OK);
    ck_assert_int_eq(ucs_errno_to_status(ECONNRESET), UCS_ERR_CONNECTION_RESET);
    ck_assert_int_eq(ucs_errno_to_status(12345), UCS_ERR_IO_ERROR);
}
END_TEST

SUITE_MAIN("sys", files_are_read_whole_or_not_at_all, arithmetic_does_not_wrap,
           the_clock_goes_forward, the_fast_clock_has_a_known_rate,
           identity_is_stable, texts_and_errors)
