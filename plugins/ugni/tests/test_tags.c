/* SPDX-License-Identifier: BSD-3-Clause */
/* Tag matching of ugni_smsg by the provider, with both sides in one process. */
#include "../src/wire.h"
#include "node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of large data; number of messages of a test */
enum { LARGE = 300000, MANY = 500 };

/* A posted receive, with the numbers of calls of its callbacks
 * (tag_consumed_cb, completed_cb, rndv_cb) and the arguments of the last
 * call */
typedef struct posted {
    uct_tag_context_t ctx;
    char data[2048];
    unsigned consumed, completed;
    uct_tag_t stag;
    uint64_t imm;
    size_t length;
    ucs_status_t status;
    unsigned requests;
} posted_t;

/* Unexpected messages: the numbers of calls of the callbacks for eager and
 * rendezvous messages, and the arguments of the last call */
typedef struct surprise {
    unsigned count, rndvs;
    uct_tag_t stag;
    uint64_t imm, address;
    size_t length;
    char data[2048];
    ugni_wire_head_t head; /* Of the last eager message */
} surprise_t;

static domain_t domain;
static node_t a, b;
static uct_ep_h ep; /* From a to b */
static surprise_t surprise;
static char source[LARGE], target[LARGE];
static unsigned ended; /* Number of calls of rendezvous completions at `a` */

static ucs_status_t on_eager(void *arg, void *data, size_t length,
                             unsigned flags, uct_tag_t stag, uint64_t imm,
                             void **context)
{
    surprise_t *to = arg;

    ck_assert_uint_eq(flags, UCT_CB_PARAM_FLAG_FIRST);
    ck_assert_uint_le(length, sizeof(to->data));
    memcpy(to->data, data, length);
    /* The head and the immediate data precede the content of the message. */
    memcpy(&to->head, (char *)data - sizeof(imm) - sizeof(to->head),
           sizeof(to->head));
    to->length = length;
    to->stag   = stag;
    to->imm    = imm;
    ++to->count;
    return UCS_OK;
}

static ucs_status_t on_rndv(void *arg, unsigned flags, uint64_t stag,
                            const void *header, unsigned header_length,
                            uint64_t remote_addr, size_t length,
                            const void *rkey_buf)
{
    surprise_t *to = arg;

    memcpy(to->data, header, header_length);
    to->data[header_length] = '\0';
    to->stag                = stag;
    to->address             = remote_addr;
    to->length              = length;
    ++to->rndvs;
    return UCS_OK;
}

static void on_consumed(uct_tag_context_t *self)
{
    ++((posted_t *)self)->consumed;
}

static void on_completed(uct_tag_context_t *self, uct_tag_t stag, uint64_t imm,
                         size_t length, void *inline_data, ucs_status_t status)
{
    posted_t *posted = (posted_t *)self;

    if (inline_data != NULL) {
        memcpy(posted->data, inline_data, length);
    }
    posted->stag   = stag;
    posted->imm    = imm;
    posted->length = length;
    posted->status = status;
    ++posted->completed;
}

static void on_request(uct_tag_context_t *self, uct_tag_t stag,
                       const void *header, unsigned header_length,
                       ucs_status_t status, unsigned flags)
{
    posted_t *posted = (posted_t *)self;

    memcpy(posted->data, header, header_length);
    posted->status = status;
    ++posted->requests;
}

static void on_sent(uct_completion_t *comp)
{
    ++ended;
}

static size_t pack_text(void *to, void *text)
{
    memcpy(to, text, strlen(text));
    return strlen(text);
}

static void open_all(void)
{
    const uct_iface_params_t callbacks = {
        .field_mask = UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_CB |
                      UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_ARG |
                      UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_CB |
                      UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_ARG,
        .eager_cb  = on_eager,
        .eager_arg = &surprise,
        .rndv_cb   = on_rndv,
        .rndv_arg  = &surprise,
    };

    setenv("UCX_UGNI_TM_ENABLE", "y", 1);
    domain_open(&domain);
    node_open_with(&a, &domain, &callbacks);
    node_open_with(&b, &domain, &callbacks);
    ASSERT_OK(node_connect(&a, NODE_SMSG, &b, &ep));
}

static void close_all(void)
{
    uct_ep_destroy(ep);
    node_close(&b);
    node_close(&a);
    uct_md_close(domain.md);
}

static void post(posted_t *posted, uct_tag_t tag, uct_tag_t mask, void *buffer,
                 size_t length)
{
    const uct_iov_t iov = {.buffer = buffer, .length = length, .count = 1};

    memset(posted, 0, sizeof(*posted));
    posted->ctx.tag_consumed_cb = on_consumed;
    posted->ctx.completed_cb    = on_completed;
    posted->ctx.rndv_cb         = on_request;
    ASSERT_OK(uct_iface_tag_recv_zcopy(b.ifaces[NODE_SMSG], tag, mask, &iov, 1,
                                       &posted->ctx));
}

static void send_text(uct_tag_t tag, uint64_t imm, const char *text)
{
    ssize_t length;

    while ((length = uct_ep_tag_eager_bcopy(ep, tag, imm, pack_text,
                                            (void *)text, 0)) ==
           UCS_ERR_NO_RESOURCE) {
        uct_worker_progress(a.worker);
        uct_worker_progress(b.worker);
    }
    ck_assert_int_eq(length, (ssize_t)strlen(text));
}

START_TEST(message_goes_to_the_receive_with_its_tag)
{
    posted_t one, two, any;

    open_all();
    post(&one, 1, UINT64_MAX, target, 100);
    post(&two, 2, UINT64_MAX, target, 100);
    post(&any, 0x300, 0xf00, target, 100);
    send_text(2, 77, "two");
    send_text(0x3ff, 78, "any");
    ASSERT_OK(uct_ep_tag_eager_short(ep, 1, "one", 3));
    NODE_WAIT(&a, &b, one.completed && two.completed && any.completed);
    ck_assert_mem_eq(one.data, "one", 3);
    ck_assert_mem_eq(two.data, "two", 3);
    ck_assert_mem_eq(any.data, "any", 3);
    ck_assert_uint_eq(one.imm, 0);
    ck_assert_uint_eq(two.imm, 77);
    ck_assert_uint_eq(any.stag, 0x3ff);
    ck_assert_uint_eq(two.consumed, 1);
    ck_assert_int_eq(two.status, UCS_OK);
    ck_assert_uint_eq(surprise.count, 0);
    close_all();
}
END_TEST

START_TEST(unexpected_message_is_reported)
{
    open_all();
    send_text(5, 6, "nobody waits");
    NODE_WAIT(&a, &b, surprise.count == 1);
    ck_assert_uint_eq(surprise.stag, 5);
    ck_assert_uint_eq(surprise.imm, 6);
    ck_assert_uint_eq(surprise.length, strlen("nobody waits"));
    ck_assert_mem_eq(surprise.data, "nobody waits", surprise.length);
    close_all();
}
END_TEST

START_TEST(unexpected_message_wakes_the_user)
{
    open_all();
    for (unsigned i = 1; i <= 10; ++i) {
        send_text(i, 0, "the message before");
        NODE_WAIT(&a, &b, surprise.count == 2 * i - 1);
        node_arm(&b);
        send_text(i, 0, "wake up");
        node_sleep(&b, &a);
        NODE_WAIT(&a, &b, surprise.count == 2 * i);
    }
    close_all();
}
END_TEST

static size_t pack_ones(void *to, void *arg)
{
    memset(to, 0xff, 1000);
    return 1000;
}

/* A tagged message uses the buffer of an earlier message, whose head must not
 * be sent again. */
START_TEST(unused_members_of_the_head_are_zero)
{
    open_all();
    for (unsigned i = 1; i <= 10; ++i) {
        ck_assert_int_eq(uct_ep_am_bcopy(ep, NODE_AM_ID, pack_ones, NULL, 0),
                         1000);
        NODE_WAIT(&a, &b, b.received == i);
    }
    ASSERT_OK(node_flush(&a, ep, &b));
    send_text(5, 6, "tagged");
    NODE_WAIT(&a, &b, surprise.count == 1);
    ck_assert_uint_eq(surprise.head.number, 0);
    ck_assert_uint_eq(surprise.head.epoch, 0);
    close_all();
}
END_TEST

START_TEST(long_message_leaves_the_buffer_unchanged)
{
    posted_t posted;

    open_all();
    memset(target, 'x', 16);
    post(&posted, 1, UINT64_MAX, target, 4);
    send_text(1, 0, "longer than four");
    NODE_WAIT(&a, &b, posted.completed == 1);
    ck_assert_int_eq(posted.status, UCS_ERR_MESSAGE_TRUNCATED);
    ck_assert_mem_eq(target, "xxxxxxxxxxxxxxxx", 16);
    close_all();
}
END_TEST

START_TEST(cancelled_receive_gets_no_message)
{
    posted_t soft, forced;

    open_all();
    post(&soft, 1, UINT64_MAX, target, 100);
    post(&forced, 1, UINT64_MAX, target, 100);
    ASSERT_OK(uct_iface_tag_recv_cancel(b.ifaces[NODE_SMSG], &forced.ctx, 1));
    ASSERT_OK(uct_iface_tag_recv_cancel(b.ifaces[NODE_SMSG], &soft.ctx, 0));
    NODE_WAIT(&a, &b, soft.completed == 1);
    ck_assert_int_eq(soft.status, UCS_ERR_CANCELED);
    ck_assert_uint_eq(soft.consumed, 0);
    send_text(1, 0, "late");
    NODE_WAIT(&a, &b, surprise.count == 1);
    ck_assert_uint_eq(forced.completed, 0);
    ck_assert_uint_eq(soft.completed, 1);
    close_all();
}
END_TEST

START_TEST(limit_of_posted_receives_is_reported)
{
    const uct_iov_t iov = {.buffer = target, .length = 8, .count = 1};
    static posted_t posted[MANY];
    uct_iface_attr_t attr;
    posted_t more = {0};

    setenv("UCX_UGNI_RX_QUEUE_LEN", "8", 1);
    open_all();
    ASSERT_OK(uct_iface_query(b.ifaces[NODE_SMSG], &attr));
    ck_assert_uint_eq(attr.cap.tag.recv.max_outstanding, 8);
    for (unsigned i = 0; i < 8; ++i) {
        post(&posted[i], i, UINT64_MAX, target, 8);
    }
    ck_assert_int_eq(uct_iface_tag_recv_zcopy(b.ifaces[NODE_SMSG], 9, 9, &iov,
                                              1, &more.ctx),
                     UCS_ERR_EXCEEDS_LIMIT);
    send_text(3, 0, "three");
    NODE_WAIT(&a, &b, posted[3].completed == 1);
    post(&posted[3], 3, UINT64_MAX, target, 8);
    close_all();
}
END_TEST

/* Of each three messages, the first is unexpected, and the others find a posted
 * receive. */
START_TEST(no_message_is_lost_or_reordered)
{
    static posted_t posted[MANY];
    char text[16];
    unsigned done = 0;

    open_all();
    for (unsigned i = 0; i < MANY; ++i) {
        if (i % 3 != 0) {
            post(&posted[i], i, UINT64_MAX, target, 100);
        }
        snprintf(text, sizeof(text), "message %u", i);
        send_text(i, i, text);
        if (i % 7 == 0) {
            NODE_WAIT(&a, &b, surprise.count == i / 3 + 1 || i % 3 != 0);
        }
        done += i % 3 != 0;
        NODE_WAIT(&a, &b, (i % 3 == 0) || posted[i].completed == 1);
    }
    NODE_WAIT(&a, &b, surprise.count == MANY - done);
    for (unsigned i = 0; i < MANY; ++i) {
        ck_assert_uint_eq(posted[i].completed, i % 3 != 0);
        ck_assert_uint_eq(posted[i].imm, (i % 3 != 0) ? i : 0);
    }
    close_all();
}
END_TEST

/* --- Rendezvous ----------------------------------------------------------- */

/* Starts a rendezvous with the data in `source`. Returns its handle. */
static void *announce(uct_mem_h memh, uct_completion_t *comp)
{
    const uct_iov_t iov = {
        .buffer = source,
        .length = LARGE,
        .memh   = memh,
        .count  = 1,
    };
    void *op;

    *comp = (uct_completion_t){.func = on_sent, .count = 1, .status = UCS_OK};
    op    = uct_ep_tag_rndv_zcopy(ep, 9, "hello", 5, &iov, 1, 0, comp);
    ck_assert(!UCS_PTR_IS_ERR(op));
    return op;
}

START_TEST(large_data_is_read_by_the_receiver)
{
    uct_completion_t comp;
    uct_rkey_bundle_t rkey;
    posted_t posted;
    uct_mem_h memh;

    open_all();
    memh = node_register(&domain, source, LARGE, &rkey);
    for (unsigned i = 0; i < LARGE; ++i) {
        source[i] = (char)(i * 7);
    }
    post(&posted, 9, UINT64_MAX, target, LARGE);
    (void)announce(memh, &comp);
    NODE_WAIT(&a, &b, posted.completed && ended);
    ck_assert_int_eq(posted.status, UCS_OK);
    ck_assert_uint_eq(posted.length, LARGE);
    ck_assert_uint_eq(posted.consumed, 1);
    ck_assert(memcmp(source, target, LARGE) == 0);
    ck_assert_int_eq(comp.status, UCS_OK);

    post(&posted, 9, UINT64_MAX, target, 1000);
    (void)announce(memh, &comp);
    NODE_WAIT(&a, &b, posted.completed && (ended == 2));
    ck_assert_int_eq(posted.status, UCS_ERR_MESSAGE_TRUNCATED);
    ck_assert_int_eq(comp.status, UCS_OK);
    uct_rkey_release(domain.component, &rkey);
    ASSERT_OK(uct_md_mem_dereg(domain.md, memh));
    close_all();
}
END_TEST

/* The sender deregisters the data before the receiver reads them. */
START_TEST(failed_read_fails_the_rendezvous_of_both_sides)
{
    uct_completion_t comp;
    uct_rkey_bundle_t rkey;
    posted_t posted;
    uct_mem_h memh;

    setenv("UCX_UGNI_RCACHE", "n", 1);
    open_all();
    memh = node_register(&domain, source, LARGE, &rkey);
    post(&posted, 9, UINT64_MAX, target, LARGE);
    (void)announce(memh, &comp);
    uct_rkey_release(domain.component, &rkey);
    ASSERT_OK(uct_md_mem_dereg(domain.md, memh));
    NODE_WAIT(&a, &b, posted.completed && ended);
    ck_assert_int_ne(posted.status, UCS_OK);
    ck_assert_int_eq(comp.status, UCS_ERR_IO_ERROR);
    ck_assert_uint_eq(posted.completed, 1);
    ck_assert_uint_eq(ended, 1);
    close_all();
}
END_TEST

START_TEST(interface_is_closed_during_a_rendezvous)
{
    uct_completion_t comp;
    uct_rkey_bundle_t rkey;
    posted_t posted;
    uct_mem_h memh;

    setenv("UCX_UGNI_LINGER_TIMEOUT", "0", 1);
    open_all();
    memh = node_register(&domain, source, LARGE, &rkey);
    post(&posted, 9, UINT64_MAX, target, LARGE);
    (void)announce(memh, &comp);
    NODE_WAIT(&a, &b, posted.consumed == 1);
    ck_assert_uint_eq(posted.completed, 0);
    node_close(&b);
    ck_assert_uint_eq(posted.completed, 0);
    node_open(&b, &domain);
    uct_rkey_release(domain.component, &rkey);
    ASSERT_OK(uct_md_mem_dereg(domain.md, memh));
    close_all();
}
END_TEST

START_TEST(unexpected_announcement_is_reported_and_cancelled)
{
    uct_completion_t comp;
    uct_rkey_bundle_t rkey;
    uct_mem_h memh;
    posted_t posted;
    void *op;

    open_all();
    memh = node_register(&domain, source, LARGE, &rkey);
    op   = announce(memh, &comp);
    NODE_WAIT(&a, &b, surprise.rndvs == 1);
    ck_assert_str_eq(surprise.data, "hello");
    ck_assert_uint_eq(surprise.length, LARGE);
    ck_assert_uint_eq(surprise.address, (uintptr_t)source);
    ASSERT_OK(uct_ep_tag_rndv_cancel(ep, op));
    ASSERT_OK(uct_ep_tag_rndv_request(ep, 3, "request", 7, 0));
    NODE_WAIT(&a, &b, surprise.rndvs == 2);
    ck_assert_str_eq(surprise.data, "request");
    post(&posted, 3, UINT64_MAX, target, 100);
    ASSERT_OK(uct_ep_tag_rndv_request(ep, 3, "again", 5, 0));
    NODE_WAIT(&a, &b, posted.requests == 1);
    ck_assert_mem_eq(posted.data, "again", 5);
    ck_assert_uint_eq(ended, 0);
    uct_rkey_release(domain.component, &rkey);
    ASSERT_OK(uct_md_mem_dereg(domain.md, memh));
    close_all();
}
END_TEST

START_TEST(lost_peer_ends_the_rendezvous)
{
    uct_completion_t comp;
    uct_rkey_bundle_t rkey;
    uct_mem_h memh;
    uct_ep_h reply;

    open_all();
    memh = node_register(&domain, source, LARGE, &rkey);
    (void)announce(memh, &comp);
    NODE_WAIT(&a, &b, surprise.rndvs == 1);
    ASSERT_OK(node_connect(&b, NODE_SMSG, &a, &reply));
    node_say(&b, reply, &a, 1);
    uct_ep_destroy(reply);
    node_close(&b);
    NODE_WAIT(&a, &a, a.failures == 1);
    ck_assert_uint_eq(ended, 1);
    ck_assert_int_eq(comp.status, UCS_ERR_CONNECTION_RESET);
    node_open(&b, &domain);
    uct_rkey_release(domain.component, &rkey);
    ASSERT_OK(uct_md_mem_dereg(domain.md, memh));
    close_all();
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("tags");

    tcase_add_test(tcase, message_goes_to_the_receive_with_its_tag);
    tcase_add_test(tcase, unexpected_message_is_reported);
    tcase_add_test(tcase, unexpected_message_wakes_the_user);
    tcase_add_test(tcase, unused_members_of_the_head_are_zero);
    tcase_add_test(tcase, long_message_leaves_the_buffer_unchanged);
    tcase_add_test(tcase, cancelled_receive_gets_no_message);
    tcase_add_test(tcase, limit_of_posted_receives_is_reported);
    tcase_add_test(tcase, no_message_is_lost_or_reordered);
    tcase_add_test(tcase, large_data_is_read_by_the_receiver);
    tcase_add_test(tcase, failed_read_fails_the_rendezvous_of_both_sides);
    tcase_add_test(tcase, interface_is_closed_during_a_rendezvous);
    tcase_add_test(tcase, unexpected_announcement_is_reported_and_cancelled);
    /* The provider sockets may drop the last message of an endpoint that is
     * closed at once. */
    if (strcmp(getenv("UCX_UGNI_PROVIDER"), "sockets") != 0) {
        tcase_add_test(tcase, lost_peer_ends_the_rendezvous);
    }
    return node_run(tcase);
}
