/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results of the search for the fastest method (learn.h), for the endpoints of
 * one configuration and one operation. For each class of sizes there is one
 * ucp_learn_t for transfers that are alone, and one for transfers that are in
 * flight together (a stream). Each is allocated at the first transfer of its
 * kind.
 */
#ifndef UCP_LEARN_ENTRY_H
#define UCP_LEARN_ENTRY_H

#include "ucp/learn/learn.h"
#include "ucp/proto/ep.h"

#include <stdio.h>

/** Methods: the ways in which the data of a message, put or get is moved.
 *  ucp_learn_method_name() and the counters in stats/ use the same order. */
enum {
    UCP_LEARN_EAGER,
    UCP_LEARN_GET, /* The receiver gets the data over a lane */
    UCP_LEARN_PUT, /* The sender puts the data over a lane */
    UCP_LEARN_AM,  /* In fragments, by active messages */
    UCP_LEARN_METHODS,
};

/** Whether other transfers of the endpoint are in flight: none (ALONE), others
 *  to the peer (STREAM), others to and from the peer (BOTH), or only one from
 *  the peer (EXCHANGE). LOADS is the number of these values. */
typedef enum {
    UCP_LEARN_ALONE,
    UCP_LEARN_STREAM,
    UCP_LEARN_BOTH,
    UCP_LEARN_EXCHANGE,
    UCP_LEARN_LOADS,
} ucp_learn_load_t;

/** Classes of sizes. Class i contains the lengths from 2^(UCP_LEARN_MIN_LOG +
 *  i) bytes to twice that; the last class also contains all longer ones. */
enum {
    UCP_LEARN_MIN_LOG   = 14,
    UCP_LEARN_CLASSES   = 14,
    /** Index of the first class for which eager messages are not tried: the
     *  peer would have to store their data until a receive is posted */
    UCP_LEARN_EAGER_END = 6,
    /** Index of the first class whose transfers are long (learn.h): 4 MiB,
     *  which take 100 us or more */
    UCP_LEARN_LONG      = 8,
};

typedef struct ucp_learn_entry {
    struct ucp_learn_entry *next;
    const ucp_ep_config_t *config;
    ucp_op_t op;
    /** For put and get: a pointer that is the same for all remote keys that use
     *  the same lanes; only compared. Otherwise NULL */
    const void *lanes;
    ucp_ep_h last_ep;     /**< Endpoint of the last transfer; NULL if there was
                           *   none or the endpoint is freed */
    ucs_time_t last_time; /**< Time when that transfer began; 0 if the time
                           *   was not read, because requests were under way */
    /** Value of ucp_worker::received at that time */
    uint64_t last_received;
    /** The state of the search for each class of sizes; NULL if there was no
     *  such transfer yet. With UCP_LEARN_STREAM and UCP_LEARN_BOTH it is the
     *  member `learn` of a ucp_learn_stream_t (stream.h), with UCP_LEARN_EXCHANGE that of a
     *  ucp_learn_exchange_t (exchange.h) */
    ucp_learn_t *of[UCP_LEARN_LOADS][UCP_LEARN_CLASSES];
} ucp_learn_entry_t;

/** The UCP_PROTO_FLAG_* of the protocol that moves the data of a rendezvous by
 *  each method; 0 for UCP_LEARN_EAGER. */
extern const uint16_t ucp_learn_method_flags[UCP_LEARN_METHODS];

const char *ucp_learn_method_name(ucp_op_t op, unsigned method);

/** True for put and get of the user. */
static inline int ucp_learn_is_rma(ucp_op_t op)
{
    return (op == UCP_OP_PUT) || (op == UCP_OP_GET);
}

static inline int ucp_learn_is_stream(ucp_learn_load_t load)
{
    return (load == UCP_LEARN_STREAM) || (load == UCP_LEARN_BOTH);
}

/** True if a request of this method completes when the peer (for a get: this
 *  process) has the data. Otherwise a PROBE is necessary. */
static inline int ucp_learn_ends_with_request(ucp_op_t op, unsigned method)
{
    return (op == UCP_OP_GET) || (method == UCP_LEARN_GET) ||
           (method == UCP_LEARN_PUT);
}

/** Returns the words to add to the name of transfers of this load. */
const char *ucp_learn_load_name(ucp_learn_load_t load);

/** Returns the method of `data`, a protocol that moves the data of a
 *  rendezvous. */
unsigned ucp_learn_method_of(const ucp_proto_t *data);

/** Returns the class of sizes of a transfer of at least 2^UCP_LEARN_MIN_LOG
 *  bytes. */
unsigned ucp_learn_size_class(size_t length);

/** Returns the entry of a configuration and operation, and moves the entry to
 *  the front of the list; creates it if there is none. `lanes`: see
 *  ucp_learn_entry_t. Returns NULL if out of memory. */
ucp_learn_entry_t *ucp_learn_entry_get(ucp_learn_entry_t **list,
                                       const ucp_ep_config_t *config,
                                       ucp_op_t op, const void *lanes);

/** Returns the state of the search for transfers of this length and load;
 *  creates it if there is none, with the results of the configuration that `ep`
 *  had before, if it was replaced. `first`: the method that has the lowest
 *  cost, used until another one proves faster. Returns NULL if out of
 *  memory. */
ucp_learn_t *ucp_learn_entry_of(ucp_learn_entry_t *entry, const ucp_ep_h ep,
                                ucp_learn_load_t load, size_t length,
                                unsigned first);

/** Prints a line for each class of sizes: the selected method, the speed of
 *  each method, and the reason for the selection. */
void ucp_learn_entry_print(const ucp_learn_entry_t *entry, FILE *stream);

void ucp_learn_entry_free(ucp_learn_entry_t *entry);

#endif
