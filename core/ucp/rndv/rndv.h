/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rendezvous: large data stays at the sender until the receive is matched, and
 * is then transferred to the receive buffer. Tagged and active messages share
 * this code; their own data (a tag, a header) is sent with the announcement.
 *
 *   sender                                     receiver
 *     | RTS: sender's end, request, length,       |
 *     |      [address, keys]                      |
 *     |------------------------------------------>| matched with a receive
 *     |                                           |
 *     |             get: reads the data, then     |
 *     |<==========================================|
 *     |      ATS: sender's request, status        |
 *     |<------------------------------------------| complete
 *     | complete                                  |
 *     |             or                            |
 *     |      RTR: sender's request, length,       |
 *     |           [address, keys]                 |
 *     |<------------------------------------------|
 *     |  with an address: put, then DONE          |
 *     |  without: DATA, DATA, ...                 |
 *     |==========================================>| complete
 *     | complete when all data is sent            |
 *
 * A number after a name is a length in bytes:
 *
 *   RTS   | length 8 | sender's end 16 | request 4 | flags 1 | lead 1 |
 *         | bytes of keys 2 | address 8 | keys |
 *   ATS   | sender's request 4 | secret 4 | status 1 |
 *   RTR   | sender's request 4 | secret 4 | receiver's request 4 | length 8 |
 *         | address 8 | keys |
 *   DATA  | receiver's request 4 | offset 8 | payload |
 *   DONE  | receiver's request 4 | status 1 |
 *   key   | index of the packer's domain 1 | n 1 | packed key n |
 *
 * Put and get may be divided among several lanes (proto/rails.h). An address is
 * valid only for lanes whose domain has a key in the list. A receive that is
 * too small requests 0 bytes, which completes the send. A DONE with an error
 * completes a receive whose data cannot be sent. After a failed get the
 * receiver sends an RTR, and the data is sent by another scheme.
 *
 * A sender that cancels repeats its announcement with the flag WITHDRAW and
 * without keys. A receiver that has not matched the announcement drops it and
 * rejects the send (ATS with UCS_ERR_CANCELED). A receiver that has matched it
 * ignores the repetition: the transfer continues.
 *
 * The secret is the random part of the id of the sender's endpoint
 * (ucp_ep::secret). The announcement contains it, so that only the receiver of
 * the announcement can reply.
 *
 * A sender's end is a ucp_wire_end_t: the UUID of its worker and the id of its
 * endpoint.
 */
#ifndef UCP_RNDV_H
#define UCP_RNDV_H

#include "ucp/proto/ep.h"
#include "ucp/proto/fragment.h"
#include "ucp/proto/memhs.h"
#include "ucp/proto/rails.h"

/** Identifiers of messages. */
enum {
    UCP_AM_ID_RNDV_RTR  = 7,  /**< The receiver is ready: requests the data */
    UCP_AM_ID_RNDV_DATA = 8,  /**< A fragment of the data */
    UCP_AM_ID_RNDV_DONE = 9,  /**< The put is complete, or the data cannot be
                               *   sent */
    UCP_AM_ID_RNDV_ATS  = 10, /**< The get is complete, or the receiver rejects
                               *   the announcement */
};

typedef struct ucp_rndv_rts {
    ucp_le64_t length;
    ucp_wire_end_t sender;
    ucp_le32_t request;   /**< Id of the sender's request */
    uint8_t flags;        /**< UCP_RNDV_RTS_* */
    uint8_t lead;         /**< ucp_request::lead */
    ucp_le16_t keys_size; /**< Bytes of the keys, which follow the structure */
    ucp_le64_t address;   /**< Of the send buffer; 0 without keys */
} ucp_rndv_rts_t;

enum {
    /** The receiver must not send the address of its buffer, for a put, unless
     *  PUT_TO_DEVICE allows that */
    UCP_RNDV_RTS_NO_PUT        = UCS_BIT(0),
    /** Requests the receiver to drop the announcement if it is not matched */
    UCP_RNDV_RTS_WITHDRAW      = UCS_BIT(1),
    /** The receiver may send an address of memory that only a device can
     *  access, even if NO_PUT is set */
    UCP_RNDV_RTS_PUT_TO_DEVICE = UCS_BIT(2),
    /** Tagged messages: the send must complete without a receive. If none
     *  matches, the receiver fetches the data at once (tag/fetch.h) */
    UCP_RNDV_RTS_FETCH         = UCS_BIT(3),
};

typedef struct {
    ucp_le32_t request; /**< Id of the sender's request */
    ucp_le32_t secret;
    int8_t status;
} ucp_rndv_ats_t;

typedef struct {
    ucp_le32_t send_request;
    ucp_le32_t secret;
    ucp_le32_t recv_request;
    ucp_le64_t length;  /**< Bytes that the receiver requests; 0: none, and the
                         *   send completes */
    ucp_le64_t address; /**< Of the receive buffer; 0 without keys */
} ucp_rndv_rtr_t;

typedef struct {
    ucp_le32_t recv_request;
    ucp_le64_t offset; /**< Of this fragment in the message, bytes */
} ucp_rndv_data_t;

typedef struct {
    ucp_le32_t recv_request;
    int8_t status;
} ucp_rndv_done_t;

typedef struct {
    uint8_t md_index; /**< Index of the domain in the packer's context */
    uint8_t size;     /**< Bytes of the packed key, which follows */
} ucp_rndv_key_t;

_Static_assert(sizeof(ucp_rndv_rts_t) == 40, "wire layout");
_Static_assert(sizeof(ucp_rndv_ats_t) == 9, "wire layout");
_Static_assert(sizeof(ucp_rndv_rtr_t) == 28, "wire layout");
_Static_assert(sizeof(ucp_rndv_data_t) == 12, "wire layout");
_Static_assert(sizeof(ucp_rndv_done_t) == 5, "wire layout");
_Static_assert(sizeof(ucp_rndv_key_t) == 2, "wire layout");

enum {
    /** Maximum length of a list of keys that is sent, with headers, in
     *  bytes. */
    UCP_RNDV_MAX_KEYS   = 128,
    /** Maximum length of the keys in a peer's message, in bytes: a message with
     *  more is dropped. */
    UCP_RNDV_MAX_TAKEN  = 512,
    /** Default minimum for a rendezvous, in bytes: shorter data is not much
     *  longer than the announcement, and is sent eagerly if the transport
     *  permits it. This applies whatever the costs are, and whatever hints the
     *  flags of the user's call contain. */
    UCP_RNDV_MIN        = 1024,
    /** The same for contiguous messages, if the user sets no threshold */
    UCP_RNDV_MIN_CONTIG = 4096,
    /** Maximum length of the announcement without the bytes that tagged or
     *  active messages add to it. */
    UCP_RNDV_MAX_RTS    = sizeof(ucp_rndv_rts_t) + UCP_RNDV_MAX_KEYS,
};

/** State of a send, or of the internal request that gets the data for a
 *  receive. */
typedef struct ucp_rndv_send {
    /** Get and put: address of the peer's buffer. DATA messages: offset of this
     *  request's first byte in the message. */
    uint64_t address;
    /** Lanes of the put or get; NULL: the data is sent by messages. Until a
     *  send is answered, the lanes by which the peer can get the data */
    const ucp_rails_t *rails;
    /** The peer's unpacked keys, indexed by ucp_rail_t::slot */
    uct_rkey_bundle_t rkeys[UCP_MAX_RAILS];
    ucp_memhs_t memhs;   /**< Registrations of the local buffer */
    ucp_request_t *recv; /**< Get: the receive that the request completes */
    uint32_t remote_id;  /**< Id of the peer's request */
    ucp_le32_t secret;   /**< Get: secret of the sender's endpoint, for the
                          *   ATS */
    uint8_t num_keys;    /**< Number of entries of rkeys */
    uint8_t retries;     /**< Number of restarts, see retry.c */
    uint8_t retrying;    /**< The next progress restarts the request */
    /** Lanes that the endpoint had lost at the start of the transfer */
    ucp_lane_map_t lost;
    uint8_t step; /**< Put: what is sent next, see put.c. Get:
                   *   UCP_RNDV_GET_* */
    /** All operations are posted: their completion is awaited */
    uint8_t posted;
    uint8_t detached;  /**< The endpoint has failed or is closed, and may not
                        *   exist any more: only the transport's completion is
                        *   awaited */
    uint8_t rts_flags; /**< Flags of the RTS; for a get, of the peer's RTS */
    /** The peer was requested to drop the announcement */
    uint8_t withdrawn;
} ucp_rndv_send_t;

UCP_AREA_ACCESSOR(ucp_send_rndv, ucp_request_t, send.data, ucp_rndv_send_t)

/** State of a receive. */
typedef struct ucp_rndv_recv {
    size_t remaining;  /**< Bytes that are not received yet */
    ucp_memhs_t memhs; /**< Registrations of the buffer for put */
    /** Called when the receive ends; set by the class of the message (tagged or
     *  active) */
    void (*complete)(ucp_request_t *req, ucs_status_t status);
    /** Buffer for data of a generic datatype, or NULL */
    struct ucp_rndv_gather *gather;
    /** The protocol of the data; NULL until it is known */
    const ucp_proto_t *proto;
    uint8_t offered; /**< An address for put was sent: the peer may write to
                      *   the buffer */
    /** Index of the worker's interface that transfers the data, for
     *  ucp_rndv_describe() */
    uint8_t iface;
    /** Number of fragments that are being copied to memory that the processor
     *  cannot access */
    uint32_t copying;
} ucp_rndv_recv_t;

UCP_AREA_ACCESSOR(ucp_recv_rndv, ucp_request_t, recv.data, ucp_rndv_recv_t)

/* ------------------------------------------ for the classes: the sender -- */

/**
 * Sets the sizes and the cost of a rendezvous, for ucp_proto_t::query of a
 * class of messages. The cost is that of the protocol that transfers
 * `max_eager` + 1 bytes of this data. `max_eager`: maximum bytes that the class
 * sends eagerly in one message. Returns the number of ranges: 1, or 0 if the
 * user has disabled rendezvous.
 */
unsigned ucp_rndv_query(const ucp_proto_query_t *query, size_t max_eager,
                        ucp_proto_range_t *range);

/** Returns the first length, at least `from` (not 0), whose rendezvous costs no
 *  more than `other`. More exact than the range of ucp_rndv_query(), which has
 *  the cost of one length for all lengths: this function considers the protocol
 *  that is selected for each length. */
size_t ucp_rndv_first_better(const ucp_proto_query_t *query,
                             ucs_linear_func_t other, size_t from);

/** Prepares a send whose endpoint and datatype are set, as ucp_proto_t::init:
 *  selects the protocol of the data, registers the buffer if this is get, and
 *  assigns the request's id. ucp_rndv_send_cleanup() releases registrations and
 *  unpacked keys. */
ucs_status_t ucp_rndv_send_init(ucp_request_t *req, uint32_t attr);
void ucp_rndv_send_cleanup(ucp_request_t *req);

/** Writes the announcement, at most UCP_RNDV_MAX_RTS bytes; returns its length.
 *  The request must have its id. */
size_t ucp_rndv_rts_pack(const ucp_request_t *req, void *dest);

/** Progress function of a send: sends the announcement that `pack` writes with
 *  `req` as its argument, and counts the send (UCP_STATS_*). The peer may reply
 *  as soon as it is sent. */
ucs_status_t ucp_rndv_announce(ucp_request_t *req, uint8_t am_id,
                               uct_pack_callback_t pack, unsigned counter);

/** Completes a rendezvous send, of which no operation is in flight at the
 *  transport. Also the abort function of a send that has no reply yet. */
void ucp_rndv_send_end(ucp_request_t *req, ucs_status_t status);

/* ---------------------------------------- for the classes: the receiver -- */

/** An announcement from a message, copied before it is checked, because the
 *  peer may still be able to write to the message. */
typedef struct {
    ucp_rndv_rts_t rts;
    char keys[UCP_RNDV_MAX_TAKEN];
} ucp_rndv_taken_t;

/** Copies and checks an announcement of at most `length` bytes from a peer;
 *  returns its length, 0 if it is invalid. */
size_t ucp_rndv_rts_take(ucp_rndv_taken_t *taken, const void *data,
                         size_t length);

static inline uint64_t ucp_rndv_rts_length(const ucp_rndv_rts_t *rts)
{
    return ucp_le64_get(rts->length);
}

/** Completes a receive of tagged or active messages. */
typedef void (*ucp_rndv_complete_t)(ucp_request_t *req, ucs_status_t status);

/**
 * Answers an announcement whose receive is matched. `req`: the receive, whose
 * datatype is set; the function sets req->recv.info.length. `rts`: the caller
 * has checked it, and may release it on return. `complete` is always called, at
 * once or later.
 */
void ucp_rndv_recv_start(ucp_request_t *req, const ucp_rndv_rts_t *rts,
                         ucp_rndv_complete_t complete);

/** Rejects an announcement without a receive: the send completes with
 *  `status`. */
void ucp_rndv_reject(ucp_worker_h worker, const ucp_rndv_rts_t *rts,
                     ucs_status_t status);

/** Writes the protocol that transfers the data of a receive, and its
 *  transport; nothing until that is known. */
void ucp_rndv_describe(const ucp_request_t *req, char *text, size_t max);

/** Completes a receive in any state except while a get is in flight. */
void ucp_rndv_recv_end(ucp_request_t *req, ucs_status_t status);

/* ----------------- UCT callbacks of both sides; `arg` is the worker -- */

ucs_status_t ucp_rndv_ats_handler(void *arg, void *data, size_t length,
                                  unsigned flags);
ucs_status_t ucp_rndv_rtr_handler(void *arg, void *data, size_t length,
                                  unsigned flags);
ucs_status_t ucp_rndv_data_handler(void *arg, void *data, size_t length,
                                   unsigned flags);
ucs_status_t ucp_rndv_done_handler(void *arg, void *data, size_t length,
                                   unsigned flags);

/* -------------------------------------------------------------- internal -- */

/** The protocols of the data, UCP_OP_RNDV. The sender's table selects what the
 *  sender offers: a key for a get, a put to an address of the receiver, or
 *  fragments. The receiver selects what it can use of that. */
extern const ucp_proto_t ucp_proto_rndv_get;
extern const ucp_proto_t ucp_proto_rndv_put;
extern const ucp_proto_t ucp_proto_rndv_am;

/** Sends data in memory that the processor cannot access. A copier
 *  (stage/stage.h) copies the data to fragments in host memory, which are sent
 *  from there; several fragments are copied or sent at the same time. */
extern const ucp_proto_t ucp_proto_rndv_staged;

/** Queries of these protocols, and the lanes that share the data (cost.c). */
unsigned ucp_rndv_query_get(const ucp_proto_query_t *query,
                            ucp_proto_range_t *ranges);
unsigned ucp_rndv_query_put(const ucp_proto_query_t *query,
                            ucp_proto_range_t *ranges);
unsigned ucp_rndv_query_am(const ucp_proto_query_t *query,
                           ucp_proto_range_t *ranges);
const ucp_rails_t *ucp_rndv_get_rails(const ucp_ep_config_t *config,
                                      unsigned dt_class);
const ucp_rails_t *ucp_rndv_put_rails(const ucp_ep_config_t *config,
                                      unsigned dt_class);

/** Abort function of the protocols that send data. */
void ucp_rndv_data_abort(ucp_request_t *req, ucs_status_t status);

/** True if the request's data is one block of memory that the processor cannot
 *  access: ucp_proto_rndv_staged sends it. */
int ucp_rndv_is_staged(const ucp_request_t *req);

/** Handles received data for memory that the processor cannot access. The
 *  caller has checked that the data is within the message. */
void ucp_rndv_staged_arrived(ucp_request_t *req, uint64_t offset,
                             const void *data, size_t length);

/** Get by way of host memory, into memory that neither the processor nor the
 *  lane can access: whether a receive supports that over this lane, and the
 *  progress function of the get. */
int ucp_rndv_staged_get_can(const ucp_request_t *recv,
                            const ucp_lane_config_t *lane);
ucs_status_t ucp_rndv_staged_get_progress(ucp_request_t *get);

/** State of a get (ucp_rndv_send_t::step). */
enum {
    UCP_RNDV_GET_FETCHING,
    /** The data was read, but the copy to the user's memory failed: another
     *  scheme would fail, too */
    UCP_RNDV_GET_NOT_COPIED,
};

/** Starts a get of the data at the address in `rts`: an internal request, which
 *  completes the receive. Returns zero if that is not possible: the receive is
 *  unchanged. */
int ucp_rndv_get_start(ucp_request_t *recv, ucp_ep_h ep,
                       const ucp_rndv_rts_t *rts);

/** Sends an RTR for a receive whose length is set. `request`, `secret`: the
 *  sender's, from the announcement; `rts_flags`: UCP_RNDV_RTS_*. */
void ucp_rndv_recv_send_rtr(ucp_request_t *recv, ucp_ep_h ep,
                            ucp_le32_t request, ucp_le32_t secret,
                            unsigned rts_flags);

/** Called when nothing more will be posted: the request completes with
 *  `status` when the transport has released its buffer, possibly in this
 *  call. */
void ucp_rndv_send_posted(ucp_request_t *req, ucs_status_t status);

/** Sends a DONE with an error to a receiver whose data cannot be sent. */
void ucp_rndv_send_failure(ucp_ep_h ep, uint32_t recv_request,
                           ucs_status_t status);

/** Returns the selected protocol for data of this class and length. */
static inline const ucp_proto_t *
ucp_rndv_select(const ucp_ep_config_t *config, unsigned dt_class, size_t length)
{
    return (length == 0) ? /* without data there is no row in the table */
               &ucp_proto_rndv_am :
               ucp_proto_find(&config->tables[UCP_OP_RNDV][dt_class], length);
}

/** Returns the class of datatype with which a lane transfers the data. It is
 *  that of the data; but if the data is in memory that the processor cannot
 *  access (STAGED) and the lane can, CONTIG. `lane` may be NULL. */
unsigned ucp_rndv_dt_class(const ucp_dt_iter_t *dt,
                           const ucp_lane_config_t *lane);

/** Returns the lanes by which the peer can get (or put) this data: the lane for
 *  memory of devices if it can access the data, otherwise the lanes for host
 *  memory. */
const ucp_rails_t *ucp_rndv_rails_to(const ucp_ep_config_t *config,
                                     const ucp_dt_iter_t *dt, int is_get);

/** Returns non-zero if these rails consist of the lane for memory of devices
 *  (ucp_ep_config_t::device_lane). */
static inline int ucp_rndv_is_device(const ucp_ep_config_t *config,
                                     const ucp_rails_t *rails)
{
    return (rails->num == 1) && (rails->rail[0].lane == config->device_lane);
}

/** True if fragments of this data are sent zero-copy. */
static inline int ucp_rndv_am_is_zcopy(const ucp_ep_config_t *config,
                                       unsigned dt_class)
{
    return ucp_fragment_is_zcopy(config, dt_class, sizeof(ucp_rndv_data_t));
}

/** Returns the maximum length of data in a fragment, in bytes. */
static inline size_t ucp_rndv_am_fragment(const ucp_ep_config_t *config,
                                          unsigned dt_class)
{
    return ucp_fragment_size(config, dt_class, sizeof(ucp_rndv_data_t));
}

/* Keys (keys.c). */

/** Registers one block of data for remote access by these lanes, or uses the
 *  user's memory handle. Returns zero if no lane supports it. */
int ucp_rndv_reg_remote(ucp_ep_h ep, const ucp_rails_t *rails,
                        const ucp_dt_iter_t *dt, size_t length, unsigned access,
                        ucp_memhs_t *memhs);

/** Packs a list of the keys of these lanes' domains, as many as fit into
 *  UCP_RNDV_MAX_KEYS bytes. Returns the length of the list; 0 if it has no
 *  keys. */
size_t ucp_rndv_keys_pack(ucp_ep_h ep, const ucp_rails_t *rails,
                          const ucp_memhs_t *memhs, void *keys);

/** True if the lane needs no key, or if the packed key of its domain is small
 *  enough for the list of keys in an RTS or RTR. */
int ucp_rndv_keys_fit(const ucp_lane_config_t *lane);

/** True if the list contains a key of this domain of the peer. */
int ucp_rndv_keys_have(const void *keys, size_t size, unsigned md_index);

/** Finds the lanes that can put to (or get from) the memory of the peer's keys,
 *  and unpacks the keys into the request. Returns NULL if there are none.
 *  `keys` is not trusted. */
const ucp_rails_t *ucp_rndv_keys_accept(ucp_request_t *req, const void *keys,
                                        size_t size, int get);

/** Releases the unpacked keys; may be called again. */
void ucp_rndv_rkeys_release(ucp_request_t *req);

/* Restarts (retry.c). */

/**
 * Restarts a put or get over several lanes after an error: in the next
 * progress, over the lanes that have not failed by then. The transport must
 * have released the buffer. Returns zero if no restart is possible, for example
 * because the endpoint has failed.
 */
int ucp_rndv_retry(ucp_request_t *req);

/** As ucp_rndv_retry(), for a put that cannot restart over other lanes: the
 *  data is sent by messages. */
int ucp_rndv_retry_by_messages(ucp_request_t *req);

/** Cancels a restart that has not begun. */
void ucp_rndv_retry_cancel(ucp_request_t *req);

/** Called if a lane has rejected a fragment with an error, and so may have
 *  failed. Returns non-zero if the caller shall send the fragment over another
 *  lane. */
int ucp_rndv_chunk_rejected(ucp_request_t *req, unsigned lane,
                            ucs_status_t status);

#endif
