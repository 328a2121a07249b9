/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the soak test: a process ("member" of a team, team.h),
 * its threads ("actors"), and their outstanding operations. See README.md.
 *
 * Every message has a name: 64 bits that encode its class, its sender's rank
 * and a number. The contents of a message depend on its name, so that the
 * receiver can check them. A loan is memory that a process offers to the others
 * for put, get and atomics. */
#ifndef SOAK_H
#define SOAK_H

#include "common/check.h"
#include "common/data.h"
#include "common/team.h"

#include <pthread.h>
#include <stdatomic.h>
#include <ucp/api/ucp.h>

enum { MAX_THREADS = 4, LOANS = 2 };

/* Classes of messages, which are counted separately. The tagged ones differ in
 * how the receiver receives them. */
enum class {
    TAG_ANY,    /* By a mask that matches the class */
    TAG_EXACT,  /* By its tag; most receives are posted before */
    TAG_PROBED, /* By its tag or handle, after a probe found it */
    AM,
    STREAM, /* Records of a stream (stream.c) */
    NUM_CLASSES,
};

/* Messages of one class in one direction since the test began: their number,
 * and a sum of hashes of their names, which detects lost, duplicated and wrong
 * messages. */
struct tally {
    _Atomic uint64_t count, sum;
};

/* Memory that this process offers to all. Offsets in it are defined below
 * (SLOT_SIZE and so on): a slot for each thread of all processes, an area that
 * never changes, and words for atomics. */
struct loan {
    /* The memory, from aligned_alloc(); NULL: UCP has allocated it */
    void *own;
    char *memory;
    ucp_mem_h memh;
};

struct parser; /* State of a received stream (stream.c) */

/* A process of the test, as this process sees it; also this process itself. */
struct peer {
    struct soak *soak;
    int rank;
    ucp_ep_h ep;
    bool closing; /* Ignore failures of the endpoint */
    ucp_rkey_h rkeys[LOANS];
    uint64_t addresses[LOANS];
    struct tally sent[NUM_CLASSES], received[NUM_CLASSES];
    _Atomic uint64_t next[NUM_CLASSES]; /* Number of the next message to send */
    /* Number of the next TAG_EXACT message for which a receive is posted */
    _Atomic uint64_t next_exact;
    /* Number of posted receives for this peer's TAG_EXACT messages, over all
     * threads */
    _Atomic int posted_exact;
    /* Sums of this process's atomic adds to the peer's words since the context
     * was opened: for each loan, those to the 64-bit and to the 32-bit word */
    _Atomic uint64_t added[2 * LOANS];
    struct parser *parser;
};

/* An active message whose data the handler has kept (am.c) */
struct kept;

struct soak {
    struct team *team;
    struct peer peers[TEAM_MAX];
    uint64_t seed;
    double seconds;
    int threads;
    bool awake; /* Option --awake: never sleep */
    uint64_t round;
    struct random random; /* The same state in all processes */
    /* Number of threads that have completed their operations of this round */
    _Atomic int drained;
    /* Set when all messages of the round have arrived: the threads cancel the
     * receives that are still posted, and end */
    _Atomic int round_over;
    /* `closings`: number of times that everything was closed; the others:
     * resources in use after the second time, the baseline of
     * world_is_clean() */
    unsigned closings, fds, mappings;
    size_t heap;

    /* Valid while the context is open */
    ucp_context_h context;
    ucp_worker_h worker;
    bool sleeps; /* The worker supports wake-up: waiting may sleep */
    ucp_err_handling_mode_t err_mode;
    size_t request_size;
    ucp_datatype_t generic; /* For payloads with the layout GENERIC */
    struct loan loans[LOANS];

    /* Replies to active messages: number that this process expects, and number
     * received */
    _Atomic uint64_t answers_due, answered;
    pthread_mutex_t lock; /* For `kept`; never held during a call of UCP */
    struct kept *kept;
    /* Number of operations by kind, for the summary */
    _Atomic uint64_t done[NUM_CLASSES + 3];
};

/* Indices in soak.done; the first NUM_CLASSES are the classes of messages */
enum { DONE_PUTS = NUM_CLASSES, DONE_GETS, DONE_ATOMICS, NUM_DONE };

/* --- payload.c: memory of any layout ------------------------------------- */

enum layout { CONTIG, WORDS, IOV, GENERIC, NUM_LAYOUTS };

struct payload {
    enum layout layout;
    size_t length; /* Bytes when packed */
    char *memory;  /* The allocation: the data and the guards around it */
    ucp_dt_iov_t *iov;
    /* Arguments that describe the data to UCP */
    void *buffer;
    size_t count;
    ucp_datatype_t datatype;
};

/* Bytes of a pattern that depends on a name and on the offset in it.
 * pattern_check() fails the test with `what` if the bytes differ. */
void pattern_fill(void *to, uint64_t name, uint64_t offset, size_t length);
void pattern_check(const void *from, uint64_t name, uint64_t offset,
                   size_t length, const char *what);

void payload_open(struct payload *payload, struct soak *soak, size_t length,
                  enum layout layout, struct random *random);
void payload_fill(struct payload *payload, uint64_t name);
/* Checks the first `length` bytes against the pattern of `name`, and that
 * nothing was written beyond the end of the buffer. */
void payload_check(struct payload *payload, uint64_t name, size_t length,
                   const char *what);
/* payload_set() copies contiguous bytes into the buffer. payload_bytes()
 * returns the first `length` bytes of the buffer as contiguous bytes, which the
 * caller frees. */
void payload_set(struct payload *payload, char *bytes);
char *payload_bytes(struct payload *payload, size_t length);
void payload_close(struct payload *payload);
ucp_datatype_t payload_generic(void);

/* --- actor.c: a thread and its operations -------------------------------- */

struct actor;
struct op;

typedef void (*op_end_t)(struct actor *actor, struct op *op);

/* The signature of an operation's callback. */
enum op_kind { OP_SEND, OP_TAG_RECV, OP_AM_RECV, OP_STREAM_RECV };

/* How an operation's completion is detected, and who allocates the request. */
enum op_form {
    BY_CALLBACK,
    BY_POLL,
    PLACE_CALLBACK, /* as BY_CALLBACK, with a request in memory of the test */
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
    ucp_tag_recv_info_t info; /* Result of a tagged receive */
    size_t length;            /* Result of other receives, in bytes */
    /* Valid until the completion frees it; NULL: none */
    void *request;
    /* Memory that contains the request; NULL: UCP has allocated it */
    char *place;
    op_end_t end; /* Called after completion; checks the result */
    struct payload payload;
    bool has_payload;
    bool cancelled; /* The test has tried to cancel the operation */
    bool detached;  /* The actor does not wait for it at the end of a round */
    bool may_fail;  /* `end` accepts error statuses */
    /* For `end`; words[] and extra have a meaning for each kind of operation */
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
    /* Number of outstanding operations that are not detached */
    unsigned num_ops;
    size_t bytes;  /* Bytes of these operations */
    unsigned idle; /* Consecutive steps without an event */
    /* Numbers of outstanding receives of TAG_ANY, TAG_EXACT and TAG_PROBED */
    int posted_any, posted_exact, taking;
    bool stopping; /* Posts no more receives */
    struct rma_state *rma;
    /* Result of the atomic operation that the actor waits for */
    uint64_t reply;
    pthread_t thread;
};

/* One step of waiting: progresses the worker or sleeps, receives messages of
 * peers, and ends operations that are complete. */
void actor_step(struct actor *actor);
/* Ends operations that are complete, without progress. */
void actor_end_ops(struct actor *actor);

/* Creates an operation. `what` names it in failures. */
struct op *op_new(struct actor *actor, const char *what, op_end_t end);
void op_payload(struct actor *actor, struct op *op, size_t length,
                enum layout layout);

/* Returns the parameters of a call for the payload of `op`, with a random form
 * of request and random flags. */
ucp_request_param_t op_param(struct actor *actor, struct op *op,
                             enum op_kind kind);
/* Takes the value that the starting call returned, and adds the operation to
 * the operations of the actor. */
void op_started(struct actor *actor, struct op *op, ucs_status_ptr_t result);
/* Steps until the operation is complete, fails the test unless it succeeded,
 * and frees `op`. */
void op_wait(struct actor *actor, struct op *op);
/* Cancels an operation that may otherwise never complete. */
void op_cancel(struct actor *actor, struct op *op);

/* The deadline for a wait that begins now. actor_late() fails the test after
 * the deadline, and prints the outstanding operations; `what`: what was waited
 * for. */
double actor_deadline(void);
void actor_late(struct actor *actor, double deadline, const char *what);

/* Encode and decode the name of a message, which is also its tag. */
uint64_t name_of(const struct peer *to, enum class class, uint64_t number);
unsigned rank_of_name(uint64_t name);
uint64_t number_of_name(uint64_t name);
/* Returns the name of the next message to this peer, and counts it as sent. */
uint64_t name_next(struct peer *to, enum class class);
/* Counts a received message for the sender in its name; fails the test if the
 * name is not one of this class. */
void name_received(struct soak *soak, enum class class, uint64_t name);

size_t draw_length(struct random *random, size_t max);
enum layout draw_layout(struct random *random);
struct peer *draw_peer(struct actor *actor);
uint64_t mix(uint64_t a, uint64_t b);
void tally_add(struct tally *tally, uint64_t name);

/* --- classes of operations ----------------------------------------------- */

void tag_send(struct actor *actor);
/* A receive that no message matches, which is cancelled */
void tag_in_vain(struct actor *actor);
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
/* Returns the address at which this thread keeps the value that its own word in
 * a loan of process `rank` must have. `small`: the word of 4 bytes, otherwise
 * that of 8. */
uint64_t *rma_word(struct actor *actor, int rank, unsigned loan, bool small);
void rma_lend(struct soak *soak);
void rma_take_back(struct soak *soak);

void amo_add(struct actor *actor);
void amo_fetch(struct actor *actor);
/* Called when all adds are complete: the words of this process's loans must
 * have the sums `added`. */
void amo_check(struct soak *soak, const uint64_t *added);

/* Offsets and sizes in a loan, in bytes */
enum {
    SLOT_SIZE = 128 * 1024,
    SLOTS     = TEAM_MAX * MAX_THREADS, /* Number of slots */
    CALM      = SLOTS * SLOT_SIZE,      /* The area that never changes */
    CALM_SIZE = 300 * 1024,
    SUMS      = CALM + CALM_SIZE, /* Two words to which all threads add */
    WORDS_AT  = SUMS + 64,        /* Words of the threads: 16 bytes each */
    LOAN_SIZE = WORDS_AT + SLOTS * 16,
};

unsigned slot_of(const struct actor *actor);

void stream_send(struct actor *actor);
void stream_serve(struct actor *actor);
void stream_connected(struct peer *peer);
/* Called when a closed endpoint's last receive has ended. */
void stream_closed(struct peer *peer);

/* --- world.c: objects that are opened and closed ------------------------- */

void world_open(struct soak *soak);
/* Sends this worker's address and keys to a member, which connects with
 * world_connect(). */
void world_tell(struct soak *soak, int rank);
void world_connect(struct soak *soak, int rank);
void world_disconnect(struct soak *soak, struct actor *actor, int rank,
                      bool force);
void world_close(struct soak *soak, struct actor *actor);
void world_barrier(struct actor *actor);
/* Fails the test if resources have leaked. No context is open. */
void world_is_clean(struct soak *soak);

#endif
