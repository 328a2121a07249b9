/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The protocol around a test. Client and server:
 *
 *   TEST      ->                parameters
 *             <-  INFO          the server's addresses, or REFUSE and no test
 *   INFO      ->                the client's, or REFUSE
 *   SYNC n, 'w'|'m'|'e'  ->     a pass of n operations to warm up, to measure,
 *             <-  SYNC          or the end; both sides begin after this SYNC
 *             <-  RESULT        at the end: number of messages that the server
 *                               found wrong
 *   SYNC      ->
 *             <-  SYNC          endpoints are closed, workers may be destroyed
 *
 * A side that cannot continue sends FAIL and ends.
 */
#include "session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* Operations of the first pass, which determines the rate for --time */
    TRIAL_COUNT = 8,
    LEAST_COUNT = 16, /* minimum number of operations, even if they take longer
                       * than the time that --time allows */
};

static enum session_end complain(const struct channel *channel,
                                 const char *what)
{
    fflush(stdout);
    fprintf(stderr, "ucx_perftest: %s%s%s\n", what,
            (channel != NULL) ? ": " : "",
            (channel != NULL) ? channel->error : "");
    return SESSION_BROKEN;
}

/* Records the reason that the peer process gave, with '?' for each character
 * that is not printable ASCII. */
static void quote(struct perf_run *run, const struct channel *channel,
                  const struct channel_frame *frame)
{
    char *c;

    snprintf(run->error, sizeof(run->error), "%s: %.300s", channel->peer,
             frame->data);
    for (c = run->error; *c != '\0'; ++c) {
        *c = ((*c >= ' ') && (*c <= '~')) ? *c : '?';
    }
    run->from_peer = true;
}

/* Receives the expected frame. The reason in a FAIL or REFUSE frame becomes the
 * error of the run, like any other failure. */
static enum session_end expect(struct perf_run *run, struct channel *channel,
                               enum channel_type type,
                               struct channel_frame *frame)
{
    char *why = run->error;

    if (!channel_recv(channel, frame, run_progress, run)) {
        snprintf(why, PERF_ERROR_MAX, "%s: %s", channel->peer, channel->error);
        return SESSION_BROKEN;
    }
    if (frame->type == type) {
        return SESSION_GOOD;
    }
    if ((frame->type == CHANNEL_FAIL) || (frame->type == CHANNEL_REFUSE)) {
        quote(run, channel, frame);
    } else {
        snprintf(why, PERF_ERROR_MAX,
                 "%s does not keep to the protocol: a "
                 "frame of type %d instead of %d",
                 channel->peer, frame->type, type);
    }
    type = frame->type;
    free(frame->data);
    frame->data = NULL;
    return (type == CHANNEL_REFUSE) ? SESSION_REFUSED : SESSION_BROKEN;
}

/* Reports an aborted test to the user and to the peer process. If the peer gave
 * a reason before it exited, the report contains it. */
static enum session_end broken(struct perf_run *run, struct channel *channel)
{
    struct channel_frame frame;

    if (channel != NULL) {
        while (channel_readable(channel) &&
               channel_recv(channel, &frame, NULL, NULL)) {
            if (frame.type == CHANNEL_FAIL) {
                quote(run, channel, &frame);
            }
            free(frame.data);
        }
        channel_send(channel, CHANNEL_FAIL, run->error, strlen(run->error));
    }
    return (run->from_peer && run->quiet) ? SESSION_BROKEN :
                                            complain(NULL, run->error);
}

/* The client starts a pass: it sends the number of operations, and both sides
 * begin. */
static enum session_end lead(struct perf_run *run, struct channel *channel,
                             uint64_t count, char kind)
{
    struct channel_frame frame;
    enum session_end end;
    char text[32];

    if (channel == NULL) {
        return SESSION_GOOD;
    }
    snprintf(text, sizeof(text), "%" PRIu64 " %c", count, kind);
    if (!channel_send(channel, CHANNEL_SYNC, text, strlen(text))) {
        snprintf(run->error, sizeof(run->error), "%s", channel->error);
        return SESSION_BROKEN;
    }
    end = expect(run, channel, CHANNEL_SYNC, &frame);
    if (end == SESSION_GOOD) {
        free(frame.data);
    }
    return (end == SESSION_GOOD) ? SESSION_GOOD : SESSION_BROKEN;
}

static double pass_seconds(const struct perf_run *run)
{
    const struct meter *meter = &run->threads[0].meter;

    return clock_seconds(meter->last - meter->start);
}

static enum session_end lead_pass(struct perf_run *run, struct channel *channel,
                                  uint64_t count, char kind)
{
    if (count == 0) {
        return SESSION_GOOD;
    }
    if ((lead(run, channel, count, kind) != SESSION_GOOD) ||
        (run_pass(run, count, kind == 'm') != UCS_OK)) {
        return SESSION_BROKEN;
    }
    return SESSION_GOOD;
}

/* Returns the number of operations that fit into `seconds`, at the rate of the
 * last pass; at least LEAST_COUNT, unless `most` is lower, and at most
 * `most`. */
static uint64_t fitting(const struct perf_run *run, double seconds,
                        uint64_t most)
{
    double count = run->threads[0].count * seconds / (pass_seconds(run) + 1e-9);

    count = (count < LEAST_COUNT) ? LEAST_COUNT : count;
    return (count < most) ? (uint64_t)count : most;
}

/* Runs the passes. With --time, a few operations determine the length of the
 * warm-up, and the warm-up determines the length of the measurement. */
static enum session_end lead_passes(struct perf_run *run,
                                    struct channel *channel)
{
    double seconds    = run->params.milliseconds * 1e-3;
    uint64_t warmup   = run->params.warmup;
    uint64_t measured = run->params.iterations;

    if (seconds > 0) {
        if (lead_pass(run, channel, TRIAL_COUNT, 'w') != SESSION_GOOD) {
            return SESSION_BROKEN;
        }
        warmup = (warmup > 0) ? fitting(run, seconds / 4, warmup) : 0;
    }
    if (lead_pass(run, channel, warmup, 'w') != SESSION_GOOD) {
        return SESSION_BROKEN;
    }
    if (seconds > 0) {
        measured = fitting(run, seconds, measured);
    }
    return lead_pass(run, channel, measured, 'm');
}

/* Combines the results of all threads: adds rates, averages times. */
static void gather(const struct perf_run *run, const struct output *output,
                   struct result *result)
{
    unsigned count = run->params.threads, i;
    struct figures one;

    histogram_reset(&result->histogram);
    memset(&result->figures, 0, sizeof(result->figures));
    for (i = 0; i < count; ++i) {
        meter_figures(&run->threads[i].meter, output->rank, result->messages,
                      &one);
        result->figures.iterations += one.iterations;
        result->figures.average_time += one.average_time / count;
        result->figures.overall_time += one.overall_time / count;
        result->figures.average_rate += one.average_rate;
        result->figures.overall_rate += one.overall_rate;
        histogram_merge(&result->histogram, run->threads[i].histogram);
    }
    result->figures.percentile = report_us(
        result, histogram_percentile(&result->histogram, output->rank));
}

/* Closes the endpoints, and waits until the peer has closed its endpoints, too.
 * Makes progress while it waits, because the peer may need it to close. */
static enum session_end part(struct perf_run *run, struct channel *channel)
{
    struct channel_frame frame;
    enum session_end end;

    run_disconnect(run);
    if (channel == NULL) {
        return SESSION_GOOD;
    }
    channel_send(channel, CHANNEL_SYNC, NULL, 0);
    end = expect(run, channel, CHANNEL_SYNC, &frame);
    if (end == SESSION_GOOD) {
        free(frame.data);
    }
    return end;
}

static enum session_end finish(struct perf_run *run, struct channel *channel,
                               struct result *result)
{
    struct channel_frame frame;

    result->wrong = run_wrong(run);
    if (channel == NULL) {
        return part(run, channel);
    }
    if ((lead(run, channel, 0, 'e') != SESSION_GOOD) ||
        (expect(run, channel, CHANNEL_RESULT, &frame) != SESSION_GOOD)) {
        return SESSION_BROKEN;
    }
    result->wrong += strtoull(frame.data, NULL, 10);
    free(frame.data);
    return part(run, channel);
}

static enum session_end measure(struct perf_run *run, struct channel *channel,
                                struct output *output,
                                const struct names *names)
{
    struct result *result = calloc(1, sizeof(*result));
    enum session_end end  = SESSION_BROKEN;

    if (result == NULL) {
        return complain(NULL, "no memory");
    }
    result->test        = run->test;
    result->params      = &run->params;
    result->names       = names;
    result->outstanding = run->outstanding;
    result->messages    = tests_messages(run->test, &run->params);
    if ((channel == NULL) && output->table && !output->values &&
        !output->final_only) {
        report_test(run);
    }
    report_head(output, run->test, names);
    if (lead_passes(run, channel) == SESSION_GOOD) {
        gather(run, output, result);
        run->test->api->inform(&run->threads[0], result->transports,
                               sizeof(result->transports));
        end = finish(run, channel, result);
    }
    if (end == SESSION_GOOD) {
        report_result(output, result);
        end = (result->wrong > 0) ? SESSION_WRONG : SESSION_GOOD;
    } else {
        end = broken(run, channel);
    }
    free(result);
    return end;
}

static enum session_end refused(struct channel *channel, struct perf_run *run,
                                const char *name)
{
    if (channel != NULL) {
        channel_send(channel, CHANNEL_REFUSE, run->error, strlen(run->error));
    }
    if (!run->quiet) {
        fflush(stdout);
        fprintf(stderr, "ucx_perftest: %s: %s\n", name, run->error);
    }
    return SESSION_REFUSED;
}

static bool send_info(struct perf_run *run, struct channel *channel)
{
    size_t length;
    char *info = run_describe(run, &length);
    bool good;

    if (info == NULL) {
        snprintf(run->error, sizeof(run->error),
                 "the addresses of this side "
                 "cannot be read");
        return false;
    }
    good = channel_send(channel, CHANNEL_INFO, info, length);
    if (!good) {
        snprintf(run->error, sizeof(run->error), "%s", channel->error);
    }
    free(info);
    return good;
}

static ucs_status_t connect_to_itself(struct perf_run *run)
{
    ucs_status_t status;
    size_t length;
    char *info = run_describe(run, &length);

    if (info == NULL) {
        return perf_error(run, UCS_ERR_NO_MEMORY,
                          "cannot get the addresses of "
                          "this side");
    }
    status = run_connect(run, info, length);
    free(info);
    return status;
}

/* The exchange from TEST to the client's INFO. */
static enum session_end introduce(struct perf_run *run, struct channel *channel)
{
    struct channel_frame frame;
    enum session_end end;
    char text[PARAMS_TEXT_MAX];
    size_t length;
    ucs_status_t status;

    length = params_write(&run->params, text, sizeof(text));
    if (!channel_send(channel, CHANNEL_TEST, text, length)) {
        snprintf(run->error, sizeof(run->error), "%s", channel->error);
        return SESSION_BROKEN;
    }
    end = expect(run, channel, CHANNEL_INFO, &frame);
    if (end != SESSION_GOOD) {
        return end;
    }
    status = run_connect(run, frame.data, frame.length);
    free(frame.data);
    if (status != UCS_OK) {
        perf_error(run, status, "%s", ucs_status_string(status));
        channel_send(channel, CHANNEL_REFUSE, run->error, strlen(run->error));
        return SESSION_REFUSED;
    }
    return send_info(run, channel) ? SESSION_GOOD : SESSION_BROKEN;
}

enum session_end session_test(struct channel *channel, struct output *output,
                              const struct params *params,
                              const struct names *names)
{
    struct perf_run run = {
        .params  = *params,
        .role    = (channel == NULL) ? ROLE_LOOPBACK : ROLE_CLIENT,
        .channel = channel,
        .output  = output,
    };
    enum session_end end = SESSION_GOOD;
    ucs_status_t status;

    run.test = tests_check(params, run.error);
    if (run.test == NULL) {
        return refused(NULL, &run, params->test);
    }
    status = run_open(&run);
    if ((status == UCS_OK) && (channel == NULL)) {
        status = connect_to_itself(&run);
    }
    if (status != UCS_OK) {
        perf_error(&run, status, "%s", ucs_status_string(status));
        run_disconnect(&run);
        end = refused(NULL, &run, run.test->name);
    } else if (channel != NULL) {
        end = introduce(&run, channel);
        if (end == SESSION_REFUSED) {
            run_disconnect(&run);
            refused(NULL, &run, run.test->name);
        } else if (end == SESSION_BROKEN) {
            end = broken(&run, channel);
        }
    }
    if (end == SESSION_GOOD) {
        end = measure(&run, channel, output, names);
    }
    if (end != SESSION_BROKEN) {
        run_close(&run);
    }
    return end;
}

void session_end(struct channel *channel)
{
    if (channel != NULL) {
        channel_send(channel, CHANNEL_END, NULL, 0);
    }
}

/* The server's loop: runs passes as the client requests them. */
static enum session_end follow(struct perf_run *run, struct channel *channel)
{
    struct channel_frame frame;
    uint64_t count;
    char kind, text[32];

    for (;;) {
        if (expect(run, channel, CHANNEL_SYNC, &frame) != SESSION_GOOD) {
            return SESSION_BROKEN;
        }
        kind = 0;
        sscanf(frame.data, "%" SCNu64 " %c", &count, &kind);
        free(frame.data);
        if ((kind != 'w') && (kind != 'm') && (kind != 'e')) {
            snprintf(run->error, sizeof(run->error),
                     "%s requests a pass of an unknown kind", channel->peer);
            return SESSION_BROKEN;
        }
        if (!channel_send(channel, CHANNEL_SYNC, NULL, 0)) {
            snprintf(run->error, sizeof(run->error), "%s", channel->error);
            return SESSION_BROKEN;
        }
        if (kind == 'e') {
            break;
        }
        if (run_pass(run, count, false) != UCS_OK) {
            return SESSION_BROKEN;
        }
    }
    snprintf(text, sizeof(text), "%" PRIu64, run_wrong(run));
    channel_send(channel, CHANNEL_RESULT, text, strlen(text));
    return part(run, channel);
}

/* Serves one test. Parameters from a client are checked like those of a
 * user. */
static enum session_end serve_test(struct channel *channel, const char *text,
                                   size_t length, bool visible)
{
    struct perf_run run = {
        .role    = ROLE_SERVER,
        .channel = channel,
        .quiet   = !visible,
    };
    struct channel_frame frame;
    enum session_end end = SESSION_REFUSED;
    ucs_status_t status;

    if (!params_read(&run.params, text, length, run.error)) {
        return refused(channel, &run, "the client's request");
    }
    run.test = tests_check(&run.params, run.error);
    if (run.test == NULL) {
        return refused(channel, &run, run.params.test);
    }
    status = run_open(&run);
    if (status != UCS_OK) {
        perf_error(&run, status, "%s", ucs_status_string(status));
        refused(channel, &run, run.test->name);
        goto out;
    }
    if (visible) {
        report_test(&run);
    }
    if (!send_info(&run, channel)) {
        end = broken(&run, channel);
        goto out;
    }
    end = expect(&run, channel, CHANNEL_INFO, &frame);
    if (end == SESSION_GOOD) {
        status = run_connect(&run, frame.data, frame.length);
        free(frame.data);
        if (status == UCS_OK) {
            end = follow(&run, channel);
        } else {
            perf_error(&run, status, "%s", ucs_status_string(status));
            end = SESSION_BROKEN;
        }
    }
    if (end == SESSION_BROKEN) {
        broken(&run, channel);
    }
out:
    if (end != SESSION_BROKEN) {
        run_close(&run);
    }
    return end;
}

enum session_end session_serve(struct channel *channel, bool visible)
{
    enum session_end end = SESSION_GOOD, one;
    struct channel_frame frame;

    for (;;) {
        if (!channel_recv(channel, &frame, NULL, NULL)) {
            return visible ? complain(channel, channel->peer) : SESSION_BROKEN;
        }
        if (frame.type != CHANNEL_TEST) {
            break;
        }
        one = serve_test(channel, frame.data, frame.length, visible);
        free(frame.data);
        if (one == SESSION_BROKEN) {
            return SESSION_BROKEN;
        }
        end = (one == SESSION_GOOD) ? end : one;
    }
    free(frame.data);
    if (frame.type != CHANNEL_END) {
        snprintf(channel->error, sizeof(channel->error),
                 "an unexpected frame of type %d instead of a test or the end",
                 frame.type);
        return complain(channel, channel->peer);
    }
    return end;
}
