/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types that all of UCT uses: limits, handles, enumerations, callback types,
 * and the structures of operations (I/O vector, completion, pending request).
 * No function is declared here, so that a plugin can use the types without the
 * functions of the core.
 */
#ifndef UCT_API_UCT_DEF_H_
#define UCT_API_UCT_DEF_H_

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

/** @addtogroup UCT_RESOURCE
 *  @{ */

/*
 * Limits. The lengths of names include the terminating zero.
 */

/** Maximum length of a transport's name. */
#define UCT_TL_NAME_MAX 10
/** Maximum length of a component's name. */
#define UCT_COMPONENT_NAME_MAX 16
/** Maximum length of a memory domain's name. */
#define UCT_MD_NAME_MAX 16
/** Maximum length of a device's name. */
#define UCT_DEVICE_NAME_MAX 32
/** Maximum length, in bytes, of an identifier that distinguishes memory domains
 *  across processes and hosts. */
#define UCT_MD_GLOBAL_ID_MAX 256

/** Width of an active message identifier in bits. */
#define UCT_AM_ID_BITS 5
/** Number of active message identifiers; valid identifiers are lower. */
#define UCT_AM_ID_MAX (1 << UCT_AM_ID_BITS)

/** Bytes of a pending request that are reserved for the transport. */
#define UCT_PENDING_REQ_PRIV_LEN 40
/** Bytes of a tag context that are reserved for the transport. */
#define UCT_TAG_PRIV_LEN 32

/** The memory handle of memory that is not registered. Defined as a plain 0,
 *  which converts to a null pointer, so that constant expressions may use
 *  it. */
#define UCT_MEM_HANDLE_NULL 0
/** The value of a remote key if there is none. */
#define UCT_INVALID_RKEY ((uintptr_t)(-1))
/** The value of a dma-buf descriptor if there is none. */
#define UCT_DMABUF_FD_INVALID (-1)

/*
 * Handles. All are opaque; a handle is valid from the call that returns it
 * until the call that closes, destroys or releases the object.
 */

/** One provider of memory domains, transports and connection managers. */
typedef struct uct_component *uct_component_h;

/** Memory domain: allocates and registers memory, and packs its remote keys. */
typedef struct uct_md *uct_md_h;
typedef struct uct_md uct_md_t;
typedef struct uct_md_ops uct_md_ops_t;

/** Progress engine for interfaces. */
typedef struct uct_worker *uct_worker_h;

/** One transport opened on one device. */
typedef struct uct_iface *uct_iface_h;

/** Connection to a peer, or address of a peer, on an interface or connection
 *  manager. */
typedef struct uct_ep *uct_ep_h;

/** Connection manager: sets up connections by socket address. */
typedef struct uct_cm uct_cm_t;
typedef uct_cm_t *uct_cm_h;

/** A socket address at which a connection manager accepts connections. */
typedef struct uct_listener *uct_listener_h;

/** A connection request, which must be accepted or rejected. */
typedef void *uct_conn_request_h;

/** Local handle of registered or allocated memory. */
typedef void *uct_mem_h;

/** Unpacked remote key, which put, get and atomics require. */
typedef uintptr_t uct_rkey_t;

/** Data of a component for an unpacked remote key. No function of this version
 *  uses it. */
typedef void *uct_rkey_ctx_h;

/** An endpoint and a range of memory that code on a device (a GPU kernel) can
 *  use; see UCT_IFACE_FLAG_DEVICE_EP. No function of this version creates or
 *  uses them. */
typedef struct uct_device_ep *uct_device_ep_h;
typedef struct uct_device_mem_element uct_device_mem_element_t;

/** Configuration objects, see uct_config_get() and uct_config_modify(). */
typedef struct uct_iface_config uct_iface_config_t;
typedef struct uct_md_config uct_md_config_t;
typedef struct uct_cm_config uct_cm_config_t;

/** Addresses: bytes that may be copied and sent to other processes. The
 *  attributes of the interface contain their lengths. */
typedef struct uct_device_addr uct_device_addr_t;
typedef struct uct_iface_addr uct_iface_addr_t;
typedef struct uct_ep_addr uct_ep_addr_t;

/** Identifier of a callback that a worker's progress calls. */
typedef int uct_worker_cb_id_t;

/** Tag of a message, for transports that match tags themselves. */
typedef uint64_t uct_tag_t;

typedef struct uct_iface_attr uct_iface_attr_t;
typedef struct uct_iface_params uct_iface_params_t;
/** Attributes of an endpoint. Not defined: no function of this version queries
 *  them. */
typedef struct uct_ep_attr uct_ep_attr_t;
typedef struct uct_ep_params uct_ep_params_t;
typedef struct uct_ep_connect_params uct_ep_connect_params_t;
typedef struct uct_md_attr uct_md_attr_t;
typedef struct uct_cm_attr uct_cm_attr_t;
typedef struct uct_listener_attr uct_listener_attr_t;
typedef struct uct_listener_params uct_listener_params_t;
typedef struct uct_completion uct_completion_t;
typedef struct uct_pending_req uct_pending_req_t;
typedef struct uct_tag_context uct_tag_context_t;
typedef struct uct_iov uct_iov_t;

/*
 * Small enumerations.
 */

/** Kind of device of a resource. */
typedef enum {
    UCT_DEVICE_TYPE_NET,  /**< Network, which reaches other hosts */
    UCT_DEVICE_TYPE_SHM,  /**< Memory shared by processes of this host */
    UCT_DEVICE_TYPE_ACC,  /**< Accelerator, such as a GPU's copy engine */
    UCT_DEVICE_TYPE_SELF, /**< Loopback, which reaches only this process */
    UCT_DEVICE_TYPE_LAST, /**< Number of kinds */
} uct_device_type_t;

/** Operation of an atomic; "target" is the remote word. */
typedef enum uct_atomic_op {
    UCT_ATOMIC_OP_ADD,   /**< target += value */
    UCT_ATOMIC_OP_AND,   /**< target &= value */
    UCT_ATOMIC_OP_OR,    /**< target |= value */
    UCT_ATOMIC_OP_XOR,   /**< target ^= value */
    UCT_ATOMIC_OP_SWAP,  /**< target = value */
    UCT_ATOMIC_OP_CSWAP, /**< target = value if target equals the expected
                          * value */
    UCT_ATOMIC_OP_LAST,  /**< Number of operations */
} uct_atomic_op_t;

/** Names of the device types, indexed by type, terminated by NULL. */
extern const char *uct_device_type_names[];

/** Methods of uct_mem_alloc(). */
typedef enum {
    UCT_ALLOC_METHOD_THP,  /**< C library, transparent huge pages requested */
    UCT_ALLOC_METHOD_MD,   /**< A memory domain; the result is registered */
    UCT_ALLOC_METHOD_HEAP, /**< C library, without a request for huge pages */
    UCT_ALLOC_METHOD_MMAP, /**< Anonymous mapping */
    UCT_ALLOC_METHOD_HUGE, /**< Mapping of explicit huge pages */
    UCT_ALLOC_METHOD_LAST, /**< Number of methods */
    /** UCT selects the method */
    UCT_ALLOC_METHOD_DEFAULT = UCT_ALLOC_METHOD_LAST,
} uct_alloc_method_t;

/** Names of the methods, indexed by method, terminated by NULL. */
extern const char *uct_alloc_method_names[];

/** Purpose of a socket address. */
typedef enum {
    UCT_SOCKADDR_ACC_LOCAL,  /**< For listening: the address must belong to this
                              *   host */
    UCT_SOCKADDR_ACC_REMOTE, /**< For connecting: a local device must have a
                              *   route to the address */
} uct_sockaddr_accessibility_t;

/** Advice about memory, see uct_md_mem_advise(). */
typedef enum {
    UCT_MADV_NORMAL = 0, /**< No advice */
    UCT_MADV_WILLNEED,   /**< The memory will be used soon: map its pages now.
                          *   Useful for memory allocated with
                          *   UCT_MD_MEM_FLAG_NONBLOCK. */
} uct_mem_advice_t;

/** Reason why an active message is traced. */
typedef enum uct_am_trace_type {
    UCT_AM_TRACE_TYPE_SEND,      /**< The message was sent */
    UCT_AM_TRACE_TYPE_RECV,      /**< The message was received and passed to its
                                  *   handler */
    UCT_AM_TRACE_TYPE_SEND_DROP, /**< The message was cancelled before it was
                                  *   sent */
    UCT_AM_TRACE_TYPE_RECV_DROP, /**< The message was received and dropped */
    UCT_AM_TRACE_TYPE_LAST,      /**< Number of types */
} uct_am_trace_type_t;

/** Events that uct_iface_event_arm() can wait for. */
enum uct_iface_event_types {
    UCT_EVENT_SEND_COMP = UCS_BIT(0), /**< A send completed */
    UCT_EVENT_RECV      = UCS_BIT(1), /**< A message (tag or active) arrived */
    UCT_EVENT_RECV_SIG  = UCS_BIT(2), /**< A message arrived that its sender
                                       * marked UCT_SEND_FLAG_SIGNALED.
                                       * Interfaces without
                                       * UCT_IFACE_FLAG_EVENT_RECV_SIG report
                                       * such a message as UCT_EVENT_RECV. */
};

/** Condition for the completion of a flush. */
enum uct_flush_flags {
    UCT_FLUSH_FLAG_LOCAL  = 0,          /**< Local buffers can be reused; the
                                         * target may not have the data yet */
    UCT_FLUSH_FLAG_CANCEL = UCS_BIT(0), /**< Cancel operations where possible.
                                         *   Operations that cannot be cancelled
                                         *   complete by their callbacks.
                                         *   Afterwards the endpoint cannot
                                         *   send: only flush the endpoint
                                         *   again, purge its pending requests
                                         *   and destroy it */
    UCT_FLUSH_FLAG_REMOTE = UCS_BIT(1), /**< Puts and atomics have changed the
                                         *   memory of the peer, and all its
                                         *   processors can read the new
                                         *   contents */
};

/** Which operations to progress, see uct_iface_progress_enable(). */
enum uct_progress_types {
    UCT_PROGRESS_SEND        = UCS_BIT(0), /**< Progress of outgoing
                                            *   operations */
    UCT_PROGRESS_RECV        = UCS_BIT(1), /**< Progress of incoming messages */
    UCT_PROGRESS_THREAD_SAFE = UCS_BIT(7), /**< Another thread may be in
                                                uct_worker_progress() now */
};

/** Flags of sends. */
enum uct_msg_flags {
    UCT_SEND_FLAG_SIGNALED   = UCS_BIT(0), /**< Raise UCT_EVENT_RECV_SIG at the
                                            *   receiver, if possible instead of
                                            *   UCT_EVENT_RECV. No effect if the
                                            *   receiver does not support it. */
    UCT_SEND_FLAG_PEER_CHECK = UCS_BIT(1), /**< Check whether the peer is alive,
                                            *   and call the error handler if it
                                            *   is not. Without this flag, a
                                            *   lost peer may not be
                                            *   detected. */
};

/** Threads that may call a callback. */
enum uct_cb_flags {
    UCT_CB_FLAG_RESERVED = UCS_BIT(1), /**< Do not use */
    UCT_CB_FLAG_ASYNC    = UCS_BIT(2), /**< Callbacks may run in any thread, and
                                        *   must be thread-safe. An interface
                                        *   without UCT_IFACE_FLAG_CB_ASYNC
                                        *   accepts this flag, but calls the
                                        *   callbacks from progress only. */
};

/**
 * Properties of received data, and what its callback may do with it.
 *
 * With UCT_CB_PARAM_FLAG_DESC the data is in a descriptor:
 *
 *     descriptor      data
 *     |               |
 *     +---------------+--------------------+
 *     |  rx_headroom  |  payload           |
 *     +---------------+--------------------+
 *
 * The callback may write into the headroom, whose size is the rx_headroom with
 * which the interface was opened. The callback may keep the descriptor by
 * returning UCS_INPROGRESS; the user must then release the descriptor by
 * uct_iface_release_desc(). Without the flag, the data is not valid after the
 * callback.
 */
enum uct_cb_param_flags {
    UCT_CB_PARAM_FLAG_DESC  = UCS_BIT(0), /**< The data is in a descriptor,
                                           *   which the callback may keep */
    UCT_CB_PARAM_FLAG_FIRST = UCS_BIT(1), /**< First part of an unexpected eager
                                           * tagged message */
    UCT_CB_PARAM_FLAG_MORE  = UCS_BIT(2), /**< More parts of the message will
                                           *   follow */
};

/** Flags of uct_tag_context::rndv_cb. */
enum {
    UCT_TAG_RECV_CB_INLINE_DATA = UCS_BIT(0), /**< The header that the callback
                                               *   receives contains the data,
                                               *   too */
};

/*
 * Structures of operations.
 */

/**
 * One entry of a scatter-gather list: `count` blocks of `length` bytes at a
 * distance of `stride` bytes.
 *
 *     buffer
 *     |
 *     +-----------+-------+-----------+-------+-----------+
 *     |  payload  | empty |  payload  | empty |  payload  |
 *     +-----------+-------+-----------+-------+-----------+
 *     |<-length-->|       |<-length-->|       |<-length-->|
 *     |<----- stride ---->|<----- stride ---->|
 *
 * With a count of 1 it is one contiguous block, and stride is ignored. With
 * a length or count of 0 the buffer is not touched and may be NULL. The bytes
 * of all entries together may not exceed the limit (max_short, max_zcopy) of
 * the operation.
 */
struct uct_iov {
    void *buffer;   /**< First byte of the first block */
    size_t length;  /**< Length of a block in bytes */
    uct_mem_h memh; /**< Registration of the buffer. UCT_MEM_HANDLE_NULL if the
                     *   memory domain does not require one
                     *   (UCT_MD_FLAG_NEED_MEMH), or the operation is not
                     *   zero-copy */
    size_t stride;  /**< Distance in bytes between the starts of consecutive
                     *   blocks */
    unsigned count; /**< Number of blocks */
};

/**
 * Called when all operations that use the completion have completed.
 *
 * Runs from progress. The callback owns the structure: it may free or reuse it.
 * The result is in uct_completion::status.
 *
 * @param self  The structure that was passed to the operations.
 */
typedef void (*uct_completion_callback_t)(uct_completion_t *self);

/**
 * Counts outstanding operations, and calls a callback when all have completed.
 *
 * Initialise every field, then pass it to any number of operations. Each that
 * returns UCS_INPROGRESS decrements `count` when it completes; an operation
 * that returns another status does not use the structure. When the count
 * reaches 0, the callback is called. The structure must be valid until then. If
 * the initial count is higher than the number of operations that return
 * UCS_INPROGRESS, the callback is never called, and func need not be set.
 */
struct uct_completion {
    uct_completion_callback_t func; /**< Called when the count is 0 */
    int count;                      /**< Number of operations that have not
                                     *   completed */
    ucs_status_t status;            /**< Set to UCS_OK before the first
                                     *   operation; keeps the first error */
};

/**
 * Called when an endpoint may have send resources again.
 *
 * Runs from progress. May send on this endpoint, and may free the structure if
 * it returns UCS_OK.
 *
 * @param self  The structure that was passed to uct_ep_pending_add().
 *
 * @return UCS_OK: done, remove the request from the queue. Any other status
 *         keeps the request at the head of the endpoint's queue, to be called
 *         later: UCS_INPROGRESS if the callback has sent a part, an error if it
 *         has sent nothing.
 */
typedef ucs_status_t (*uct_pending_callback_t)(uct_pending_req_t *self);

/** A request that waits for send resources, see uct_ep_pending_add(). Belongs
 *  to the transport while it is queued. */
struct uct_pending_req {
    uct_pending_callback_t func;         /**< Set by the caller */
    char priv[UCT_PENDING_REQ_PRIV_LEN]; /**< Private to the transport */
};

/*
 * Callback types.
 */

/**
 * Called for a request that uct_ep_pending_purge() removed from a queue. The
 * request belongs to the callback.
 *
 * @param self  The request.
 * @param arg   Argument of uct_ep_pending_purge().
 */
typedef void (*uct_pending_purge_callback_t)(uct_pending_req_t *self,
                                             void *arg);

/**
 * Called when an endpoint has failed.
 *
 * Set in uct_iface_params::err_handler. After it returns, operations on the
 * endpoint fail with the same status. Before the endpoint is destroyed, its
 * pending queue has to be purged and outstanding operations cancelled (see
 * UCT_FLUSH_FLAG_CANCEL); nothing more may be sent on it.
 *
 * @param arg     uct_iface_params::err_handler_arg.
 * @param ep      Endpoint that failed.
 * @param status  Reason.
 *
 * @return UCS_OK if the failure was handled. Otherwise an error, which the
 *         transport logs.
 */
typedef ucs_status_t (*uct_error_handler_t)(void *arg, uct_ep_h ep,
                                            ucs_status_t status);

/**
 * Writes the data of a buffered (bcopy) operation into the transport's buffer.
 * Runs before the operation returns. It must not send or call progress
 * functions.
 *
 * @param dest  Destination of at most max_bcopy bytes.
 * @param arg   Argument of the operation.
 *
 * @return Number of bytes written.
 */
typedef size_t (*uct_pack_callback_t)(void *dest, void *arg);

/**
 * Receives the data of a buffered get. The order of the parameters is
 * memcpy()'s, so that memcpy() can be the callback if arg is a buffer.
 *
 * @param arg     Argument of the operation.
 * @param data    Data; valid during the call only.
 * @param length  Length of the data in bytes.
 */
typedef void (*uct_unpack_callback_t)(void *arg, const void *data,
                                      size_t length);

/**
 * Handles an incoming active message.
 *
 * Runs from progress, or from any thread if the handler was set with
 * UCT_CB_FLAG_ASYNC. It may send, but must not call progress functions.
 *
 * @param arg     Argument of uct_iface_set_am_handler().
 * @param data    The message. For am_short, its 8 byte header comes first.
 * @param length  Length of the message in bytes.
 * @param flags   Bits of uct_cb_param_flags.
 *
 * @return UCS_OK: done with the data. UCS_INPROGRESS: the callback keeps the
 *         descriptor and calls uct_iface_release_desc() later; only
 *         where flags has UCT_CB_PARAM_FLAG_DESC.
 */
typedef ucs_status_t (*uct_am_callback_t)(void *arg, void *data, size_t length,
                                          unsigned flags);

/**
 * Describes an active message for the log. Called if data tracing is enabled.
 *
 * @param arg     Argument of uct_iface_set_am_tracer().
 * @param type    What happened to the message.
 * @param id      Its identifier.
 * @param data    Its contents.
 * @param length  Length of the contents in bytes.
 * @param buffer  Receives a zero-terminated line of text.
 * @param max     Size of the buffer, including the terminating zero.
 */
typedef void (*uct_am_tracer_t)(void *arg, uct_am_trace_type_t type, uint8_t id,
                                const void *data, size_t length, char *buffer,
                                size_t max);

/**
 * Called when an interface with UCT_IFACE_FLAG_EVENT_ASYNC_CB has events and
 * must be progressed. May run in any thread. It must not call progress
 * functions itself.
 *
 * @param arg    uct_iface_params::async_event_arg.
 * @param flags  Reserved; ignore it.
 */
typedef void (*uct_async_event_cb_t)(void *arg, unsigned flags);

/**
 * Handles an eager tagged message, or a part of one, for which no matching
 * receive was posted.
 *
 * Runs from uct_iface_progress(); may communicate. A message that its sender
 * issued as one call can arrive in several parts, in order; all of them share
 * *context.
 *
 * @param arg      uct_iface_params::eager_arg.
 * @param data     The part.
 * @param length   Length of the part in bytes.
 * @param flags    Bits of uct_cb_param_flags; FIRST and MORE give the position
 *                 of the part in the message.
 * @param stag     The sender's tag.
 * @param imm      The sender's immediate value.
 * @param context  The callback may store a pointer here, which it finds again
 *                 in the later parts of the message. The callback allocates and
 *                 frees the memory. Not needed when FIRST is set without MORE.
 *
 * @return UCS_OK, or UCS_INPROGRESS to keep the descriptor, as for
 *         uct_am_callback_t.
 */
typedef ucs_status_t (*uct_tag_unexp_eager_cb_t)(void *arg, void *data,
                                                 size_t length, unsigned flags,
                                                 uct_tag_t stag, uint64_t imm,
                                                 void **context);

/**
 * Handles a rendezvous announcement that matches no posted receive.
 *
 * Runs from uct_iface_progress(); may communicate.
 *
 * @param arg            uct_iface_params::rndv_arg.
 * @param flags          Bits of uct_cb_param_flags.
 * @param stag           The sender's tag.
 * @param header         The sender's header. It is in the descriptor that
 *                       UCS_INPROGRESS keeps.
 * @param header_length  Length of the header in bytes.
 * @param remote_addr    Address of the data at the sender.
 * @param length         Length of the data in bytes.
 * @param rkey_buf       Packed key of the data, for uct_rkey_unpack().
 *
 * @return UCS_OK, or UCS_INPROGRESS to keep the descriptor, as for
 *         uct_am_callback_t.
 */
typedef ucs_status_t (*uct_tag_unexp_rndv_cb_t)(
    void *arg, unsigned flags, uint64_t stag, const void *header,
    unsigned header_length, uint64_t remote_addr, size_t length,
    const void *rkey_buf);

/** A receive that is posted to a transport which matches tags, see
 *  uct_iface_tag_recv_zcopy(). Valid until it completes. All callbacks run from
 *  progress. */
struct uct_tag_context {
    /**
     * The transport has matched the tag: do not match it in software any more.
     *
     * @param self  This structure.
     */
    void (*tag_consumed_cb)(uct_tag_context_t *self);

    /**
     * The receive is complete.
     *
     * @param self         This structure; it may be reused.
     * @param stag         The sender's tag.
     * @param imm          The sender's immediate value; 0 for rendezvous.
     * @param length       Bytes received.
     * @param inline_data  If not NULL, the data is at this address and not in
     *                     the posted buffer: the callback must copy it.
     * @param status       UCS_OK; UCS_ERR_MESSAGE_TRUNCATED if the message was
     *                     longer than the buffer, which is unchanged; or
     *                     UCS_ERR_CANCELED.
     */
    void (*completed_cb)(uct_tag_context_t *self, uct_tag_t stag, uint64_t imm,
                         size_t length, void *inline_data, ucs_status_t status);

    /**
     * The tag was matched by a rendezvous request without hardware support: the
     * user of the interface must transfer the data itself.
     *
     * @param self           This structure.
     * @param stag           The sender's tag.
     * @param header         The sender's header; valid during the call only.
     * @param header_length  Length of the header in bytes.
     * @param status         Result of the match.
     * @param flags          Bits UCT_TAG_RECV_CB_xx.
     */
    void (*rndv_cb)(uct_tag_context_t *self, uct_tag_t stag, const void *header,
                    unsigned header_length, ucs_status_t status,
                    unsigned flags);

    char priv[UCT_TAG_PRIV_LEN]; /**< Private to the transport */
};

/** @} */

END_C_DECLS

#endif
