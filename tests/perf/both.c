/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of tagged messages in both directions at once: each process sends
 * from one buffer and receives into another. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

enum { TRIAL = 16 }; /* Messages of a trial, in each direction */

struct both {
    struct bench *bench;
    const struct bench_command *command;
    char *sent; /* Messages to send; received ones are in bench->buffer */
    /* Number of operations that were started and that are complete; the index
     * is BOTH_SEND or BOTH_RECEIVE */
    uint64_t started[2], done[2];
};

enum { BOTH_SEND, BOTH_RECEIVE };

static void count_send(void *request, ucs_status_t status, void *arg)
{
    struct both *both = arg;

    bench_check(status, "a send");
    ++both->done[BOTH_SEND];
    ucp_request_free(request);
}

static void count_receive(void *request, ucs_status_t status,
                          const ucp_tag_recv_info_t *info, void *arg)
{
    struct both *both = arg;

    (void)info;
    bench_check(status, "a receive");
    ++both->done[BOTH_RECEIVE];
    ucp_request_free(request);
}

/* Starts the next send or receive. */
static void post(struct both *both, int kind)
{
    struct bench *bench       = both->bench;
    size_t size               = both->command->size;
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA,
        .user_data = both,
    };
    ucs_status_ptr_t request;

    ++both->started[kind];
    if (kind == BOTH_SEND) {
        param.cb.send = count_send;
        request = ucp_tag_send_nbx(bench->ep, both->sent, size, BENCH_TAG_DATA,
                                   &param);
    } else {
        param.cb.recv = count_receive;
        request       = ucp_tag_recv_nbx(bench->worker, bench->buffer, size,
                                         BENCH_TAG_DATA, ~(ucp_tag_t)0, &param);
    }
    if (!UCS_PTR_IS_PTR(request)) {
        bench_check(UCS_PTR_STATUS(request), "a send or receive");
        ++both->done[kind];
    }
}

static bool is_done(const struct both *both)
{
    return (both->done[BOTH_SEND] == both->command->count) &&
           (both->done[BOTH_RECEIVE] == both->command->count);
}

/* Sends and receives command->count messages, with up to command->window
 * messages in flight in each direction. Driver and partner both call it. */
static void exchange(struct bench *bench, const struct bench_command *command)
{
    struct both both = {
        .bench   = bench,
        .command = command,
        .sent    = aligned_alloc(4096, bench->room),
    };
    int kind;

    if (both.sent == NULL) {
        bench_fail("no memory for a buffer", "of messages that are sent");
    }
    memset(both.sent, 's', command->size);
    bench_age_pages();
    while (!is_done(&both)) {
        for (kind = BOTH_RECEIVE; kind >= BOTH_SEND; --kind) {
            while ((both.started[kind] < command->count) &&
                   (both.started[kind] - both.done[kind] < command->window)) {
                post(&both, kind);
            }
        }
        ucp_worker_progress(bench->worker);
    }
    free(both.sent);
}

void both_answer(struct bench *bench, const struct bench_command *command)
{
    exchange(bench, command);
    bench_send_ack(bench);
}

/* Runs the driver's side. Returns the seconds until both processes have
 * received all messages. */
static double both_run(struct bench *bench, const struct bench_command *command)
{
    double start;

    bench_tell(bench, *command);
    start = bench_now();
    exchange(bench, command);
    bench_recv_ack(bench);
    return bench_now() - start;
}

double both_take(struct bench *bench, uint64_t size, uint32_t window)
{
    struct bench_command command = {
        .kind   = BENCH_BOTH,
        .size   = size,
        .window = window,
        .count  = TRIAL,
    };
    double trial;

    both_run(bench, &command);
    trial         = both_run(bench, &command);
    command.count = bench_count_for(bench->seconds / 4, trial, command.count);
    trial         = both_run(bench, &command);
    command.count = bench_count_for(bench->seconds, trial, command.count);
    return 2 * command.count * size * 1e-9 / both_run(bench, &command);
}
