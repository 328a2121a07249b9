/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checking layer, slots (operations of a plugin) that test_check.c does not
 * use: rules that they break are reported as well. Also an object that the
 * plugin has opened without a call of ucx_iface_init().
 */
#include "findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uct/base/component_list.h"
#include "uct/base/md.h"
#include "uct/base/state.h"
#include "uct/check/internal.h"

/* --- The transport ----------------------------------------------------------- */

static uct_completion_t *rendezvous, *invalidation, *get;
static char memory[64];

static ucs_status_t odd_status(const char *name)
{
    return breaks(name) ? (ucs_status_t)3 : UCS_OK;
}

static ucs_status_t iface_open(uct_md_h md, const ucx_iface_open_args_t *args,
                               uct_iface_h *iface_p)
{
    *iface_p = calloc(1, sizeof(uct_iface_t));
    ucx_iface_init(*iface_p, args);
    return UCS_OK;
}

static void iface_close(uct_iface_h iface)
{
    free(iface);
}

static ucs_status_t iface_query(uct_iface_h iface, ucx_iface_attr_t *attr)
{
    attr->base.cap.flags = UCT_IFACE_FLAG_CONNECT_TO_EP |
                           UCT_IFACE_FLAG_GET_ZCOPY;
    attr->base.cap.get.max_zcopy = SIZE_MAX;
    attr->base.cap.get.max_iov   = 1;
    return UCS_OK;
}

static int is_reachable(uct_iface_h iface, const ucx_reachable_args_t *args)
{
    if (breaks("reason long")) {
        memset(args->reason, 'r', args->reason_size);
        args->reason[args->reason_size] = '\0';
    } else if (breaks("reason endless")) {
        memset(args->reason, 'r', args->reason_size);
    } else {
        snprintf(args->reason, args->reason_size, "a reason");
    }
    return 0;
}

static ucs_status_t iface_mem_alloc(uct_iface_h iface, size_t length,
                                    unsigned flags, const char *name,
                                    uct_allocated_memory_t *mem)
{
    mem->length = length;
    if (!breaks("no memory")) {
        mem->address = memory;
    }
    return UCS_OK;
}

static ucs_status_t set_am_tracer(uct_iface_h iface, uct_am_tracer_t tracer,
                                  void *arg)
{
    return odd_status("tracer status");
}

static ucs_status_t ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                              uct_ep_h *ep_p)
{
    *ep_p = calloc(1, sizeof(uct_ep_t));
    ucx_ep_init(*ep_p, iface);
    return UCS_OK;
}

static void ep_destroy(uct_ep_h ep)
{
    free(ep);
}

static ucs_status_t flush(uct_iface_h iface, unsigned flags,
                          uct_completion_t *comp)
{
    return UCS_OK;
}

static ucs_status_t query_sockaddrs(uct_ep_h ep, struct sockaddr_storage *local,
                                    struct sockaddr_storage *remote)
{
    return odd_status("sockaddrs status");
}

/* Ends in tag_rndv_cancel(), after the first rendezvous. */
static ucs_status_t get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t remote_addr, uct_rkey_t rkey,
                              uct_completion_t *comp)
{
    get = comp;
    return UCS_INPROGRESS;
}

static ucs_status_ptr_t tag_rndv_zcopy(uct_ep_h ep, uct_tag_t tag,
                                       const void *header,
                                       unsigned header_length,
                                       const uct_iov_t *iov, size_t iovcnt,
                                       unsigned flags, uct_completion_t *comp)
{
    rendezvous = comp;
    return breaks("rendezvous none") ? NULL : memory;
}

static ucs_status_t tag_rndv_cancel(uct_ep_h ep, void *op)
{
    ck_assert_ptr_eq(op, memory);
    --get->count;
    get->func(get);
    if (!breaks("rendezvous cancelled")) {
        rendezvous = NULL;
    }
    return UCS_OK;
}

static ucs_status_t tag_rndv_request(uct_ep_h ep, uct_tag_t tag,
                                     const void *header, unsigned header_length,
                                     unsigned flags)
{
    return breaks("request goes on") ? UCS_INPROGRESS : UCS_OK;
}

/* Reports the end of a rendezvous once, or twice if `defect` says so. */
static unsigned iface_progress(uct_iface_h iface)
{
    if (rendezvous != NULL) {
        --rendezvous->count;
        rendezvous->func(rendezvous);
        if (!breaks("rendezvous twice")) {
            rendezvous = NULL;
        }
    }
    return 0;
}

static ucs_status_t query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                  unsigned *num_p)
{
    ucx_device_desc_t *devices = calloc(2, sizeof(*devices));

    strcpy(devices[0].name, "dev0");
    strcpy(devices[1].name, breaks("device twice") ? "dev0" : "dev1");
    devices[0].type = UCT_DEVICE_TYPE_SELF;
    devices[1].type = breaks("device kind") ? UCT_DEVICE_TYPE_NET :
                                              UCT_DEVICE_TYPE_SELF;
    *devices_p      = devices;
    *num_p          = 2;
    return UCS_OK;
}

/* Writes nothing: the address of an endpoint has no bytes. */
static ucs_status_t ep_get_address(uct_ep_h ep, uct_ep_addr_t *addr)
{
    return UCS_OK;
}

static const ucx_iface_ops_t iface_ops = {
    .size          = sizeof(iface_ops),
    .close         = iface_close,
    .query         = iface_query,
    .is_reachable  = is_reachable,
    .ep_create     = ep_create,
    .progress      = iface_progress,
    .flush         = flush,
    .set_am_tracer = set_am_tracer,
    .mem_alloc     = iface_mem_alloc,
};

static const ucx_ep_ops_t ep_ops = {
    .size             = sizeof(ep_ops),
    .destroy          = ep_destroy,
    .query_sockaddrs  = query_sockaddrs,
    .get_address      = ep_get_address,
    .get_zcopy        = get_zcopy,
    .tag_rndv_zcopy   = tag_rndv_zcopy,
    .tag_rndv_cancel  = tag_rndv_cancel,
    .tag_rndv_request = tag_rndv_request,
};

static const ucx_transport_t tl = {
    .size          = sizeof(tl),
    .name          = "slots",
    .query_devices = query_devices,
    .iface_open    = iface_open,
    .iface_ops     = &iface_ops,
    .ep_ops        = &ep_ops,
};

/* --- The domain -------------------------------------------------------------- */

static ucs_status_t md_open(const ucx_component_t *component,
                            const ucx_md_open_args_t *args, uct_md_h *md_p)
{
    *md_p = malloc(sizeof(uct_md_t));
    ucx_md_init(*md_p, args);
    return UCS_OK;
}

static void md_close(uct_md_h md)
{
    free(md);
}

static ucs_status_t md_query(uct_md_h md, ucx_md_attr_t *attr)
{
    return UCS_OK;
}

static ucs_status_t mem_free(uct_md_h md, uct_mem_h memh)
{
    return odd_status("free status");
}

static ucs_status_t mem_advise(uct_md_h md, uct_mem_h memh, void *address,
                               size_t length, uct_mem_advice_t advice)
{
    return odd_status("advise status");
}

static ucs_status_t mem_attach(uct_md_h md, const void *buffer, size_t length,
                               uct_mem_h *memh_p)
{
    if (!breaks("attaches nothing")) {
        *memh_p = memory;
    }
    return UCS_OK;
}

static ucs_status_t mem_dereg(uct_md_h md, uct_mem_h memh,
                              const ucx_mem_dereg_params_t *params)
{
    invalidation = params->comp;
    if (breaks("invalidates and fails")) {
        --invalidation->count;
        invalidation->func(invalidation);
        return UCS_ERR_IO_ERROR;
    }
    return UCS_OK;
}

static ucs_status_t mem_query(uct_md_h md, const void *address, size_t length,
                              ucx_mem_attr_t *attr)
{
    attr->mem_type     = breaks("type undeclared") ? UCS_MEMORY_TYPE_CUDA :
                                                     UCS_MEMORY_TYPE_HOST;
    attr->base_address = breaks("other range") ? memory + 8 : memory;
    attr->alloc_length = sizeof(memory) - 8;
    attr->dmabuf_fd    = breaks("no dmabuf") ? 1 << 20 : -1;
    return UCS_OK;
}

static ucs_status_t query_mds(const ucx_component_t *component,
                              uct_md_resource_desc_t **mds_p, unsigned *num_p)
{
    *mds_p = calloc(2, sizeof(**mds_p));
    strcpy((*mds_p)[0].md_name, "slots");
    strcpy((*mds_p)[1].md_name, breaks("domain unnamed") ? "" : "more");
    *num_p = 2;
    return UCS_OK;
}

static ucs_status_t rkey_unpack(const ucx_component_t *component,
                                const void *buffer, size_t length,
                                ucs_sys_device_t sys_dev, uct_rkey_t *rkey_p,
                                void **handle_p)
{
    *rkey_p   = 1;
    *handle_p = NULL;
    return UCS_OK;
}

static ucs_status_t rkey_compare(const ucx_component_t *component, uct_rkey_t a,
                                 uct_rkey_t b, int *result)
{
    *result = 0;
    return odd_status("compare status");
}

static const ucx_md_ops_t md_ops = {
    .size       = sizeof(md_ops),
    .close      = md_close,
    .query      = md_query,
    .mem_free   = mem_free,
    .mem_advise = mem_advise,
    .mem_dereg  = mem_dereg,
    .mem_query  = mem_query,
    .mem_attach = mem_attach,
};

static const ucx_transport_t *const transports[] = {&tl};

static const ucx_component_t slots = {
    .size               = sizeof(slots),
    .name               = "slots",
    .query_md_resources = query_mds,
    .md_open            = md_open,
    .md_ops             = &md_ops,
    .rkey_unpack        = rkey_unpack,
    .rkey_compare       = rkey_compare,
    .transports         = transports,
    .num_transports     = 1,
};

static const uct_tl_decl_t tl_decl = {
    .name      = "slots",
    .cap_flags = UCT_IFACE_FLAG_CONNECT_TO_EP | UCT_IFACE_FLAG_GET_ZCOPY,
    .dev_type  = UCT_DEVICE_TYPE_SELF,
};

static const uct_component_decl_t decl = {
    .name           = "slots",
    .mem_types      = UCS_BIT(UCS_MEMORY_TYPE_HOST),
    .transports     = &tl_decl,
    .num_transports = 1,
};

static ucs_status_t load(void *arg, const uct_component_decl_t *wanted,
                         const ucx_component_t **desc_p)
{
    *desc_p = &slots;
    return UCS_OK;
}

/* --- A program that uses the transport */

static unsigned num_completed;

static void on_completed(uct_completion_t *comp)
{
    ++num_completed;
}

static void use_domain(uct_md_h md)
{
    uct_completion_t comp         = {.func = on_completed, .count = 1};
    ucx_mem_dereg_params_t params = {
        .size  = sizeof(params),
        .flags = UCX_MEM_DEREG_INVALIDATE,
        .comp  = &comp,
    };
    ucx_mem_attr_t attr = {.size = sizeof(attr), .wanted = UCX_MEM_WANT_DMABUF};
    ucs_status_t status;
    uct_mem_h memh;

    md->ops->mem_free(md, memory);
    md->ops->mem_advise(md, memory, memory, 1, UCT_MADV_NORMAL);
    ck_ok(md->ops->mem_attach(md, memory, 1, &memh));
    ck_ok(md->ops->mem_query(md, memory, 1, &attr));
    status = md->ops->mem_dereg(md, memory, &params);
    if (status == UCS_OK) {
        --invalidation->count;
        invalidation->func(invalidation);
        if (breaks("invalidates twice")) {
            invalidation->func(invalidation);
        }
    }
    ck_assert_uint_eq(num_completed, 1);
}

static void use_iface(uct_iface_h iface)
{
    char reason[12]            = "";
    ucx_reachable_args_t args  = {.size        = sizeof(args),
                                  .reason      = reason,
                                  .reason_size = 8};
    uct_allocated_memory_t mem = {.address = NULL};

    ck_assert_int_eq(iface->ops->is_reachable(iface, &args), 0);
    ck_assert_uint_lt(strlen(reason), 8);
    iface->ops->set_am_tracer(iface, NULL, NULL);
    ck_ok(iface->ops->mem_alloc(iface, 8, 0, "m", &mem));
}

/* Starts one rendezvous that ends and one that is cancelled. */
static void use_ep(uct_ep_h ep)
{
    uct_completion_t first  = {.func = on_completed, .count = 1};
    uct_completion_t second = {.func = on_completed, .count = 1};
    uct_completion_t third  = {.func = on_completed, .count = 1};
    uct_iov_t iov           = {.buffer = memory, .length = 8, .count = 1};
    struct sockaddr_storage local, remote;

    ep->ops->query_sockaddrs(ep, &local, &remote);
    ep->ops->tag_rndv_request(ep, 1, NULL, 0, 0);
    num_completed = 0;
    /* A rendezvous is no flush: it may end before an earlier operation. */
    ck_assert_int_eq(ep->ops->get_zcopy(ep, &iov, 1, 0, 0, &third),
                     UCS_INPROGRESS);
    ep->ops->tag_rndv_zcopy(ep, 1, NULL, 0, NULL, 0, 0, &first);
    uct_worker_progress(ep->iface->worker);
    uct_worker_progress(ep->iface->worker);
    ck_assert_uint_eq(num_completed, 1);
    rendezvous = NULL;
    ep->ops->tag_rndv_zcopy(ep, 1, NULL, 0, NULL, 0, 0, &second);
    ck_ok(ep->ops->tag_rndv_cancel(ep, memory));
    uct_worker_progress(ep->iface->worker);
}

static void use_component(uct_component_h component)
{
    uct_component_attr_t attr = {
        .field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT,
    };
    uct_rkey_bundle_t key;
    int result;

    ck_ok(uct_component_query(component, &attr));
    ck_ok(uct_rkey_unpack(component, memory, &key));
    uct_rkey_compare(component, 1, 1, &result);
    ck_ok(uct_rkey_release(component, &key));
}

static void use_transport(void)
{
    const uct_iface_params_t params = {
        .field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE |
                      UCT_IFACE_PARAM_FIELD_DEVICE,
        .open_mode   = UCT_IFACE_OPEN_MODE_DEVICE,
        .mode.device = {.tl_name = "slots", .dev_name = "dev0"},
    };
    uct_ep_params_t ep_params = {.field_mask = UCT_EP_PARAM_FIELD_IFACE};
    uct_component_h component;
    ucs_async_context_t *async;
    uct_worker_h worker;
    uct_iface_h iface;
    uct_md_h md;
    uct_ep_h ep;

    findings[0]   = '\0';
    num_completed = 0;
    rendezvous    = NULL;
    ck_ok(uct_component_add(&decl, load, NULL, NULL, &component));
    use_component(component);
    ck_ok(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_MUTEX, &async));
    ck_ok(uct_worker_create(async, UCS_THREAD_MODE_SINGLE, &worker));
    ck_ok(uct_md_open(component, "slots", NULL, &md));
    use_domain(md);
    ck_ok(uct_iface_open(md, worker, &params, NULL, &iface));
    uct_iface_progress_enable(iface, UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
    use_iface(iface);
    ep_params.iface = iface;
    ck_ok(uct_ep_create(&ep_params, &ep));
    use_ep(ep);
    uct_ep_destroy(ep);
    uct_iface_close(iface);
    uct_md_close(md);
    uct_worker_destroy(worker);
    ucs_async_context_destroy(async);
    uct_component_remove(component);
}

START_TEST(slots_that_conform_are_not_reported)
{
    defect = "";
    use_transport();
    ck_assert_str_eq(findings, "");
    ck_assert_uint_eq(num_completed, 2);
}
END_TEST

static const planted_t defects[] = {
    {"reason long", 25, "beyond the 8 bytes"},
    {"reason endless", 26, "no end within 8 bytes"},
    {"no memory", 26, "with 8 of 8 bytes at"},
    {"tracer status", 26, "set_am_tracer: it returns 3"},
    {"sockaddrs status", 26, "query_sockaddrs: it returns 3"},
    {"rendezvous none", 26, "neither an operation nor an error"},
    {"rendezvous twice", 26, "called twice"},
    {"rendezvous cancelled", 26, "after the operation was cancelled"},
    {"request goes on", 26, "but has no completion"},
    {"device twice", 25, "lists dev0 twice"},
    {"device kind", 10, "device_class"},
    {"domain unnamed", 25, "name 1 is empty"},
    {"free status", 26, "mem_free: it returns 3"},
    {"advise status", 26, "mem_advise: it returns 3"},
    {"attaches nothing", 26, "mem_attach: it returns UCS_OK without a handle"},
    {"invalidates twice", 26, "after the end of the deregistration"},
    {"invalidates and fails", 26, "it has failed, but the completion"},
    {"type undeclared", 10, "which the manifest does not declare"},
    {"other range", 25, "does not contain the address"},
    {"no dmabuf", 28, "no open descriptor"},
    {"compare status", 26, "rkey_compare: it returns 3"},
};

START_TEST(each_broken_rule_is_reported_with_its_number)
{
    defect = defects[_i].defect;
    use_transport();
    expect_finding(&defects[_i]);
}
END_TEST

START_TEST(a_head_that_is_not_initialized_is_reported)
{
    findings[0] = '\0';
    uct_check_opened("slots", "iface_open", UCS_OK, NULL, memory);
    ck_assert_ptr_nonnull(strstr(findings, "head of the object"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("checking layer, slots");
    TCase *tc    = tcase_create("all");

    watch_findings();
    tcase_add_test(tc, slots_that_conform_are_not_reported);
    tcase_add_loop_test(tc, each_broken_rule_is_reported_with_its_number, 0,
                        (int)(sizeof(defects) / sizeof(defects[0])));
    tcase_add_test(tc, a_head_that_is_not_initialized_is_reported);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
