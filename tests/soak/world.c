/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects that a process of the soak test opens and closes: context,
 * worker, endpoints, and memory that it offers (loans). Also the checks for
 * leaks. */
#include "soak.h"

#include "common/usage.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_BLOB = 64 * 1024, HEAP_MORE = 256 * 1024, MAPPINGS_MORE = 40 };

/* --- opening ------------------------------------------------------------- */

void world_open(struct soak *soak)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES |
                      UCP_PARAM_FIELD_MT_WORKERS_SHARED,
        .features = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_RMA |
                    UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64 | UCP_FEATURE_STREAM,
        .mt_workers_shared = soak->threads > 1,
    };
    ucp_worker_params_t worker_params = {
        .field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = (soak->threads > 1) ? UCS_THREAD_MODE_MULTI :
                                             UCS_THREAD_MODE_SINGLE,
    };
    ucp_context_attr_t attr = {.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE};

    soak->sleeps = (soak->threads == 1) && !soak->awake &&
                   random_below(&soak->random, 2);
    soak->err_mode = random_below(&soak->random, 4) ?
                         UCP_ERR_HANDLING_MODE_PEER :
                         UCP_ERR_HANDLING_MODE_NONE;
    if (soak->sleeps) {
        params.features |= UCP_FEATURE_WAKEUP;
    }
    EXPECT_OK(ucp_init(&params, NULL, &soak->context));
    EXPECT_OK(ucp_context_query(soak->context, &attr));
    soak->request_size = attr.request_size;
    EXPECT_OK(ucp_worker_create(soak->context, &worker_params, &soak->worker));
    soak->generic = payload_generic();
    am_open(soak);
    rma_lend(soak);
}

static void on_failure(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    struct peer *peer = arg;

    (void)ep;
    if (!peer->closing) {
        FAIL("the endpoint to %d failed: %s", peer->rank,
             ucs_status_string(status));
    }
}

static void create_ep(struct peer *peer, const void *address)
{
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER |
                      UCP_EP_PARAM_FIELD_USER_DATA,
        .address     = address,
        .err_mode    = peer->soak->err_mode,
        .err_handler = {.cb = on_failure, .arg = peer},
        .user_data   = peer,
    };

    peer->closing = false;
    EXPECT_OK(ucp_ep_create(peer->soak->worker, &params, &peer->ep));
    stream_connected(peer);
}

/* --- exchange with peers ------------------------------------------------- */

struct blob {
    size_t length;
    char bytes[MAX_BLOB];
};

static void blob_put(struct team *team, int rank, const struct blob *blob)
{
    team_put(team, rank, &blob->length, sizeof(blob->length));
    team_put(team, rank, blob->bytes, blob->length);
}

static void blob_get(struct team *team, int rank, struct blob *blob)
{
    team_get(team, rank, &blob->length, sizeof(blob->length));
    EXPECT_INT(blob->length, <=, MAX_BLOB);
    team_get(team, rank, blob->bytes, blob->length);
}

static void blob_set(struct blob *blob, const void *bytes, size_t length)
{
    EXPECT_INT(length, <=, MAX_BLOB);
    blob->length = length;
    memcpy(blob->bytes, bytes, length);
}

static void own_address(struct soak *soak, struct blob *blob)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};

    EXPECT_OK(ucp_worker_query(soak->worker, &attr));
    blob_set(blob, attr.address, attr.address_length);
    ucp_worker_release_address(soak->worker, attr.address);
}

static void own_key(const struct loan *loan, struct blob *blob)
{
    void *key;
    size_t length;

    EXPECT_OK(ucp_memh_pack(loan->memh, NULL, &key, &length));
    blob_set(blob, key, length);
    ucp_memh_buffer_release(key, NULL);
}

void world_tell(struct soak *soak, int rank)
{
    struct blob *blob = malloc(sizeof(*blob));
    uint64_t address;
    int i;

    EXPECT(blob != NULL);
    own_address(soak, blob);
    blob_put(soak->team, rank, blob);
    for (i = 0; i < LOANS; ++i) {
        address = (uintptr_t)soak->loans[i].memory;
        team_put(soak->team, rank, &address, sizeof(address));
        own_key(&soak->loans[i], blob);
        blob_put(soak->team, rank, blob);
    }
    free(blob);
}

void world_connect(struct soak *soak, int rank)
{
    struct peer *peer = &soak->peers[rank];
    bool other        = (rank != soak->team->rank);
    struct blob *blob = malloc(sizeof(*blob));
    int i;

    EXPECT(blob != NULL);
    if (other) {
        blob_get(soak->team, rank, blob);
    } else {
        own_address(soak, blob);
    }
    create_ep(peer, blob->bytes);
    for (i = 0; i < LOANS; ++i) {
        if (other) {
            team_get(soak->team, rank, &peer->addresses[i],
                     sizeof(peer->addresses[i]));
            blob_get(soak->team, rank, blob);
        } else {
            peer->addresses[i] = (uintptr_t)soak->loans[i].memory;
            own_key(&soak->loans[i], blob);
        }
        EXPECT_OK(ucp_ep_rkey_unpack(peer->ep, blob->bytes, &peer->rkeys[i]));
    }
    free(blob);
}

/* --- closing ------------------------------------------------------------- */

void world_disconnect(struct soak *soak, struct actor *actor, int rank,
                      bool force)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = force ? UCP_EP_CLOSE_FLAG_FORCE : 0,
    };
    struct peer *peer = &soak->peers[rank];
    double deadline   = actor_deadline();
    ucs_status_ptr_t request;
    int i;

    for (i = 0; i < LOANS; ++i) {
        ucp_rkey_destroy(peer->rkeys[i]);
    }
    request = ucp_ep_close_nbx(peer->ep, &param);
    if (UCS_PTR_IS_PTR(request)) {
        while (ucp_request_check_status(request) == UCS_INPROGRESS) {
            actor_step(actor);
            actor_late(actor, deadline, "close");
        }
        ucp_request_free(request);
    }
    peer->ep = NULL;
    actor_step(actor); /* ends operations that the close has completed */
    stream_closed(peer);
}

/* Closes the endpoints with flush or by force, or leaves them to the
 * destruction of the worker. Then closes everything else. */
void world_close(struct soak *soak, struct actor *actor)
{
    uint64_t way = random_below(&soak->random, 3);
    int rank, i;

    for (rank = 0; rank < soak->team->size; ++rank) {
        if (way < 2) {
            world_disconnect(soak, actor, rank,
                             (way == 1) && (soak->err_mode !=
                                            UCP_ERR_HANDLING_MODE_NONE));
        } else {
            for (i = 0; i < LOANS; ++i) {
                ucp_rkey_destroy(soak->peers[rank].rkeys[i]);
            }
        }
    }
    if (way < 2) {
        world_barrier(actor);
    }
    ucp_worker_destroy(soak->worker);
    /* ends operations that the destruction has completed */
    actor_end_ops(actor);
    if (way == 2) {
        for (rank = 0; rank < soak->team->size; ++rank) {
            stream_closed(&soak->peers[rank]);
        }
    }
    rma_take_back(soak);
    ucp_dt_destroy(soak->generic);
    ucp_cleanup(soak->context);
    soak->worker = NULL;
}

static void barrier_step(void *arg)
{
    actor_step(arg);
}

void world_barrier(struct actor *actor)
{
    team_barrier(actor->soak->team, barrier_step, actor);
}

/* The resources in use after everything was closed for the second time are the
 * baseline, because libraries allocate caches when they are used first. */
void world_is_clean(struct soak *soak)
{
    unsigned fds      = usage_fds();
    unsigned mappings = usage_mappings();
    size_t heap       = usage_heap();

    if (usage_shared() != 0) {
        usage_show_shared();
        FAIL("shared memory is left after everything was closed");
    }
    if (++soak->closings <= 2) {
        soak->fds      = fds;
        soak->heap     = heap;
        soak->mappings = mappings;
        return;
    }
    if (fds > soak->fds) {
        usage_show_fds();
    }
    EXPECT_INT(fds, <=, soak->fds);
    EXPECT_INT(heap, <=, soak->heap + HEAP_MORE);
    EXPECT_INT(mappings, <=, soak->mappings + MAPPINGS_MORE);
}
