/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations that no built-in transport implements (tag matching by the device,
 * deprecated interfaces by socket address): the API calls the transport's
 * function with its arguments, and returns an error if the transport has none.
 * Also sends that check their peer, and calls of the memory domain.
 */
#include "common.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "uct/base/component_list.h"
#include "uct/base/md.h"

/* The transport's function that was called last, and its arguments. `slot` is
 * NULL if none was called since the last ck_last(). */
static struct {
    const char *slot;
    uint64_t tag;
    uint64_t number;
    const void *pointer;
    size_t length;
    unsigned flags;
} last;

static ucs_status_t note(const char *slot, uint64_t tag, uint64_t number,
                         const void *pointer, size_t length, unsigned flags)
{
    last.slot    = slot;
    last.tag     = tag;
    last.number  = number;
    last.pointer = pointer;
    last.length  = length;
    last.flags   = flags;
    return UCS_INPROGRESS;
}

#define ck_last(_slot, _tag, _number, _pointer, _length, _flags) \
    do { \
        ck_assert_str_eq(last.slot, _slot); \
        ck_assert_uint_eq(last.tag, _tag); \
        ck_assert_uint_eq(last.number, _number); \
        ck_assert_ptr_eq(last.pointer, _pointer); \
        ck_assert_uint_eq(last.length, _length); \
        ck_assert_uint_eq(last.flags, _flags); \
        memset(&last, 0, sizeof(last)); \
    } while (0)

/* --- The transport ------------------------------------------------------- */

static ucs_status_t eager_short(uct_ep_h ep, uct_tag_t tag, const void *data,
                                size_t length)
{
    return note("eager_short", tag, 0, data, length, 0);
}

static ssize_t eager_bcopy(uct_ep_h ep, uct_tag_t tag, uint64_t imm,
                           uct_pack_callback_t pack_cb, void *arg,
                           unsigned flags)
{
    char packed[16];
    size_t length = pack_cb(packed, arg);

    note("eager_bcopy", tag, imm, arg, length, flags);
    return (ssize_t)length;
}

static ucs_status_t eager_zcopy(uct_ep_h ep, uct_tag_t tag, uint64_t imm,
                                const uct_iov_t *iov, size_t iovcnt,
                                unsigned flags, uct_completion_t *comp)
{
    return note("eager_zcopy", tag, imm, iov, iovcnt, flags);
}

static int rendezvous;

static ucs_status_ptr_t rndv_zcopy(uct_ep_h ep, uct_tag_t tag,
                                   const void *header, unsigned header_length,
                                   const uct_iov_t *iov, size_t iovcnt,
                                   unsigned flags, uct_completion_t *comp)
{
    note("rndv_zcopy", tag, iovcnt, header, header_length, flags);
    return &rendezvous;
}

static ucs_status_t rndv_cancel(uct_ep_h ep, void *op)
{
    return note("rndv_cancel", 0, 0, op, 0, 0);
}

static ucs_status_t rndv_request(uct_ep_h ep, uct_tag_t tag, const void *header,
                                 unsigned header_length, unsigned flags)
{
    return note("rndv_request", tag, 0, header, header_length, flags);
}

/* Calls of the functions that send active messages, and of check(). A send with
 * UCT_SEND_FLAG_PEER_CHECK must be followed by a check. */
static struct {
    int sends, checks;
    ucs_status_t status; /* Status that sends return */
} am;

static ssize_t am_bcopy(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack_cb,
                        void *arg, unsigned flags)
{
    char packed[16];

    ck_assert_int_eq(am.checks, am.sends++);
    return (am.status == UCS_OK) ? (ssize_t)pack_cb(packed, arg) : am.status;
}

static ucs_status_t am_zcopy(uct_ep_h ep, uint8_t id, const void *header,
                             unsigned header_length, const uct_iov_t *iov,
                             size_t iovcnt, unsigned flags,
                             uct_completion_t *comp)
{
    ck_assert_int_eq(am.checks, am.sends++);
    return am.status;
}

static ucs_status_t check(uct_ep_h ep, unsigned flags, uct_completion_t *comp)
{
    ck_assert_uint_eq(flags, 0);
    ck_assert_ptr_null(comp);
    ck_assert_int_eq(++am.checks, am.sends);
    return UCS_ERR_NO_RESOURCE;
}

static ucs_status_t recv_zcopy(uct_iface_h iface, uct_tag_t tag,
                               uct_tag_t tag_mask, const uct_iov_t *iov,
                               size_t iovcnt, uct_tag_context_t *ctx)
{
    return note("recv_zcopy", tag, tag_mask, ctx, iovcnt, 0);
}

static ucs_status_t recv_cancel(uct_iface_h iface, uct_tag_context_t *ctx,
                                int force)
{
    return note("recv_cancel", 0, 0, ctx, 0, (unsigned)force);
}

static ucs_status_t accept_request(uct_iface_h iface,
                                   uct_conn_request_h request)
{
    return note("accept", 0, 0, request, 0, 0);
}

static ucs_status_t reject_request(uct_iface_h iface,
                                   uct_conn_request_h request)
{
    return note("reject", 0, 0, request, 0, 0);
}

static ucs_status_t get_ep_address(uct_ep_h ep, uct_ep_addr_t *addr)
{
    memcpy(addr, "place", 6);
    return note("get_address", 0, 0, addr, 0, 0);
}

static ucs_status_t ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                              uct_ep_h *ep_p)
{
    uct_ep_t *ep = malloc(sizeof(*ep));

    ucx_ep_init(ep, iface);
    *ep_p = ep;
    return UCS_OK;
}

static void ep_destroy(uct_ep_h ep)
{
    free(ep);
}

static ucs_status_t iface_open(uct_md_h md, const ucx_iface_open_args_t *args,
                               uct_iface_h *iface_p)
{
    uct_iface_t *iface = malloc(sizeof(*iface));

    ucx_iface_init(iface, args);
    *iface_p = iface;
    return UCS_OK;
}

static ucs_status_t iface_flush(uct_iface_h iface, unsigned flags,
                                uct_completion_t *comp)
{
    return UCS_OK;
}

static void iface_close(uct_iface_h iface)
{
    free(iface);
}

static ucs_status_t iface_query(uct_iface_h iface, ucx_iface_attr_t *attr)
{
    attr->base.cap.flags = UCT_IFACE_FLAG_CONNECT_TO_EP |
                           UCT_IFACE_FLAG_CB_SYNC;
    attr->base.cap.am.max_bcopy = 16;
    attr->base.cap.am.max_zcopy = 16;
    attr->base.cap.am.max_iov   = 1;
    attr->base.ep_addr_len      = 6;
    return UCS_OK;
}

static ucs_status_t query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                  unsigned *num_p)
{
    *devices_p = calloc(1, sizeof(**devices_p));
    strcpy((*devices_p)[0].name, "dev0");
    (*devices_p)[0].type = UCT_DEVICE_TYPE_SELF;
    *num_p               = 1;
    return UCS_OK;
}

static const ucx_iface_ops_t iface_ops = {
    .size            = sizeof(iface_ops),
    .close           = iface_close,
    .query           = iface_query,
    .ep_create       = ep_create,
    .flush           = iface_flush,
    .tag_recv_zcopy  = recv_zcopy,
    .tag_recv_cancel = recv_cancel,
    .accept          = accept_request,
    .reject          = reject_request,
};

static const ucx_ep_ops_t ep_ops = {
    .size             = sizeof(ep_ops),
    .destroy          = ep_destroy,
    .am_bcopy         = am_bcopy,
    .am_zcopy         = am_zcopy,
    .check            = check,
    .tag_eager_short  = eager_short,
    .tag_eager_bcopy  = eager_bcopy,
    .tag_eager_zcopy  = eager_zcopy,
    .tag_rndv_zcopy   = rndv_zcopy,
    .tag_rndv_cancel  = rndv_cancel,
    .tag_rndv_request = rndv_request,
    .get_address      = get_ep_address,
};

static const ucx_iface_ops_t bare_iface_ops = {
    .size      = sizeof(bare_iface_ops),
    .close     = iface_close,
    .query     = iface_query,
    .ep_create = ep_create,
    .flush     = iface_flush,
};

static const ucx_ep_ops_t bare_ep_ops = {
    .size    = sizeof(bare_ep_ops),
    .destroy = ep_destroy,
};

static const ucx_transport_t tl_full = {
    .size          = sizeof(tl_full),
    .name          = "full",
    .query_devices = query_devices,
    .iface_open    = iface_open,
    .iface_ops     = &iface_ops,
    .ep_ops        = &ep_ops,
};

static const ucx_transport_t tl_bare = {
    .size          = sizeof(tl_bare),
    .name          = "bare",
    .query_devices = query_devices,
    .iface_open    = iface_open,
    .iface_ops     = &bare_iface_ops,
    .ep_ops        = &bare_ep_ops,
};

static const ucx_transport_t *const transports[] = {&tl_full, &tl_bare};

/* --- The domain ------------------------------------------------------------ */

static ucs_status_t md_open(const ucx_component_t *component,
                            const ucx_md_open_args_t *args, uct_md_h *md_p)
{
    uct_md_t *md = malloc(sizeof(*md));

    ucx_md_init(md, args);
    *md_p = md;
    return UCS_OK;
}

static void md_close(uct_md_h md)
{
    free(md);
}

static ucs_status_t md_query(uct_md_h md, ucx_md_attr_t *attr)
{
    attr->flags = UCT_MD_FLAG_ADVISE | UCT_MD_FLAG_SOCKADDR;
    return UCS_OK;
}

static ucs_status_t md_advise(uct_md_h md, uct_mem_h memh, void *address,
                              size_t length, uct_mem_advice_t advice)
{
    return note("advise", (uintptr_t)memh, 0, address, length,
                (unsigned)advice);
}

static int md_is_accessible(uct_md_h md, const ucs_sock_addr_t *sockaddr,
                            uct_sockaddr_accessibility_t mode)
{
    note("accessible", 0, 0, sockaddr, 0, (unsigned)mode);
    return mode == UCT_SOCKADDR_ACC_REMOTE;
}

static ucs_status_t query_mds(const ucx_component_t *component,
                              uct_md_resource_desc_t **mds_p, unsigned *num_p)
{
    *mds_p = calloc(1, sizeof(**mds_p));
    strcpy((*mds_p)[0].md_name, "slots");
    *num_p = 1;
    return UCS_OK;
}

static const ucx_md_ops_t md_ops = {
    .size                   = sizeof(md_ops),
    .close                  = md_close,
    .query                  = md_query,
    .mem_advise             = md_advise,
    .is_sockaddr_accessible = md_is_accessible,
};

static const ucx_component_t slots = {
    .size               = sizeof(slots),
    .name               = "slots",
    .query_md_resources = query_mds,
    .md_open            = md_open,
    .md_ops             = &md_ops,
    .transports         = transports,
    .num_transports     = 2,
};

static const uct_component_decl_t decl = {.name = "slots"};

static uct_component_h component;
static ucs_async_context_t *async;
static uct_worker_h worker;
static uct_md_h md;

static ucs_status_t load(void *arg, const uct_component_decl_t *wanted,
                         const ucx_component_t **desc_p)
{
    *desc_p = &slots;
    return UCS_OK;
}

static void setup(void)
{
    ck_ok(uct_component_add(&decl, load, NULL, NULL, &component));
    ck_ok(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_MUTEX, &async));
    ck_ok(uct_worker_create(async, UCS_THREAD_MODE_SINGLE, &worker));
    ck_ok(uct_md_open(component, "slots", NULL, &md));
}

static void teardown(void)
{
    uct_md_close(md);
    uct_worker_destroy(worker);
    ucs_async_context_destroy(async);
    uct_component_remove(component);
}

static void open_tl(const char *name, uct_iface_h *iface_p, uct_ep_h *ep_p)
{
    const uct_iface_params_t params = {
        .field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE |
                      UCT_IFACE_PARAM_FIELD_DEVICE,
        .open_mode   = UCT_IFACE_OPEN_MODE_DEVICE,
        .mode.device = {.tl_name = name, .dev_name = "dev0"},
    };
    uct_ep_params_t ep_params = {.field_mask = UCT_EP_PARAM_FIELD_IFACE};

    ck_ok(uct_iface_open(md, worker, &params, NULL, iface_p));
    ep_params.iface = *iface_p;
    ck_ok(uct_ep_create(&ep_params, ep_p));
}

/* --- Tests ----------------------------------------------------------------- */

static size_t pack(void *dest, void *arg)
{
    memcpy(dest, "packed", 6);
    return 6;
}

START_TEST(matching_by_the_device_reaches_the_transport)
{
    uct_iov_t iov[3]      = {{.count = 0}};
    uct_tag_context_t ctx = {.tag_consumed_cb = NULL};
    uct_iface_h iface;
    uct_ep_h ep;

    open_tl("full", &iface, &ep);
    ck_status(uct_ep_tag_eager_short(ep, 11, iov, 4), UCS_INPROGRESS);
    ck_last("eager_short", 11, 0, iov, 4, 0);
    ck_assert_int_eq(uct_ep_tag_eager_bcopy(ep, 12, 13, pack, &ctx, 2), 6);
    ck_last("eager_bcopy", 12, 13, &ctx, 6, 2);
    ck_status(uct_ep_tag_eager_zcopy(ep, 14, 15, iov, 3, 1, NULL),
              UCS_INPROGRESS);
    ck_last("eager_zcopy", 14, 15, iov, 3, 1);
    ck_assert_ptr_eq(uct_ep_tag_rndv_zcopy(ep, 16, "hd", 2, iov, 1, 3, NULL),
                     &rendezvous);
    ck_assert_str_eq(last.pointer, "hd");
    ck_last("rndv_zcopy", 16, 1, last.pointer, 2, 3);
    ck_status(uct_ep_tag_rndv_cancel(ep, &rendezvous), UCS_INPROGRESS);
    ck_last("rndv_cancel", 0, 0, &rendezvous, 0, 0);
    ck_status(uct_ep_tag_rndv_request(ep, 17, iov, 5, 4), UCS_INPROGRESS);
    ck_last("rndv_request", 17, 0, iov, 5, 4);

    ck_status(uct_iface_tag_recv_zcopy(iface, 18, 19, iov, 2, &ctx),
              UCS_INPROGRESS);
    ck_last("recv_zcopy", 18, 19, &ctx, 2, 0);
    ck_status(uct_iface_tag_recv_cancel(iface, &ctx, 1), UCS_INPROGRESS);
    ck_last("recv_cancel", 0, 0, &ctx, 0, 1);
    ck_status(uct_iface_tag_recv_zcopy(iface, 18, 19, iov, 2, NULL),
              UCS_ERR_INVALID_PARAM);
    ck_status(uct_iface_tag_recv_cancel(iface, NULL, 1), UCS_ERR_INVALID_PARAM);
    ck_assert_ptr_null(last.slot);
    uct_ep_destroy(ep);
    uct_iface_close(iface);
}
END_TEST

START_TEST(a_send_that_checks_its_peer_does_so_once_behind_it)
{
    const ucs_status_t results[] = {UCS_OK, UCS_ERR_NO_RESOURCE};
    char data[4]                 = "abc";
    uct_iov_t iov                = {.buffer = data, .length = 4, .count = 1};
    uct_iface_h iface;
    uct_ep_h ep;
    int i;

    open_tl("full", &iface, &ep);
    for (i = 0; i < 2; ++i) {
        memset(&am, 0, sizeof(am));
        am.status = results[i];
        ck_assert_int_eq(uct_ep_am_bcopy(ep, 1, pack, NULL,
                                         UCT_SEND_FLAG_PEER_CHECK),
                         (i == 0) ? 6 : UCS_ERR_NO_RESOURCE);
        ck_assert_int_eq(am.checks, 1);
        ck_status(uct_ep_am_zcopy(ep, 1, NULL, 0, &iov, 1,
                                  UCT_SEND_FLAG_PEER_CHECK, NULL),
                  results[i]);
        ck_assert_int_eq(am.checks, 2);

        /* A check follows neither a send that fails because of its arguments
         * nor a send without the flag. */
        ck_status(uct_ep_am_zcopy(ep, UCT_AM_ID_MAX, NULL, 0, &iov, 1,
                                  UCT_SEND_FLAG_PEER_CHECK, NULL),
                  UCS_ERR_INVALID_PARAM);
        ck_status(uct_ep_am_zcopy(ep, 1, NULL, 0, &iov, 1, 0, NULL),
                  results[i]);
        ck_assert_int_eq(am.sends, 3);
        ck_assert_int_eq(am.checks, 2);
    }
    uct_ep_destroy(ep);
    uct_iface_close(iface);
}
END_TEST

START_TEST(answers_to_connection_requests_reach_the_transport)
{
    uct_conn_request_h request = (uct_conn_request_h)&rendezvous;
    uct_ep_addr_t *address     = (uct_ep_addr_t *)(char[6]){""};
    uct_iface_h iface;
    uct_ep_h ep;

    open_tl("full", &iface, &ep);
    ck_status(uct_iface_accept(iface, request), UCS_INPROGRESS);
    ck_last("accept", 0, 0, request, 0, 0);
    ck_status(uct_iface_reject(iface, request), UCS_INPROGRESS);
    ck_last("reject", 0, 0, request, 0, 0);
    ck_status(uct_iface_accept(iface, NULL), UCS_ERR_INVALID_PARAM);
    ck_status(uct_iface_reject(iface, NULL), UCS_ERR_INVALID_PARAM);
    ck_status(uct_ep_get_address(ep, NULL), UCS_ERR_INVALID_PARAM);
    ck_assert_ptr_null(last.slot);
    ck_status(uct_ep_get_address(ep, address), UCS_INPROGRESS);
    ck_last("get_address", 0, 0, address, 0, 0);
    ck_assert_str_eq((char *)address, "place");
    uct_ep_destroy(ep);
    uct_iface_close(iface);
}
END_TEST

START_TEST(a_transport_without_them_refuses)
{
    uct_conn_request_h request = (uct_conn_request_h)&rendezvous;
    uct_tag_context_t ctx      = {.rndv_cb = NULL};
    char address[6];
    uct_iov_t iov;
    uct_iface_h iface;
    uct_ep_h ep;

    open_tl("bare", &iface, &ep);
    ck_status(uct_ep_tag_eager_short(ep, 1, address, 4), UCS_ERR_UNSUPPORTED);
    ck_status(uct_ep_tag_eager_bcopy(ep, 1, 1, pack, NULL, 0),
              UCS_ERR_UNSUPPORTED);
    ck_status(uct_ep_tag_eager_zcopy(ep, 1, 1, &iov, 1, 0, NULL),
              UCS_ERR_UNSUPPORTED);
    ck_status(UCS_PTR_RAW_STATUS(
                  uct_ep_tag_rndv_zcopy(ep, 1, address, 1, &iov, 1, 0, NULL)),
              UCS_ERR_UNSUPPORTED);
    ck_status(uct_ep_tag_rndv_cancel(ep, address), UCS_ERR_UNSUPPORTED);
    ck_status(uct_ep_tag_rndv_request(ep, 1, address, 1, 0),
              UCS_ERR_UNSUPPORTED);
    ck_status(uct_iface_tag_recv_zcopy(iface, 1, 1, &iov, 1, &ctx),
              UCS_ERR_UNSUPPORTED);
    ck_status(uct_iface_tag_recv_cancel(iface, &ctx, 0), UCS_ERR_UNSUPPORTED);
    ck_status(uct_iface_accept(iface, request), UCS_ERR_UNSUPPORTED);
    ck_status(uct_iface_reject(iface, request), UCS_ERR_UNSUPPORTED);
    ck_status(uct_ep_get_address(ep, (uct_ep_addr_t *)address),
              UCS_ERR_UNSUPPORTED);
    uct_ep_destroy(ep);
    uct_iface_close(iface);
}
END_TEST

START_TEST(advice_and_questions_reach_the_domain)
{
    struct sockaddr_in inet  = {.sin_family = AF_INET};
    ucs_sock_addr_t sockaddr = {(struct sockaddr *)&inet, sizeof(inet)};
    char memory[64];

    ck_status(uct_md_mem_advise(md, (uct_mem_h)8, memory, 64,
                                UCT_MADV_WILLNEED),
              UCS_INPROGRESS);
    ck_last("advise", 8, 0, memory, 64, UCT_MADV_WILLNEED);
    ck_status(uct_md_mem_advise(md, (uct_mem_h)8, memory, 64, UCT_MADV_NORMAL),
              UCS_INPROGRESS);
    ck_last("advise", 8, 0, memory, 64, UCT_MADV_NORMAL);
    ck_status(uct_md_mem_advise(md, (uct_mem_h)8, memory, 0, UCT_MADV_NORMAL),
              UCS_ERR_INVALID_PARAM);
    ck_status(uct_md_mem_advise(md, UCT_MEM_HANDLE_NULL, memory, 64,
                                UCT_MADV_NORMAL),
              UCS_ERR_INVALID_PARAM);
    ck_status(uct_md_mem_advise(md, (uct_mem_h)8, memory, 64,
                                (uct_mem_advice_t)9),
              UCS_ERR_INVALID_PARAM);
    ck_assert_ptr_null(last.slot);

    ck_assert(
        !uct_md_is_sockaddr_accessible(md, &sockaddr, UCT_SOCKADDR_ACC_LOCAL));
    ck_last("accessible", 0, 0, &sockaddr, 0, UCT_SOCKADDR_ACC_LOCAL);
    ck_assert(
        uct_md_is_sockaddr_accessible(md, &sockaddr, UCT_SOCKADDR_ACC_REMOTE));
    ck_last("accessible", 0, 0, &sockaddr, 0, UCT_SOCKADDR_ACC_REMOTE);
    ck_assert(!uct_md_is_sockaddr_accessible(md, &sockaddr,
                                             (uct_sockaddr_accessibility_t)7));
    ck_assert(
        !uct_md_is_sockaddr_accessible(md, NULL, UCT_SOCKADDR_ACC_REMOTE));
    ck_assert_ptr_null(last.slot);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("calls and slots");
    TCase *tc    = tcase_create("all");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, matching_by_the_device_reaches_the_transport);
    tcase_add_test(tc, a_send_that_checks_its_peer_does_so_once_behind_it);
    tcase_add_test(tc, answers_to_connection_requests_reach_the_transport);
    tcase_add_test(tc, a_transport_without_them_refuses);
    tcase_add_test(tc, advice_and_questions_reach_the_domain);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
