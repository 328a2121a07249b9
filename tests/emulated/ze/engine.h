/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands, and their execution. The commands of a list have no order among each
 * other, except by barriers and events. So an engine has two streams, which it
 * uses in turn: a program that relies on the order fails.
 */
#ifndef FACE_ENGINE_H
#define FACE_ENGINE_H

#include "face.h"

enum { ENGINE_STREAMS = 2, COMMAND_MAX_WAITS = 4 };

typedef struct face_engine {
    emu_context_t *context;
    emu_stream_t *streams[ENGINE_STREAMS];
    unsigned stream; /**< Of the last command */
    int is_first;    /**< No command has followed the last barrier */
    int is_ahead;    /**< The other stream is before that barrier */
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
    face_event_t *signal; /**< Or NULL */
    face_event_t *waits[COMMAND_MAX_WAITS];
    uint32_t num_waits;
} face_command_t;

/** Opens the engine of a device in a context. */
ze_result_t face_engine_open(face_engine_t *engine, face_context_t *context,
                             const face_device_t *device);
/** Waits for its commands, which must have ended: otherwise it is a mistake. */
void face_engine_close(face_engine_t *engine, const char *owner);

ze_result_t face_engine_issue(face_engine_t *engine,
                              const face_command_t *command);
/** Records the event after all issued commands. */
ze_result_t face_engine_record(face_engine_t *engine, emu_event_t *event);
/** Waits for all issued commands; timeout in nanoseconds. */
ze_result_t face_engine_wait(face_engine_t *engine, uint64_t timeout);

#endif
