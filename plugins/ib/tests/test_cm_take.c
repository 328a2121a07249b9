/* SPDX-License-Identifier: BSD-3-Clause */
/* cm_take: a request of a client that has two possible owners. The listener is
 * destroyed while another thread accepts or rejects the request. The other
 * thread is replaced by a hook that runs whenever the manager's lock is
 * released. No function of librdmacm or libibverbs needs a device here. */
#include <pthread.h>

static int unlock_with_hook(pthread_mutex_t *lock);

#define pthread_mutex_unlock unlock_with_hook
#include "../src/cm_link.c"
#include "../src/cm_listener.c"
#include "../src/cm_message.c"
#undef pthread_mutex_unlock

#include "suite.h"

static ib_cm_t cm;
static ib_cm_listener_t *listener;
static ib_cm_link_t *request; /* NULL: the other thread has freed it */
static unsigned num_sends, num_wakes;

/* --- The rest of the plugin ----------------------------------------------- */

void ib_cm_wake(ib_cm_t *manager)
{
    ++num_wakes;
}

void ib_cm_timer_set(ib_cm_t *manager, double when)
{
}

int ib_cm_may_log(ib_cm_t *manager)
{
    return 0;
}

ucs_status_t ib_cm_watch(ib_cm_t *manager, int op, int fd, void *ptr)
{
    return UCS_OK;
}

ucs_status_t ib_cm_status(int error)
{
    return UCS_ERR_IO_ERROR;
}

void ib_cm_ep_message(ib_cm_ep_t *ep, enum ib_cm_kind kind)
{
}

void ib_cm_ep_lost(ib_cm_ep_t *ep, ucs_status_t status)
{
}

void ib_cm_flush_check(ib_cm_ep_t *ep)
{
}

/* --- The other thread ----------------------------------------------------- */

/* Takes the request if nobody has taken it, and frees it. The memory is
 * overwritten, so that a later use of it fails. */
static int unlock_with_hook(pthread_mutex_t *lock)
{
    static int is_running;
    int result = pthread_mutex_unlock(lock);

    if (!is_running && (request != NULL)) {
        is_running = 1;
        if (ib_cm_link_take(request)) {
            memset(request, 0xff, sizeof(*request));
            free(request);
            request = NULL;
        }
        is_running = 0;
    }
    return result;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
                     struct ibv_send_wr **bad)
{
    ++num_sends;
    return 0;
}

/* --- Tests ---------------------------------------------------------------- */

static struct ibv_context verbs = {.ops = {.post_send = post_send}};
static struct ibv_qp qp         = {.context = &verbs};
static struct rdma_cm_id id     = {.verbs = &verbs, .qp = &qp};
static struct ibv_mr mr;

static void setup(void)
{
    memset(&cm, 0, sizeof(cm));
    ib_link_init(&cm.listeners);
    ib_link_init(&cm.links);
    ib_link_init(&cm.unknown);
    ib_link_init(&cm.requested);
    ib_link_init(&cm.rejected);
    ib_link_init(&cm.dead);
    ck_assert_int_eq(pthread_mutex_init(&cm.lock, NULL), 0);
    num_sends = num_wakes = 0;

    listener           = calloc(1, sizeof(*listener));
    listener->super.cm = &cm.super;
    ib_link_init(&listener->node);
    ib_link_queue(&cm.listeners, &listener->node);
}

/* Makes a link that has received its request. */
static ib_cm_link_t *make_request(void)
{
    ib_cm_link_t *link = ib_cm_link_create(&cm);

    link->id       = &id;
    link->mr       = &mr;
    link->memory   = calloc(2 * (IB_CM_SMALL + 1), sizeof(ib_cm_msg_t));
    link->large    = sizeof(ib_cm_msg_t);
    link->listener = listener;
    link->state    = IB_CM_ST_REQUESTED;
    ib_link_queue(&cm.requested, &link->node);
    return link;
}

START_TEST(destroyed_listener_rejects_its_requests)
{
    ib_cm_link_t *links[2];

    setup();
    for (int i = 0; i < 2; ++i) {
        links[i] = make_request();
    }
    ib_cm_listener_destroy(&listener->super);
    ck_assert(ib_link_is_alone(&cm.listeners));
    ck_assert(ib_link_is_alone(&cm.requested));
    ck_assert_uint_eq(num_sends, 2);
    ck_assert_uint_eq(num_wakes, 2);
    for (int i = 0; i < 2; ++i) {
        ck_assert_int_eq(links[i]->taken, 1);
        ck_assert_ptr_null(links[i]->listener);
        free(links[i]->memory);
        free(links[i]);
    }
}
END_TEST

/* If the listener has found the request, nobody else can take it. */
START_TEST(request_has_one_owner_when_its_listener_is_destroyed)
{
    char *memory;

    setup();
    request = make_request();
    memory  = request->memory;
    ib_cm_listener_destroy(&listener->super);
    ck_assert_ptr_nonnull(request);
    ck_assert_uint_eq(num_sends, 1);
    free(memory);
    free(request);
    request = NULL;
}
END_TEST

START_TEST(second_attempt_to_take_a_request_changes_nothing)
{
    ib_cm_link_t *link;

    setup();
    link = make_request();
    ck_assert_int_eq(ib_cm_link_take(link), 1);
    ck_assert_int_eq(ib_cm_link_take(link), 0);
    ck_assert_int_eq(link->taken, 1);
    free(link->memory);
    free(link);
    free(listener);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        destroyed_listener_rejects_its_requests,
        request_has_one_owner_when_its_listener_is_destroyed,
        second_attempt_to_take_a_request_changes_nothing,
    };

    return suite_run("cm_take", tests, sizeof(tests) / sizeof(tests[0]), 30);
}
