/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failure: a proxy (proxy.h) cuts a connection after a random number of bytes,
 * by a normal end or by a reset, while messages are in flight. Within a time
 * limit each side either has its messages delivered or is notified of the
 * failure. Received data is correct, the same workers communicate over a new
 * endpoint, and no resources are left.
 *
 * With --garble the proxy changes a byte instead. Then messages may be wrong or
 * missing, but no process crashes, and a forced close and the destruction of
 * the workers end every operation.
 *
 * Members 0 and 1 exchange messages; all their TCP connections go through
 * member 2, the proxy. --seed N.
 */
#include "common/data.h"
#include "common/proxy.h"
#include "common/side.h"
#include "common/usage.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    PROXY     = 2,
    CUTS      = 80,
    WINDOW    = 8,
    /* Minimum size of every second message, in bytes */
    LARGE     = 300 * 1024,
    MAX_SIZE  = 2 * LARGE,
    MAX_CUT   = WINDOW * LARGE / 2,
    FDS_MORE  = 4,
    HEAP_MORE = 4 * 1024 * 1024,
};

static const ucp_tag_t ALL = ~(ucp_tag_t)0;

static struct proxy_plan *plan;

struct talk {
    struct team *team;
    struct side side;
    void *peer_address;
    struct side_ep *ep;
    /* The same state in both members, so that they draw the same numbers */
    struct random random;
    uint64_t round;
    uint32_t cuts_before; /* plan->cuts at the start of a round */
    unsigned second_attempts;
    struct side_op sends[WINDOW], receives[WINDOW];
    /* Without data; sent after all others of the round */
    struct side_op last_sent, last_received;
    char *out, *in; /* WINDOW buffers of MAX_SIZE bytes each */
    size_t sizes[WINDOW];
};

/* Waits until the peer has called this, too; progresses meanwhile. */
static void agree(struct talk *talk)
{
    char word = 'a';

    team_put(talk->team, 1 - talk->team->rank, &word, 1);
    team_get_progressing(talk->team, 1 - talk->team->rank, &word, 1,
                         side_progress, &talk->side);
}

static ucp_tag_t tag_of(const struct talk *talk, int sender, int i)
{
    return (talk->round << 8) | (sender << 7) | i;
}

static void start_round(struct talk *talk)
{
    int i, me = talk->team->rank;

    ++talk->round;
    for (i = 0; i < WINDOW; ++i) {
        talk->sizes[i] = (i % 2) ? random_below(&talk->random, 2000) :
                                   LARGE + random_below(&talk->random, LARGE);
        side_recv(&talk->side, &talk->receives[i], talk->in + (i * MAX_SIZE),
                  MAX_SIZE, tag_of(talk, 1 - me, i), ALL);
    }
    side_recv(&talk->side, &talk->last_received, NULL, 0,
              tag_of(talk, 1 - me, WINDOW), ALL);
    for (i = 0; i < WINDOW; ++i) {
        data_fill(talk->out + (i * MAX_SIZE), talk->sizes[i],
                  tag_of(talk, me, i));
        side_send(talk->ep, &talk->sends[i], talk->out + (i * MAX_SIZE),
                  talk->sizes[i], tag_of(talk, me, i));
    }
    side_send(talk->ep, &talk->last_sent, NULL, 0, tag_of(talk, me, WINDOW));
}

/* The data of successful receives must be correct, with or without a cut. */
static void check_received(struct talk *talk)
{
    int i;

    for (i = 0; i < WINDOW; ++i) {
        if (talk->receives[i].status == UCS_OK) {
            EXPECT_INT(talk->receives[i].info.length, ==, talk->sizes[i]);
            data_verify(talk->in + (i * MAX_SIZE), talk->sizes[i],
                        tag_of(talk, 1 - talk->team->rank, i));
        }
    }
}

static bool all_well(const struct side_op *ops)
{
    int i;

    for (i = 0; i < WINDOW; ++i) {
        if (!ops[i].done || (ops[i].status != UCS_OK)) {
            return false;
        }
    }
    return true;
}

static void finish_sends(struct talk *talk)
{
    int i;

    for (i = 0; i < WINDOW; ++i) {
        side_finish(&talk->side, &talk->sends[i], 15,
                    "a send over a connection that was cut");
    }
    side_finish(&talk->side, &talk->last_sent, 15,
                "the last send over a connection that was cut");
}

/* Waits until a receive has ended. A receive without a match belongs to no
 * endpoint, so that a lost peer does not end it: it is cancelled. A receive
 * whose message is arriving ends with the endpoint. */
static void take_back(struct talk *talk, struct side_op *op)
{
    if (!op->done) {
        ucp_request_cancel(talk->side.worker, op->request);
    }
    side_finish(&talk->side, op, 15,
                "a receive from a connection that was cut");
}

static void finish_receives(struct talk *talk)
{
    int i;

    for (i = 0; i < WINDOW; ++i) {
        take_back(talk, &talk->receives[i]);
    }
    take_back(talk, &talk->last_received);
}

/* What one side knows in a round. A side has settled when, for each direction,
 * the last message has arrived or its sender's endpoint has failed. */
struct verdict {
    bool heard;  /* The peer's last message has arrived here */
    bool failed; /* The endpoint of this side has failed */
    bool peer_heard;
    bool peer_failed;
    bool peer_ended; /* The peer has settled and sends no more news */
};

static void tell(struct talk *talk, char word)
{
    team_put(talk->team, 1 - talk->team->rank, &word, 1);
}

static void look_for_words(struct talk *talk, struct verdict *verdict)
{
    char word;
    int peer = 1 - talk->team->rank;

    while (!verdict->peer_ended && team_ready(talk->team, peer)) {
        team_get(talk->team, peer, &word, 1);
        verdict->peer_heard |= (word == 'h');
        verdict->peer_failed |= (word == 'f');
        verdict->peer_ended |= (word == 'e');
    }
}

static void look_at_myself(struct talk *talk, struct verdict *verdict)
{
    if (!verdict->heard && talk->last_received.done &&
        (talk->last_received.status == UCS_OK)) {
        verdict->heard = true;
        tell(talk, 'h');
    }
    if (!verdict->failed && (talk->ep->failures > 0)) {
        verdict->failed = true;
        tell(talk, 'f');
    }
}

/* Waits until both sides have settled; fails the test after a time limit. So no
 * message is lost without notice: either the last message has arrived, or its
 * sender's endpoint has failed. */
static struct verdict settle(struct talk *talk)
{
    double deadline        = test_now() + test_seconds(15);
    struct verdict verdict = {.heard = false};
    bool ended             = false;

    while (!ended || !verdict.peer_ended) {
        side_progress(&talk->side);
        look_at_myself(talk, &verdict);
        look_for_words(talk, &verdict);
        if (!ended && (verdict.peer_heard || verdict.failed) &&
            (verdict.heard || verdict.peer_failed)) {
            ended = true;
            tell(talk, 'e');
        }
        if (test_now() > deadline) {
            FAIL("%.0f s after the cut: heard %d, failed %d, the peer heard "
                 "%d, failed %d",
                 test_seconds(15), verdict.heard, verdict.failed,
                 verdict.peer_heard, verdict.peer_failed);
        }
    }
    return verdict;
}

/* Called when the peer's last message has arrived. Then all earlier messages
 * have arrived as well, or their receives fail and the endpoint reports the
 * failure. */
static void complete_receives(struct talk *talk)
{
    int i;

    for (i = 0; i < WINDOW; ++i) {
        side_finish(&talk->side, &talk->receives[i], 15,
                    "a receive of what was sent before the last message");
    }
    if (!all_well(talk->receives)) {
        side_wait_failure(talk->ep, 15);
    }
}

/* Receives and discards messages that arrived after their receive was
 * cancelled. */
static void drop_leftovers(struct talk *talk)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    ucp_tag_recv_info_t info;
    ucp_tag_message_h message;
    ucs_status_ptr_t request;
    double deadline;

    for (;;) {
        message = ucp_tag_probe_nb(talk->side.worker, 0, 0, true, &info);
        if (message == NULL) {
            return;
        }
        deadline = test_now() + test_seconds(15);
        EXPECT_INT(info.length, <=, MAX_SIZE);
        request = ucp_tag_msg_recv_nbx(talk->side.worker, talk->in, MAX_SIZE,
                                       message, &param);
        while (UCS_PTR_IS_PTR(request) &&
               (ucp_request_check_status(request) == UCS_INPROGRESS)) {
            side_progress(&talk->side);
            if (test_now() > deadline) {
                FAIL("a message of a lost peer cannot be received or dropped");
            }
        }
        if (UCS_PTR_IS_PTR(request)) {
            ucp_request_free(request);
        }
    }
}

static void plan_cut(struct talk *talk, bool garble)
{
    static const uint64_t reach[] = {64, 400, 5000, 100000, MAX_CUT};
    int64_t after;
    int reset;

    /* Both members draw the same numbers, to keep their generators equal. Only
     * member 0 sets the plan. */
    after = random_below(&talk->random, reach[random_below(&talk->random, 5)]);
    reset = (int)random_below(&talk->random, 2);
    talk->cuts_before = plan->cuts;
    agree(talk);
    if (talk->team->rank == 0) {
        plan->garble    = garble;
        plan->reset     = reset;
        plan->cut_after = after;
    }
    agree(talk);
}

/* Waits until the proxy has changed a byte. The members send more than MAX_CUT
 * bytes, so that this happens in every round. */
static void wait_cut(struct talk *talk)
{
    double deadline = test_now() + test_seconds(15);

    while (plan->cuts == talk->cuts_before) {
        side_progress(&talk->side);
        if (test_now() > deadline) {
            FAIL("nothing was garbled for %.0f s", test_seconds(15));
        }
    }
}

/* Progresses for a limited time only, because garbled bytes may make both sides
 * wait for data that never arrives. */
static void wait_garbled(struct talk *talk)
{
    double end;

    wait_cut(talk);
    end = test_now() + 0.25;
    do {
        side_progress(&talk->side);
    } while ((!all_well(talk->sends) || !all_well(talk->receives)) &&
             (talk->ep->failures == 0) && (test_now() < end));
}

static void cut_round(struct talk *talk, bool garble)
{
    plan_cut(talk, garble);
    talk->ep = side_connect(&talk->side, talk->peer_address);
    start_round(talk);
    if (garble) {
        wait_garbled(talk);
        agree(talk);
        side_close_ep(talk->ep, UCP_EP_CLOSE_FLAG_FORCE);
        finish_sends(talk);
        agree(talk);
        plan->cut_after = -1;
        agree(talk);
        /* receives that wait for lost data end when the worker is destroyed */
        return;
    }

    finish_sends(talk);
    if (settle(talk).heard) {
        complete_receives(talk);
    }
    finish_receives(talk);
    check_received(talk);
    EXPECT_INT(talk->ep->failures, <=, 1);
    side_close_ep(talk->ep, UCP_EP_CLOSE_FLAG_FORCE);
    agree(talk);
    drop_leftovers(talk);
    plan->cut_after = -1;
    agree(talk);
}

/* Exchanges results with the peer; returns whether both sides succeeded. */
static bool both_well(struct talk *talk, bool well)
{
    char word = well ? 'y' : 'n';

    team_put(talk->team, 1 - talk->team->rank, &word, 1);
    team_get_progressing(talk->team, 1 - talk->team->rank, &word, 1,
                         side_progress, &talk->side);
    return well && (word == 'y');
}

/* Exchanges messages over a new endpoint without a cut. Returns whether all
 * messages of both sides arrived. */
static bool healthy_attempt(struct talk *talk)
{
    bool well;

    talk->ep = side_connect(&talk->side, talk->peer_address);
    start_round(talk);
    finish_sends(talk);
    well = settle(talk).heard && (talk->ep->failures == 0);
    if (well) {
        complete_receives(talk);
    }
    finish_receives(talk);
    check_received(talk);
    well = both_well(talk, well && all_well(talk->sends) &&
                               all_well(talk->receives) &&
                               (talk->ep->failures == 0));
    side_close_ep(talk->ep, well ? 0 : UCP_EP_CLOSE_FLAG_FORCE);
    agree(talk);
    drop_leftovers(talk);
    agree(talk);
    return well;
}

/* The same workers communicate again. A side that had nothing to read during
 * the cut may detect it only now and fail the first attempt, so that a second
 * one is allowed. */
static void healthy_round(struct talk *talk)
{
    if (!healthy_attempt(talk)) {
        ++talk->second_attempts;
        if (!healthy_attempt(talk)) {
            FAIL("two endpoints in a row fail with nobody in the way");
        }
    }
}

static void open_talk(struct talk *talk)
{
    side_open(&talk->side, UCP_FEATURE_TAG);
    side_put_address(&talk->side, talk->team, 1 - talk->team->rank);
    talk->peer_address = side_get_address(talk->team, 1 - talk->team->rank);
}

static void close_talk(struct talk *talk)
{
    side_close(&talk->side);
    free(talk->peer_address);
}

/* The worker's destruction must have ended all receives. */
static void expect_all_ended(const struct talk *talk)
{
    int i;

    for (i = 0; i < WINDOW; ++i) {
        EXPECT(talk->receives[i].done);
    }
    EXPECT(talk->last_received.done);
}

/* One round in which a connection is cut or garbled, and one without. After a
 * cut the same workers continue. A garbled stream may look valid to both sides
 * forever, so that garbling needs new workers. */
static void harm_and_heal(struct talk *talk, bool garble)
{
    cut_round(talk, garble);
    if (garble) {
        close_talk(talk);
        expect_all_ended(talk);
        open_talk(talk);
    }
    healthy_round(talk);
}

static void talk_main(struct team *team, uint64_t seed, bool garble)
{
    struct talk talk = {.team = team, .random = {.state = seed}};
    unsigned fds;
    size_t heap;
    char word = 0;
    int i;

    talk.out = malloc((size_t)WINDOW * MAX_SIZE);
    talk.in  = malloc((size_t)WINDOW * MAX_SIZE);
    EXPECT((talk.out != NULL) && (talk.in != NULL));
    team_barrier(team, NULL, NULL);
    proxy_redirect();
    open_talk(&talk);
    healthy_round(&talk);
    harm_and_heal(&talk, garble);
    fds  = usage_fds();
    heap = usage_heap();
    for (i = 1; i < CUTS; ++i) {
        harm_and_heal(&talk, garble);
    }
    side_wait_fds(&talk.side, fds + FDS_MORE);
    EXPECT_INT(usage_heap(), <=, heap + HEAP_MORE);
    agree(&talk);
    close_talk(&talk);
    if (team->rank == 0) {
        EXPECT_INT(plan->cuts, ==, CUTS);
        printf("%u connections %s, %u second attempts\n", plan->cuts,
               garble ? "garbled" : "cut", talk.second_attempts);
        team_put(team, PROXY, &word, 1);
    }
    free(talk.in);
    free(talk.out);
}

struct options {
    uint64_t seed;
    bool garble;
};

static void member(struct team *team, void *arg)
{
    const struct options *options = arg;

    if (team->rank == PROXY) {
        team_barrier(team, NULL, NULL);
        proxy_serve(team, 0);
    } else {
        talk_main(team, options->seed, options->garble);
    }
}

int main(int argc, char **argv)
{
    struct options options = {
        .seed   = random_seed(argc, argv),
        .garble = team_asked(argc, argv, "--garble"),
    };
    struct team team = {.limit = 100};

    plan = proxy_prepare();
    return team_run(&team, 3, member, &options);
}
