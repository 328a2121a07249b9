/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library for LD_PRELOAD: of every four calls of rdma_connect(), three fail as
 * if a TCP connection had the local port that librdmacm has chosen.
 */
#include <dlfcn.h>
#include <errno.h>
#include <rdma/rdma_cma.h>

typedef int (*connect_t)(struct rdma_cm_id *id, struct rdma_conn_param *param);

__attribute__((visibility("default"))) int
rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
    static unsigned calls;
    void *rdmacm;
    int ret;

    if (__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED) % 4 < 3) {
        errno = EADDRINUSE;
        return -1;
    }
    rdmacm = dlopen("librdmacm.so.1", RTLD_LAZY | RTLD_NOLOAD);
    ret    = ((connect_t)dlsym(rdmacm, "rdma_connect"))(id, param);
    dlclose(rdmacm);
    return ret;
}
