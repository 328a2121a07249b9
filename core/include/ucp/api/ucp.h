/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UCP: the interface that applications use. It chooses among the transports of
 * a machine and offers tagged and active messages, streams, remote memory
 * access and atomics on top of them. Handles and callback types are in
 * ucp_def.h, replaced functions in ucp_compat.h; both come with this file.
 *
 * The way through: ucp_config_read() and ucp_init() make a context,
 * ucp_worker_create() a worker in it, ucp_ep_create() an endpoint to a peer.
 * Operations go to endpoints; ucp_worker_progress() makes them happen.
 *
 * What holds everywhere:
 *
 * Structures with a mask. `field_mask` (or op_attr_mask, recv_attr) says which
 * members count, one bit each. A member whose bit is clear is neither read nor
 * written, so programs built against older headers keep working. In a query
 * the caller sets the mask and the library fills what it names. Unless said
 * otherwise a member that was not given takes the value 0, NULL or "unknown".
 *
 * Outcome of a non-blocking operation (ucs_status_ptr_t), one of
 *   - NULL (as a status: UCS_OK): complete. No callback runs.
 *   - UCS_PTR_IS_ERR(ptr): not started, for the reason UCS_PTR_STATUS(ptr).
 *   - otherwise a request: under way. The callback, if one was given, runs
 *     once on completion; ucp_request_check_status() tells as well. A request
 *     is freed with ucp_request_free(), in the callback or any time later,
 *     except one whose memory the caller supplied.
 * Until then the buffers of the operation, lists of an iov included, belong to
 * the library: leave a source unchanged and a destination alone.
 * The parameter structure itself may go as soon as the function returns.
 *
 * Threads. A worker and all that belongs to it (endpoints, listeners,
 * requests, remote keys) follow ucp_worker_attr_t::thread_mode:
 *   - UCS_THREAD_MODE_SINGLE: only the thread that created the worker;
 *   - UCS_THREAD_MODE_SERIALIZED: any thread, one at a time;
 *   - UCS_THREAD_MODE_MULTI: any thread at any time.
 * A context, with its memory handles, may be used by several threads at a time
 * only if ucp_params_t::mt_workers_shared was set. A configuration is used by
 * one thread at a time. Exceptions stand with the functions.
 *
 * Errors. Functions return UCS_ERR_INVALID_PARAM for arguments that cannot be
 * meant, UCS_ERR_NO_MEMORY when there is none, UCS_ERR_UNSUPPORTED for what
 * the devices at hand cannot do. These are not repeated below.
 */
#ifndef UCP_API_UCP_H
#define UCP_API_UCP_H

#include <ucp/api/ucp_compat.h>
#include <ucp/api/ucp_def.h>
#include <ucp/api/ucp_version.h>
#include <ucs/config/types.h>
#include <ucs/memory/memory_type.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/cpu_set.h>
#include <ucs/type/status.h>
#include <ucs/type/thread_mode.h>

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>

BEGIN_C_DECLS

/* =========================================================================
 * The library
 * ====================================================================== */

/** @addtogroup UCP_CONTEXT
 *  @{ */

/** Members of ucp_lib_attr_t. */
enum ucp_lib_attr_field {
    /** ucp_lib_attr_t::max_thread_level */
    UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL = UCS_BIT(0)
};

/** What the library as such can do. */
typedef struct ucp_lib_attr {
    /** Members to fill, bits of ucp_lib_attr_field. */
    uint64_t          field_mask;
    /** The most that a worker's thread_mode can be. Never changes. */
    ucs_thread_mode_t max_thread_level;
} ucp_lib_attr_t;

/**
 * Queries the properties of the library. Needs no context. Any thread may call
 * it.
 *
 * @param attr  in: field_mask; out: what it names
 *
 * @return UCS_OK
 */
ucs_status_t ucp_lib_query(ucp_lib_attr_t *attr);

/**
 * Gives the version of the library in use, which may be newer than
 * UCP_API_VERSION. Any thread, any time.
 */
void ucp_get_version(unsigned *major_version, unsigned *minor_version,
                     unsigned *release_number);

/**
 * Gives the version of the library in use as "major.minor.release". The string
 * is static.
 *
 * @return The string; never NULL
 */
const char *ucp_get_version_string(void);

/** @} */

/* =========================================================================
 * Configuration
 *
 * Settings for the person who runs the program: environment variables UCX_*
 * and files. Those for the program's author are ucp_params_t.
 * ====================================================================== */

/** @addtogroup UCP_CONFIG
 *  @{ */

/**
 * Reads the settings from the environment and configuration files.
 *
 * @param env_prefix  PREFIX: reads PREFIX_UCX_* as well, before UCX_*;
 *                    NULL: UCX_* only
 * @param filename    a further file to read; NULL: none. A file that does not
 *                    exist is no error.
 * @param config_p    where the settings go; ucp_config_release() ends them
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM if a value does not parse
 */
ucs_status_t ucp_config_read(const char *env_prefix, const char *filename,
                             ucp_config_t **config_p);

/** Releases a configuration. Contexts created with it are not affected. */
void ucp_config_release(ucp_config_t *config);

/**
 * Changes one setting.
 *
 * @param config  the settings to change
 * @param name    the variable, with or without "UCX_"
 * @param value   written as in the environment
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM if the value does not parse, and the
 *         old one stays. An unknown name is kept, as it may be one of a
 *         transport that is not loaded yet; if nobody claims it there is a
 *         warning later.
 */
ucs_status_t ucp_config_modify(ucp_config_t *config, const char *name,
                               const char *value);

/**
 * Prints settings in the form in which they can be read.
 *
 * @param config       the settings
 * @param stream       where to print
 * @param title        heading, printed with UCS_CONFIG_PRINT_HEADER
 * @param print_flags  what to print: values, help, hidden ones, ...
 */
void ucp_config_print(const ucp_config_t *config, FILE *stream,
                      const char *title, ucs_config_print_flags_t print_flags);

/** @} */

/* =========================================================================
 * Context
 * ====================================================================== */

/** @addtogroup UCP_CONTEXT
 *  @{ */

/** Members of ucp_params_t. */
enum ucp_params_field {
    /** ucp_params_t::features */
    UCP_PARAM_FIELD_FEATURES          = UCS_BIT(0),
    /** ucp_params_t::request_size */
    UCP_PARAM_FIELD_REQUEST_SIZE      = UCS_BIT(1),
    /** ucp_params_t::request_init */
    UCP_PARAM_FIELD_REQUEST_INIT      = UCS_BIT(2),
    /** ucp_params_t::request_cleanup */
    UCP_PARAM_FIELD_REQUEST_CLEANUP   = UCS_BIT(3),
    /** ucp_params_t::tag_sender_mask */
    UCP_PARAM_FIELD_TAG_SENDER_MASK   = UCS_BIT(4),
    /** ucp_params_t::mt_workers_shared */
    UCP_PARAM_FIELD_MT_WORKERS_SHARED = UCS_BIT(5),
    /** ucp_params_t::estimated_num_eps */
    UCP_PARAM_FIELD_ESTIMATED_NUM_EPS = UCS_BIT(6),
    /** ucp_params_t::estimated_num_ppn */
    UCP_PARAM_FIELD_ESTIMATED_NUM_PPN = UCS_BIT(7),
    /** ucp_params_t::name */
    UCP_PARAM_FIELD_NAME              = UCS_BIT(8),
    /** ucp_params_t::node_local_id */
    UCP_PARAM_FIELD_NODE_LOCAL_ID     = UCS_BIT(9)
};

/**
 * What an application wants from a context. Ask for what will be used and no
 * more: features decide which devices are opened and what is set up.
 */
enum ucp_feature {
    /** Tagged messages. */
    UCP_FEATURE_TAG           = UCS_BIT(0),
    /** Put and get. */
    UCP_FEATURE_RMA           = UCS_BIT(1),
    /** Atomics on 4 bytes. */
    UCP_FEATURE_AMO32         = UCS_BIT(2),
    /** Atomics on 8 bytes. */
    UCP_FEATURE_AMO64         = UCS_BIT(3),
    /** Waiting for events instead of polling; the section "Waiting". */
    UCP_FEATURE_WAKEUP        = UCS_BIT(4),
    /** Streams. */
    UCP_FEATURE_STREAM        = UCS_BIT(5),
    /** Active messages. */
    UCP_FEATURE_AM            = UCS_BIT(6),
    /**
     * Local operations on a peer's memory, by way of a handle packed with
     * UCP_MEMH_PACK_FLAG_EXPORT.
     */
    UCP_FEATURE_EXPORTED_MEMH = UCS_BIT(7),
    /**
     * Operations started from device code. No transport offers them: ucp_init()
     * fails with UCS_ERR_UNSUPPORTED.
     */
    UCP_FEATURE_DEVICE        = UCS_BIT(8)
};

/** How a context shall be. Only the features are mandatory. */
typedef struct ucp_params {
    /** Members given, bits of ucp_params_field. */
    uint64_t                       field_mask;
    /** Bits of ucp_feature. Mandatory. */
    uint64_t                       features;
    /**
     * Bytes in each request that are the application's own, beginning where
     * the request points.
     */
    size_t                         request_size;
    /** Prepares those bytes, once for each piece of memory. */
    ucp_request_init_callback_t    request_init;
    /** Undoes @a request_init. */
    ucp_request_cleanup_callback_t request_cleanup;
    /**
     * Bits of a tag which by themselves tell the sender. Receives and probes
     * whose mask has all of these bits (any tag of one sender), or all others
     * (one tag of any sender), are then hashed, so that their time does not grow
     * with the number of receives and messages. It changes no result. 0, the
     * default, and all bits: no such hash.
     */
    uint64_t                       tag_sender_mask;
    /**
     * Non-zero: workers of this context run in different threads, so that the
     * context has to lock. One worker used by many threads does not need it.
     */
    int                            mt_workers_shared;
    /**
     * How many endpoints there will be, such as the processes of the job; a
     * hint. UCX_NUM_EPS overrides it.
     */
    size_t                         estimated_num_eps;
    /** Processes on this machine; a hint. UCX_NUM_PPN overrides it. */
    size_t                         estimated_num_ppn;
    /**
     * For people and tools; copied, and perhaps changed to be unique: see
     * ucp_context_attr_t::name. Default: made up.
     */
    const char                     *name;
    /**
     * Which of the processes on this machine this one is, from 0; a hint.
     * UCX_LOCAL_NODE_ID overrides it. Of network devices that are equally good
     * for a peer, processes with different numbers select different ones.
     */
    size_t                         node_local_id;
} ucp_params_t;

/** Members of ucp_context_attr_t. */
enum ucp_context_attr_field {
    /** ucp_context_attr_t::request_size */
    UCP_ATTR_FIELD_REQUEST_SIZE        = UCS_BIT(0),
    /** ucp_context_attr_t::thread_mode */
    UCP_ATTR_FIELD_THREAD_MODE         = UCS_BIT(1),
    /** ucp_context_attr_t::memory_types */
    UCP_ATTR_FIELD_MEMORY_TYPES        = UCS_BIT(2),
    /** ucp_context_attr_t::name */
    UCP_ATTR_FIELD_NAME                = UCS_BIT(3),
    /** ucp_context_attr_t::device_counter_size */
    UCP_ATTR_FIELD_DEVICE_COUNTER_SIZE = UCS_BIT(4)
};

/** How a context is. */
typedef struct ucp_context_attr {
    /** Members to fill, bits of ucp_context_attr_field. */
    uint64_t          field_mask;
    /**
     * Bytes that the library needs in front of a request whose memory the
     * caller supplies (UCP_OP_ATTR_FIELD_REQUEST).
     */
    size_t            request_size;
    /** UCS_THREAD_MODE_MULTI if workers may be shared among threads. */
    ucs_thread_mode_t thread_mode;
    /** Memory types in use, UCS_BIT() of ucs_memory_type_t. */
    uint64_t          memory_types;
    /** Name of the context, zero-terminated. */
    char              name[UCP_ENTITY_NAME_MAX];
    /**
     * Bytes of a counter for operations started from device code. 0: there are
     * none, and ucp_init() refuses UCP_FEATURE_DEVICE.
     */
    size_t            device_counter_size;
} ucp_context_attr_t;

/**
 * Makes a context, checking that the library speaks the version of the
 * interface that the caller was compiled for. Call ucp_init() instead, which
 * fills in that version.
 *
 * A caller of a newer minor version is warned of once a process and can use all
 * that the library knows. Bits of a field_mask that it does not know fail then,
 * here and wherever objects are made, with UCS_ERR_UNSUPPORTED.
 *
 * @param api_major_version  UCP_API_MAJOR of the caller
 * @param api_minor_version  UCP_API_MINOR of the caller
 * @param params             as for ucp_init()
 * @param config             as for ucp_init()
 * @param context_p          as for ucp_init()
 *
 * @return as ucp_init(); UCS_ERR_NOT_IMPLEMENTED if the major versions differ;
 *         UCS_ERR_UNSUPPORTED if the caller is newer and uses what is not there
 */
ucs_status_t ucp_init_version(unsigned api_major_version,
                              unsigned api_minor_version,
                              const ucp_params_t *params,
                              const ucp_config_t *config,
                              ucp_context_h *context_p);

/**
 * Makes a context: finds the devices and opens those that the features need.
 *
 * @param params     what the application wants
 * @param config     settings, read only; NULL: as ucp_config_read(NULL, NULL)
 *                   gives them
 * @param context_p  where the context goes; ucp_cleanup() ends it
 *
 * @return UCS_OK; UCS_ERR_NO_DEVICE if nothing usable was found;
 *         UCS_ERR_INVALID_PARAM if the features are missing or unknown;
 *         UCS_ERR_UNSUPPORTED for UCP_FEATURE_DEVICE; an error if the settings
 *         ask for what does not exist
 */
static inline ucs_status_t ucp_init(const ucp_params_t *params,
                                    const ucp_config_t *config,
                                    ucp_context_h *context_p)
{
    return ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, params, config,
                            context_p);
}

/** Destroys a context. Destroy its workers and unmap its memory first. */
void ucp_cleanup(ucp_context_h context_p);

/**
 * Queries the attributes of a context.
 *
 * @param attr  in: field_mask; out: what it names
 *
 * @return UCS_OK
 */
ucs_status_t ucp_context_query(ucp_context_h context_p,
                               ucp_context_attr_t *attr);

/** Prints the devices and transports of a context, for people. */
void ucp_context_print_info(const ucp_context_h context, FILE *stream);

/** @} */

/* =========================================================================
 * Worker
 * ====================================================================== */

/** @addtogroup UCP_WORKER
 *  @{ */

/** Members of ucp_worker_params_t. */
enum ucp_worker_params_field {
    /** ucp_worker_params_t::thread_mode */
    UCP_WORKER_PARAM_FIELD_THREAD_MODE  = UCS_BIT(0),
    /** ucp_worker_params_t::cpu_mask */
    UCP_WORKER_PARAM_FIELD_CPU_MASK     = UCS_BIT(1),
    /** ucp_worker_params_t::events */
    UCP_WORKER_PARAM_FIELD_EVENTS       = UCS_BIT(2),
    /** ucp_worker_params_t::user_data */
    UCP_WORKER_PARAM_FIELD_USER_DATA    = UCS_BIT(3),
    /** ucp_worker_params_t::event_fd */
    UCP_WORKER_PARAM_FIELD_EVENT_FD     = UCS_BIT(4),
    /** ucp_worker_params_t::flags */
    UCP_WORKER_PARAM_FIELD_FLAGS        = UCS_BIT(5),
    /** ucp_worker_params_t::name */
    UCP_WORKER_PARAM_FIELD_NAME         = UCS_BIT(6),
    /** ucp_worker_params_t::am_alignment */
    UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT = UCS_BIT(7),
    /** ucp_worker_params_t::client_id */
    UCP_WORKER_PARAM_FIELD_CLIENT_ID    = UCS_BIT(8)
};

/** Bits of ucp_worker_params_t::flags. */
typedef enum {
    /** Do not warn about requests left over at ucp_worker_destroy(). */
    UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK = UCS_BIT(0)
} ucp_worker_flags_t;

/** How a worker shall be. Everything is optional. */
typedef struct ucp_worker_params {
    /** Members given, bits of ucp_worker_params_field. */
    uint64_t          field_mask;
    /**
     * Who will use the worker; default UCS_THREAD_MODE_SINGLE. What it got is
     * ucp_worker_attr_t::thread_mode.
     */
    ucs_thread_mode_t thread_mode;
    /**
     * CPUs near which resources should lie; default: the system's choice. The
     * calling thread runs on them while the worker is made, so that memory and
     * threads of the worker's are theirs; of devices that are equally fast those
     * near them are selected. CPUs that the thread may not use are left out.
     */
    ucs_cpu_set_t     cpu_mask;
    /** Events to wake up for, of ucp_wakeup_event_t; default: all. */
    unsigned          events;
    /** Reported with events on @a event_fd. */
    void              *user_data;
    /**
     * A file descriptor of the caller that collects others, such as an
     * epoll(7) one, to which events go, @a user_data in epoll_data_t::ptr.
     * ucp_worker_get_efd() fails then. Not closed by the library.
     */
    int               event_fd;
    /** Bits of ucp_worker_flags_t. */
    uint64_t          flags;
    /**
     * For people and tools; copied, and perhaps changed to be unique. Default:
     * made up.
     */
    const char        *name;
    /**
     * Least alignment in bytes, a power of two, of the data pointer that
     * active-message handlers are given.
     */
    size_t            am_alignment;
    /**
     * Shown to servers by endpoints with UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID.
     */
    uint64_t          client_id;
} ucp_worker_params_t;

/** Members of ucp_worker_attr_t. */
enum ucp_worker_attr_field {
    /** ucp_worker_attr_t::thread_mode */
    UCP_WORKER_ATTR_FIELD_THREAD_MODE     = UCS_BIT(0),
    /** ucp_worker_attr_t::address and address_length */
    UCP_WORKER_ATTR_FIELD_ADDRESS         = UCS_BIT(1),
    /** ucp_worker_attr_t::address_flags, which is input */
    UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS   = UCS_BIT(2),
    /** ucp_worker_attr_t::max_am_header */
    UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER   = UCS_BIT(3),
    /** ucp_worker_attr_t::name */
    UCP_WORKER_ATTR_FIELD_NAME            = UCS_BIT(4),
    /** ucp_worker_attr_t::max_debug_string */
    UCP_WORKER_ATTR_FIELD_MAX_INFO_STRING = UCS_BIT(5)
};

/** Bits of ucp_worker_attr_t::address_flags. */
typedef enum {
    /**
     * Leave out what only reaches peers on the same machine: a shorter
     * address, for remote peers.
     */
    UCP_WORKER_ADDRESS_FLAG_NET_ONLY = UCS_BIT(0)
} ucp_worker_address_flags_t;

/** Attributes of a worker. */
typedef struct ucp_worker_attr {
    /** Members to fill, bits of ucp_worker_attr_field. */
    uint64_t          field_mask;
    /** Who may use the worker. */
    ucs_thread_mode_t thread_mode;
    /** Input: what the address shall hold, ucp_worker_address_flags_t. */
    uint32_t          address_flags;
    /**
     * How peers reach the worker; allocated, to be given back with
     * ucp_worker_release_address().
     */
    ucp_address_t     *address;
    /** Bytes in @a address. */
    size_t            address_length;
    /** Most bytes of header that ucp_am_send_nbx() takes. */
    size_t            max_am_header;
    /** Name of the worker, zero-terminated. */
    char              name[UCP_ENTITY_NAME_MAX];
    /** Most bytes that ucp_request_attr_t::debug_string can need. */
    size_t            max_debug_string;
} ucp_worker_attr_t;

/** Members of ucp_worker_address_attr_t. */
enum ucp_worker_address_attr_field {
    /** ucp_worker_address_attr_t::worker_uid */
    UCP_WORKER_ADDRESS_ATTR_FIELD_UID = UCS_BIT(0)
};

/** What an address says about its worker. */
typedef struct ucp_worker_address_attr {
    /** Members to fill, bits of ucp_worker_address_attr_field. */
    uint64_t field_mask;
    /** Unlike that of any other worker. */
    uint64_t worker_uid;
} ucp_worker_address_attr_t;

/**
 * Creates a worker and opens its network resources. The kernel places the
 * worker's memory near the calling thread.
 *
 * @param context   the context to make it in
 * @param params    how it shall be
 * @param worker_p  where the worker goes; ucp_worker_destroy() ends it
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for unknown parameters;
 *         UCS_ERR_NO_MEMORY; or the error of the transport that cannot be
 *         opened
 */
ucs_status_t ucp_worker_create(ucp_context_h context,
                               const ucp_worker_params_t *params,
                               ucp_worker_h *worker_p);

/**
 * Destroys a worker and everything that belongs to it. Close its endpoints
 * first, or their peers see an error. The caller excludes any other use of the
 * worker.
 */
void ucp_worker_destroy(ucp_worker_h worker);

/**
 * Queries the attributes of a worker, its address among them.
 *
 * @param attr  in: field_mask and perhaps address_flags; out: the rest
 *
 * @return UCS_OK; UCS_ERR_NO_MEMORY if there is no memory for the address
 */
ucs_status_t ucp_worker_query(ucp_worker_h worker, ucp_worker_attr_t *attr);

/** Prints a worker's transports, protocols and thresholds, for people. */
void ucp_worker_print_info(ucp_worker_h worker, FILE *stream);

/** Releases an address that a query of the same worker returned. */
void ucp_worker_release_address(ucp_worker_h worker, ucp_address_t *address);

/**
 * Queries the attributes of an address, of a local or a remote worker.
 *
 * @param attr  in: field_mask; out: what it names
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM if the bytes are no worker address;
 *         UCS_ERR_NO_MEMORY
 */
ucs_status_t ucp_worker_address_query(ucp_address_t *address,
                                      ucp_worker_address_attr_t *attr);

/**
 * Moves everything of a worker forward: sends what is queued, takes in what
 * arrived, runs callbacks. Does not wait. Nothing else makes progress, other
 * than the blocking functions, so call it until what one waits for is there;
 * never from a callback.
 *
 * @return non-zero if something happened, in which case more may be waiting
 */
unsigned ucp_worker_progress(ucp_worker_h worker);

/** @} */

/* =========================================================================
 * Waiting
 *
 * To sleep instead of polling; needs UCP_FEATURE_WAKEUP. Either block in
 * ucp_worker_wait(), or watch a file descriptor along with others:
 *
 *     while (!done) {
 *         if (ucp_worker_progress(worker) != 0) {
 *             continue;
 *         }
 *         status = ucp_worker_arm(worker);
 *         if (status == UCS_ERR_BUSY) {
 *             continue;                 // more came in: progress again
 *         } else if (status != UCS_OK) {
 *             return status;
 *         }
 *         poll(&pollfd, 1, -1);         // pollfd.fd of ucp_worker_get_efd()
 *     }
 * ====================================================================== */

/** @addtogroup UCP_WAKEUP
 *  @{ */

/**
 * Gives a file descriptor that becomes readable when an armed worker has
 * something to do. It belongs to the worker: watch it with poll(2) and the
 * like, do not read from or close it.
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM without UCP_FEATURE_WAKEUP;
 *         UCS_ERR_UNSUPPORTED if the worker was created with an event_fd
 */
ucs_status_t ucp_worker_get_efd(ucp_worker_h worker, int *fd);

/**
 * Asks for a signal on the file descriptor at the next event. Needed before
 * each wait.
 *
 * @return UCS_OK        the descriptor will tell of the next event
 * @return UCS_ERR_BUSY  events are pending: not armed, make progress first
 * @return other errors  the worker cannot be waited for
 */
ucs_status_t ucp_worker_arm(ucp_worker_h worker);

/**
 * Blocks until there is an event or ucp_worker_signal() is called. Only new
 * events end the wait, so call ucp_worker_progress() until it returns 0 before.
 * This function makes no progress itself.
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM without UCP_FEATURE_WAKEUP;
 *         UCS_ERR_IO_ERROR if the kernel's wait fails
 */
ucs_status_t ucp_worker_wait(ucp_worker_h worker);

/**
 * Blocks until memory is written to or there is an event; may return early.
 * For loops that watch a variable: lets the CPU rest where it can.
 *
 * @param worker   the worker whose events count
 * @param address  local memory that somebody will write to
 */
void ucp_worker_wait_mem(ucp_worker_h worker, void *address);

/**
 * Ends a wait: ucp_worker_wait() returns, and the file descriptor becomes
 * readable. If no thread waits, the next wait ends at once. Any thread may call
 * it at any time, whatever the worker's thread mode.
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM without UCP_FEATURE_WAKEUP
 */
ucs_status_t ucp_worker_signal(ucp_worker_h worker);

/** @} */

/* =========================================================================
 * Operations: what their parameters and requests have in common
 * ====================================================================== */

/** @addtogroup UCP_COMM
 *  @{ */

/**
 * Members of ucp_request_param_t, and from bit 16 on wishes about how the
 * operation is done.
 */
typedef enum {
    /** ucp_request_param_t::request */
    UCP_OP_ATTR_FIELD_REQUEST       = UCS_BIT(0),
    /** ucp_request_param_t::cb */
    UCP_OP_ATTR_FIELD_CALLBACK      = UCS_BIT(1),
    /** ucp_request_param_t::user_data */
    UCP_OP_ATTR_FIELD_USER_DATA     = UCS_BIT(2),
    /** ucp_request_param_t::datatype */
    UCP_OP_ATTR_FIELD_DATATYPE      = UCS_BIT(3),
    /** ucp_request_param_t::flags */
    UCP_OP_ATTR_FIELD_FLAGS         = UCS_BIT(4),
    /** ucp_request_param_t::reply_buffer */
    UCP_OP_ATTR_FIELD_REPLY_BUFFER  = UCS_BIT(5),
    /** ucp_request_param_t::memory_type */
    UCP_OP_ATTR_FIELD_MEMORY_TYPE   = UCS_BIT(6),
    /** ucp_request_param_t::recv_info */
    UCP_OP_ATTR_FIELD_RECV_INFO     = UCS_BIT(7),
    /** ucp_request_param_t::memh */
    UCP_OP_ATTR_FIELD_MEMH          = UCS_BIT(8),

    /**
     * Never return NULL: give a request even if complete. A callback may then
     * run before the function returns.
     */
    UCP_OP_ATTR_FLAG_NO_IMM_CMPL    = UCS_BIT(16),
    /**
     * Complete here early, even if the data arrives later; keeps off
     * protocols that wait for the peer before the buffer is free.
     */
    UCP_OP_ATTR_FLAG_FAST_CMPL      = UCS_BIT(17),
    /** Complete at once or fail (UCS_ERR_NO_RESOURCE); no request. */
    UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL = UCS_BIT(18),
    /**
     * One of many operations in flight: prefer throughput to the time of this
     * one. The protocols of tagged, active and stream sends are selected by the
     * time that they keep both ends busy, without the latency. Excludes
     * FAST_CMPL, which prevails.
     */
    UCP_OP_ATTR_FLAG_MULTI_SEND     = UCS_BIT(19)
} ucp_op_attr_t;

/**
 * The optional arguments of an operation. Clear op_attr_mask and set what is
 * wanted.
 */
typedef struct {
    /** Members given and wishes, bits of ucp_op_attr_t. */
    uint32_t          op_attr_mask;
    /** Flags of the particular operation; its description names them. */
    uint32_t          flags;
    /**
     * Memory for the request: points to the end of at least
     * ucp_context_attr_t::request_size bytes, which the caller keeps until
     * completion. This same pointer is then returned as the request, and must
     * not be passed to ucp_request_free().
     */
    void              *request;
    /** Runs on completion if a request was returned. */
    union {
        /** For sends, put, get, atomics, flush and close. */
        ucp_send_nbx_callback_t         send;
        /** For tagged receives. */
        ucp_tag_recv_nbx_callback_t     recv;
        /** For stream receives. */
        ucp_stream_recv_nbx_callback_t  recv_stream;
        /** For ucp_am_recv_data_nbx(). */
        ucp_am_recv_data_nbx_callback_t recv_am;
    } cb;
    /** Layout of an element; default ucp_dt_make_contig(1): bytes. */
    ucp_datatype_t    datatype;
    /** Passed to the callback. */
    void              *user_data;
    /** Where an atomic operation puts the old remote value. */
    void              *reply_buffer;
    /** Where the buffer lies, sparing the library the search; a hint. */
    ucs_memory_type_t memory_type;
    /**
     * Where a receive that completes at once (returns NULL) says what it got.
     * Not for stream receives, which have an argument for it.
     */
    union {
        /** Bytes received, for ucp_am_recv_data_nbx(). */
        size_t              *length;
        /** The message, for tagged receives. */
        ucp_tag_recv_info_t *tag_info;
    } recv_info;
    /**
     * The mapped segment in which the buffer lies, sparing the library its
     * registration.
     */
    ucp_mem_h         memh;
} ucp_request_param_t;

/** Members of ucp_request_attr_t. */
typedef enum ucp_req_attr_field {
    /** ucp_request_attr_t::debug_string */
    UCP_REQUEST_ATTR_FIELD_INFO_STRING      = UCS_BIT(0),
    /** ucp_request_attr_t::debug_string_size */
    UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE = UCS_BIT(1),
    /** ucp_request_attr_t::status */
    UCP_REQUEST_ATTR_FIELD_STATUS           = UCS_BIT(2),
    /** ucp_request_attr_t::mem_type */
    UCP_REQUEST_ATTR_FIELD_MEM_TYPE         = UCS_BIT(3)
} ucp_req_attr_field;

/** How a request is. */
typedef struct {
    /** Members given or to fill, bits of ucp_req_attr_field. */
    uint64_t          field_mask;
    /**
     * The caller's space for a description of the chosen protocol and
     * transports, for people.
     */
    char              *debug_string;
    /**
     * Input: bytes of that space; a longer text is cut off.
     * ucp_worker_attr_t::max_debug_string is always enough.
     */
    size_t            debug_string_size;
    /** As ucp_request_check_status() returns it. */
    ucs_status_t      status;
    /** Where the buffer lies, as given or found out. */
    ucs_memory_type_t mem_type;
} ucp_request_attr_t;

/**
 * Queries the attributes of a request.
 *
 * @param attr  in: field_mask and the space for the string; out: the rest
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM if the text is asked for without its
 *         size
 */
ucs_status_t ucp_request_query(void *request, ucp_request_attr_t *attr);

/**
 * Tells whether a request has completed. Makes no progress. Works for any
 * operation.
 *
 * @return UCS_INPROGRESS while under way, else how the operation ended
 */
ucs_status_t ucp_request_check_status(void *request);

/**
 * Like ucp_request_check_status(), for tagged receives.
 *
 * @param info  filled with the message if complete
 *
 * @return The operation's status, or UCS_INPROGRESS; @a info is filled when the
 *         receive is complete
 */
ucs_status_t ucp_tag_recv_request_test(void *request,
                                       ucp_tag_recv_info_t *info);

/**
 * Like ucp_request_check_status(), for stream receives.
 *
 * @param length_p  if UCS_OK is returned: bytes received, a whole number of
 *                  elements
 *
 * @return The operation's status, or UCS_INPROGRESS; @a length_p is set when
 *         the receive is complete
 */
ucs_status_t ucp_stream_recv_request_test(void *request, size_t *length_p);

/**
 * Tries to end an operation. Either it is ended, and completes with
 * UCS_ERR_CANCELED, or it was too late, and it completes as if nothing had
 * been asked. In both cases the callback runs (perhaps from within this call)
 * and the request is freed as usual.
 *
 * @param worker   the worker of the operation
 * @param request  the operation
 */
void ucp_request_cancel(ucp_worker_h worker, void *request);

/**
 * Releases a request. One that is under way completes by itself, but its
 * callback is not called; its buffers stay in use until then.
 */
void ucp_request_free(void *request);

/** @} */

/* =========================================================================
 * Listener: connections by socket address, the server's side
 * ====================================================================== */

/** @addtogroup UCP_WORKER
 *  @{ */

/** Members of ucp_listener_params_t. */
enum ucp_listener_params_field {
    /** ucp_listener_params_t::sockaddr */
    UCP_LISTENER_PARAM_FIELD_SOCK_ADDR      = UCS_BIT(0),
    /** ucp_listener_params_t::accept_handler */
    UCP_LISTENER_PARAM_FIELD_ACCEPT_HANDLER = UCS_BIT(1),
    /** ucp_listener_params_t::conn_handler */
    UCP_LISTENER_PARAM_FIELD_CONN_HANDLER   = UCS_BIT(2)
};

/** How a listener shall be: the address and one of the handlers. */
typedef struct ucp_listener_params {
    /** Members given, bits of ucp_listener_params_field. */
    uint64_t                      field_mask;
    /** Where to listen; port 0 picks a free one. Mandatory. */
    ucs_sock_addr_t               sockaddr;
    /** Runs for each connection made; deprecated. */
    ucp_listener_accept_handler_t accept_handler;
    /** Runs for each client that asks; it accepts or rejects. */
    ucp_listener_conn_handler_t   conn_handler;
} ucp_listener_params_t;

/** Members of ucp_listener_attr_t. */
enum ucp_listener_attr_field {
    /** ucp_listener_attr_t::sockaddr */
    UCP_LISTENER_ATTR_FIELD_SOCKADDR = UCS_BIT(0)
};

/** How a listener is. */
typedef struct ucp_listener_attr {
    /** Members to fill, bits of ucp_listener_attr_field. */
    uint64_t                field_mask;
    /** Where it listens, with the port that was picked. */
    struct sockaddr_storage sockaddr;
} ucp_listener_attr_t;

/** Members of ucp_conn_request_attr_t. */
enum ucp_conn_request_attr_field {
    /** ucp_conn_request_attr_t::client_address */
    UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR = UCS_BIT(0),
    /** ucp_conn_request_attr_t::client_id */
    UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ID   = UCS_BIT(1)
};

/** Who asks for a connection. */
typedef struct ucp_conn_request_attr {
    /** Members to fill, bits of ucp_conn_request_attr_field. */
    uint64_t                field_mask;
    /** The client's socket address. */
    struct sockaddr_storage client_address;
    /**
     * The client's ucp_worker_params_t::client_id, if its endpoint has
     * UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID.
     */
    uint64_t                client_id;
} ucp_conn_request_attr_t;

/**
 * Starts to listen. Clients are served by progress of the worker.
 *
 * @param worker      the worker to listen on
 * @param params      where, and what to call
 * @param listener_p  where the listener goes; ucp_listener_destroy() ends it
 *
 * @return UCS_OK; UCS_ERR_BUSY if the address is taken
 */
ucs_status_t ucp_listener_create(ucp_worker_h worker,
                                 const ucp_listener_params_t *params,
                                 ucp_listener_h *listener_p);

/**
 * Stops listening. Endpoints of accepted clients stay. Connection requests
 * without an answer are rejected, and their handles are no longer valid.
 */
void ucp_listener_destroy(ucp_listener_h listener);

/**
 * Queries the attributes of a listener.
 *
 * @param attr  in: field_mask; out: what it names
 *
 * @return UCS_OK; or the error of the connection manager
 */
ucs_status_t ucp_listener_query(ucp_listener_h listener,
                                ucp_listener_attr_t *attr);

/**
 * Queries the attributes of a connection request.
 *
 * @param attr  in: field_mask; out: what it names
 *
 * @return UCS_OK
 */
ucs_status_t ucp_conn_request_query(ucp_conn_request_h conn_request,
                                    ucp_conn_request_attr_t *attr);

/**
 * Rejects a client; its error handler runs with UCS_ERR_REJECTED.
 *
 * @param listener      the listener that the client came to
 * @param conn_request  the client; must not be used afterwards
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM if the request is not one of this
 *         listener
 */
ucs_status_t ucp_listener_reject(ucp_listener_h listener,
                                 ucp_conn_request_h conn_request);

/** @} */

/* =========================================================================
 * Endpoint
 * ====================================================================== */

/** @addtogroup UCP_ENDPOINT
 *  @{ */

/** Members of ucp_ep_params_t. */
enum ucp_ep_params_field {
    /** ucp_ep_params_t::address */
    UCP_EP_PARAM_FIELD_REMOTE_ADDRESS    = UCS_BIT(0),
    /** ucp_ep_params_t::err_mode */
    UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE = UCS_BIT(1),
    /** ucp_ep_params_t::err_handler */
    UCP_EP_PARAM_FIELD_ERR_HANDLER       = UCS_BIT(2),
    /** ucp_ep_params_t::user_data */
    UCP_EP_PARAM_FIELD_USER_DATA         = UCS_BIT(3),
    /** ucp_ep_params_t::sockaddr */
    UCP_EP_PARAM_FIELD_SOCK_ADDR         = UCS_BIT(4),
    /** ucp_ep_params_t::flags */
    UCP_EP_PARAM_FIELD_FLAGS             = UCS_BIT(5),
    /** ucp_ep_params_t::conn_request */
    UCP_EP_PARAM_FIELD_CONN_REQUEST      = UCS_BIT(6),
    /** ucp_ep_params_t::name */
    UCP_EP_PARAM_FIELD_NAME              = UCS_BIT(7),
    /** ucp_ep_params_t::local_sockaddr */
    UCP_EP_PARAM_FIELD_LOCAL_SOCK_ADDR   = UCS_BIT(8)
};

/** Bits of ucp_ep_params_t::flags. */
enum ucp_ep_params_flags_field {
    /** Connect to a listener: ucp_ep_params_t::sockaddr is the peer. */
    UCP_EP_PARAMS_FLAGS_CLIENT_SERVER  = UCS_BIT(0),
    /**
     * If the address is that of the endpoint's own worker, connect to the next
     * endpoint created in the same way instead of to itself. Matters to what
     * names an endpoint at the peer, such as streams.
     */
    UCP_EP_PARAMS_FLAGS_NO_LOOPBACK    = UCS_BIT(1),
    /** Show the server ucp_worker_params_t::client_id. */
    UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID = UCS_BIT(2)
};

/**
 * How an endpoint shall be. Exactly one of @a address, @a sockaddr and
 * @a conn_request says whom it connects to.
 */
struct ucp_ep_params {
    /** Members given, bits of ucp_ep_params_field. */
    uint64_t                field_mask;
    /** The peer's worker address, copied. */
    const ucp_address_t     *address;
    /** Default UCP_ERR_HANDLING_MODE_NONE. */
    ucp_err_handling_mode_t err_mode;
    /** Runs when the connection is lost; see @a err_mode. */
    ucp_err_handler_t       err_handler;
    /**
     * Given to the error handler, in place of its own argument, and by
     * ucp_stream_worker_poll() and ucp_ep_query().
     */
    void                    *user_data;
    /** Bits of ucp_ep_params_flags_field. */
    unsigned                flags;
    /** Where the peer listens; needs UCP_EP_PARAMS_FLAGS_CLIENT_SERVER. */
    ucs_sock_addr_t         sockaddr;
    /** The client to accept; used up, even on failure. */
    ucp_conn_request_h      conn_request;
    /**
     * For people and tools; copied, and perhaps changed to be unique. Default:
     * made up.
     */
    const char              *name;
    /** Where to connect from, together with @a sockaddr; chooses a device. */
    ucs_sock_addr_t         local_sockaddr;
};

/** Bits of ucp_request_param_t::flags for ucp_ep_close_nbx(). */
typedef enum {
    /**
     * At once, without asking the peer; operations in flight end with
     * UCS_ERR_CANCELED. Both sides should use UCP_ERR_HANDLING_MODE_PEER, as
     * the peer sees the connection break. Excludes
     * UCP_OP_ATTR_FLAG_NO_IMM_CMPL.
     */
    UCP_EP_CLOSE_FLAG_FORCE = UCS_BIT(0)
} ucp_ep_close_flags_t;

/** Members of ucp_ep_attr_t. */
enum ucp_ep_attr_field {
    /** ucp_ep_attr_t::name */
    UCP_EP_ATTR_FIELD_NAME            = UCS_BIT(0),
    /** ucp_ep_attr_t::local_sockaddr */
    UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR  = UCS_BIT(1),
    /** ucp_ep_attr_t::remote_sockaddr */
    UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR = UCS_BIT(2),
    /** ucp_ep_attr_t::transports */
    UCP_EP_ATTR_FIELD_TRANSPORTS      = UCS_BIT(3),
    /** ucp_ep_attr_t::user_data */
    UCP_EP_ATTR_FIELD_USER_DATA       = UCS_BIT(4)
};

/**
 * A transport that an endpoint uses and the device that it runs on. The
 * strings are zero-terminated and last until the endpoint is closed. Grows at
 * the end only; see ucp_transports_t::entry_size.
 */
typedef struct {
    const char *transport_name; /**< for example "tcp" */
    const char *device_name;    /**< for example "eth0" */
} ucp_transport_entry_t;

/** The caller's space for a list of transports. */
typedef struct {
    /** An array of the caller's. */
    ucp_transport_entry_t *entries;
    /** In: how many entries fit; out: how many were filled. */
    unsigned              num_entries;
    /** In: sizeof(ucp_transport_entry_t), as the caller knows it. */
    size_t                entry_size;
} ucp_transports_t;

/** How an endpoint is. */
typedef struct ucp_ep_attr {
    /** Members to fill, bits of ucp_ep_attr_field. */
    uint64_t                field_mask;
    /** Name of the endpoint, zero-terminated. */
    char                    name[UCP_ENTITY_NAME_MAX];
    /** This end; exists only if connected by socket address. */
    struct sockaddr_storage local_sockaddr;
    /** The peer's end; exists only if connected by socket address. */
    struct sockaddr_storage remote_sockaddr;
    /** What the endpoint communicates through; the caller sets it up. */
    ucp_transports_t        transports;
    /** ucp_ep_params_t::user_data */
    void                    *user_data;
} ucp_ep_attr_t;

/** Members of ucp_ep_evaluate_perf_param_t. */
typedef enum ucp_ep_perf_param_field {
    /** ucp_ep_evaluate_perf_param_t::message_size */
    UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE = UCS_BIT(0)
} ucp_ep_perf_param_field_t;

/** Members of ucp_ep_evaluate_perf_attr_t. */
typedef enum ucp_ep_perf_attr_field {
    /** ucp_ep_evaluate_perf_attr_t::estimated_time */
    UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME = UCS_BIT(0)
} ucp_ep_perf_attr_field_t;

/** What to estimate. */
typedef struct {
    /** Members given, bits of ucp_ep_perf_param_field_t. */
    uint64_t field_mask;
    /** Bytes of the message. Mandatory. */
    size_t   message_size;
} ucp_ep_evaluate_perf_param_t;

/** What was estimated. */
typedef struct {
    /** Members to fill, bits of ucp_ep_perf_attr_field_t. */
    uint64_t field_mask;
    /** Seconds to send the message. */
    double   estimated_time;
} ucp_ep_evaluate_perf_attr_t;

/**
 * Makes an endpoint and begins to connect it. Returns without waiting for the
 * peer; operations may start at once and are queued until connected. What goes
 * wrong later reaches the error handler.
 *
 * @param worker  the worker that the endpoint belongs to
 * @param params  the peer, and how the endpoint shall be
 * @param ep_p    where the endpoint goes; ucp_ep_close_nbx() ends it
 *
 * @return UCS_OK; UCS_ERR_UNREACHABLE if no transport leads to the peer;
 *         UCS_ERR_INVALID_ADDR if the address is damaged
 */
ucs_status_t ucp_ep_create(ucp_worker_h worker, const ucp_ep_params_t *params,
                           ucp_ep_h *ep_p);

/**
 * Closes an endpoint: by default after everything issued on it has completed,
 * or at once with UCP_EP_CLOSE_FLAG_FORCE. The endpoint must not be used
 * afterwards, whatever is returned.
 *
 * @param param  flags: ucp_ep_close_flags_t; callback: cb.send
 *
 * @return NULL if the operation is complete, a request if it is under way, or
 *         an error as a pointer. An error says how the connection ended; the
 *         endpoint is closed all the same
 */
ucs_status_ptr_t ucp_ep_close_nbx(ucp_ep_h ep,
                                  const ucp_request_param_t *param);

/**
 * Tells how an endpoint is.
 *
 * @param attr  in: field_mask and the space for transports; out: the rest
 *
 * @return UCS_OK; UCS_ERR_NOT_CONNECTED if a socket address is asked for and
 *         the endpoint has none
 */
ucs_status_t ucp_ep_query(ucp_ep_h ep, ucp_ep_attr_t *attr);

/**
 * Estimates the duration of an operation on an endpoint.
 *
 * @param param  what to estimate
 * @param attr   in: field_mask; out: what it names
 *
 * @return UCS_OK; UCS_ERR_NOT_CONNECTED while a client's endpoint is not
 *         connected yet; UCS_ERR_INVALID_PARAM without a size or a result
 */
ucs_status_t ucp_ep_evaluate_perf(ucp_ep_h ep,
                                  const ucp_ep_evaluate_perf_param_t *param,
                                  ucp_ep_evaluate_perf_attr_t *attr);

/** Prints an endpoint's transports and thresholds, for people. */
void ucp_ep_print_info(ucp_ep_h ep, FILE *stream);

/** @} */

/* =========================================================================
 * Datatypes
 * ====================================================================== */

/** @addtogroup UCP_DATATYPE
 *  @{ */

/** The kinds of datatype: the low bits of a ucp_datatype_t. */
enum ucp_dt_type {
    /** Elements one after the other. */
    UCP_DATATYPE_CONTIG     = 0,
    /** Elements at a fixed distance; reserved. */
    UCP_DATATYPE_STRIDED    = 1,
    /** A list of buffers, ucp_dt_iov_t. */
    UCP_DATATYPE_IOV        = 2,
    /** Packed and unpacked by functions of the application. */
    UCP_DATATYPE_GENERIC    = 7,
    /** How many low bits tell the kind. */
    UCP_DATATYPE_SHIFT      = 3,
    /** Those bits. */
    UCP_DATATYPE_CLASS_MASK = UCS_MASK(UCP_DATATYPE_SHIFT)
};

/**
 * The datatype of a plain array with elements of @a _elem_size bytes. A
 * message that does not fill the buffer fills whole elements.
 */
#define ucp_dt_make_contig(_elem_size) \
    ((((ucp_datatype_t)(_elem_size)) << UCP_DATATYPE_SHIFT) | \
     UCP_DATATYPE_CONTIG)

/**
 * The datatype of a scattered buffer: the `buffer` of an operation is an array
 * of ucp_dt_iov_t and `count` its number of entries. A message that does not
 * fill it may end anywhere.
 */
#define ucp_dt_make_iov() ((ucp_datatype_t)UCP_DATATYPE_IOV)

/**
 * One piece of a scattered buffer. The array has to last until the operation
 * completes.
 */
typedef struct ucp_dt_iov {
    /** Not looked at if @a length is 0. */
    void   *buffer;
    /** Bytes. */
    size_t length;
} ucp_dt_iov_t;

/**
 * The functions of a generic datatype. For each operation one state is made by
 * start_pack or start_unpack, used, and ended by finish. They run from within
 * operations and progress, and start none themselves.
 */
typedef struct ucp_generic_dt_ops {
    /**
     * Begins to send.
     *
     * @param context  as given to ucp_dt_create_generic()
     * @param buffer   the buffer of the operation
     * @param count    its number of elements
     * @return the state for the functions below
     */
    void *(*start_pack)(void *context, const void *buffer, size_t count);

    /** Begins to receive; as start_pack. */
    void *(*start_unpack)(void *context, void *buffer, size_t count);

    /** Gives the bytes that all the elements make when packed. */
    size_t (*packed_size)(void *state);

    /**
     * Packs a part.
     *
     * @param state       of start_pack
     * @param offset      where the part begins in the packed data, in bytes
     * @param dest        where it goes
     * @param max_length  most bytes to write
     * @return bytes written, no more than @a max_length
     */
    size_t (*pack)(void *state, size_t offset, void *dest, size_t max_length);

    /**
     * Unpacks a part; parts may come in any order.
     *
     * @param state   of start_unpack
     * @param offset  where the part begins in the packed data, in bytes
     * @param src     the part
     * @param length  its bytes
     * @return UCS_OK, or the error with which the receive shall complete
     */
    ucs_status_t (*unpack)(void *state, size_t offset, const void *src,
                           size_t length);

    /** Ends a state. */
    void (*finish)(void *state);
} ucp_generic_dt_ops_t;

/** Members of ucp_datatype_attr_t. */
enum ucp_datatype_attr_field {
    /** ucp_datatype_attr_t::packed_size, to be filled */
    UCP_DATATYPE_ATTR_FIELD_PACKED_SIZE = UCS_BIT(0),
    /** ucp_datatype_attr_t::buffer, given */
    UCP_DATATYPE_ATTR_FIELD_BUFFER      = UCS_BIT(1),
    /** ucp_datatype_attr_t::count, given */
    UCP_DATATYPE_ATTR_FIELD_COUNT       = UCS_BIT(2)
};

/** How a datatype is, for a certain buffer. */
typedef struct ucp_datatype_attr {
    /** Members given or to fill, bits of ucp_datatype_attr_field. */
    uint64_t   field_mask;
    /** Out: bytes of the packed data. */
    size_t     packed_size;
    /** In: the buffer, for datatypes that depend on it; default NULL. */
    const void *buffer;
    /** In: its number of elements; default 1. */
    size_t     count;
} ucp_datatype_attr_t;

/**
 * Creates a datatype from a set of functions. Any worker may use it.
 *
 * @param ops         the functions, copied
 * @param context     passed to start_pack and start_unpack
 * @param datatype_p  where the datatype goes; ucp_dt_destroy() ends it
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM if a function is missing;
 *         UCS_ERR_NO_MEMORY
 */
ucs_status_t ucp_dt_create_generic(const ucp_generic_dt_ops_t *ops,
                                   void *context, ucp_datatype_t *datatype_p);

/**
 * Destroys a datatype, after all operations with it have completed. Generic
 * datatypes need it; for others it does nothing.
 */
void ucp_dt_destroy(ucp_datatype_t datatype);

/**
 * Queries the attributes of a datatype.
 *
 * @param attr  in: field_mask and the buffer; out: the size
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for an unknown datatype
 */
ucs_status_t ucp_dt_query(ucp_datatype_t datatype, ucp_datatype_attr_t *attr);

/** @} */

/* =========================================================================
 * Tagged messages (UCP_FEATURE_TAG)
 *
 * A message matches a receive if (message tag ^ receive tag) & mask is 0.
 * Messages of one endpoint are matched in the order in which they were sent,
 * receives in the order in which they were posted.
 * ====================================================================== */

/** @addtogroup UCP_COMM
 *  @{ */

/**
 * Sends a message. Completes when @a buffer may be used again.
 *
 * @param ep      where to
 * @param buffer  the data
 * @param count   number of elements
 * @param tag     what the receiver chooses it by
 * @param param   callback: cb.send
 *
 * @return NULL if the operation is complete, a request if it is under way, or
 *         an error as a pointer: UCS_ERR_NO_RESOURCE if
 *         UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL is set and the message cannot leave
 *         at once
 */
ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h ep, const void *buffer, size_t count,
                                  ucp_tag_t tag,
                                  const ucp_request_param_t *param);

/**
 * Like ucp_tag_send_nbx(), but completes only after a receive has matched the
 * message, which may still be in transfer. Never returns NULL. Portable
 * programs are prepared for UCS_ERR_UNSUPPORTED on endpoints with
 * UCP_ERR_HANDLING_MODE_PEER.
 *
 * @return A request, or an error as a pointer: UCS_ERR_NO_RESOURCE with
 *         UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL
 */
ucs_status_ptr_t ucp_tag_send_sync_nbx(ucp_ep_h ep, const void *buffer,
                                       size_t count, ucp_tag_t tag,
                                       const ucp_request_param_t *param);

/**
 * Receives a message from any endpoint of the worker. A message longer than
 * the buffer ends in UCS_ERR_MESSAGE_TRUNCATED.
 *
 * @param worker    the receiver
 * @param buffer    where to put the data
 * @param count     number of elements that fit
 * @param tag       the tag to match
 * @param tag_mask  the bits of the tag that count; 0 matches any message
 * @param param     callback: cb.recv; recv_info.tag_info if NULL is returned
 *
 * @return NULL if the operation is complete, a request if it is under way, or
 *         an error as a pointer: UCS_ERR_NO_RESOURCE if
 *         UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL is set and no message has arrived
 */
ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void *buffer,
                                  size_t count, ucp_tag_t tag,
                                  ucp_tag_t tag_mask,
                                  const ucp_request_param_t *param);

/**
 * Looks whether a message has come in, in whole or in part, that no receive
 * has taken. Makes no progress, so call ucp_worker_progress() in between.
 *
 * @param worker    the receiver
 * @param tag       the tag to match
 * @param tag_mask  the bits of the tag that count
 * @param remove    1: take the message; it must then be received with
 *                  ucp_tag_msg_recv_nbx(). 0: only look; the result is good
 *                  for nothing but a comparison with NULL.
 * @param info      filled if there is a message
 *
 * @return NULL if there is none
 */
ucp_tag_message_h ucp_tag_probe_nb(ucp_worker_h worker, ucp_tag_t tag,
                                   ucp_tag_t tag_mask, int remove,
                                   ucp_tag_recv_info_t *info);

/**
 * Receives a message that ucp_tag_probe_nb() took.
 *
 * @param message  the message; must not be used afterwards. The rest as in
 *                 ucp_tag_recv_nbx().
 *
 * @return NULL if the operation is complete, a request if it is under way, or
 *         an error as a pointer
 */
ucs_status_ptr_t ucp_tag_msg_recv_nbx(ucp_worker_h worker, void *buffer,
                                      size_t count, ucp_tag_message_h message,
                                      const ucp_request_param_t *param);

/** @} */

/* =========================================================================
 * Active messages (UCP_FEATURE_AM)
 *
 * A message runs the handler that the receiving worker has set for its id.
 * ====================================================================== */

/** @addtogroup UCP_COMM
 *  @{ */

/** Bits of ucp_am_handler_param_t::flags. */
enum ucp_am_cb_flags {
    /** One call for each message, with all of it. */
    UCP_AM_FLAG_WHOLE_MSG       = UCS_BIT(0),
    /**
     * The handler may always keep the data: every call that brings data has
     * UCP_AM_RECV_ATTR_FLAG_DATA set.
     */
    UCP_AM_FLAG_PERSISTENT_DATA = UCS_BIT(1)
};

/** Bits of ucp_request_param_t::flags for ucp_am_send_nbx(). */
enum ucp_send_am_flags {
    /** Give the handler an endpoint that leads back. */
    UCP_AM_SEND_FLAG_REPLY       = UCS_BIT(0),
    /** Send the data along, whatever its size. Excludes RNDV. */
    UCP_AM_SEND_FLAG_EAGER       = UCS_BIT(1),
    /** Let the receiver fetch the data, whatever its size. */
    UCP_AM_SEND_FLAG_RNDV        = UCS_BIT(2),
    /** The header may go when the call returns; copied if need be. */
    UCP_AM_SEND_FLAG_COPY_HEADER = UCS_BIT(3),
    /** Former name of UCP_AM_SEND_FLAG_REPLY. */
    UCP_AM_SEND_REPLY            = UCP_AM_SEND_FLAG_REPLY
};

/**
 * Members of ucp_am_recv_param_t, and from bit 16 on what the data is. At most
 * one of the two flags is set.
 */
typedef enum {
    /** ucp_am_recv_param_t::reply_ep */
    UCP_AM_RECV_ATTR_FIELD_REPLY_EP = UCS_BIT(0),
    /** The handler may keep the data by returning UCS_INPROGRESS. */
    UCP_AM_RECV_ATTR_FLAG_DATA      = UCS_BIT(16),
    /** Not data but a descriptor, for ucp_am_recv_data_nbx(). */
    UCP_AM_RECV_ATTR_FLAG_RNDV      = UCS_BIT(17)
} ucp_am_recv_attr_t;

/** Members of ucp_am_handler_param_t. */
enum ucp_am_handler_param_field {
    /** ucp_am_handler_param_t::id */
    UCP_AM_HANDLER_PARAM_FIELD_ID    = UCS_BIT(0),
    /** ucp_am_handler_param_t::flags */
    UCP_AM_HANDLER_PARAM_FIELD_FLAGS = UCS_BIT(1),
    /** ucp_am_handler_param_t::cb */
    UCP_AM_HANDLER_PARAM_FIELD_CB    = UCS_BIT(2),
    /** ucp_am_handler_param_t::arg */
    UCP_AM_HANDLER_PARAM_FIELD_ARG   = UCS_BIT(3)
};

/** A handler for active messages. The id and the function are mandatory. */
typedef struct ucp_am_handler_param {
    /** Members given, bits of ucp_am_handler_param_field. */
    uint64_t               field_mask;
    /** The id of the messages, 0 to UINT16_MAX. */
    unsigned               id;
    /** Bits of ucp_am_cb_flags. */
    uint32_t               flags;
    /** The function; NULL removes the handler. */
    ucp_am_recv_callback_t cb;
    /** Passed to @a cb. */
    void                   *arg;
} ucp_am_handler_param_t;

/**
 * Sets the handler of active messages with an id. Messages that arrive before
 * are dropped, so set handlers before peers know the worker. Does not serve
 * messages of the deprecated ucp_am_send_nb().
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM without UCP_FEATURE_AM, without an id,
 *         or for unknown flags; UCS_ERR_NO_MEMORY
 */
ucs_status_t ucp_worker_set_am_recv_handler(
        ucp_worker_h worker, const ucp_am_handler_param_t *param);

/**
 * Sends an active message. Completes when @a buffer, and the header unless it
 * is copied, may be used again. A small message has the lowest latency if it is
 * sent as a header alone.
 *
 * @param ep             where to
 * @param id             which handler, 0 to UINT16_MAX
 * @param header         bytes for the handler; NULL if @a header_length is 0
 * @param header_length  how many, up to ucp_worker_attr_t::max_am_header
 * @param buffer         the data
 * @param count          number of elements
 * @param param          flags: ucp_send_am_flags; callback: cb.send
 *
 * @return NULL if the operation is complete, a request if it is under way, or
 *         an error as a pointer
 */
ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h ep, unsigned id, const void *header,
                                 size_t header_length, const void *buffer,
                                 size_t count,
                                 const ucp_request_param_t *param);

/**
 * Receives the data of an active message into a buffer: fetches it from the
 * sender (UCP_AM_RECV_ATTR_FLAG_RNDV), or unpacks data that arrived with the
 * message (UCP_AM_RECV_ATTR_FLAG_DATA), for instance to device memory.
 *
 * @param worker     the receiver
 * @param data_desc  the `data` of the handler; used up, even on failure
 * @param buffer     where to put the data
 * @param count      number of elements that fit
 * @param param      callback: cb.recv_am; recv_info.length if NULL is returned
 *
 * @return NULL if the operation is complete, a request if it is under way, or
 *         an error as a pointer
 */
ucs_status_ptr_t ucp_am_recv_data_nbx(ucp_worker_h worker, void *data_desc,
                                      void *buffer, size_t count,
                                      const ucp_request_param_t *param);

/**
 * Releases data that a handler kept by returning UCS_INPROGRESS.
 *
 * @param worker  the receiver
 * @param data    the `data` of the handler
 */
void ucp_am_data_release(ucp_worker_h worker, void *data);

/** @} */

/* =========================================================================
 * Streams (UCP_FEATURE_STREAM)
 *
 * Between the two ends of a connection, a sequence of bytes in each direction,
 * in order and without message boundaries.
 * ====================================================================== */

/** @addtogroup UCP_COMM
 *  @{ */

/** Bits of ucp_request_param_t::flags for ucp_stream_recv_nbx(). */
typedef enum {
    /** Complete only when the buffer is full. */
    UCP_STREAM_RECV_FLAG_WAITALL = UCS_BIT(0)
} ucp_stream_recv_flags_t;

/** An endpoint that has data to receive. */
typedef struct ucp_stream_poll_ep {
    /** The endpoint. */
    ucp_ep_h ep;
    /** ucp_ep_params_t::user_data */
    void     *user_data;
    /** Reserved. */
    unsigned flags;
    /** Reserved. */
    uint8_t  reserved[16];
} ucp_stream_poll_ep_t;

/**
 * Appends to the stream. Completes when @a buffer may be used again.
 *
 * @param ep      where to
 * @param buffer  the data
 * @param count   number of elements
 * @param param   callback: cb.send
 *
 * @return NULL if the operation is complete, a request if it is under way, or
 *         an error as a pointer
 */
ucs_status_ptr_t ucp_stream_send_nbx(ucp_ep_h ep, const void *buffer,
                                     size_t count,
                                     const ucp_request_param_t *param);

/**
 * Receives available data, at least one element and at most @a count; waits if
 * there is none.
 *
 * @param ep      where from
 * @param buffer  where to put the data
 * @param count   number of elements that fit
 * @param length  if NULL is returned: bytes received, a whole number of
 *                elements
 * @param param   flags: ucp_stream_recv_flags_t; callback: cb.recv_stream
 *
 * @return NULL if the operation is complete, a request if it is under way, or
 *         an error as a pointer. When NULL is returned, @a length is set
 */
ucs_status_ptr_t ucp_stream_recv_nbx(ucp_ep_h ep, void *buffer, size_t count,
                                     size_t *length,
                                     const ucp_request_param_t *param);

/**
 * Takes what is there, as bytes, in a buffer of the library: no copy, no
 * waiting.
 *
 * @param ep      where from
 * @param length  bytes in the buffer
 *
 * @return NULL if there is nothing, an error, or the data itself (not a
 *         request); give it back with ucp_stream_data_release()
 */
ucs_status_ptr_t ucp_stream_recv_data_nb(ucp_ep_h ep, size_t *length);

/** Releases the data that ucp_stream_recv_data_nb() returned. */
void ucp_stream_data_release(ucp_ep_h ep, void *data);

/**
 * Finds endpoints that have data to receive. Makes no progress.
 *
 * @param worker    whose endpoints
 * @param poll_eps  an array of the caller's
 * @param max_eps   how many fit
 * @param flags     0
 *
 * @return how many there are in the array, or a negative ucs_status_t
 */
ssize_t ucp_stream_worker_poll(ucp_worker_h worker,
                               ucp_stream_poll_ep_t *poll_eps, size_t max_eps,
                               unsigned flags);

/** @} */

/* =========================================================================
 * Memory
 *
 * Mapping makes memory known to the devices, so that they reach it without the
 * CPU. The owner packs the handle and sends the bytes to a peer, which unpacks
 * them on its endpoint to the owner and then puts, gets and operates.
 * ====================================================================== */

/** @addtogroup UCP_MEM
 *  @{ */

/** Members of ucp_mem_map_params_t. */
enum ucp_mem_map_params_field {
    /** ucp_mem_map_params_t::address */
    UCP_MEM_MAP_PARAM_FIELD_ADDRESS              = UCS_BIT(0),
    /** ucp_mem_map_params_t::length */
    UCP_MEM_MAP_PARAM_FIELD_LENGTH               = UCS_BIT(1),
    /** ucp_mem_map_params_t::flags */
    UCP_MEM_MAP_PARAM_FIELD_FLAGS                = UCS_BIT(2),
    /** ucp_mem_map_params_t::prot */
    UCP_MEM_MAP_PARAM_FIELD_PROT                 = UCS_BIT(3),
    /** ucp_mem_map_params_t::memory_type */
    UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE          = UCS_BIT(4),
    /** ucp_mem_map_params_t::exported_memh_buffer */
    UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER = UCS_BIT(5)
};

/** Bits of ucp_mem_map_params_t::flags. */
enum {
    /** Map fast; pages may be filled in when first used. */
    UCP_MEM_MAP_NONBLOCK       = UCS_BIT(0),
    /** Allocate the memory as well; the address is a hint. */
    UCP_MEM_MAP_ALLOCATE       = UCS_BIT(1),
    /** Allocate exactly at the address, which lies on a page boundary. */
    UCP_MEM_MAP_FIXED          = UCS_BIT(2),
    /**
     * Try to give equal remote keys to segments mapped alike in different
     * processes; ucp_rkey_compare() tells, and one key then does for all.
     */
    UCP_MEM_MAP_SYMMETRIC_RKEY = UCS_BIT(3),
    /** Fill in and pin all pages now. Excludes NONBLOCK. */
    UCP_MEM_MAP_LOCK           = UCS_BIT(4)
};

/** Bits of ucp_mem_map_params_t::prot: what is allowed, and to whom. */
enum {
    UCP_MEM_MAP_PROT_LOCAL_READ   = UCS_BIT(0),
    UCP_MEM_MAP_PROT_LOCAL_WRITE  = UCS_BIT(1),
    UCP_MEM_MAP_PROT_REMOTE_READ  = UCS_BIT(8),
    UCP_MEM_MAP_PROT_REMOTE_WRITE = UCS_BIT(9)
};

/** What to map. */
typedef struct ucp_mem_map_params {
    /** Members given, bits of ucp_mem_map_params_field. */
    uint64_t          field_mask;
    /** Where the segment begins; see ucp_mem_map(). */
    void              *address;
    /** Its bytes. Mandatory, except with @a exported_memh_buffer. */
    size_t            length;
    /** UCP_MEM_MAP_NONBLOCK, ... */
    unsigned          flags;
    /** UCP_MEM_MAP_PROT_LOCAL_READ, ...; default: all. */
    unsigned          prot;
    /**
     * What to allocate, default UCS_MEMORY_TYPE_HOST; of memory that exists, a
     * hint, default: found out.
     */
    ucs_memory_type_t memory_type;
    /**
     * What a peer packed with UCP_MEMH_PACK_FLAG_EXPORT: map its segment for
     * local operations. The bytes may go when the call returns.
     */
    const void        *exported_memh_buffer;
} ucp_mem_map_params_t;

/** Members of ucp_mem_attr_t. */
enum ucp_mem_attr_field {
    /** ucp_mem_attr_t::address */
    UCP_MEM_ATTR_FIELD_ADDRESS  = UCS_BIT(0),
    /** ucp_mem_attr_t::length */
    UCP_MEM_ATTR_FIELD_LENGTH   = UCS_BIT(1),
    /** ucp_mem_attr_t::mem_type */
    UCP_MEM_ATTR_FIELD_MEM_TYPE = UCS_BIT(2)
};

/** How a mapped segment is. */
struct ucp_mem_attr {
    /** Members to fill, bits of ucp_mem_attr_field. */
    uint64_t          field_mask;
    /** Where it begins. */
    void              *address;
    /** Its bytes; may be more than asked for. */
    size_t            length;
    /** What kind of memory it is. */
    ucs_memory_type_t mem_type;
};

/** Members of ucp_mem_advise_params_t. */
enum ucp_mem_advise_params_field {
    /** ucp_mem_advise_params_t::address */
    UCP_MEM_ADVISE_PARAM_FIELD_ADDRESS = UCS_BIT(0),
    /** ucp_mem_advise_params_t::length */
    UCP_MEM_ADVISE_PARAM_FIELD_LENGTH  = UCS_BIT(1),
    /** ucp_mem_advise_params_t::advice */
    UCP_MEM_ADVISE_PARAM_FIELD_ADVICE  = UCS_BIT(2)
};

/** How memory will be used. */
typedef enum ucp_mem_advice {
    /** Nothing special. */
    UCP_MADV_NORMAL = 0,
    /** Soon: fill in now what UCP_MEM_MAP_NONBLOCK left for later. */
    UCP_MADV_WILLNEED
} ucp_mem_advice_t;

/** An advice and the memory it is for. All members are mandatory. */
typedef struct ucp_mem_advise_params {
    /** Members given, bits of ucp_mem_advise_params_field. */
    uint64_t         field_mask;
    /** Where the memory begins, inside the segment. */
    void             *address;
    /** Its bytes. */
    size_t           length;
    /** The advice. */
    ucp_mem_advice_t advice;
} ucp_mem_advise_params_t;

/** Members of ucp_memh_pack_params_t. */
enum ucp_memh_pack_params_field {
    /** ucp_memh_pack_params_t::flags */
    UCP_MEMH_PACK_PARAM_FIELD_FLAGS = UCS_BIT(0)
};

/** Bits of ucp_memh_pack_params_t::flags. */
enum ucp_memh_pack_flags {
    /**
     * Pack for ucp_mem_map() rather than for ucp_ep_rkey_unpack(): a peer on
     * the same device can then use the memory in its local operations. Needs
     * UCP_FEATURE_EXPORTED_MEMH.
     */
    UCP_MEMH_PACK_FLAG_EXPORT = UCS_BIT(0)
};

/** How to pack a memory handle. */
typedef struct ucp_memh_pack_params {
    /** Members given, bits of ucp_memh_pack_params_field. */
    uint64_t field_mask;
    /** Bits of ucp_memh_pack_flags. */
    uint64_t flags;
} ucp_memh_pack_params_t;

/** How to release a packed memory handle; nothing to choose as yet. */
typedef struct ucp_memh_buffer_release_params {
    /** 0 */
    uint64_t field_mask;
} ucp_memh_buffer_release_params_t;

/** How to compare remote keys; nothing to choose as yet. */
typedef struct ucp_rkey_compare_params {
    /** 0 */
    uint64_t field_mask;
} ucp_rkey_compare_params_t;

/**
 * Maps memory, allocating it if asked to. By address and flags:
 *
 *     address | ALLOCATE | FIXED | result
 *     NULL    | no       | no    | error unless length is 0
 *     NULL    | yes      | no    | allocates, anywhere
 *     given   | no       | no    | maps the caller's memory
 *     given   | yes      | no    | allocates, near the address if it can
 *     given   | yes      | yes   | allocates at the address, or fails
 *     other combinations         | error
 *
 * The same memory may be mapped more than once. ucp_mem_query() tells where
 * allocated memory lies.
 *
 * @param context  the context to map in
 * @param params   what to map
 * @param memh_p   where the handle goes; ucp_mem_unmap() ends it
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for a combination marked "error";
 *         UCS_ERR_NO_MEMORY if it cannot be allocated; UCS_ERR_UNSUPPORTED if
 *         no domain has memory of the type
 */
ucs_status_t ucp_mem_map(ucp_context_h context,
                         const ucp_mem_map_params_t *params, ucp_mem_h *memh_p);

/**
 * Unmaps memory, and frees it if ucp_mem_map() allocated it. No operation may
 * use it, here or at a peer; remote keys of it become invalid.
 *
 * @param context  the context it was mapped in
 * @param memh     the handle
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM; or the error of the domain that cannot
 *         deregister the memory
 */
ucs_status_t ucp_mem_unmap(ucp_context_h context, ucp_mem_h memh);

/**
 * Queries the attributes of mapped memory.
 *
 * @param attr  in: field_mask; out: what it names
 *
 * @return UCS_OK
 */
ucs_status_t ucp_mem_query(const ucp_mem_h memh, ucp_mem_attr_t *attr);

/**
 * Maps memory, prints how it was mapped, and unmaps it.
 *
 * @param mem_spec  "<size>[,<memory type>]", such as "32768" or "1m,cuda"
 * @param context   the context to map in
 * @param stream    where to print
 */
void ucp_mem_print_info(const char *mem_spec, ucp_context_h context,
                        FILE *stream);

/**
 * Advises how memory is going to be used. It affects performance only, and may
 * do nothing.
 *
 * @param context  the context it was mapped in
 * @param memh     the segment
 * @param params   the advice
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM if the range is not inside the mapped
 *         memory; or the error of a domain
 */
ucs_status_t ucp_mem_advise(ucp_context_h context, ucp_mem_h memh,
                            ucp_mem_advise_params_t *params);

/**
 * Packs a memory handle into bytes for a peer; any architecture can read them.
 * The application sends them. A process that has them can access the memory.
 *
 * @param memh           the segment
 * @param params         for ucp_ep_rkey_unpack() by default, or see
 *                       UCP_MEMH_PACK_FLAG_EXPORT
 * @param buffer_p       where the bytes go; to be given back with
 *                       ucp_memh_buffer_release()
 * @param buffer_size_p  where their number goes
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM; UCS_ERR_UNSUPPORTED if the memory
 *         cannot be exported; UCS_ERR_NO_MEMORY
 */
ucs_status_t ucp_memh_pack(ucp_mem_h memh, const ucp_memh_pack_params_t *params,
                           void **buffer_p, size_t *buffer_size_p);

/**
 * Releases the bytes that ucp_memh_pack() returned. Unmaps nothing.
 *
 * @param params  NULL, or nothing chosen
 */
void ucp_memh_buffer_release(void *buffer,
                             const ucp_memh_buffer_release_params_t *params);

/**
 * Makes a remote key out of the bytes that the owner of the memory packed.
 *
 * @param ep           the endpoint to the owner; the key works on it alone
 * @param rkey_buffer  the bytes, unchanged
 * @param rkey_p       where the key goes; ucp_rkey_destroy() ends it
 *
 * @return UCS_OK; UCS_ERR_UNREACHABLE if no transport of the endpoint can use
 *         the key
 */
ucs_status_t ucp_ep_rkey_unpack(ucp_ep_h ep, const void *rkey_buffer,
                                ucp_rkey_h *rkey_p);

/**
 * Gives a local pointer to a peer's memory, if both share memory.
 *
 * @param rkey    the key
 * @param raddr   an address of the owner's, inside the segment
 * @param addr_p  where the pointer goes; valid as long as the key
 *
 * @return UCS_OK; UCS_ERR_UNREACHABLE if the memory cannot be accessed so;
 *         UCS_ERR_INVALID_ADDR if @a raddr is not inside
 */
ucs_status_t ucp_rkey_ptr(ucp_rkey_h rkey, uint64_t raddr, void **addr_p);

/**
 * Compares two remote keys of a worker. The result is an order, fit for
 * sorting. Equal keys give the same access, so that one of them is enough.
 *
 * @param worker  the worker of both
 * @param params  nothing to choose as yet
 * @param result  negative, 0 or positive, as of strcmp(3)
 *
 * @return UCS_OK, with the order in @a result; UCS_ERR_INVALID_PARAM
 */
ucs_status_t ucp_rkey_compare(ucp_worker_h worker, ucp_rkey_h rkey1,
                              ucp_rkey_h rkey2,
                              const ucp_rkey_compare_params_t *params,
                              int *result);

/**
 * Destroys a remote key, after all operations with it are flushed and before
 * its endpoint is closed.
 */
void ucp_rkey_destroy(ucp_rkey_h rkey);

/** @} */

/* =========================================================================
 * Put and get (UCP_FEATURE_RMA)
 *
 * The owner of the memory takes no part, other than by its progress where the
 * transport needs it. Only ucp_dt_make_contig(1) is supported. Operations are
 * not ordered among each other; ucp_worker_fence() orders them.
 * ====================================================================== */

/** @addtogroup UCP_COMM
 *  @{ */

/**
 * Writes to a peer's memory. Completes when @a buffer may be used again; the
 * data is guaranteed to be at the peer only after a flush.
 *
 * @param ep           the endpoint to the owner
 * @param buffer       the data
 * @param count        its bytes
 * @param remote_addr  where it goes, an address of the owner's
 * @param rkey         the key, unpacked on @a ep
 * @param param        callback: cb.send
 *
 * @return NULL if the operation is complete, a request if it is under way, or
 *         an error as a pointer: UCS_ERR_NO_RESOURCE if
 *         UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL is set and it cannot complete at once
 */
ucs_status_ptr_t ucp_put_nbx(ucp_ep_h ep, const void *buffer, size_t count,
                             uint64_t remote_addr, ucp_rkey_h rkey,
                             const ucp_request_param_t *param);

/**
 * Reads from a peer's memory. Completes when @a buffer holds the data.
 *
 * @param ep           the endpoint to the owner
 * @param buffer       where to put the data
 * @param count        its bytes
 * @param remote_addr  where it is, an address of the owner's
 * @param rkey         the key, unpacked on @a ep
 * @param param        callback: cb.send
 *
 * @return NULL if the operation is complete, a request if it is under way, or
 *         an error as a pointer: UCS_ERR_NO_RESOURCE if
 *         UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL is set and it cannot complete at once
 */
ucs_status_ptr_t ucp_get_nbx(ucp_ep_h ep, void *buffer, size_t count,
                             uint64_t remote_addr, ucp_rkey_h rkey,
                             const ucp_request_param_t *param);

/** @} */

/* =========================================================================
 * Atomics (UCP_FEATURE_AMO32, UCP_FEATURE_AMO64)
 * ====================================================================== */

/** @addtogroup UCP_COMM
 *  @{ */

/**
 * What to do with remote value Y and operand X. The old Y goes to
 * ucp_request_param_t::reply_buffer: always with SWAP and CSWAP, with the
 * others if it is given.
 */
typedef enum {
    /** Y += X */
    UCP_ATOMIC_OP_ADD,
    /** Y = X */
    UCP_ATOMIC_OP_SWAP,
    /** if Y == X then Y = what the reply buffer holds at first */
    UCP_ATOMIC_OP_CSWAP,
    /** Y &= X */
    UCP_ATOMIC_OP_AND,
    /** Y |= X */
    UCP_ATOMIC_OP_OR,
    /** Y ^= X */
    UCP_ATOMIC_OP_XOR,
    /** Number of operations, not one of them. */
    UCP_ATOMIC_OP_LAST
} ucp_atomic_op_t;

/**
 * Changes a value in a peer's memory, atomically with respect to all other such
 * operations. With a reply buffer it completes when that holds the old value;
 * without, when @a buffer may be used again.
 *
 * @param ep           the endpoint to the owner
 * @param opcode       what to do
 * @param buffer       the operand
 * @param count        1
 * @param remote_addr  where the value is, aligned to its size
 * @param rkey         the key, unpacked on @a ep
 * @param param        datatype: ucp_dt_make_contig(4) or (8), mandatory;
 *                     reply_buffer; callback: cb.send
 *
 * @return NULL if the operation is complete, a request if it is under way, or
 *         an error as a pointer
 */
ucs_status_ptr_t ucp_atomic_op_nbx(ucp_ep_h ep, ucp_atomic_op_t opcode,
                                   const void *buffer, size_t count,
                                   uint64_t remote_addr, ucp_rkey_h rkey,
                                   const ucp_request_param_t *param);

/** @} */

/* =========================================================================
 * Ordering
 *
 * A fence orders: what is issued on an endpoint after it takes effect after
 * what was issued on it before. A flush waits: when it completes, all puts,
 * gets and atomics issued before are complete, here and at the target.
 * ====================================================================== */

/** @addtogroup UCP_COMM
 *  @{ */

/**
 * Orders the operations of each endpoint of a worker: puts, gets and atomics
 * that were issued before are complete before any operation, of any kind, that
 * is issued on the same endpoint later. Does not wait.
 *
 * @return UCS_OK, or the error of an endpoint that cannot order its operations
 */
ucs_status_t ucp_worker_fence(ucp_worker_h worker);

/**
 * Flushes all endpoints of a worker: completes after all operations that were
 * issued on them before.
 *
 * @param param  callback: cb.send
 *
 * @return NULL if the operation is complete, a request if it is under way, or
 *         an error as a pointer
 */
ucs_status_ptr_t ucp_worker_flush_nbx(ucp_worker_h worker,
                                      const ucp_request_param_t *param);

/**
 * Flushes one endpoint: completes after all operations that were issued on it
 * before.
 *
 * @param param  callback: cb.send
 *
 * @return NULL if the operation is complete, a request if it is under way, or
 *         an error as a pointer
 */
ucs_status_ptr_t ucp_ep_flush_nbx(ucp_ep_h ep,
                                  const ucp_request_param_t *param);

/** @} */

END_C_DECLS

#endif
