/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the soak test share: a process, its threads, and the
 * operations that they have under way. See README.md. */
#ifndef SOAK_H
#define SOAK_H

#include "common/check.h"
#include "common/data.h"
#include "common/team.h"

#include <pthread.h>
#include <stdatomic.h>
#include <ucp/api/ucp.h>

enum { MAX_THREADS = 4, LOANS = 2 };

/* What can be lost: each class is counted by itself. */
enum class {
    TAG_ANY,    /* received by a mask */
    TAG_EXACT,  /* ... by its tag, posted before it is sent, mostly */
    TAG_PROBED, /* ... after a probe has found it */
    AM,
    STREAM,     /* records */
    NUM_CLASSES
};

/* Messages that went one way: how many, and a sum of their names, so that one
 * that is lost, doubled or foreign shows. */
struct tally {
    _Atomic uint64_t count, sum;
};

/* Memory that this process lends to all. Layout: a slot for each thread of all
 * processes, an area that stays as it is, words for atomics. */
struct loan {
    void *own; /* of malloc, or NULL */
    char *memory;
    ucp_mem_h memh;
};

struct parser; /* of what a stream brings: stream.c */

struct peer {
    struct soak *soak;
    int rank;
    ucp_ep_h ep;
    bool closing;              /* its failure is of no interest */
    ucp_rkey_h rkeys[LOANS];
    uint64_t addresses[LOANS];
    struct tally sent[NUM_CLASSES], received[NUM_CLASSES];
    _Atomic uint64_t next[NUM_CLASSES];    /* number of the next message */
    _Atomic uint64_t next_exact;           /* to be posted */
    _Atomic int posted_exact;
    /* by atomics to its words, since it opened */
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
    struct random random;      /* draws the same in all processes */
    _Atomic int drained;       /* threads whose own operations are over */
    _Atomic int round_over;
    /* what was in use while all was closed */
    unsigned closings, fds, mappings;
    size_t heap;

    /* between opening and closing */
    ucp_context_h context;
    ucp_worker_h worker;
    bool sleeps;
    ucp_err_handling_mode_t err_mode;
    size_t request_size;
    ucp_datatype_t generic;
    struct loan loans[LOANS];

    _Atomic uint64_t answers_due, answered; /* of active messages */
    pthread_mutex_t lock;      /* of kept; never held in a call of UCP's */
    struct kept *kept;
    _Atomic uint64_t done[NUM_CLASSES + 3]; /* for the summary */
};

/* For soak.done: after the classes. */
enum { DONE_PUTS = NUM_CLASSES, DONE_GETS, DONE_ATOMICS, NUM_DONE };

/* --- payload.c: memory of any layout ------------------------------------- */

enum layout { CONTIG, WORDS, IOV, GENERIC, NUM_LAYOUTS };

struct payload {
    enum layout layout;
    size_t length;      /* bytes when packed */
    char *memory;       /* all of it, and guards */
    ucp_dt_iov_t *iov;
    /* what calls of UCP take */
    void *buffer;
    size_t count;
    ucp_datatype_t datatype;
};

/* Content is a function of a name and a place. */
void pattern_fill(void *to, uint64_t name, uint64_t offset, size_t length);
void pattern_check(const void *from, uint64_t name, uint64_t offset,
                   size_t length, const char *what);

void payload_open(struct payload *payload, struct soak *soak, size_t length,
                  enum layout layout, struct random *random);
void payload_fill(struct payload *payload, uint64_t name);
/* The first `length` bytes, and that nothing was written beyond the end. */
void payload_check(struct payload *payload, uint64_t name, size_t length,
                   const char *what);
/* The same bytes in a row: in, or out, as a copy that the caller frees. */
void payload_set(struct payload *payload, char *bytes);
char *payload_bytes(struct payload *payload, size_t length);
void payload_close(struct payload *payload);
ucp_datatype_t payload_generic(void);

/* --- actor.c: a thread and its operations -------------------------------- */

struct actor;
struct op;

typedef void (*op_end_t)(struct actor *actor, struct op *op);

/* What kind of callback an operation takes. */
enum op_kind { OP_SEND, OP_TAG_RECV, OP_AM_RECV, OP_STREAM_RECV };

/* How the end of an operation becomes known. */
enum op_form {
    BY_CALLBACK,
    BY_POLL,
    PLACE_CALLBACK, /* the request is in memory of ours */
    PLACE_POLL,
    NUM_FORMS
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
    void *request;            /* in use until it is freed by op_poll */
    char *place;              /* memory of a request in place */
    op_end_t end;             /* looks at the result */
    struct payload payload;
    bool has_payload;
    bool cancelled;           /* was tried to */
    bool detached;            /* none of the actor's own: not waited for */
    bool may_fail;            /* its end looks at the status */
    /* for `end` */
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
    unsigned num_ops;   /* not detached */
    size_t bytes;       /* of those */
    unsigned idle;      /* fruitless steps in a row */
    int posted_any, posted_exact, taking;
    bool stopping;      /* posts no more receives */
    struct rma_state *rma;
    uint64_t reply;     /* of an atomic that is waited for */
    pthread_t thread;
};

/* Everything that a process does while it waits: serves peers, progresses, ends
 * operations. */
void actor_step(struct actor *actor);
/* The last part of that only. */
void actor_end_ops(struct actor *actor);

/* An operation; `what` is for people. */
struct op *op_new(struct actor *actor, const char *what, op_end_t end);
void op_payload(struct actor *actor, struct op *op, size_t length,
                enum layout layout);

/* A parameter of a random form, for op's payload. */
ucp_request_param_t op_param(struct actor *actor, struct op *op,
                             enum op_kind kind);
/* What the call returned. */
void op_started(struct actor *actor, struct op *op, ucs_status_ptr_t result);
/* Steps until it is over and expects success; op is gone then. */
void op_wait(struct actor *actor, struct op *op);
/* Asks for the end of what may never end by itself. */
void op_cancel(struct actor *actor, struct op *op);

/* Fails the test if this takes much longer. */
double actor_deadline(void);
void actor_late(struct actor *actor, double deadline, const char *what);

/* What a message is called on its way: also its tag. */
uint64_t name_of(const struct peer *to, enum class class, uint64_t number);
unsigned rank_of_name(uint64_t name);
uint64_t number_of_name(uint64_t name);
/* The next one to this peer, counted as sent. */
uint64_t name_next(struct peer *to, enum class class);
/* It has come in, from that peer. */
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
/* What is in the own word of this thread there: 8 or 4 bytes. */
uint64_t *rma_word(struct actor *actor, int rank, unsigned loan, bool small);
void rma_lend(struct soak *soak);
void rma_take_back(struct soak *soak);

void amo_add(struct actor *actor);
void amo_fetch(struct actor *actor);
/* All have added: is it so in our memory? */
void amo_check(struct soak *soak, const uint64_t *added);

/* Places in a loan, as offsets. */
enum {
    SLOT_SIZE  = 128 * 1024,
    SLOTS      = TEAM_MAX * MAX_THREADS,
    CALM       = SLOTS * SLOT_SIZE,  /* the area that stays as it is */
    CALM_SIZE  = 300 * 1024,
    SUMS       = CALM + CALM_SIZE,   /* two words that all add to */
    WORDS_AT   = SUMS + 64,          /* 16 bytes for each slot */
    LOAN_SIZE  = WORDS_AT + SLOTS * 16
};

unsigned slot_of(const struct actor *actor);

void stream_send(struct actor *actor);
void stream_serve(struct actor *actor);
void stream_connected(struct peer *peer);
/* Its receive that waited has ended. */
void stream_closed(struct peer *peer);

/* --- world.c: what is opened and closed ---------------------------------- */

void world_open(struct soak *soak);
/* Tells a peer what it needs to connect; then both connect. */
void world_tell(struct soak *soak, int rank);
void world_connect(struct soak *soak, int rank);
void world_disconnect(struct soak *soak, struct actor *actor, int rank,
                      bool force);
void world_close(struct soak *soak, struct actor *actor);
void world_barrier(struct actor *actor);
/* While no context is open: has anything been left? */
void world_is_clean(struct soak *soak);

#endif
