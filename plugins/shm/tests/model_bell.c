/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Model of how senders notify a receiver, as in src/inbox.c and outbox.c:
 *
 * - The receiver polls active senders only. A review sets a flag in the wake
 *   words of some of them, and makes these senders dormant.
 * - To sleep, the receiver arms: it sets another flag in the wake word of each
 *   active sender, and sets `armed`.
 * - A sender that finds a flag in its wake word after a message sets its bit in
 *   a mask, and rings the bell: it increments a counter that the receiver reads
 *   in each call of progress. Then, if `armed` is set, the sender clears it and
 *   signals the event, which ends the sleep.
 *
 * One or two senders, and a receiver that polls, reviews and sleeps at any
 * time, run in every interleaving that the C11 memory model allows. Property:
 * everything sent is received. The cases at the end check that this holds with
 * both kinds of fences, and that it fails if a part of the algorithm is left
 * out.
 *
 * Messages have no bytes: a sender writes the number of its last message, and
 * the receiver reads that number.
 */
/* This file is built twice: with one sender that joins and sends MESSAGES
 * messages, and with two that have joined. SLEEPS and REVIEWS limit how often
 * the receiver sleeps and reviews; afterwards it only polls. */
#ifdef TWO_SENDERS
enum { SENDERS = 2, MESSAGES = 1, JOINED = 1, SLEEPS = 0, REVIEWS = 1 };
#else
enum { SENDERS = 1, MESSAGES = 2, JOINED = 0, SLEEPS = 2, REVIEWS = 1 };
#endif

/* Memory locations. */
enum {
    CTL   = 0,              /* Number of each sender's last message */
    WAKE  = CTL + SENDERS,  /* Wake word of each sender (WAKE_*), written by the
                             * receiver; not 0: the sender rings the bell */
    ARMED = WAKE + SENDERS, /* 1: the receiver sleeps, or is about to */
    BELL,                   /* Incremented by senders */
    RUNG,                   /* Bit mask of the senders that have rung */
    EVENT,                  /* 1: signalled. A kernel object, modelled as a
                             * location */
    MEMORY_PLACES,
};

enum { RECEIVER = SENDERS, MEMORY_THREADS };
enum { MEMORY_DEPTH = 8 };

#include "model_memory.h"
#include "model_search.h"

enum { WAKE_DORMANT = 1, WAKE_ARMED = 2 };

typedef enum {
    MEMBARRIER,           /* The receiver's membarrier() makes all processes
                           * fence */
    SENDERS_FENCE,        /* Senders and receiver execute fences */
    NOBODY_FOR_SENDERS,   /* Only the receiver executes fences */
    NOT_THE_RECEIVER,     /* Only senders execute fences */
    NO_LOOK_AFTER_ARMING, /* The receiver does not poll between arming and
                           * sleep */
    NO_LOOK_AFTER_REVIEW, /* A review does not check again for messages of a
                           * sender that it has marked dormant */
    BELL_BEFORE_BITS,     /* A sender rings the bell, then sets its bit */
    BITS_BEFORE_BELL,     /* The receiver clears bits, then reads the bell */
    NO_LOOK_AT_BELL,      /* The receiver does not read the bell between arming
                           * and sleep */
} variant_t;

/* Members of senders (s):
 * - step: the next step, S_*;
 * - sent: number of messages sent;
 * - is_fenced_soon: the receiver's membarrier() has begun, and has not reached
 *   this sender yet.
 *
 * Members of the receiver (r):
 * - step: the next step, R_*;
 * - i: the sender that a step for several senders is at;
 * - after_fence: the step that follows R_FENCE_END;
 * - marked: bit mask of the senders in the review;
 * - seen: last value of the bell that was noted. */
typedef struct state {
    memory_t memory;
    struct {
        uint8_t step, sent, is_fenced_soon;
    } s[SENDERS];
    struct {
        uint8_t step, i, after_fence, marked, seen;
        uint8_t active;          /* Bit mask of the senders that are polled */
        uint8_t is_armed;        /* ARMED is set, and must be cleared */
        uint8_t sleeps, reviews; /* Remaining number of sleeps and reviews */
        uint8_t wake[SENDERS];   /* Last value written to each wake word */
        uint8_t got[SENDERS];    /* Number of messages received */
    } r;
} state_t;

enum { S_SEND, S_FENCE, S_LOOK, S_BITS, S_BELL, S_ARMED, S_TAKE, S_WAKE };

enum {
    R_PROGRESS,
    R_NOTE_BELL,
    R_BITS,
    R_TAKE_BITS,
    R_POLL,
    R_DISARM,
    R_IDLE,
    R_REVIEW,
    R_REVIEW_LOOK,
    R_ARM,
    R_ARM_HEAD,
    R_ARM_BELL,
    R_ARM_LOOK,
    R_SLEEP,
    R_FENCE,
    R_FENCE_END,
};

static void start(void *arg, int variant)
{
    state_t *state = arg;
    unsigned i;

    memory_start(&state->memory);
    for (i = 0; i < SENDERS; ++i) {
        state->s[i].step = JOINED ? S_SEND : S_BITS; /* A sender that joins
                                                      * rings the bell first */
    }
    state->r.sleeps  = SLEEPS;
    state->r.reviews = REVIEWS;
    state->r.active  = JOINED ? (1u << SENDERS) - 1 : 0;
}

static void emit(model_search_t *search, state_t *copy, const char *label)
{
    memory_tidy(&copy->memory);
    model_emit(search, copy, label);
}

/* ------------------------------------------------------------ a sender -- */

#define LABELS(_i) \
    { \
        _i ": writes a message", _i ": fences", _i ": reads its wake line", \
            _i ": sets its bit", _i ": rings the bell", _i ": reads `armed`", \
            _i ": takes `armed`", _i ": wakes the receiver", \
            _i ": is made to fence" \
    }

static const char *const sender_labels[][S_WAKE + 2] = {
    LABELS("sender 0"),
    LABELS("sender 1"),
};

/* Writes (old & keep) | set to a location, atomically and sequentially
 * consistent. Returns the old value. */
static uint8_t swap_sc(state_t *copy, unsigned thread, unsigned place,
                       uint8_t keep, uint8_t set)
{
    uint8_t old;

    memory_full_fence(&copy->memory, thread);
    old = memory_last(&copy->memory, place);
    memory_swap(&copy->memory, thread, place, (uint8_t)((old & keep) | set));
    memory_full_fence(&copy->memory, thread);
    return old;
}

static void sender_ring(model_search_t *search, state_t *copy, unsigned i,
                        int variant, uint8_t step)
{
    int is_bell = (step == S_BELL) != (variant == BELL_BEFORE_BITS);

    if (is_bell) {
        swap_sc(copy, i, BELL, 0,
                (uint8_t)(memory_last(&copy->memory, BELL) + 1));
    } else {
        swap_sc(copy, i, RUNG, 0xff, (uint8_t)(1u << i));
    }
    copy->s[i].step = (uint8_t)(step + 1);
    emit(search, copy, sender_labels[i][is_bell ? S_BELL : S_BITS]);
}

/* Emits a step for each value that sender `i` may read. The next step is
 * `if_zero` or `if_not`. `is_sc`: the read is sequentially consistent. */
static void sender_read(model_search_t *search, const state_t *state,
                        unsigned i, unsigned place, int is_sc, uint8_t if_zero,
                        uint8_t if_not)
{
    uint8_t step = state->s[i].step;
    state_t copy = *state;
    unsigned version;
    uint8_t value;

    if (is_sc) {
        memory_full_fence(&copy.memory, i);
    }
    for (version = memory_first(&copy.memory, i, place);
         version < state->memory.num[place]; ++version) {
        state_t then = copy;

        value          = memory_read(&then.memory, i, place, version,
                            is_sc ? ACQUIRE : RELAXED);
        then.s[i].step = (value == 0) ? if_zero : if_not;
        emit(search, &then, sender_labels[i][step]);
    }
}

static void sender_next(model_search_t *search, const state_t *state,
                        unsigned i, int variant)
{
    uint8_t step      = state->s[i].step;
    const char *label = sender_labels[i][step];
    state_t copy      = *state;

    switch (step) {
    case S_SEND:
        if (state->s[i].sent < MESSAGES) {
            memory_write(&copy.memory, i, CTL + i, ++copy.s[i].sent, RELEASE);
            copy.s[i].step = S_FENCE;
            emit(search, &copy, label);
        }
        return;
    case S_FENCE:
        if ((variant == SENDERS_FENCE) || (variant == NOT_THE_RECEIVER)) {
            memory_full_fence(&copy.memory, i);
        }
        copy.s[i].step = S_LOOK;
        emit(search, &copy, label);
        return;
    case S_LOOK:
        sender_read(search, state, i, WAKE + i, 0, S_SEND, S_BITS);
        return;
    case S_BITS:
    case S_BELL:
        sender_ring(search, &copy, i, variant, step);
        return;
    case S_ARMED:
        sender_read(search, state, i, ARMED, 1, S_SEND, S_TAKE);
        return;
    case S_TAKE:
        copy.s[i].step = swap_sc(&copy, i, ARMED, 0, 0) ? S_WAKE : S_SEND;
        emit(search, &copy, label);
        return;
    case S_WAKE:
        swap_sc(&copy, i, EVENT, 0, 1);
        copy.s[i].step = S_SEND;
        emit(search, &copy, label);
        return;
    }
}

/* The receiver's membarrier() makes a sender fence between any two of the
 * sender's steps. */
static void sender_fenced(model_search_t *search, const state_t *state,
                          unsigned i)
{
    state_t copy = *state;

    if (state->s[i].is_fenced_soon) {
        memory_full_fence(&copy.memory, i);
        copy.s[i].is_fenced_soon = 0;
        emit(search, &copy, sender_labels[i][S_WAKE + 1]);
    }
}

/* -------------------------------------------------------- the receiver -- */

static void set_wake(state_t *copy, unsigned i, uint8_t set, uint8_t clear)
{
    copy->r.wake[i] = (uint8_t)((copy->r.wake[i] & ~clear) | set);
    memory_write(&copy->memory, RECEIVER, WAKE + i, copy->r.wake[i], RELAXED);
}

static int is_active(const state_t *state, unsigned i)
{
    return (state->r.active >> i) & 1;
}

static void go_fence(state_t *copy, uint8_t after)
{
    copy->r.step        = R_FENCE;
    copy->r.after_fence = after;
    copy->r.i           = 0;
}

static void answer_bits(state_t *copy, uint8_t bits)
{
    unsigned i;

    for (i = 0; i < SENDERS; ++i) {
        if (((bits >> i) & 1) && !is_active(copy, i)) {
            copy->r.active |= (uint8_t)(1u << i);
            set_wake(copy, i, 0, 0xff);
        }
    }
}

/* Evaluates the value that the receiver's step has read, and sets the next
 * step. Returns the label of the read. */
static const char *receiver_took(state_t *copy, uint8_t value, int variant)
{
    uint8_t i = copy->r.i;

    switch (copy->r.step) {
    case R_PROGRESS:
        copy->r.step = (value == copy->r.seen)       ? R_POLL :
                       (variant == BITS_BEFORE_BELL) ? R_BITS :
                                                       R_NOTE_BELL;
        return "receiver: reads the bell";
    case R_NOTE_BELL:
        copy->r.seen = value;
        copy->r.step = (variant == BITS_BEFORE_BELL) ? R_POLL : R_BITS;
        return "receiver: notes the bell";
    case R_BITS:
        copy->r.step = (value != 0)                  ? R_TAKE_BITS :
                       (variant == BITS_BEFORE_BELL) ? R_NOTE_BELL :
                                                       R_POLL;
        return "receiver: reads the bits";
    case R_POLL:
        copy->r.got[i] = value;
        ++copy->r.i;
        return "receiver: polls";
    case R_REVIEW_LOOK:
        copy->r.marked &= (uint8_t) ~(1u << i);
        ++copy->r.i;
        if ((value != copy->r.got[i]) && (variant != NO_LOOK_AFTER_REVIEW)) {
            set_wake(copy, i, 0, WAKE_DORMANT);
            return "receiver: review finds a message";
        }
        copy->r.active &= (uint8_t) ~(1u << i);
        return "receiver: lets a sender be dormant";
    case R_ARM_BELL:
        copy->r.step = ((value != copy->r.seen) &&
                        (variant != NO_LOOK_AT_BELL)) ?
                           R_DISARM :
                           R_ARM_LOOK;
        return "receiver: looks at the bell again";
    default: /* R_ARM_LOOK */
        if ((value != copy->r.got[i]) && (variant != NO_LOOK_AFTER_ARMING)) {
            copy->r.step = R_DISARM;
            copy->r.i    = 0;
        } else {
            ++copy->r.i;
        }
        return "receiver: looks at messages again";
    }
}

static void receiver_read(model_search_t *search, const state_t *state,
                          unsigned place, memory_order_kind_t order,
                          int variant)
{
    unsigned version;
    const char *label;
    state_t copy;

    for (version = memory_first(&state->memory, RECEIVER, place);
         version < state->memory.num[place]; ++version) {
        copy  = *state;
        label = receiver_took(&copy,
                              memory_read(&copy.memory, RECEIVER, place,
                                          version, order),
                              variant);
        emit(search, &copy, label);
    }
}

/* Advances r.i to the next sender in the bit mask `wanted`. Returns non-zero,
 * and resets r.i, if there is none. */
static int skip_others(state_t *copy, uint8_t wanted)
{
    while ((copy->r.i < SENDERS) && !((wanted >> copy->r.i) & 1)) {
        ++copy->r.i;
    }
    if (copy->r.i < SENDERS) {
        return 0;
    }
    copy->r.i = 0;
    return 1;
}

static void receiver_walk(model_search_t *search, state_t *copy, int variant)
{
    uint8_t step   = copy->r.step;
    uint8_t wanted = ((step == R_REVIEW) || (step == R_REVIEW_LOOK)) ?
                         copy->r.marked :
                         copy->r.active;

    if (skip_others(copy, wanted)) {
        copy->r.step = (step == R_POLL) ?
                           (copy->r.is_armed ? R_DISARM : R_IDLE) :
                       (step == R_REVIEW_LOOK) ? R_IDLE :
                       (step == R_ARM)         ? R_ARM_HEAD :
                       (step == R_ARM_LOOK)    ? R_SLEEP :
                                                 R_IDLE;
        if (step == R_REVIEW) {
            go_fence(copy, R_REVIEW_LOOK);
        } else if (step == R_DISARM) {
            memory_write(&copy->memory, RECEIVER, ARMED, 0, RELAXED);
            copy->r.is_armed = 0;
        }
        emit(search, copy,
             (step == R_DISARM) ? "receiver: has disarmed" :
                                  "receiver: has seen to all");
        return;
    }

    switch (step) {
    case R_POLL:
    case R_REVIEW_LOOK:
    case R_ARM_LOOK:
        receiver_read(search, copy, CTL + copy->r.i, ACQUIRE, variant);
        return;
    case R_DISARM:
        set_wake(copy, copy->r.i++, 0, WAKE_ARMED);
        emit(search, copy, "receiver: disarms a sender");
        return;
    case R_REVIEW:
        set_wake(copy, copy->r.i++, WAKE_DORMANT, 0);
        emit(search, copy, "receiver: marks a sender dormant");
        return;
    default: /* R_ARM */
        set_wake(copy, copy->r.i++, WAKE_ARMED, 0);
        emit(search, copy, "receiver: arms a sender");
        return;
    }
}

/* Emits each call that the program may make next. */
static void receiver_idle(model_search_t *search, const state_t *state)
{
    state_t copy = *state;
    unsigned marked;

    copy.r.step = R_PROGRESS;
    emit(search, &copy, "receiver: progresses");

    if (state->r.sleeps > 0) {
        copy.r.step = R_ARM;
        --copy.r.sleeps;
        swap_sc(&copy, RECEIVER, EVENT, 0, 0);
        emit(search, &copy, "receiver: begins to arm");
    }

    for (marked = 1; marked < (1u << SENDERS); ++marked) {
        if (((marked & ~state->r.active) == 0) && (state->r.reviews > 0)) {
            copy = *state;
            --copy.r.reviews;
            copy.r.step   = R_REVIEW;
            copy.r.marked = (uint8_t)marked;
            emit(search, &copy, "receiver: begins a review");
        }
    }
}

/* R_FENCE and R_FENCE_END: the full fences of the receiver before and after its
 * membarrier(). Unless the variant excludes it, every sender fences between
 * them, and R_FENCE_END waits for that. */
static void receiver_fence(model_search_t *search, state_t *copy, int variant)
{
    unsigned i;

    for (i = 0; i < SENDERS; ++i) {
        if (copy->s[i].is_fenced_soon) {
            return; /* The receiver waits */
        }
    }
    if (variant != NOT_THE_RECEIVER) {
        memory_full_fence(&copy->memory, RECEIVER);
    }
    for (i = 0; (i < SENDERS) && (copy->r.step == R_FENCE); ++i) {
        copy->s[i].is_fenced_soon = (variant != SENDERS_FENCE) &&
                                    (variant != NOT_THE_RECEIVER) &&
                                    (variant != NOBODY_FOR_SENDERS);
    }
    if (copy->r.step == R_FENCE) {
        copy->r.step = R_FENCE_END;
    } else {
        copy->r.step        = copy->r.after_fence;
        copy->r.after_fence = 0;
    }
    emit(search, copy, "receiver: fences for all");
}

static void receiver_next(model_search_t *search, const state_t *state,
                          int variant)
{
    state_t copy = *state;

    switch (state->r.step) {
    case R_PROGRESS:
        receiver_read(search, state, BELL, ACQUIRE, variant);
        return;
    case R_NOTE_BELL:
        memory_full_fence(&copy.memory, RECEIVER);
        receiver_read(search, &copy, BELL, ACQUIRE, variant);
        return;
    case R_BITS:
        receiver_read(search, state, RUNG, RELAXED, variant);
        return;
    case R_TAKE_BITS:
        answer_bits(&copy, swap_sc(&copy, RECEIVER, RUNG, 0, 0));
        copy.r.step = (variant == BITS_BEFORE_BELL) ? R_NOTE_BELL : R_POLL;
        emit(search, &copy, "receiver: takes the bits");
        return;
    case R_IDLE:
        receiver_idle(search, state);
        return;
    case R_ARM_HEAD:
        memory_write(&copy.memory, RECEIVER, ARMED, 1, RELAXED);
        copy.r.is_armed = 1;
        go_fence(&copy, R_ARM_BELL);
        emit(search, &copy, "receiver: is armed");
        return;
    case R_ARM_BELL:
        receiver_read(search, state, BELL, ACQUIRE, variant);
        return;
    case R_SLEEP:
        if (memory_last(&state->memory, EVENT) != 0) {
            swap_sc(&copy, RECEIVER, EVENT, 0xff, 0);
            copy.r.step = R_PROGRESS;
            emit(search, &copy, "receiver: wakes up");
        }
        return;
    case R_FENCE:
    case R_FENCE_END:
        receiver_fence(search, &copy, variant);
        return;
    default:
        receiver_walk(search, &copy, variant);
        return;
    }
}

static void next(model_search_t *search, const void *arg, int variant)
{
    unsigned i;

    for (i = 0; i < SENDERS; ++i) {
        sender_next(search, arg, i, variant);
        sender_fenced(search, arg, i);
    }
    receiver_next(search, arg, variant);
}

static const char *fault(const void *arg, int variant)
{
    return NULL; /* The only fault of this model is a lost wake-up, which is a
                  * dead end */
}

static int is_end(const void *arg, int variant)
{
    const state_t *state = arg;
    unsigned i, left = 0;

    for (i = 0; i < SENDERS; ++i) {
        left += (state->r.got[i] != MESSAGES);
    }
    return left == 0;
}

static const model_t bell = {
    (SENDERS == 1) ? "bell" : "bell of two",
    sizeof(state_t),
    start,
    next,
    fault,
    is_end,
};

static const model_case_t cases[] = {
    {"the receiver fences for all", MEMBARRIER, MODEL_HOLDS},
    {"senders fence", SENDERS_FENCE, MODEL_HOLDS},
    {"nobody fences for the senders", NOBODY_FOR_SENDERS, MODEL_DEAD_END},
    {"the receiver does not fence", NOT_THE_RECEIVER, MODEL_DEAD_END},
    {"no second look in a review", NO_LOOK_AFTER_REVIEW, MODEL_DEAD_END},
    {"the bell before its bits", BELL_BEFORE_BITS, MODEL_DEAD_END},
#ifdef TWO_SENDERS
    {"bits taken before the bell is noted", BITS_BEFORE_BELL, MODEL_DEAD_END},
#else
    {"no second look when arming", NO_LOOK_AFTER_ARMING, MODEL_DEAD_END},
    {"arming does not look at the bell", NO_LOOK_AT_BELL, MODEL_DEAD_END},
#endif
};

int main(int argc, char **argv)
{
    return model_test(&bell, cases, sizeof(cases) / sizeof(cases[0]), argc,
                      argv);
}
