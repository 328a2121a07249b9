/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands, and their execution. The commands of a list have no order among
 * each other, except by barriers and events. To show this, an engine uses two
 * streams in turn: programs that rely on an order fail.
 */
#ifndef FACE_ENGINE_H
#define FACE_ENGINE_H

#include "face.h"

enum { ENGINE_STREAMS = 2, COMMAND_MAX_WAITS = 4 };

typedef struct face_engine {
    emu_context_t *context;
    emu_stream_t *streams[ENGINE_STREAMS];
    unsigned stream; /**< Stream of the last command */
    int is_first;    /**< No command was issued after the last barrier */
    int is_ahead;    /**< The other stream does not wait for that barrier yet */
} face_engine_t;

typedef enum {
    COMMAND_COPY,
    COMMAND_FILL,
    COMMAND_BARRIER,
    COMMAND_SIGNAL,
    COMMAND_WAIT,
} command_kind_t;

typedef struct face_command {
    command_kind_t kind;
    void *to;
    const void *from;
    size_t length;
    unsigned char pattern[16];
    size_t pattern_length;
    face_event_t *signal; /**< May be NULL */
    face_event_t *waits[COMMAND_MAX_WAITS];
    uint32_t num_waits;
} face_command_t;

/** Opens the engine of a device in a context. */
ze_result_t face_engine_open(face_engine_t *engine, face_context_t *context,
                             const face_device_t *device);
/** Frees the streams after their commands. Outstanding commands are a mistake
 * unless the context has failed; `owner` is named in the message. */
void face_engine_close(face_engine_t *engine, const char *owner);

ze_result_t face_engine_issue(face_engine_t *engine,
                              const face_command_t *command);
/** Records the event after all issued commands. */
ze_result_t face_engine_record(face_engine_t *engine, emu_event_t *event);
/** Waits for all issued commands; timeout in nanoseconds. */
ze_result_t face_engine_wait(face_engine_t *engine, uint64_t timeout);

#endif
