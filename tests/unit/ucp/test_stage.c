/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of staged memory, that is, memory that only a copier transport can
 * access (staged.h): how a copy is divided, for which copies an operation
 * waits, and failures.
 */
#include "staged.h"

#include "ucp/dt/dt.h"

/* ------------------------------------------------------- blocking copies -- */

START_TEST(a_copy_is_cut_as_the_copier_can)
{
    local_t local;
    size_t length;

    open_staged(&local);
    for (length = 0; length < 3100; length += (length < 40) ? 1 : 99) {
        memset(data, 0, length + 1);
        ck_assert_int_eq(ucp_stage_copy(&play.copier, 0, memory, data, length,
                                        0),
                         UCS_OK);
        ck_assert_mem_eq(data, memory, length);
        ck_assert_int_eq(data[length], 0);
    }
    ck_assert_uint_eq(play.most_short, 10);
    ck_assert_uint_ge(play.least, 20);
    ck_assert_uint_eq(play.most, 1000);
    close_staged(&local);
}
END_TEST

START_TEST(a_copier_without_room_is_asked_again)
{
    local_t local;

    open_staged(&local);
    play.no_room = 5;
    ck_assert_int_eq(ucp_stage_copy(&play.copier, 0, data, memory, 2500, 1),
                     UCS_OK);
    ck_assert_mem_eq(data, memory, 2500);
    ck_assert_uint_eq(play.posts, 3);
    close_staged(&local);
}
END_TEST

START_TEST(a_short_copy_that_was_only_taken_is_flushed)
{
    local_t local;

    open_staged(&local);
    play.short_status = UCS_INPROGRESS;
    ck_assert_int_eq(ucp_stage_copy(&play.copier, 0, data, memory, 8, 1),
                     UCS_OK);
    ck_assert_uint_eq(play.flushes, 1);
    close_staged(&local);
}
END_TEST

START_TEST(a_failed_copy_fails_what_it_was_for)
{
    ucp_dt_iter_t iter;
    local_t local;

    open_staged(&local);
    play.fail_at = 2;
    ck_assert_int_eq(ucp_stage_copy(&play.copier, 0, memory, data, 2500, 0),
                     UCS_ERR_IO_ERROR);

    ck_assert_int_eq(ucp_dt_iter_begin(local.worker, &iter, memory, 500,
                                       &hinted, 0),
                     UCS_OK);
    ck_assert_int_eq(iter.dt_class, UCP_DT_CLASS_STAGED);
    play.fail_at = play.posts + 1;
    ck_assert_uint_eq(ucp_dt_iter_pack(&iter, data, 500), 0);
    ck_assert_uint_eq(iter.offset, 0);
    play.fail_at = play.posts + 1;
    ck_assert_int_eq(ucp_dt_iter_unpack(&iter, 0, data, 500), UCS_ERR_IO_ERROR);
    close_staged(&local);
}
END_TEST

START_TEST(a_list_of_places_is_walked_in_any_order)
{
    ucp_dt_iov_t iov[] = {
        {memory, 100},
        {NULL, 0},
        {memory + 200, 7},
        {memory + 300, 1500},
    };
    ucp_request_param_t param = hinted;
    char packed[1607], expected[1607];
    ucp_dt_iter_t iter;
    local_t local;
    size_t done = 0;

    open_staged(&local);
    memcpy(expected, memory, 100);
    memcpy(expected + 100, memory + 200, 7);
    memcpy(expected + 107, memory + 300, 1500);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    param.datatype = ucp_dt_make_iov();
    ck_assert_int_eq(ucp_dt_iter_begin(local.worker, &iter, iov, 4, &param, 0),
                     UCS_OK);
    ck_assert_int_eq(iter.dt_class, UCP_DT_CLASS_STAGED);
    ck_assert(!ucp_dt_iter_is_flat(&iter));
    while (done < sizeof(packed)) {
        done += ucp_dt_iter_pack(&iter, packed + done, 90);
    }
    ck_assert_mem_eq(packed, expected, sizeof(packed));

    /* a call that fails packs nothing; the next one continues at the same
     * offset */
    ucp_dt_iter_rewind(&iter);
    ck_assert_uint_eq(ucp_dt_iter_pack(&iter, packed, 95), 95);
    play.fail_at = play.posts + 1;
    ck_assert_uint_eq(ucp_dt_iter_pack(&iter, packed, 500), 0);
    ck_assert_uint_eq(ucp_dt_iter_pack(&iter, packed, 40), 40);
    ck_assert_mem_eq(packed, expected + 95, 40);

    memset(memory, 0, SIZE);
    ck_assert_int_eq(ucp_dt_iter_unpack(&iter, 95, expected + 95, 1512),
                     UCS_OK);
    ck_assert_int_eq(ucp_dt_iter_unpack(&iter, 0, expected, 95), UCS_OK);
    ck_assert_mem_eq(memory, expected, 100);
    ck_assert_mem_eq(memory + 200, expected + 100, 7);
    ck_assert_mem_eq(memory + 300, expected + 107, 1500);
    ck_assert_int_eq(memory[100], 0);
    close_staged(&local);
}
END_TEST

/* ------------------------------------------------------------- fragments -- */

static unsigned num_told, num_failed;

static void told(ucp_stage_frag_t *frag)
{
    ++num_told;
    num_failed += (frag->status != UCS_OK);
    ucp_stage_frag_put(frag);
}

static ucp_stage_frag_t *start(size_t offset, size_t length, void *req)
{
    ucp_stage_frag_t *frag = ucp_stage_frag_get(&play.copier);

    ck_assert_ptr_nonnull(frag);
    memcpy(frag->data, memory + offset, length);
    frag->req    = req;
    frag->memory = data + offset;
    frag->length = length;
    ucp_stage_frag_start(frag, 1, told);
    return frag;
}

START_TEST(fragments_are_told_of_from_progress_alone)
{
    local_t local;
    int i;

    open_staged(&local);
    num_told = num_failed = 0;
    ck_assert(!ucp_stage_is_busy(&play.stage));
    play.at_once = 1;
    start(0, 1000, NULL);
    play.at_once = 0;
    start(1000, 1000, NULL);
    play.no_room = 3;
    start(2000, 1000, NULL);
    start(3000, 5, NULL); /* too short for an asynchronous copy */
    ck_assert(ucp_stage_is_busy(&play.stage));

    /* a blocking copy does not complete the copies of other operations */
    ck_assert_int_eq(ucp_stage_copy(&play.copier, 0, memory, data + 5000, 100,
                                    0),
                     UCS_OK);
    ck_assert_uint_eq(num_told, 0);
    for (i = 0; i < 20; ++i) {
        ucp_worker_progress(local.worker);
    }
    ck_assert_uint_eq(num_told, 4);
    ck_assert_uint_eq(num_failed, 0);
    ck_assert_mem_eq(data, memory, 3005);
    ck_assert(!ucp_stage_is_busy(&play.stage));
    ck_assert_int_eq(play.stage.progress_id, UCS_CALLBACKQ_ID_NULL);
    close_staged(&local);
}
END_TEST

START_TEST(a_fragment_whose_copy_fails_says_so)
{
    local_t local;

    open_staged(&local);
    num_told = num_failed = 0;
    play.fail_at          = 1;
    start(0, 1000, NULL);
    ck_assert_uint_eq(num_told, 0);
    ucp_worker_progress(local.worker);
    ck_assert_uint_eq(num_told, 1);
    ck_assert_uint_eq(num_failed, 1);
    close_staged(&local);
}
END_TEST

START_TEST(fragments_are_limited_and_used_again)
{
    ucp_stage_frag_t *frags[100];
    local_t local;
    unsigned i, count = 0;

    open_staged(&local);
    while ((count < 100) &&
           ((frags[count] = ucp_stage_frag_get(&play.copier)) != NULL)) {
        ++count;
    }
    ck_assert_uint_ge(count, 4);
    ck_assert_uint_lt(count, 100);
    ucp_stage_frag_put(frags[2]);
    ck_assert_ptr_eq(ucp_stage_frag_get(&play.copier), frags[2]);
    for (i = 0; i < count; ++i) {
        ucp_stage_frag_put(frags[i]);
    }
    close_staged(&local);
}
END_TEST

START_TEST(a_cancelled_copy_accesses_no_memory)
{
    ucp_stage_frag_t *frag, *waiting;
    ucp_request_t *req, *other;
    local_t local;

    open_staged(&local);
    num_told = num_failed = 0;
    req                   = ucp_request_get_internal(local.worker);
    other                 = ucp_request_get_internal(local.worker);
    frag                  = start(0, 1000, req);
    start(1000, 1000, other);
    play.no_room = 1000;
    waiting      = start(2000, 1000, req);
    ucp_stage_forget(&play.stage, req);
    /* the copy of this fragment was in flight: it is completed */
    ck_assert_mem_eq(data, memory, 1000);
    ck_assert_ptr_null(frag->req);
    ck_assert_ptr_null(waiting->req);
    memset(data, 0, SIZE);
    play.no_room = 0;
    ucp_stage_finish(&play.stage);
    ck_assert_uint_eq(num_told, 3);
    ck_assert_uint_eq(num_failed, 1);
    ck_assert_int_eq(data[0], 0);
    ck_assert_int_eq(data[2000], 0);
    ucp_request_put(req);
    ucp_request_put(other);
    close_staged(&local);
}
END_TEST

SUITE_MAIN("staged memory", a_copy_is_cut_as_the_copier_can,
           a_copier_without_room_is_asked_again,
           a_short_copy_that_was_only_taken_is_flushed,
           a_failed_copy_fails_what_it_was_for,
           a_list_of_places_is_walked_in_any_order,
           fragments_are_told_of_from_progress_alone,
           a_fragment_whose_copy_fails_says_so,
           fragments_are_limited_and_used_again,
           a_cancelled_copy_accesses_no_memory)
