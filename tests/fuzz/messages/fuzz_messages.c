/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: messages of a peer that violates UCP's protocol. An input is a
 * list of steps. A step is an operation of a user of UCP (a send, a receive, a
 * close and so on) or a message of the peer. The message is passed directly to
 * UCP's handler. It contains arbitrary bytes, or ids of existing requests and
 * endpoints. Callbacks of the user may close endpoints and start operations.
 *
 * Checked: no operation completes twice, every operation completes, and no
 * object remains after the worker and its endpoints are destroyed.
 * make_corpus.py describes the bytes of an input.
 */
#include "run.h"
#include "ucp/tag/match.h"

fuzz_t fuzz;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The peer may announce any length: memory for it is not available, which the
 * sanitizer would report as a fault. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/* Executes one step of an input. make_corpus.py gives names to the numbers of
 * the steps. */
static void step(reader_t *reader)
{
    static void (*const simple[])(reader_t * reader) = {
        [0] = fuzz_say_bytes,     [2] = fuzz_post_recv,
        [3] = fuzz_post_send,     [4] = fuzz_say_rtr,
        [5] = fuzz_say_data,      [6] = fuzz_say_done,
        [7] = fuzz_say_ack,       [8] = fuzz_say_rts,
        [9] = fuzz_say_eager,     [10] = fuzz_say_introduction,
        [11] = fuzz_say_farewell, [16] = fuzz_post_flush,
        [17] = fuzz_probe,        [20] = fuzz_say_ats,
        [21] = fuzz_post_am,      [22] = fuzz_use_kept,
        [23] = fuzz_say_am,       [24] = fuzz_say_am_rts,
        [25] = fuzz_say_fragment,
    };
    unsigned what = next(reader) % 26;
    unsigned slot;

    switch (what) {
    case 1:
        fuzz_progress(1 + next(reader) % 8);
        break;
    case 12:
        slot = next(reader);
        fuzz_close_ep(slot % NUM_EPS, slot & 16);
        break;
    case 13:
        fuzz_open_ep(next(reader) % NUM_EPS);
        break;
    case 14:
    case 15:
        fuzz_touch_op(reader, what == 14);
        break;
    case 18:
        slot = next(reader) % NUM_EPS;
        if ((fuzz.eps[slot] != NULL) && (fuzz.eps[slot]->am != NULL)) {
            uct_ep_invalidate(fuzz.eps[slot]->am, 0);
        }
        break;
    case 19:
        fuzz_release_held((next(reader) & 1) ? UCS_OK : UCS_ERR_IO_ERROR);
        break;
    default:
        simple[what](reader);
        break;
    }
}

/* ----------------------------------------------------- beginning and end -- */

static void open_context(void)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG | UCP_FEATURE_AM,
    };

    setenv("UCX_TLS", "self", 1);
    setenv("UCX_PLUGIN_PATH", "", 1);
    setenv("UCX_LOG_LEVEL", "fatal", 0);
    setenv("UCX_SELF_QUEUE_LEN", "4", 1);
    setenv("UCX_SELF_SEG_SIZE", "4k", 1);
    setenv("UCX_RNDV_THRESH", "2000", 1);
    check(ucp_init(&params, NULL, &fuzz.context) == UCS_OK, "no context");
    check(ucp_dt_create_generic(&fuzz_generic_ops, NULL, &fuzz.generic) ==
              UCS_OK,
          "no datatype");
}

static void free_requests(void)
{
    unsigned i;

    for (i = 0; i < fuzz.num_ops; ++i) {
        if (fuzz.ops[i].request != NULL) {
            ucp_request_free(fuzz.ops[i].request);
            fuzz.ops[i].request = NULL;
        }
    }
}

/* Closes the endpoints that UCP has created and passed to handlers for replies.
 * They exist until the user closes them. */
static void close_exposed(void)
{
    static const ucp_request_param_t force = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_EP_CLOSE_FLAG_FORCE,
    };
    ucp_ep_h ep, other;

    ucs_list_for_each_safe(ep, other, &fuzz.worker->eps, link) {
        if (ep->flags & UCP_EP_FLAG_EXPOSED) {
            check(ucp_ep_close_nbx(ep, &force) == NULL, "a close that waits");
        }
    }
    fuzz_progress(1);
}

/* Ends a run so that no operation is outstanding afterwards. A close without
 * force may wait for an answer of the peer, which never arrives. Such a close
 * ends because the lane of its endpoint is invalidated. */
static void end_orderly(void)
{
    ucp_request_t *req;
    ucp_ep_h ep;
    unsigned i;

    for (i = 0; i < NUM_EPS; ++i) {
        fuzz_close_ep(i, 1);
    }
    ucs_list_for_each(ep, &fuzz.worker->eps, link) {
        if ((ep->am != NULL) && !(ep->flags & UCP_EP_FLAG_INTERNAL)) {
            uct_ep_invalidate(ep->am, 0);
        }
    }
    for (i = 0; i < fuzz.num_ops; ++i) {
        fuzz.ops[i].action = 0;
    }
    /* when a held put or get fails, UCP may start the operation again with
     * another protocol, and the lane may then hold it again: repeat */
    for (i = 0; i < 3; ++i) {
        fuzz_release_held(UCS_ERR_CANCELED);
        fuzz_progress(40);
        fuzz_say_farewells();
    }
    fuzz_release_held(UCS_ERR_CANCELED);
    fuzz_progress(40);
    close_exposed();
    for (i = 0; i < fuzz.num_ops; ++i) {
        if (fuzz.ops[i].request != NULL) {
            ucp_request_cancel(fuzz.worker, fuzz.ops[i].request);
        }
        check(!fuzz.ops[i].pending, "an operation was lost");
    }
    free_requests();
    /* a receive whose request the user has freed stays posted: cancel it */
    while ((req = ucp_tag_expected_any(ucp_worker_tag(fuzz.worker))) != NULL) {
        ucp_request_cancel(fuzz.worker, ucp_request_user(req));
    }
    check(ucs_list_is_empty(&fuzz.worker->eps), "an endpoint was left");
    check(ucs_mpool_num_used(&fuzz.worker->requests) == 0,
          "a request was left");
}

/* Ends a run while operations are outstanding: the caller then destroys the
 * worker. */
static void end_abruptly(void)
{
    unsigned i;

    /* held operations are completed here, because lanes must not complete
     * operations after the worker has closed their interface */
    for (i = 0; i < NUM_EPS; ++i) {
        if (fuzz.num_held > 0) {
            fuzz_close_ep(i, 1);
        }
    }
    fuzz_release_held(UCS_ERR_CANCELED);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_FLAGS,
        .flags      = UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK,
    };
    reader_t reader = {data, size};
    unsigned i;

    if (fuzz.context == NULL) {
        open_context();
    }
    check(ucp_worker_create(fuzz.context, &params, &fuzz.worker) == UCS_OK,
          "no worker");
    fuzz_set_handlers();
    fuzz.mode    = (int)next(&reader);
    fuzz.num_ops = 0;
    memset(fuzz.ops, 0, sizeof(fuzz.ops));
    fuzz_use_lane();
    fuzz_open_ep(0);
    for (i = 0; (i < MAX_STEPS) && (reader.left > 0); ++i) {
        step(&reader);
    }

    if (fuzz.mode & MODE_ABRUPT) {
        end_abruptly();
    } else {
        end_orderly();
    }
    fuzz.ending = 1;
    ucp_worker_destroy(fuzz.worker);
    fuzz.ending = 0;
    memset(fuzz.eps, 0, sizeof(fuzz.eps));
    for (i = 0; i < fuzz.num_ops; ++i) {
        check(!fuzz.ops[i].pending, "an operation was lost with the worker");
        free(fuzz.ops[i].buffer);
        free(fuzz.ops[i].iov);
    }
    return 0;
}
