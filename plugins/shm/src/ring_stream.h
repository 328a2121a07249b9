/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the pieces of a message to the ring by non-temporal stores of whole
 * cache lines.
 *
 * An ordinary store to a line that the receiver has read waits until the
 * receiver's copy of it is invalidated. If the cores share no cache, the
 * processor does this for few lines at a time: on an EPYC, whose cores are on
 * different chips, 27 ns per line, or 2.3 GB/s. A non-temporal store of a whole
 * line goes to memory without waiting, at 28 GB/s, and the receiver reads lines
 * from memory as fast as from the cache of the other core. stores.h chooses
 * between both by measurements.
 *
 * The stores become visible in any order. shm_stream_end() makes all of them
 * visible before any later store, such as that of the cell.
 */
#ifndef SHM_RING_STREAM_H
#define SHM_RING_STREAM_H

#include "plugin.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#define SHM_HAS_STREAM 1
#else
#define SHM_HAS_STREAM 0
#endif

typedef struct shm_stream {
    _Alignas(SHM_CACHE_LINE) char line[SHM_CACHE_LINE]; /* The next line, if
                                                         * `fill` is not 0 */
    char *to;      /* Where the next line is written */
    unsigned fill; /* Bytes in `line` */
} shm_stream_t;

/* Writes one line. `to` is at the start of a line. */
static SHM_INLINE void shm_stream_line(char *to, const char *from)
{
#if SHM_HAS_STREAM
    unsigned i;

    for (i = 0; i < 4; ++i) {
        _mm_stream_si128((__m128i *)to + i,
                         _mm_loadu_si128((const __m128i *)from + i));
    }
#else
    memcpy(to, from, SHM_CACHE_LINE);
#endif
}

/* Begins at `to`, the start of a line. */
static SHM_INLINE void shm_stream_begin(shm_stream_t *stream, void *to)
{
    memset(stream->line, 0, sizeof(stream->line));
    stream->to   = to;
    stream->fill = 0;
}

static SHM_INLINE void shm_stream_put(shm_stream_t *stream, const void *data,
                                      size_t length)
{
    const char *from = data;
    size_t head;

    if (stream->fill > 0) {
        head = shm_min(length, SHM_CACHE_LINE - stream->fill);
        memcpy(stream->line + stream->fill, from, head);
        stream->fill += (unsigned)head;
        if (stream->fill < SHM_CACHE_LINE) {
            return;
        }
        shm_stream_line(stream->to, stream->line);
        stream->to += SHM_CACHE_LINE;
        from += head;
        length -= head;
    }
    for (; length >= SHM_CACHE_LINE; length -= SHM_CACHE_LINE) {
        shm_stream_line(stream->to, from);
        stream->to += SHM_CACHE_LINE;
        from += SHM_CACHE_LINE;
    }
    memcpy(stream->line, from, length);
    stream->fill = (unsigned)length;
}

/* Writes the last line up to its end. */
static SHM_INLINE void shm_stream_end(shm_stream_t *stream)
{
    if (stream->fill > 0) {
        shm_stream_line(stream->to, stream->line);
    }
#if SHM_HAS_STREAM
    _mm_sfence();
#endif
}

#endif
