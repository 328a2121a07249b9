/* SPDX-License-Identifier: BSD-3-Clause */
/* See engine.h. This file also implements contexts of Level Zero, which contain
 * the emulated streams of the engines. */
#include "engine.h"

#include <string.h>

/* ------------------------------------------------------------- contexts -- */

ze_result_t face_zeContextCreate(ze_driver_handle_t handle,
                                 const ze_context_desc_t *desc,
                                 ze_context_handle_t *context_p)
{
    face_object_t *driver;
    face_context_t *context;
    int i;

    ENTER(zeContextCreate);
    FIND(driver, handle, FACE_DRIVER);
    if ((desc == NULL) || (context_p == NULL)) {
        LEAVE(ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    }
    context = face_object_new(FACE_CONTEXT, sizeof(*context));
    if (context == NULL) {
        LEAVE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    }
    for (i = 0; i < EMU_MAX_DEVICES; ++i) {
        emu_context_init(&context->devices[i], i);
    }
    *context_p = (ze_context_handle_t)context;
    LEAVE(ZE_RESULT_SUCCESS);
}

/* Removes the pointers of events to the context: the events may exist longer
 * than the context. */
static void forget_events(const face_context_t *context)
{
    face_object_t *object;

    for (object = face_objects; object != NULL; object = object->next) {
        emu_event_t *event = (object->kind == FACE_EVENT) ?
                                 ((face_event_t *)object)->event :
                                 NULL;

        if ((event != NULL) && (event->context >= context->devices) &&
            (event->context < context->devices + EMU_MAX_DEVICES)) {
            event->context = NULL;
        }
    }
}

ze_result_t face_zeContextDestroy(ze_context_handle_t handle)
{
    face_context_t *context;
    emu_range_t *range;
    int i;

    ENTER(zeContextDestroy);
    FIND(context, handle, FACE_CONTEXT);
    for (range = emu_ranges; range != NULL; range = range->next) {
        if (range->context == context) {
            emu_mistake("a context is destroyed before its memory at %#lx",
                        (unsigned long)range->start);
            range->context = NULL;
        }
    }
    forget_events(context);
    for (i = 0; i < EMU_MAX_DEVICES; ++i) {
        if (context->devices[i].streams != NULL) {
            emu_mistake("a context is destroyed before its queues or lists");
        }
        emu_context_clear(&context->devices[i]);
    }
    face_object_free(context);
    LEAVE(ZE_RESULT_SUCCESS);
}

ze_result_t face_zeContextGetStatus(ze_context_handle_t handle)
{
    face_context_t *context;
    int error = 0;
    int i;

    ENTER(zeContextGetStatus);
    FIND(context, handle, FACE_CONTEXT);
    for (i = 0; (i < EMU_MAX_DEVICES) && (error == 0); ++i) {
        error = context->devices[i].error;
    }
    LEAVE((ze_result_t)error);
}

/* -------------------------------------------------------------- engines -- */

ze_result_t face_engine_open(face_engine_t *engine, face_context_t *context,
                             const face_device_t *device)
{
    ze_result_t result = face_device_status(device->number);
    unsigned i;

    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    memset(engine, 0, sizeof(*engine));
    engine->context = &context->devices[device->number];
    for (i = 0; i < ENGINE_STREAMS; ++i) {
        engine->streams[i] = emu_stream_new(engine->context, 0);
        if (engine->streams[i] == NULL) {
            face_engine_close(engine, "");
            return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        }
    }
    return ZE_RESULT_SUCCESS;
}

/* Returns whether the stream has an operation that accesses memory. Operations
 * of barriers do not matter. */
static int has_copies(const emu_stream_t *stream)
{
    const emu_op_t *op = stream->head;

    while ((op != NULL) && (op->kind != EMU_OP_COPY) &&
           (op->kind != EMU_OP_WRITE)) {
        op = op->next;
    }
    return op != NULL;
}

void face_engine_close(face_engine_t *engine, const char *owner)
{
    unsigned i;

    for (i = 0; i < ENGINE_STREAMS; ++i) {
        if (engine->streams[i] == NULL) {
            continue;
        }
        /* After a failure of the context, commands may still run without a
         * mistake: the user of the queue or list cannot wait for them any
         * more */
        if ((engine->context->error == 0) && has_copies(engine->streams[i])) {
            emu_mistake("a %s is destroyed before its commands have ended",
                        owner);
        }
        emu_stream_free(engine->streams[i]);
    }
}

/* Appends an operation RECORD or FOLLOW to a stream; `value` is its ticket. */
static ze_result_t start(face_engine_t *engine, unsigned stream,
                         emu_op_kind_t kind, emu_event_t *event, uint64_t value)
{
    emu_op_t *op = emu_op_new(kind, 0);

    if (op == NULL) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    op->event = event;
    op->value = value;
    ++event->refs;
    if (kind == EMU_OP_RECORD) {
        event->recorded = value;
        event->context  = engine->context;
    }
    emu_op_start(engine->streams[stream], op);
    return ZE_RESULT_SUCCESS;
}

/* Makes the stream `waiting` wait for all operations that were issued to the
 * stream `other` so far. */
static ze_result_t join(face_engine_t *engine, unsigned waiting, unsigned other)
{
    emu_event_t *event;
    ze_result_t result;

    if (!emu_stream_is_busy(engine->streams[other])) {
        return ZE_RESULT_SUCCESS;
    }
    event = face_event_new();
    if (event == NULL) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    result = start(engine, other, EMU_OP_RECORD, event, 1);
    if (result == ZE_RESULT_SUCCESS) {
        result = start(engine, waiting, EMU_OP_FOLLOW, event, 1);
    }
    emu_event_drop(event);
    return result;
}

/* Finds memory for a copy, which the device must be able to access. */
static int find_place(const void *address, size_t length, emu_place_t *place)
{
    if (!emu_place_find((uintptr_t)address, length, place)) {
        return 0;
    }
    if (place->range == NULL) {
        emu_mistake("a copy of %zu bytes at %p, which a device cannot access",
                    length, address);
        return 0;
    }
    return 1;
}

/* Returns whether the command fills one aligned word of 4 or 8 bytes. Such a
 * word must be written by one store, because the host may poll it. */
static int is_word(const face_command_t *command)
{
    return (command->kind == COMMAND_FILL) &&
           (command->pattern_length == command->length) &&
           ((command->length == 4) || (command->length == 8)) &&
           ((uintptr_t)command->to % command->length == 0);
}

static ze_result_t start_copy(face_engine_t *engine, unsigned stream,
                              const face_command_t *command)
{
    const int is_fill = (command->kind == COMMAND_FILL);
    size_t i;
    emu_op_t *op;

    if (command->length == 0) {
        return ZE_RESULT_SUCCESS;
    }
    op = emu_op_new(EMU_OP_COPY, is_fill ? command->length : 0);
    if (op == NULL) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    op->from.at = (char *)op->bytes;
    for (i = 0; is_fill && (i < command->length); ++i) {
        op->bytes[i] = command->pattern[i % command->pattern_length];
    }
    if (!find_place(command->to, command->length, &op->to) ||
        (!is_fill && !find_place(command->from, command->length, &op->from))) {
        emu_op_free(op);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    op->length = command->length;
    if (is_word(command)) {
        op->kind = EMU_OP_WRITE;
        op->size = (unsigned)command->length;
        memcpy(&op->value, command->pattern, command->length);
    }
    emu_op_start(engine->streams[stream], op);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t start_waits(face_engine_t *engine, unsigned stream,
                               const face_command_t *command)
{
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t i;

    for (i = 0; (i < command->num_waits) && (result == ZE_RESULT_SUCCESS);
         ++i) {
        result = start(engine, stream, EMU_OP_FOLLOW, command->waits[i]->event,
                       command->waits[i]->reset_at + 1);
    }
    return result;
}

/* Selects the stream of a command. A barrier makes its stream wait for the
 * other stream. The first command after a barrier uses the stream of the
 * barrier. The next command uses the other stream, which is first made to wait
 * for the barrier. From then on the streams alternate. */
static ze_result_t choose_stream(face_engine_t *engine, int is_barrier,
                                 unsigned *stream_p)
{
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (is_barrier) {
        result           = join(engine, engine->stream, !engine->stream);
        engine->is_ahead = engine->is_first = 1;
    } else if (engine->is_first) {
        engine->is_first = 0;
    } else {
        if (engine->is_ahead) {
            result           = join(engine, !engine->stream, engine->stream);
            engine->is_ahead = 0;
        }
        engine->stream = !engine->stream;
    }
    *stream_p = engine->stream;
    return result;
}

ze_result_t face_engine_issue(face_engine_t *engine,
                              const face_command_t *command)
{
    const int is_barrier = (command->kind == COMMAND_BARRIER) ||
                           (command->kind == COMMAND_WAIT);
    ze_result_t result = (ze_result_t)engine->context->error;
    unsigned stream    = 0;

    if (result == ZE_RESULT_SUCCESS) {
        result = choose_stream(engine, is_barrier, &stream);
    }
    if (result == ZE_RESULT_SUCCESS) {
        result = start_waits(engine, stream, command);
    }
    if ((result == ZE_RESULT_SUCCESS) &&
        ((command->kind == COMMAND_COPY) || (command->kind == COMMAND_FILL))) {
        result = start_copy(engine, stream, command);
    }
    if ((result == ZE_RESULT_SUCCESS) && (command->signal != NULL)) {
        emu_event_t *event = command->signal->event;

        result = start(engine, stream, EMU_OP_RECORD, event,
                       event->recorded + 1);
    }
    return result;
}

ze_result_t face_engine_record(face_engine_t *engine, emu_event_t *event)
{
    ze_result_t result = join(engine, 0, 1);

    return (result != ZE_RESULT_SUCCESS) ?
               result :
               start(engine, 0, EMU_OP_RECORD, event, event->recorded + 1);
}

ze_result_t face_engine_wait(face_engine_t *engine, uint64_t timeout)
{
    emu_event_t *event = face_event_new();
    ze_result_t result;

    if (event == NULL) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    result = face_engine_record(engine, event);
    if (result == ZE_RESULT_SUCCESS) {
        result = face_wait(event, 1, timeout);
    }
    emu_event_drop(event);
    return result;
}

static int uses(const emu_stream_t *stream, const emu_range_t *range)
{
    const emu_op_t *op;

    for (op = stream->head; op != NULL; op = op->next) {
        if ((op->to.range == range) || (op->from.range == range)) {
            return 1;
        }
    }
    return 0;
}

int face_is_in_use(const emu_range_t *range)
{
    const emu_context_t *context;
    const emu_stream_t *stream;

    for (context = emu_contexts; context != NULL; context = context->next) {
        for (stream = context->streams; stream != NULL; stream = stream->next) {
            if (uses(stream, range)) {
                return 1;
            }
        }
    }
    return 0;
}
