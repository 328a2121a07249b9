/* SPDX-License-Identifier: BSD-3-Clause */
/* The transport `self`: active messages of every kind arrive complete and in
 * order, during progress. Also descriptors that the handler keeps, alignment,
 * and tracing. */
#include "common.h"

#include <string.h>

#include <ucx/transport.h>

#include "ucs/debug/log.h"

#define AM_ID  3
#define HEADER 0x1122334455667788ul

/* The messages that the handler has received: number N is in slot N % 16 */
typedef struct inbox {
    char data[16][8192];
    size_t length[16];
    unsigned count;
    unsigned flags;
    int keep; /* Nonzero: the handler keeps the descriptors */
    void *kept[16];
    size_t headroom;
    unsigned depth; /* Number of nested handler calls */
    unsigned max_depth;
    unsigned echo; /* Number of messages that the handler still sends */
    ucs_status_t echo_status;
    loopback_t *lo;
} inbox_t;

static loopback_t lo;
static inbox_t inbox;

static ucs_status_t on_message(void *arg, void *data, size_t length,
                               unsigned flags)
{
    inbox_t *in   = arg;
    unsigned slot = in->count % 16;

    if (++in->depth > in->max_depth) {
        in->max_depth = in->depth;
    }
    ck_assert_uint_le(length, sizeof(in->data[slot]));
    memcpy(in->data[slot], data, length);
    in->length[slot] = length;
    in->flags        = flags;
    ++in->count;

    if (in->echo > 0) {
        --in->echo;
        in->echo_status = uct_ep_am_short(in->lo->ep, AM_ID, in->echo, NULL, 0);
    }
    --in->depth;

    if (in->keep) {
        ck_assert(flags & UCT_CB_PARAM_FLAG_DESC);
        in->kept[slot] = data;
        return UCS_INPROGRESS;
    }
    return UCS_OK;
}

static void open_with(const loopback_params_t *params)
{
    loopback_open(&lo, params);
    memset(&inbox, 0, sizeof(inbox));
    inbox.lo = &lo;
    ck_ok(uct_iface_set_am_handler(lo.iface, AM_ID, on_message, &inbox, 0));
}

static void setup(void)
{
    open_with(NULL);
}

static void teardown(void)
{
    loopback_close(&lo);
}

static void fill(char *buffer, size_t length, unsigned seed)
{
    size_t i;

    for (i = 0; i < length; ++i) {
        buffer[i] = (char)(seed + (i * 7));
    }
}

static size_t pack_bytes(void *dest, void *arg)
{
    size_t length = *(size_t *)arg;

    fill(dest, length, 5);
    return length;
}

START_TEST(short_arrives_with_header)
{
    const uint64_t header = HEADER;
    char expected[64];

    memcpy(expected, &header, sizeof(header));
    memcpy(expected + sizeof(header), "payload", 7);

    ck_ok(uct_ep_am_short(lo.ep, AM_ID, header, "payload", 7));
    /* the message must not arrive during the send */
    ck_assert_uint_eq(inbox.count, 0);
    ck_assert_uint_eq(loopback_progress(&lo), 1);
    ck_assert_uint_eq(inbox.count, 1);
    ck_assert_uint_eq(inbox.length[0], 15);
    ck_assert_mem_eq(inbox.data[0], expected, 15);
}
END_TEST

START_TEST(short_without_payload_arrives)
{
    ck_ok(uct_ep_am_short(lo.ep, AM_ID, HEADER, NULL, 0));
    loopback_progress(&lo);
    ck_assert_uint_eq(inbox.length[0], 8);
}
END_TEST

START_TEST(short_iov_ignores_stride_and_count)
{
    uct_iov_t iov[3] = {
        {.buffer = "abc", .length = 3, .stride = 77, .count = 9},
        {.buffer = NULL, .length = 0},
        {.buffer = "defgh", .length = 5, .count = 1},
    };

    ck_ok(uct_ep_am_short_iov(lo.ep, AM_ID, iov, 3));
    ck_ok(uct_ep_am_short_iov(lo.ep, AM_ID, NULL, 0));
    loopback_progress(&lo);
    ck_assert_uint_eq(inbox.count, 2);
    ck_assert_uint_eq(inbox.length[0], 8);
    ck_assert_mem_eq(inbox.data[0], "abcdefgh", 8);
    ck_assert_uint_eq(inbox.length[1], 0);
}
END_TEST

START_TEST(bcopy_of_every_size_class_arrives)
{
    const size_t sizes[] = {0, 1, 255, 256, 257, 4096, 8192};
    char expected[8192];
    unsigned i;

    fill(expected, sizeof(expected), 5);
    for (i = 0; i < 7; ++i) {
        size_t length = sizes[i];

        ck_assert_int_eq(uct_ep_am_bcopy(lo.ep, AM_ID, pack_bytes, &length, 0),
                         (ssize_t)length);
    }
    loopback_progress(&lo);
    ck_assert_uint_eq(inbox.count, 7);
    for (i = 0; i < 7; ++i) {
        ck_assert_uint_eq(inbox.length[i], sizes[i]);
        ck_assert_mem_eq(inbox.data[i], expected, sizes[i]);
    }
}
END_TEST

START_TEST(zcopy_gathers_strided_entries)
{
    char source[]    = "AAxxBBxxCC";
    uct_iov_t iov[2] = {
        {.buffer = source, .length = 2, .stride = 4, .count = 3},
        {.buffer = "tail", .length = 4, .count = 1},
    };
    uct_completion_t comp = {.count = 1};

    ck_ok(uct_ep_am_zcopy(lo.ep, AM_ID, "head", 4, iov, 2, 0, &comp));
    /* the send has returned UCS_OK: the program may change the buffer */
    memset(source, '?', sizeof(source));
    loopback_progress(&lo);
    ck_assert_int_eq(comp.count, 1);
    ck_assert_uint_eq(inbox.length[0], 14);
    ck_assert_mem_eq(inbox.data[0], "headAABBCCtail", 14);
}
END_TEST

START_TEST(messages_of_all_kinds_keep_their_order)
{
    size_t length = 300;
    uct_iov_t iov = {.buffer = "z", .length = 1, .count = 1};

    ck_ok(uct_ep_am_short(lo.ep, AM_ID, 1, NULL, 0));
    ck_assert_int_eq(uct_ep_am_bcopy(lo.ep, AM_ID, pack_bytes, &length, 0),
                     300);
    ck_ok(uct_ep_am_zcopy(lo.ep, AM_ID, NULL, 0, &iov, 1, 0, NULL));
    loopback_progress(&lo);
    ck_assert_uint_eq(inbox.length[0], 8);
    ck_assert_uint_eq(inbox.length[1], 300);
    ck_assert_uint_eq(inbox.length[2], 1);
}
END_TEST

START_TEST(handlers_that_send_do_not_nest)
{
    inbox.echo = 100;
    ck_ok(uct_ep_am_short(lo.ep, AM_ID, 0, NULL, 0));
    loopback_progress(&lo);
    ck_assert_uint_eq(inbox.count, 101);
    ck_assert_uint_eq(inbox.max_depth, 1);
    ck_ok(inbox.echo_status);
}
END_TEST

START_TEST(one_progress_is_bounded)
{
    unsigned i;

    for (i = 0; i < 200; ++i) {
        ck_ok(uct_ep_am_short(lo.ep, AM_ID, i, NULL, 0));
    }
    ck_assert_uint_lt(uct_worker_progress(lo.worker), 200);
    loopback_progress(&lo);
    ck_assert_uint_eq(inbox.count, 200);
}
END_TEST

START_TEST(kept_descriptor_outlives_the_callback)
{
    char *data;
    unsigned i;

    inbox.keep = 1;
    for (i = 0; i < 4; ++i) {
        ck_ok(uct_ep_am_short(lo.ep, AM_ID, i, "0123456789", 10));
    }
    loopback_progress(&lo);
    inbox.keep = 0;
    for (i = 0; i < 4; ++i) {
        data = inbox.kept[i];
        ck_assert_uint_eq(*(uint64_t *)data, i);
        ck_assert_mem_eq(data + 8, "0123456789", 10);
        /* without headroom the descriptor begins at the data */
        uct_iface_release_desc(data);
    }
}
END_TEST

START_TEST(headroom_belongs_to_the_receiver)
{
    const loopback_params_t params = {.rx_headroom = 48};
    char *data;

    teardown();
    open_with(&params);
    inbox.keep = 1;
    ck_ok(uct_ep_am_short(lo.ep, AM_ID, HEADER, "abc", 3));
    loopback_progress(&lo);
    data = inbox.kept[0];
    memset(data - 48, 0xee, 48);
    ck_assert_mem_eq(data + 8, "abc", 3);
    uct_iface_release_desc(data - 48);
}
END_TEST

static int advertises_alignment(void)
{
    ucx_iface_attr_t attr = {.size = sizeof(attr)};

    ck_ok(lo.iface->ops->query(lo.iface, &attr));
    return (attr.flags & UCX_IFACE_FLAG_ALIGNS_AM) != 0;
}

START_TEST(data_is_aligned_as_asked)
{
    const loopback_params_t odd    = {.rx_headroom = 63, .am_alignment = 1024};
    const loopback_params_t params = {
        .rx_headroom     = 64,
        .am_alignment    = 1024,
        .am_align_offset = 8,
    };
    size_t length = 1000;

    teardown();
    open_with(&params);
    inbox.keep = 1;
    ck_ok(uct_ep_am_short(lo.ep, AM_ID, HEADER, "abc", 3));
    ck_assert_int_eq(uct_ep_am_bcopy(lo.ep, AM_ID, pack_bytes, &length, 0),
                     1000);
    loopback_progress(&lo);
    ck_assert_uint_eq(((uintptr_t)inbox.kept[0] + 8) % 1024, 0);
    ck_assert_uint_eq(((uintptr_t)inbox.kept[1] + 8) % 1024, 0);
    uct_iface_release_desc((char *)inbox.kept[0] - 64);
    uct_iface_release_desc((char *)inbox.kept[1] - 64);
    ck_assert(advertises_alignment());

    /* With this headroom the word in front of it, a pointer of the transport,
     * would not be aligned: the transport does not align messages. */
    teardown();
    open_with(&odd);
    ck_assert(!advertises_alignment());
}
END_TEST

START_TEST(message_without_handler_is_dropped)
{
    ck_ok(uct_ep_am_short(lo.ep, AM_ID + 1, HEADER, NULL, 0));
    ck_ok(uct_iface_set_am_handler(lo.iface, AM_ID, NULL, NULL, 0));
    ck_ok(uct_ep_am_short(lo.ep, AM_ID, HEADER, NULL, 0));
    ck_assert_uint_eq(loopback_progress(&lo), 2);
    ck_assert_uint_eq(inbox.count, 0);
}
END_TEST

START_TEST(bad_ids_and_lengths_are_refused)
{
    static char large[8193];
    uct_iov_t iov  = {.buffer = large, .length = sizeof(large), .count = 1};
    uct_iov_t huge = {.buffer = large, .length = SIZE_MAX / 2, .count = 3};
    size_t length  = 1;

    ck_status(uct_ep_am_short(lo.ep, UCT_AM_ID_MAX, 0, NULL, 0),
              UCS_ERR_INVALID_PARAM);
    ck_status(uct_ep_am_bcopy(lo.ep, 200, pack_bytes, &length, 0),
              UCS_ERR_INVALID_PARAM);
    ck_status(uct_ep_am_bcopy(lo.ep, AM_ID, NULL, NULL, 0),
              UCS_ERR_INVALID_PARAM);
    ck_status(uct_ep_am_short(lo.ep, AM_ID, 0, large, 8192),
              UCS_ERR_INVALID_PARAM);
    ck_status(uct_ep_am_short(lo.ep, AM_ID, 0, large, 0xffffffffu),
              UCS_ERR_INVALID_PARAM);
    ck_status(uct_ep_am_short_iov(lo.ep, AM_ID, &iov, 1),
              UCS_ERR_INVALID_PARAM);
    ck_status(uct_ep_am_zcopy(lo.ep, AM_ID, NULL, 0, &iov, 1, 0, NULL),
              UCS_ERR_INVALID_PARAM);
    ck_status(uct_ep_am_zcopy(lo.ep, AM_ID, NULL, 0, &huge, 1, 0, NULL),
              UCS_ERR_INVALID_PARAM);
    ck_status(uct_ep_am_zcopy(lo.ep, AM_ID, NULL, 8, NULL, 0, 0, NULL),
              UCS_ERR_INVALID_PARAM);
    ck_status(uct_iface_set_am_handler(lo.iface, UCT_AM_ID_MAX, on_message,
                                       NULL, 0),
              UCS_ERR_INVALID_PARAM);
    ck_assert_uint_eq(loopback_progress(&lo), 0);
}
END_TEST

START_TEST(messages_left_at_close_are_freed)
{
    size_t length = 5000;

    ck_ok(uct_ep_am_short(lo.ep, AM_ID, 0, NULL, 0));
    ck_assert_int_eq(uct_ep_am_bcopy(lo.ep, AM_ID, pack_bytes, &length, 0),
                     5000);
    /* The teardown closes the interface. If elements were not released, the
     * pool or the address sanitizer reports them. */
    ck_assert_uint_eq(inbox.count, 0);
}
END_TEST

START_TEST(message_outlives_its_endpoint)
{
    uct_ep_h ep;

    ck_ok(loopback_ep_create(lo.iface, &ep));
    ck_ok(uct_ep_am_short(ep, AM_ID, HEADER, NULL, 0));
    uct_ep_destroy(ep);
    loopback_progress(&lo);
    ck_assert_uint_eq(inbox.count, 1);
}
END_TEST

static void trace(void *arg, uct_am_trace_type_t type, uint8_t id,
                  const void *data, size_t length, char *buffer, size_t max)
{
    ++*(unsigned *)arg;
}

static int count_line(void *arg, const char *file, unsigned line,
                      const char *function, ucs_log_level_t level,
                      const char *message)
{
    *(unsigned *)arg += (level == UCS_LOG_LEVEL_TRACE_DATA);
    return 1;
}

START_TEST(tracer_is_asked_only_when_tracing)
{
    const ucs_log_level_t level = ucs_log_level_get();
    unsigned count = 0, lines = 0;

    ck_ok(uct_iface_set_am_tracer(lo.iface, trace, &count));
    ck_ok(uct_ep_am_short(lo.ep, AM_ID, HEADER, NULL, 0));
    loopback_progress(&lo);
    ck_assert_uint_eq(count, 0);

    ucs_log_hook_set(count_line, &lines);
    ucs_log_level_set(UCS_LOG_LEVEL_TRACE_DATA);
    ck_ok(uct_ep_am_short(lo.ep, AM_ID, HEADER, NULL, 0));
    loopback_progress(&lo);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(lines, 2);
    /* without a tracer the log contains only the transport's part of the
     * line */
    ck_ok(uct_iface_set_am_tracer(lo.iface, NULL, NULL));
    ck_ok(uct_ep_am_short(lo.ep, AM_ID, HEADER, NULL, 0));
    loopback_progress(&lo);
    ucs_log_level_set(level);
    ucs_log_hook_set(NULL, NULL);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(lines, 4);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("self active messages");
    TCase *tc    = tcase_create("all");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, short_arrives_with_header);
    tcase_add_test(tc, short_without_payload_arrives);
    tcase_add_test(tc, short_iov_ignores_stride_and_count);
    tcase_add_test(tc, bcopy_of_every_size_class_arrives);
    tcase_add_test(tc, zcopy_gathers_strided_entries);
    tcase_add_test(tc, messages_of_all_kinds_keep_their_order);
    tcase_add_test(tc, handlers_that_send_do_not_nest);
    tcase_add_test(tc, one_progress_is_bounded);
    tcase_add_test(tc, kept_descriptor_outlives_the_callback);
    tcase_add_test(tc, headroom_belongs_to_the_receiver);
    tcase_add_test(tc, data_is_aligned_as_asked);
    tcase_add_test(tc, message_without_handler_is_dropped);
    tcase_add_test(tc, bad_ids_and_lengths_are_refused);
    tcase_add_test(tc, messages_left_at_close_are_freed);
    tcase_add_test(tc, message_outlives_its_endpoint);
    tcase_add_test(tc, tracer_is_asked_only_when_tracing);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
