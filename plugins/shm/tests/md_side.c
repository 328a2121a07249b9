/* SPDX-License-Identifier: BSD-3-Clause */
/* A memory domain for tests: see md_side.h. */
#include "md_side.h"
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* md.c refers to the transports, which are not part of these tests. */
const ucx_transport_t shm_posix_transport = {.size = sizeof(ucx_transport_t)};
const ucx_transport_t shm_sysv_transport  = {.size = sizeof(ucx_transport_t)};

void side_open(side_t *side, int which)
{
    shm_posix_md_config_t posix = {
        .dir           = (char *)seg_dir(),
        .use_names     = UCS_TRY,
        .use_proc_link = 1,
        .use_socket    = UCS_AUTO,
        .hugetlb_mode  = UCS_NO,
    };
    shm_sysv_md_config_t sysv = {.hugetlb_mode = UCS_NO};
    ucx_md_open_args_t args   = {.size = sizeof(args)};

    memset(side, 0, sizeof(*side));
    side->instance.super.host = seg_host();
    side->component.instance  = &side->instance;
    EXPECT_EQ(shm_md_component_init(&side->component, which), UCS_OK);
    side->ops   = side->component.super.md_ops;
    args.config = (which == SHM_POSIX) ? (void *)&posix : (void *)&sysv;
    EXPECT_EQ(side->component.super.md_open(&side->component.super, &args,
                                            &side->md),
              UCS_OK);
}

void side_close(side_t *side)
{
    side->ops->close(side->md);
    shm_md_component_cleanup(&side->component);
}

ucs_status_t side_alloc(side_t *side, size_t *length, void **address,
                        unsigned flags, uct_mem_h *memh)
{
    const ucx_mem_alloc_params_t params = {
        .size     = sizeof(params),
        .flags    = flags,
        .mem_type = UCS_MEMORY_TYPE_HOST,
    };

    return side->ops->mem_alloc(side->md, length, address, &params, memh);
}

ucs_status_t side_reg(side_t *side, void *address, size_t length,
                      uct_mem_h *memh)
{
    const ucx_mem_reg_params_t params = {
        .size      = sizeof(params),
        .dmabuf_fd = UCT_DMABUF_FD_INVALID,
    };

    return side->ops->mem_reg(side->md, address, length, &params, memh);
}

ucs_status_t side_dereg(side_t *side, uct_mem_h memh)
{
    const ucx_mem_dereg_params_t params = {.size = sizeof(params)};

    return side->ops->mem_dereg(side->md, memh, &params);
}

void side_pack(side_t *side, uct_mem_h memh, uint8_t *key)
{
    EXPECT_EQ(side->ops->mkey_pack(side->md, memh, NULL, SIZE_MAX, 0, key),
              UCS_OK);
}

ucs_status_t side_unpack(side_t *side, const void *key, size_t length,
                         uct_rkey_t *rkey)
{
    void *handle;

    return shm_rkey_unpack(&side->component.super, key, length,
                           UCS_SYS_DEVICE_ID_UNKNOWN, rkey, &handle);
}

void side_release(side_t *side, uct_rkey_t rkey)
{
    EXPECT_EQ(shm_rkey_release(&side->component.super, rkey, NULL), UCS_OK);
}

void side_free(side_t *side, uct_mem_h memh)
{
    EXPECT_EQ(side->ops->mem_free(side->md, memh), UCS_OK);
}

int side_run(const char *name, const void *tests, unsigned num)
{
    const TTest *const *list = tests;
    Suite *suite             = suite_create(name);
    TCase *tcase             = tcase_create("posix and sysv");
    SRunner *runner          = srunner_create(suite);
    int failed;

    (void)seg_dir();
    for (unsigned i = 0; i < num; ++i) {
        tcase_add_loop_test(tcase, list[i], SHM_POSIX, SHM_SYSV + 1);
    }
    suite_add_tcase(suite, tcase);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
