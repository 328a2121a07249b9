/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Model of the queue of src/inbox_inl.h and src/outbox_inl.h with four cells
 * and a ring of up to four cache lines, in every interleaving that the C11
 * memory model allows. A cell has a control word and some bytes; longer
 * messages are in the ring. The receiver returns credits: counters of the cells
 * and bytes that the sender may use again. Property: each message arrives once,
 * in order, complete, and neither end waits forever. The cases at the end check
 * that this also holds if the ring cannot grow, and that it fails if any one
 * rule is left out.
 *
 * The plugin's functions shm_phase() and shm_ring_place() compute phases and
 * places in the ring.
 */
#include "../src/inbox.h"

enum { CELLS = 4, LINES = 4, SMALLEST_LOG = 6 };

/* Memory locations. The bytes of a message are one value in each location: the
 * number of the message, from 1. */
enum {
    CTL        = 0,            /* Control word of each cell: see pack_ctl() */
    DATA       = CTL + CELLS,  /* Bytes of each cell */
    RING       = DATA + CELLS, /* Lines of the ring */
    CELLS_DONE = RING + LINES, /* Credit: number of cells read */
    BYTES_DONE,                /* Credit: number of ring lines read */
    MEMORY_PLACES,
};

enum { SENDER, RECEIVER, MEMORY_THREADS };
enum { MEMORY_DEPTH = 7 };

#include "model_memory.h"
#include "model_search.h"

typedef enum {
    AS_IT_IS,
    CTL_NOT_RELEASED,    /* The control word may become visible before the
                          * bytes */
    CTL_NOT_ACQUIRED,    /* Bytes may be read that are older than the control
                          * word */
    CREDIT_BEFORE_READ,  /* The receiver returns credits before it reads the
                          * bytes, as a credit without release order might */
    ONE_CELL_TOO_MANY,   /* The sender takes one cell more than are free */
    ONE_LINE_TOO_MANY,   /* The sender takes one line more than are free */
    PHASE_STAYS,         /* The phase bit is always 1 */
    GROWS_IN_TWO_PIECES, /* The ring grows while bytes in use continue at its
                          * start */
    NO_MEMORY,           /* The first ring cannot grow */
    EMPTY_IS_NO_REASON,  /* As NO_MEMORY. And lines that are skipped at the end
                          * of the ring count as used even if the ring is
                          * empty */
    KEEPS_CREDITS,       /* The receiver returns no credits */
} variant_t;

/* Number of ring lines of each message; 0: its bytes are in the cell. The
 * sender wants a ring that holds twice its longest message so far. */
static const uint8_t messages[] = {1, 1, 0, 1, 2, 0, 1, 2, 1, 0};

enum { NUM = sizeof(messages) };

/* Members of the sender (s) and the receiver (r):
 * - step: the next step, S_* or R_*;
 * - next: index of the message that is written or read;
 * - line: number of its lines that were written or read so far;
 * - place: its first line in the ring;
 * - lines: number of its lines in the ring;
 * - ring_log: size of the ring, see ring_lines();
 * - ring_at: line in the ring after the last message;
 * - limit: index of the first message for which the sender has no free cell;
 * - used: total number of ring lines that the sender has used;
 * - done: total number of ring lines that the receiver has read, in the sender
 *   as far as it knows from BYTES_DONE;
 * - told: last value that the receiver has written to CELLS_DONE;
 * - fault: see fault(); 0: none. */
typedef struct state {
    memory_t memory;
    struct {
        uint8_t step, line, place;
        uint8_t next, limit;
        uint8_t ring_log, ring_at;
        uint8_t used, done;
    } s;
    struct {
        uint8_t step, line, place, lines, fault;
        uint8_t next, told;
        uint8_t ring_log, ring_at;
        uint8_t done;
    } r;
} state_t;

enum { S_CELL, S_BYTES, S_WRITE, S_CTL };
enum { R_LOOK, R_READ, R_READ_DONE, R_TELL_BYTES, R_TELL_CELLS };

/* Encodes a control word in a byte: phase, size of the ring, and number of
 * lines of the message in the ring. */
static uint8_t pack_ctl(unsigned phase, unsigned ring_log, unsigned lines)
{
    return (uint8_t)(0x80 | phase | (ring_log << 1) | (lines << 4));
}

static unsigned phase_of(unsigned next, int variant)
{
    return (variant == PHASE_STAYS) ? 1 : shm_phase(next, CELLS - 1);
}

/* Returns the ring line at which a message of `lines` lines begins. *used_p:
 * the number of lines used, with those skipped at the end of the ring. */
static uint8_t place_of(uint8_t at, uint8_t ring_log, uint8_t lines,
                        uint8_t *used_p)
{
    uint32_t used;
    uint32_t place = shm_ring_place(at * SHM_CACHE_LINE,
                                    ring_log + SMALLEST_LOG - 1u,
                                    lines * SHM_CACHE_LINE, &used);

    *used_p = (uint8_t)(used / SHM_CACHE_LINE);
    return (uint8_t)(place / SHM_CACHE_LINE);
}

/* Returns the size of the ring that is wanted for a message of 1 or 2 lines. */
static uint8_t wanted_log(uint8_t lines)
{
    return (uint8_t)(lines + 1);
}

/* Returns the number of lines of a ring. `ring_log`: 0 no ring, 1 one line, 2
 * two lines, 3 four lines. */
static uint8_t ring_lines(uint8_t ring_log)
{
    return (ring_log == 0) ? 0 : (uint8_t)(1u << (ring_log - 1));
}

static void start(void *arg, int variant)
{
    state_t *state = arg;

    memory_start(&state->memory);
    state->s.limit = CELLS + (variant == ONE_CELL_TOO_MANY);
}

/* Emits a step for each value of a credit (CELLS_DONE or BYTES_DONE) that the
 * sender may read. */
static void emit_credit(model_search_t *search, const state_t *state,
                        unsigned place, int variant)
{
    unsigned version;
    state_t copy;
    uint8_t value;

    for (version = memory_first(&state->memory, SENDER, place);
         version < state->memory.num[place]; ++version) {
        copy  = *state;
        value = memory_read(&copy.memory, SENDER, place, version, ACQUIRE);
        if (place == CELLS_DONE) {
            copy.s.limit = (uint8_t)(value + CELLS +
                                     (variant == ONE_CELL_TOO_MANY));
        } else {
            copy.s.done = value;
        }
        memory_tidy(&copy.memory);
        model_emit(search, &copy, "sender: reads a credit");
    }
}

static void sender_bytes(model_search_t *search, const state_t *state,
                         int variant)
{
    uint8_t lines = messages[state->s.next];
    uint8_t size  = ring_lines(state->s.ring_log);
    state_t copy  = *state;
    uint8_t used;

    /* A ring grows at its end. Therefore it may grow only while the bytes in
     * use do not continue at its start */
    if ((state->s.ring_log < wanted_log(lines)) &&
        ((state->s.ring_log == 0) ||
         ((variant != NO_MEMORY) && (variant != EMPTY_IS_NO_REASON))) &&
        ((state->s.used - state->s.done <= state->s.ring_at) ||
         (variant == GROWS_IN_TWO_PIECES))) {
        copy.s.ring_log = wanted_log(lines);
        model_emit(search, &copy, "sender: takes a larger ring");
    }
    if (state->s.ring_log == 0) {
        return;
    }

    copy         = *state;
    copy.s.place = place_of(state->s.ring_at, state->s.ring_log, lines, &used);
    if ((state->s.used + used - state->s.done >
         size + (variant == ONE_LINE_TOO_MANY)) &&
        ((state->s.used != state->s.done) || (lines > size) ||
         (variant == EMPTY_IS_NO_REASON))) {
        emit_credit(search, state, BYTES_DONE, variant);
        return;
    }
    copy.s.used += used;
    copy.s.ring_at = copy.s.place + lines;
    copy.s.step    = S_WRITE;
    model_emit(search, &copy, "sender: reserves bytes");
}

static void sender_next(model_search_t *search, const state_t *state,
                        int variant)
{
    unsigned cell = state->s.next % CELLS;
    state_t copy  = *state;
    uint8_t lines;

    if (state->s.next == NUM) {
        return;
    }
    lines = messages[state->s.next];
    switch (state->s.step) {
    case S_CELL:
        if (state->s.next == state->s.limit) {
            emit_credit(search, state, CELLS_DONE, variant);
            return;
        }
        copy.s.step = (lines > 0) ? S_BYTES : S_WRITE;
        model_emit(search, &copy, "sender: has a cell");
        return;
    case S_BYTES:
        sender_bytes(search, state, variant);
        return;
    case S_WRITE:
        memory_write(&copy.memory, SENDER,
                     (lines == 0) ?
                         DATA + cell :
                         (unsigned)RING + state->s.place + state->s.line,
                     (uint8_t)(state->s.next + 1), RELAXED);
        if (++copy.s.line >= lines) {
            copy.s.line = 0;
            copy.s.step = S_CTL;
        }
        model_emit(search, &copy, "sender: writes bytes");
        return;
    case S_CTL:
        memory_write(&copy.memory, SENDER, CTL + cell,
                     pack_ctl(phase_of(state->s.next, variant),
                              (lines == 0) ? 0 : state->s.ring_log, lines),
                     (variant == CTL_NOT_RELEASED) ? RELAXED : RELEASE);
        ++copy.s.next;
        copy.s.step = S_CELL;
        model_emit(search, &copy, "sender: writes the control word");
        return;
    }
}

/* Evaluates a new control word: finds the bytes of the message. */
static void receiver_locate(state_t *copy, uint8_t ctl, int variant)
{
    uint8_t lines    = ctl >> 4 & 7;
    uint8_t ring_log = ctl >> 1 & 7;
    uint8_t used;

    copy->r.lines = lines;
    copy->r.line  = 0;
    copy->r.step  = R_READ;
    if (lines > 0) {
        copy->r.place    = place_of(copy->r.ring_at, ring_log, lines, &used);
        copy->r.ring_at  = copy->r.place + lines;
        copy->r.ring_log = ring_log;
        copy->r.done += used;
    }
    if (variant == CREDIT_BEFORE_READ) {
        memory_write(&copy->memory, RECEIVER, BYTES_DONE, copy->r.done,
                     RELEASE);
        memory_write(&copy->memory, RECEIVER, CELLS_DONE,
                     (uint8_t)(copy->r.next + 1), RELEASE);
        copy->r.told = (uint8_t)(copy->r.next + 1);
    }
}

static void receiver_look(model_search_t *search, const state_t *state,
                          int variant)
{
    unsigned place = CTL + (state->r.next % CELLS);
    unsigned version;
    state_t copy;
    uint8_t ctl;

    for (version = memory_first(&state->memory, RECEIVER, place);
         version < state->memory.num[place]; ++version) {
        copy = *state;
        ctl  = memory_read(&copy.memory, RECEIVER, place, version,
                          (variant == CTL_NOT_ACQUIRED) ? RELAXED : ACQUIRE);
        memory_tidy(&copy.memory);
        if ((ctl & 1) == phase_of(state->r.next, variant)) {
            if (state->r.next == NUM) {
                copy.r.fault = 2;
            } else {
                receiver_locate(&copy, ctl, variant);
            }
            model_emit(search, &copy, "receiver: finds a control word");
        } else {
            if ((state->r.next != state->r.told) &&
                (variant != KEEPS_CREDITS)) {
                copy.r.step = R_TELL_BYTES;
            }
            model_emit(search, &copy, "receiver: finds nothing");
        }
    }
}

static void receiver_read(model_search_t *search, const state_t *state)
{
    unsigned cell  = state->r.next % CELLS;
    unsigned place = (state->r.lines == 0) ?
                         DATA + cell :
                         (unsigned)RING + state->r.place + state->r.line;
    unsigned version;
    state_t copy;

    for (version = memory_first(&state->memory, RECEIVER, place);
         version < state->memory.num[place]; ++version) {
        copy = *state;
        if ((memory_read(&copy.memory, RECEIVER, place, version, RELAXED) !=
             state->r.next + 1) ||
            (state->r.lines != messages[state->r.next])) {
            copy.r.fault = 1;
        }
        memory_tidy(&copy.memory);
        if (++copy.r.line >= state->r.lines) {
            copy.r.step  = R_READ_DONE;
            copy.r.line  = 0;
            copy.r.lines = 0;
            copy.r.place = 0;
            ++copy.r.next;
        }
        model_emit(search, &copy, "receiver: reads bytes");
    }
}

static void receiver_next(model_search_t *search, const state_t *state,
                          int variant)
{
    state_t copy = *state;

    switch (state->r.step) {
    case R_LOOK:
        receiver_look(search, state, variant);
        return;
    case R_READ:
        receiver_read(search, state);
        return;
    case R_READ_DONE: /* Two possible steps: return credits now, or later */
        copy.r.step = R_LOOK;
        model_emit(search, &copy, "receiver: tells nothing yet");
        if ((variant != KEEPS_CREDITS) && (variant != CREDIT_BEFORE_READ)) {
            copy.r.step = R_TELL_BYTES;
            model_emit(search, &copy, "receiver: will tell");
        }
        return;
    case R_TELL_BYTES:
        memory_write(&copy.memory, RECEIVER, BYTES_DONE, state->r.done,
                     RELEASE);
        copy.r.step = R_TELL_CELLS;
        model_emit(search, &copy, "receiver: tells of bytes");
        return;
    case R_TELL_CELLS:
        memory_write(&copy.memory, RECEIVER, CELLS_DONE, state->r.next,
                     RELEASE);
        copy.r.told = state->r.next;
        copy.r.step = R_LOOK;
        model_emit(search, &copy, "receiver: tells of cells");
        return;
    }
}

static void next(model_search_t *search, const void *arg, int variant)
{
    sender_next(search, arg, variant);
    receiver_next(search, arg, variant);
}

static const char *fault(const void *arg, int variant)
{
    const state_t *state = arg;

    return (state->r.fault == 1) ? "bytes of another message" :
           (state->r.fault == 2) ? "a message that nobody sent" :
                                   NULL;
}

static int is_end(const void *arg, int variant)
{
    const state_t *state = arg;

    return (state->s.next == NUM) && (state->r.next == NUM);
}

static const model_t queue = {
    "queue", sizeof(state_t), start, next, fault, is_end,
};

static const model_case_t cases[] = {
    {"as it is", AS_IT_IS, MODEL_HOLDS},
    {"control word not released", CTL_NOT_RELEASED, MODEL_WRONG},
    {"control word not acquired", CTL_NOT_ACQUIRED, MODEL_WRONG},
    {"credit before the bytes are read", CREDIT_BEFORE_READ, MODEL_WRONG},
    {"one cell too many", ONE_CELL_TOO_MANY, MODEL_WRONG},
    {"one line too many", ONE_LINE_TOO_MANY, MODEL_WRONG},
    {"the phase does not turn", PHASE_STAYS, MODEL_WRONG},
    {"the ring grows while in two pieces", GROWS_IN_TWO_PIECES, MODEL_WRONG},
    {"the ring cannot grow", NO_MEMORY, MODEL_HOLDS},
    {"... nor be used up when it is empty", EMPTY_IS_NO_REASON, MODEL_DEAD_END},
    {"credits are kept back", KEEPS_CREDITS, MODEL_DEAD_END},
};

int main(int argc, char **argv)
{
    return model_test(&queue, cases, sizeof(cases) / sizeof(cases[0]), argc,
                      argv);
}
