/* SPDX-License-Identifier: BSD-3-Clause */
/* Encoding, decoding and checking of the messages in wire.h. No I/O here. */
#include "wire.h"

#include <ctype.h>
#include <endian.h>
#include <string.h>

/* Offsets of the fields; "note" is a REPLY or END:
 *   OFFER  magic 0 | size 8 | chunk 16 | mode 20 | name 24
 *   note   magic 0 | hash 8 | text 16
 * Name and text end with the message, without a NUL. */
enum {
    AT_SIZE  = 8,
    AT_CHUNK = 16,
    AT_MODE  = 20,
    AT_NAME  = 24,
    AT_HASH  = 8,
    AT_TEXT  = 16,
};

_Static_assert((AT_NAME + WIRE_NAME_MAX <= WIRE_MAX) &&
                   (AT_TEXT + WIRE_TEXT_MAX <= WIRE_MAX),
               "WIRE_MAX is too small");

static const char MAGIC[8] = "ucx_cp1";

static void put64(char *at, uint64_t value)
{
    value = htole64(value);
    memcpy(at, &value, sizeof(value));
}

static void put32(char *at, uint32_t value)
{
    value = htole32(value);
    memcpy(at, &value, sizeof(value));
}

static uint64_t get64(const char *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof(value));
    return le64toh(value);
}

static uint32_t get32(const char *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof(value));
    return le32toh(value);
}

size_t wire_put_offer(void *buffer, const struct wire_offer *offer)
{
    size_t name_length = strnlen(offer->name, WIRE_NAME_MAX);
    char *to           = buffer;

    memcpy(to, MAGIC, sizeof(MAGIC));
    put64(to + AT_SIZE, offer->size);
    put32(to + AT_CHUNK, offer->chunk);
    put32(to + AT_MODE, offer->mode);
    memcpy(to + AT_NAME, offer->name, name_length);
    return AT_NAME + name_length;
}

size_t wire_put_note(void *buffer, const struct wire_note *note)
{
    size_t text_length = strnlen(note->text, WIRE_TEXT_MAX);
    char *to           = buffer;

    memcpy(to, MAGIC, sizeof(MAGIC));
    put64(to + AT_HASH, note->hash);
    memcpy(to + AT_TEXT, note->text, text_length);
    return AT_TEXT + text_length;
}

const char *wire_name_rejected(const char *name, size_t length)
{
    size_t i;

    if ((length == 0) || (length > WIRE_NAME_MAX)) {
        return "the file name is empty or too long";
    }
    if (name[0] == '.') {
        return "the file name begins with a dot";
    }
    for (i = 0; i < length; ++i) {
        if (name[i] == '/') {
            return "the file name holds a slash";
        }
        if (iscntrl((unsigned char)name[i])) {
            return "the file name holds a control character";
        }
    }
    return NULL;
}

const char *wire_get_offer(const void *buffer, size_t length,
                           struct wire_offer *offer)
{
    const char *from = buffer;
    const char *rejected;

    if ((length <= AT_NAME) || (memcmp(from, MAGIC, sizeof(MAGIC)) != 0)) {
        return "the first message is not an offer of this version";
    }
    rejected = wire_name_rejected(from + AT_NAME, length - AT_NAME);
    if (rejected != NULL) {
        return rejected;
    }
    offer->size  = get64(from + AT_SIZE);
    offer->chunk = get32(from + AT_CHUNK);
    offer->mode  = get32(from + AT_MODE) & 0777;
    memcpy(offer->name, from + AT_NAME, length - AT_NAME);
    offer->name[length - AT_NAME] = '\0';
    if (offer->size > INT64_MAX) {
        return "the size is larger than any file";
    }
    if ((offer->chunk < WIRE_CHUNK_MIN) || (offer->chunk > WIRE_CHUNK_MAX)) {
        return "the chunk size is out of range";
    }
    return NULL;
}

const char *wire_get_note(const void *buffer, size_t length,
                          struct wire_note *note)
{
    const char *from = buffer;
    size_t text_length, i;

    if ((length < AT_TEXT) || (length > AT_TEXT + WIRE_TEXT_MAX) ||
        (memcmp(from, MAGIC, sizeof(MAGIC)) != 0)) {
        return "the peer's answer is damaged";
    }
    text_length = length - AT_TEXT;
    note->hash  = get64(from + AT_HASH);
    memcpy(note->text, from + AT_TEXT, text_length);
    note->text[text_length] = '\0';
    /* The text is printed on a terminal: replace control characters, so that it
     * cannot contain escape sequences. */
    for (i = 0; i < text_length; ++i) {
        if (!isprint((unsigned char)note->text[i])) {
            note->text[i] = '?';
        }
    }
    return NULL;
}
