/* SPDX-License-Identifier: BSD-3-Clause */
/* Active messages: latency and message rate. The counters am_arrived and
 * am_taken of struct bench are not reset between figures of the same context,
 * because the first message of a figure may arrive before this process starts
 * its part of that figure. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

enum {
    AM_ID           = 1,
    CALIBRATE_COUNT = 64, /* Round trips of a trial, for small messages */
};

static const ucp_request_param_t no_param = {.op_attr_mask = 0};

/* Counts a message that has arrived, and checks its first and its last byte. */
static void arrived(struct bench *bench, const char *data, size_t length)
{
    if ((length > 0) && ((data[0] != 'b') || (data[length - 1] != 'b'))) {
        bench_fail("an active message", "arrived with other bytes than sent");
    }
    ++bench->am_arrived;
}

static void on_fetched(void *request, ucs_status_t status, size_t length,
                       void *arg)
{
    struct bench *bench = arg;

    bench_check(status, "the data of an active message");
    arrived(bench, bench->fetched, length);
    ucp_request_free(request);
}

/* Receives the data of a rendezvous into bench->fetched. The first and the last
 * byte there are set to 0 before, so that arrived() detects missing data. */
static ucs_status_t fetch(struct bench *bench, void *descriptor, size_t length)
{
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.recv_am = on_fetched,
        .user_data  = bench,
    };
    ucs_status_ptr_t request;

    if (length > 0) {
        bench->fetched[0]          = 0;
        bench->fetched[length - 1] = 0;
    }
    request = ucp_am_recv_data_nbx(bench->worker, descriptor, bench->fetched,
                                   length, &param);
    if (!UCS_PTR_IS_PTR(request)) {
        bench_check(UCS_PTR_STATUS(request), "ucp_am_recv_data_nbx");
        arrived(bench, bench->fetched, length);
        return UCS_OK;
    }
    return UCS_INPROGRESS;
}

static ucs_status_t on_message(void *arg, const void *header,
                               size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    struct bench *bench = arg;

    (void)header;
    (void)header_length;
    if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) {
        return fetch(bench, data, length);
    }
    arrived(bench, data, length);
    return UCS_OK;
}

ucs_status_t am_prepare(struct bench *bench)
{
    const ucp_am_handler_param_t handler = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id  = AM_ID,
        .cb  = on_message,
        .arg = bench,
    };

    bench->am_arrived = 0;
    bench->am_taken   = 0;
    if (bench->fetched == NULL) {
        bench->fetched = aligned_alloc(4096, bench->room);
        if (bench->fetched == NULL) {
            return UCS_ERR_NO_MEMORY;
        }
        memset(bench->fetched, 0, bench->room);
        bench_age_pages();
    }
    /* earlier figures may have received other data into this buffer, which now
     * contains the messages to send */
    memset(bench->buffer, 'b', bench->room);
    return ucp_worker_set_am_recv_handler(bench->worker, &handler);
}

/* Waits until `count` more messages have arrived. */
static void take_messages(struct bench *bench, uint64_t count)
{
    bench->am_taken += count;
    while (bench->am_arrived < bench->am_taken) {
        ucp_worker_progress(bench->worker);
    }
}

static void send_message(struct bench *bench, uint64_t size)
{
    bench_wait(bench, ucp_am_send_nbx(bench->ep, AM_ID, NULL, 0, bench->buffer,
                                      size, &no_param));
}

void am_latency_answer(struct bench *bench, const struct bench_command *command)
{
    uint64_t i;

    for (i = 0; i < command->count; ++i) {
        take_messages(bench, 1);
        send_message(bench, command->size);
    }
}

/* Measures round trips with the partner. Returns the seconds for `count` of
 * them. */
static double ping_pong(struct bench *bench, uint64_t size, uint64_t count)
{
    double start;
    uint64_t i;

    bench_tell(bench, (struct bench_command){.kind  = BENCH_AM_LATENCY,
                                             .size  = size,
                                             .count = count});
    start = bench_now();
    for (i = 0; i < count; ++i) {
        send_message(bench, size);
        take_messages(bench, 1);
    }
    return bench_now() - start;
}

double am_latency_take(struct bench *bench, uint64_t size, uint32_t window)
{
    uint64_t trials = bench_trial_count(size, CALIBRATE_COUNT), count;
    double trial;

    (void)window;
    ping_pong(bench, size, trials);
    trial = ping_pong(bench, size, trials);
    count = bench_count_for(bench->seconds, trial, trials);
    return ping_pong(bench, size, count) * 1e6 / count / 2;
}

/* Receives all messages of a stream, and then sends one message as a
 * confirmation. */
void am_stream_answer(struct bench *bench, const struct bench_command *command)
{
    take_messages(bench, command->count);
    send_message(bench, sizeof(uint64_t));
}

static void on_sent(void *request, ucs_status_t status, void *arg)
{
    uint32_t *in_flight = arg;

    bench_check(status, "an active message");
    --*in_flight;
    ucp_request_free(request);
}

/* Sends command->count messages, with up to command->window of them in flight.
 * Returns the seconds until the partner has confirmed that all have arrived. */
static double send_stream(struct bench *bench,
                          const struct bench_command *command)
{
    uint32_t in_flight              = 0, burst;
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send   = on_sent,
        .user_data = &in_flight,
    };
    ucs_status_ptr_t request;
    uint64_t sent = 0;
    double start;

    bench_tell(bench, *command);
    start = bench_now();
    while (sent < command->count) {
        for (burst = 0;
             (burst < command->window) && (in_flight < command->window) &&
             (sent < command->count);
             ++burst, ++sent) {
            ++in_flight;
            request = ucp_am_send_nbx(bench->ep, AM_ID, NULL, 0, bench->buffer,
                                      command->size, &param);
            if (!UCS_PTR_IS_PTR(request)) {
                bench_check(UCS_PTR_STATUS(request), "ucp_am_send_nbx");
                --in_flight;
            }
        }
        ucp_worker_progress(bench->worker);
    }
    while (in_flight > 0) {
        ucp_worker_progress(bench->worker);
    }
    take_messages(bench, 1);
    return bench_now() - start;
}

double am_rate_take(struct bench *bench, uint64_t size, uint32_t window)
{
    struct bench_command command = {
        .kind   = BENCH_AM_STREAM,
        .size   = size,
        .window = window,
        .count  = (uint64_t)window * 4,
    };
    double trial;

    send_stream(bench, &command);
    trial         = send_stream(bench, &command);
    command.count = bench_count_for(bench->seconds / 4, trial, command.count);
    trial         = send_stream(bench, &command);
    command.count = bench_count_for(bench->seconds, trial, command.count);
    return command.count / send_stream(bench, &command) * 1e-6;
}
