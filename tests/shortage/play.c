/* SPDX-License-Identifier: BSD-3-Clause */
/* See play.h: the first and the last step, the order of the steps, and the
 * closing after them. */
#include "play_ops.h"

#include <string.h>

static void open_all(struct play *play)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM |
                    UCP_FEATURE_RMA | UCP_FEATURE_AMO64 | UCP_FEATURE_WAKEUP,
    };
    ucp_worker_params_t worker_params = {
        .field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_SINGLE,
    };
    ucs_status_t status;
    int fd;

    play->step = "open";
    status     = ucp_init(&params, NULL, &play->context);
    if (status == UCS_OK) {
        status = ucp_worker_create(play->context, &worker_params,
                                   &play->worker);
    }
    if (status == UCS_OK) {
        status = play_set_handlers(play);
    }
    if (status == UCS_OK) {
        status = ucp_worker_get_efd(play->worker, &fd);
    }
    play_take_error(play, status);
    play_agree_only(play);
}

/* Closes an endpoint by force. The close fails if one of its allocations fails.
 * A trial has a limited number of failing calls (--burst), and each attempt uses
 * up at least one of them: repeat the close until it succeeds. */
static void close_by_force(struct play *play, ucp_ep_h ep)
{
    double end                = test_now() + test_seconds(PLAY_LIMIT);
    struct op *op             = play_new_op(play, "a forced close", false);
    ucp_request_param_t param = play_op_param(op);
    ucs_status_ptr_t result;

    param.flags = UCP_EP_CLOSE_FLAG_FORCE;
    do {
        if (test_now() > end) {
            play_hangs(play, op->what);
        }
        result = ucp_ep_close_nbx(ep, &param);
    } while (UCS_PTR_STATUS(result) == UCS_ERR_NO_MEMORY);
    play_begun(op, result);
}

/* Waits until all operations of the run have ended. Cancels receives, because
 * their messages may never arrive. */
static void end_operations(struct play *play)
{
    double end = test_now() + test_seconds(PLAY_LIMIT);
    unsigned i;

    for (i = 0; i < play->num_ops; ++i) {
        while (!play->ops[i].done) {
            if (play->ops[i].receives && (play->ops[i].request != NULL)) {
                ucp_request_cancel(play->worker, play->ops[i].request);
            }
            play_progress(play);
            if (test_now() > end) {
                play_hangs(play, play->ops[i].what);
            }
        }
    }
}

/* Releases all that the run has created. */
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
        play_take_error(play, ucp_listener_reject(play->listener, play->asked));
    }
    if (play->listener != NULL) {
        ucp_listener_destroy(play->listener);
    }
    if (play->memh != NULL) {
        play_take_error(play, ucp_mem_unmap(play->context, play->memh));
    }
    if (play->worker != NULL) {
        ucp_worker_destroy(play->worker);
        play->worker = NULL;
    }
    if (play->context != NULL) {
        ucp_cleanup(play->context);
    }
    play_agree_only(play);
}

static void play_end(struct play *play)
{
    play->step = "close";
    play_close(play, &play->ep);
    play_agree_only(play);
}

ucs_status_t play_run(struct play *play, struct team *team)
{
    static void (*const steps[])(struct play *) = {
        open_all,     play_connect, play_tags,   play_messages,
        play_streams, play_memory,  play_client, play_end,
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
