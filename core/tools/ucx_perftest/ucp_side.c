/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes UCP for a test, and waits. Uses the public API only, so that
 * the source can be compiled for any implementation of UCX. */
#include "ucp_side.h"

#include "pattern.h"

#include <endian.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ucs_status_t fail(struct perf_run *run, ucs_status_t status,
                         const char *call)
{
    return perf_error(run, status, "%s: %s", call, ucs_status_string(status));
}

static bool needs_amo(const struct perf_test *test)
{
    return (test->features & UCP_FEATURE_AMO64) != 0;
}

static bool needs_memory(const struct perf_test *test)
{
    return needs_amo(test) || (test->features & UCP_FEATURE_RMA);
}

static bool refuse(char error[PARAMS_ERROR_MAX], const char *why)
{
    snprintf(error, PARAMS_ERROR_MAX, "%s", why);
    return false;
}

static bool check_memory(const struct perf_test *test,
                         const struct params *params,
                         char error[PARAMS_ERROR_MAX])
{
    if ((params->send_memory == UCS_MEMORY_TYPE_HOST) &&
        (params->recv_memory == UCS_MEMORY_TYPE_HOST)) {
        return true;
    }
    if (params->flags & PARAMS_CHECK) {
        return refuse(error, "--check reads the data with the processor: host "
                             "memory only (-m)");
    }
    if (needs_amo(test) || (test->run == ucp_put_latency)) {
        return refuse(error, "this test polls memory with the processor: host "
                             "memory only (-m)");
    }
    return true;
}

static bool check(const struct perf_test *test, const struct params *params,
                  char error[PARAMS_ERROR_MAX])
{
    uint64_t size = params_size(params);

    if ((params->transport[0] != '\0') || (params->device[0] != '\0')) {
        return refuse(error,
                      "-x and -d are for tests of UCT; those of UCP "
                      "take UCX_TLS and UCX_NET_DEVICES from the environment");
    }
    if (params->layout != LAYOUT_SHORT) {
        return refuse(error, "-D: UCP selects the protocol by itself; tests of "
                             "UCP take contig or iov");
    }
    if (needs_memory(test) &&
        (params->flags & (PARAMS_IOV_SEND | PARAMS_IOV_RECV))) {
        return refuse(error, "put, get and atomics use one buffer: -D iov is "
                             "for messages");
    }
    if (needs_amo(test) && (size != 4) && (size != 8)) {
        return refuse(error, "atomics have 4 or 8 bytes (-s)");
    }
    if ((size == 0) &&
        (needs_memory(test) || (test->features & UCP_FEATURE_STREAM))) {
        return refuse(error, "this test needs at least one byte (-s)");
    }
    if ((test->run == ucp_put_latency) && (params->flags & PARAMS_SLEEP)) {
        return refuse(error, "-E sleep: this test polls memory, and a write to "
                             "memory causes no wake-up");
    }
    return check_memory(test, params, error);
}

void ucp_side_completed(void *request, ucs_status_t status, void *arg)
{
    struct ucp_side *side = arg;

    --side->pending;
    if (perf_unlikely(status != UCS_OK)) {
        side->failed = status;
    }
    ucp_request_free(request);
}

ucs_status_t ucp_side_sleep(struct ucp_side *side)
{
    struct channel *channel = side->thread->run->channel;
    struct pollfd pollers[] = {
        {.fd = side->event_fd, .events = POLLIN},
        {.fd = (channel == NULL) ? -1 : channel->fd, .events = POLLRDHUP},
    };
    ucs_status_t status;

    if (ucp_worker_progress(side->worker) != 0) {
        return side->failed;
    }
    status = ucp_worker_arm(side->worker);
    if (status == UCS_ERR_BUSY) {
        return side->failed;
    }
    if (status != UCS_OK) {
        return fail(side->thread->run, status, "ucp_worker_arm");
    }
    if ((poll(pollers, 2, -1) > 0) && (pollers[1].revents != 0)) {
        return perf_check_peer(side->thread);
    }
    return side->failed;
}

ucs_status_t ucp_side_flush(struct ucp_side *side)
{
    ucs_status_t status;

    status = ucp_side_begun(side,
                            ucp_ep_flush_nbx(side->ep, &side->plain_param));
    return (status == UCS_OK) ? ucp_side_wait(side, 0) : status;
}

static ucs_status_t open_context(struct perf_run *run, ucp_context_h *context_p)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES |
                      UCP_PARAM_FIELD_MT_WORKERS_SHARED,
        .features          = run->test->features,
        .mt_workers_shared = (run->params.threads > 1),
    };
    ucs_status_t status;

    if (needs_amo(run->test)) {
        params.features = (params_size(&run->params) == 4) ? UCP_FEATURE_AMO32 :
                                                             UCP_FEATURE_AMO64;
    }
    if (run->params.flags & (PARAMS_WAKEUP | PARAMS_SLEEP)) {
        params.features |= UCP_FEATURE_WAKEUP;
    }
    status = ucp_init(&params, NULL, context_p);
    return (status == UCS_OK) ? UCS_OK : fail(run, status, "ucp_init");
}

/* Opens a worker. The main thread opens all workers and other threads use them,
 * so the thread mode "single" would be wrong with several threads. */
static ucs_status_t open_worker(struct perf_run *run, struct ucp_side *side)
{
    const ucp_worker_params_t params = {
        .field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = ((run->params.threads > 1) &&
                        (run->params.thread_mode == UCS_THREAD_MODE_SINGLE)) ?
                           UCS_THREAD_MODE_SERIALIZED :
                           run->params.thread_mode,
    };
    ucs_status_t status;

    status = ucp_worker_create(run->shared, &params, &side->worker);
    if (status != UCS_OK) {
        side->worker = NULL;
        return fail(run, status, "ucp_worker_create");
    }
    if (run->params.flags & PARAMS_SLEEP) {
        status       = ucp_worker_get_efd(side->worker, &side->event_fd);
        side->sleeps = true;
    }
    return (status == UCS_OK) ? UCS_OK :
                                fail(run, status, "ucp_worker_get_efd");
}

static void fill_param(ucp_request_param_t *param, const struct params *params,
                       const struct ucp_area *area)
{
    param->op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                          UCP_OP_ATTR_FIELD_USER_DATA;
    if (area->in_pieces) {
        param->op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
        param->datatype = ucp_dt_make_iov();
    }
    if (params->flags & PARAMS_HANDLES) {
        param->op_attr_mask |= UCP_OP_ATTR_FIELD_MEMH;
        param->memh = area->handle;
    }
    if (area->memory_type != UCS_MEMORY_TYPE_HOST) {
        param->op_attr_mask |= UCP_OP_ATTR_FIELD_MEMORY_TYPE;
        param->memory_type = area->memory_type;
    }
}

static void fill_params(struct ucp_side *side, const struct params *params)
{
    fill_param(&side->send_param, params, &side->send);
    side->send_param.cb.send   = ucp_side_completed;
    side->send_param.user_data = side;
    fill_param(&side->recv_param, params, &side->recv);
    side->plain_param = (ucp_request_param_t){
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send   = ucp_side_completed,
        .user_data = side,
    };
}

static ucs_status_t open_header(struct ucp_side *side, int length)
{
    side->header_length = (length > 0) ? length : 0;
    if (side->header_length > 0) {
        side->header = malloc(side->header_length);
        if (side->header == NULL) {
            return UCS_ERR_NO_MEMORY;
        }
        pattern_fill(side->header, side->header_length, 0, 0);
    }
    return UCS_OK;
}

static ucs_status_t open_side(struct perf_run *run, struct perf_thread *thread)
{
    struct ucp_side *side = calloc(1, sizeof(*side));
    bool exposed          = needs_memory(run->test);
    ucs_status_t status;

    thread->side = side;
    if (side == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    side->thread           = thread;
    side->outstanding      = run->outstanding;
    side->checks           = (run->params.flags & PARAMS_CHECK) != 0;
    side->size             = params_size(&run->params);
    side->send.in_pieces   = (run->params.flags & PARAMS_IOV_SEND) != 0;
    side->recv.in_pieces   = (run->params.flags & PARAMS_IOV_RECV) != 0;
    side->send.memory_type = run->params.send_memory;
    side->recv.memory_type = run->params.recv_memory;
    side->replies          = calloc(side->outstanding, sizeof(uint64_t));
    if (side->replies == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    status = open_worker(run, side);
    if (status != UCS_OK) {
        return status;
    }
    status = ucp_area_open(thread, run->shared, &side->send, false);
    if (status != UCS_OK) {
        return status;
    }
    status = ucp_area_open(thread, run->shared, &side->recv, exposed);
    if (status != UCS_OK) {
        return status;
    }
    fill_params(side, &run->params);
    if (run->test->features & UCP_FEATURE_AM) {
        status = open_header(side, run->params.header);
        return (status == UCS_OK) ? ucp_am_prepare(side) : status;
    }
    if (side->checks && (run->test->run == ucp_get_requests)) {
        pattern_fill(side->recv.memory, side->size, 0, 0);
    }
    return UCS_OK;
}

static ucs_status_t side_open(struct perf_run *run)
{
    ucp_context_h context;
    ucs_status_t status;
    unsigned i;

    status = open_context(run, &context);
    if (status != UCS_OK) {
        return status;
    }
    run->shared = context;
    for (i = 0; (i < run->params.threads) && (status == UCS_OK); ++i) {
        status = open_side(run, &run->threads[i]);
    }
    return status;
}

/* Returns the data for the peer; numbers have 8 bytes, little-endian:
 *
 * | length of the worker address | worker address | address of the memory |
 * | length of the memory's key | key |
 */
static char *describe(struct perf_thread *thread, size_t *length_p)
{
    struct ucp_side *side = thread->side;
    uint64_t remote       = htole64((uintptr_t)side->recv.memory);
    size_t address_length, key_length = 0;
    ucp_address_t *address;
    uint64_t number;
    void *key  = NULL;
    char *text = NULL;
    FILE *file;

    if (ucp_worker_get_address(side->worker, &address, &address_length) !=
        UCS_OK) {
        return NULL;
    }
    if (needs_memory(thread->run->test) &&
        (ucp_rkey_pack(thread->run->shared, side->recv.handle, &key,
                       &key_length) != UCS_OK)) {
        goto out;
    }
    file = open_memstream(&text, length_p);
    if (file == NULL) {
        goto out;
    }
    number = htole64(address_length);
    fwrite(&number, sizeof(number), 1, file);
    fwrite(address, address_length, 1, file);
    fwrite(&remote, sizeof(remote), 1, file);
    number = htole64(key_length);
    fwrite(&number, sizeof(number), 1, file);
    if (key_length > 0) {
        fwrite(key, key_length, 1, file);
    }
    if (fclose(file) != 0) {
        free(text);
        text = NULL;
    }
out:
    if (key != NULL) {
        ucp_rkey_buffer_release(key);
    }
    ucp_worker_release_address(side->worker, address);
    return text;
}

/* Reads a number and advances the pointer. Returns false if the data is too
 * short. */
static bool take(const char **data, size_t *length, uint64_t *number_p)
{
    if (*length < sizeof(*number_p)) {
        return false;
    }
    memcpy(number_p, *data, sizeof(*number_p));
    *number_p = le64toh(*number_p);
    *data += sizeof(*number_p);
    *length -= sizeof(*number_p);
    return true;
}

static void on_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    struct ucp_side *side = arg;

    (void)ep;
    side->failed = status;
}

static ucs_status_t open_ep(struct ucp_side *side, const void *address)
{
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
        .address    = address,
    };

    if (side->thread->run->params.flags & PARAMS_ERRORS) {
        params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                             UCP_EP_PARAM_FIELD_ERR_HANDLER;
        params.err_mode        = UCP_ERR_HANDLING_MODE_PEER;
        params.err_handler.cb  = on_error;
        params.err_handler.arg = side;
    }
    return ucp_ep_create(side->worker, &params, &side->ep);
}

/* Copies an address or a key and appends zeros. The library receives addresses
 * and keys without their length, and parses the length from the contents; the
 * zeros limit what it reads if the peer's data is invalid. */
static void *copy_blob(const char *data, size_t length)
{
    enum { MARGIN = 4096 };
    char *copy = calloc(1, length + MARGIN);

    if (copy != NULL) {
        memcpy(copy, data, length);
    }
    return copy;
}

static ucs_status_t connect_peer(struct perf_thread *thread, const char *data,
                                 size_t length)
{
    struct ucp_side *side = thread->side;
    uint64_t address_length, key_length = 0;
    ucs_status_t status = UCS_ERR_INVALID_PARAM;
    void *address = NULL, *key = NULL;

    if (!take(&data, &length, &address_length) || (address_length == 0) ||
        (address_length > length)) {
        goto invalid;
    }
    address = copy_blob(data, address_length);
    data += address_length;
    length -= address_length;
    if (!take(&data, &length, &side->remote) ||
        !take(&data, &length, &key_length) || (key_length != length)) {
        goto invalid;
    }
    key = copy_blob(data, key_length);
    if ((address == NULL) || (key == NULL)) {
        status = UCS_ERR_NO_MEMORY;
        goto out;
    }
    status = open_ep(side, address);
    if (status != UCS_OK) {
        side->ep = NULL;
        fail(thread->run, status, "ucp_ep_create");
        goto out;
    }
    if (needs_memory(thread->run->test)) {
        status = ucp_ep_rkey_unpack(side->ep, key, &side->rkey);
        if (status != UCS_OK) {
            side->rkey = NULL;
            fail(thread->run, status, "ucp_ep_rkey_unpack");
        }
    }
    goto out;
invalid:
    perf_error(thread->run, status,
               "the lengths of the peer's addresses "
               "are invalid");
out:
    free(key);
    free(address);
    return status;
}

static void progress(struct perf_thread *thread)
{
    struct ucp_side *side = thread->side;

    ucp_worker_progress(side->worker);
}

/* Closes the endpoint. Polls even with -E sleep: the close is not measured. */
static void disconnect(struct perf_thread *thread)
{
    struct ucp_side *side = thread->side;
    ucp_request_param_t param;

    if (side == NULL) {
        return;
    }
    param = side->plain_param;
    if (side->rkey != NULL) {
        ucp_rkey_destroy(side->rkey);
        side->rkey = NULL;
    }
    if (side->ep != NULL) {
        if (ucp_side_begun(side, ucp_ep_close_nbx(side->ep, &param)) ==
            UCS_OK) {
            side->sleeps = false;
            ucp_side_wait(side, 0);
        }
        side->ep = NULL;
    }
}

static void close_side(struct perf_run *run, struct ucp_side *side)
{
    ucp_area_close(run->shared, &side->recv);
    ucp_area_close(run->shared, &side->send);
    if (side->worker != NULL) {
        ucp_worker_destroy(side->worker);
    }
    free(side->replies);
    free(side->header);
    free(side);
}

static void side_close(struct perf_run *run)
{
    unsigned i;

    for (i = 0; i < run->params.threads; ++i) {
        if (run->threads[i].side != NULL) {
            close_side(run, run->threads[i].side);
        }
    }
    if (run->shared != NULL) {
        ucp_cleanup(run->shared);
    }
}

static void inform(struct perf_thread *thread, char *text, size_t length)
{
#if UCP_API_VERSION >= UCP_VERSION(1, 15)
    enum { MAX_ENTRIES = 16 };
    struct ucp_side *side = thread->side;
    ucp_transport_entry_t entries[MAX_ENTRIES];
    ucp_ep_attr_t attr = {
        .field_mask = UCP_EP_ATTR_FIELD_TRANSPORTS,
        .transports =
            {
                .entries     = entries,
                .num_entries = MAX_ENTRIES,
                .entry_size  = sizeof(entries[0]),
            },
    };
    size_t used = 0;
    unsigned i;

    text[0] = '\0';
    if (ucp_ep_query(side->ep, &attr) != UCS_OK) {
        return;
    }
    for (i = 0; (i < attr.transports.num_entries) && (used < length); ++i) {
        used += snprintf(text + used, length - used, "%s%s/%s",
                         (i == 0) ? "" : " ", entries[i].transport_name,
                         entries[i].device_name);
    }
#else
    (void)thread;
    snprintf(text, length, "(this library does not report its transports)");
#endif
}

const struct perf_api perf_ucp = {
    .name       = "ucp",
    .layer      = "protocol layer",
    .check      = check,
    .open       = side_open,
    .describe   = describe,
    .connect    = connect_peer,
    .progress   = progress,
    .disconnect = disconnect,
    .close      = side_close,
    .inform     = inform,
};
