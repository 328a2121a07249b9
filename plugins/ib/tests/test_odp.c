/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of the device that a memory domain uses: memory is registered for
 * on-demand paging if the device supports paging for all operations and
 * UCX_IB_ODP requests it, or is `try` and there is no registration cache; the
 * domain declares the registration of dmabufs if the device's driver supports
 * it. The functions of libibverbs are replaced here. */
#include "../src/md.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum {
    ALL = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ |
          IBV_ODP_SUPPORT_ATOMIC,
};

static int log_level = UCS_LOG_LEVEL_WARN;
static unsigned num_warnings;    /* Number of logged warnings */
static struct ibv_odp_caps caps; /* Capabilities of the device */
static unsigned last_access;     /* Access flags of the last registration */
static struct ibv_mr last_mr;
static int dmabuf_error;  /* errno with which the registration of a dmabuf
                           * fails; 0: it succeeds */
static unsigned num_open; /* Number of registrations not yet released */

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length,
                                uint64_t iova, unsigned access)
{
    last_access = access;
    ++num_open;
    return &last_mr;
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
                                 size_t length, uint64_t iova, int fd,
                                 int access)
{
    ck_assert_int_eq(fd, -1);
    ck_assert_uint_gt(length, 0);
    errno = dmabuf_error;
    num_open += (dmabuf_error == 0);
    return (dmabuf_error == 0) ? &last_mr : NULL;
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length,
                          int access)
{
    return ibv_reg_mr_iova2(pd, address, length, (uintptr_t)address,
                            (unsigned)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
    ck_assert_ptr_eq(mr, &last_mr);
    --num_open;
    return 0;
}

const char *ibv_get_device_name(struct ibv_device *device)
{
    return "test0";
}

static int query_device(struct ibv_context *context,
                        const struct ibv_query_device_ex_input *input,
                        struct ibv_device_attr_ex *attr, size_t size)
{
    memset(attr, 0, size);
    attr->odp_caps = caps;
    return 0;
}

static void note_log(int level, const char *file, int line, const char *format,
                     ...)
{
    num_warnings += (level == UCS_LOG_LEVEL_WARN);
}

static const ucx_host_t host = {
    .size      = sizeof(host),
    .log_level = &log_level,
    .log       = note_log,
};

static struct verbs_context context = {
    .query_device_ex = query_device,
    .sz              = sizeof(context),
    .context         = {.abi_compat = __VERBS_ABI_IS_EXTENDED},
};

/* Registers memory, and returns whether this was for on-demand paging.
 * `wanted`: value of UCX_IB_ODP; `has_cache`: there is a registration cache;
 * `rc_caps`: operations for which the device supports paging. */
static int is_paged(int wanted, int has_cache, uint32_t rc_caps)
{
    const ucx_mem_reg_params_t params = {
        .size      = sizeof(params),
        .dmabuf_fd = -1,
        .flags     = UCT_MD_MEM_ACCESS_REMOTE_ATOMIC, /* Bypasses the cache */
    };
    static char memory[64];
    ucx_rcache_t *cache = (ucx_rcache_t *)memory;
    ib_md_t md          = {
                 .host       = &host,
                 .context    = &context.context,
                 .rcache     = has_cache ? cache : NULL,
                 .config.odp = wanted,
    };
    uct_mem_h memh;

    caps.general_caps                   = (rc_caps != 0) ? IBV_ODP_SUPPORT : 0;
    caps.per_transport_caps.rc_odp_caps = rc_caps;
    num_warnings                        = 0;
    ib_md_set_odp(&md);
    ck_assert_int_eq(ib_md_ops.mem_reg(&md.super, memory, sizeof(memory),
                                       &params, &memh),
                     UCS_OK);
    ck_assert_int_eq(ib_md_ops.mem_dereg(&md.super, memh, NULL), UCS_OK);
    return (last_access & IBV_ACCESS_ON_DEMAND) != 0;
}

START_TEST(it_is_used_where_registrations_are_not_kept)
{
    ck_assert(is_paged(UCS_TRY, 0, ALL));
    ck_assert(!is_paged(UCS_TRY, 1, ALL));
    ck_assert(!is_paged(UCS_TRY, 0, 0));
    ck_assert_uint_eq(num_warnings, 0);
}
END_TEST

START_TEST(the_user_decides)
{
    ck_assert(is_paged(UCS_YES, 1, ALL));
    ck_assert(!is_paged(UCS_NO, 0, ALL));
    ck_assert_uint_eq(num_warnings, 0);
}
END_TEST

START_TEST(a_device_with_a_part_of_it_does_not_count)
{
    ck_assert(!is_paged(UCS_TRY, 0, ALL & ~IBV_ODP_SUPPORT_ATOMIC));
    ck_assert_uint_eq(num_warnings, 0);
    ck_assert(!is_paged(UCS_YES, 0, ALL & ~IBV_ODP_SUPPORT_READ));
    ck_assert_uint_eq(num_warnings, 1);
}
END_TEST

START_TEST(dmabufs_are_declared_where_the_driver_looks_for_the_file)
{
    static const struct {
        int error, is_declared;
    } kernels[] = {
        {EBADF, 1}, {EOPNOTSUPP, 0}, {EPROTONOSUPPORT, 0}, {EINVAL, 0}, {0, 1},
    };
    ib_md_t md = {.host = &host, .context = &context.context};
    ucx_md_attr_t attr;

    num_warnings = 0;

    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); ++i) {
        dmabuf_error = kernels[i].error;
        ib_md_set_dmabuf(&md);
        ck_assert_int_eq(ib_md_ops.query(&md.super, &attr), UCS_OK);
        ck_assert_msg(!!(attr.flags & UCT_MD_FLAG_REG_DMABUF) ==
                          kernels[i].is_declared,
                      "with %s", strerror(kernels[i].error));
    }
    ck_assert_uint_eq(num_open, 0);
    ck_assert_uint_eq(num_warnings, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        it_is_used_where_registrations_are_not_kept,
        the_user_decides,
        a_device_with_a_part_of_it_does_not_count,
        dmabufs_are_declared_where_the_driver_looks_for_the_file,
    };

    return suite_run("odp", tests, sizeof(tests) / sizeof(tests[0]), 30);
}
