/* SPDX-License-Identifier: BSD-3-Clause */
/* See play.h. */
#include "play.h"

#include "scarce.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double LIMIT = 10; /* seconds in which any wait is over */

enum { SMALL = 8, MIDDLE = 3000, MEMORY = 64 * 1024 };
enum { AM_PLAIN, AM_KEPT, AM_LARGE, AM_REPLY };

/* ------------------------------------------------------- between the sides -- */

static void take_error(struct play *play, ucs_status_t status)
{
    if (play->status == UCS_OK) {
        play->status = status;
    }
}

/* True while the step makes sense: neither side has met an error. */
static bool goes_on(const struct play *play)
{
    return (play->status == UCS_OK) &&
           (!play->noted || (play->note.status == UCS_OK));
}

static void look_for_note(struct play *play)
{
    if (!play->noted && (play->team->size > 1) &&
        team_ready(play->team, play->other)) {
        team_get(play->team, play->other, &play->note, sizeof(play->note));
        play->noted = true;
    }
}

static void progress(struct play *play)
{
    if ((play->worker == NULL) || (ucp_worker_progress(play->worker) == 0)) {
        sched_yield();
    }
    look_for_note(play);
    if (play->failure != UCS_OK) {
        take_error(play, play->failure);
    }
}

static void hangs(const struct play *play, const char *what)
{
    scarce_show();
    FAIL("%s: %s is not over after %.0f s", play->step, what,
         test_seconds(LIMIT));
}

/* Progresses while the condition holds, and as long as the step makes sense. */
#define WAIT_WHILE(_play, _condition, _what) \
    do { \
        double end_ = test_now() + test_seconds(LIMIT); \
        while ((_condition) && goes_on(_play)) { \
            progress(_play); \
            if (test_now() > end_) { \
                hangs(_play, _what); \
            } \
        } \
    } while (0)

/* Both tell each other how they are, and some bytes; returns whether to go on. */
static bool agree(struct play *play, const void *bytes, size_t length)
{
    struct note note = {.status = play->status, .length = (uint32_t)length};
    double end       = test_now() + 2 * test_seconds(LIMIT);

    EXPECT_INT(length, <=, PLAY_NOTE);
    memcpy(note.bytes, bytes, length);
    if (play->team->size == 1) {
        play->note   = note;
        play->agreed = (note.status == UCS_OK);
        return play->agreed;
    }
    team_put(play->team, play->other, &note, sizeof(note));
    while (!play->noted) {
        progress(play);
        if (test_now() > end) {
            hangs(play, "the other side");
        }
    }
    play->noted  = false;
    play->agreed = (note.status == UCS_OK) && (play->note.status == UCS_OK);
    return play->agreed;
}

static bool agree_only(struct play *play)
{
    return agree(play, "", 0);
}

/* -------------------------------------------------------------- operations -- */

static struct op *new_op(struct play *play, const char *what, bool receives)
{
    struct op *op = &play->ops[play->num_ops++];

    EXPECT_INT(play->num_ops, <, PLAY_OPS);
    *op = (struct op){.play = play, .what = what, .receives = receives};
    return op;
}

static void end_op(struct op *op, ucs_status_t status)
{
    EXPECT(!op->done);
    op->done    = true;
    op->status  = status;
    op->request = NULL;
}

static void on_end(void *request, ucs_status_t status, void *arg)
{
    end_op(arg, status);
    ucp_request_free(request);
}

static void on_tag(void *request, ucs_status_t status,
                   const ucp_tag_recv_info_t *info, void *arg)
{
    ((struct op *)arg)->length = info->length;
    on_end(request, status, arg);
}

static void on_length(void *request, ucs_status_t status, size_t length,
                      void *arg)
{
    ((struct op *)arg)->length = length;
    on_end(request, status, arg);
}

static ucp_request_param_t op_param(struct op *op)
{
    return (ucp_request_param_t){
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA |
                        UCP_OP_ATTR_FIELD_FLAGS |
                        (op->receives ? UCP_OP_ATTR_FLAG_NO_IMM_CMPL : 0),
        .cb.send      = on_end,
        .user_data    = op
    };
}

static struct op *begun(struct op *op, ucs_status_ptr_t result)
{
    if (!UCS_PTR_IS_PTR(result)) {
        end_op(op, UCS_PTR_STATUS(result));
    } else if (!op->done) {
        op->request = result;
    }
    return op;
}

static void finish(struct play *play, struct op *op)
{
    WAIT_WHILE(play, !op->done, op->what);
    if (op->done && (op->status != UCS_OK)) {
        take_error(play, op->status);
    }
}

static void fill(char *bytes, size_t length, unsigned seed)
{
    size_t i;

    for (i = 0; i < length; ++i) {
        bytes[i] = (char)(seed + i * 7 + (i >> 8));
    }
}

static void verify(struct play *play, const char *bytes, size_t length,
                   unsigned seed)
{
    size_t i;

    for (i = 0; (i < length) && goes_on(play); ++i) {
        if (bytes[i] != (char)(seed + i * 7 + (i >> 8))) {
            scarce_show();
            FAIL("%s: the byte at %zu of %zu is wrong", play->step, i, length);
        }
    }
}

/* ------------------------------------------------------------------- tags -- */

static struct op *tag_send(struct play *play, ucp_ep_h ep, size_t length,
                           ucp_tag_t tag, bool sync)
{
    struct op *op             = new_op(play, "a tagged send", false);
    ucp_request_param_t param = op_param(op);

    return begun(op, sync ?
                 ucp_tag_send_sync_nbx(ep, play->out, length, tag, &param) :
                 ucp_tag_send_nbx(ep, play->out, length, tag, &param));
}

static struct op *tag_recv(struct play *play, size_t length, ucp_tag_t tag)
{
    struct op *op             = new_op(play, "a tagged receive", true);
    ucp_request_param_t param = op_param(op);

    param.cb.recv = on_tag;
    return begun(op, ucp_tag_recv_nbx(play->worker, play->in, length, tag,
                                      UINT64_MAX, &param));
}

static void tag_expected(struct play *play, size_t length, bool sync)
{
    struct op *in, *out;

    fill(play->out, length, (unsigned)length);
    in = tag_recv(play, length, length);
    if (agree_only(play)) {
        out = tag_send(play, play->ep, length, length, sync);
        finish(play, out);
        finish(play, in);
        verify(play, play->in, length, (unsigned)length);
    }
}

/* The message is there before its receive, and is found by probing. */
static void tag_unexpected(struct play *play, size_t length, bool sync)
{
    ucp_tag_message_h message = NULL;
    ucp_request_param_t param;
    ucp_tag_recv_info_t info;
    struct op *in, *out;

    fill(play->out, length, 1);
    out = tag_send(play, play->ep, length, 1, sync);
    if (!agree_only(play)) {
        return;
    }
    WAIT_WHILE(play, (message = ucp_tag_probe_nb(play->worker, 1, UINT64_MAX,
                                                 1, &info)) == NULL,
               "a probe");
    if (message != NULL) {
        in            = new_op(play, "a receive by message", true);
        param         = op_param(in);
        param.cb.recv = on_tag;
        begun(in, ucp_tag_msg_recv_nbx(play->worker, play->in, length, message,
                                       &param));
        finish(play, in);
    }
    finish(play, out);
    verify(play, play->in, length, 1);
}

static void play_tags(struct play *play)
{
    static const size_t sizes[] = {SMALL, MIDDLE, PLAY_LARGE};
    unsigned i;

    for (i = 0; i < 6; ++i) {
        play->step = (i < 3) ? "tag, expected" : "tag, unexpected";
        if (i < 3) {
            tag_expected(play, sizes[i], i == 1);
        } else {
            tag_unexpected(play, sizes[i - 3], i == 4);
        }
        if (!agree_only(play)) {
            return;
        }
    }
}

/* -------------------------------------------------------- active messages -- */

static struct op *am_send(struct play *play, ucp_ep_h ep, unsigned id,
                          size_t length, unsigned flags)
{
    struct op *op             = new_op(play, "an active message", false);
    ucp_request_param_t param = op_param(op);

    param.flags = flags;
    return begun(op, ucp_am_send_nbx(ep, id, "head", 4, play->out, length,
                                     &param));
}

static ucs_status_t on_plain(void *arg, const void *header, size_t header_length,
                             void *data, size_t length,
                             const ucp_am_recv_param_t *param)
{
    struct play *play = arg;

    ++play->got[AM_PLAIN];
    EXPECT_INT(header_length, ==, 4);
    verify(play, data, length, 3);
    EXPECT(param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP);
    am_send(play, param->reply_ep, AM_REPLY, SMALL, 0);
    return UCS_OK;
}

static ucs_status_t on_reply(void *arg, const void *header, size_t header_length,
                             void *data, size_t length,
                             const ucp_am_recv_param_t *param)
{
    struct play *play = arg;

    ++play->got[AM_REPLY];
    return UCS_OK;
}

static ucs_status_t on_kept(void *arg, const void *header, size_t header_length,
                            void *data, size_t length,
                            const ucp_am_recv_param_t *param)
{
    struct play *play = arg;

    ++play->got[AM_KEPT];
    play->kept = data;
    return UCS_INPROGRESS;
}

static ucs_status_t on_large(void *arg, const void *header, size_t header_length,
                             void *data, size_t length,
                             const ucp_am_recv_param_t *param)
{
    struct play *play             = arg;
    struct op *op                 = new_op(play, "data of a message", true);
    ucp_request_param_t how       = op_param(op);

    ++play->got[AM_LARGE];
    EXPECT(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV);
    how.cb.recv_am = on_length;
    begun(op, ucp_am_recv_data_nbx(play->worker, data, play->in, PLAY_LARGE,
                                   &how));
    return UCS_OK;
}

static ucs_status_t set_handlers(struct play *play)
{
    static const ucp_am_recv_callback_t handlers[] = {
        on_plain, on_kept, on_large, on_reply
    };
    ucp_am_handler_param_t param = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG |
                      UCP_AM_HANDLER_PARAM_FIELD_FLAGS,
        .arg        = play
    };
    ucs_status_t status = UCS_OK;

    for (param.id = 0; (param.id < 4) && (status == UCS_OK); ++param.id) {
        param.cb    = handlers[param.id];
        param.flags = (param.id == AM_KEPT) ? UCP_AM_FLAG_PERSISTENT_DATA : 0;
        status      = ucp_worker_set_am_recv_handler(play->worker, &param);
    }
    return status;
}

static void finish_from(struct play *play, unsigned first)
{
    for (; first < play->num_ops; ++first) {
        finish(play, &play->ops[first]);
    }
}

static void play_messages(struct play *play)
{
    unsigned first = play->num_ops;

    play->step = "active messages";
    fill(play->out, PLAY_LARGE, 3);
    am_send(play, play->ep, AM_PLAIN, SMALL, UCP_AM_SEND_FLAG_REPLY);
    WAIT_WHILE(play, play->got[AM_PLAIN] == 0, "a message");
    WAIT_WHILE(play, play->got[AM_REPLY] == 0, "a reply");
    am_send(play, play->ep, AM_KEPT, MIDDLE, 0);
    WAIT_WHILE(play, play->got[AM_KEPT] == 0, "a message to keep");
    if (play->kept != NULL) {
        verify(play, play->kept, MIDDLE, 3);
        ucp_am_data_release(play->worker, play->kept);
        play->kept = NULL;
    }
    am_send(play, play->ep, AM_LARGE, PLAY_LARGE, UCP_AM_SEND_FLAG_RNDV);
    WAIT_WHILE(play, play->got[AM_LARGE] == 0, "a large message");
    finish_from(play, first);
    verify(play, play->in, PLAY_LARGE, 3);
    agree_only(play);
}

/* ---------------------------------------------------------------- streams -- */

static void play_stream(struct play *play, size_t length)
{
    struct op *in, *out;
    ucp_request_param_t param;
    size_t got;

    play->step = "stream";
    fill(play->out, length, 5);
    out   = new_op(play, "a stream's send", false);
    param = op_param(out);
    begun(out, ucp_stream_send_nbx(play->ep, play->out, length, &param));

    in                   = new_op(play, "a stream's receive", true);
    param                = op_param(in);
    param.cb.recv_stream = on_length;
    param.flags          = UCP_STREAM_RECV_FLAG_WAITALL;
    begun(in, ucp_stream_recv_nbx(play->ep, play->in, length, &got, &param));
    finish(play, out);
    finish(play, in);
    verify(play, play->in, length, 5);
    agree_only(play);
}

/* ---------------------------------------------------------- remote memory -- */

struct key {
    uint64_t address;
    uint32_t length;
    char bytes[1024];
};

static void expose(struct play *play, struct key *key)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS,
        .length     = MEMORY,
        .flags      = UCP_MEM_MAP_ALLOCATE
    };
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    ucs_status_t status;
    size_t length;
    void *bytes;

    status = ucp_mem_map(play->context, &params, &play->memh);
    if (status == UCS_OK) {
        EXPECT_OK(ucp_mem_query(play->memh, &attr));
        play->memory = attr.address;
        memset(play->memory, 0, MEMORY);
        status = ucp_rkey_pack(play->context, play->memh, &bytes, &length);
    }
    if (status == UCS_OK) {
        EXPECT_INT(length, <=, sizeof(key->bytes));
        key->address = (uintptr_t)play->memory;
        key->length  = (uint32_t)length;
        memcpy(key->bytes, bytes, length);
        ucp_rkey_buffer_release(bytes);
    }
    take_error(play, status);
}

static void put(struct play *play, size_t length, size_t place)
{
    struct op *op             = new_op(play, "a put", false);
    ucp_request_param_t param = op_param(op);

    finish(play, begun(op, ucp_put_nbx(play->ep, play->out, length,
                                       play->remote + place, play->rkey,
                                       &param)));
}

static void get(struct play *play, size_t length, size_t place)
{
    struct op *op             = new_op(play, "a get", false);
    ucp_request_param_t param = op_param(op);

    finish(play, begun(op, ucp_get_nbx(play->ep, play->in, length,
                                       play->remote + place, play->rkey,
                                       &param)));
}

static void add(struct play *play, size_t place)
{
    struct op *op             = new_op(play, "an atomic", false);
    ucp_request_param_t param = op_param(op);
    uint64_t one              = 1;

    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE |
                          UCP_OP_ATTR_FIELD_REPLY_BUFFER;
    param.datatype      = ucp_dt_make_contig(8);
    param.reply_buffer  = play->in;
    finish(play, begun(op, ucp_atomic_op_nbx(play->ep, UCP_ATOMIC_OP_ADD, &one,
                                             1, play->remote + place,
                                             play->rkey, &param)));
}

static void flush(struct play *play)
{
    struct op *op             = new_op(play, "a flush", false);
    ucp_request_param_t param = op_param(op);

    finish(play, begun(op, ucp_ep_flush_nbx(play->ep, &param)));
    if (goes_on(play)) {
        op    = new_op(play, "a worker's flush", false);
        param = op_param(op);
        finish(play, begun(op, ucp_worker_flush_nbx(play->worker, &param)));
    }
}

static void access_memory(struct play *play)
{
    enum { WORD = 0, FEW = 64, MANY = 4096, LONG = 40000 };

    fill(play->out, LONG, 9);
    put(play, SMALL, FEW);
    put(play, LONG, MANY);
    add(play, WORD);
    flush(play);
    get(play, LONG, MANY);
    verify(play, play->in, LONG, 9);
    get(play, SMALL, FEW);
    verify(play, play->in, SMALL, 9);
    if (agree_only(play)) {
        verify(play, play->memory + MANY, LONG, 9);
        EXPECT_INT(*(uint64_t *)play->memory, ==, 1);
    }
}

static void play_memory(struct play *play)
{
    struct key key = {.length = 0};

    play->step = "memory";
    expose(play, &key);
    if (!agree(play, &key, sizeof(key))) {
        return;
    }
    memcpy(&key, play->note.bytes, sizeof(key));
    play->remote = key.address;
    take_error(play, ucp_ep_rkey_unpack(play->ep, key.bytes, &play->rkey));
    if (agree_only(play)) {
        access_memory(play);
        agree_only(play);
    }
}

/* ------------------------------------------- endpoints, by both addresses -- */

static void on_failure(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    struct play *play = arg;

    play->failure = status;
}

static ucs_status_t make_ep(struct play *play, ucp_ep_params_t *params,
                            ucp_ep_h *ep_p)
{
    params->field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                          UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params->err_mode    = UCP_ERR_HANDLING_MODE_PEER;
    params->err_handler = (ucp_err_handler_t){.cb = on_failure, .arg = play};
    return ucp_ep_create(play->worker, params, ep_p);
}

static void connect_by_address(struct play *play)
{
    ucp_ep_params_t params  = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    ucp_worker_attr_t attr  = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucs_status_t status;
    bool go_on;

    play->step = "connect";
    status     = ucp_worker_query(play->worker, &attr);
    if (status == UCS_OK) {
        go_on = agree(play, attr.address, attr.address_length);
        ucp_worker_release_address(play->worker, attr.address);
    } else {
        take_error(play, status);
        go_on = agree_only(play);
    }
    if (go_on) {
        params.address = (const ucp_address_t *)play->note.bytes;
        take_error(play, make_ep(play, &params, &play->ep));
        agree_only(play);
    }
}

static void close_gracefully(struct play *play, ucp_ep_h *ep_p)
{
    struct op *op             = new_op(play, "a close", false);
    ucp_request_param_t param = op_param(op);
    ucs_status_ptr_t result   = ucp_ep_close_nbx(*ep_p, &param);

    if (!UCS_PTR_IS_ERR(result)) {
        *ep_p = NULL;
    }
    finish(play, begun(op, result));
}

static void on_request(ucp_conn_request_h request, void *arg)
{
    struct play *play = arg;

    play->asked = request;
}

static ucs_status_t listen_here(struct play *play, struct sockaddr_storage *at)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_addr   = {.s_addr = htonl(INADDR_LOOPBACK)}
    };
    ucp_listener_params_t params = {
        .field_mask   = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR |
                        UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
        .sockaddr     = {(struct sockaddr *)&address, sizeof(address)},
        .conn_handler = {.cb = on_request, .arg = play}
    };
    ucp_listener_attr_t attr = {.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR};
    ucs_status_t status;

    status = ucp_listener_create(play->worker, &params, &play->listener);
    if (status == UCS_OK) {
        EXPECT_OK(ucp_listener_query(play->listener, &attr));
        *at = attr.sockaddr;
    }
    return status;
}

static void serve(struct play *play)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST};

    WAIT_WHILE(play, play->asked == NULL, "a request");
    if (play->asked != NULL) {
        params.conn_request = play->asked;
        play->asked         = NULL; /* whatever becomes of it */
        take_error(play, make_ep(play, &params, &play->client));
    }
}

static void ask(struct play *play)
{
    struct sockaddr_storage at;
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_SOCK_ADDR |
                      UCP_EP_PARAM_FIELD_FLAGS,
        .flags      = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER,
        .sockaddr   = {(struct sockaddr *)&at, sizeof(struct sockaddr_in)}
    };

    memcpy(&at, play->note.bytes, sizeof(at));
    take_error(play, make_ep(play, &params, &play->client));
}

/* Member 0 listens, member 1 is the client. */
static void play_client(struct play *play)
{
    struct sockaddr_storage at = {.ss_family = AF_INET};
    struct op *in;

    play->step = "client and server";
    if (play->team->rank == 0) {
        take_error(play, listen_here(play, &at));
    }
    if (!agree(play, &at, sizeof(at))) {
        return;
    }
    if (play->team->rank == 0) {
        serve(play);
    } else {
        ask(play);
    }
    if (goes_on(play)) {
        fill(play->out, MIDDLE, 11);
        in = tag_recv(play, MIDDLE, 11);
        finish(play, tag_send(play, play->client, MIDDLE, 11, false));
        finish(play, in);
        verify(play, play->in, MIDDLE, 11);
    }
    if (agree_only(play)) {
        play->step = "client and server, close";
        if (play->team->rank == 1) {
            close_gracefully(play, &play->client);
        } else {
            /* told by the error handler that the client has closed */
            WAIT_WHILE(play, play->failure == UCS_OK, "the client's end");
            if (play->failure == UCS_ERR_CONNECTION_RESET) {
                play->failure = UCS_OK;
                play->status  = UCS_OK;
            }
        }
        agree_only(play);
    }
}

/* ------------------------------------------------------ beginning and end -- */

static void open_all(struct play *play)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM |
                      UCP_FEATURE_RMA | UCP_FEATURE_AMO64 | UCP_FEATURE_WAKEUP
    };
    ucp_worker_params_t worker_params = {
        .field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_SINGLE
    };
    ucs_status_t status;
    int fd;

    play->step = "open";
    status = ucp_init(&params, NULL, &play->context);
    if (status == UCS_OK) {
        status = ucp_worker_create(play->context, &worker_params,
                                   &play->worker);
    }
    if (status == UCS_OK) {
        status = set_handlers(play);
    }
    if (status == UCS_OK) {
        status = ucp_worker_get_efd(play->worker, &fd);
    }
    take_error(play, status);
    agree_only(play);
}

/* Only the call that fails may be refused: the next one works. */
static void close_by_force(struct play *play, ucp_ep_h ep)
{
    struct op *op             = new_op(play, "a forced close", false);
    ucp_request_param_t param = op_param(op);
    ucs_status_ptr_t result;

    param.flags = UCP_EP_CLOSE_FLAG_FORCE;
    result      = ucp_ep_close_nbx(ep, &param);
    if (UCS_PTR_STATUS(result) == UCS_ERR_NO_MEMORY) {
        result = ucp_ep_close_nbx(ep, &param);
    }
    begun(op, result);
}

static void end_operations(struct play *play)
{
    double end = test_now() + test_seconds(LIMIT);
    unsigned i;

    for (i = 0; i < play->num_ops; ++i) {
        while (!play->ops[i].done) {
            if (play->ops[i].receives && (play->ops[i].request != NULL)) {
                ucp_request_cancel(play->worker, play->ops[i].request);
            }
            progress(play);
            if (test_now() > end) {
                hangs(play, play->ops[i].what);
            }
        }
    }
}

static void close_all(struct play *play)
{
    play->step = "end";
    if (play->kept != NULL) {
        ucp_am_data_release(play->worker, play->kept);
    }
    if (play->rkey != NULL) {
        ucp_rkey_destroy(play->rkey);
    }
    if (play->ep != NULL) {
        close_by_force(play, play->ep);
    }
    if (play->client != NULL) {
        close_by_force(play, play->client);
    }
    end_operations(play);
    if (play->asked != NULL) {
        take_error(play, ucp_listener_reject(play->listener, play->asked));
    }
    if (play->listener != NULL) {
        ucp_listener_destroy(play->listener);
    }
    if (play->memh != NULL) {
        take_error(play, ucp_mem_unmap(play->context, play->memh));
    }
    if (play->worker != NULL) {
        ucp_worker_destroy(play->worker);
        play->worker = NULL;
    }
    if (play->context != NULL) {
        ucp_cleanup(play->context);
    }
    agree_only(play);
}

static void play_end(struct play *play)
{
    play->step = "close";
    close_gracefully(play, &play->ep);
    agree_only(play);
}

static void play_streams(struct play *play)
{
    play_stream(play, 100);
    if (play->agreed) {
        play_stream(play, 50000);
    }
}

ucs_status_t play_run(struct play *play, struct team *team)
{
    static void (*const steps[])(struct play *) = {
        open_all, connect_by_address, play_tags, play_messages, play_streams,
        play_memory, play_client, play_end
    };
    unsigned i;

    memset(play, 0, sizeof(*play));
    play->team   = team;
    play->other  = (team->size > 1) ? 1 - team->rank : team->rank;
    play->agreed = true;
    for (i = 0; (i < sizeof(steps) / sizeof(steps[0])) && play->agreed; ++i) {
        if ((steps[i] != play_client) || (team->size > 1)) {
            steps[i](play);
        }
    }
    close_all(play);
    return play->status;
}
