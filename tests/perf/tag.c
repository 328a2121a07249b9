/* SPDX-License-Identifier: BSD-3-Clause */
/* Tagged messages: latency, message rate, bandwidth. Each figure first makes
 * trials, to determine how many messages can be sent in bench->seconds. */
#include "bench.h"

enum {
    CALIBRATE_COUNT = 64,          /* Round trips of a trial, for small
                                    * messages */
    LARGE_SIZE      = 1024 * 1024, /* Larger messages have short trials */
};

static const ucp_tag_t TAG_ALL = ~(ucp_tag_t)0;

/* One side of a stream of command->count messages from driver to partner. */
struct stream {
    struct bench *bench;
    const struct bench_command *command;
    uint64_t in_flight; /* Sends or receives that are not complete */
    uint64_t done; /* Receiver: complete receives. Sender: messages whose send
                    * was started */
};

static const ucp_request_param_t no_param = {.op_attr_mask = 0};

static ucs_status_ptr_t send_data(struct bench *bench, uint64_t size)
{
    return ucp_tag_send_nbx(bench->ep, bench->buffer, size, BENCH_TAG_DATA,
                            &no_param);
}

static ucs_status_ptr_t recv_data(struct bench *bench, uint64_t size)
{
    return ucp_tag_recv_nbx(bench->worker, bench->buffer, size, BENCH_TAG_DATA,
                            TAG_ALL, &no_param);
}

/* Send and receive the message that confirms that all data has arrived. */
void bench_send_ack(struct bench *bench)
{
    uint64_t word = 0;

    bench_wait(bench, ucp_tag_send_nbx(bench->ep, &word, sizeof(word),
                                       BENCH_TAG_ACK, &no_param));
}

void bench_recv_ack(struct bench *bench)
{
    uint64_t word;

    bench_wait(bench, ucp_tag_recv_nbx(bench->worker, &word, sizeof(word),
                                       BENCH_TAG_ACK, TAG_ALL, &no_param));
}

void latency_answer(struct bench *bench, const struct bench_command *command)
{
    uint64_t i;

    for (i = 0; i < command->count; ++i) {
        bench_wait(bench, recv_data(bench, command->size));
        bench_wait(bench, send_data(bench, command->size));
    }
}

/* Measures round trips with the partner. Returns the seconds for `count` of
 * them. */
static double ping_pong(struct bench *bench, uint64_t size, uint64_t count)
{
    ucs_status_ptr_t receive;
    double start;
    uint64_t i;

    bench_tell(bench, (struct bench_command){.kind  = BENCH_LATENCY,
                                             .size  = size,
                                             .count = count});
    start = bench_now();
    for (i = 0; i < count; ++i) {
        receive = recv_data(bench, size);
        bench_wait(bench, send_data(bench, size));
        bench_wait(bench, receive);
    }
    return bench_now() - start;
}

double latency_take(struct bench *bench, uint64_t size, uint32_t window)
{
    uint64_t trials = bench_trial_count(size, CALIBRATE_COUNT), count;
    double trial;

    (void)window;
    ping_pong(bench, size, trials);
    trial = ping_pong(bench, size, trials);
    count = bench_count_for(bench->seconds, trial, trials);
    return ping_pong(bench, size, count) * 1e6 / count / 2;
}

static void on_received(void *request, ucs_status_t status,
                        const ucp_tag_recv_info_t *info, void *arg)
{
    struct stream *stream = arg;

    (void)info;
    bench_check(status, "a receive");
    --stream->in_flight;
    ++stream->done;
    ucp_request_free(request);
}

static void post_receive(struct stream *stream)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.recv   = on_received,
        .user_data = stream,
    };
    ucs_status_ptr_t request;

    ++stream->in_flight;
    request = ucp_tag_recv_nbx(stream->bench->worker, stream->bench->buffer,
                               stream->command->size, BENCH_TAG_DATA, TAG_ALL,
                               &param);
    if (!UCS_PTR_IS_PTR(request)) {
        bench_check(UCS_PTR_STATUS(request), "ucp_tag_recv_nbx");
        --stream->in_flight;
        ++stream->done;
    }
}

/* Receives all messages, with up to command->window receives posted ahead. */
static void receive_posted(struct stream *stream)
{
    const struct bench_command *command = stream->command;

    while (stream->done < command->count) {
        while ((stream->in_flight < command->window) &&
               (stream->done + stream->in_flight < command->count)) {
            post_receive(stream);
        }
        ucp_worker_progress(stream->bench->worker);
    }
}

/* Receives all messages, each of which a probe finds after its arrival. */
static void receive_probed(struct stream *stream)
{
    struct bench *bench = stream->bench;
    ucp_tag_message_h message;
    ucp_tag_recv_info_t info;

    while (stream->done < stream->command->count) {
        message = ucp_tag_probe_nb(bench->worker, BENCH_TAG_DATA, TAG_ALL, 1,
                                   &info);
        if (message == NULL) {
            ucp_worker_progress(bench->worker);
            continue;
        }
        bench_wait(bench,
                   ucp_tag_msg_recv_nbx(bench->worker, bench->buffer,
                                        info.length, message, &no_param));
        ++stream->done;
    }
}

void stream_answer(struct bench *bench, const struct bench_command *command)
{
    struct stream stream = {.bench = bench, .command = command};

    if (command->kind == BENCH_UNEXPECTED) {
        receive_probed(&stream);
    } else {
        receive_posted(&stream);
    }
    bench_send_ack(bench);
}

static void on_sent(void *request, ucs_status_t status, void *arg)
{
    struct stream *stream = arg;

    bench_check(status, "a send");
    --stream->in_flight;
    ucp_request_free(request);
}

/* Starts to send the next message. */
static void post_send(struct stream *stream)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send   = on_sent,
        .user_data = stream,
    };
    ucs_status_ptr_t request;

    ++stream->in_flight;
    request = ucp_tag_send_nbx(stream->bench->ep, stream->bench->buffer,
                               stream->command->size, BENCH_TAG_DATA, &param);
    if (!UCS_PTR_IS_PTR(request)) {
        bench_check(UCS_PTR_STATUS(request), "ucp_tag_send_nbx");
        --stream->in_flight;
    }
    ++stream->done;
}

/* Sends all messages, with up to command->window sends in flight. Returns the
 * seconds until the partner has confirmed that all have arrived. */
static double send_stream(struct bench *bench,
                          const struct bench_command *command)
{
    struct stream stream = {.bench = bench, .command = command};
    uint32_t burst;
    double start;

    bench_tell(bench, *command);
    start = bench_now();
    while (stream.done < command->count) {
        for (burst = 0; (burst < command->window) &&
                        (stream.in_flight < command->window) &&
                        (stream.done < command->count);
             ++burst) {
            post_send(&stream);
        }
        ucp_worker_progress(bench->worker);
    }
    while (stream.in_flight > 0) {
        ucp_worker_progress(bench->worker);
    }
    bench_recv_ack(bench);
    return bench_now() - start;
}

/* Measures a stream of messages; command.count is not used. Returns the number
 * of messages per second. */
static double stream_take(struct bench *bench, struct bench_command command)
{
    double trial;

    /* messages of a trial: four times the window, or the window once if the
     * messages are large */
    command.count = (uint64_t)command.window *
                    ((command.size > LARGE_SIZE) ? 1 : 4);
    send_stream(bench, &command);
    trial         = send_stream(bench, &command);
    command.count = bench_count_for(bench->seconds / 4, trial, command.count);
    trial         = send_stream(bench, &command);
    command.count = bench_count_for(bench->seconds, trial, command.count);
    return command.count / send_stream(bench, &command);
}

double rate_take(struct bench *bench, uint64_t size, uint32_t window)
{
    struct bench_command command = {
        .kind   = BENCH_STREAM,
        .size   = size,
        .window = window,
    };

    return stream_take(bench, command) * 1e-6;
}

double rate_unexpected_take(struct bench *bench, uint64_t size, uint32_t window)
{
    struct bench_command command = {
        .kind   = BENCH_UNEXPECTED,
        .size   = size,
        .window = window,
    };

    return stream_take(bench, command) * 1e-6;
}

double bandwidth_take(struct bench *bench, uint64_t size, uint32_t window)
{
    struct bench_command command = {
        .kind   = BENCH_STREAM,
        .size   = size,
        .window = window,
    };

    return stream_take(bench, command) * size * 1e-9;
}
