/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rendezvous: large data waits at the sender until the receiver has a place
 * for it, and then goes there without stops. Every class of operations that has
 * messages shares this; what belongs to the class (a tag, a header) travels
 * beside the announcement.
 *
 *   sender                                     receiver
 *     | RTS: who I am, my request, how much,      |
 *     |      [where it lies]                      |
 *     |------------------------------------------>| matched with a receive
 *     |                                           |
 *     |             get: fetches the data, then   |
 *     |<==========================================|
 *     |      ATS: my request, status              |
 *     |<------------------------------------------| complete
 *     | complete                                  |
 *     |             or                            |
 *     |      RTR: my request, how much, [where]   |
 *     |<------------------------------------------|
 *     |  with a place: put, then DONE             |
 *     |  without: DATA, DATA, ...                 |
 *     |==========================================>| complete
 *     | complete when all has left                |
 *
 *   RTS   | length 8 | sender's end 16 | request 4 | flags 1 | 0 1 |
 *         | bytes of keys 2 | address 8 | keys |
 *   ATS   | sender's request 4 | secret 4 | status 1 |
 *   RTR   | sender's request 4 | secret 4 | receiver's request 4 | length 8 |
 *         | address 8 | keys |
 *   DATA  | receiver's request 4 | offset 8 | payload |
 *   DONE  | receiver's request 4 | status 1 |
 *   key   | domain, as the packer numbers it 1 | n 1 | packed key n |
 *
 * Put and get may be divided among several lanes (proto/rails.h). An address
 * counts only for the lanes whose domain has a key in the list. A
 * receive that is too small asks for 0 bytes, which ends the sender's part. A
 * DONE with an error ends a receive that will not get its data either way. A
 * get that fails is followed by an RTR: the data comes in another way then.
 *
 * A sender that cancels repeats its announcement with the flag WITHDRAW, and no
 * keys. The receiver that still keeps the first one drops it and refuses it (ATS,
 * CANCELED). One that has matched it ignores this message: the transfer goes on.
 *
 * The secret is that of the sender's end: whoever answers was told it by the
 * announcement.
 */
#ifndef UCP_RNDV_H
#define UCP_RNDV_H

#include "ucp/core/ep.h"
#include "ucp/proto/fragment.h"
#include "ucp/proto/memhs.h"

typedef struct ucp_rndv_rts {
    ucp_le64_t     length;
    ucp_wire_end_t sender;
    ucp_le32_t     request;
    uint8_t        flags;      /**< UCP_RNDV_RTS_* */
    uint8_t        reserved;
    ucp_le16_t     keys_size;
    ucp_le64_t     address;
} ucp_rndv_rts_t;

enum {
    UCP_RNDV_RTS_NO_PUT   = UCS_BIT(0), /**< Do not offer a place to put to */
    UCP_RNDV_RTS_WITHDRAW = UCS_BIT(1)  /**< Forget the announcement of this
                                             request, if nobody wants it yet */
};

typedef struct {
    ucp_le32_t request;
    ucp_le32_t secret;
    int8_t     status;
} ucp_rndv_ats_t;

typedef struct {
    ucp_le32_t send_request;
    ucp_le32_t secret;
    ucp_le32_t recv_request;
    ucp_le64_t length;
    ucp_le64_t address;
} ucp_rndv_rtr_t;

typedef struct {
    ucp_le32_t recv_request;
    ucp_le64_t offset;
} ucp_rndv_data_t;

typedef struct {
    ucp_le32_t recv_request;
    int8_t     status;
} ucp_rndv_done_t;

typedef struct {
    uint8_t md_index;
    uint8_t size;
} ucp_rndv_key_t;

_Static_assert(sizeof(ucp_rndv_rts_t) == 40, "wire layout");
_Static_assert(sizeof(ucp_rndv_ats_t) == 9, "wire layout");
_Static_assert(sizeof(ucp_rndv_rtr_t) == 28, "wire layout");
_Static_assert(sizeof(ucp_rndv_data_t) == 12, "wire layout");
_Static_assert(sizeof(ucp_rndv_done_t) == 5, "wire layout");
_Static_assert(sizeof(ucp_rndv_key_t) == 2, "wire layout");

enum {
    /** A list of keys that we send, with their headers, at most. */
    UCP_RNDV_MAX_KEYS = 128,
    /** Bytes of keys in a message of the peer's, at most. */
    UCP_RNDV_MAX_TAKEN = 512,
    /** Unless the user says so, smaller messages are sent at once: they are not
     *  much more than the announcement, whatever the hints make of the costs. */
    UCP_RNDV_MIN      = 1024,
    /** The announcement without what belongs to its class, at most. */
    UCP_RNDV_MAX_RTS  = sizeof(ucp_rndv_rts_t) + UCP_RNDV_MAX_KEYS
};

/* ------------------------------------------ for the classes: the sender -- */

/**
 * What a rendezvous costs, for the query of a class's protocol: the way that is
 * best for these data. `max_eager`: the largest that the class sends eagerly in
 * one message.
 */
int ucp_rndv_query(const ucp_proto_query_t *query, size_t max_eager,
                   ucp_proto_range_t *range);

/** The first length from `from` on (not 0) whose rendezvous costs no more than
 *  `other` says. The query's range has one cost for all lengths, that of the way
 *  that is best for short messages; this looks at the way of each length. */
size_t ucp_rndv_first_better(const ucp_ep_config_t *config, unsigned dt_class,
                             ucs_linear_func_t other, size_t from);

/** Prepares a send whose endpoint and datatype are set: chooses the way the
 *  data goes, registers the buffer where that needs it. A send that is not
 *  started then undoes it by ucp_rndv_send_cleanup(). */
void ucp_rndv_send_init(ucp_request_t *req, const ucp_request_param_t *param);
void ucp_rndv_send_cleanup(ucp_request_t *req);

/** Writes the announcement, at most UCP_RNDV_MAX_RTS bytes; returns how many.
 *  The request has its number. */
size_t ucp_rndv_rts_pack(const ucp_request_t *req, void *dest);

/** The progress of a send: sends an announcement that `pack` writes, with
 *  `req` as its argument. Once it has left the peer may answer it. */
ucs_status_t ucp_rndv_announce(ucp_request_t *req, uint8_t am_id,
                               uct_pack_callback_t pack);

/** The abort function of a send, in whatever state. */
void ucp_rndv_send_abort(ucp_request_t *req, ucs_status_t status);

/* ---------------------------------------- for the classes: the receiver -- */

/** An announcement that has been taken from a message. */
typedef struct {
    ucp_rndv_rts_t rts;
    char           keys[UCP_RNDV_MAX_TAKEN];
} ucp_rndv_taken_t;

/** Copies a foreign announcement of at most `length` bytes, and checks the copy;
 *  returns how many bytes it has, 0 if it is none. */
size_t ucp_rndv_rts_take(ucp_rndv_taken_t *taken, const void *data,
                         size_t length);

static inline uint64_t ucp_rndv_rts_length(const ucp_rndv_rts_t *rts)
{
    return ucp_le64_get(rts->length);
}

/** Completes a receive in the way of its class. */
typedef void (*ucp_rndv_complete_t)(ucp_request_t *req, ucs_status_t status);

/**
 * Answers an announcement whose receive is found. `req` has its datatype; the
 * length is noted in its info. `rts` has been checked and is not needed
 * afterwards. `complete` is called sooner or later.
 */
void ucp_rndv_recv_start(ucp_request_t *req, const ucp_rndv_rts_t *rts,
                         ucp_rndv_complete_t complete);

/** Answers an announcement that nobody will receive: the send ends with
 *  `status`. */
void ucp_rndv_refuse(ucp_worker_h worker, const ucp_rndv_rts_t *rts,
                     ucs_status_t status);

/** Ends a receive in any state but while it is fetching. */
void ucp_rndv_recv_end(ucp_request_t *req, ucs_status_t status);

/* --------------------------------------------- receive side: UCT callbacks,
 * `arg` is the worker */

ucs_status_t ucp_rndv_ats_handler(void *arg, void *data, size_t length,
                                  unsigned flags);
ucs_status_t ucp_rndv_rtr_handler(void *arg, void *data, size_t length,
                                  unsigned flags);
ucs_status_t ucp_rndv_data_handler(void *arg, void *data, size_t length,
                                   unsigned flags);
ucs_status_t ucp_rndv_done_handler(void *arg, void *data, size_t length,
                                   unsigned flags);

/* ----------------------------------------------------- among these files -- */

/** Sending fragments: the request has been asked for its data without a key. */
ucs_status_t ucp_rndv_am_progress(ucp_request_t *req);

/** Likewise, of a send whose memory is staged: several pieces at a time are on
 *  their way from there, or from ordinary memory to the peer. */
ucs_status_t ucp_rndv_staged_progress(ucp_request_t *req);

/** True if that is how the request's fragments go best. */
int ucp_rndv_is_staged(const ucp_request_t *req);

/** A fragment for a receive into staged memory. It is within the message. */
void ucp_rndv_staged_arrived(ucp_request_t *req, uint64_t offset,
                             const void *data, size_t length);

/** Fetching into staged memory, likewise: whether a receive can over this lane,
 *  and the progress of the fetch. */
int ucp_rndv_staged_get_can(const ucp_request_t *recv,
                            const ucp_lane_config_t *lane);
ucs_status_t ucp_rndv_staged_get_progress(ucp_request_t *get);

/** The step of a fetch. */
enum {
    UCP_RNDV_GET_FETCHING,
    UCP_RNDV_GET_NOT_COPIED  /**< It failed here: another way is no help */
};

/** Putting: the request has been given a place. */
ucs_status_t ucp_rndv_put_progress(ucp_request_t *req);

/** Fetching, as `rts` offers: starts a request of its own that ends the
 *  receive. Zero: that cannot be, the receive is as it was. */
int ucp_rndv_get_start(ucp_request_t *recv, ucp_ep_h ep,
                       const ucp_rndv_rts_t *rts);

/** Asks the sender for the data of a receive whose length is noted.
 *  `rts_flags`: UCP_RNDV_RTS_*. */
void ucp_rndv_recv_ask(ucp_request_t *recv, ucp_ep_h ep, ucp_le32_t request,
                       ucp_le32_t secret, unsigned rts_flags);

/** Ends a rendezvous send in any state. */
void ucp_rndv_send_end(ucp_request_t *req, ucs_status_t status);

/** Everything has been posted, or nothing more will be: ends the request once
 *  the transport has let go of its buffer. */
void ucp_rndv_send_posted(ucp_request_t *req, ucs_status_t status);

/** Tells a receiver that its data will not come. */
void ucp_rndv_send_excuse(ucp_ep_h ep, uint32_t recv_request,
                          ucs_status_t status);

/** Ways for the data to go; also the choices of UCX_RNDV_SCHEME. */
typedef enum {
    UCP_RNDV_SCHEME_AUTO,  /**< Whatever costs least */
    UCP_RNDV_SCHEME_GET,
    UCP_RNDV_SCHEME_PUT,
    UCP_RNDV_SCHEME_AM,
    UCP_RNDV_SCHEME_LAST
} ucp_rndv_scheme_t;

/** The way that is best for data of this class and length. */
ucp_rndv_scheme_t ucp_rndv_choose(const ucp_ep_config_t *config,
                                  unsigned dt_class, size_t length);

/** What the data is to a lane: staged memory that the lane reaches is
 *  contiguous. `lane` may be NULL. */
unsigned ucp_rndv_dt_class(const ucp_dt_iter_t *dt,
                           const ucp_lane_config_t *lane);

/** Shows the choice for data of a class, as UCX_PROTO_INFO=y does. */
void ucp_rndv_print(const ucp_ep_config_t *config, unsigned dt_class,
                    const char *dt_name, const char *lanes, FILE *stream);

/** True if fragments of these data are sent from where they lie. */
static inline int
ucp_rndv_am_is_zcopy(const ucp_ep_config_t *config, unsigned dt_class)
{
    return ucp_fragment_is_zcopy(config, dt_class, sizeof(ucp_rndv_data_t));
}

/** Bytes of data in a fragment, at most. */
static inline size_t
ucp_rndv_am_fragment(const ucp_ep_config_t *config, unsigned dt_class)
{
    return ucp_fragment_size(config, dt_class, sizeof(ucp_rndv_data_t));
}

/* Keys (keys.c) */

/** Registers flat data for the peer's use of it by these lanes, or takes the
 *  user's handle of it. Zero: no lane can be used so. */
int ucp_rndv_reg_remote(ucp_ep_h ep, const ucp_rails_t *rails,
                        const ucp_dt_iter_t *dt, size_t length, unsigned access,
                        ucp_memhs_t *memhs);

/** Likewise for our own use with the lanes' zcopy operations, by all of them. */
int ucp_rndv_reg_local(ucp_ep_h ep, const ucp_rails_t *rails,
                       const ucp_dt_iter_t *dt, size_t length, unsigned access,
                       ucp_memhs_t *memhs);

/** Packs a list of the keys of these lanes' domains, as far as they fit: at most
 *  UCP_RNDV_MAX_KEYS bytes. 0: none. */
size_t ucp_rndv_keys_pack(ucp_ep_h ep, const ucp_rails_t *rails,
                          const ucp_memhs_t *memhs, void *keys);

/** A list with a key of this lane fits into messages. */
int ucp_rndv_keys_fit(const ucp_lane_config_t *lane);

/** Finds the lanes by which this end can put (or get) where the peer's list of
 *  keys says, and unpacks the keys into the request. NULL: there are none. `keys`
 *  is foreign. */
const ucp_rails_t *ucp_rndv_keys_accept(ucp_request_t *req, const void *keys,
                                        size_t size, int get);

/** Gives back what that has taken; can be called again. */
void ucp_rndv_rkeys_release(ucp_request_t *req);

/* Fresh starts (retry.c) */

/**
 * A transfer over several lanes has failed while its endpoint lives, and the
 * transport has let go of everything: begins it again from the next progress,
 * over the lanes that are left by then. Zero: no more of that.
 */
int ucp_rndv_retry(ucp_request_t *req);

/** Takes that back, if it has not begun. */
void ucp_rndv_retry_cancel(ucp_request_t *req);

/** A lane has not taken a piece, and fails it seems. Non-zero: the piece goes
 *  over another one. */
int ucp_rndv_piece_refused(ucp_request_t *req, unsigned lane,
                           ucs_status_t status);

#endif
