/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types of communication resources: components and devices, attributes of
 * interfaces, and the parameters of interfaces and endpoints. The calls are in
 * uct.h.
 */
#ifndef UCT_API_UCT_IFACE_DEF_H_
#define UCT_API_UCT_IFACE_DEF_H_

#include <sys/socket.h>
#include <uct/api/uct_cm_def.h>
#include <uct/api/uct_def.h>
#include <ucs/config/types.h>
#include <ucs/datastruct/linear_func.h>
#include <ucs/stats/stats_fwd.h>
#include <ucs/sys/topo_def.h>
#include <ucs/time/time_def.h>
#include <ucs/type/cpu_set.h>

BEGIN_C_DECLS

/** @addtogroup UCT_RESOURCE
 *  @{ */

/*
 * Components and their resources.
 */

/** Name of a memory domain of a component. */
typedef struct uct_md_resource_desc {
    char md_name[UCT_MD_NAME_MAX]; /**< Name of the domain; argument of
                                    *   uct_md_open() */
} uct_md_resource_desc_t;

/** Fields of uct_component_attr to query. */
enum uct_component_attr_field {
    UCT_COMPONENT_ATTR_FIELD_NAME              = UCS_BIT(0), /**< name */
    UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT = UCS_BIT(
        1), /**< md_resource_count */
    /** md_resources */
    UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES = UCS_BIT(2),
    UCT_COMPONENT_ATTR_FIELD_FLAGS        = UCS_BIT(3), /**< flags */
};

/** Bits of uct_component_attr::flags. */
enum {
    UCT_COMPONENT_FLAG_CM       = UCS_BIT(0), /**< Has a connection manager, see
                                                   uct_cm_open() */
    UCT_COMPONENT_FLAG_RKEY_PTR = UCS_BIT(1), /**< Its remote keys may provide
                                               * pointers, see uct_rkey_ptr() */
};

/** Attributes of a component. */
typedef struct uct_component_attr {
    uint64_t field_mask;                  /**< Bits of uct_component_attr_field,
                                             set by the caller */
    char name[UCT_COMPONENT_NAME_MAX];    /**< Name of the component */
    unsigned md_resource_count;           /**< Number of memory domains */
    uct_md_resource_desc_t *md_resources; /**< The caller's array, filled with
                                           * all memory domains: query
                                           * md_resource_count first, then call
                                           * again with an array of that size */
    uint64_t flags;                       /**< UCT_COMPONENT_FLAG_xx */
} uct_component_attr_t;

/** A transport on a device, which uct_iface_open() can open. */
typedef struct uct_tl_resource_desc {
    char tl_name[UCT_TL_NAME_MAX];      /**< Transport */
    char dev_name[UCT_DEVICE_NAME_MAX]; /**< Device, or one port or
                                                          virtual part of it */
    uct_device_type_t dev_type;         /**< Kind of device */
    /** System device of the resource, or UCS_SYS_DEVICE_ID_UNKNOWN */
    ucs_sys_device_t sys_device;
} uct_tl_resource_desc_t;

/** Prints a resource as "transport/device": the conversion for printf, and its
 *  arguments. */
#define UCT_TL_RESOURCE_DESC_FMT "%s/%s"
#define UCT_TL_RESOURCE_DESC_ARG(_resource) \
    (_resource)->tl_name, (_resource)->dev_name

/*
 * Capabilities of an interface: bits of uct_iface_attr::cap.flags.
 */

/** Active messages: uct_ep_am_short(), uct_ep_am_bcopy(), uct_ep_am_zcopy(). */
#define UCT_IFACE_FLAG_AM_SHORT UCS_BIT(0)
#define UCT_IFACE_FLAG_AM_BCOPY UCS_BIT(1)
#define UCT_IFACE_FLAG_AM_ZCOPY UCS_BIT(2)

/** Requests can wait for send resources: uct_ep_pending_add(). */
#define UCT_IFACE_FLAG_PENDING UCS_BIT(3)

/** Writing remote memory: uct_ep_put_short(), uct_ep_put_bcopy(),
 *  uct_ep_put_zcopy(). */
#define UCT_IFACE_FLAG_PUT_SHORT UCS_BIT(4)
#define UCT_IFACE_FLAG_PUT_BCOPY UCS_BIT(5)
#define UCT_IFACE_FLAG_PUT_ZCOPY UCS_BIT(6)

/** Reading remote memory: uct_ep_get_short(), uct_ep_get_bcopy(),
 *  uct_ep_get_zcopy(). */
#define UCT_IFACE_FLAG_GET_SHORT UCS_BIT(8)
#define UCT_IFACE_FLAG_GET_BCOPY UCS_BIT(9)
#define UCT_IFACE_FLAG_GET_ZCOPY UCS_BIT(10)

/** Atomic operations are atomic also with respect to the processors of the
 *  target. */
#define UCT_IFACE_FLAG_ATOMIC_CPU UCS_BIT(30)
/** Atomic operations are atomic only with respect to each other on the same
 *  device. */
#define UCT_IFACE_FLAG_ATOMIC_DEVICE UCS_BIT(31)

/*
 * Errors that the transport detects and reports, by the status of an operation
 * or to the error handler. The effect of an error whose flag is missing is
 * undefined.
 */

/** An invalid local buffer of a short, bcopy or zcopy operation. */
#define UCT_IFACE_FLAG_ERRHANDLE_SHORT_BUF UCS_BIT(32)
#define UCT_IFACE_FLAG_ERRHANDLE_BCOPY_BUF UCS_BIT(33)
#define UCT_IFACE_FLAG_ERRHANDLE_ZCOPY_BUF UCS_BIT(34)
/** An active message with an identifier for which the receiver has no
 *  handler. */
#define UCT_IFACE_FLAG_ERRHANDLE_AM_ID UCS_BIT(35)
/** Access to remote memory that the key does not allow. */
#define UCT_IFACE_FLAG_ERRHANDLE_REMOTE_MEM UCS_BIT(36)
/** A bcopy operation whose callback packs more than max_bcopy bytes. */
#define UCT_IFACE_FLAG_ERRHANDLE_BCOPY_LEN UCS_BIT(37)
/** A lost peer or network connection. */
#define UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE UCS_BIT(38)

/** uct_ep_check() is supported. */
#define UCT_IFACE_FLAG_EP_CHECK UCS_BIT(39)

/** Endpoints are created connected to the peer's interface address. */
#define UCT_IFACE_FLAG_CONNECT_TO_IFACE UCS_BIT(40)
/** Endpoints are created first and connected to each other by address:
 *  uct_ep_get_address() and uct_ep_connect_to_ep(). */
#define UCT_IFACE_FLAG_CONNECT_TO_EP UCS_BIT(41)
/** Endpoints are created from a socket address. */
#define UCT_IFACE_FLAG_CONNECT_TO_SOCKADDR UCS_BIT(42)

/** A message may be delivered more than once, because the transport retransmits
 *  messages and does not detect duplicates. */
#define UCT_IFACE_FLAG_AM_DUP UCS_BIT(43)

/** Callbacks are called from uct_worker_progress() only. */
#define UCT_IFACE_FLAG_CB_SYNC UCS_BIT(44)
/** Callbacks are called in bounded time without calls of uct_worker_progress(),
 *  from any thread, including progress. */
#define UCT_IFACE_FLAG_CB_ASYNC UCS_BIT(45)

/** A lost peer is reported to the error handler even if nothing is being
 *  sent. */
#define UCT_IFACE_FLAG_EP_KEEPALIVE UCS_BIT(46)

/** The transport matches tags: uct_ep_tag_eager_short(),
 *  uct_ep_tag_eager_bcopy(), uct_ep_tag_eager_zcopy(),
 *  uct_ep_tag_rndv_zcopy(). */
#define UCT_IFACE_FLAG_TAG_EAGER_SHORT UCS_BIT(50)
#define UCT_IFACE_FLAG_TAG_EAGER_BCOPY UCS_BIT(51)
#define UCT_IFACE_FLAG_TAG_EAGER_ZCOPY UCS_BIT(52)
#define UCT_IFACE_FLAG_TAG_RNDV_ZCOPY  UCS_BIT(53)

/** The transport reaches other hosts. */
#define UCT_IFACE_FLAG_INTER_NODE UCS_BIT(54)

/** Endpoints can be used from code that runs on a device. */
#define UCT_IFACE_FLAG_DEVICE_EP UCS_BIT(55)

/*
 * Events that an interface can report without being progressed: bits of
 * uct_iface_attr::cap.event_flags.
 */

/** The interface reports UCT_EVENT_SEND_COMP. */
#define UCT_IFACE_FLAG_EVENT_SEND_COMP UCS_BIT(0)
/** The interface reports UCT_EVENT_RECV. */
#define UCT_IFACE_FLAG_EVENT_RECV UCS_BIT(1)
/** The interface reports UCT_EVENT_RECV_SIG. */
#define UCT_IFACE_FLAG_EVENT_RECV_SIG UCS_BIT(2)
/** The interface reports events by a file descriptor: uct_iface_event_fd_get(),
 *  uct_iface_event_arm(). */
#define UCT_IFACE_FLAG_EVENT_FD UCS_BIT(3)
/** The interface reports events by calling uct_iface_params::async_event_cb. */
#define UCT_IFACE_FLAG_EVENT_ASYNC_CB UCS_BIT(4)

/**
 * Bandwidth in bytes per second if several processes of one host use the device
 * at the same time. Each process has dedicated + shared / (number of
 * processes).
 */
typedef struct uct_ppn_bandwidth {
    double dedicated; /**< Bandwidth that each process has */
    double shared;    /**< Bandwidth that all processes share */
} uct_ppn_bandwidth_t;

/** Attributes of an interface: capabilities, limits and costs. Sizes are in
 *  bytes. A limit is valid only with the flag of its operation. */
struct uct_iface_attr {
    struct {
        struct {
            size_t max_short;       /**< Maximum length of uct_ep_put_short() */
            size_t max_bcopy;       /**< Maximum length of uct_ep_put_bcopy() */
            size_t min_zcopy;       /**< Minimum length of uct_ep_put_zcopy(),
                                     *   the sum of all entries */
            size_t max_zcopy;       /**< Maximum length of uct_ep_put_zcopy(),
                                     *   the sum of all entries */
            size_t opt_zcopy_align; /**< Optimal alignment of buffers, in
                                     *   bytes */
            size_t align_mtu;       /**< Packet size in bytes; lengths that are
                                     *   multiples of it are optimal */
            size_t max_iov;         /**< Maximum number of entries of the I/O
                                     *   vector */
        } put;                      /**< Limits of put */

        struct {
            size_t max_short;       /**< Maximum length of uct_ep_get_short() */
            size_t max_bcopy;       /**< Maximum length of uct_ep_get_bcopy() */
            size_t min_zcopy;       /**< Minimum length of uct_ep_get_zcopy(),
                                     *   the sum of all entries */
            size_t max_zcopy;       /**< Maximum length of uct_ep_get_zcopy(),
                                     *   the sum of all entries */
            size_t opt_zcopy_align; /**< Optimal alignment of buffers, in
                                     *   bytes */
            size_t align_mtu;       /**< Packet size in bytes; lengths that are
                                     *   multiples of it are optimal */
            size_t max_iov;         /**< Maximum number of entries of the I/O
                                     *   vector */
        } get;                      /**< Limits of get */

        struct {
            size_t max_short;       /**< Maximum length of a short message,
                                     *   including the header of 8 bytes */
            size_t max_bcopy;       /**< Maximum length that the callback may
                                     *   pack */
            size_t min_zcopy;       /**< Minimum length of a zcopy message, the
                                     *   sum of header and all entries */
            size_t max_zcopy;       /**< Maximum length of a zcopy message, the
                                     *   same sum */
            size_t opt_zcopy_align; /**< Optimal alignment of buffers, in
                                     *   bytes */
            size_t align_mtu;       /**< Packet size in bytes; lengths that are
                                     *   multiples of it are optimal */
            size_t max_hdr;         /**< Maximum length of the header of
                                     *   uct_ep_am_zcopy() */
            size_t max_iov;         /**< Maximum number of entries of the I/O
                                     *   vector */
        } am;                       /**< Limits of active messages */

        struct {
            struct {
                size_t min_recv;        /**< Minimum size of a posted buffer */
                size_t max_zcopy;       /**< Maximum size of a posted buffer */
                size_t max_iov;         /**< Maximum number of entries of the
                                         *   I/O vector */
                size_t max_outstanding; /**< Maximum number of buffers posted at
                                         * the same time */
            } recv; /**< Limits of uct_iface_tag_recv_zcopy() */

            struct {
                size_t max_short; /**< Maximum length of
                                   *   uct_ep_tag_eager_short() */
                size_t max_bcopy; /**< Maximum length of
                                   *   uct_ep_tag_eager_bcopy() */
                size_t max_zcopy; /**< Maximum length of
                                   *   uct_ep_tag_eager_zcopy() */
                size_t max_iov;   /**< Maximum number of entries of the I/O
                                   *   vector */
            } eager;              /**< Limits of eager tagged messages */

            struct {
                size_t max_zcopy; /**< Maximum length of
                                   *   uct_ep_tag_rndv_zcopy() */
                size_t max_hdr;   /**< Maximum length of the header of
                                   *   uct_ep_tag_rndv_zcopy() and
                                   *   uct_ep_tag_rndv_request() */
                size_t max_iov;   /**< Maximum number of entries of the I/O
                                   *   vector */
            } rndv;               /**< Limits of rendezvous */
        } tag; /**< Limits of tag matching in the transport */

        struct {
            uint64_t op_flags;  /**< Operations that can be posted: bit n is
                                     uct_atomic_op_t n */
            uint64_t fop_flags; /**< Operations that can fetch: bit n is
                                 *   uct_atomic_op_t n */
        } atomic32,             /**< Atomics on 32 bit words */
            atomic64;           /**< Atomics on 64 bit words */

        uint64_t flags;       /**< UCT_IFACE_FLAG_xx */
        uint64_t event_flags; /**< UCT_IFACE_FLAG_EVENT_xx */
    } cap;                    /**< Capabilities and limits */

    size_t device_addr_len;                  /**< Length of the device
                                                  address */
    size_t iface_addr_len;                   /**< Length of the interface
                                                  address */
    size_t ep_addr_len;                      /**< Length of an endpoint
                                                  address */
    size_t max_conn_priv;                    /**< Maximum length of the private
                                              *   data of connection setup by
                                              *   socket address */
    struct sockaddr_storage listen_sockaddr; /**< Address at which an interface
                                              *   in server mode listens */
    double overhead;                         /**< Processor time for each
                                              *   message, in seconds */
    uct_ppn_bandwidth_t bandwidth;           /**< Bandwidth */
    ucs_linear_func_t latency;               /**< Latency in seconds, as a
                                              * function of the number of active
                                              * endpoints */
    uint8_t priority;                        /**< Selects between devices that
                                              *   are otherwise equal; higher is
                                              *   better */
    size_t max_num_eps;                      /**< Maximum number of endpoints */
    unsigned dev_num_paths;                  /**< Number of network paths that
                                              *   can be used at the same time.
                                              *   Each path requires a separate
                                              *   endpoint with its own
                                              *   uct_ep_params::path_index */
};

/*
 * Opening an interface.
 */

/** Modes of opening an interface. */
enum uct_iface_open_mode {
    /** Open the interface of a transport and a device */
    UCT_IFACE_OPEN_MODE_DEVICE          = UCS_BIT(0),
    /** To listen on a socket address. Prefer uct_listener_create() */
    UCT_IFACE_OPEN_MODE_SOCKADDR_SERVER = UCS_BIT(1),
    /** To connect to a socket address. Prefer uct_cm_open() */
    UCT_IFACE_OPEN_MODE_SOCKADDR_CLIENT = UCS_BIT(2),
};

/** Fields of uct_iface_params that are set. */
enum uct_iface_params_field {
    UCT_IFACE_PARAM_FIELD_CPU_MASK          = UCS_BIT(0), /**< cpu_mask */
    UCT_IFACE_PARAM_FIELD_OPEN_MODE         = UCS_BIT(1), /**< open_mode */
    UCT_IFACE_PARAM_FIELD_DEVICE            = UCS_BIT(2), /**< mode.device */
    UCT_IFACE_PARAM_FIELD_SOCKADDR          = UCS_BIT(3), /**< mode.sockaddr */
    UCT_IFACE_PARAM_FIELD_STATS_ROOT        = UCS_BIT(4), /**< stats_root */
    UCT_IFACE_PARAM_FIELD_RX_HEADROOM       = UCS_BIT(5), /**< rx_headroom */
    /** err_handler_arg */
    UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG   = UCS_BIT(6),
    UCT_IFACE_PARAM_FIELD_ERR_HANDLER       = UCS_BIT(7), /**< err_handler */
    UCT_IFACE_PARAM_FIELD_ERR_HANDLER_FLAGS = UCS_BIT(
        8), /**< err_handler_flags */
    UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_ARG = UCS_BIT(9),  /**< eager_arg */
    UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_CB  = UCS_BIT(10), /**< eager_cb */
    UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_ARG  = UCS_BIT(11), /**< rndv_arg */
    UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_CB   = UCS_BIT(12), /**< rndv_cb */
    UCT_IFACE_PARAM_FIELD_ASYNC_EVENT_ARG = UCS_BIT(13), /**< async_event_arg */
    UCT_IFACE_PARAM_FIELD_ASYNC_EVENT_CB  = UCS_BIT(14), /**< async_event_cb */
    UCT_IFACE_PARAM_FIELD_KEEPALIVE_INTERVAL = UCS_BIT(
        15), /**< keepalive_interval */
    UCT_IFACE_PARAM_FIELD_AM_ALIGNMENT    = UCS_BIT(16), /**< am_alignment */
    UCT_IFACE_PARAM_FIELD_AM_ALIGN_OFFSET = UCS_BIT(17), /**< am_align_offset */
    UCT_IFACE_PARAM_FIELD_FEATURES        = UCS_BIT(18), /**< features */
};

/** Features that an interface will be used for; bits of
 *  uct_iface_params::features. */
enum uct_iface_feature {
    UCT_IFACE_FEATURE_AM           = UCS_BIT(0), /**< Active messages */
    UCT_IFACE_FEATURE_PUT          = UCS_BIT(1), /**< Put */
    UCT_IFACE_FEATURE_GET          = UCS_BIT(2), /**< Get */
    UCT_IFACE_FEATURE_AMO32        = UCS_BIT(3), /**< Atomics on words of 32
                                                  *   bits */
    UCT_IFACE_FEATURE_AMO64        = UCS_BIT(4), /**< Atomics on words of 64
                                                  *   bits */
    UCT_IFACE_FEATURE_TAG          = UCS_BIT(5), /**< Tag matching */
    UCT_IFACE_FEATURE_FLUSH_REMOTE = UCS_BIT(6), /**< UCT_FLUSH_FLAG_REMOTE */
    /** First unused bit */
    UCT_IFACE_FEATURE_LAST         = UCS_BIT(7),
};

/** Parameters of uct_iface_open(). The caller owns them; they are not used
 *  after the call. */
struct uct_iface_params {
    uint64_t field_mask;    /**< Bits of uct_iface_params_field. The other
                             *   fields are ignored and have their defaults */
    ucs_cpu_set_t cpu_mask; /**< Processors near which resources should be
                             * allocated; a hint, which may be ignored */
    uint64_t open_mode;     /**< A bit of uct_iface_open_mode */

    union {
        struct {
            const char *tl_name;  /**< Name of the transport */
            const char *dev_name; /**< Name of the device */
        } device;                 /**< For UCT_IFACE_OPEN_MODE_DEVICE */

        struct {
            ucs_sock_addr_t listen_sockaddr; /**< Address at which to listen */
            void *conn_request_arg;          /**< Argument of conn_request_cb */
            uct_sockaddr_conn_request_callback_t conn_request_cb; /**< Handles
                                                                   * connection
                                                                   * requests */
            uint32_t cb_flags; /**< Bits of uct_cb_flags for conn_request_cb */
        } sockaddr;            /**< For UCT_IFACE_OPEN_MODE_SOCKADDR_SERVER */
    } mode;                    /**< `open_mode` selects the member */

    /** Ignored (in other implementations: parent of the interface's
     *  statistics) */
    ucs_stats_node_t *stats_root;
    size_t rx_headroom;              /**< Bytes to reserve in front of received
                                      * data, see uct_cb_param_flags;
                                          0 by default */
    void *err_handler_arg;           /**< Argument of err_handler */
    uct_error_handler_t err_handler; /**< Called when endpoints fail */
    uint32_t err_handler_flags;      /**< Bits of uct_cb_flags for
                                      *   err_handler */

    void *eager_arg;                   /**< Argument of eager_cb */
    uct_tag_unexp_eager_cb_t eager_cb; /**< Handles unexpected eager messages
                                        * if the transport matches tags */
    void *rndv_arg;                    /**< Argument of rndv_cb */
    uct_tag_unexp_rndv_cb_t rndv_cb;   /**< Handles unexpected rendezvous
                                        * if the transport matches tags */

    void *async_event_arg;               /**< Argument of async_event_cb */
    uct_async_event_cb_t async_event_cb; /**< Called on events, for interfaces
                                          * with
                                          * UCT_IFACE_FLAG_EVENT_ASYNC_CB */

    ucs_time_t keepalive_interval; /**< Time between two checks of an idle peer,
                                    *   if the transport has
                                    *   UCT_IFACE_FLAG_EP_KEEPALIVE; default and
                                    *   0: the interval of the transport.
                                    *   UCS_TIME_INFINITY: no checks. A variable
                                    *   by which the user sets the interval
                                    *   takes precedence */
    size_t am_alignment;           /**< Alignment in bytes of received active
                                    *   messages, at the byte am_align_offset; a
                                    *   power of 2; 1 by default. Applies only
                                    *   to data in a descriptor
                                    *   (UCT_CB_PARAM_FLAG_DESC) */
    size_t am_align_offset;        /**< Offset in the data of the byte that is
                                    *   aligned, below am_alignment; 0 by
                                    *   default */
    uint64_t features;             /**< Bits of uct_iface_feature */
};

/*
 * Creating an endpoint.
 */

/** Fields of uct_ep_params that are set. */
enum uct_ep_params_field {
    UCT_EP_PARAM_FIELD_IFACE             = UCS_BIT(0), /**< iface */
    UCT_EP_PARAM_FIELD_USER_DATA         = UCS_BIT(1), /**< user_data */
    UCT_EP_PARAM_FIELD_DEV_ADDR          = UCS_BIT(2), /**< dev_addr */
    UCT_EP_PARAM_FIELD_IFACE_ADDR        = UCS_BIT(3), /**< iface_addr */
    UCT_EP_PARAM_FIELD_SOCKADDR          = UCS_BIT(4), /**< sockaddr */
    UCT_EP_PARAM_FIELD_SOCKADDR_CB_FLAGS = UCS_BIT(5), /**< sockaddr_cb_flags */
    UCT_EP_PARAM_FIELD_SOCKADDR_PACK_CB  = UCS_BIT(6), /**< sockaddr_pack_cb */
    UCT_EP_PARAM_FIELD_CM                = UCS_BIT(7), /**< cm */
    UCT_EP_PARAM_FIELD_CONN_REQUEST      = UCS_BIT(8), /**< conn_request */
    UCT_EP_PARAM_FIELD_SOCKADDR_CONNECT_CB_CLIENT = UCS_BIT(
        9), /**< sockaddr_cb_client */
    UCT_EP_PARAM_FIELD_SOCKADDR_NOTIFY_CB_SERVER = UCS_BIT(
        10), /**< sockaddr_cb_server */
    UCT_EP_PARAM_FIELD_SOCKADDR_DISCONNECT_CB = UCS_BIT(
        11),                                           /**< disconnect_cb */
    UCT_EP_PARAM_FIELD_PATH_INDEX       = UCS_BIT(12), /**< path_index */
    UCT_EP_PARAM_FIELD_CM_RESOLVE_CB    = UCS_BIT(13), /**< cm_resolve_cb */
    UCT_EP_PARAM_FIELD_PRIV_DATA        = UCS_BIT(14), /**< private_data */
    UCT_EP_PARAM_FIELD_PRIV_DATA_LENGTH = UCS_BIT(
        15), /**< private_data_length */
    UCT_EP_PARAM_FIELD_LOCAL_SOCKADDR    = UCS_BIT(16), /**< local_sockaddr */
    UCT_EP_PARAM_FIELD_DEV_ADDR_LENGTH   = UCS_BIT(17), /**< dev_addr_length */
    /** iface_addr_length */
    UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH = UCS_BIT(18),
};

/** Parameters of uct_ep_create(), which describes the valid combinations of
 *  fields. The caller owns them; they are not used after the call. */
struct uct_ep_params {
    uint64_t field_mask;                /**< Bits of uct_ep_params_field. The
                                         *   other fields are ignored */
    uct_iface_h iface;                  /**< Interface on which to create the
                                         *   endpoint; either this or cm */
    void *user_data;                    /**< Argument of the callbacks of this
                                         *   structure */
    const uct_device_addr_t *dev_addr;  /**< The peer's device address */
    const uct_iface_addr_t *iface_addr; /**< The peer's interface address;
                                              needs
                                              UCT_IFACE_FLAG_CONNECT_TO_IFACE */
    /** The server's socket address; without cm, needs
     *  UCT_IFACE_FLAG_CONNECT_TO_SOCKADDR */
    const ucs_sock_addr_t *sockaddr;
    uint32_t sockaddr_cb_flags; /**< Bits of uct_cb_flags for all callbacks of
                                 *   this structure */
    uct_cm_ep_priv_data_pack_callback_t sockaddr_pack_cb; /**< Writes private
                                                           *   data. Cannot be
                                                           *   combined with
                                                           *   private_data or
                                                           *   cm_resolve_cb */
    uct_cm_h cm;                     /**< Connection manager on which to create
                                      *   the endpoint; either this or iface */
    uct_conn_request_h conn_request; /**< Connection request to accept.
                                      * Released by uct_ep_create(), even
                                      * if that fails */
    /** On a client: called when the server has replied */
    uct_cm_ep_client_connect_callback_t sockaddr_cb_client;
    /** On a server: called when the client is connected */
    uct_cm_ep_server_conn_notify_callback_t sockaddr_cb_server;
    uct_ep_disconnect_cb_t disconnect_cb;       /**< Called when the peer has
                                                 *   disconnected */
    unsigned path_index;                        /**< Network path of the
                                                 *   endpoint, below
                                                 *   dev_num_paths of
                                                 *   uct_iface_attr; 0 by
                                                 *   default */
    uct_cm_ep_resolve_callback_t cm_resolve_cb; /**< On a client: called when
                                                 *   the local device is known;
                                                 *   then call uct_ep_connect().
                                                 *   Cannot be combined with
                                                 *   sockaddr_pack_cb */
    const void *private_data;                   /**< Private data for the
                                                 *   client; only with
                                                 *   conn_request. Cannot be
                                                 *   combined with
                                                 *   sockaddr_pack_cb */
    size_t private_data_length;                 /**< Length of private_data, at
                                                 *   most max_conn_priv of
                                                 *   uct_cm_attr */
    /** Local address from which to connect; without cm, needs
     *  UCT_IFACE_FLAG_CONNECT_TO_SOCKADDR */
    const ucs_sock_addr_t *local_sockaddr;
    size_t dev_addr_length;   /**< Length of dev_addr in bytes. By default, the
                               *   transport determines the length */
    size_t iface_addr_length; /**< Length of iface_addr; see dev_addr_length */
};

/** @} */

END_C_DECLS

#endif
