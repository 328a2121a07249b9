/* SPDX-License-Identifier: BSD-3-Clause */
/* The component "bad" for tests of the checking layer, which reports plugins
 * that break rules of the plugin ABI. `defect` (findings.h) names one way in
 * which its transport or memory domain breaks a rule; breaks(NAME) is true if
 * `defect` is NAME. With an empty `defect` they break none. */
#include "bad_transport.h"
#include "findings.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* --- The transport ----------------------------------------------------------- */

#define CAPABILITIES \
    (UCT_IFACE_FLAG_CONNECT_TO_EP | UCT_IFACE_FLAG_CB_SYNC | \
     UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY | \
     UCT_IFACE_FLAG_AM_ZCOPY | UCT_IFACE_FLAG_PENDING)

static struct {
    uct_completion_t *comp; /* of a zero-copy send that progress must complete;
                             * NULL: none */
    uct_completion_t *flush;
    uct_pending_req_t *pending;
    uct_tag_context_t *recv; /* of the receive that is posted; NULL: none */
    uct_ep_h ep;
    uct_iface_h iface;
    unsigned queries;
} state;

static void complete(uct_completion_t *comp)
{
    if (--comp->count == 0) {
        comp->func(comp);
    }
}

static ucs_status_t am_short(uct_ep_h ep, uint8_t id, uint64_t header,
                             const void *payload, unsigned length)
{
    if (breaks("no status")) {
        return (ucs_status_t)7;
    } else if (breaks("pending inside") && (state.pending != NULL)) {
        state.pending->func(state.pending);
        state.pending = NULL;
    } else if (breaks("failure inside")) {
        uct_host.iface_ep_failed(ep->iface, ep, UCS_ERR_ENDPOINT_TIMEOUT);
    } else if (breaks("never sends")) {
        return UCS_ERR_NO_RESOURCE;
    }
    return UCS_OK;
}

static ssize_t am_bcopy(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack_cb,
                        void *arg, unsigned flags)
{
    char packed[16];
    size_t length = breaks("packs never") ? 0 : pack_cb(packed, arg);

    if (breaks("packs twice")) {
        pack_cb(packed, arg);
    } else if (breaks("packs and fails")) {
        return UCS_ERR_NO_RESOURCE;
    }
    return (ssize_t)(breaks("wrong length") ? length + 1 : length);
}

static ucs_status_t am_zcopy(uct_ep_h ep, uint8_t id, const void *header,
                             unsigned header_length, const uct_iov_t *iov,
                             size_t iovcnt, unsigned flags,
                             uct_completion_t *comp)
{
    state.comp = comp;
    if (breaks("completes first")) {
        complete(comp);
    }
    return breaks("completes nothing") ? UCS_OK : UCS_INPROGRESS;
}

static ucs_status_t ep_flush(uct_ep_h ep, unsigned flags,
                             uct_completion_t *comp)
{
    if (breaks("flushes early") || (state.comp == NULL)) {
        return UCS_OK;
    }
    state.flush = comp;
    return UCS_INPROGRESS;
}

static ucs_status_t pending_add(uct_ep_h ep, uct_pending_req_t *req,
                                unsigned flags)
{
    if (breaks("never sends")) {
        return UCS_ERR_BUSY;
    }
    state.pending = req;
    return UCS_OK;
}

static void pending_purge(uct_ep_h ep, uct_pending_purge_callback_t cb,
                          void *arg)
{
    if ((state.pending != NULL) && !breaks("keeps pending")) {
        cb(state.pending, arg);
    }
    state.pending = NULL;
}

static ucs_status_t get_ep_address(uct_ep_h ep, uct_ep_addr_t *addr)
{
    memset(addr, 1, breaks("address long") ? 9 : 8);
    return UCS_OK;
}

static ucs_status_t ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                              uct_ep_h *ep_p)
{
    uct_ep_t *ep = calloc(1, sizeof(*ep));

    ucx_ep_init(ep, iface);
    state.ep = ep;
    *ep_p    = ep;
    return UCS_OK;
}

static void ep_destroy(uct_ep_h ep)
{
    free(ep);
}

static ucs_status_t iface_open(uct_md_h md, const ucx_iface_open_args_t *args,
                               uct_iface_h *iface_p)
{
    state.iface = calloc(1, sizeof(uct_iface_t));
    ucx_iface_init(state.iface, args);
    *iface_p = state.iface;
    return UCS_OK;
}

static void iface_close(uct_iface_h iface)
{
    free(iface);
}

static void *deliver(void *arg)
{
    const ucx_am_slot_t *slot = &state.iface->am[3];

    slot->cb(slot->arg, "data", 4, 0);
    return NULL;
}

static void end_receive(uct_tag_context_t *ctx)
{
    ctx->tag_consumed_cb(ctx);
    ctx->completed_cb(ctx, 1, 0, 4, NULL, UCS_OK);
}

static void *end_receive_elsewhere(void *arg)
{
    end_receive(arg);
    return NULL;
}

static ucs_status_t tag_recv_zcopy(uct_iface_h iface, uct_tag_t tag,
                                   uct_tag_t tag_mask, const uct_iov_t *iov,
                                   size_t iovcnt, uct_tag_context_t *ctx)
{
    if (breaks("receives inside")) {
        end_receive(ctx);
    } else {
        state.recv = ctx;
    }
    return UCS_OK;
}

static ucs_status_t tag_recv_cancel(uct_iface_h iface, uct_tag_context_t *ctx,
                                    int force)
{
    ck_assert_ptr_eq(ctx, state.recv);
    if (!breaks("receives after cancel")) {
        state.recv = NULL;
    }
    return UCS_OK;
}

static void progress_receive(void)
{
    uct_tag_context_t *ctx = state.recv;
    pthread_t thread;

    if (ctx == NULL) {
        return;
    }
    state.recv = NULL;
    if (breaks("receives elsewhere")) {
        pthread_create(&thread, NULL, end_receive_elsewhere, ctx);
        pthread_join(thread, NULL);
    } else {
        end_receive(ctx);
        if (breaks("receives twice")) {
            end_receive(ctx);
        }
    }
}

static unsigned iface_progress(uct_iface_h iface)
{
    uct_completion_t *comp = state.comp, *flush = state.flush;
    pthread_t thread;

    progress_receive();
    if (comp != NULL) {
        state.comp = NULL;
        complete(comp);
        if (breaks("completes twice")) {
            comp->func(comp);
        }
    }
    if (flush != NULL) {
        state.flush = NULL;
        complete(flush);
    }
    if (breaks("fails twice")) {
        uct_host.iface_ep_failed(iface, state.ep, UCS_ERR_ENDPOINT_TIMEOUT);
        uct_host.iface_ep_failed(iface, state.ep, UCS_ERR_ENDPOINT_TIMEOUT);
    }
    if (breaks("delivers elsewhere")) {
        pthread_create(&thread, NULL, deliver, NULL);
        pthread_join(thread, NULL);
    } else {
        deliver(NULL);
    }
    return 1;
}

static ucs_status_t iface_query(uct_iface_h iface, ucx_iface_attr_t *attr)
{
    ++state.queries;
    attr->base.cap.flags        = CAPABILITIES;
    attr->base.cap.am.max_short = 16;
    attr->base.cap.am.max_bcopy = breaks("no limit") ? 0 : 16;
    attr->base.cap.am.max_zcopy = 16;
    attr->base.cap.am.max_iov   = 1;
    attr->base.ep_addr_len      = 8;
    if (breaks("undeclared")) {
        attr->base.cap.flags |= UCT_IFACE_FLAG_PUT_SHORT;
        attr->base.cap.put.max_short = 8;
    } else if (breaks("slot missing")) {
        attr->base.cap.flags |= UCT_IFACE_FLAG_GET_BCOPY;
        attr->base.cap.get.max_bcopy = 8;
    } else if (breaks("other query")) {
        attr->base.ep_addr_len += state.queries;
    }
    return UCS_OK;
}

static ucs_status_t event_fd_get(uct_iface_h iface, int *fd_p)
{
    static int fd = 100;

    *fd_p = breaks("other descriptor") ? ++fd : fd;
    return UCS_OK;
}

static ucs_status_t iface_flush(uct_iface_h iface, unsigned flags,
                                uct_completion_t *comp)
{
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
    .progress        = iface_progress,
    .flush           = iface_flush,
    .event_fd_get    = event_fd_get,
    .tag_recv_zcopy  = tag_recv_zcopy,
    .tag_recv_cancel = tag_recv_cancel,
};

static const ucx_ep_ops_t ep_ops = {
    .size          = sizeof(ep_ops),
    .am_short      = am_short,
    .am_bcopy      = am_bcopy,
    .am_zcopy      = am_zcopy,
    .flush         = ep_flush,
    .pending_add   = pending_add,
    .pending_purge = pending_purge,
    .get_address   = get_ep_address,
    .destroy       = ep_destroy,
};

static const ucx_transport_t tl = {
    .size          = sizeof(tl),
    .name          = "bad",
    .query_devices = query_devices,
    .iface_open    = iface_open,
    .iface_ops     = &iface_ops,
    .ep_ops        = &ep_ops,
};

/* --- The domain -------------------------------------------------------------- */

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
    attr->flags = UCT_MD_FLAG_REG |
                  (breaks("md undeclared") ? UCT_MD_FLAG_ALLOC : 0);
    attr->max_reg          = SIZE_MAX;
    attr->rkey_packed_size = 4;
    attr->reg_alignment    = breaks("odd alignment") ? 3 : 1;
    return UCS_OK;
}

static ucs_status_t mem_reg(uct_md_h md, void *address, size_t length,
                            const ucx_mem_reg_params_t *params,
                            uct_mem_h *memh_p)
{
    *memh_p = breaks("no handle") ? UCT_MEM_HANDLE_NULL : address;
    return UCS_OK;
}

static ucs_status_t mkey_pack(uct_md_h md, uct_mem_h memh, void *address,
                              size_t length, unsigned flags, void *buffer)
{
    memset(buffer, 1, breaks("key long") ? 5 : 4);
    return UCS_OK;
}

static ucs_status_t query_mds(const ucx_component_t *component,
                              uct_md_resource_desc_t **mds_p, unsigned *num_p)
{
    *mds_p = calloc(1, sizeof(**mds_p));
    strcpy((*mds_p)[0].md_name, "bad");
    *num_p = 1;
    return UCS_OK;
}

static const ucx_md_ops_t md_ops = {
    .size      = sizeof(md_ops),
    .close     = md_close,
    .query     = md_query,
    .mem_reg   = mem_reg,
    .mkey_pack = mkey_pack,
};

static const ucx_transport_t *const transports[] = {&tl};

static const ucx_component_t bad = {
    .size               = sizeof(bad),
    .name               = "bad",
    .query_md_resources = query_mds,
    .md_open            = md_open,
    .md_ops             = &md_ops,
    .transports         = transports,
    .num_transports     = 1,
};

static const uct_tl_decl_t tl_decl = {
    .name      = "bad",
    .cap_flags = CAPABILITIES,
    .dev_type  = UCT_DEVICE_TYPE_SELF,
};

const uct_component_decl_t bad_decl = {
    .name           = "bad",
    .md_flags       = UCT_MD_FLAG_REG,
    .transports     = &tl_decl,
    .num_transports = 1,
};

ucs_status_t bad_load(void *arg, const uct_component_decl_t *wanted,
                      const ucx_component_t **desc_p)
{
    memset(&state, 0, sizeof(state));
    *desc_p = &bad;
    return UCS_OK;
}
