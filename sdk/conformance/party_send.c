/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends active messages of all kinds, and computes the counters that the
 * receiver is expected to have. */
#include "party.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pattern.h"
#include "stretch.h"

#define IOV_MAX_USED 16
/* Limits of party_fill(). The interface accepts nothing more if no send has
 * succeeded for FILL_STUCK_SECONDS. */
#define FILL_BYTES         ((uint64_t)256 << 20)
#define FILL_SECONDS       10.0
#define FILL_STUCK_SECONDS 0.05

const char *const party_kind_names[] = {
    [PARTY_SHORT]     = "am_short",
    [PARTY_SHORT_IOV] = "am_short_iov",
    [PARTY_BCOPY]     = "am_bcopy",
    [PARTY_ZCOPY]     = "am_zcopy",
};

int party_has(const party_t *party, party_kind_t kind)
{
    static const uint64_t flags[] = {
        [PARTY_SHORT]     = UCT_IFACE_FLAG_AM_SHORT,
        [PARTY_SHORT_IOV] = UCT_IFACE_FLAG_AM_SHORT,
        [PARTY_BCOPY]     = UCT_IFACE_FLAG_AM_BCOPY,
        [PARTY_ZCOPY]     = UCT_IFACE_FLAG_AM_ZCOPY,
    };

    return !!(party->attr->cap.flags & flags[kind]);
}

size_t party_min(const party_t *party, party_kind_t kind)
{
    return (kind == PARTY_SHORT) ? sizeof(uint64_t) :
           (kind == PARTY_ZCOPY) ? party->attr->cap.am.min_zcopy :
                                   0;
}

size_t party_max(const party_t *party, party_kind_t kind)
{
    size_t max = (kind == PARTY_BCOPY) ? party->attr->cap.am.max_bcopy :
                 (kind == PARTY_ZCOPY) ? party->attr->cap.am.max_zcopy :
                                         party->attr->cap.am.max_short;

    return size_min(max, PARTY_ZCOPY_MAX);
}

party_kind_t party_some_kind(const party_t *party, size_t *length_p)
{
    static const party_kind_t order[] = {PARTY_BCOPY, PARTY_SHORT, PARTY_ZCOPY};
    unsigned i;

    for (i = 0; i < ucs_static_array_size(order); ++i) {
        if (party_has(party, order[i])) {
            *length_p = size_max(party_min(party, order[i]),
                                 size_min(party_max(party, order[i]), 1000));
            return order[i];
        }
    }
    return PARTY_NUM_KINDS;
}

party_kind_t party_small_kind(const party_t *party)
{
    return party_has(party, PARTY_SHORT) ? PARTY_SHORT :
           party_has(party, PARTY_BCOPY) ? PARTY_BCOPY :
                                           PARTY_ZCOPY;
}

void party_answer_tosses(party_t *party, uint64_t count)
{
    _Atomic uint64_t *tosses = &party->run->record->tosses;
    double end               = clock_now() + PARTY_PATIENCE;
    uint64_t i;

    for (i = 0; (i < count) && (clock_now() < end);) {
        if (*tosses % 2 == 0) {
            sched_yield();
        } else {
            ++*tosses;
            ++i;
        }
    }
}

void party_expect(party_rx_t *expected, size_t length)
{
    ++expected->count;
    expected->bytes += length;
    expected->sum += pattern_mix(length);
    expected->order = pattern_extend(expected->order, length);
}

static void handle_done(uct_completion_t *comp)
{
    party_done_t *done = ucs_container_of(comp, party_done_t, comp);

    ++done->calls;
    done->foreign += (gettid() != done->party->tid);
}

void party_done_init(party_done_t *done, party_t *party)
{
    memset(done, 0, sizeof(*done));
    done->party       = party;
    done->comp.func   = handle_done;
    done->comp.count  = 1;
    done->comp.status = UCS_OK;
}

/* Returns the send buffer, filled with the message of this length, or NULL if
 * memory_get() fails. */
static void *get_buffer(party_t *party, size_t length)
{
    if (party->buffer.length < size_max(length, 1)) {
        if (party->buffer.length > 0) {
            memory_put(&party->buffer);
        }
        if (memory_get(party->md, size_max(length, 4096), &party->buffer) !=
            UCS_OK) {
            memset(&party->buffer, 0, sizeof(party->buffer));
            return NULL;
        }
        party->buffer_pattern = SIZE_MAX;
    }
    if (party->buffer_pattern != length) {
        pattern_fill(party->buffer.address, length, 0, length);
        party->buffer_pattern = length;
    }
    return party->buffer.address;
}

/* Overwrites the buffer of a complete send, so that a transport that reads the
 * buffer too late sends wrong bytes. After a zero-copy send, calls progress
 * once, because a faulty transport may read the buffer in progress. After other
 * sends, progress is not called, so that transports can coalesce messages. */
static void spoil_buffer(party_t *party, party_kind_t kind, size_t length)
{
    memset(party->buffer.address, 0xa5, length);
    party->buffer_pattern = SIZE_MAX;
    if (kind == PARTY_ZCOPY) {
        party_progress(party);
    }
}

/* Divides `length` bytes at `data` into `entries` parts of nearly equal size.
 * Returns the number of entries of `iov`, at most IOV_MAX_USED. */
static size_t make_iov(const party_t *party, char *data, size_t length,
                       size_t entries, uct_iov_t *iov)
{
    size_t count = size_min(entries, IOV_MAX_USED);
    size_t at    = 0, size, i;

    for (i = 0; i < count; ++i) {
        size   = (i + 1 == count) ? length - at : length / count;
        iov[i] = (uct_iov_t){
            .buffer = data + at,
            .length = size,
            .memh   = party->buffer.memh,
            .stride = 0,
            .count  = 1,
        };
        at += size;
    }
    return count;
}

/* Sets invalid values in the members that am_short_iov ignores: a caller need
 * not set them. */
static void spoil_blocks(uct_iov_t *iov, size_t count)
{
    size_t i;

    for (i = 0; i < count; ++i) {
        iov[i].stride = SIZE_MAX / 2;
        iov[i].count  = (i % 2 == 0) ? 3 : 0;
        iov[i].memh   = UCT_MEM_HANDLE_NULL;
    }
}

/* Argument of the pack callback. */
typedef struct pack {
    const void *data;
    size_t length;
    unsigned calls;
} pack_t;

static size_t pack_message(void *dest, void *arg)
{
    pack_t *pack = arg;

    ++pack->calls;
    if (pack->length > 0) {
        memcpy(dest, pack->data, pack->length);
    }
    return pack->length;
}

static ucs_status_t call_short(party_t *party, uint8_t id, const char *data,
                               size_t length)
{
    uint64_t header;

    memcpy(&header, data, sizeof(header));
    return uct_ep_am_short(party->ep, id, header,
                           (length > sizeof(header)) ? data + sizeof(header) :
                                                       NULL,
                           (unsigned)(length - sizeof(header)));
}

static ucs_status_t call_bcopy(party_t *party, uint8_t id, const char *data,
                               size_t length)
{
    pack_t pack = {data, length, 0};
    ssize_t packed;

    packed = uct_ep_am_bcopy(party->ep, id, pack_message, &pack, 0);
    if (packed < 0) {
        if ((pack.calls > 0) && (packed == UCS_ERR_NO_RESOURCE) &&
            !party->packs_early) {
            party->packs_early = 1; /* One finding is enough */
            check_fail(party->run, 26,
                       "am_bcopy answers UCS_ERR_NO_RESOURCE "
                       "after it has packed the data: the retry packs again");
        }
        return (ucs_status_t)packed;
    }
    check_that(party->run, 26, (size_t)packed == length,
               "am_bcopy of %zu bytes answers %zd", length, packed);
    return UCS_OK;
}

ucs_status_t party_try(party_t *party, party_kind_t kind, size_t length,
                       size_t header, size_t entries, party_done_t *done)
{
    uint8_t id = (uint8_t)(length % UCT_AM_ID_MAX);
    char *data = get_buffer(party, length);
    uct_iov_t iov[IOV_MAX_USED];
    ucs_status_t status;
    stretch_t stretch;
    double seconds;
    size_t count;

    if (data == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    party->sending = 1;
    stretch_begin(&stretch);
    switch (kind) {
    case PARTY_SHORT:
        status = call_short(party, id, data, length);
        break;
    case PARTY_SHORT_IOV:
        count = make_iov(party, data, length, entries, iov);
        spoil_blocks(iov, count);
        status = uct_ep_am_short_iov(party->ep, id, iov, count);
        break;
    case PARTY_BCOPY:
        status = call_bcopy(party, id, data, length);
        break;
    default:
        count  = make_iov(party, data + header, length - header, entries, iov);
        status = uct_ep_am_zcopy(party->ep, id, data, (unsigned)header, iov,
                                 count, 0, (done == NULL) ? NULL : &done->comp);
        break;
    }

    seconds        = stretch_end(&stretch);
    party->sending = 0;
    party->num_slow += (seconds >= PARTY_SLOW_CALL);
    if (seconds > party->longest) {
        party->longest = seconds;
    }
    return status;
}

void party_check_calls(party_t *party)
{
    check_that(party->run, 13, party->num_slow < 2,
               "%u sending calls took %.0f s or more, one of them %.1f s: "
               "operations never block",
               party->num_slow, PARTY_SLOW_CALL, party->longest);
}

ucs_status_t party_send(party_t *party, party_kind_t kind, size_t length,
                        size_t header, size_t entries)
{
    ucs_status_t status = UCS_ERR_NO_RESOURCE;
    party_done_t done;

    party_done_init(&done, party);
    check_doing(party->run, "sending %zu bytes by %s", length,
                party_kind_names[kind]);
    if (!party_wait(party,
                    (status = party_try(party, kind, length, header, entries,
                                        &done)) != UCS_ERR_NO_RESOURCE,
                    PARTY_PATIENCE)) {
        return UCS_ERR_TIMED_OUT;
    }

    if (status == UCS_INPROGRESS) {
        if (!party_wait(party, done.calls > 0, PARTY_PATIENCE)) {
            /* The buffer may still be read and `done` may still be called: the
             * check cannot continue */
            check_fail(party->run, 26,
                       "%s of %zu bytes was not completed "
                       "within %.0f s",
                       party_kind_names[kind], length, PARTY_PATIENCE);
            check_give_up(party->run);
        }
        status = done.comp.status;
    }
    check_that(party->run, 26, done.calls <= 1,
               "the completion of %s was called %u times",
               party_kind_names[kind], done.calls);
    check_that(party->run, 16, done.foreign == 0,
               "the completion of %s was called by another thread",
               party_kind_names[kind]);
    if (status == UCS_OK) {
        spoil_buffer(party, kind, length);
    }
    return status;
}

int party_fill(party_t *party, party_kind_t kind, size_t length,
               party_rx_t *expected)
{
    double stuck_since = 0, end;
    uint64_t bytes     = 0;
    ucs_status_t status;

    check_doing(party->run, "sending by %s to a peer that stands still",
                party_kind_names[kind]);
    end = clock_now() + FILL_SECONDS;
    while ((bytes < FILL_BYTES) && (clock_now() < end)) {
        status = party_try(party, kind, length, 0, 1, NULL);
        if ((status == UCS_OK) || (status == UCS_INPROGRESS)) {
            party_expect(expected, length);
            bytes += length + 1;
            stuck_since = 0;
            continue;
        } else if (status != UCS_ERR_NO_RESOURCE) {
            check_fail(party->run, 26,
                       "%s of %zu bytes to a peer that stands "
                       "still answers %s",
                       party_kind_names[kind], length,
                       ucs_status_string(status));
            return 0;
        }

        if (stuck_since == 0) {
            stuck_since = clock_now();
        } else if (clock_now() - stuck_since > FILL_STUCK_SECONDS) {
            return 1;
        }
        party_progress(party);
    }
    return 0;
}
