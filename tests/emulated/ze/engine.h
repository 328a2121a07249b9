/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands of Level Zero, and their execution by an engine. The commands of a
 * list have no order among each other, except by barriers and events. Therefore
 * an engine issues commands to two emulated streams in turn, so that programs
 * which rely on an order fail.
 */
#ifndef FACE_ENGINE_H
#define FACE_ENGINE_H

#include "face.h"

enum { ENGINE_STREAMS = 2, COMMAND_MAX_WAITS = 4 };

/** The engine of a command queue or of an immediate command list. */
typedef struct face_engine {
    emu_context_t *context; /**< Emulated context of the device, in the Level
                             * Zero context of the queue or list */
    emu_stream_t *streams[ENGINE_STREAMS];
    unsigned stream; /**< Index of the stream of the last command */
    int is_first;    /**< No command was issued after the last barrier */
    int is_ahead;    /**< The stream !`stream` was not yet made to wait for the
                      * last barrier */
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
    unsigned char pattern[16]; /**< Of COMMAND_FILL */
    size_t pattern_length;
    face_event_t *signal; /**< Event that the command signals; NULL: none */
    face_event_t *waits[COMMAND_MAX_WAITS]; /**< Events that the command waits
                                             * for */
    uint32_t num_waits;
} face_command_t;

/** Opens the engine of a device in a context. */
ze_result_t face_engine_open(face_engine_t *engine, face_context_t *context,
                             const face_device_t *device);
/** Waits for the commands and frees the streams. If copies are outstanding and
 * the context has not failed, reports a mistake that names `owner`. */
void face_engine_close(face_engine_t *engine, const char *owner);

/** Appends a command to one of the streams. */
ze_result_t face_engine_issue(face_engine_t *engine,
                              const face_command_t *command);
/** Records the event behind all commands that were issued. */
ze_result_t face_engine_record(face_engine_t *engine, emu_event_t *event);
/** Waits for all commands that were issued; timeout in nanoseconds. */
ze_result_t face_engine_wait(face_engine_t *engine, uint64_t timeout);

#endif
