/* SPDX-License-Identifier: BSD-3-Clause */
/* The sender of ucx_cp: offers the file to the receiver (wire.h), keeps up to
 * CP_WINDOW chunks in flight, ends with the checksum and waits for the
 * receiver's result. */
#include "hash.h"
#include "link.h"
#include "meter.h"
#include "ucx_cp.h"
#include "wire.h"

#include "../exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct send_slot {
    struct link_op op;
    char *buffer;
};

/* A message that is not a chunk. */
struct note_slot {
    struct link_op op;
    char buffer[WIRE_MAX];
};

struct sender {
    struct link link;
    struct meter meter;
    struct hash hash;
    int file;
    struct wire_offer offer;
    struct note_slot message; /* The OFFER or END that is sent */
    struct note_slot accept;  /* REPLY 0, the answer to the offer */
    struct note_slot verdict; /* REPLY 1, the final result; arrives early if
                               * the receiver rejects the transfer */
    struct send_slot slots[CP_WINDOW]; /* Chunk i uses slot i % CP_WINDOW */
};

static int open_file(struct sender *sender, const struct cp_options *options)
{
    const char *slash = strrchr(options->path, '/');
    const char *name  = (slash == NULL) ? options->path : slash + 1;
    const char *rejected;
    struct stat stat;

    rejected = wire_name_rejected(name, strlen(name));
    if (rejected != NULL) {
        fprintf(stderr, "ucx_cp: cannot send '%s': %s\n", options->path,
                rejected);
        return -1;
    }
    sender->file = open(options->path, O_RDONLY | O_CLOEXEC);
    if ((sender->file < 0) || (fstat(sender->file, &stat) != 0)) {
        fprintf(stderr, "ucx_cp: cannot open '%s': %s\n", options->path,
                strerror(errno));
        return -1;
    }
    if (!S_ISREG(stat.st_mode)) {
        fprintf(stderr, "ucx_cp: '%s' is no regular file\n", options->path);
        return -1;
    }
    posix_fadvise(sender->file, 0, 0, POSIX_FADV_SEQUENTIAL);
    sender->offer.size  = stat.st_size;
    sender->offer.mode  = stat.st_mode & 0777;
    sender->offer.chunk = options->chunk;
    strcpy(sender->offer.name, name); /* its length was checked above */
    return 0;
}

static int make_slots(struct sender *sender)
{
    int i;

    for (i = 0; i < CP_WINDOW; ++i) {
        sender->slots[i].buffer = malloc(sender->offer.chunk);
        if (sender->slots[i].buffer == NULL) {
            fprintf(stderr, "ucx_cp: no memory for %d chunks of %u bytes\n",
                    CP_WINDOW, sender->offer.chunk);
            return -1;
        }
    }
    return 0;
}

static void post_replies(struct sender *sender)
{
    link_recv(&sender->link, &sender->accept.op, sender->accept.buffer,
              WIRE_MAX, wire_tag(WIRE_REPLY, 0));
    link_recv(&sender->link, &sender->verdict.op, sender->verdict.buffer,
              WIRE_MAX, wire_tag(WIRE_REPLY, 1));
}

/* Evaluates a received reply. A text in the reply is the reason of a rejection,
 * which is printed. Returns 0 if there is none, otherwise -1. */
static int read_reply(const struct note_slot *slot)
{
    struct wire_note note;
    const char *damaged;

    damaged = (slot->op.status == UCS_OK) ?
                  wire_get_note(slot->buffer, slot->op.length, &note) :
                  ucs_status_string(slot->op.status);
    if (damaged != NULL) {
        fprintf(stderr, "ucx_cp: %s\n", damaged);
        return -1;
    }
    if (note.text[0] != '\0') {
        fprintf(stderr, "ucx_cp: the receiver says: %s\n", note.text);
        return -1;
    }
    return 0;
}

static int wait_reply(struct sender *sender, const struct note_slot *slot)
{
    while (link_busy(&slot->op)) {
        if (!link_busy(&sender->verdict.op)) {
            return read_reply(&sender->verdict);
        }
        if (link_step(&sender->link) != 0) {
            return -1;
        }
    }
    return read_reply(slot);
}

/* Waits until op is sent; stops if the receiver has rejected the transfer. */
static int wait_sent(struct sender *sender, const struct link_op *op)
{
    while (link_busy(op)) {
        if (!link_busy(&sender->verdict.op)) {
            read_reply(&sender->verdict);
            return -1;
        }
        if (link_step(&sender->link) != 0) {
            return -1;
        }
    }
    if (op->status != UCS_OK) {
        fprintf(stderr, "ucx_cp: sending failed: %s\n",
                ucs_status_string(op->status));
        return -1;
    }
    return 0;
}

/* Reads exactly length bytes. On an error, which includes a file that became
 * shorter, returns -1 with the reason in end->text. */
static int read_chunk(int file, char *buffer, size_t length, uint64_t offset,
                      struct wire_note *end)
{
    size_t done = 0;
    ssize_t got;

    while (done < length) {
        got = pread(file, buffer + done, length - done, offset + done);
        if (got > 0) {
            done += got;
        } else if (got == 0) {
            snprintf(end->text, sizeof(end->text),
                     "the file became shorter while it was sent");
            return -1;
        } else if (errno != EINTR) {
            snprintf(end->text, sizeof(end->text), "cannot read the file: %s",
                     strerror(errno));
            return -1;
        }
    }
    return 0;
}

/* Sends all chunks. Returns -1 if sending fails or the receiver has rejected
 * the transfer. If the file cannot be read, returns 0 with the reason in
 * end->text, which send_end() sends to the receiver. */
static int send_chunks(struct sender *sender, struct wire_note *end)
{
    uint64_t offset = 0, index = 0;
    struct send_slot *slot;
    size_t length;

    while (offset < sender->offer.size) {
        slot = &sender->slots[index % CP_WINDOW];
        if (wait_sent(sender, &slot->op) != 0) {
            return -1;
        }
        length = sender->offer.size - offset;
        length = (length < sender->offer.chunk) ? length : sender->offer.chunk;
        if (read_chunk(sender->file, slot->buffer, length, offset, end) != 0) {
            fprintf(stderr, "ucx_cp: %s\n", end->text);
            return 0;
        }
        link_send(&sender->link, &slot->op, slot->buffer, length,
                  wire_tag(WIRE_DATA, index));
        /* Compute the checksum while the chunk is in flight. */
        hash_add(&sender->hash, slot->buffer, length);
        offset += length;
        ++index;
        meter_show(&sender->meter, offset);
    }
    return 0;
}

static void send_message(struct sender *sender, size_t length,
                         enum wire_kind kind)
{
    link_send(&sender->link, &sender->message.op, sender->message.buffer,
              length, wire_tag(kind, 0));
}

static int offer_file(struct sender *sender)
{
    post_replies(sender);
    send_message(sender, wire_put_offer(sender->message.buffer, &sender->offer),
                 WIRE_OFFER);
    if (wait_sent(sender, &sender->message.op) != 0) {
        return -1;
    }
    return wait_reply(sender, &sender->accept);
}

/* Ends the transfer, successfully or with the reason in end->text. */
static int send_end(struct sender *sender, struct wire_note *end)
{
    int i;

    /* Wait for the chunks in flight, but not after a failed read: then the
     * receiver does not need them. */
    for (i = 0; (i < CP_WINDOW) && (end->text[0] == '\0'); ++i) {
        if (wait_sent(sender, &sender->slots[i].op) != 0) {
            return -1;
        }
    }
    end->hash = hash_value(&sender->hash);
    send_message(sender, wire_put_note(sender->message.buffer, end), WIRE_END);
    return wait_reply(sender, &sender->verdict);
}

static int transfer(struct sender *sender)
{
    struct wire_note end = {.hash = 0};

    if ((offer_file(sender) != 0) || (send_chunks(sender, &end) != 0)) {
        return -1;
    }
    return send_end(sender, &end);
}

int cp_send(const struct cp_options *options)
{
    struct sender sender = {.file = -1};
    double seconds;
    int ret, i, socket;

    ret = open_file(&sender, options);
    if (ret != 0) {
        goto out;
    }
    ret = make_slots(&sender);
    if (ret != 0) {
        goto out;
    }
    socket = exchange_connect(options->host, options->port);
    ret    = (socket < 0) ? -1 : link_open(&sender.link, socket);
    if (ret == 0) {
        hash_begin(&sender.hash);
        meter_begin(&sender.meter, sender.offer.size, options->quiet);
        ret     = transfer(&sender);
        seconds = meter_end(&sender.meter);
        if (ret == 0) {
            cp_report("sent", sender.offer.name, sender.offer.size, seconds,
                      hash_value(&sender.hash));
        }
    }
    if (socket >= 0) {
        link_cancel(&sender.link, &sender.accept.op);
        link_cancel(&sender.link, &sender.verdict.op);
        link_close(&sender.link, ret == 0);
    }
out:
    for (i = 0; i < CP_WINDOW; ++i) {
        free(sender.slots[i].buffer);
    }
    if (sender.file >= 0) {
        close(sender.file);
    }
    return ret;
}
