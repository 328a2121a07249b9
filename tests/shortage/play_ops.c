/* SPDX-License-Identifier: BSD-3-Clause */
/* See play_ops.h. */
#include "play_ops.h"

#include "scarce.h"

#include <sched.h>
#include <string.h>

/* ------------------------------------------------------------ both sides -- */

void play_take_error(struct play *play, ucs_status_t status)
{
    if (play->status == UCS_OK) {
        play->status = status;
    }
}

bool play_goes_on(const struct play *play)
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

void play_progress(struct play *play)
{
    if ((play->worker == NULL) || (ucp_worker_progress(play->worker) == 0)) {
        sched_yield();
    }
    look_for_note(play);
    if (play->failure != UCS_OK) {
        play_take_error(play, play->failure);
    }
}

void play_hangs(const struct play *play, const char *what)
{
    scarce_show();
    FAIL("%s: %s is not over after %.0f s", play->step, what,
         test_seconds(PLAY_LIMIT));
}

bool play_agree(struct play *play, const void *bytes, size_t length)
{
    struct note note = {.status = play->status, .length = (uint32_t)length};
    double end       = test_now() + 2 * test_seconds(PLAY_LIMIT);

    EXPECT_INT(length, <=, PLAY_NOTE);
    memcpy(note.bytes, bytes, length);
    if (play->team->size == 1) {
        play->note   = note;
        play->agreed = (note.status == UCS_OK);
        return play->agreed;
    }
    team_put(play->team, play->other, &note, sizeof(note));
    while (!play->noted) {
        play_progress(play);
        if (test_now() > end) {
            play_hangs(play, "the other side");
        }
    }
    play->noted  = false;
    play->agreed = (note.status == UCS_OK) && (play->note.status == UCS_OK);
    return play->agreed;
}

bool play_agree_only(struct play *play)
{
    return play_agree(play, "", 0);
}

/* ------------------------------------------------------------ operations -- */

struct op *play_new_op(struct play *play, const char *what, bool receives)
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

void play_on_tag(void *request, ucs_status_t status,
                 const ucp_tag_recv_info_t *info, void *arg)
{
    ((struct op *)arg)->length = info->length;
    on_end(request, status, arg);
}

void play_on_length(void *request, ucs_status_t status, size_t length,
                    void *arg)
{
    ((struct op *)arg)->length = length;
    on_end(request, status, arg);
}

ucp_request_param_t play_op_param(struct op *op)
{
    return (ucp_request_param_t){
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS |
                        (op->receives ? UCP_OP_ATTR_FLAG_NO_IMM_CMPL : 0),
        .cb.send   = on_end,
        .user_data = op,
    };
}

struct op *play_begun(struct op *op, ucs_status_ptr_t result)
{
    if (!UCS_PTR_IS_PTR(result)) {
        end_op(op, UCS_PTR_STATUS(result));
    } else if (!op->done) {
        op->request = result;
    }
    return op;
}

void play_finish(struct play *play, struct op *op)
{
    PLAY_WAIT_WHILE(play, !op->done, op->what);
    if (op->done && (op->status != UCS_OK)) {
        play_take_error(play, op->status);
    }
}

void play_fill(char *bytes, size_t length, unsigned seed)
{
    size_t i;

    for (i = 0; i < length; ++i) {
        bytes[i] = (char)(seed + i * 7 + (i >> 8));
    }
}

void play_verify(struct play *play, const char *bytes, size_t length,
                 unsigned seed)
{
    size_t i;

    for (i = 0; (i < length) && play_goes_on(play); ++i) {
        if (bytes[i] != (char)(seed + i * 7 + (i >> 8))) {
            scarce_show();
            FAIL("%s: the byte at %zu of %zu is wrong", play->step, i, length);
        }
    }
}
