/* SPDX-License-Identifier: BSD-3-Clause */
/* memlock: a registration that fails because of the limit of locked memory logs
 * one error that states what to change; messages of other failures do not
 * mention the limit. The registration functions of libibverbs are replaced
 * here; they always fail with `reg_errno`. */
#include "../src/chunk.h"
#include "../src/memlock.h"
#include "suite.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { LIMIT = 64 * 1024 }; /* RLIMIT_MEMLOCK of the tests, in bytes */

static int reg_errno;
static int log_level = UCS_LOG_LEVEL_DEBUG;

static struct {
    unsigned count; /* Number of log messages of all levels */
    int level;      /* Level of the last message */
    char text[1024];
} logged;

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length,
                          int access)
{
    errno = reg_errno;
    return NULL;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length,
                                uint64_t iova, unsigned access)
{
    errno = reg_errno;
    return NULL;
}

static void __attribute__((format(printf, 4, 5)))
note_log(int level, const char *file, int line, const char *format, ...)
{
    va_list args;

    ++logged.count;
    logged.level = level;
    va_start(args, format);
    vsnprintf(logged.text, sizeof(logged.text), format, args);
    va_end(args);
}

static const ucx_host_t host = {
    .size      = sizeof(host),
    .log_level = &log_level,
    .log       = note_log,
};

static const ucx_component_t component = {
    .size = sizeof(component),
    .name = "ib",
};

static ib_md_t md;

static void set_limit(rlim_t bytes)
{
    struct rlimit limit;

    ck_assert_int_eq(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
    limit.rlim_cur = bytes;
    ck_assert_int_eq(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
}

static int limit_can_be_lifted(void)
{
    struct rlimit limit;

    return (getrlimit(RLIMIT_MEMLOCK, &limit) == 0) &&
           (limit.rlim_max == RLIM_INFINITY);
}

static ucs_status_t register_memory(int error)
{
    const ucx_mem_reg_params_t params = {
        .size      = sizeof(params),
        .dmabuf_fd = -1,
    };
    static char memory[4096];
    uct_mem_h memh;

    reg_errno = error;
    return ib_md_ops.mem_reg(&md.super, memory, sizeof(memory), &params, &memh);
}

static void setup(void)
{
    memset(&md, 0, sizeof(md));
    memset(&logged, 0, sizeof(logged));
    md.host            = &host;
    md.super.component = &component;
    set_limit(LIMIT);
}

static void check_advice(void)
{
    ck_assert_int_eq(logged.level, UCS_LOG_LEVEL_ERROR);
    ck_assert_ptr_nonnull(strstr(logged.text, "64 KiB"));
    ck_assert_ptr_nonnull(strstr(logged.text, "ulimit -l"));
    ck_assert_ptr_nonnull(strstr(logged.text, "limits.conf"));
}

START_TEST(registration_at_the_limit_tells_what_to_change)
{
    static const int errors[] = {ENOMEM, EAGAIN, EPERM};

    for (unsigned i = 0; i < 3; ++i) {
        setup();
        ck_assert_int_eq(register_memory(errors[i]), UCS_ERR_NO_MEMORY);
        ck_assert_uint_eq(logged.count, 1);
        check_advice();
        ck_assert_ptr_nonnull(strstr(logged.text, "4096 bytes"));
    }
}
END_TEST

START_TEST(further_failures_are_debug_messages)
{
    setup();
    for (unsigned i = 0; i < 3; ++i) {
        ck_assert_int_eq(register_memory(ENOMEM), UCS_ERR_NO_MEMORY);
        ck_assert_int_eq(logged.level,
                         (i == 0) ? UCS_LOG_LEVEL_ERROR : UCS_LOG_LEVEL_DEBUG);
    }
}
END_TEST

START_TEST(buffers_at_the_limit_tell_what_to_change)
{
    size_t size = 4096;
    void *chunk;

    setup();
    reg_errno = ENOMEM;
    ck_assert_int_eq(ib_chunk_alloc(&md, &size, &chunk), UCS_ERR_NO_MEMORY);
    ck_assert_uint_eq(logged.count, 1);
    check_advice();
}
END_TEST

START_TEST(other_errors_do_not_blame_the_limit)
{
    setup();
    ck_assert_int_eq(register_memory(EFAULT), UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(register_memory(EINVAL), UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(register_memory(EIO), UCS_ERR_IO_ERROR);
    ck_assert_int_eq(logged.level, UCS_LOG_LEVEL_DEBUG);
    ck_assert_ptr_null(strstr(logged.text, "ulimit"));
    /* The errors above did not count as a report of the limit: the first
     * failure at the limit is still logged as an error. */
    ck_assert_int_eq(register_memory(ENOMEM), UCS_ERR_NO_MEMORY);
    check_advice();
}
END_TEST

START_TEST(without_a_limit_it_is_not_blamed)
{
    char advice[IB_ADVICE_LENGTH];

    setup();
    ck_assert_int_eq(ib_memlock_advice(ENOMEM, advice), 1);
    if (!limit_can_be_lifted()) {
        printf("not run: the hard limit of locked memory is finite here\n");
        return;
    }
    set_limit(RLIM_INFINITY);
    ck_assert_int_eq(ib_memlock_advice(ENOMEM, advice), 0);
    ck_assert_str_eq(advice, "");
    ck_assert_int_eq(register_memory(ENOMEM), UCS_ERR_NO_MEMORY);
    ck_assert_int_eq(register_memory(EPERM), UCS_ERR_IO_ERROR);
    ck_assert_ptr_null(strstr(logged.text, "ulimit"));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        registration_at_the_limit_tells_what_to_change,
        further_failures_are_debug_messages,
        buffers_at_the_limit_tell_what_to_change,
        other_errors_do_not_blame_the_limit,
        without_a_limit_it_is_not_blamed,
    };

    return suite_run("memlock", tests, sizeof(tests) / sizeof(tests[0]), 30);
}
