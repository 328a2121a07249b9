/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large put and get that messages transfer in zero-copy fragments: how data is
 * divided, and that buffers stay in use while the transport, whose send the
 * test replaces, holds a fragment.
 */
#include "rma.h"

#include "ucp/mem/mem.h"

enum {
    MAX_BCOPY  = 1000,
    PUT_ROOM   = MAX_BCOPY - (int)sizeof(ucp_rma_put_t),
    REPLY_ROOM = MAX_BCOPY - (int)sizeof(ucp_rma_get_reply_t),
    FRAGMENT   = 5000,
    SIZE       = 23000,
};

static char data[SIZE], back[SIZE];

static ucx_ep_ops_t ops, usual;
static unsigned num_zcopy, num_held, fail_at;
static uct_completion_t *held[64];
static int hold;
/* Memory that the next zero-copy send unmaps; NULL: none */
static lent_t *unmaps;

static ucs_status_t play_zcopy(uct_ep_h ep, uint8_t id, const void *header,
                               unsigned header_length, const uct_iov_t *iov,
                               size_t iovcnt, unsigned flags,
                               uct_completion_t *comp)
{
    ucs_status_t status;

    if (num_zcopy + 1 == fail_at) {
        return UCS_ERR_IO_ERROR;
    }
    ck_assert_uint_le(iov[0].length, FRAGMENT);
    status = usual.am_zcopy(ep, id, header, header_length, iov, iovcnt, flags,
                            comp);
    if (status != UCS_OK) {
        return status;
    }
    ++num_zcopy;
    if (unmaps != NULL) {
        ck_assert_int_eq(ucp_mem_unmap(unmaps->local.context, unmaps->memh),
                         UCS_OK);
        unmaps = NULL;
    }
    if (!hold) {
        return UCS_OK;
    }
    held[num_held++] = comp;
    return UCS_INPROGRESS;
}

/* Completes the held sends with `status`. */
static void let_go(ucs_status_t status)
{
    unsigned i;

    for (i = 0; i < num_held; ++i) {
        uct_completion_update_status(held[i], status);
        if (--held[i]->count == 0) {
            held[i]->func(held[i]);
        }
    }
    num_held = 0;
}

/* Maps memory that can be accessed only by messages. The lane's buffered copies
 * have at most MAX_BCOPY bytes; `fragment` is UCX_RNDV_FRAG_SIZE, the size of
 * zero-copy fragments. */
static void lend_fragments(lent_t *lent, const char *fragment)
{
    ucp_worker_iface_t *iface;

    setenv("UCX_RNDV_FRAG_SIZE", fragment, 1);
    lend(lent, BY_MESSAGES, SIZE);
    unsetenv("UCX_RNDV_FRAG_SIZE");
    iface                    = lent->local.worker->ifaces;
    iface->lane.am.max_bcopy = MAX_BCOPY;
    ((ucp_ep_config_t *)lent->local.ep->config)->lanes[0].am.max_bcopy =
        MAX_BCOPY;

    usual                   = *iface->iface->ep_ops;
    ops                     = usual;
    ops.am_zcopy            = play_zcopy;
    lent->local.ep->am->ops = &ops;
    /* so that the reply endpoint uses the replaced operations, too */
    iface->iface->ep_ops    = &ops;
    num_zcopy               = 0;
    num_held                = 0;
    fail_at                 = 0;
    hold                    = 0;
    unmaps                  = NULL;
    fill(data, SIZE, 3);
    memset(back, 0, SIZE);
}

static void settle(lent_t *lent)
{
    int i;

    for (i = 0; i < 100; ++i) {
        ucp_worker_progress(lent->local.worker);
    }
}

static ucs_status_ptr_t start(lent_t *lent, int is_get, size_t length)
{
    return is_get ? ucp_get_nbx(lent->local.ep, back, length, lent_at(lent, 0),
                                lent->rkey, &plain) :
                    ucp_put_nbx(lent->local.ep, data, length, lent_at(lent, 0),
                                lent->rkey, &plain);
}

/* Puts and gets `length` bytes, and checks the data and the number of zero-copy
 * fragments of each. */
static void check(lent_t *lent, size_t length, unsigned puts, unsigned gets)
{
    memset(lent->memory, 0, SIZE);
    memset(back, 0, SIZE);
    num_zcopy = 0;
    ck_assert_int_eq(lent_put(lent, data, length, 0), UCS_OK);
    ck_assert_int_eq(lent_flush(lent), UCS_OK);
    ck_assert_int_eq(memcmp(lent->memory, data, length), 0);
    ck_assert(length == SIZE || lent->memory[length] == 0);
    ck_assert_uint_eq(num_zcopy, puts);

    num_zcopy = 0;
    ck_assert_int_eq(lent_get(lent, back, length, 0), UCS_OK);
    ck_assert_int_eq(memcmp(back, data, length), 0);
    ck_assert(length == SIZE || back[length] == 0);
    ck_assert_uint_eq(num_zcopy, gets);
}

START_TEST(what_does_not_fit_a_copied_message_goes_in_larger_fragments)
{
    lent_t lent;

    lend_fragments(&lent, "5000");
    check(&lent, PUT_ROOM, 0, 0);
    check(&lent, PUT_ROOM + 1, 1, 0);
    check(&lent, REPLY_ROOM, 1, 0);
    check(&lent, REPLY_ROOM + 1, 1, 1);
    check(&lent, FRAGMENT, 1, 1);
    check(&lent, FRAGMENT + 1, 2, 2);
    check(&lent, SIZE, 5, 5);
    take_back(&lent);
}
END_TEST

START_TEST(fragments_that_are_no_larger_are_copied)
{
    lent_t lent;

    lend_fragments(&lent, "900");
    check(&lent, SIZE, 0, 0);
    take_back(&lent);

    /* A put uses zero-copy if its fragments are larger than by buffered copy,
     * a reply to a get only if they are at least twice as large. */
    lend_fragments(&lent, "1500");
    check(&lent, SIZE, (SIZE + 1499) / 1500, 0);
    take_back(&lent);
}
END_TEST

START_TEST(a_put_is_over_when_the_transport_lets_go)
{
    ucs_status_ptr_t request;
    lent_t lent;

    lend_fragments(&lent, "5000");
    hold    = 1;
    request = start(&lent, 0, SIZE);
    ck_assert(UCS_PTR_IS_PTR(request));
    settle(&lent);
    ck_assert_uint_eq(num_held, 5);
    ck_assert_int_eq(memcmp(lent.memory, data, SIZE), 0);
    ck_assert_int_eq(ucp_request_check_status(request), UCS_INPROGRESS);
    let_go(UCS_OK);
    ck_assert_int_eq(local_wait(&lent.local, request), UCS_OK);
    ck_assert_int_eq(lent_flush(&lent), UCS_OK);
    take_back(&lent);
}
END_TEST

START_TEST(a_put_that_fails_waits_for_what_is_under_way)
{
    ucs_status_ptr_t request;
    lent_t lent;

    lend_fragments(&lent, "5000");
    hold    = 1;
    fail_at = 3;
    request = start(&lent, 0, SIZE);
    ck_assert_uint_eq(num_held, 2);
    ck_assert_int_eq(ucp_request_check_status(request), UCS_INPROGRESS);
    let_go(UCS_OK);
    ck_assert_int_eq(local_wait(&lent.local, request), UCS_ERR_IO_ERROR);
    take_back(&lent);
}
END_TEST

START_TEST(a_put_that_is_held_outlives_the_endpoint)
{
    ucp_request_param_t force = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_EP_CLOSE_FLAG_FORCE,
    };
    ucs_status_ptr_t request;
    lent_t lent;

    lend_fragments(&lent, "5000");
    hold    = 1;
    request = start(&lent, 0, SIZE);
    ck_assert_ptr_null(ucp_ep_close_nbx(lent.local.ep, &force));
    settle(&lent);
    ck_assert_int_eq(ucp_request_check_status(request), UCS_INPROGRESS);
    let_go(UCS_ERR_CANCELED);
    ck_assert_int_eq(local_wait(&lent.local, request), UCS_ERR_CANCELED);
    ucp_rkey_destroy(lent.rkey);
    ck_assert_int_eq(ucp_mem_unmap(lent.local.context, lent.memh), UCS_OK);
    ucp_worker_destroy(lent.local.worker);
    ucp_cleanup(lent.local.context);
    free(lent.memory);
}
END_TEST

/* Unmapping does not wait for the transport. Memory that the transport
 * sends stays registered until the transport completes the sends. */
START_TEST(memory_stays_registered_while_an_answer_is_held)
{
    lent_t lent;

    lend_fragments(&lent, "5000");
    hold = 1;
    ck_assert_int_eq(lent_put(&lent, data, 100, 0), UCS_OK);
    ck_assert_int_eq(lent_get(&lent, back, SIZE, 0), UCS_OK);
    ck_assert_uint_eq(num_held, 5);
    ck_assert_uint_eq(lent.memh->refs, 2);
    ck_assert_int_eq(ucp_mem_unmap(lent.local.context, lent.memh), UCS_OK);
    ck_assert_uint_eq(lent.memh->refs, 1);
    ck_assert_int_eq(lent_get(&lent, back, SIZE, 0), UCS_ERR_INVALID_ADDR);
    ck_assert_uint_eq(num_held, 5);
    let_go(UCS_OK);

    ucp_rkey_destroy(lent.rkey);
    local_close(&lent.local);
    free(lent.memory);
}
END_TEST

START_TEST(memory_may_be_unmapped_inside_of_a_send_of_it)
{
    int holds;
    lent_t lent;

    for (holds = 0; holds < 2; ++holds) {
        lend_fragments(&lent, "5000");
        hold   = holds;
        unmaps = &lent;
        ck_assert_int_eq(lent_get(&lent, back, SIZE, 0), UCS_ERR_INVALID_ADDR);
        ck_assert_uint_eq(num_zcopy, 1);
        ck_assert_ptr_null(unmaps);
        let_go(UCS_OK);
        ucp_rkey_destroy(lent.rkey);
        local_close(&lent.local);
        free(lent.memory);
    }
}
END_TEST

SUITE_MAIN("ucp rma fragments",
           what_does_not_fit_a_copied_message_goes_in_larger_fragments,
           fragments_that_are_no_larger_are_copied,
           a_put_is_over_when_the_transport_lets_go,
           a_put_that_fails_waits_for_what_is_under_way,
           a_put_that_is_held_outlives_the_endpoint,
           memory_stays_registered_while_an_answer_is_held,
           memory_may_be_unmapped_inside_of_a_send_of_it)
