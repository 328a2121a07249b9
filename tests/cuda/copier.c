/* SPDX-License-Identifier: BSD-3-Clause */
/* See copier.h. */
#include "copier.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ucs_async_context_t *async;
uct_worker_h worker;
uct_md_h md;
uct_iface_h iface;
uct_ep_h ep;

/* --------------------------------------------------------------- fixture -- */

static void open_md(void)
{
    uct_component_attr_t attr = {.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME};
    uct_component_h *components;
    unsigned count, i;

    ck_ok(uct_query_components(&components, &count));
    for (i = 0; i < count; ++i) {
        ck_ok(uct_component_query(components[i], &attr));
        if (strcmp(attr.name, DEVICE_COMPONENT) == 0) {
            ck_ok(uct_md_open(components[i], DEVICE_COMPONENT, NULL, &md));
        }
    }
    uct_release_component_list(components);
    ck_assert_ptr_nonnull(md);
}

void setup(void)
{
    uct_iface_params_t params = {
        .field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE |
                      UCT_IFACE_PARAM_FIELD_DEVICE,
        .open_mode   = UCT_IFACE_OPEN_MODE_DEVICE,
        .mode.device = {.tl_name = DEVICE_TRANSPORT, .dev_name = DEVICE_SUITE},
    };
    char address[64];
    uct_ep_params_t ep_params = {
        .field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_IFACE_ADDR,
        .iface_addr = (const uct_iface_addr_t *)address,
    };
    uct_iface_config_t *config;

    device_start();
    open_md();
    ck_ok(ucs_async_context_create(UCS_ASYNC_MODE_THREAD, &async));
    ck_ok(uct_worker_create(async, UCS_THREAD_MODE_SINGLE, &worker));
    ck_ok(uct_md_iface_config_read(md, DEVICE_TRANSPORT, NULL, NULL, &config));
    ck_ok(uct_iface_open(md, worker, &params, config, &iface));
    uct_config_release(config);
    ck_ok(uct_iface_get_address(iface, (uct_iface_addr_t *)address));
    ep_params.iface = iface;
    ck_ok(uct_ep_create(&ep_params, &ep));
}

void teardown(void)
{
    emulated_release();
    uct_ep_destroy(ep);
    uct_iface_close(iface);
    uct_worker_destroy(worker);
    ucs_async_context_destroy(async);
    uct_md_close(md);
    md = NULL;
    ck_assert_uint_eq(emulated_mistakes(), 0);
}

/* --------------------------------------------------------------- helpers -- */

static void count_call(uct_completion_t *comp)
{
    ++((done_t *)comp)->calls;
}

ucs_status_t start(done_t *done, int is_put, uint64_t address, void *data,
                   size_t length)
{
    const uct_iov_t iov = {.buffer = data, .length = length, .count = 1};

    *done = (done_t){.comp = {.func = count_call, .count = 1}};
    return is_put ? uct_ep_put_zcopy(ep, &iov, 1, address, UCT_INVALID_RKEY,
                                     &done->comp) :
                    uct_ep_get_zcopy(ep, &iov, 1, address, UCT_INVALID_RKEY,
                                     &done->comp);
}

ucs_status_t finish(done_t *done)
{
    while (done->calls == 0) {
        uct_iface_progress(iface);
    }
    ck_assert_int_eq(done->calls, 1);
    return done->comp.status;
}

void copy(int is_put, uint64_t address, void *data, size_t length)
{
    ucs_status_t status;
    done_t done;

    status = start(&done, is_put, address, data, length);
    /* start() may return UCS_OK only if the processor can access device memory
     * directly (EMULATED_LARGE_BAR is set) */
    if ((status != UCS_OK) || (getenv("EMULATED_LARGE_BAR") == NULL)) {
        ck_assert_int_eq(status, UCS_INPROGRESS);
        ck_ok(finish(&done));
    }
}

uct_allocated_memory_t allocate(size_t length, ucs_memory_type_t type)
{
    const uct_alloc_method_t method     = UCT_ALLOC_METHOD_MD;
    const uct_mem_alloc_params_t params = {
        .field_mask = UCT_MEM_ALLOC_PARAM_FIELD_MEM_TYPE |
                      UCT_MEM_ALLOC_PARAM_FIELD_MDS,
        .mem_type = type,
        .mds      = {.mds = &md, .count = 1},
    };
    uct_allocated_memory_t memory;

    ck_ok(uct_mem_alloc(length, &method, 1, &params, &memory));
    return memory;
}

void check_dmabuf(char *memory)
{
    const size_t at        = 4096 + 10;
    uct_md_mem_attr_t attr = {
        .field_mask = UCT_MD_MEM_ATTR_FIELD_DMABUF_FD |
                      UCT_MD_MEM_ATTR_FIELD_DMABUF_OFFSET,
    };
    char text[] = "by dmabuf", back[sizeof(text)];
    char host[64];

    copy(1, (uintptr_t)memory + at, text, sizeof(text));
    ck_ok(uct_md_mem_query(md, memory + at, sizeof(text), &attr));
    ck_assert_int_ge(attr.dmabuf_fd, 0);
    ck_assert_int_eq(pread(attr.dmabuf_fd, back, sizeof(back),
                           (off_t)attr.dmabuf_offset),
                     sizeof(back));
    ck_assert_str_eq(back, text);
    close(attr.dmabuf_fd);
    /* a range that ends beyond the allocation has no dmabuf; a query of host
     * memory fails */
    ck_ok(uct_md_mem_query(md, memory + at, 3 * 4096, &attr));
    ck_assert_int_eq(attr.dmabuf_fd, UCT_DMABUF_FD_INVALID);
    ck_assert_int_eq(uct_md_mem_query(md, host, sizeof(host), &attr),
                     UCS_ERR_INVALID_ADDR);
}
