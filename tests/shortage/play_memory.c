/* SPDX-License-Identifier: BSD-3-Clause */
/* The step of remote memory access: keys, put, get, atomics and flush. */
#include "play_ops.h"

#include <string.h>

enum { MEMORY = 64 * 1024 }; /* Bytes that each side exposes */
/* What the other side needs to access the memory of a side. */

struct key {
    uint64_t address; /* Of the memory */
    uint32_t length;  /* Valid bytes in `bytes`; 0: the key was not packed */
    char bytes[1024]; /* Packed key */
};

/* Allocates and maps the memory of this side, and fills `key`. */
static void expose(struct play *play, struct key *key)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS,
        .length = MEMORY,
        .flags  = UCP_MEM_MAP_ALLOCATE,
    };
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    ucs_status_t status;
    size_t length;
    void *bytes;

    status = ucp_mem_map(play->context, &params, &play->memh);
    if (status == UCS_OK) {
        EXPECT_OK(ucp_mem_query(play->memh, &attr));
        play->memory = attr.address;
        memset(play->memory, 0, MEMORY);
        status = ucp_rkey_pack(play->context, play->memh, &bytes, &length);
    }
    if (status == UCS_OK) {
        EXPECT_INT(length, <=, sizeof(key->bytes));
        key->address = (uintptr_t)play->memory;
        key->length  = (uint32_t)length;
        memcpy(key->bytes, bytes, length);
        ucp_rkey_buffer_release(bytes);
    }
    play_take_error(play, status);
}

/* put(), get() and add() access the other side's memory at the offset `place`,
 * and wait for the end of the operation. */
static void put(struct play *play, size_t length, size_t place)
{
    struct op *op             = play_new_op(play, "a put", false);
    ucp_request_param_t param = play_op_param(op);

    play_finish(play, play_begun(op, ucp_put_nbx(play->ep, play->out, length,
                                                 play->remote + place,
                                                 play->rkey, &param)));
}

static void get(struct play *play, size_t length, size_t place)
{
    struct op *op             = play_new_op(play, "a get", false);
    ucp_request_param_t param = play_op_param(op);

    play_finish(play, play_begun(op, ucp_get_nbx(play->ep, play->in, length,
                                                 play->remote + place,
                                                 play->rkey, &param)));
}

static void add(struct play *play, size_t place)
{
    struct op *op             = play_new_op(play, "an atomic", false);
    ucp_request_param_t param = play_op_param(op);
    uint64_t one              = 1;

    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE |
                          UCP_OP_ATTR_FIELD_REPLY_BUFFER;
    param.datatype     = ucp_dt_make_contig(8);
    param.reply_buffer = play->in;
    play_finish(play,
                play_begun(op, ucp_atomic_op_nbx(play->ep, UCP_ATOMIC_OP_ADD,
                                                 &one, 1, play->remote + place,
                                                 play->rkey, &param)));
}

static void flush(struct play *play)
{
    struct op *op             = play_new_op(play, "a flush", false);
    ucp_request_param_t param = play_op_param(op);

    play_finish(play, play_begun(op, ucp_ep_flush_nbx(play->ep, &param)));
    if (play_goes_on(play)) {
        op    = play_new_op(play, "a worker's flush", false);
        param = play_op_param(op);
        play_finish(play,
                    play_begun(op, ucp_worker_flush_nbx(play->worker, &param)));
    }
}

static void access_memory(struct play *play)
{
    enum { WORD = 0, FEW = 64, MANY = 4096, LONG = 40000 };

    play_fill(play->out, LONG, 9);
    put(play, PLAY_SMALL, FEW);
    put(play, LONG, MANY);
    add(play, WORD);
    flush(play);
    get(play, LONG, MANY);
    play_verify(play, play->in, LONG, 9);
    get(play, PLAY_SMALL, FEW);
    play_verify(play, play->in, PLAY_SMALL, 9);
    if (play_agree_only(play)) {
        play_verify(play, play->memory + MANY, LONG, 9);
        EXPECT_INT(*(uint64_t *)play->memory, ==, 1);
    }
}

void play_memory(struct play *play)
{
    struct key key = {.length = 0};

    play->step = "memory";
    expose(play, &key);
    if (!play_agree(play, &key, sizeof(key))) {
        return;
    }
    memcpy(&key, play->note.bytes, sizeof(key));
    play->remote = key.address;
    play_take_error(play, ucp_ep_rkey_unpack(play->ep, key.bytes, &play->rkey));
    if (play_agree_only(play)) {
        access_memory(play);
        play_agree_only(play);
    }
}
