/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule 28 of sdk/ABI.md: a copier, a transport that copies between host memory
 * and memory that the processor cannot access, does so by each operation that
 * it supports, and by several at a time. If its domain detects that memory, it
 * returns a new descriptor from each query for a dmabuf.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ucs/memory/memory_type.h>

#include "party.h"
#include "pattern.h"

/* Number of concurrent copies; maximum length of a copy in bytes; number of
 * unused bytes between two copies. */
enum { AT_A_TIME = 4, MOST = 1 << 20, GUARD = 64 };

typedef struct copies {
    run_t *run;
    party_t *party;
    ucs_memory_type_t type;
    char *memory; /* Memory of the tested type */
    char *data;   /* Host memory */
} copies_t;

typedef enum copy_op {
    COPY_PUT_SHORT,
    COPY_PUT_ZCOPY,
    COPY_GET_SHORT,
    COPY_GET_ZCOPY,
    COPY_OPS,
} copy_op_t;

static const struct {
    const char *name;
    uint64_t flag;
} copy_ops[] = {
    {"put_short", UCT_IFACE_FLAG_PUT_SHORT},
    {"put_zcopy", UCT_IFACE_FLAG_PUT_ZCOPY},
    {"get_short", UCT_IFACE_FLAG_GET_SHORT},
    {"get_zcopy", UCT_IFACE_FLAG_GET_ZCOPY},
};

/* Returns whether the resource under test is a copier, by the same conditions
 * as in the core. */
static int is_copier(const run_t *run, const uct_md_attr_t *md)
{
    return (run->resource->type == UCT_DEVICE_TYPE_ACC) &&
           (md->cap.access_mem_types & UCS_BIT(UCS_MEMORY_TYPE_HOST)) &&
           (md->cap.access_mem_types & ~UCS_MEMORY_TYPES_CPU_ACCESSIBLE) &&
           !(md->cap.flags & (UCT_MD_FLAG_NEED_RKEY | UCT_MD_FLAG_NEED_MEMH));
}

static void range_of(const party_t *party, copy_op_t op, size_t *min_p,
                     size_t *max_p)
{
    const uct_iface_attr_t *attr = party->attr;
    const size_t mins[]          = {0, attr->cap.put.min_zcopy, 0,
                                    attr->cap.get.min_zcopy};
    const size_t maxs[] = {attr->cap.put.max_short, attr->cap.put.max_zcopy,
                           attr->cap.get.max_short, attr->cap.get.max_zcopy};

    *min_p = size_max(mins[op], 1);
    *max_p = size_min(maxs[op], MOST);
    if (!(attr->cap.flags & copy_ops[op].flag)) {
        *max_p = 0;
    }
}

static ucs_status_t try_copy(copies_t *copies, copy_op_t op, char *data,
                             uint64_t address, size_t length,
                             party_done_t *done)
{
    uct_ep_h ep         = copies->party->ep;
    const uct_iov_t iov = {.buffer = data, .length = length, .count = 1};

    switch (op) {
    case COPY_PUT_SHORT:
        return uct_ep_put_short(ep, data, (unsigned)length, address,
                                UCT_INVALID_RKEY);
    case COPY_GET_SHORT:
        return uct_ep_get_short(ep, data, (unsigned)length, address,
                                UCT_INVALID_RKEY);
    case COPY_PUT_ZCOPY:
        return uct_ep_put_zcopy(ep, &iov, 1, address, UCT_INVALID_RKEY,
                                &done->comp);
    default:
        return uct_ep_get_zcopy(ep, &iov, 1, address, UCT_INVALID_RKEY,
                                &done->comp);
    }
}

/* Copies `pieces` ranges of `length` bytes concurrently and waits for all.
 * Returns 0 with a finding if a copy fails. */
static int copy(copies_t *copies, copy_op_t op, size_t length, unsigned pieces)
{
    party_t *party = copies->party;
    party_done_t done[AT_A_TIME];
    ucs_status_t status[AT_A_TIME];
    unsigned i;
    int good = 1;

    check_doing(copies->run, "%u times %s of %zu bytes", pieces,
                copy_ops[op].name, length);
    for (i = 0; i < pieces; ++i) {
        size_t at = i * (length + GUARD);

        party_done_init(&done[i], party);
        party_wait(party,
                   (status[i] = try_copy(copies, op, copies->data + at,
                                         (uintptr_t)copies->memory + at, length,
                                         &done[i])) != UCS_ERR_NO_RESOURCE,
                   PARTY_PATIENCE);
    }
    for (i = 0; i < pieces; ++i) {
        if (status[i] == UCS_INPROGRESS) {
            if ((op == COPY_PUT_SHORT) || (op == COPY_GET_SHORT)) {
                continue;
            }
            party_wait(party, done[i].calls > 0, PARTY_PATIENCE);
            status[i] = (done[i].calls == 1) ? done[i].comp.status :
                                               UCS_ERR_TIMED_OUT;
        }
        good &= check_that(copies->run, 28, status[i] == UCS_OK,
                           "%s of %zu bytes, %u at a time, ends with: %s",
                           copy_ops[op].name, length, pieces,
                           ucs_status_string(status[i]));
    }
    return good;
}

/* Copies from host memory to the tested memory by `put` and back by `get`.
 * Checks every byte, and the first host byte behind each range. */
static int there_and_back(copies_t *copies, copy_op_t put, copy_op_t get,
                          size_t length, unsigned pieces)
{
    size_t stride = length + GUARD;
    unsigned i;
    size_t bad;

    for (i = 0; i < pieces; ++i) {
        pattern_fill(copies->data + i * stride, length + i, 0, length);
    }
    if (!copy(copies, put, length, pieces)) {
        return 0;
    }
    memset(copies->data, 0, pieces * stride);
    if (!copy(copies, get, length, pieces)) {
        return 0;
    }
    for (i = 0; i < pieces; ++i) {
        bad = pattern_find_bad(copies->data + i * stride, length + i, 0,
                               length);
        if (!check_that(copies->run, 28, bad == length,
                        "byte %zu of %zu is wrong after %s and %s", bad, length,
                        copy_ops[put].name, copy_ops[get].name) ||
            !check_that(copies->run, 28, copies->data[i * stride + length] == 0,
                        "%s of %zu bytes writes beyond its buffer",
                        copy_ops[get].name, length)) {
            return 0;
        }
    }
    return 1;
}

static void all_operations(copies_t *copies)
{
    copy_op_t put, get;
    size_t put_min, put_max, get_min, get_max, i;

    for (put = COPY_PUT_SHORT; put <= COPY_PUT_ZCOPY; ++put) {
        for (get = COPY_GET_SHORT; get <= COPY_GET_ZCOPY; ++get) {
            range_of(copies->party, put, &put_min, &put_max);
            range_of(copies->party, get, &get_min, &get_max);
            const size_t min       = size_max(put_min, get_min);
            const size_t max       = size_min(put_max, get_max);
            const size_t lengths[] = {min, min + 1, max / 3, max};

            for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); ++i) {
                if ((lengths[i] >= min) && (lengths[i] <= max) &&
                    (!there_and_back(copies, put, get, lengths[i], 1) ||
                     !there_and_back(copies, put, get, lengths[i],
                                     AT_A_TIME))) {
                    return;
                }
            }
        }
    }
}

/* Queries the dmabuf of a part of the memory. Returns the descriptor, which the
 * caller closes, or -1. */
static int query_dmabuf(copies_t *copies, char *address, size_t length)
{
    uct_md_mem_attr_t attr = {
        .field_mask = UCT_MD_MEM_ATTR_FIELD_DMABUF_FD |
                      UCT_MD_MEM_ATTR_FIELD_DMABUF_OFFSET,
    };
    ucs_status_t status = uct_md_mem_query(copies->party->md, address, length,
                                           &attr);

    if (!check_that(copies->run, 28, status == UCS_OK,
                    "mem_query for a dmabuf: %s; without one it leaves"
                    " dmabuf_fd at -1",
                    ucs_status_string(status))) {
        return -1;
    }
    check_that(copies->run, 28,
               (attr.dmabuf_fd == UCT_DMABUF_FD_INVALID) ||
                   (fcntl(attr.dmabuf_fd, F_GETFD) != -1),
               "mem_query: dmabuf_fd %d is not an open descriptor",
               attr.dmabuf_fd);
    return attr.dmabuf_fd;
}

/* Checks the dmabuf of a range. The core closes each descriptor, so a plugin
 * must not return the same descriptor twice. */
static void check_dmabuf(copies_t *copies, char *address, size_t length)
{
    int first  = query_dmabuf(copies, address + 1, length - 1);
    int second = query_dmabuf(copies, address + length / 2, 1);

    check_that(copies->run, 28, (first == -1) || (first != second),
               "mem_query: dmabuf_fd %d is returned twice", first);
    if (first != -1) {
        close(first);
    }
    if ((second != -1) && (second != first)) {
        close(second);
    }
}

static void one_type(copies_t *copies, const uct_md_attr_t *md)
{
    const size_t room                   = AT_A_TIME * (MOST + GUARD);
    const uct_alloc_method_t method     = UCT_ALLOC_METHOD_MD;
    const uct_mem_alloc_params_t params = {
        .field_mask = UCT_MEM_ALLOC_PARAM_FIELD_MEM_TYPE |
                      UCT_MEM_ALLOC_PARAM_FIELD_MDS,
        .mem_type = copies->type,
        .mds      = {.mds = &copies->party->md, .count = 1},
    };
    uct_md_mem_attr_t attr = {.field_mask = UCT_MD_MEM_ATTR_FIELD_MEM_TYPE};
    uct_allocated_memory_t memory;
    ucs_status_t status;

    status = uct_mem_alloc(room, &method, 1, &params, &memory);
    if (!check_that(copies->run, 28, status == UCS_OK,
                    "cannot allocate %zu bytes of memory type %d: %s", room,
                    (int)copies->type, ucs_status_string(status))) {
        return;
    }

    if (md->cap.detect_mem_types & UCS_BIT(copies->type)) {
        status = uct_md_mem_query(copies->party->md,
                                  (char *)memory.address + room / 2, 1, &attr);
        check_that(copies->run, 28,
                   (status == UCS_OK) && (attr.mem_type == copies->type),
                   "mem_query does not know what mem_alloc has made: %s, type"
                   " %d instead of %d",
                   ucs_status_string(status), (int)attr.mem_type,
                   (int)copies->type);
        check_dmabuf(copies, memory.address, room);
    }

    copies->memory = memory.address;
    all_operations(copies);
    status = uct_mem_free(&memory);
    check_that(copies->run, 28, status == UCS_OK, "mem_free: %s",
               ucs_status_string(status));
}

static ucs_status_t connect_to_self(party_t *party)
{
    static char addresses[2][PARTY_ADDRESS_MAX];
    uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR |
                      UCT_EP_PARAM_FIELD_IFACE_ADDR,
        .iface      = party->iface,
        .dev_addr   = (uct_device_addr_t *)addresses[0],
        .iface_addr = (uct_iface_addr_t *)addresses[1],
    };

    if ((party->attr->device_addr_len > PARTY_ADDRESS_MAX) ||
        (party->attr->iface_addr_len > PARTY_ADDRESS_MAX)) {
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    uct_iface_get_device_address(party->iface,
                                 (uct_device_addr_t *)addresses[0]);
    uct_iface_get_address(party->iface, (uct_iface_addr_t *)addresses[1]);
    return uct_ep_create(&params, &party->ep);
}

void check_copies(run_t *run)
{
    static party_t party;
    copies_t copies = {.run = run, .party = &party};
    uct_md_attr_t md;
    ucs_status_t status;
    uint64_t types;
    unsigned type;

    if (!party_open(run, &party, 0)) {
        return;
    }

    status = uct_md_query(party.md, &md);
    if ((status != UCS_OK) || !is_copier(run, &md)) {
        check_skip(run, "it is no copier");
        goto out;
    }

    types = md.cap.access_mem_types & md.cap.alloc_mem_types &
            ~UCS_MEMORY_TYPES_CPU_ACCESSIBLE;
    if (types == 0) {
        check_note(run, "its domain allocates no memory to copy from");
        goto out;
    }

    status = connect_to_self(&party);
    if (!check_that(run, 28, status == UCS_OK,
                    "no endpoint to the interface's own address: %s",
                    ucs_status_string(status))) {
        goto out;
    }

    copies.data = malloc(AT_A_TIME * (MOST + GUARD));
    for (type = 0; (type < UCS_MEMORY_TYPE_LAST) && (copies.data != NULL);
         ++type) {
        if (types & UCS_BIT(type)) {
            copies.type = (ucs_memory_type_t)type;
            one_type(&copies, &md);
        }
    }
    free(copies.data);
    uct_ep_destroy(party.ep);
    party.ep = NULL;
out:
    party_close(&party);
}
