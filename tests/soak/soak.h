/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the soak test: a process, its threads, and their
 * outstanding operations. See README.md. */
#ifndef SOAK_H
#define SOAK_H

#include "common/check.h"
#include "common/data.h"
#include "common/team.h"

#include <pthread.h>
#include <stdatomic.h>
#include <ucp/api/ucp.h>

enum { MAX_THREADS = 4, LOANS = 2 };

/* Classes of messages; each is counted separately. */
enum class {
    TAG_ANY,    /* received with a mask */
    TAG_EXACT,  /* ... by exact tag, usually posted before it is sent */
    TAG_PROBED, /* ... after a probe has found it */
    AM,
    STREAM, /* records */
    NUM_CLASSES,
};

/* Messages in one direction: their number, and the sum of their names, which
 * detects a lost, duplicated or wrong one. */
struct tally {
    _Atomic uint64_t count, sum;
};

/* Memory that this process offers to all. Layout: a slot for each thread of all
 * processes, a constant area, words for atomics. */
struct loan {
    void *own; /* of malloc, or NULL */
    char *memory;
    ucp_mem_h memh;
};

struct parser; /* state of a received stream: stream.c */

struct peer {
    struct soak *soak;
    int rank;
    ucp_ep_h ep;
    bool closing; /* ignore its failure */
    ucp_rkey_h rkeys[LOANS];
    uint64_t addresses[LOANS];
    struct tally sent[NUM_CLASSES], received[NUM_CLASSES];
    _Atomic uint64_t next[NUM_CLASSES]; /* number of the next message */
    _Atomic uint64_t next_exact;        /* the next one to be posted */
    _Atomic int posted_exact;
    /* sum of atomics to the peer's words, since these were opened */
    _Atomic uint64_t added[2 * LOANS];
    struct parser *parser;
};

/* An active message whose data was kept. */
struct kept;

struct soak {
    struct team *team;
    struct peer peers[TEAM_MAX];
    uint64_t seed;
    double seconds;
    int threads;
    bool awake;
    uint64_t round;
    struct random random; /* equal in all processes */
    _Atomic int drained;  /* number of threads whose operations are
                           * complete */
    _Atomic int round_over;
    /* resources while everything was closed */
    unsigned closings, fds, mappings;
    size_t heap;

    /* valid while open */
    ucp_context_h context;
    ucp_worker_h worker;
    bool sleeps;
    ucp_err_handling_mode_t err_mode;
    size_t request_size;
    ucp_datatype_t generic;
    struct loan loans[LOANS];

    _Atomic uint64_t answers_due, answered; /* of active messages */
    pthread_mutex_t lock; /* for kept; never held during a call of UCP */
    struct kept *kept;
    _Atomic uint64_t done[NUM_CLASSES + 3]; /* for the summary */
};

/* Indices of soak.done after the classes. */
enum { DONE_PUTS = NUM_CLASSES, DONE_GETS, DONE_ATOMICS, NUM_DONE };

/* --- payload.c: memory of any layout ------------------------------------- */

enum layout { CONTIG, WORDS, IOV, GENERIC, NUM_LAYOUTS };

struct payload {
    enum layout layout;
    size_t length; /* packed length */
    char *memory;  /* the allocation, with guards */
    ucp_dt_iov_t *iov;
    /* arguments for UCP */
    void *buffer;
    size_t count;
    ucp_datatype_t datatype;
};

/* The contents depend on a name and an offset. */
void pattern_fill(void *to, uint64_t name, uint64_t offset, size_t length);
void pattern_check(const void *from, uint64_t name, uint64_t offset,
                   size_t length, const char *what);

void payload_open(struct payload *payload, struct soak *soak, size_t length,
                  enum layout layout, struct random *random);
void payload_fill(struct payload *payload, uint64_t name);
/* Checks the first `length` bytes, and that nothing was written beyond. */
void payload_check(struct payload *payload, uint64_t name, size_t length,
                   const char *what);
/* Copy from contiguous bytes, or to a buffer that the caller frees. */
void payload_set(struct payload *payload, char *bytes);
char *payload_bytes(struct payload *payload, size_t length);
void payload_close(struct payload *payload);
ucp_datatype_t payload_generic(void);

/* --- actor.c: a thread and its operations -------------------------------- */

struct actor;
struct op;

typedef void (*op_end_t)(struct actor *actor, struct op *op);

/* Type of an operation's callback. */
enum op_kind { OP_SEND, OP_TAG_RECV, OP_AM_RECV, OP_STREAM_RECV };

/* How the completion is detected. */
enum op_form {
    BY_CALLBACK,
    BY_POLL,
    PLACE_CALLBACK, /* the request is in the caller's memory */
    PLACE_POLL,
    NUM_FORMS,
};

struct op {
    struct op *next;
    const char *what;
    enum op_kind kind;
    enum op_form form;
    _Atomic bool done;
    ucs_status_t status;
    ucp_tag_recv_info_t info; /* tagged receives */
    size_t length;            /* other receives */
    void *request;            /* valid until op_poll frees it */
    char *place;              /* memory for the request */
    op_end_t end;             /* checks the result */
    struct payload payload;
    bool has_payload;
    bool cancelled; /* cancellation was attempted */
    bool detached;  /* not waited for by the actor */
    bool may_fail;  /* its end callback checks the status */
    /* arguments of `end` */
    struct peer *peer;
    uint64_t name;
    uint64_t words[2];
    void *extra;
};

struct actor {
    struct soak *soak;
    int index;
    struct random random;
    struct op *ops;
    unsigned num_ops; /* not detached */
    size_t bytes;     /* of those */
    unsigned idle;    /* consecutive steps without an event */
    int posted_any, posted_exact, taking;
    bool stopping; /* posts no more receives */
    struct rma_state *rma;
    uint64_t reply; /* result of a blocking atomic */
    pthread_t thread;
};

/* One step of waiting: serves peers, progresses, completes operations. */
void actor_step(struct actor *actor);
/* Only completes operations. */
void actor_end_ops(struct actor *actor);

/* Creates an operation; `what` is for messages. */
struct op *op_new(struct actor *actor, const char *what, op_end_t end);
void op_payload(struct actor *actor, struct op *op, size_t length,
                enum layout layout);

/* Returns parameters of a random form, for op's payload. */
ucp_request_param_t op_param(struct actor *actor, struct op *op,
                             enum op_kind kind);
/* Handles the result of the call. */
void op_started(struct actor *actor, struct op *op, ucs_status_ptr_t result);
/* Steps until the operation is complete and expects success; frees op. */
void op_wait(struct actor *actor, struct op *op);
/* Cancels an operation that may never complete by itself. */
void op_cancel(struct actor *actor, struct op *op);

/* The deadline for a wait; actor_late() fails the test after it. */
double actor_deadline(void);
void actor_late(struct actor *actor, double deadline, const char *what);

/* Name of a message, which is also its tag. */
uint64_t name_of(const struct peer *to, enum class class, uint64_t number);
unsigned rank_of_name(uint64_t name);
uint64_t number_of_name(uint64_t name);
/* The next name for this peer, counted as sent. */
uint64_t name_next(struct peer *to, enum class class);
/* Counts a message received from that peer. */
void name_received(struct soak *soak, enum class class, uint64_t name);

size_t draw_length(struct random *random, size_t max);
enum layout draw_layout(struct random *random);
struct peer *draw_peer(struct actor *actor);
uint64_t mix(uint64_t a, uint64_t b);
void tally_add(struct tally *tally, uint64_t name);

/* --- classes of operations ----------------------------------------------- */

void tag_send(struct actor *actor);
void tag_in_vain(struct actor *actor); /* a receive that is cancelled */
void tag_serve(struct actor *actor);
void tag_round_over(struct actor *actor);

void am_open(struct soak *soak);
void am_send(struct actor *actor);
void am_serve(struct actor *actor);

void rma_open(struct actor *actor);
void rma_close(struct actor *actor);
void rma_put(struct actor *actor);
void rma_get(struct actor *actor);
void rma_check(struct actor *actor);
void rma_round_over(struct actor *actor);
void rma_flush(struct actor *actor);
/* The word of this thread in that loan: 8 or 4 bytes. */
uint64_t *rma_word(struct actor *actor, int rank, unsigned loan, bool small);
void rma_lend(struct soak *soak);
void rma_take_back(struct soak *soak);

void amo_add(struct actor *actor);
void amo_fetch(struct actor *actor);
/* Called when all adds are complete: checks the sums in our memory. */
void amo_check(struct soak *soak, const uint64_t *added);

/* Offsets in a loan. */
enum {
    SLOT_SIZE = 128 * 1024,
    SLOTS     = TEAM_MAX * MAX_THREADS,
    CALM      = SLOTS * SLOT_SIZE, /* the constant area */
    CALM_SIZE = 300 * 1024,
    SUMS      = CALM + CALM_SIZE, /* two words to which all add */
    WORDS_AT  = SUMS + 64,        /* 16 bytes for each slot */
    LOAN_SIZE = WORDS_AT + SLOTS * 16,
};

unsigned slot_of(const struct actor *actor);

void stream_send(struct actor *actor);
void stream_serve(struct actor *actor);
void stream_connected(struct peer *peer);
/* Called when the outstanding receive of the closed endpoint has ended. */
void stream_closed(struct peer *peer);

/* --- world.c: objects that are opened and closed ------------------------- */

void world_open(struct soak *soak);
/* Sends a peer the data for connecting; then both connect. */
void world_tell(struct soak *soak, int rank);
void world_connect(struct soak *soak, int rank);
void world_disconnect(struct soak *soak, struct actor *actor, int rank,
                      bool force);
void world_close(struct soak *soak, struct actor *actor);
void world_barrier(struct actor *actor);
/* Checks for leaks while no context is open. */
void world_is_clean(struct soak *soak);

#endif
