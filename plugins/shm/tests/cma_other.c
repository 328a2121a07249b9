/* SPDX-License-Identifier: BSD-3-Clause */
/* The other process of a cma test: see cma_other.h. */
#include "cma_other.h"

#include "child.h"

#include <string.h>
#include <unistd.h>

/* A message to the other process, with the arguments of cma_other_tell(). The
 * answer is a long long. */
typedef struct request {
    char what;
    uint64_t seed, offset, length;
} request_t;

/* Returns the byte of the test data at a position. */
static uint8_t byte_of(uint64_t seed, size_t position)
{
    uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15ull + position * 0x2545f491ull;

    return (uint8_t)(x >> 29) ^ (uint8_t)position;
}

void cma_fill(uint8_t *data, uint64_t seed, size_t length)
{
    for (size_t i = 0; i < length; ++i) {
        data[i] = byte_of(seed, i);
    }
}

long long cma_first_bad(const uint8_t *data, uint64_t seed, size_t length)
{
    for (size_t i = 0; i < length; ++i) {
        if (data[i] != byte_of(seed, i)) {
            return (long long)i;
        }
    }
    return -1;
}

/* Body of the other process, for child_start(). */
static void other_main(void *arg, int fd)
{
    const cma_other_t *other = arg;
    int is_looking           = 1;
    cma_side_t side;
    cma_link_t link;
    long long bad;
    request_t request;

    cma_side_open(&side, WINDOW, other->config);
    cma_side_meet(&side, fd, &link);
    do {
        if (is_looking) {
            cma_side_serve(&side, fd, &request, sizeof(request));
        } else {
            cma_side_read(fd, &request, sizeof(request));
        }
        bad = -1;
        switch (request.what) {
        case 'f':
            cma_fill(side.memory + request.offset, request.seed,
                     request.length);
            break;
        case 'c':
            bad = cma_first_bad(side.memory + request.offset, request.seed,
                                request.length);
            break;
        case 'e':
            bad = side.events;
            break;
        case 'l':
            is_looking = 1;
            break;
        case 'a':
            is_looking = 0;
            break;
        }
        cma_side_write(fd, &bad, sizeof(bad));
    } while (request.what != 'q');

    EXPECT_EQ(side.failures, 0);
    cma_side_part(&link);
    cma_side_close(&side);
}

long long cma_other_tell(const cma_other_t *other, char what, uint64_t seed,
                         uint64_t offset, uint64_t length)
{
    request_t request = {what, seed, offset, length};
    long long bad;

    cma_side_write(other->fd, &request, sizeof(request));
    cma_side_read(other->fd, &bad, sizeof(bad));
    return bad;
}

void cma_other_begin(cma_other_t *other, cma_side_t *side, cma_link_t *link,
                     const char *config)
{
    other->config = config;
    other->pid    = child_start(other_main, other, &other->fd);
    cma_side_open(side, WINDOW + 4096, config);
    cma_side_meet(side, other->fd, link);
}

void cma_other_end(cma_other_t *other, cma_side_t *side, cma_link_t *link)
{
    EXPECT_EQ(side->failures, 0);
    cma_other_tell(other, 'q', 0, 0, 0);
    cma_side_part(link);
    cma_side_close(side);
    EXPECT_TRUE(cma_side_join(other->pid));
    close(other->fd);
}

void cma_other_round_trip(cma_other_t *other, cma_link_t *link, size_t length,
                          unsigned pieces)
{
    static uint64_t seed;
    uint8_t *buffer = link->side->memory;
    size_t offset   = 64 + (seed * 37) % 4099;
    unsigned shift  = (unsigned)(seed * 11) % 61;
    size_t spread   = length + (pieces - 1) * 7;
    size_t done     = 0, part;

    ++seed;
    EXPECT_EQ(cma_other_tell(other, 'f', 7, offset - 8, length + 16), -1);
    cma_fill(buffer + shift, seed, length);
    EXPECT_EQ(cma_side_copy(link, 1, buffer + shift, offset, length, 1),
              UCS_OK);
    EXPECT_EQ(cma_other_tell(other, 'c', seed, offset, length), -1);
    EXPECT_EQ(cma_other_tell(other, 'c', 7, offset - 8, 8), -1);

    memset(buffer, 0x3c, spread + 128);
    EXPECT_EQ(cma_side_copy(link, 0, buffer + shift, offset, length, pieces),
              UCS_OK);
    for (unsigned i = 0; i < pieces; ++i) {
        part = (i + 1 == pieces) ? length - done : (length - done) / 3;
        for (size_t j = 0; j < part; ++j) {
            EXPECT_EQ(buffer[shift + done + i * 7 + j],
                      byte_of(seed, done + j));
        }
        done += part;
        EXPECT_EQ(buffer[shift + done + i * 7], 0x3c);
    }
}
