/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library for LD_PRELOAD: counts the posts to all datagram queue pairs, and
 * puts the queue pair of every 400th post into the error state before the post,
 * as a failed work request does. This post and the work requests in flight are
 * lost.
 */
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <stdio.h>

enum { POSTS = 400 };

typedef struct ibv_qp *(*create_qp_t)(struct ibv_pd *pd,
                                      struct ibv_qp_init_attr *init);
typedef int (*post_send_t)(struct ibv_qp *qp, struct ibv_send_wr *wr,
                           struct ibv_send_wr **bad);

static post_send_t real_post_send;
static unsigned num_posts, num_errors;

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
                     struct ibv_send_wr **bad)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

    if ((qp->qp_type == IBV_QPT_UD) &&
        (__atomic_add_fetch(&num_posts, 1, __ATOMIC_RELAXED) % POSTS == 0) &&
        (ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0)) {
        ++num_errors;
    }
    return real_post_send(qp, wr, bad);
}

__attribute__((visibility("default"))) struct ibv_qp *
ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
    void *verbs = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);
    create_qp_t create_qp;
    struct ibv_qp *qp;

    create_qp = (create_qp_t)dlvsym(verbs, "ibv_create_qp", "IBVERBS_1.1");
    qp        = create_qp(pd, init);
    if ((qp != NULL) && (qp->context->ops.post_send != post_send)) {
        real_post_send             = qp->context->ops.post_send;
        qp->context->ops.post_send = post_send;
    }
    dlclose(verbs);
    return qp;
}

__attribute__((destructor)) static void report(void)
{
    if (num_posts > 0) {
        fprintf(stderr, "%u errors in %u posts\n", num_errors, num_posts);
    }
}
