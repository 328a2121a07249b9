/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results of the search for the fastest method (learn.h), for the endpoints of
 * one configuration: for each class of sizes of an operation one ucp_learn_t
 * for transfers that are alone, and one for those that are in flight together.
 * Each is allocated at the first transfer of its kind.
 */
#ifndef UCP_LEARN_ENTRY_H
#define UCP_LEARN_ENTRY_H

#include "ucp/learn/learn.h"
#include "ucp/proto/ep.h"

#include <stdio.h>

/** Methods: how the data of a message, put or get is moved.
 *  ucp_learn_method_name() and the counters of stats/ use the same order. */
enum {
    UCP_LEARN_EAGER,
    UCP_LEARN_GET, /* the receiver gets the data over a lane */
    UCP_LEARN_PUT, /* the sender puts the data over a lane */
    UCP_LEARN_AM,  /* in active messages, by fragments */
    UCP_LEARN_METHODS,
};

/** Whether other transfers of the endpoint are in flight. */
typedef enum {
    UCP_LEARN_ALONE,
    UCP_LEARN_STREAM,
    UCP_LEARN_LOADS,
} ucp_learn_load_t;

/** Classes of sizes: class i has the lengths from 2^(UCP_LEARN_MIN_LOG + i) to
 *  twice that; the last class has all that are longer. */
enum {
    UCP_LEARN_MIN_LOG   = 14,
    UCP_LEARN_CLASSES   = 14,
    /** The first class without a trial of eager messages: their data would be
     *  in the peer's memory twice until it is received */
    UCP_LEARN_EAGER_END = 6,
};

typedef struct ucp_learn_entry {
    struct ucp_learn_entry *next;
    const ucp_ep_config_t *config;
    ucp_op_t op;
    /** For put and get: identifies the lanes of the remote key; else NULL */
    const void *lanes;
    ucp_ep_h last_ep;     /**< Endpoint of the last transfer */
    ucs_time_t last_time; /**< Time when that transfer began */
    ucp_learn_t *of[UCP_LEARN_LOADS][UCP_LEARN_CLASSES];
    /** UCP_LEARN_STREAM: transfers that count as one unit of the plan; as many
     *  as the last timed series had */
    uint16_t unit[UCP_LEARN_CLASSES];
    /** UCP_LEARN_STREAM: untimed transfers until the current unit is
     *  complete */
    uint16_t rest[UCP_LEARN_CLASSES];
} ucp_learn_entry_t;

/** UCP_PROTO_FLAG_* of the protocol that each method selects for the data of a
 *  rendezvous. */
extern const uint16_t ucp_learn_method_flags[UCP_LEARN_METHODS];

const char *ucp_learn_method_name(ucp_op_t op, unsigned method);

/** Returns the method of a protocol for the data of a rendezvous. */
unsigned ucp_learn_method_of(const ucp_proto_t *data);

/** Returns the class of a message of at least 2^UCP_LEARN_MIN_LOG bytes. */
unsigned ucp_learn_size_class(size_t length);

/** Returns the entry of a configuration and operation, and moves it to the
 *  front of the list. `lanes`: identifies the lanes of a put or get, else NULL.
 *  Returns NULL if out of memory. */
ucp_learn_entry_t *ucp_learn_entry_get(ucp_learn_entry_t **list,
                                       const ucp_ep_config_t *config,
                                       ucp_op_t op, const void *lanes);

/** Returns what is learnt for transfers of this length. `first`: the method by
 *  cost, which is used first. Returns NULL if out of memory. */
ucp_learn_t *ucp_learn_entry_of(ucp_learn_entry_t *entry, ucp_learn_load_t load,
                                size_t length, unsigned first);

/** Prints a line for each class of sizes: the selected method, and the reason
 *  for its selection. */
void ucp_learn_entry_print(const ucp_learn_entry_t *entry, FILE *stream);

void ucp_learn_entry_free(ucp_learn_entry_t *entry);

#endif
