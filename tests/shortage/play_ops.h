/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the steps: waiting, synchronization with the peer, and
 * operations with a record of their requests.
 */
#ifndef SHORTAGE_PLAY_OPS_H
#define SHORTAGE_PLAY_OPS_H

#include "play.h"

#define PLAY_LIMIT 10.0 /* Limit of any wait in seconds */

enum { PLAY_SMALL = 8, PLAY_MIDDLE = 3000 };

/* How a tagged message is sent. WHOLE: eager for any length. */
enum play_way { PLAY_PLAIN, PLAY_SYNC, PLAY_WHOLE };

/* ------------------------------------------------------------ both sides -- */

/* Stores the first error. */
void play_take_error(struct play *play, ucs_status_t status);

/* Returns whether the step continues: neither side has had an error. */
bool play_goes_on(const struct play *play);

void play_progress(struct play *play);

/* Fails the test because a wait has exceeded its limit. */
void play_hangs(const struct play *play, const char *what);

/* Progresses while the condition is true and the step continues. */
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

/* Exchanges the statuses of both sides, and some bytes; returns whether to
 * continue. */
bool play_agree(struct play *play, const void *bytes, size_t length);
bool play_agree_only(struct play *play);

/* ------------------------------------------------------------ operations -- */

struct op *play_new_op(struct play *play, const char *what, bool receives);

/* Parameters with a callback that completes the operation. */
ucp_request_param_t play_op_param(struct op *op);

/* The callbacks of receives. */
void play_on_tag(void *request, ucs_status_t status,
                 const ucp_tag_recv_info_t *info, void *op);
void play_on_length(void *request, ucs_status_t status, size_t length,
                    void *op);

/* Stores the result of the call; returns the operation. */
struct op *play_begun(struct op *op, ucs_status_ptr_t result);

/* Waits for completion, and stores an error. */
void play_finish(struct play *play, struct op *op);

/* Fills a buffer with a pattern, or verifies it. */
void play_fill(char *bytes, size_t length, unsigned seed);
void play_verify(struct play *play, const char *bytes, size_t length,
                 unsigned seed);

struct op *play_tag_send(struct play *play, ucp_ep_h ep, size_t length,
                         ucp_tag_t tag, enum play_way way);
struct op *play_tag_recv(struct play *play, size_t length, ucp_tag_t tag);

/* ----------------------------------------------------------------- steps -- */

ucs_status_t play_set_handlers(struct play *play);
void play_connect(struct play *play);
void play_tags(struct play *play);
void play_messages(struct play *play);
void play_streams(struct play *play);
void play_memory(struct play *play);
void play_client(struct play *play);
void play_close(struct play *play, ucp_ep_h *ep_p);

#endif
