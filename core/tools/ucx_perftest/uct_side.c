/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes a transport for a test: addresses, keys, shutdown. */
#include "uct_side.h"

#include "pattern.h"

#include <ucp/api/ucp_version.h>

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool refuse(char error[PARAMS_ERROR_MAX], const char *why)
{
    snprintf(error, PARAMS_ERROR_MAX, "%s", why);
    return false;
}

static bool needs_memory(const struct perf_test *test)
{
    return test->features != PERF_UCT_AM;
}

static bool check(const struct perf_test *test, const struct params *params,
                  char error[PARAMS_ERROR_MAX])
{
    bool atomic   = test->features >= PERF_UCT_ADD;
    uint64_t size = params_size(params);

    if ((params->transport[0] == '\0') || (params->device[0] == '\0')) {
        return refuse(error, "tests of UCT need a transport (-x) and its "
                             "device (-d); `ucx_info -d` shows them");
    }
    if (params->threads > 1) {
        return refuse(error, "tests of UCT have one thread (-T)");
    }
    if (params->flags & PARAMS_SLEEP) {
        return refuse(error, "-E sleep is for tests of UCP");
    }
    if (params->flags & (PARAMS_IOV_SEND | PARAMS_IOV_RECV)) {
        return refuse(error, "-D takes short, shortiov, bcopy or zcopy in "
                             "tests of UCT");
    }
    if ((params->send_memory != UCS_MEMORY_TYPE_HOST) ||
        (params->recv_memory != UCS_MEMORY_TYPE_HOST)) {
        return refuse(error, "tests of UCT use host memory (-m)");
    }
    if (atomic && (params->layout != LAYOUT_SHORT)) {
        return refuse(error, "atomics have no layout: leave -D out");
    }
    if (atomic && (size != 4) && (size != 8)) {
        return refuse(error, "atomics have 4 or 8 bytes (-s)");
    }
    if ((size == 0) && needs_memory(test)) {
        return refuse(error, "this test needs at least one byte (-s)");
    }
    return true;
}

size_t uct_side_pack(void *dest, void *arg)
{
    const struct uct_packed *packed = arg;

    memcpy(dest, packed->memory, packed->length);
    return packed->length;
}

ucs_status_t uct_side_fill(struct uct_side *side, uint64_t number)
{
    ucs_status_t status = UCS_OK;

    if (number % side->slots == 0) {
        status = uct_side_wait(side, 0);
    }
    pattern_fill(uct_side_memory(side, number), side->size, number, 0);
    return status;
}

/* Waits until all operations of the endpoint are complete; puts also at the
 * peer, unless the transport does not support UCT_FLUSH_FLAG_REMOTE. UCX before
 * 1.15 does not have this flag. */
ucs_status_t uct_side_flush(struct uct_side *side)
{
    unsigned flags = 0;
    ucs_status_t status;

#if UCP_API_VERSION >= UCP_VERSION(1, 15)
    flags = (side->thread->run->test->features == PERF_UCT_PUT) ?
                UCT_FLUSH_FLAG_REMOTE :
                0;
#endif
    status = uct_side_wait(side, 0);
    while (status == UCS_OK) {
        status = uct_ep_flush(side->ep, flags, NULL);
        if (status == UCS_OK) {
            return UCS_OK;
        }
        if ((status == UCS_ERR_UNSUPPORTED) && (flags != 0)) {
            flags  = 0;
            status = UCS_OK;
        } else if ((status == UCS_INPROGRESS) ||
                   (status == UCS_ERR_NO_RESOURCE)) {
            status = uct_side_step(side);
        }
    }
    return status;
}

/* Completion callback. Never called, because the count of the completion does
 * not reach 0. */
static void on_completion(uct_completion_t *completion)
{
    completion->count = 1;
}

static ucs_status_t open_memory(struct perf_run *run, struct uct_side *side)
{
    size_t length;
    ucs_status_t status;

    side->extent = (side->size + 63) / 64 * 64;
    side->slots  = perf_slots(run, side->size);
    length       = side->extent * side->slots;
    length       = (length < 4096) ? 4096 : length;
    status       = uct_area_open(run, side, &side->send, length);
    if (status == UCS_OK) {
        status = uct_area_open(run, side, &side->recv, length);
    }
    if ((status == UCS_OK) && side->checks &&
        (run->test->features == PERF_UCT_GET)) {
        pattern_fill(side->recv.memory, side->size, 0, 0);
    }
    return status;
}

static ucs_status_t side_open(struct perf_run *run)
{
    struct uct_side *side = calloc(1, sizeof(*side));
    ucs_status_t status;

    run->threads[0].side = side;
    if (side == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    side->thread            = &run->threads[0];
    side->checks            = (run->params.flags & PARAMS_CHECK) != 0;
    side->size              = params_size(&run->params);
    side->header            = (run->params.header >= 0) ? run->params.header :
                                                          UCT_SIDE_HEADER;
    side->window            = run->params.window;
    side->outstanding       = run->outstanding;
    side->completion.func   = on_completion;
    side->completion.count  = 1;
    side->completion.status = UCS_OK;
    status                  = uct_open_domain(run, side);
    status = (status == UCS_OK) ? uct_open_iface(run, side) : status;
    status = (status == UCS_OK) ? uct_check_caps(run, side) : status;
    status = (status == UCS_OK) ? open_memory(run, side) : status;
    if ((status == UCS_OK) && (run->test->features == PERF_UCT_AM)) {
        status = uct_am_prepare(side);
    }
    return status;
}

static bool write_blob(FILE *file, const void *data, size_t length)
{
    uint64_t number = htole64(length);

    return (fwrite(&number, sizeof(number), 1, file) == 1) &&
           ((length == 0) || (fwrite(data, length, 1, file) == 1));
}

static bool write_addresses(struct uct_side *side, FILE *file)
{
    bool to_iface = (side->attr.cap.flags & UCT_IFACE_FLAG_CONNECT_TO_IFACE) !=
                    0;
    size_t device = side->attr.device_addr_len;
    size_t iface  = to_iface ? side->attr.iface_addr_len : 0;
    size_t ep     = to_iface ? 0 : side->attr.ep_addr_len;
    char *buffer  = calloc(1, device + iface + ep + 1);
    bool good     = false;

    if (buffer == NULL) {
        return false;
    }
    if ((uct_iface_get_device_address(side->iface, (void *)buffer) == UCS_OK) &&
        ((iface == 0) ||
         (uct_iface_get_address(side->iface, (void *)(buffer + device)) ==
          UCS_OK)) &&
        ((ep == 0) ||
         (uct_ep_get_address(side->ep, (void *)(buffer + device + iface)) ==
          UCS_OK))) {
        good = write_blob(file, buffer, device) &&
               write_blob(file, buffer + device, iface) &&
               write_blob(file, buffer + device + iface, ep);
    }
    free(buffer);
    return good;
}

static bool write_key(struct uct_side *side, FILE *file)
{
    size_t length = side->md_attr.rkey_packed_size;
    char *key;
    bool good;

    if (!needs_memory(side->thread->run->test) || (length == 0) ||
        (side->recv.handle == UCT_MEM_HANDLE_NULL)) {
        return write_blob(file, NULL, 0);
    }
    key  = calloc(1, length);
    good = (key != NULL) &&
           (uct_md_mkey_pack(side->md, side->recv.handle, key) == UCS_OK) &&
           write_blob(file, key, length);
    free(key);
    return good;
}

/* Writes four items with their lengths: the addresses of the device, the
 * interface and the endpoint, and a key; then the address of memory. */
static char *describe(struct perf_thread *thread, size_t *length_p)
{
    struct uct_side *side = thread->side;
    uint64_t remote       = htole64((uintptr_t)side->recv.memory);
    char *text            = NULL;
    FILE *file            = open_memstream(&text, length_p);
    bool good;

    if (file == NULL) {
        return NULL;
    }
    good = write_addresses(side, file) && write_key(side, file) &&
           (fwrite(&remote, sizeof(remote), 1, file) == 1);
    if ((fclose(file) != 0) || !good) {
        free(text);
        return NULL;
    }
    return text;
}

/* Copies the next item, padded with zeros, because the transport parses its
 * length from the contents. */
static char *take_blob(const char **data, size_t *length, size_t *size_p)
{
    enum { MARGIN = 4096 };
    uint64_t number;
    char *copy;

    if (*length < sizeof(number)) {
        return NULL;
    }
    memcpy(&number, *data, sizeof(number));
    number = le64toh(number);
    *data += sizeof(number);
    *length -= sizeof(number);
    copy = (number <= *length) ? calloc(1, number + MARGIN) : NULL;
    if (copy != NULL) {
        memcpy(copy, *data, number);
        *data += number;
        *length -= number;
        *size_p = number;
    }
    return copy;
}

static ucs_status_t join(struct uct_side *side, const char *device,
                         size_t device_length, const char *iface,
                         size_t iface_length, const char *ep)
{
    uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_IFACE,
        .iface      = side->iface,
    };

    if (!(side->attr.cap.flags & UCT_IFACE_FLAG_CONNECT_TO_IFACE)) {
        return uct_ep_connect_to_ep(side->ep, (const void *)device,
                                    (const void *)ep);
    }
    /* an empty address is not passed */
    params.field_mask |= (device_length > 0) ? UCT_EP_PARAM_FIELD_DEV_ADDR : 0;
    params.field_mask |= (iface_length > 0) ? UCT_EP_PARAM_FIELD_IFACE_ADDR : 0;
    params.dev_addr   = (const void *)device;
    params.iface_addr = (const void *)iface;
    return uct_ep_create(&params, &side->ep);
}

static ucs_status_t connect_peer(struct perf_thread *thread, const char *data,
                                 size_t length)
{
    struct uct_side *side = thread->side;
    char *blobs[4]        = {NULL};
    size_t sizes[4]       = {0};
    ucs_status_t status   = UCS_ERR_INVALID_PARAM;
    unsigned i;

    for (i = 0; i < 4; ++i) {
        blobs[i] = take_blob(&data, &length, &sizes[i]);
        if (blobs[i] == NULL) {
            goto invalid;
        }
    }
    if (length != sizeof(side->remote)) {
        goto invalid;
    }
    memcpy(&side->remote, data, sizeof(side->remote));
    side->remote = le64toh(side->remote);
    status       = join(side, blobs[0], sizes[0], blobs[1], sizes[1], blobs[2]);
    if (status != UCS_OK) {
        perf_error(thread->run, status, "%s does not reach the peer: %s",
                   thread->run->params.transport, ucs_status_string(status));
        goto out;
    }
    if (sizes[3] > 0) {
        status = uct_rkey_unpack(side->component, blobs[3], &side->rkey);
        side->have_rkey = (status == UCS_OK);
        if (status != UCS_OK) {
            perf_error(thread->run, status, "uct_rkey_unpack: %s",
                       ucs_status_string(status));
        }
    }
    goto out;
invalid:
    perf_error(thread->run, status,
               "the lengths of the peer's addresses "
               "are invalid");
out:
    for (i = 0; i < 4; ++i) {
        free(blobs[i]);
    }
    return status;
}

static void progress(struct perf_thread *thread)
{
    struct uct_side *side = thread->side;

    uct_worker_progress(side->worker);
}

static void verify(struct perf_thread *thread, uint64_t count)
{
    if (thread->run->test->run == uct_put_posts) {
        uct_verify_puts(thread, count);
    } else if (thread->run->test->run == uct_add_posts) {
        uct_verify_adds(thread, count);
    }
}

static void disconnect(struct perf_thread *thread)
{
    struct uct_side *side = thread->side;

    if ((side != NULL) && (side->ep != NULL)) {
        uct_side_flush(side);
    }
}

/* Closes the endpoint and its resources. At the end of a test, both sides have
 * exchanged SYNC frames before, so the peer has no operation in flight. */
static void close_side(struct uct_side *side)
{
    if (side->ep != NULL) {
        uct_ep_destroy(side->ep);
    }
    if (side->have_rkey) {
        uct_rkey_release(side->component, &side->rkey);
    }
    uct_area_close(side, &side->recv);
    uct_area_close(side, &side->send);
    if (side->iface != NULL) {
        uct_iface_close(side->iface);
    }
    if (side->md != NULL) {
        uct_md_close(side->md);
    }
    if (side->worker != NULL) {
        uct_worker_destroy(side->worker);
    }
    if (side->async != NULL) {
        ucs_async_context_destroy(side->async);
    }
    if (side->components != NULL) {
        uct_release_component_list(side->components);
    }
    free(side);
}

static void side_close(struct perf_run *run)
{
    if (run->threads[0].side != NULL) {
        close_side(run->threads[0].side);
    }
}

static void inform(struct perf_thread *thread, char *text, size_t length)
{
    snprintf(text, length, "%s/%s", thread->run->params.transport,
             thread->run->params.device);
}

const struct perf_api perf_uct = {
    .name       = "uct",
    .layer      = "transport layer",
    .check      = check,
    .open       = side_open,
    .describe   = describe,
    .connect    = connect_peer,
    .progress   = progress,
    .verify     = verify,
    .disconnect = disconnect,
    .close      = side_close,
    .inform     = inform,
};
