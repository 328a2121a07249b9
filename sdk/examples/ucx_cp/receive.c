/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiver of ucx_cp: waits for one sender and checks its offer (wire.h),
 * which describes the file. Keeps CP_WINDOW receives posted, stores the chunks
 * in order, and compares the checksum with the sender's. */
#include "hash.h"
#include "link.h"
#include "meter.h"
#include "store.h"
#include "ucx_cp.h"
#include "wire.h"

#include "../exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct recv_slot {
    struct link_op op;
    char *buffer;
};

struct receiver {
    struct link link;
    struct meter meter;
    struct hash hash;
    struct store store;
    struct wire_offer offer;
    struct link_op end_op; /* Receives the offer, and then END. END is posted
                            * before the first chunk, because the sender may
                            * abort at any time. */
    char end_buffer[WIRE_MAX];
    char note_buffer[WIRE_MAX];
    struct link_op note_op;            /* Sends a REPLY from note_buffer */
    struct recv_slot slots[CP_WINDOW]; /* Chunk i uses slot i % CP_WINDOW */
    const char *name;                  /* Name of the file to write */
};

/* Sends REPLY `index` (wire.h) to the sender; text NULL or "" means success,
 * other text is the reason of a failure. */
static int send_reply(struct receiver *receiver, unsigned index,
                      const char *text)
{
    struct wire_note note = {.hash = hash_value(&receiver->hash)};

    if (text != NULL) {
        snprintf(note.text, sizeof(note.text), "%s", text);
    }
    link_send(&receiver->link, &receiver->note_op, receiver->note_buffer,
              wire_put_note(receiver->note_buffer, &note),
              wire_tag(WIRE_REPLY, index));
    if (link_wait(&receiver->link, &receiver->note_op) != 0) {
        return -1;
    }
    return (receiver->note_op.status == UCS_OK) ? 0 : -1;
}

/* Prints the reason of a rejection and sends it to the sender. Returns -1. */
static int reject(struct receiver *receiver, const char *reason)
{
    fprintf(stderr, "ucx_cp: rejected: %s\n", reason);
    send_reply(receiver, 1, reason);
    return -1;
}

static const char *op_problem(const struct link_op *op, size_t expected)
{
    if (op->status != UCS_OK) {
        return ucs_status_string(op->status);
    }
    return (op->length == expected) ? NULL : "a chunk has the wrong length";
}

static int take_offer(struct receiver *receiver,
                      const struct cp_options *options)
{
    const char *problem;

    link_recv(&receiver->link, &receiver->end_op, receiver->end_buffer,
              sizeof(receiver->end_buffer), wire_tag(WIRE_OFFER, 0));
    if (link_wait(&receiver->link, &receiver->end_op) != 0) {
        return -1;
    }
    problem = (receiver->end_op.status != UCS_OK) ?
                  ucs_status_string(receiver->end_op.status) :
                  wire_get_offer(receiver->end_buffer, receiver->end_op.length,
                                 &receiver->offer);
    if (problem != NULL) {
        return reject(receiver, problem);
    }
    receiver->name = (options->output != NULL) ? options->output :
                                                 receiver->offer.name;
    if (store_begin(&receiver->store, receiver->name, receiver->offer.size,
                    options->replace) != 0) {
        return reject(receiver, receiver->store.reason);
    }
    return 0;
}

static int make_slots(struct receiver *receiver)
{
    int i;

    for (i = 0; i < CP_WINDOW; ++i) {
        receiver->slots[i].buffer = malloc(receiver->offer.chunk);
        if (receiver->slots[i].buffer == NULL) {
            return reject(receiver, "the receiver has too little memory");
        }
    }
    return 0;
}

static uint64_t chunk_count(const struct wire_offer *offer)
{
    return (offer->size / offer->chunk) + (offer->size % offer->chunk != 0);
}

static size_t chunk_length(const struct wire_offer *offer, uint64_t index)
{
    uint64_t left = offer->size - (index * offer->chunk);

    return (left < offer->chunk) ? left : offer->chunk;
}

static void post_chunk(struct receiver *receiver, uint64_t index)
{
    struct recv_slot *slot = &receiver->slots[index % CP_WINDOW];

    if (index < chunk_count(&receiver->offer)) {
        link_recv(&receiver->link, &slot->op, slot->buffer,
                  chunk_length(&receiver->offer, index),
                  wire_tag(WIRE_DATA, index));
    }
}

static void post_first(struct receiver *receiver)
{
    uint64_t index;

    link_recv(&receiver->link, &receiver->end_op, receiver->end_buffer,
              sizeof(receiver->end_buffer), wire_tag(WIRE_END, 0));
    for (index = 0; index < CP_WINDOW; ++index) {
        post_chunk(receiver, index);
    }
}

/* Evaluates the received END. Returns the reason why the transfer has failed,
 * which may be the sender's reason to abort; NULL: the sender has sent
 * everything. */
static const char *end_problem(struct receiver *receiver,
                               struct wire_note *note)
{
    const char *problem;

    if (receiver->end_op.status != UCS_OK) {
        return ucs_status_string(receiver->end_op.status);
    }
    problem = wire_get_note(receiver->end_buffer, receiver->end_op.length,
                            note);
    if (problem != NULL) {
        return problem;
    }
    return (note->text[0] != '\0') ? note->text : NULL;
}

/* Waits for a chunk. An END without a reason may arrive before the last chunks;
 * an END with a reason ends the wait. */
static int wait_chunk(struct receiver *receiver, const struct link_op *op,
                      size_t length)
{
    struct wire_note note;
    const char *problem;

    while (link_busy(op)) {
        if (!link_busy(&receiver->end_op)) {
            problem = end_problem(receiver, &note);
            if (problem != NULL) {
                return reject(receiver, problem);
            }
        }
        if (link_step(&receiver->link) != 0) {
            return -1;
        }
    }
    problem = op_problem(op, length);
    return (problem == NULL) ? 0 : reject(receiver, problem);
}

static int take_chunks(struct receiver *receiver)
{
    uint64_t count = chunk_count(&receiver->offer);
    struct recv_slot *slot;
    uint64_t index;
    size_t length;

    for (index = 0; index < count; ++index) {
        slot   = &receiver->slots[index % CP_WINDOW];
        length = chunk_length(&receiver->offer, index);
        if (wait_chunk(receiver, &slot->op, length) != 0) {
            return -1;
        }
        hash_add(&receiver->hash, slot->buffer, length);
        if (store_write(&receiver->store, slot->buffer, length,
                        index * receiver->offer.chunk) != 0) {
            return reject(receiver, receiver->store.reason);
        }
        post_chunk(receiver, index + CP_WINDOW);
        meter_show(&receiver->meter, (index * receiver->offer.chunk) + length);
    }
    return 0;
}

static int take_end(struct receiver *receiver, const struct cp_options *options)
{
    struct wire_note note;
    const char *problem;

    if (link_wait(&receiver->link, &receiver->end_op) != 0) {
        return -1;
    }
    problem = end_problem(receiver, &note);
    if (problem != NULL) {
        return reject(receiver, problem);
    }
    if (note.hash != hash_value(&receiver->hash)) {
        return reject(receiver, "the checksum differs: the data was damaged "
                                "on the way, nothing is stored");
    }
    if (store_commit(&receiver->store, receiver->name, receiver->offer.mode,
                     options->replace, options->sync) != 0) {
        return reject(receiver, receiver->store.reason);
    }
    return send_reply(receiver, 1, NULL);
}

static int transfer(struct receiver *receiver, const struct cp_options *options)
{
    double seconds;
    int ret;

    hash_begin(&receiver->hash);
    if ((take_offer(receiver, options) != 0) || (make_slots(receiver) != 0)) {
        return -1;
    }
    post_first(receiver);
    meter_begin(&receiver->meter, receiver->offer.size, options->quiet);
    ret = send_reply(receiver, 0, NULL);
    if (ret == 0) {
        ret = take_chunks(receiver);
    }
    if (ret == 0) {
        ret = take_end(receiver, options);
    }
    seconds = meter_end(&receiver->meter);
    if (ret == 0) {
        cp_report("received", receiver->name, receiver->offer.size, seconds,
                  hash_value(&receiver->hash));
    }
    return ret;
}

/* Waits for a sender. Prints the port on stdout, for users and scripts. Returns
 * the bootstrap socket, or -1. */
static int meet_sender(const struct cp_options *options)
{
    uint16_t port = options->port;
    int listener  = exchange_listen(options->host, &port);
    int socket;

    if (listener < 0) {
        return -1;
    }
    printf("waiting for a sender on port %u\n", (unsigned)port);
    fflush(stdout);
    socket = exchange_accept(listener);
    close(listener);
    return socket;
}

static void cancel_all(struct receiver *receiver)
{
    int i;

    link_cancel(&receiver->link, &receiver->end_op);
    for (i = 0; i < CP_WINDOW; ++i) {
        link_cancel(&receiver->link, &receiver->slots[i].op);
    }
}

int cp_receive(const struct cp_options *options)
{
    struct receiver receiver = {.store.dir = -1, .store.file = -1};
    int ret, socket, i;

    ret = store_open_dir(&receiver.store, options->path);
    if (ret != 0) {
        fprintf(stderr, "ucx_cp: %s\n", receiver.store.reason);
        return ret;
    }
    socket = meet_sender(options);
    if (socket < 0) {
        ret = -1;
        goto out;
    }
    ret = link_open(&receiver.link, socket);
    if (ret == 0) {
        ret = transfer(&receiver, options);
        link_wait_goodbye(&receiver.link);
        cancel_all(&receiver);
    }
    link_close(&receiver.link, ret == 0);
    for (i = 0; i < CP_WINDOW; ++i) {
        free(receiver.slots[i].buffer);
    }
out:
    store_close(&receiver.store);
    return ret;
}
