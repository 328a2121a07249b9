/* SPDX-License-Identifier: BSD-3-Clause */
/* Forks the peer process; the local side of the socket to it; begins and ends
 * conversations. */
#include "peer.h"
#include "slots.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer_serve.h"
#include "runner.h"

/* Time limit for a request to the peer process, in seconds. To execute it, the
 * peer may wait up to PARTY_PATIENCE for send resources, for completions, and
 * for messages. */
#define CALL_SECONDS (3 * PARTY_PATIENCE)

/* The current request, and then its answer. */
static peer_message_t call_message;

static void run_peer(run_t *run, int fd, size_t headroom, pid_t parent)
{
    static party_t party;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(1);
    }
    if ((run->peer_host > 0) && (setns(run->peer_host, CLONE_NEWNET) != 0)) {
        check_fail(run, 26, "the peer cannot enter its network: %s",
                   strerror(errno));
        _exit(1);
    }
    if (!party_open(run, &party, headroom)) {
        _exit(1);
    }
    party.keep_every = 3;
    peer_serve(&party, fd);
}

/* Returns whether the transport reaches other processes. Otherwise there is no
 * peer process. */
static int reaches_others(const run_t *run)
{
    return !!(run_transport(run)->reach &
              (UCX_MANIFEST_REACH_NODE | UCX_MANIFEST_REACH_NETWORK));
}

int peer_start(run_t *run, peer_t *peer, size_t headroom)
{
    pid_t self = getpid();
    int fds[2];

    memset(peer, 0, sizeof(*peer));
    peer->run = run;
    peer->fd  = -1;
    if (!reaches_others(run)) {
        return 1;
    }

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
        check_fail(run, 26, "no line to a peer: %s", strerror(errno));
        return 0;
    }

    peer->pid = fork();
    if (peer->pid == 0) {
        close(fds[0]);
        run_peer(run, fds[1], headroom, self);
    }
    close(fds[1]);
    peer->fd = fds[0];
    if (peer->pid < 0) {
        check_fail(run, 26, "no process for a peer: %s", strerror(errno));
        close(peer->fd);
        return 0;
    }
    return 1;
}

int peer_has_answered(const peer_t *peer)
{
    struct pollfd pfd = {.fd = peer->fd, .events = POLLIN};

    return poll(&pfd, 1, 0) > 0;
}

/* Reports a peer that does not answer; returns 0. If the socket is closed, the
 * peer is exiting: waits until its process has ended. Otherwise, the peer hangs
 * and is killed. */
static int lose_peer(peer_t *peer)
{
    int timed_out, status;

    status    = runner_wait(peer->pid,
                         peer_has_answered(peer) ? PARTY_PATIENCE : 0,
                            &timed_out);
    peer->pid = -1;
    if (timed_out) {
        check_fail(peer->run, 13,
                   "the peer process hangs (request %d) while "
                   "%s",
                   (int)peer->asked, peer->run->record->doing);
    } else if (WIFSIGNALED(status)) {
        check_fail(peer->run, 26,
                   "the peer process crashed by signal %d (%s) "
                   "while %s",
                   WTERMSIG(status), strsignal(WTERMSIG(status)),
                   peer->run->record->doing);
    } else if (!check_has_failed(peer->run)) {
        check_fail(peer->run, 26, "the peer process ended early");
    }
    return 0;
}

int peer_post(peer_t *peer, const peer_message_t *request)
{
    if (peer->pid < 0) {
        return 0; /* The loss of the peer was reported */
    }
    peer->asked = request->op;
    return (send(peer->fd, request, sizeof(*request), MSG_NOSIGNAL) ==
            sizeof(*request)) ||
           lose_peer(peer);
}

int peer_await_answer(const peer_t *peer)
{
    struct pollfd pfd = {.fd = peer->fd, .events = POLLIN};

    return poll(&pfd, 1, (int)(PARTY_PATIENCE * 1e3)) > 0;
}

int peer_answer(peer_t *peer, peer_message_t *reply)
{
    double end = clock_now() + CALL_SECONDS;

    if (peer->pid < 0) {
        return 0; /* Reported before */
    }
    while (!peer_has_answered(peer)) {
        if (clock_now() > end) {
            return lose_peer(peer);
        }
        if ((peer->party == NULL) || (party_progress(peer->party) == 0)) {
            sched_yield();
        }
    }
    return (recv(peer->fd, reply, sizeof(*reply), 0) == sizeof(*reply)) ||
           lose_peer(peer);
}

int peer_call(peer_t *peer, const peer_message_t *request,
              peer_message_t *reply)
{
    const peer_op_t op = request->op;

    if (peer_is_other(peer)) {
        if (!peer_post(peer, request) || !peer_answer(peer, reply)) {
            return 0;
        }
    } else {
        if (reply != request) {
            *reply = *request;
        }
        peer_execute(peer->party, reply);
        peer_execute_later(peer->party, reply);
    }

    if (reply->status != UCS_OK) {
        check_fail(peer->run, 26, "the peer answers %s to request %d while %s",
                   ucs_status_string(reply->status), (int)op,
                   peer->run->record->doing);
        return 0;
    }
    return 1;
}

int peer_tell(peer_t *peer, peer_op_t op)
{
    memset(&call_message, 0, sizeof(call_message));
    call_message.op = op;
    return peer_call(peer, &call_message, &call_message);
}

void peer_last_rx(party_rx_t *rx)
{
    *rx = call_message.rx;
}

void peer_kill(peer_t *peer)
{
    int status;

    kill(peer->pid, SIGKILL);
    while ((waitpid(peer->pid, &status, 0) < 0) && (errno == EINTR)) {
    }
    peer->pid = -1;
}

void peer_stop(peer_t *peer)
{
    int status, timed_out;

    if (peer->fd >= 0) {
        close(peer->fd);
        peer->fd = -1;
    }
    if (peer->pid <= 0) {
        return;
    }

    status = runner_wait(peer->pid, PARTY_PATIENCE, &timed_out);
    check_that(peer->run, 27, !timed_out,
               "the peer process does not come to "
               "an end when it closes everything");
    check_that(peer->run, 27, timed_out || (status == 0),
               "the peer process ended by %s when it closed everything",
               WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) :
                                     "an exit before its time");
    peer->pid = -1;
}

/* --- Conversations ------------------------------------------------------- */

/* Exchanges endpoint addresses, for transports that connect endpoints. */
static int connect_eps(peer_t *peer, party_t *party,
                       const peer_message_t *theirs)
{
    peer_message_t *message = &call_message;
    ucs_status_t status;

    status = slots_connect_to_ep(party->ep, theirs->blob, theirs->blob_size,
                                 message->blob, message->blob_size);
    if (!check_that(peer->run, 26, status == UCS_OK,
                    "the peer's endpoint cannot be connected to: %s",
                    ucs_status_string(status))) {
        return 0;
    }
    if (!peer_is_other(peer)) {
        return 1; /* The endpoint is connected to itself */
    }

    memset(message, 0, sizeof(*message));
    message->op         = PEER_EP_CONNECT;
    message->blob_size  = party->attr->device_addr_len;
    message->blob2_size = party->attr->ep_addr_len;
    if ((message->blob_size > PEER_BLOB_MAX) ||
        (message->blob2_size > PEER_BLOB_MAX) ||
        (uct_iface_get_device_address(party->iface,
                                      (uct_device_addr_t *)message->blob) !=
         UCS_OK) ||
        (uct_ep_get_address(party->ep, (uct_ep_addr_t *)message->blob2) !=
         UCS_OK)) {
        check_fail(peer->run, 26, "an endpoint does not tell its address");
        return 0;
    }
    return peer_call(peer, message, message);
}

/* Returns whether the local interface reports these addresses as reachable. */
static int is_reachable(peer_t *peer, party_t *party,
                        const peer_message_t *theirs)
{
    char reason[200] = "";

    if (slots_is_reachable(party->iface, theirs->blob, theirs->blob_size,
                           (theirs->blob2_size > 0) ? theirs->blob2 : NULL,
                           theirs->blob2_size, reason, sizeof(reason))) {
        return 1;
    }

    if (run_transport(peer->run)->reach &
        (UCX_MANIFEST_REACH_NODE | UCX_MANIFEST_REACH_SELF)) {
        check_fail(peer->run, 10,
                   "an interface on the same device of the same "
                   "host is not reachable (\"%s\"), though the manifest "
                   "declares it",
                   reason);
    } else {
        check_skip(peer->run, "it does not reach its own host (\"%s\")",
                   reason);
    }
    return 0;
}

int conversation_connect(peer_t *peer, party_t *party)
{
    static peer_message_t theirs;
    peer_message_t *message = &call_message;
    ucs_status_t status;

    check_doing(peer->run, "connecting endpoints");
    memset(&theirs, 0, sizeof(theirs));
    theirs.op = PEER_ADDRESS;
    if (!peer_call(peer, &theirs, &theirs) ||
        !is_reachable(peer, party, &theirs)) {
        return 0;
    }

    *message    = theirs;
    message->op = PEER_EP_CREATE;
    peer_execute(party, message);
    status = message->status;
    if (!check_that(peer->run, 26, status == UCS_OK,
                    "no endpoint to a reachable peer: %s",
                    ucs_status_string(status))) {
        return 0;
    }

    if (peer_is_other(peer)) {
        memset(message, 0, sizeof(*message));
        message->op = PEER_ADDRESS;
        peer_execute(party, message);
        message->op = PEER_EP_CREATE;
        if (!peer_call(peer, message, message)) {
            return 0;
        }
    }
    return (party->attr->cap.flags & UCT_IFACE_FLAG_CONNECT_TO_IFACE) ||
           connect_eps(peer, party, &theirs);
}

void conversation_disconnect(peer_t *peer, party_t *party)
{
    check_doing(peer->run, "destroying endpoints");
    if (party->ep != NULL) {
        uct_ep_destroy(party->ep);
        party->ep = NULL;
    }
    if (peer_is_other(peer) && (peer->pid > 0)) {
        peer_tell(peer, PEER_EP_DESTROY);
    }
}

int conversation_begin(run_t *run, peer_t *peer, party_t *party,
                       size_t headroom)
{
    const uint64_t connect = UCT_IFACE_FLAG_CONNECT_TO_IFACE |
                             UCT_IFACE_FLAG_CONNECT_TO_EP;

    if (!peer_start(run, peer, headroom)) {
        return 0;
    }
    if (!party_open(run, party, headroom)) {
        peer_stop(peer);
        return 0;
    }

    peer->party = party;
    if (!(party->attr->cap.flags & connect)) {
        check_skip(run, "it connects by socket address only");
    } else if (conversation_connect(peer, party)) {
        return 1;
    }
    conversation_end(peer, party);
    return 0;
}

void conversation_end(peer_t *peer, party_t *party)
{
    if (party->ep != NULL) {
        check_doing(peer->run, "destroying the endpoint");
        uct_ep_destroy(party->ep);
        party->ep = NULL;
    }
    party_close(party);
    peer_stop(peer);
}

int conversation_await(peer_t *peer, const party_rx_t *expected, party_rx_t *rx)
{
    uint64_t count = UINT64_MAX;
    double end     = 0;

    do {
        if (!peer_tell(peer, PEER_STATS)) {
            return 0;
        }
        peer_last_rx(rx);
        if (rx->count != count) { /* Messages still arrive: extend the time */
            count = rx->count;
            end   = clock_now() + PARTY_PATIENCE;
        }
    } while ((rx->count < expected->count) && (clock_now() < end));
    return 1;
}

void conversation_compare(run_t *run, const char *who, const party_rx_t *rx,
                          const party_rx_t *expected)
{
    check_that(run, 26, rx->bad == 0, "%s: %u messages are wrong: %s", who,
               rx->bad, rx->what);
    check_that(run, 16, rx->foreign == 0,
               "%s: %u messages were delivered by another thread than the "
               "worker's",
               who, rx->foreign);
    check_that(run, 25, rx->misaligned == 0,
               "%s: %u messages are not aligned, although the interface has "
               "UCX_IFACE_FLAG_ALIGNS_AM",
               who, rx->misaligned);
    if (check_that(run, 26, rx->count == expected->count,
                   "%s received %llu messages, %llu were sent", who,
                   (unsigned long long)rx->count,
                   (unsigned long long)expected->count) &&
        check_that(run, 26,
                   (rx->bytes == expected->bytes) && (rx->sum == expected->sum),
                   "%s received other messages than were sent", who)) {
        check_that(run, 30, rx->order == expected->order,
                   "%s received the %llu messages that were sent in another "
                   "order",
                   who, (unsigned long long)rx->count);
    }
}
