/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of tagged messages, of active messages, and of streams. */
#include "play_ops.h"

/* Ids of the active messages, which are also indices of play->got. */
enum {
    AM_PLAIN, /* A small message that asks for a reply */
    AM_KEPT,  /* A message whose data the receiver keeps after its handler */
    AM_LARGE, /* A rendezvous */
    AM_REPLY, /* The reply to AM_PLAIN */
    AM_WHOLE  /* A large message that is sent eagerly, in fragments */
};

/* ------------------------------------------------------------------ tags -- */

struct op *play_tag_send(struct play *play, ucp_ep_h ep, size_t length,
                         ucp_tag_t tag, enum play_way way)
{
    struct op *op             = play_new_op(play, "a tagged send", false);
    ucp_request_param_t param = play_op_param(op);

    if (way == PLAY_WHOLE) {
        param.op_attr_mask |= UCP_OP_ATTR_FLAG_FAST_CMPL;
    }
    return play_begun(op,
                      (way == PLAY_SYNC) ?
                          ucp_tag_send_sync_nbx(ep, play->out, length, tag,
                                                &param) :
                          ucp_tag_send_nbx(ep, play->out, length, tag, &param));
}

struct op *play_tag_recv(struct play *play, size_t length, ucp_tag_t tag)
{
    struct op *op             = play_new_op(play, "a tagged receive", true);
    ucp_request_param_t param = play_op_param(op);

    param.cb.recv = play_on_tag;
    return play_begun(op, ucp_tag_recv_nbx(play->worker, play->in, length, tag,
                                           UINT64_MAX, &param));
}

/* The receive is posted before the message is sent. */
static void tag_expected(struct play *play, size_t length, enum play_way way)
{
    struct op *in, *out;

    play_fill(play->out, length, (unsigned)length);
    in = play_tag_recv(play, length, length);
    if (play_agree_only(play)) {
        out = play_tag_send(play, play->ep, length, length, way);
        play_finish(play, out);
        play_finish(play, in);
        play_verify(play, play->in, length, (unsigned)length);
    }
}

/* The message is sent before a receive is posted. The receiver finds it with a
 * probe, which returns a handle for the receive. */
static void tag_unexpected(struct play *play, size_t length, enum play_way way)
{
    ucp_tag_message_h message = NULL;
    ucp_request_param_t param;
    ucp_tag_recv_info_t info;
    struct op *in, *out;

    play_fill(play->out, length, 1);
    out = play_tag_send(play, play->ep, length, 1, way);
    if (!play_agree_only(play)) {
        return;
    }
    PLAY_WAIT_WHILE(play,
                    (message = ucp_tag_probe_nb(play->worker, 1, UINT64_MAX, 1,
                                                &info)) == NULL,
                    "a probe");
    if (message != NULL) {
        in            = play_new_op(play, "a receive by message", true);
        param         = play_op_param(in);
        param.cb.recv = play_on_tag;
        play_begun(in, ucp_tag_msg_recv_nbx(play->worker, play->in, length,
                                            message, &param));
        play_finish(play, in);
    }
    play_finish(play, out);
    play_verify(play, play->in, length, 1);
}

void play_tags(struct play *play)
{
    static const struct {
        size_t size;
        enum play_way way;
    } messages[] = {
        {PLAY_SMALL, PLAY_PLAIN},
        {PLAY_MIDDLE, PLAY_SYNC},
        {PLAY_LARGE, PLAY_PLAIN},
        {PLAY_LARGE, PLAY_WHOLE},
    };
    const unsigned count = sizeof(messages) / sizeof(messages[0]);
    unsigned i, m;

    for (i = 0; i < 2 * count; ++i) {
        m          = i % count;
        play->step = (i < count) ? "tag, expected" : "tag, unexpected";
        if (i < count) {
            tag_expected(play, messages[m].size, messages[m].way);
        } else {
            tag_unexpected(play, messages[m].size, messages[m].way);
        }
        if (!play_agree_only(play)) {
            return;
        }
    }
}

/* ------------------------------------------------------- active messages -- */

static struct op *am_send(struct play *play, ucp_ep_h ep, unsigned id,
                          size_t length, unsigned flags)
{
    struct op *op             = play_new_op(play, "an active message", false);
    ucp_request_param_t param = play_op_param(op);

    param.flags = flags;
    return play_begun(op, ucp_am_send_nbx(ep, id, "head", 4, play->out, length,
                                          &param));
}

static ucs_status_t on_plain(void *arg, const void *header,
                             size_t header_length, void *data, size_t length,
                             const ucp_am_recv_param_t *param)
{
    struct play *play = arg;

    ++play->got[AM_PLAIN];
    EXPECT_INT(header_length, ==, 4);
    play_verify(play, data, length, 3);
    EXPECT(param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP);
    am_send(play, param->reply_ep, AM_REPLY, PLAY_SMALL, 0);
    return UCS_OK;
}

static ucs_status_t on_reply(void *arg, const void *header,
                             size_t header_length, void *data, size_t length,
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

static ucs_status_t on_large(void *arg, const void *header,
                             size_t header_length, void *data, size_t length,
                             const ucp_am_recv_param_t *param)
{
    struct play *play       = arg;
    struct op *op           = play_new_op(play, "data of a message", true);
    ucp_request_param_t how = play_op_param(op);

    ++play->got[AM_LARGE];
    EXPECT(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV);
    how.cb.recv_am = play_on_length;
    play_begun(op, ucp_am_recv_data_nbx(play->worker, data, play->in,
                                        PLAY_LARGE, &how));
    return UCS_OK;
}

/* Handler of a message that was sent in several fragments. UCP calls it once,
 * with the whole data. */
static ucs_status_t on_whole(void *arg, const void *header,
                             size_t header_length, void *data, size_t length,
                             const ucp_am_recv_param_t *param)
{
    struct play *play = arg;

    ++play->got[AM_WHOLE];
    EXPECT(!(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV));
    EXPECT_INT(length, ==, PLAY_LARGE);
    play_verify(play, data, length, 3);
    return UCS_OK;
}

ucs_status_t play_set_handlers(struct play *play)
{
    static const ucp_am_recv_callback_t handlers[] = {
        on_plain, on_kept, on_large, on_reply, on_whole,
    };
    ucp_am_handler_param_t param = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG |
                      UCP_AM_HANDLER_PARAM_FIELD_FLAGS,
        .arg = play,
    };
    ucs_status_t status = UCS_OK;

    for (param.id = 0; (param.id < PLAY_AMS) && (status == UCS_OK);
         ++param.id) {
        param.cb    = handlers[param.id];
        param.flags = (param.id == AM_KEPT) ? UCP_AM_FLAG_PERSISTENT_DATA : 0;
        status      = ucp_worker_set_am_recv_handler(play->worker, &param);
    }
    return status;
}

/* Waits for the end of all operations from number `first` on. */
static void finish_from(struct play *play, unsigned first)
{
    for (; first < play->num_ops; ++first) {
        play_finish(play, &play->ops[first]);
    }
}

/* Returns the error of the first operation from number `first` on that has
 * failed so far, or UCS_OK. */
static ucs_status_t error_since(const struct play *play, unsigned first)
{
    ucs_status_t status = UCS_OK;

    for (; (first < play->num_ops) && (status == UCS_OK); ++first) {
        status = play->ops[first].done ? play->ops[first].status : UCS_OK;
    }
    return status;
}

/* Waits for the other side's message with this id, or for an error of an
 * operation of this side from number `first` on. The second condition is needed
 * if an allocation fails at a receiver of a rendezvous. The receiver then
 * rejects the message without a call of its handler, and only the sender gets
 * an error. The receiver learns of this error when the sender sends its next
 * note. */
static void await_message(struct play *play, unsigned first, unsigned id,
                          const char *what)
{
    PLAY_WAIT_WHILE(play,
                    (play->got[id] == 0) &&
                        (error_since(play, first) == UCS_OK),
                    what);
    if (error_since(play, first) != UCS_OK) {
        play_take_error(play, error_since(play, first));
    }
}

void play_messages(struct play *play)
{
    unsigned first = play->num_ops;

    play->step = "active messages";
    play_fill(play->out, PLAY_LARGE, 3);
    am_send(play, play->ep, AM_PLAIN, PLAY_SMALL, UCP_AM_SEND_FLAG_REPLY);
    PLAY_WAIT_WHILE(play, play->got[AM_PLAIN] == 0, "a message");
    PLAY_WAIT_WHILE(play, play->got[AM_REPLY] == 0, "a reply");
    am_send(play, play->ep, AM_KEPT, PLAY_MIDDLE, 0);
    PLAY_WAIT_WHILE(play, play->got[AM_KEPT] == 0, "a message to keep");
    if (play->kept != NULL) {
        play_verify(play, play->kept, PLAY_MIDDLE, 3);
        ucp_am_data_release(play->worker, play->kept);
        play->kept = NULL;
    }
    am_send(play, play->ep, AM_LARGE, PLAY_LARGE, UCP_AM_SEND_FLAG_RNDV);
    await_message(play, first, AM_LARGE, "a large message");
    am_send(play, play->ep, AM_WHOLE, PLAY_LARGE, UCP_AM_SEND_FLAG_EAGER);
    await_message(play, first, AM_WHOLE, "a message in fragments");
    finish_from(play, first);
    play_verify(play, play->in, PLAY_LARGE, 3);
    play_agree_only(play);
}

/* --------------------------------------------------------------- streams -- */

static void play_stream(struct play *play, size_t length)
{
    struct op *in, *out;
    ucp_request_param_t param;
    size_t got;

    play->step = "stream";
    play_fill(play->out, length, 5);
    out   = play_new_op(play, "a stream's send", false);
    param = play_op_param(out);
    play_begun(out, ucp_stream_send_nbx(play->ep, play->out, length, &param));

    in                   = play_new_op(play, "a stream's receive", true);
    param                = play_op_param(in);
    param.cb.recv_stream = play_on_length;
    param.flags          = UCP_STREAM_RECV_FLAG_WAITALL;
    play_begun(in,
               ucp_stream_recv_nbx(play->ep, play->in, length, &got, &param));
    play_finish(play, out);
    play_finish(play, in);
    play_verify(play, play->in, length, 5);
    play_agree_only(play);
}

void play_streams(struct play *play)
{
    play_stream(play, 100);
    if (play->agreed) {
        play_stream(play, 50000);
    }
}
