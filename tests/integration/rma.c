/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote memory between two processes: puts to the user's memory and to
 * allocated memory are complete after a flush; gets return the contents;
 * atomics add up; exported memory can be mapped by the peer; unmapped memory is
 * inaccessible. When a peer is killed, all operations on its endpoint end.
 */
#include "common/data.h"
#include "common/side.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    DRIVER,
    OWNER,
    LENGTH   = 1024 * 1024 + 64,
    ADDS     = 2000,
    MESSAGES = 500,
};

/* including the limits of one message and of one fragment */
static const size_t sizes[] = {0,     1,     8,      64,
                               4096,  8160,  8161,   8185,
                               65536, 65537, 131073, 1024 * 1024 + 1};

enum { NUM_SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static const uint64_t features = UCP_FEATURE_RMA | UCP_FEATURE_AMO32 |
                                 UCP_FEATURE_AMO64 | UCP_FEATURE_TAG |
                                 UCP_FEATURE_EXPORTED_MEMH;

static const ucp_request_param_t plain = {0};

struct talk {
    struct team *team;
    struct side side;
    struct side_ep *ep;
    /* The owner's memory */
    void *own; /* From malloc(); NULL: UCP has allocated `memory` */
    char *memory;
    ucp_mem_h memh;
    /* The driver's access to the owner's memory */
    uint64_t address;
    ucp_rkey_h rkey;
};

static void agree(struct talk *talk)
{
    team_barrier(talk->team, side_progress, &talk->side);
}

static ucs_status_t finish(struct talk *talk, ucs_status_ptr_t request,
                           double seconds)
{
    double end = test_now() + test_seconds(seconds);
    ucs_status_t status;

    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_RAW_STATUS(request);
    }
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        ucp_worker_progress(talk->side.worker);
        if (test_now() > end) {
            FAIL("an access is not over after %g s", seconds);
        }
    }
    ucp_request_free(request);
    return status;
}

static ucs_status_t put(struct talk *talk, const void *data, size_t length,
                        size_t offset)
{
    return finish(talk,
                  ucp_put_nbx(talk->ep->ep, data, length,
                              talk->address + offset, talk->rkey, &plain),
                  20);
}

static ucs_status_t get(struct talk *talk, void *data, size_t length,
                        size_t offset)
{
    return finish(talk,
                  ucp_get_nbx(talk->ep->ep, data, length,
                              talk->address + offset, talk->rkey, &plain),
                  20);
}

static void lend(struct talk *talk, bool allocated)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS,
        .length = LENGTH,
        .flags  = allocated ? UCP_MEM_MAP_ALLOCATE : 0,
    };
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    size_t size;
    void *key;

    talk->own      = allocated ? NULL : aligned_alloc(64, LENGTH);
    params.address = talk->own;
    EXPECT_OK(ucp_mem_map(talk->side.context, &params, &talk->memh));
    EXPECT_OK(ucp_mem_query(talk->memh, &attr));
    talk->memory  = attr.address;
    talk->address = (uintptr_t)attr.address;
    memset(talk->memory, 0, LENGTH);

    EXPECT_OK(ucp_memh_pack(talk->memh, NULL, &key, &size));
    team_put(talk->team, DRIVER, &talk->address, sizeof(talk->address));
    team_put(talk->team, DRIVER, &size, sizeof(size));
    team_put(talk->team, DRIVER, key, size);
    ucp_memh_buffer_release(key, NULL);
}

static void borrow(struct talk *talk)
{
    size_t size;
    void *key;

    team_get_progressing(talk->team, OWNER, &talk->address,
                         sizeof(talk->address), side_progress, &talk->side);
    team_get(talk->team, OWNER, &size, sizeof(size));
    key = malloc(size);
    team_get(talk->team, OWNER, key, size);
    EXPECT_OK(ucp_ep_rkey_unpack(talk->ep->ep, key, &talk->rkey));
    free(key);
}

static void take_back(struct talk *talk)
{
    EXPECT_OK(ucp_mem_unmap(talk->side.context, talk->memh));
    free(talk->own);
}

static void drive_sizes(struct talk *talk)
{
    char *data = malloc(LENGTH);
    size_t i;

    for (i = 0; i < NUM_SIZES; ++i) {
        data_fill(data, sizes[i], i);
        EXPECT_OK(put(talk, data, sizes[i], 8));
        /* the put is complete: its buffer can be reused */
        memset(data, 0xff, sizes[i]);
        EXPECT_OK(side_flush(talk->ep));
        team_put(talk->team, OWNER, &i, sizeof(i));
        agree(talk); /* the owner has verified the data and written its own */
        EXPECT_OK(get(talk, data, sizes[i], 8));
        data_verify(data, sizes[i], i + 100);
        agree(talk);
        agree(talk); /* the owner has cleared the memory */
    }
    free(data);
}

/* The driver sends `i` by the team's channel after the flush; then the data
 * must be in memory, without a message over UCP. */
static void own_sizes(struct talk *talk)
{
    size_t i, told;

    for (i = 0; i < NUM_SIZES; ++i) {
        team_get_progressing(talk->team, DRIVER, &told, sizeof(told),
                             side_progress, &talk->side);
        EXPECT_INT(told, ==, i);
        data_verify(talk->memory + 8, sizes[i], i);
        EXPECT_INT(talk->memory[7], ==, 0);
        EXPECT_INT(talk->memory[8 + sizes[i]], ==, 0);
        data_fill(talk->memory + 8, sizes[i], i + 100);
        agree(talk);
        agree(talk);
        memset(talk->memory, 0, LENGTH);
        agree(talk);
    }
}

/* Posts MESSAGES puts without waiting for any, with a fence after every
 * hundredth, and flushes once at the end. */
static void drive_many(struct talk *talk)
{
    uint64_t *data = calloc(MESSAGES, sizeof(*data));
    uint64_t i;

    for (i = 0; i < MESSAGES; ++i) {
        ucs_status_ptr_t request;

        data[i] = i + 1;
        request = ucp_put_nbx(talk->ep->ep, &data[i], sizeof(data[i]),
                              talk->address + 8 * i, talk->rkey, &plain);
        EXPECT(!UCS_PTR_IS_ERR(request));
        if (UCS_PTR_IS_PTR(request)) {
            ucp_request_free(request);
        }
        if (i % 100 == 99) {
            EXPECT_OK(ucp_worker_fence(talk->side.worker));
        }
    }
    EXPECT_OK(side_flush_worker(&talk->side));
    agree(talk);
    free(data);
}

static void own_many(struct talk *talk)
{
    uint64_t i, value;

    agree(talk);
    for (i = 0; i < MESSAGES; ++i) {
        memcpy(&value, talk->memory + 8 * i, sizeof(value));
        EXPECT_INT(value, ==, i + 1);
    }
    memset(talk->memory, 0, LENGTH);
}

static ucs_status_t add(struct talk *talk, size_t size, size_t offset,
                        uint64_t *old)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
        .datatype     = ucp_dt_make_contig(size),
    };
    uint64_t one = 1; /* little-endian: also valid for 4 bytes */

    if (old != NULL) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
        param.reply_buffer = old;
    }
    return finish(talk,
                  ucp_atomic_op_nbx(talk->ep->ep, UCP_ATOMIC_OP_ADD, &one, 1,
                                    talk->address + offset, talk->rkey, &param),
                  20);
}

/* The driver adds to three words of the owner's memory, of 8, 4 and 8 bytes.
 * The adds to the third word fetch. own_sums() verifies the sums. */
static void add_up(struct talk *talk)
{
    uint64_t old, i;

    for (i = 0; i < ADDS; ++i) {
        EXPECT_OK(add(talk, 8, 0, NULL));
        EXPECT_OK(add(talk, 4, 8, NULL));
        if (i % 16 == 0) {
            old = UINT64_MAX;
            EXPECT_OK(add(talk, 8, 16, &old));
            EXPECT_INT(old, ==, i / 16);
        }
    }
    EXPECT_OK(side_flush(talk->ep));
    agree(talk);
}

static void own_sums(struct talk *talk)
{
    uint64_t words[3];

    memcpy(words, talk->memory, sizeof(words));
    EXPECT_INT(words[0], ==, ADDS);
    EXPECT_INT(words[1], ==, ADDS);
    EXPECT_INT(words[2], ==, ADDS / 16);
}

/* The driver maps memory that the owner exports. Without a memory domain that
 * can export, packing returns UNSUPPORTED. */
static void own_exported(struct talk *talk)
{
    ucp_memh_pack_params_t params = {
        .field_mask = UCP_MEMH_PACK_PARAM_FIELD_FLAGS,
        .flags      = UCP_MEMH_PACK_FLAG_EXPORT,
    };
    void *bytes         = NULL;
    size_t size         = 0;
    ucs_status_t status = ucp_memh_pack(talk->memh, &params, &bytes, &size);

    if (status != UCS_OK) {
        EXPECT_STATUS(status, UCS_ERR_UNSUPPORTED);
    }
    data_fill(talk->memory, LENGTH, 7);
    team_put(talk->team, DRIVER, &size, sizeof(size));
    team_put(talk->team, DRIVER, bytes, size);
    agree(talk);
    if (status == UCS_OK) {
        data_verify(talk->memory, LENGTH, 8);
        ucp_memh_buffer_release(bytes, NULL);
    }
}

static void drive_exported(struct talk *talk)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER,
    };
    ucp_mem_attr_t attr = {
        .field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH,
    };
    ucp_mem_h memh;
    size_t size;
    void *bytes;

    team_get_progressing(talk->team, OWNER, &size, sizeof(size), side_progress,
                         &talk->side);
    bytes = malloc(size + 1);
    team_get(talk->team, OWNER, bytes, size);
    if (size > 0) {
        params.exported_memh_buffer = bytes;
        EXPECT_OK(ucp_mem_map(talk->side.context, &params, &memh));
        EXPECT_OK(ucp_mem_query(memh, &attr));
        EXPECT_INT(attr.length, >=, LENGTH);
        data_verify(attr.address, LENGTH, 7);
        data_fill(attr.address, LENGTH, 8);
        EXPECT_OK(ucp_mem_unmap(talk->side.context, memh));
    }
    free(bytes);
    agree(talk);
}

/* Returns whether the endpoint uses a transport whose name begins with
 * `prefix`. */
static bool uses(const struct talk *talk, const char *prefix)
{
    ucp_transport_entry_t entries[16];
    ucp_ep_attr_t attr = {
        .field_mask             = UCP_EP_ATTR_FIELD_TRANSPORTS,
        .transports.entries     = entries,
        .transports.num_entries = 16,
        .transports.entry_size  = sizeof(entries[0]),
    };

    EXPECT_OK(ucp_ep_query(talk->ep->ep, &attr));
    for (unsigned i = 0; i < attr.transports.num_entries; ++i) {
        if (strncmp(entries[i].transport_name, prefix, strlen(prefix)) == 0) {
            return true;
        }
    }
    return false;
}

/* After the owner has unmapped its memory, no access reaches it. The attempt
 * may end the endpoint, depending on its transport. Endpoints with cma are not
 * tested: the kernel's copies between processes need no registration and reach
 * all memory that is still mapped in the owner's process, and the message sizes
 * for which cma is selected depend on the processor. */
static void drive_stale(struct talk *talk)
{
    char data[64];
    ucs_status_t status;

    agree(talk);
    if (!uses(talk, "cma")) {
        memset(data, 's', sizeof(data));
        status = put(talk, data, sizeof(data), 0);
        if (status == UCS_OK) {
            status = side_flush(talk->ep);
        }
        EXPECT_INT(status, <, 0);
        EXPECT_INT(get(talk, data, sizeof(data), 0), <, 0);
    }
    team_put(talk->team, OWNER, data, 1);
}

static void own_stale(struct talk *talk)
{
    char told;
    int i;

    EXPECT_OK(ucp_mem_unmap(talk->side.context, talk->memh));
    memset(talk->own, 'o', 64);
    agree(talk);
    team_get_progressing(talk->team, DRIVER, &told, 1, side_progress,
                         &talk->side);
    for (i = 0; i < 64; ++i) {
        EXPECT_INT(((char *)talk->own)[i], ==, 'o');
    }
    free(talk->own);
}

static void work(struct team *team, void *arg)
{
    struct talk talk = {.team = team};
    int round;

    side_open(&talk.side, features);
    talk.ep = side_meet(&talk.side, team, 1 - team->rank);
    agree(&talk);
    for (round = 0; round < 2; ++round) {
        bool allocated = (round == 0);

        if (team->rank == OWNER) {
            lend(&talk, allocated);
            own_sizes(&talk);
            own_many(&talk);
            agree(&talk);
            agree(&talk);
            own_sums(&talk);
            own_exported(&talk);
            if (allocated) {
                agree(&talk);
                take_back(&talk);
            } else {
                own_stale(&talk);
            }
        } else {
            borrow(&talk);
            drive_sizes(&talk);
            drive_many(&talk);
            agree(&talk);
            add_up(&talk);
            drive_exported(&talk);
            if (allocated) {
                agree(&talk);
            } else {
                drive_stale(&talk);
            }
            ucp_rkey_destroy(talk.rkey);
        }
    }
    side_close_ep(talk.ep, UCP_EP_CLOSE_FLAG_FORCE);
    side_close(&talk.side);
}

/* The owner stops calling progress and is then killed, while a get, a put, an
 * atomic and a flush of the driver are outstanding: each ends within a time
 * limit. Operations that need the owner's progress fail; an RDMA device may
 * complete them before the owner is killed. */
static void die(struct team *team, void *arg)
{
    ucs_status_ptr_t requests[4];
    struct talk talk = {.team = team};
    char *data       = calloc(1, LENGTH);
    uint64_t one     = 1;
    uint64_t old     = 1;
    bool device;
    int i;

    side_open(&talk.side, features);
    talk.ep = side_meet(&talk.side, team, 1 - team->rank);
    agree(&talk);
    if (team->rank == OWNER) {
        lend(&talk, false);
        team_get(team, DRIVER, data, 1);
        raise(SIGKILL);
    }

    borrow(&talk);
    /* the device accesses the owner's memory without the owner */
    device      = uses(&talk, "rc_");
    requests[0] = ucp_get_nbx(talk.ep->ep, data, LENGTH, talk.address,
                              talk.rkey, &plain);
    requests[1] = ucp_put_nbx(talk.ep->ep, data, LENGTH, talk.address,
                              talk.rkey, &plain);
    {
        ucp_request_param_t param = {
            .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE |
                            UCP_OP_ATTR_FIELD_REPLY_BUFFER,
            .datatype     = ucp_dt_make_contig(8),
            .reply_buffer = &old,
        };

        requests[2] = ucp_atomic_op_nbx(talk.ep->ep, UCP_ATOMIC_OP_ADD, &one, 1,
                                        talk.address, talk.rkey, &param);
    }
    requests[3] = ucp_ep_flush_nbx(talk.ep->ep, &plain);
    team_put(team, OWNER, data, 1);
    side_wait_failure(talk.ep, 10);
    for (i = 0; i < 4; ++i) {
        ucs_status_t status = finish(&talk, requests[i], 10);

        /* get and put may complete without the owner's progress */
        if ((i >= 2) && !device) {
            EXPECT_INT(status, <, 0);
        }
        if ((i == 2) && (status == UCS_OK)) {
            EXPECT_INT(old, ==, 0); /* no other process changes the word */
        }
    }
    EXPECT_INT(put(&talk, data, 8, 0), <, 0);
    ucp_rkey_destroy(talk.rkey);
    side_close_ep(talk.ep, UCP_EP_CLOSE_FLAG_FORCE);
    side_close(&talk.side);
    free(data);
}

int main(void)
{
    struct team working = {.limit = 60};
    struct team dying   = {
          .limit   = 60,
          .may_die = {[OWNER] = true},
          .silent  = true,
    };
    int status = team_run(&working, 2, work, NULL);

    return (status != 0) ? status : team_run(&dying, 2, die, NULL);
}
