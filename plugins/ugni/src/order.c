/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Order of received messages. libfabric may complete messages in any order,
 * even if it matches them to receive buffers in order: a large message that
 * arrives in fragments completes after a small message that was sent later.
 * Each message contains a number (ugni_wire_head_t.number), by which this file
 * restores the order for each sending interface.
 */
#include "iface.h"

#include <endian.h>
#include <stdlib.h>

/* Half of the range of message numbers, which have 16 bits. A number that is
 * less than WINDOW ahead of the expected number is newer, all others are older.
 * The sender limits the messages behind an outstanding one (PART in am.c). */
enum { WINDOW = 32768 };

/* Returns the state of the interface that has sent this message, and creates it
 * if there is none. NULL: out of memory. */
static ugni_source_t *get_source(ugni_iface_t *iface,
                                 const ugni_wire_head_t *wire)
{
    const uint64_t id     = le64toh(wire->source);
    ugni_source_t *source = iface->last_source, **bucket;

    if ((source != NULL) && (source->id == id)) {
        return source;
    }
    bucket = &iface->sources[id % UGNI_SOURCE_BUCKETS];
    for (source = *bucket; (source != NULL) && (source->id != id);
         source = source->next) {
    }
    if (source == NULL) {
        source = calloc(1, sizeof(*source));
        if (source == NULL) {
            return NULL;
        }
        source->id    = id;
        source->epoch = wire->epoch;
        source->next  = *bucket;
        *bucket       = source;
    }
    iface->last_source = source;
    return source;
}

static uint16_t number_of(const ugni_recv_t *recv)
{
    return le16toh(recv->head->number);
}

static ugni_recv_t *pop_early(ugni_iface_t *iface, ugni_source_t *source)
{
    ugni_recv_t *recv = source->early;

    source->early = recv->next;
    --iface->num_early;
    return recv;
}

static void drop_early(ugni_iface_t *iface, ugni_source_t *source)
{
    while (source->early != NULL) {
        ugni_recv_drop(iface, pop_early(iface, source));
    }
}

/* Starts a new epoch of a source: after a failure the sender has restarted its
 * numbers. */
static void start_epoch(ugni_iface_t *iface, ugni_source_t *source,
                        uint8_t epoch)
{
    source->number  = 0;
    source->epoch   = epoch;
    source->is_lost = 0;
    source->is_told = 0;
    drop_early(iface, source);
}

/* Keeps a message until the `ahead` messages before it are delivered. */
static void hold(ugni_iface_t *iface, ugni_source_t *source, ugni_recv_t *recv,
                 uint16_t ahead)
{
    ugni_recv_t **link = &source->early;
    uint16_t other;

    for (; *link != NULL; link = &(*link)->next) {
        other = (uint16_t)(number_of(*link) - source->number);
        if (other == ahead) {
            /* A message with this number is already in the list */
            ugni_recv_drop(iface, recv);
            return;
        }
        if (other > ahead) {
            break;
        }
    }
    recv = ugni_recv_keep(iface, recv);
    if (recv == NULL) {
        return; /* Out of memory: the message counts as lost */
    }
    if (source->early == NULL) {
        source->since = iface->host->time();
    }
    recv->next = *link;
    *link      = recv;
    ++iface->num_early;
}

void ugni_order_take(ugni_iface_t *iface, ugni_recv_t *recv)
{
    const ugni_wire_head_t *wire = recv->head;
    ugni_source_t *source        = get_source(iface, wire);
    uint16_t ahead;

    if ((source == NULL) ||
        ((source->epoch != wire->epoch) &&
         ((uint8_t)(wire->epoch - source->epoch) > UINT8_MAX / 2))) {
        ugni_recv_drop(iface, recv); /* Out of memory, or the message is of an
                                      * old epoch */
        return;
    }
    if (source->epoch != wire->epoch) {
        start_epoch(iface, source, wire->epoch);
    }
    ahead = (uint16_t)(number_of(recv) - source->number);
    if ((ahead >= WINDOW) || source->is_lost) {
        if (source->is_lost && !source->is_told) {
            recv->next      = NULL;
            source->is_told = ugni_lost_report(iface, source->id, recv);
        }
        ugni_recv_drop(iface, recv);
        return;
    }
    if (ahead > 0) {
        hold(iface, source, recv, ahead);
        return;
    }
    ++source->number;
    if (source->early != NULL) {
        source->since = iface->host->time();
    }
    ugni_recv_deliver(iface, recv);
    while ((source->early != NULL) &&
           (number_of(source->early) == source->number)) {
        ++source->number;
        source->since = iface->host->time();
        ugni_recv_deliver(iface, pop_early(iface, source));
    }
}

/* Called when the next message of a source has not arrived within the timeout:
 * it counts as lost. */
static void give_up(ugni_iface_t *iface, ugni_source_t *source)
{
    const ucx_host_t *host = iface->host;

    ucx_diag("ugni: message %u of a peer was lost with its connection",
             source->number);
    source->is_lost = 1;
    source->is_told = ugni_lost_report(iface, source->id, source->early);
    drop_early(iface, source);
}

void ugni_order_check(ugni_iface_t *iface, double now)
{
    ugni_source_t *source;

    for (unsigned i = 0; (i < UGNI_SOURCE_BUCKETS) && (iface->num_early > 0);
         ++i) {
        for (source = iface->sources[i]; source != NULL;
             source = source->next) {
            if ((source->early != NULL) &&
                (now - source->since > iface->config.timeout)) {
                give_up(iface, source);
            }
        }
    }
}

void ugni_order_cleanup(ugni_iface_t *iface)
{
    ugni_source_t *source;

    for (unsigned i = 0; i < UGNI_SOURCE_BUCKETS; ++i) {
        while ((source = iface->sources[i]) != NULL) {
            iface->sources[i] = source->next;
            start_epoch(iface, source, 0);
            free(source);
        }
    }
}
