/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * <ucx/pending.h>: requests leave the pending queue in the order in which they
 * were added. A request whose callback fails stays first. Callbacks may add
 * requests.
 */
#include "common.h"

#include <ucx/pending.h>

typedef struct waiting {
    uct_pending_req_t req; /* must be the first member */
    int name;
    ucs_status_t status;  /* The callback returns this */
    struct waiting *adds; /* The callback adds this request; NULL: none */
} waiting_t;

static ucx_pending_queue_t queue;
static int calls[8];
static unsigned num_calls;

static void note(uct_pending_req_t *req)
{
    waiting_t *waiting = (waiting_t *)req;

    ck_assert_uint_lt(num_calls, 8);
    calls[num_calls++] = waiting->name;
    if (waiting->adds != NULL) {
        ucx_pending_push(&queue, &waiting->adds->req);
        waiting->adds = NULL;
    }
}

static ucs_status_t call(uct_pending_req_t *req)
{
    note(req);
    return ((waiting_t *)req)->status;
}

static void purged(uct_pending_req_t *req, void *arg)
{
    ck_assert_ptr_eq(arg, &queue);
    note(req);
}

static waiting_t named(int name)
{
    return (waiting_t){.req = {.func = call}, .name = name};
}

static void begin(void)
{
    ucx_pending_init(&queue);
    num_calls = 0;
}

static void check_calls(unsigned num, const int *expected)
{
    ck_assert_uint_eq(num_calls, num);
    for (unsigned i = 0; i < num; ++i) {
        ck_assert_int_eq(calls[i], expected[i]);
    }
    num_calls = 0;
}

START_TEST(a_request_that_fails_stays_first)
{
    waiting_t one = named(1), two = named(2), three = named(3);

    begin();
    ucx_pending_push(&queue, &one.req);
    ucx_pending_push(&queue, &two.req);
    two.status = UCS_ERR_NO_RESOURCE;
    ck_assert_uint_eq(ucx_pending_dispatch(&queue), 1);
    check_calls(2, (const int[]){1, 2});

    ucx_pending_push(&queue, &three.req);
    two.status = UCS_OK;
    ck_assert_uint_eq(ucx_pending_dispatch(&queue), 2);
    check_calls(2, (const int[]){2, 3});
    ck_assert(ucx_pending_is_empty(&queue));
}
END_TEST

/* The queue is empty while the callback of its only request runs. If the
 * callback adds a request and fails, its own request must stay in front of the
 * added one. */
START_TEST(a_request_that_adds_and_fails_stays_first)
{
    waiting_t one = named(1), two = named(2);

    begin();
    one.status = UCS_ERR_NO_RESOURCE;
    one.adds   = &two;
    ucx_pending_push(&queue, &one.req);
    ck_assert_uint_eq(ucx_pending_dispatch(&queue), 0);
    check_calls(1, (const int[]){1});
    one.status = UCS_OK;
    ck_assert_uint_eq(ucx_pending_dispatch(&queue), 2);
    check_calls(2, (const int[]){1, 2});
}
END_TEST

START_TEST(a_request_put_back_into_an_empty_queue_is_its_last)
{
    waiting_t one = named(1), two = named(2);

    begin();
    ucx_pending_push(&queue, &one.req);
    ck_assert_ptr_eq(ucx_pending_pop(&queue), &one.req);
    ucx_pending_push_front(&queue, &one.req);
    ucx_pending_push(&queue, &two.req);
    ck_assert_uint_eq(ucx_pending_dispatch(&queue), 2);
    check_calls(2, (const int[]){1, 2});
}
END_TEST

START_TEST(purge_passes_all_in_order_and_keeps_what_is_added)
{
    waiting_t one = named(1), two = named(2), three = named(3);

    begin();
    one.adds = &three;
    ucx_pending_push(&queue, &one.req);
    ucx_pending_push(&queue, &two.req);
    ucx_pending_purge(&queue, purged, &queue);
    check_calls(2, (const int[]){1, 2});
    ck_assert_ptr_eq(ucx_pending_pop(&queue), &three.req);
    ck_assert(ucx_pending_is_empty(&queue));

    ucx_pending_push(&queue, &one.req);
    ucx_pending_purge(&queue, NULL, NULL);
    ck_assert(ucx_pending_is_empty(&queue));
    check_calls(0, NULL);
}
END_TEST

START_TEST(purge_of_an_endpoint_keeps_the_requests_of_others)
{
    waiting_t one = named(1), two = named(2), three = named(3);
    uct_ep_t first, second;

    begin();
    ucx_pending_push_of(&queue, &first, &one.req);
    ucx_pending_push_of(&queue, &second, &two.req);
    ucx_pending_push_of(&queue, &first, &three.req);
    ucx_pending_purge_of(&queue, &first, purged, &queue);
    check_calls(2, (const int[]){1, 3});
    ck_assert_uint_eq(ucx_pending_dispatch(&queue), 1);
    check_calls(1, (const int[]){2});

    ucx_pending_push_of(&queue, &second, &two.req);
    ucx_pending_purge_of(&queue, &second, NULL, NULL);
    ck_assert(ucx_pending_is_empty(&queue));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pending");
    TCase *tcase = tcase_create("pending");

    tcase_add_test(tcase, a_request_that_fails_stays_first);
    tcase_add_test(tcase, a_request_that_adds_and_fails_stays_first);
    tcase_add_test(tcase, a_request_put_back_into_an_empty_queue_is_its_last);
    tcase_add_test(tcase, purge_passes_all_in_order_and_keeps_what_is_added);
    tcase_add_test(tcase, purge_of_an_endpoint_keeps_the_requests_of_others);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
