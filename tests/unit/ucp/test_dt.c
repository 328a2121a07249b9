/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes: iteration over contiguous, IOV and generic data, datatypes that
 * are invalid or fail, queries, and memory handles of lists. */
#include "suite.h"

#include "ucp/base/context.h"
#include "ucp/base/worker.h"
#include "ucp/dt/bypass.h"
#include "ucp/dt/dt.h"
#include "ucp/mem/mem.h"

static char text[] = "the quick brown fox jumps over the lazy dog";

START_TEST(contiguous_data_is_packed_in_pieces)
{
    ucp_dt_iter_t iter;
    char out[sizeof(text)];
    size_t done = 0;

    ck_assert_int_eq(ucp_dt_iter_init(&iter, text, sizeof(text) / 2,
                                      ucp_dt_make_contig(2), 0),
                     UCS_OK);
    ck_assert_uint_eq(iter.length, sizeof(text) / 2 * 2);
    while (iter.offset < iter.length) {
        done += ucp_dt_iter_pack(&iter, out + done, 5);
    }
    ck_assert_mem_eq(out, text, done);
}
END_TEST

/* The limit depends on the machine's cache: the test sets one of its own. */
START_TEST(large_data_that_bypasses_the_cache_arrives_whole)
{
    enum { SIZE = 20000, PIECE = 3001 };
    static char in[SIZE], out[SIZE + 1];
    const size_t before = ucp_dt_bypass_min;
    ucp_dt_iter_t iter;
    size_t offset, i;

    for (i = 0; i < SIZE; ++i) {
        in[i] = (char)(i * 31 + i / 256);
    }
    for (ucp_dt_bypass_min = SIZE; ucp_dt_bypass_min <= SIZE + 1;
         ++ucp_dt_bypass_min) {
        memset(out, 0, sizeof(out));
        ck_assert_int_eq(ucp_dt_iter_init(&iter, out, SIZE,
                                          ucp_dt_make_contig(1), 0),
                         UCS_OK);
        for (offset = 0; offset < SIZE; offset += PIECE) {
            ck_assert_int_eq(ucp_dt_iter_unpack(&iter, offset, in + offset,
                                                ucs_min((size_t)PIECE,
                                                        SIZE - offset)),
                             UCS_OK);
        }
        ck_assert_int_eq(memcmp(in, out, SIZE), 0);
        ck_assert_int_eq(out[SIZE], 0);
    }
    ucp_dt_bypass_min = before;
}
END_TEST

START_TEST(a_size_that_overflows_is_refused)
{
    ucp_dt_iov_t iov[2] = {{text, SIZE_MAX}, {text, 2}};
    ucp_dt_iter_t iter;

    ck_assert_int_eq(ucp_dt_iter_init(&iter, text, SIZE_MAX / 2,
                                      ucp_dt_make_contig(4), 0),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_dt_iter_init(&iter, iov, 2, ucp_dt_make_iov(), 0),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_dt_iter_init(&iter, text, 1, 6, 0),
                     UCS_ERR_INVALID_PARAM);
}
END_TEST

START_TEST(scattered_data_with_empty_entries_goes_both_ways)
{
    ucp_dt_iov_t iov[] = {
        {NULL, 0},      {text, 4},     {NULL, 0},
        {text + 10, 6}, {text + 4, 6}, {NULL, 0},
    };
    char a[3], b[7], c[6];
    ucp_dt_iov_t into[] = {{a, 3}, {NULL, 0}, {b, 7}, {c, 6}};
    char packed[16];
    ucp_dt_iter_t iter;
    size_t done = 0;

    ck_assert_int_eq(ucp_dt_iter_init(&iter, iov, 6, ucp_dt_make_iov(), 0),
                     UCS_OK);
    ck_assert_uint_eq(iter.length, 16);
    while (done < 16) {
        done += ucp_dt_iter_pack(&iter, packed + done, 3);
    }
    ck_assert_mem_eq(packed, "the brown quick ", 16);

    /* unpacks parts out of order, and across entries of the IOV list */
    ck_assert_int_eq(ucp_dt_iter_init(&iter, into, 4, ucp_dt_make_iov(), 1),
                     UCS_OK);
    ck_assert_int_eq(ucp_dt_iter_unpack(&iter, 8, packed + 8, 8), UCS_OK);
    ck_assert_int_eq(ucp_dt_iter_unpack(&iter, 0, packed, 2), UCS_OK);
    ck_assert_int_eq(ucp_dt_iter_unpack(&iter, 2, packed + 2, 6), UCS_OK);
    ck_assert_mem_eq(a, packed, 3);
    ck_assert_mem_eq(b, packed + 3, 7);
    ck_assert_mem_eq(c, packed + 10, 6);
}
END_TEST

START_TEST(pieces_of_memory_are_described_without_empty_ones)
{
    ucp_dt_iov_t iov[] = {{text, 4}, {NULL, 0}, {text + 10, 6}, {text, 100}};
    uct_iov_t pieces[4];
    ucp_dt_iter_t iter;
    size_t length;

    ck_assert_int_eq(ucp_dt_iter_init(&iter, iov, 3, ucp_dt_make_iov(), 0),
                     UCS_OK);
    ck_assert_uint_eq(ucp_dt_iter_iov(&iter, 100, pieces, 4, NULL, &length), 2);
    ck_assert_uint_eq(length, 10);
    ucp_dt_iter_advance(&iter, 3);
    ck_assert_uint_eq(ucp_dt_iter_iov(&iter, 4, pieces, 4, NULL, &length), 2);
    ck_assert_uint_eq(length, 4);
    ck_assert_ptr_eq(pieces[0].buffer, text + 3);
    ck_assert_uint_eq(pieces[1].length, 3);
    ucp_dt_iter_advance(&iter, 7);
    ck_assert_uint_eq(ucp_dt_iter_iov(&iter, 4, pieces, 4, NULL, &length), 0);
}
END_TEST

typedef struct {
    int finished;
    char into[sizeof(text)];
} generic_t;

static void *start_pack(void *context, const void *buffer, size_t count)
{
    return context;
}

static void *start_unpack(void *context, void *buffer, size_t count)
{
    return context;
}

static size_t packed_size(void *state)
{
    return sizeof(text);
}

static size_t pack(void *state, size_t offset, void *dest, size_t max)
{
    size_t length = (max < 7) ? max : 7;

    memcpy(dest, text + offset, length);
    return length;
}

static ucs_status_t unpack(void *state, size_t offset, const void *src,
                           size_t length)
{
    generic_t *generic = state;

    if (length > 7) {
        return UCS_ERR_NO_MEMORY;
    }
    memcpy(generic->into + offset, src, length);
    return UCS_OK;
}

static void finish(void *state)
{
    ++((generic_t *)state)->finished;
}

START_TEST(a_generic_datatype_is_packed_unpacked_and_finished_once)
{
    static const ucp_generic_dt_ops_t ops = {
        start_pack, start_unpack, packed_size, pack, unpack, finish,
    };
    ucp_generic_dt_ops_t incomplete = ops;
    generic_t generic               = {0};
    ucp_datatype_attr_t attr        = {
               .field_mask = UCP_DATATYPE_ATTR_FIELD_PACKED_SIZE,
    };
    ucp_dt_iter_t iter, back;
    ucp_datatype_t datatype;
    char piece[64];
    size_t offset, length;

    incomplete.finish = NULL;
    ck_assert_int_eq(ucp_dt_create_generic(&incomplete, NULL, &datatype),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_dt_create_generic(&ops, &generic, &datatype), UCS_OK);
    ck_assert_int_eq(ucp_dt_query(datatype, &attr), UCS_OK);
    ck_assert_uint_eq(attr.packed_size, sizeof(text));
    ck_assert_int_eq(generic.finished, 1);

    ck_assert_int_eq(ucp_dt_iter_init(&iter, NULL, 1, datatype, 0), UCS_OK);
    ck_assert_int_eq(ucp_dt_iter_init(&back, NULL, 1, datatype, 1), UCS_OK);
    while (iter.offset < iter.length) {
        offset = iter.offset;
        length = ucp_dt_iter_pack(&iter, piece, sizeof(piece));
        ck_assert_int_eq(ucp_dt_iter_unpack(&back, offset, piece, length),
                         UCS_OK);
    }
    ck_assert_mem_eq(generic.into, text, sizeof(text));
    ck_assert_int_eq(ucp_dt_iter_unpack(&back, 0, piece, 8), UCS_ERR_NO_MEMORY);
    ucp_dt_iter_cleanup(&iter);
    ucp_dt_iter_cleanup(&iter);
    ucp_dt_iter_cleanup(&back);
    ck_assert_int_eq(generic.finished, 3);
    ucp_dt_destroy(datatype);
}
END_TEST

/* Claims to have packed more bytes than the buffer has. */
static size_t pack_too_much(void *state, size_t offset, void *dest, size_t max)
{
    return max + 1;
}

START_TEST(a_generic_datatype_that_packs_too_much_fails)
{
    static const ucp_generic_dt_ops_t ops = {
        start_pack, start_unpack, packed_size, pack_too_much, unpack, finish,
    };
    generic_t generic = {0};
    ucp_dt_iter_t iter;
    ucp_datatype_t datatype;
    char piece[8];

    ck_assert_int_eq(ucp_dt_create_generic(&ops, &generic, &datatype), UCS_OK);
    ck_assert_int_eq(ucp_dt_iter_init(&iter, NULL, 1, datatype, 0), UCS_OK);
    ck_assert_uint_eq(ucp_dt_iter_pack(&iter, piece, sizeof(piece)), 0);
    ck_assert_uint_eq(iter.offset, 0);
    ucp_dt_iter_cleanup(&iter);
    ck_assert_int_eq(generic.finished, 1);
    ucp_dt_destroy(datatype);
}
END_TEST

START_TEST(a_strided_datatype_has_no_description_and_is_refused)
{
    ucp_datatype_attr_t attr = {
        .field_mask = UCP_DATATYPE_ATTR_FIELD_PACKED_SIZE,
    };
    ucp_dt_iter_t iter;

    ck_assert_int_eq(ucp_dt_iter_init(&iter, text, 1, UCP_DATATYPE_STRIDED, 0),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_dt_query(UCP_DATATYPE_STRIDED, &attr),
                     UCS_ERR_INVALID_PARAM);
}
END_TEST

START_TEST(a_walk_over_a_thousand_places_can_begin_again)
{
    static char bytes[3 * 1000], packed[sizeof(bytes)];
    static ucp_dt_iov_t iov[1000];
    ucp_dt_iter_t iter;
    size_t i, length = 0;
    int round;

    for (i = 0; i < sizeof(bytes); ++i) {
        bytes[i] = (char)(i * 7);
    }
    for (i = 0; i < 1000; ++i) {
        iov[i].buffer = (i % 4 == 0) ? NULL : &bytes[length];
        iov[i].length = i % 4;
        length += i % 4;
    }
    ck_assert_int_eq(ucp_dt_iter_init(&iter, iov, 1000, ucp_dt_make_iov(), 0),
                     UCS_OK);
    ck_assert_uint_eq(iter.length, length);
    for (round = 0; round < 2; ++round) {
        memset(packed, 0, sizeof(packed));
        while (iter.offset < iter.length) {
            ck_assert_uint_gt(ucp_dt_iter_pack(&iter, packed + iter.offset, 17),
                              0);
        }
        ck_assert_mem_eq(packed, bytes, length);
        ucp_dt_iter_rewind(&iter);
    }

    /* no data: an empty list, or a list of empty entries */
    ck_assert_int_eq(ucp_dt_iter_init(&iter, NULL, 0, ucp_dt_make_iov(), 0),
                     UCS_OK);
    ck_assert_uint_eq(iter.length, 0);
    ck_assert_int_eq(ucp_dt_iter_init(&iter, NULL, 3, ucp_dt_make_iov(), 0),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_dt_iter_init(&iter, iov, 1, ucp_dt_make_iov(), 0),
                     UCS_OK);
    ck_assert_uint_eq(ucp_dt_iter_pack(&iter, packed, 17), 0);
}
END_TEST

START_TEST(a_query_tells_the_packed_size)
{
    ucp_dt_iov_t iov[]       = {{text, 3}, {NULL, 0}, {text, 9}};
    ucp_datatype_attr_t attr = {
        .field_mask = UCP_DATATYPE_ATTR_FIELD_PACKED_SIZE,
    };

    ck_assert_int_eq(ucp_dt_query(ucp_dt_make_contig(12), &attr), UCS_OK);
    ck_assert_uint_eq(attr.packed_size, 12); /* without a count: one element */
    attr.field_mask |= UCP_DATATYPE_ATTR_FIELD_COUNT;
    attr.count = 5;
    ck_assert_int_eq(ucp_dt_query(ucp_dt_make_contig(12), &attr), UCS_OK);
    ck_assert_uint_eq(attr.packed_size, 60);
    attr.count = SIZE_MAX;
    ck_assert_int_eq(ucp_dt_query(ucp_dt_make_contig(12), &attr),
                     UCS_ERR_INVALID_PARAM);

    attr.count = 3;
    ck_assert_int_eq(ucp_dt_query(ucp_dt_make_iov(), &attr),
                     UCS_ERR_INVALID_PARAM);
    attr.field_mask |= UCP_DATATYPE_ATTR_FIELD_BUFFER;
    attr.buffer = iov;
    ck_assert_int_eq(ucp_dt_query(ucp_dt_make_iov(), &attr), UCS_OK);
    ck_assert_uint_eq(attr.packed_size, 12);
    attr.field_mask = 0;
    ck_assert_int_eq(ucp_dt_query(ucp_dt_make_contig(1), &attr), UCS_OK);
}
END_TEST

/* Begins an operation with an iov list of parts of `text`, and this handle.
 * Returns its status; *used is set if the operation uses the handle. */
static ucs_status_t begin_list(ucp_worker_h worker, ucp_mem_t *memh, int *used)
{
    ucp_dt_iov_t iov[]        = {{text + 4, 5}, {NULL, 0}, {text + 20, 3}};
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_MEMH,
        .datatype     = ucp_dt_make_iov(),
        .memh         = memh,
    };
    ucp_dt_iter_t iter;
    ucs_status_t status;

    status = ucp_dt_iter_begin(worker, &iter, iov, 3, &param, 0);
    *used  = (status == UCS_OK) && (iter.memh == memh);
    return status;
}

START_TEST(a_list_uses_a_handle_that_is_valid_for_it)
{
    static ucp_context_t context, other;
    static ucp_worker_t worker = {.context = &context};
    ucp_mem_t memh = {.context = &context, .address = text, .length = 23};
    int used;

    ck_assert_int_eq(begin_list(&worker, &memh, &used), UCS_OK);
    ck_assert_int_eq(used, 1);
    memh.length = 22;
    ck_assert_int_eq(begin_list(&worker, &memh, &used), UCS_OK);
    ck_assert_int_eq(used, 0);
    memh.context = &other;
    ck_assert_int_eq(begin_list(&worker, &memh, &used), UCS_ERR_INVALID_PARAM);
    memh.length = 23;
    ck_assert_int_eq(begin_list(&worker, &memh, &used), UCS_ERR_INVALID_PARAM);

    /* The registrations of an imported handle are for other addresses. */
    memh.context = &context;
    memh.flags   = UCP_MEM_FLAG_IMPORTED;
    ck_assert_int_eq(begin_list(&worker, &memh, &used), UCS_OK);
    ck_assert_int_eq(used, 0);
    memh.length = 22;
    ck_assert_int_eq(begin_list(&worker, &memh, &used), UCS_ERR_INVALID_PARAM);
    memh.length = 23;
    memh.flags |= UCP_MEM_FLAG_ELSEWHERE;
    ck_assert_int_eq(begin_list(&worker, &memh, &used), UCS_ERR_INVALID_PARAM);
}
END_TEST

SUITE_MAIN("datatypes", contiguous_data_is_packed_in_pieces,
           large_data_that_bypasses_the_cache_arrives_whole,
           a_size_that_overflows_is_refused,
           scattered_data_with_empty_entries_goes_both_ways,
           pieces_of_memory_are_described_without_empty_ones,
           a_generic_datatype_is_packed_unpacked_and_finished_once,
           a_generic_datatype_that_packs_too_much_fails,
           a_strided_datatype_has_no_description_and_is_refused,
           a_walk_over_a_thousand_places_can_begin_again,
           a_query_tells_the_packed_size,
           a_list_uses_a_handle_that_is_valid_for_it)
