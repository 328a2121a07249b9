/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of which the steps of a run (play.h) consist: waits,
 * synchronization with the other side, and operations whose requests are
 * recorded in struct play. Also the steps themselves.
 */
#ifndef SHORTAGE_PLAY_OPS_H
#define SHORTAGE_PLAY_OPS_H

#include "play.h"

/* Maximum seconds of a wait (play_agree(): twice as many); test_seconds()
 * adapts it to slow builds */
#define PLAY_LIMIT 10.0

enum { PLAY_SMALL = 8, PLAY_MIDDLE = 3000 }; /* Bytes of messages */

/* How a tagged message is sent. */
enum play_way {
    PLAY_PLAIN, /* Ordinary send: eager or rendezvous, depending on the
                 * length */
    PLAY_SYNC,  /* Synchronous send */
    PLAY_WHOLE  /* Eager for any length, because the send asks for fast
                 * completion */
};

/* ------------------------------------------------------------ both sides -- */

/* Stores `status` as the error of this side, unless there is already one. */
void play_take_error(struct play *play, ucs_status_t status);

/* Returns whether the step continues: neither side is known to have an
 * error. */
bool play_goes_on(const struct play *play);

/* Progresses the worker once, and looks for a note of the other side and for an
 * error of an endpoint. */
void play_progress(struct play *play);

/* Fails the test because a wait for `what` has taken too long. */
void play_hangs(const struct play *play, const char *what);

/* Progresses while the condition is true and the step continues. Fails the test
 * if this takes longer than PLAY_LIMIT. */
#define PLAY_WAIT_WHILE(_play, _condition, _what) \
    do { \
        double end_ = test_now() + test_seconds(PLAY_LIMIT); \
        while ((_condition) && play_goes_on(_play)) { \
            play_progress(_play); \
            if (test_now() > end_) { \
                play_hangs(_play, _what); \
            } \
        } \
    } while (0)

/* Sends the status of this side and `bytes` to the other side, and waits for
 * the same from there, which is then in play->note. Returns whether neither
 * side has an error. play_agree_only() exchanges only the statuses. */
bool play_agree(struct play *play, const void *bytes, size_t length);
bool play_agree_only(struct play *play);

/* ------------------------------------------------------------ operations -- */

/* Adds an operation to play->ops. A step then passes the result of
 * play_op_param() to the call of UCP, and the result of that call to
 * play_begun(). */
struct op *play_new_op(struct play *play, const char *what, bool receives);

/* Returns parameters for the call of UCP, with a callback that records the end
 * of the operation. */
ucp_request_param_t play_op_param(struct op *op);

/* The same callback for receives, which must set it in the parameters. */
void play_on_tag(void *request, ucs_status_t status,
                 const ucp_tag_recv_info_t *info, void *op);
void play_on_length(void *request, ucs_status_t status, size_t length,
                    void *op);

/* Records the result of the call of UCP: the request, or the end of the
 * operation. Returns `op`. */
struct op *play_begun(struct op *op, ucs_status_ptr_t result);

/* Waits for the end of the operation while the step continues. If the operation
 * has failed, stores its status as the error of this side. */
void play_finish(struct play *play, struct op *op);

/* Fill a buffer with a pattern that depends on `seed`, and verify the pattern.
 * play_verify() does nothing if a side has an error. */
void play_fill(char *bytes, size_t length, unsigned seed);
void play_verify(struct play *play, const char *bytes, size_t length,
                 unsigned seed);

/* Start a tagged send from play->out and a tagged receive into play->in. */
struct op *play_tag_send(struct play *play, ucp_ep_h ep, size_t length,
                         ucp_tag_t tag, enum play_way way);
struct op *play_tag_recv(struct play *play, size_t length, ucp_tag_t tag);

/* ----------------------------------------------------------------- steps -- */

/* Sets the handlers of active messages. */
ucs_status_t play_set_handlers(struct play *play);
/* The steps in their order, and play_close(), which closes an endpoint. */
void play_connect(struct play *play);
void play_tags(struct play *play);
void play_messages(struct play *play);
void play_streams(struct play *play);
void play_memory(struct play *play);
void play_client(struct play *play);
void play_close(struct play *play, ucp_ep_h *ep_p);

#endif
