/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools of send and receive buffers. Their memory is registered if the provider
 * demands FI_MR_LOCAL. */
#include "iface.h"
#include "mem.h"

#include <stdlib.h>

/* Header at the start of each chunk of a pool's memory. */
typedef struct chunk_head {
    struct fid_mr *mr; /* Registration of the chunk */
} chunk_head_t;

enum { HEAD_SIZE = 64 }; /* Bytes before the elements of a chunk */

_Static_assert(sizeof(chunk_head_t) <= HEAD_SIZE, "size of a chunk's head");

static chunk_head_t *head_of(void *chunk)
{
    return (chunk_head_t *)((char *)chunk - HEAD_SIZE);
}

static ucs_status_t chunk_new(ugni_port_t *port, uint64_t access, size_t size,
                              void **chunk_p)
{
    const ucx_host_t *host = port->md->host;
    size_t length          = (HEAD_SIZE + size + 4095) & ~(size_t)4095;
    chunk_head_t *head     = aligned_alloc(4096, length);
    ugni_mem_t mem;
    int rc;

    if (head == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    mem = (ugni_mem_t){.address = head, .length = length};
    rc  = ugni_region_open(port->md, port->device, port->ep, &mem, access, 0,
                           &head->mr);
    if (rc != 0) {
        ucx_error("ugni: cannot register %zu bytes of buffers with %s: %s",
                  length, port->info->domain_attr->name, fi_strerror(-rc));
        free(head);
        return (rc == -FI_ENOMEM) ? UCS_ERR_NO_MEMORY : UCS_ERR_IO_ERROR;
    }
    *chunk_p = (char *)head + HEAD_SIZE;
    return UCS_OK;
}

static ucs_status_t send_chunk_new(void *arg, size_t *size, void **chunk_p)
{
    return chunk_new(arg, FI_SEND | FI_READ | FI_WRITE, *size, chunk_p);
}

static ucs_status_t recv_chunk_new(void *arg, size_t *size, void **chunk_p)
{
    return chunk_new(arg, FI_RECV, *size, chunk_p);
}

static void chunk_free(void *arg, void *chunk)
{
    fi_close(&head_of(chunk)->mr->fid);
    free(head_of(chunk));
}

static void send_init(void *arg, void *elem, void *chunk)
{
    ((ugni_send_t *)elem)->desc = fi_mr_desc(head_of(chunk)->mr);
}

static void recv_init(void *arg, void *elem, void *chunk)
{
    ((ugni_recv_t *)elem)->desc = fi_mr_desc(head_of(chunk)->mr);
}

static void no_desc_send(void *arg, void *elem, void *chunk)
{
    ((ugni_send_t *)elem)->desc = NULL;
}

static void no_desc_recv(void *arg, void *elem, void *chunk)
{
    ((ugni_recv_t *)elem)->desc = NULL;
}

ucs_status_t ugni_pool_create(const ucx_host_t *host, ugni_port_t *port,
                              int is_recv, size_t elem_size,
                              ucx_mpool_t **pool_p)
{
    ucx_mpool_params_t params = {
        .size      = sizeof(params),
        .name      = is_recv ? "ugni receive buffers" : "ugni send buffers",
        .elem_size = elem_size,
        .alignment = 64,
        .max_elems = UINT_MAX,
        .elems_per_chunk = (elem_size > UGNI_MAX_SEG / 4) ? 1 : 0,
        .elem_init       = is_recv ? no_desc_recv : no_desc_send,
        .arg             = port,
    };

    if (port->is_local) {
        params.chunk_alloc = is_recv ? recv_chunk_new : send_chunk_new;
        params.chunk_free  = chunk_free;
        params.elem_init   = is_recv ? recv_init : send_init;
    }
    return host->mpool_create(&params, pool_p);
}
