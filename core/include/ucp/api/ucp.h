/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UCP: the interface that applications use. It selects among the transports of
 * a machine and offers tagged and active messages, streams, remote memory
 * access and atomics on top of them. Handles and callback types are in
 * ucp_def.h, deprecated functions in ucp_compat.h; this file includes both.
 *
 * How to use it: ucp_config_read() and ucp_init() create a context,
 * ucp_worker_create() creates a worker in it, ucp_ep_create() creates an
 * endpoint to a peer. Operations are started on endpoints;
 * ucp_worker_progress() carries them out.
 *
 * Common rules:
 *
 * Structures with a mask. `field_mask` (or op_attr_mask, recv_attr) selects the
 * valid members, one bit each. A member whose bit is clear is neither read nor
 * written, so that programs that were built with older headers keep working. In
 * a query the caller sets the mask, and the library fills the selected members.
 * Unless stated otherwise a member that is not given has the value 0, NULL or
 * "unknown".
 *
 * Outcome of a non-blocking operation (ucs_status_ptr_t), one of
 *   - NULL (as a status: UCS_OK): complete. No callback runs.
 *   - UCS_PTR_IS_ERR(ptr): not started; UCS_PTR_STATUS(ptr) is the error.
 *   - otherwise a request: in progress. The callback, if given, is called once
 *     on completion, unless the request is released before;
 *     ucp_request_check_status() returns the state. A request is released by
 *     ucp_request_free(), in the callback or at any time, unless the caller
 *     supplied its memory.
 * Until an operation completes, its buffers, including the lists of an iov,
 * belong to the library: do not write to a source, and do not access a
 * destination. The parameter structure may be released when the function
 * returns.
 *
 * Threads. A worker and all that belongs to it (endpoints, listeners, requests,
 * remote keys) follow ucp_worker_attr_t::thread_mode:
 *   - UCS_THREAD_MODE_SINGLE: only the thread that created the worker;
 *   - UCS_THREAD_MODE_SERIALIZED: any thread, one at a time;
 *   - UCS_THREAD_MODE_MULTI: any thread at any time.
 * A context, with its memory handles, may be used by several threads at a time
 * only if ucp_params_t::mt_workers_shared was set. A configuration is used by
 * one thread at a time. Exceptions are documented at the functions.
 *
 * Errors. Functions return UCS_ERR_INVALID_PARAM for invalid arguments,
 * UCS_ERR_NO_MEMORY if memory cannot be allocated, UCS_ERR_UNSUPPORTED for what
 * the devices in use do not support. The descriptions below do not always
 * repeat these errors.
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
    UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL = UCS_BIT(0),
};

/** Properties of the library. */
typedef struct ucp_lib_attr {
    /** Members to fill, bits of ucp_lib_attr_field. */
    uint64_t field_mask;
    /** The highest thread mode that a worker can have. */
    ucs_thread_mode_t max_thread_level;
} ucp_lib_attr_t;

/**
 * Queries the properties of the library. Needs no context. Any thread may call
 * it.
 *
 * @param attr  in: field_mask; out: the selected members
 *
 * @return UCS_OK
 */
ucs_status_t ucp_lib_query(ucp_lib_attr_t *attr);

/**
 * Returns the version of the library in use, which may be newer than
 * UCP_API_VERSION. May be called by any thread at any time.
 */
void ucp_get_version(unsigned *major_version, unsigned *minor_version,
                     unsigned *release_number);

/**
 * Returns the version of the library in use as "major.minor.release". The
 * string is static.
 *
 * @return The string; never NULL
 */
const char *ucp_get_version_string(void);

/** @} */

/* =========================================================================
 * Configuration
 *
 * Settings that the user of the program makes, by environment variables UCX_*
 * and files. The application passes its own parameters in ucp_params_t.
 * ====================================================================== */

/** @addtogroup UCP_CONFIG
 *  @{ */

/**
 * Reads the settings from the environment and configuration files.
 *
 * @param env_prefix  a word, for example APP: variables APP_UCX_* take
 *                    precedence over UCX_*. NULL: UCX_* only
 * @param filename    an additional file to read; NULL: none. A missing file is
 *                    not an error.
 * @param config_p    receives the settings; release them by
 *                    ucp_config_release()
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM if a value is invalid
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
 * @return UCS_OK; UCS_ERR_INVALID_PARAM if the value is invalid; the setting is
 *         unchanged then. An unknown name is accepted, because it may be that
 *         of a transport that is not loaded yet; if it stays unknown, a warning
 *         is logged later.
 */
ucs_status_t ucp_config_modify(ucp_config_t *config, const char *name,
                               const char *value);

/**
 * Prints settings as lines NAME=VALUE, which a configuration file may contain.
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
    UCP_PARAM_FIELD_NODE_LOCAL_ID     = UCS_BIT(9),
};

/**
 * Features of a context. Request only those that the application uses: they
 * determine which devices are opened.
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
     * Local operations on a peer's memory, by a handle packed with
     * UCP_MEMH_PACK_FLAG_EXPORT.
     */
    UCP_FEATURE_EXPORTED_MEMH = UCS_BIT(7),
    /**
     * Operations started from device code. No transport offers them: ucp_init()
     * fails with UCS_ERR_UNSUPPORTED.
     */
    UCP_FEATURE_DEVICE        = UCS_BIT(8),
};

/** Parameters of a context. Only the features are mandatory. */
typedef struct ucp_params {
    /** Members given, bits of ucp_params_field. */
    uint64_t field_mask;
    /** Bits of ucp_feature. Mandatory. */
    uint64_t features;
    /**
     * Number of bytes in each request that the application may use. They begin
     * at the address of the request.
     */
    size_t request_size;
    /** Initializes the application's part of a request, once when the library
     *  allocates its memory. */
    ucp_request_init_callback_t request_init;
    /** Undoes @a request_init. */
    ucp_request_cleanup_callback_t request_cleanup;
    /**
     * Bits of a tag which identify the sender. Receives and probes whose mask
     * has all of these bits (any tag of one sender), or all others (one tag of
     * any sender), are then hashed, so that the time of matching does not grow
     * with the number of receives and messages. The mask does not change which
     * message a receive matches. If it is 0 (the default) or has all bits,
     * nothing is hashed in this way.
     */
    uint64_t tag_sender_mask;
    /**
     * Non-zero: threads use workers of this context concurrently, so that the
     * context needs locks. Not necessary if several threads use a single
     * worker.
     */
    int mt_workers_shared;
    /**
     * Expected number of endpoints, for example of the processes of the job; a
     * hint. UCX_NUM_EPS overrides it.
     */
    size_t estimated_num_eps;
    /** Expected number of processes of the job on this machine; a hint.
     *  UCX_NUM_PPN overrides it. */
    size_t estimated_num_ppn;
    /**
     * Name for log messages and tools; the first UCP_ENTITY_NAME_MAX - 1 bytes
     * are copied. Default: generated.
     */
    const char *name;
    /**
     * Index of this process among those on this machine, from 0; a hint.
     * UCX_LOCAL_NODE_ID overrides it. If several network devices are equally
     * good for a peer, processes with different indices select different
     * devices.
     */
    size_t node_local_id;
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
    UCP_ATTR_FIELD_DEVICE_COUNTER_SIZE = UCS_BIT(4),
};

/** Attributes of a context. */
typedef struct ucp_context_attr {
    /** Members to fill, bits of ucp_context_attr_field. */
    uint64_t field_mask;
    /**
     * Bytes that the library needs in front of a request whose memory the
     * caller supplies (UCP_OP_ATTR_FIELD_REQUEST).
     */
    size_t request_size;
    /** UCS_THREAD_MODE_MULTI if ucp_params_t::mt_workers_shared was set,
     *  otherwise UCS_THREAD_MODE_SINGLE. */
    ucs_thread_mode_t thread_mode;
    /** Host memory, and the types of memory that an open memory domain can
     *  access, register or allocate; UCS_BIT() of ucs_memory_type_t. */
    uint64_t memory_types;
    /** Name of the context, zero-terminated. */
    char name[UCP_ENTITY_NAME_MAX];
    /**
     * Bytes of a counter for operations started from device code. 0 means that
     * such operations are not supported: ucp_init() then rejects
     * UCP_FEATURE_DEVICE.
     */
    size_t device_counter_size;
} ucp_context_attr_t;

/**
 * Creates a context, and checks that the library supports the version of the
 * interface that the caller was compiled for. Call ucp_init() instead, which
 * fills in that version.
 *
 * A caller with a newer minor version can use everything that the library
 * supports; a warning is logged once in each process. For such a caller,
 * unknown bits of a field_mask fail with UCS_ERR_UNSUPPORTED, here and where
 * other objects are created.
 *
 * @param api_major_version  UCP_API_MAJOR of the caller
 * @param api_minor_version  UCP_API_MINOR of the caller
 * @param params             as for ucp_init()
 * @param config             as for ucp_init()
 * @param context_p          as for ucp_init()
 *
 * @return as ucp_init(); UCS_ERR_NOT_IMPLEMENTED if the major versions differ;
 *         UCS_ERR_UNSUPPORTED if the caller is newer and uses what this library
 *         does not support
 */
ucs_status_t ucp_init_version(unsigned api_major_version,
                              unsigned api_minor_version,
                              const ucp_params_t *params,
                              const ucp_config_t *config,
                              ucp_context_h *context_p);

/**
 * Creates a context: finds the devices and opens those that the features need.
 *
 * @param params     the parameters
 * @param config     settings, read only; NULL: those that ucp_config_read(NULL,
 *                   NULL) returns
 * @param context_p  receives the context; destroy it by ucp_cleanup()
 *
 * @return UCS_OK; UCS_ERR_NO_DEVICE if there is no usable device among those
 *         that the settings allow; UCS_ERR_INVALID_PARAM if the features are
 *         missing or unknown, or a setting is invalid; UCS_ERR_UNSUPPORTED for
 *         UCP_FEATURE_DEVICE
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
 * @param attr  in: field_mask; out: the selected members
 *
 * @return UCS_OK
 */
ucs_status_t ucp_context_query(ucp_context_h context_p,
                               ucp_context_attr_t *attr);

/** Prints the devices and transports of a context in readable form. */
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
    UCP_WORKER_PARAM_FIELD_CLIENT_ID    = UCS_BIT(8),
};

/** Bits of ucp_worker_params_t::flags. */
typedef enum {
    /** Do not warn about requests left over at ucp_worker_destroy(). */
    UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK = UCS_BIT(0),
} ucp_worker_flags_t;

/** Parameters of a worker. All are optional. */
typedef struct ucp_worker_params {
    /** Members given, bits of ucp_worker_params_field. */
    uint64_t field_mask;
    /**
     * Threads that will use the worker; default UCS_THREAD_MODE_SINGLE. The
     * actual mode is ucp_worker_attr_t::thread_mode.
     */
    ucs_thread_mode_t thread_mode;
    /**
     * CPUs near which resources are allocated; default: selected by the system.
     * The calling thread runs on them while the worker is created, so that its
     * memory and threads are local to them. If devices are equally fast, those
     * near these CPUs are selected. CPUs that the thread may not use are
     * ignored.
     */
    ucs_cpu_set_t cpu_mask;
    /** Events to wake up for, of ucp_wakeup_event_t; default: all. */
    unsigned events;
    /** Value that epoll_wait(2) returns with the events of @a event_fd. */
    void *user_data;
    /**
     * An epoll(7) file descriptor of the caller. The library adds its event
     * descriptors to it, with @a user_data in epoll_data_t::ptr, and does not
     * close it. ucp_worker_get_efd() fails then.
     */
    int event_fd;
    /** Bits of ucp_worker_flags_t. */
    uint64_t flags;
    /**
     * Name for log messages and tools; the first UCP_ENTITY_NAME_MAX - 1 bytes
     * are copied. Default: generated.
     */
    const char *name;
    /**
     * Minimum alignment in bytes, a power of two, of the data pointer that
     * handlers of active messages receive.
     */
    size_t am_alignment;
    /**
     * Sent to servers by endpoints with UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID.
     */
    uint64_t client_id;
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
    UCP_WORKER_ATTR_FIELD_MAX_INFO_STRING = UCS_BIT(5),
};

/** Bits of ucp_worker_attr_t::address_flags. */
typedef enum {
    /**
     * Omit transports that reach only peers on the same machine: a shorter
     * address, for remote peers.
     */
    UCP_WORKER_ADDRESS_FLAG_NET_ONLY = UCS_BIT(0),
} ucp_worker_address_flags_t;

/** Attributes of a worker. */
typedef struct ucp_worker_attr {
    /** Members to fill, bits of ucp_worker_attr_field. */
    uint64_t field_mask;
    /** Threads that may use the worker. */
    ucs_thread_mode_t thread_mode;
    /** Input: contents of the address, ucp_worker_address_flags_t. */
    uint32_t address_flags;
    /**
     * The address by which peers connect; allocated, release it by
     * ucp_worker_release_address().
     */
    ucp_address_t *address;
    /** Length of @a address in bytes. */
    size_t address_length;
    /** Maximum length of the header of ucp_am_send_nbx() in bytes. */
    size_t max_am_header;
    /** Name of the worker, zero-terminated. */
    char name[UCP_ENTITY_NAME_MAX];
    /** Maximum length of ucp_request_attr_t::debug_string in bytes, terminating
     *  zero included. */
    size_t max_debug_string;
} ucp_worker_attr_t;

/** Members of ucp_worker_address_attr_t. */
enum ucp_worker_address_attr_field {
    /** ucp_worker_address_attr_t::worker_uid */
    UCP_WORKER_ADDRESS_ATTR_FIELD_UID = UCS_BIT(0),
};

/** Attributes of a worker that its address contains. */
typedef struct ucp_worker_address_attr {
    /** Members to fill, bits of ucp_worker_address_attr_field. */
    uint64_t field_mask;
    /** Number that identifies the worker, unique among all workers. */
    uint64_t worker_uid;
} ucp_worker_address_attr_t;

/**
 * Creates a worker and opens its network resources. The kernel places the
 * worker's memory near the calling thread.
 *
 * @param context   the context
 * @param params    the parameters
 * @param worker_p  receives the worker; destroy it by ucp_worker_destroy()
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for an unknown thread mode;
 *         UCS_ERR_NO_MEMORY; or the error of the transport that cannot be
 *         opened
 */
ucs_status_t ucp_worker_create(ucp_context_h context,
                               const ucp_worker_params_t *params,
                               ucp_worker_h *worker_p);

/**
 * Destroys a worker and everything that belongs to it. Close its endpoints
 * first, otherwise their peers see an error. The worker must not be in use by
 * another thread.
 */
void ucp_worker_destroy(ucp_worker_h worker);

/**
 * Queries the attributes of a worker, including its address.
 *
 * @param attr  in: field_mask and perhaps address_flags; out: the rest
 *
 * @return UCS_OK; UCS_ERR_NO_MEMORY if there is no memory for the address
 */
ucs_status_t ucp_worker_query(ucp_worker_h worker, ucp_worker_attr_t *attr);

/** Prints a worker's transports, protocols and thresholds in readable form. */
void ucp_worker_print_info(ucp_worker_h worker, FILE *stream);

/** Releases an address that ucp_worker_query() or ucp_worker_get_address()
 *  returned for the same worker. */
void ucp_worker_release_address(ucp_worker_h worker, ucp_address_t *address);

/**
 * Queries the attributes of an address, of a local or a remote worker.
 *
 * @param attr  in: field_mask; out: the selected members
 *
 * @return UCS_OK; UCS_ERR_INVALID_ADDR if the bytes are not a worker address;
 *         UCS_ERR_NO_MEMORY
 */
ucs_status_t ucp_worker_address_query(ucp_address_t *address,
                                      ucp_worker_address_attr_t *attr);

/**
 * Makes progress: sends queued operations, receives what arrived, calls
 * callbacks. Does not block. Most requests complete only in this function, so
 * call it until the expected event has occurred. Do not call it from a
 * callback.
 *
 * @return non-zero if something was done, and more may be pending
 */
unsigned ucp_worker_progress(ucp_worker_h worker);

/** @} */

/* =========================================================================
 * Waiting
 *
 * Sleep instead of polling; needs UCP_FEATURE_WAKEUP. Either block in
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
 * Returns a file descriptor that becomes readable when an armed worker has
 * something to do. It belongs to the worker: watch it by poll(2) or similar
 * functions; do not read from it and do not close it.
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM without UCP_FEATURE_WAKEUP;
 *         UCS_ERR_UNSUPPORTED if the worker was created with an event_fd
 */
ucs_status_t ucp_worker_get_efd(ucp_worker_h worker, int *fd);

/**
 * Arms the file descriptor: it becomes readable at the next event. Required
 * before each wait.
 *
 * @return UCS_OK        the descriptor becomes readable at the next event
 * @return UCS_ERR_BUSY  events are pending: not armed, make progress first
 * @return other errors  the worker cannot be waited for
 */
ucs_status_t ucp_worker_arm(ucp_worker_h worker);

/**
 * Blocks until there is an event or ucp_worker_signal() is called. Returns at
 * once if events are pending, so call ucp_worker_progress() until it returns 0
 * first. This function makes no progress itself.
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM without UCP_FEATURE_WAKEUP;
 *         UCS_ERR_IO_ERROR if poll(2) fails; or another error of
 *         ucp_worker_arm(), except UCS_ERR_BUSY
 */
ucs_status_t ucp_worker_wait(ucp_worker_h worker);

/**
 * Pauses the processor until @a address is written to, but for at most about
 * 100 microseconds. Returns at once if the worker has queued work. Other events
 * of the worker do not end the pause. For loops that poll a variable and call
 * ucp_worker_progress(): saves power where the CPU supports it.
 *
 * @param worker   the worker that the loop progresses
 * @param address  local memory that is written to
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
 * Members of ucp_request_param_t, and from bit 16 on flags of the operation.
 */
typedef enum {
    /** ucp_request_param_t::request */
    UCP_OP_ATTR_FIELD_REQUEST      = UCS_BIT(0),
    /** ucp_request_param_t::cb */
    UCP_OP_ATTR_FIELD_CALLBACK     = UCS_BIT(1),
    /** ucp_request_param_t::user_data */
    UCP_OP_ATTR_FIELD_USER_DATA    = UCS_BIT(2),
    /** ucp_request_param_t::datatype */
    UCP_OP_ATTR_FIELD_DATATYPE     = UCS_BIT(3),
    /** ucp_request_param_t::flags */
    UCP_OP_ATTR_FIELD_FLAGS        = UCS_BIT(4),
    /** ucp_request_param_t::reply_buffer */
    UCP_OP_ATTR_FIELD_REPLY_BUFFER = UCS_BIT(5),
    /** ucp_request_param_t::memory_type */
    UCP_OP_ATTR_FIELD_MEMORY_TYPE  = UCS_BIT(6),
    /** ucp_request_param_t::recv_info */
    UCP_OP_ATTR_FIELD_RECV_INFO    = UCS_BIT(7),
    /** ucp_request_param_t::memh */
    UCP_OP_ATTR_FIELD_MEMH         = UCS_BIT(8),

    /**
     * Never return NULL: return a request even if the operation is complete.
     * The callback may be called before the function returns.
     */
    UCP_OP_ATTR_FLAG_NO_IMM_CMPL    = UCS_BIT(16),
    /**
     * Complete as soon as the buffer can be reused, even if the data arrives
     * later. Protocols in which the reuse of the buffer depends on the peer are
     * not used, except for tagged and active messages of at least
     * UCX_RNDV_SEND_NBR_THRESH bytes (256k).
     */
    UCP_OP_ATTR_FLAG_FAST_CMPL      = UCS_BIT(17),
    /** Complete at once or fail (UCS_ERR_NO_RESOURCE); no request. */
    UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL = UCS_BIT(18),
    /**
     * The operation is one of many in flight: prefer throughput to the duration
     * of the single operation. The library selects the protocols of tagged,
     * active and stream sends by the time for which they occupy both sides,
     * without the latency. UCP_OP_ATTR_FLAG_FAST_CMPL takes precedence over
     * this flag.
     */
    UCP_OP_ATTR_FLAG_MULTI_SEND     = UCS_BIT(19),
} ucp_op_attr_t;

/**
 * The optional arguments of an operation. Clear op_attr_mask and set those that
 * are needed.
 */
typedef struct {
    /** Members given and flags, bits of ucp_op_attr_t. */
    uint32_t op_attr_mask;
    /** Flags of the particular operation; see its description. */
    uint32_t flags;
    /**
     * Memory for the request: points to the end of at least
     * ucp_context_attr_t::request_size bytes, which the caller keeps until
     * completion. The operation then returns this pointer as the request; it
     * must not be passed to ucp_request_free().
     */
    void *request;
    /** Runs on completion if a request was returned. */
    union {
        /** Callback of sends, put, get, atomics, flush and close. */
        ucp_send_nbx_callback_t send;
        /** Callback of tagged receives. */
        ucp_tag_recv_nbx_callback_t recv;
        /** Callback of stream receives. */
        ucp_stream_recv_nbx_callback_t recv_stream;
        /** Callback of ucp_am_recv_data_nbx(). */
        ucp_am_recv_data_nbx_callback_t recv_am;
    } cb;
    /** Layout of an element; default ucp_dt_make_contig(1): bytes. */
    ucp_datatype_t datatype;
    /** Argument that is passed to the callback. */
    void *user_data;
    /** Receives the old remote value of an atomic operation. */
    void *reply_buffer;
    /** Memory type of the buffer, which saves its detection; must be correct.
     *  Default, and for UCS_MEMORY_TYPE_UNKNOWN: detected. */
    ucs_memory_type_t memory_type;
    /**
     * Result of a receive that completes at once (returns NULL). Not for stream
     * receives, which have an argument for it.
     */
    union {
        /** For ucp_am_recv_data_nbx(): where to store the number of received
         *  bytes. */
        size_t *length;
        /** For tagged receives: where to store the sender's tag and the length
         *  of the message. */
        ucp_tag_recv_info_t *tag_info;
    } recv_info;
    /**
     * Handle of the mapped memory that contains the buffer, which saves its
     * registration.
     */
    ucp_mem_h memh;
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
    UCP_REQUEST_ATTR_FIELD_MEM_TYPE         = UCS_BIT(3),
} ucp_req_attr_field;

/** Attributes of a request. */
typedef struct {
    /** Members given or to fill, bits of ucp_req_attr_field. */
    uint64_t field_mask;
    /**
     * Buffer of the caller for a description of the protocol and the
     * transports.
     */
    char *debug_string;
    /**
     * Input: size of that buffer; a longer text is truncated.
     * ucp_worker_attr_t::max_debug_string is always sufficient.
     */
    size_t debug_string_size;
    /** Status of the operation, as ucp_request_check_status() returns it. */
    ucs_status_t status;
    /** Memory type of the buffer, as given or detected;
     *  UCS_MEMORY_TYPE_UNKNOWN for a flush or close. */
    ucs_memory_type_t mem_type;
} ucp_request_attr_t;

/**
 * Queries the attributes of a request.
 *
 * @param attr  in: field_mask and the buffer for the string; out: the other
 *              members
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM if the string is requested without its
 *         size
 */
ucs_status_t ucp_request_query(void *request, ucp_request_attr_t *attr);

/**
 * Checks whether a request has completed. Makes no progress. Works for any
 * operation.
 *
 * @return UCS_INPROGRESS until it completes, then the status of the operation
 */
ucs_status_t ucp_request_check_status(void *request);

/**
 * Like ucp_request_check_status(), for tagged receives.
 *
 * @param info  receives the tag and the length of the message when the receive
 *              is complete
 *
 * @return UCS_INPROGRESS, or the status of the receive
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
 * Tries to cancel an operation. It completes with UCS_ERR_CANCELED or, if it
 * can no longer be cancelled, in the usual way. In both cases the callback is
 * called (possibly by this function), and the request is released as usual.
 *
 * @param worker   the worker of the operation
 * @param request  the operation
 */
void ucp_request_cancel(ucp_worker_h worker, void *request);

/**
 * Releases a request. An operation in progress continues, but its callback is
 * not called; the library uses its buffers until the operation is complete.
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
    UCP_LISTENER_PARAM_FIELD_CONN_HANDLER   = UCS_BIT(2),
};

/** Parameters of a listener: the address and one of the handlers. */
typedef struct ucp_listener_params {
    /** Members given, bits of ucp_listener_params_field. */
    uint64_t field_mask;
    /** Address to listen on; port 0 selects a free one. Mandatory. */
    ucs_sock_addr_t sockaddr;
    /** Called for each connection; deprecated. */
    ucp_listener_accept_handler_t accept_handler;
    /** Called for each connection request; accepts or rejects the client. */
    ucp_listener_conn_handler_t conn_handler;
} ucp_listener_params_t;

/** Members of ucp_listener_attr_t. */
enum ucp_listener_attr_field {
    /** ucp_listener_attr_t::sockaddr */
    UCP_LISTENER_ATTR_FIELD_SOCKADDR = UCS_BIT(0),
};

/** Attributes of a listener. */
typedef struct ucp_listener_attr {
    /** Members to fill, bits of ucp_listener_attr_field. */
    uint64_t field_mask;
    /** Address that it listens on, with the selected port. */
    struct sockaddr_storage sockaddr;
} ucp_listener_attr_t;

/** Members of ucp_conn_request_attr_t. */
enum ucp_conn_request_attr_field {
    /** ucp_conn_request_attr_t::client_address */
    UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR = UCS_BIT(0),
    /** ucp_conn_request_attr_t::client_id */
    UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ID   = UCS_BIT(1),
};

/** Attributes of a connection request. */
typedef struct ucp_conn_request_attr {
    /** Members to fill, bits of ucp_conn_request_attr_field. */
    uint64_t field_mask;
    /** The client's socket address. */
    struct sockaddr_storage client_address;
    /**
     * The client's ucp_worker_params_t::client_id, if its endpoint has
     * UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID.
     */
    uint64_t client_id;
} ucp_conn_request_attr_t;

/**
 * Starts to listen. Progress of the worker handles connection requests.
 *
 * @param worker      the worker to listen on
 * @param params      the address and the handler
 * @param listener_p  receives the listener; destroy it by
 *                    ucp_listener_destroy()
 *
 * @return UCS_OK; UCS_ERR_BUSY if the address is in use
 */
ucs_status_t ucp_listener_create(ucp_worker_h worker,
                                 const ucp_listener_params_t *params,
                                 ucp_listener_h *listener_p);

/**
 * Stops listening. Endpoints of accepted clients remain. Connection requests
 * without an answer are rejected, and their handles are no longer valid.
 */
void ucp_listener_destroy(ucp_listener_h listener);

/**
 * Queries the attributes of a listener.
 *
 * @param attr  in: field_mask; out: the selected members
 *
 * @return UCS_OK; or the error of the connection manager
 */
ucs_status_t ucp_listener_query(ucp_listener_h listener,
                                ucp_listener_attr_t *attr);

/**
 * Queries the attributes of a connection request.
 *
 * @param attr  in: field_mask; out: the selected members
 *
 * @return UCS_OK
 */
ucs_status_t ucp_conn_request_query(ucp_conn_request_h conn_request,
                                    ucp_conn_request_attr_t *attr);

/**
 * Rejects a client: the error handler of the client's endpoint is called with
 * UCS_ERR_REJECTED.
 *
 * @param listener      the listener of the request
 * @param conn_request  the request; it is no longer valid afterwards
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
    UCP_EP_PARAM_FIELD_LOCAL_SOCK_ADDR   = UCS_BIT(8),
};

/** Bits of ucp_ep_params_t::flags. */
enum ucp_ep_params_flags_field {
    /** Connect to a listener: ucp_ep_params_t::sockaddr is the peer. */
    UCP_EP_PARAMS_FLAGS_CLIENT_SERVER  = UCS_BIT(0),
    /**
     * If the address is that of the endpoint's own worker, connect to another
     * endpoint instead of to itself: of the endpoints that are created with
     * this address and this flag, each two consecutive ones are connected.
     * Relevant for streams and other operations between two endpoints.
     */
    UCP_EP_PARAMS_FLAGS_NO_LOOPBACK    = UCS_BIT(1),
    /** Send ucp_worker_params_t::client_id to the server. */
    UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID = UCS_BIT(2),
};

/**
 * Parameters of an endpoint. Exactly one of @a address, @a sockaddr and @a
 * conn_request selects the peer.
 */
struct ucp_ep_params {
    /** Members given, bits of ucp_ep_params_field. */
    uint64_t field_mask;
    /** The peer's worker address, copied. */
    const ucp_address_t *address;
    /** Default UCP_ERR_HANDLING_MODE_NONE. */
    ucp_err_handling_mode_t err_mode;
    /** Called when the peer is lost; see @a err_mode. */
    ucp_err_handler_t err_handler;
    /**
     * Passed to the error handler instead of ucp_err_handler_t::arg, and
     * returned by ucp_stream_worker_poll() and ucp_ep_query().
     */
    void *user_data;
    /** Bits of ucp_ep_params_flags_field. */
    unsigned flags;
    /** Address of the peer's listener; needs
     *  UCP_EP_PARAMS_FLAGS_CLIENT_SERVER. */
    ucs_sock_addr_t sockaddr;
    /** The connection request to accept; released, even on failure. */
    ucp_conn_request_h conn_request;
    /**
     * Name for log messages and tools; the first UCP_ENTITY_NAME_MAX - 1 bytes
     * are copied. Default: generated.
     */
    const char *name;
    /** Local address to connect from, together with @a sockaddr; selects a
     *  device. */
    ucs_sock_addr_t local_sockaddr;
};

/** Bits of ucp_request_param_t::flags for ucp_ep_close_nbx(). */
typedef enum {
    /**
     * Close at once, without the peer's agreement; operations in flight end
     * with UCS_ERR_CANCELED. Both sides should use UCP_ERR_HANDLING_MODE_PEER,
     * because the peer sees a lost connection. Excludes
     * UCP_OP_ATTR_FLAG_NO_IMM_CMPL.
     */
    UCP_EP_CLOSE_FLAG_FORCE = UCS_BIT(0),
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
    UCP_EP_ATTR_FIELD_USER_DATA       = UCS_BIT(4),
};

/**
 * A transport that an endpoint uses and the device that it runs on. The strings
 * are zero-terminated and valid until the endpoint is closed. Members are only
 * added at the end; see ucp_transports_t::entry_size.
 */
typedef struct {
    const char *transport_name; /**< for example "tcp" */
    const char *device_name;    /**< for example "eth0" */
} ucp_transport_entry_t;

/** Buffer of the caller for a list of transports. */
typedef struct {
    /** Array of the caller, which receives the list. */
    ucp_transport_entry_t *entries;
    /** In: number of entries of the array; out: number of entries that are
     *  filled. */
    unsigned num_entries;
    /** In: sizeof(ucp_transport_entry_t) in the headers that the caller was
     *  compiled with. */
    size_t entry_size;
} ucp_transports_t;

/** Attributes of an endpoint. */
typedef struct ucp_ep_attr {
    /** Members to fill, bits of ucp_ep_attr_field. */
    uint64_t field_mask;
    /** Name of the endpoint, zero-terminated. */
    char name[UCP_ENTITY_NAME_MAX];
    /** Local address; only if connected by socket address. */
    struct sockaddr_storage local_sockaddr;
    /** Address of the peer; only if connected by socket address. */
    struct sockaddr_storage remote_sockaddr;
    /** Transports of the endpoint; the caller provides the array. */
    ucp_transports_t transports;
    /** ucp_ep_params_t::user_data */
    void *user_data;
} ucp_ep_attr_t;

/** Members of ucp_ep_evaluate_perf_param_t. */
typedef enum ucp_ep_perf_param_field {
    /** ucp_ep_evaluate_perf_param_t::message_size */
    UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE = UCS_BIT(0),
} ucp_ep_perf_param_field_t;

/** Members of ucp_ep_evaluate_perf_attr_t. */
typedef enum ucp_ep_perf_attr_field {
    /** ucp_ep_evaluate_perf_attr_t::estimated_time */
    UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME = UCS_BIT(0),
} ucp_ep_perf_attr_field_t;

/** Parameters of an estimate. */
typedef struct {
    /** Members given, bits of ucp_ep_perf_param_field_t. */
    uint64_t field_mask;
    /** Length of the message in bytes. Mandatory. */
    size_t message_size;
} ucp_ep_evaluate_perf_param_t;

/** Results of an estimate. */
typedef struct {
    /** Members to fill, bits of ucp_ep_perf_attr_field_t. */
    uint64_t field_mask;
    /** Time to send the message, in seconds. */
    double estimated_time;
} ucp_ep_evaluate_perf_attr_t;

/**
 * Creates an endpoint and starts to connect it. Returns without waiting for the
 * peer; operations may start at once and are queued until it is connected.
 * Later errors are reported to the error handler.
 *
 * @param worker  the worker that the endpoint belongs to
 * @param params  the peer and other parameters
 * @param ep_p    receives the endpoint; close it by ucp_ep_close_nbx()
 *
 * @return UCS_OK; UCS_ERR_UNREACHABLE if no transport reaches the peer;
 *         UCS_ERR_INVALID_ADDR if the address is invalid
 */
ucs_status_t ucp_ep_create(ucp_worker_h worker, const ucp_ep_params_t *params,
                           ucp_ep_h *ep_p);

/**
 * Closes an endpoint: by default after all its operations have completed, or at
 * once with UCP_EP_CLOSE_FLAG_FORCE. The endpoint must not be used afterwards,
 * unless one of the errors below says that it stays open.
 *
 * @param param  flags: ucp_ep_close_flags_t; callback: cb.send
 *
 * @return NULL if the operation is complete, a request if it is in progress, or
 *         an error as a pointer. The endpoint stays open after
 *         UCS_ERR_NO_MEMORY, UCS_ERR_INVALID_PARAM (excluded flags), and
 *         UCS_ERR_NO_RESOURCE (UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL is set and the
 *         close cannot complete at once). Any other error is the reason why the
 *         connection ended; the endpoint is closed then.
 */
ucs_status_ptr_t ucp_ep_close_nbx(ucp_ep_h ep,
                                  const ucp_request_param_t *param);

/**
 * Queries the attributes of an endpoint.
 *
 * @param attr  in: field_mask and the array of transports; out: the rest
 *
 * @return UCS_OK; UCS_ERR_NOT_CONNECTED if a socket address is requested and
 *         the endpoint has none, or a client's endpoint has none yet
 */
ucs_status_t ucp_ep_query(ucp_ep_h ep, ucp_ep_attr_t *attr);

/**
 * Estimates the duration of a tagged send of contiguous data on an endpoint.
 *
 * @param param  what to estimate
 * @param attr   in: field_mask; out: the selected members
 *
 * @return UCS_OK; UCS_ERR_NOT_CONNECTED while a client's endpoint is not
 *         connected yet; UCS_ERR_INVALID_PARAM without a size or a result
 */
ucs_status_t ucp_ep_evaluate_perf(ucp_ep_h ep,
                                  const ucp_ep_evaluate_perf_param_t *param,
                                  ucp_ep_evaluate_perf_attr_t *attr);

/** Prints an endpoint's transports and thresholds in readable form. */
void ucp_ep_print_info(ucp_ep_h ep, FILE *stream);

/** @} */

/* =========================================================================
 * Datatypes
 * ====================================================================== */

/** @addtogroup UCP_DATATYPE
 *  @{ */

/** The kinds of datatype: the low bits of a ucp_datatype_t. */
enum ucp_dt_type {
    /** Contiguous elements. */
    UCP_DATATYPE_CONTIG     = 0,
    /** Elements at a fixed distance; reserved. */
    UCP_DATATYPE_STRIDED    = 1,
    /** A list of buffers, ucp_dt_iov_t. */
    UCP_DATATYPE_IOV        = 2,
    /** Packed and unpacked by functions of the application. */
    UCP_DATATYPE_GENERIC    = 7,
    /** Number of low bits that contain the kind. */
    UCP_DATATYPE_SHIFT      = 3,
    /** The low bits that contain the kind. */
    UCP_DATATYPE_CLASS_MASK = UCS_MASK(UCP_DATATYPE_SHIFT),
};

/**
 * The datatype of a plain array with elements of @a _elem_size bytes. A stream
 * receive returns a whole number of elements; other messages may end at any
 * byte.
 */
#define ucp_dt_make_contig(_elem_size) \
    ((((ucp_datatype_t)(_elem_size)) << UCP_DATATYPE_SHIFT) | \
     UCP_DATATYPE_CONTIG)

/**
 * The datatype of a scattered buffer: the `buffer` of an operation is an array
 * of ucp_dt_iov_t and `count` its number of entries. A shorter message may end
 * at any byte.
 */
#define ucp_dt_make_iov() ((ucp_datatype_t)UCP_DATATYPE_IOV)

/**
 * One entry of a scattered buffer. The array must be valid until the operation
 * completes.
 */
typedef struct ucp_dt_iov {
    /** Ignored if @a length is 0. */
    void *buffer;
    /** Bytes. */
    size_t length;
} ucp_dt_iov_t;

/**
 * The functions of a generic datatype. Each operation creates one state by
 * start_pack or start_unpack and releases it by finish. The functions are
 * called from operations and from progress, and must not call UCP.
 */
typedef struct ucp_generic_dt_ops {
    /**
     * Starts a send.
     *
     * @param context  as given to ucp_dt_create_generic()
     * @param buffer   the buffer of the operation
     * @param count    number of elements in the buffer
     * @return the state for the functions below
     */
    void *(*start_pack)(void *context, const void *buffer, size_t count);

    /** Starts a receive; see start_pack. */
    void *(*start_unpack)(void *context, void *buffer, size_t count);

    /** Returns the size of all packed elements in bytes. */
    size_t (*packed_size)(void *state);

    /**
     * Packs a part.
     *
     * @param state       what start_pack returned
     * @param offset      offset of the part in the packed data, in bytes
     * @param dest        where to put the packed bytes
     * @param max_length  maximum number of bytes to write
     * @return number of bytes written, at most @a max_length
     */
    size_t (*pack)(void *state, size_t offset, void *dest, size_t max_length);

    /**
     * Unpacks a part; parts may arrive in any order.
     *
     * @param state   what start_unpack returned
     * @param offset  offset of the part in the packed data, in bytes
     * @param src     the packed bytes
     * @param length  number of bytes
     * @return UCS_OK, or the error with which the receive completes
     */
    ucs_status_t (*unpack)(void *state, size_t offset, const void *src,
                           size_t length);

    /** Releases a state, at the end of the operation. */
    void (*finish)(void *state);
} ucp_generic_dt_ops_t;

/** Members of ucp_datatype_attr_t. */
enum ucp_datatype_attr_field {
    /** ucp_datatype_attr_t::packed_size, to be filled */
    UCP_DATATYPE_ATTR_FIELD_PACKED_SIZE = UCS_BIT(0),
    /** ucp_datatype_attr_t::buffer, given */
    UCP_DATATYPE_ATTR_FIELD_BUFFER      = UCS_BIT(1),
    /** ucp_datatype_attr_t::count, given */
    UCP_DATATYPE_ATTR_FIELD_COUNT       = UCS_BIT(2),
};

/** Attributes of a datatype, for a given buffer. */
typedef struct ucp_datatype_attr {
    /** Members given or to fill, bits of ucp_datatype_attr_field. */
    uint64_t field_mask;
    /** Out: bytes of the packed data. */
    size_t packed_size;
    /** In: the buffer, for datatypes whose size depends on it; default NULL. */
    const void *buffer;
    /** In: number of elements in the buffer; default 1. */
    size_t count;
} ucp_datatype_attr_t;

/**
 * Creates a datatype from a set of functions. Any worker may use it.
 *
 * @param ops         the functions, copied
 * @param context     passed to start_pack and start_unpack
 * @param datatype_p  receives the datatype; destroy it by ucp_dt_destroy()
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM if a function is missing;
 *         UCS_ERR_NO_MEMORY
 */
ucs_status_t ucp_dt_create_generic(const ucp_generic_dt_ops_t *ops,
                                   void *context, ucp_datatype_t *datatype_p);

/**
 * Destroys a datatype, after all operations with it have completed. Required
 * for generic datatypes; no effect on others.
 */
void ucp_dt_destroy(ucp_datatype_t datatype);

/**
 * Queries the attributes of a datatype.
 *
 * @param attr  in: field_mask and the buffer; out: the size
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for an unknown datatype, or for
 *         ucp_dt_make_iov() without a buffer
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
 * @param ep      the endpoint to the receiver
 * @param buffer  the data
 * @param count   number of elements
 * @param tag     the tag that receives match
 * @param param   callback: cb.send
 *
 * @return NULL if the operation is complete, a request if it is in progress, or
 *         an error as a pointer: UCS_ERR_NO_RESOURCE if
 *         UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL is set and the message cannot be sent
 *         at once
 */
ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h ep, const void *buffer, size_t count,
                                  ucp_tag_t tag,
                                  const ucp_request_param_t *param);

/**
 * Like ucp_tag_send_nbx(), but completes only after a receive has matched the
 * message, which may still be in transfer. Never returns NULL. Other
 * implementations of this interface return UCS_ERR_UNSUPPORTED on endpoints
 * with UCP_ERR_HANDLING_MODE_PEER.
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
 * @param tag_mask  the bits of the tag to compare; 0 matches any message
 * @param param     callback: cb.recv; recv_info.tag_info if NULL is returned
 *
 * @return NULL if the operation is complete, a request if it is in progress, or
 *         an error as a pointer: UCS_ERR_NO_RESOURCE if
 *         UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL is set and no message has arrived
 */
ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void *buffer,
                                  size_t count, ucp_tag_t tag,
                                  ucp_tag_t tag_mask,
                                  const ucp_request_param_t *param);

/**
 * Checks for a message that has arrived, completely or in part, and that no
 * receive has matched. Makes no progress, so call ucp_worker_progress() between
 * the calls.
 *
 * @param worker    the receiver
 * @param tag       the tag to match
 * @param tag_mask  the bits of the tag to compare
 * @param remove    1: remove the message from the queue; it must then be
 *                  received by ucp_tag_msg_recv_nbx(). 0: leave it in the
 *                  queue; the result can only be compared with NULL.
 * @param info      filled if there is a message
 *
 * @return NULL if there is no such message; otherwise its handle
 */
ucp_tag_message_h ucp_tag_probe_nb(ucp_worker_h worker, ucp_tag_t tag,
                                   ucp_tag_t tag_mask, int remove,
                                   ucp_tag_recv_info_t *info);

/**
 * Receives a message that ucp_tag_probe_nb() removed from the queue.
 *
 * @param message  the message; must not be used afterwards. The rest as in
 *                 ucp_tag_recv_nbx().
 *
 * @return NULL if the operation is complete, a request if it is in progress, or
 *         an error as a pointer
 */
ucs_status_ptr_t ucp_tag_msg_recv_nbx(ucp_worker_h worker, void *buffer,
                                      size_t count, ucp_tag_message_h message,
                                      const ucp_request_param_t *param);

/** @} */

/* =========================================================================
 * Active messages (UCP_FEATURE_AM)
 *
 * When a message arrives, the library calls the handler that the receiving
 * worker has set for the id of the message.
 * ====================================================================== */

/** @addtogroup UCP_COMM
 *  @{ */

/** Bits of ucp_am_handler_param_t::flags. */
enum ucp_am_cb_flags {
    /** No effect: the handler is always called once for each message, with the
     *  complete message or its descriptor. */
    UCP_AM_FLAG_WHOLE_MSG       = UCS_BIT(0),
    /**
     * The handler may always keep the data: every call with data has
     * UCP_AM_RECV_ATTR_FLAG_DATA set.
     */
    UCP_AM_FLAG_PERSISTENT_DATA = UCS_BIT(1),
};

/** Bits of ucp_request_param_t::flags for ucp_am_send_nbx(). */
enum ucp_send_am_flags {
    /** Give the handler an endpoint to the sender, for replies. */
    UCP_AM_SEND_FLAG_REPLY       = UCS_BIT(0),
    /** Use an eager protocol for any size. Excludes UCP_AM_SEND_FLAG_RNDV. */
    UCP_AM_SEND_FLAG_EAGER       = UCS_BIT(1),
    /** Use rendezvous for any size. Excludes UCP_AM_SEND_FLAG_EAGER. */
    UCP_AM_SEND_FLAG_RNDV        = UCS_BIT(2),
    /** The header can be reused when the call returns; it is copied if
     *  necessary. */
    UCP_AM_SEND_FLAG_COPY_HEADER = UCS_BIT(3),
    /** Former name of UCP_AM_SEND_FLAG_REPLY. */
    UCP_AM_SEND_REPLY            = UCP_AM_SEND_FLAG_REPLY,
};

/**
 * Members of ucp_am_recv_param_t and, from bit 16 on, the kind of data that the
 * handler receives. At most one of the two flags is set.
 */
typedef enum {
    /** ucp_am_recv_param_t::reply_ep */
    UCP_AM_RECV_ATTR_FIELD_REPLY_EP = UCS_BIT(0),
    /** The handler may keep the data by returning UCS_INPROGRESS. */
    UCP_AM_RECV_ATTR_FLAG_DATA      = UCS_BIT(16),
    /** The handler receives a descriptor, for ucp_am_recv_data_nbx(), instead
     *  of data. */
    UCP_AM_RECV_ATTR_FLAG_RNDV      = UCS_BIT(17),
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
    UCP_AM_HANDLER_PARAM_FIELD_ARG   = UCS_BIT(3),
};

/** A handler for active messages. The id and the function are mandatory. */
typedef struct ucp_am_handler_param {
    /** Members given, bits of ucp_am_handler_param_field. */
    uint64_t field_mask;
    /** The id of the messages, 0 to UINT16_MAX. */
    unsigned id;
    /** Bits of ucp_am_cb_flags. */
    uint32_t flags;
    /** The function; NULL removes the handler. */
    ucp_am_recv_callback_t cb;
    /** Passed to @a cb. */
    void *arg;
} ucp_am_handler_param_t;

/**
 * Sets the handler of active messages with an id. Messages that arrive before
 * the handler is set are dropped, so set handlers before peers have the address
 * of the worker. The handler does not receive messages of the deprecated
 * ucp_am_send_nb().
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM without UCP_FEATURE_AM, without an id
 *         or @a cb, or for unknown flags; UCS_ERR_NO_MEMORY
 */
ucs_status_t
ucp_worker_set_am_recv_handler(ucp_worker_h worker,
                               const ucp_am_handler_param_t *param);

/**
 * Sends an active message. Completes when @a buffer, and the header unless it
 * is copied, may be used again. A small message has the lowest latency if it is
 * sent as a header alone.
 *
 * @param ep             the endpoint to the receiver
 * @param id             id of the handler, 0 to UINT16_MAX
 * @param header         bytes for the handler; NULL if @a header_length is 0
 * @param header_length  bytes of the header, up to
 *                       ucp_worker_attr_t::max_am_header
 * @param buffer         the data
 * @param count          number of elements
 * @param param          flags: ucp_send_am_flags; callback: cb.send
 *
 * @return NULL if the operation is complete, a request if it is in progress, or
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
 * @param data_desc  the `data` of the handler; released, even on failure
 * @param buffer     where to put the data
 * @param count      number of elements that fit
 * @param param      callback: cb.recv_am; recv_info.length if NULL is returned
 *
 * @return NULL if the operation is complete, a request if it is in progress, or
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
 * A stream is a sequence of bytes in each direction of a connection, in order
 * and without message boundaries.
 * ====================================================================== */

/** @addtogroup UCP_COMM
 *  @{ */

/** Bits of ucp_request_param_t::flags for ucp_stream_recv_nbx(). */
typedef enum {
    /** Complete only when the buffer is full. */
    UCP_STREAM_RECV_FLAG_WAITALL = UCS_BIT(0),
} ucp_stream_recv_flags_t;

/** An endpoint that has data to receive. */
typedef struct ucp_stream_poll_ep {
    /** The endpoint. */
    ucp_ep_h ep;
    /** ucp_ep_params_t::user_data */
    void *user_data;
    /** Reserved. */
    unsigned flags;
    /** Reserved. */
    uint8_t reserved[16];
} ucp_stream_poll_ep_t;

/**
 * Appends to the stream. Completes when @a buffer may be used again.
 *
 * @param ep      the endpoint to the receiver
 * @param buffer  the data
 * @param count   number of elements
 * @param param   callback: cb.send
 *
 * @return NULL if the operation is complete, a request if it is in progress, or
 *         an error as a pointer
 */
ucs_status_ptr_t ucp_stream_send_nbx(ucp_ep_h ep, const void *buffer,
                                     size_t count,
                                     const ucp_request_param_t *param);

/**
 * Receives available data, at least one element and at most @a count; waits if
 * there is none.
 *
 * @param ep      the endpoint to the sender
 * @param buffer  where to put the data
 * @param count   number of elements that fit
 * @param length  if NULL is returned: bytes received, a whole number of
 *                elements
 * @param param   flags: ucp_stream_recv_flags_t; callback: cb.recv_stream
 *
 * @return NULL if the operation is complete, a request if it is in progress, or
 *         an error as a pointer. When NULL is returned, @a length is set
 */
ucs_status_ptr_t ucp_stream_recv_nbx(ucp_ep_h ep, void *buffer, size_t count,
                                     size_t *length,
                                     const ucp_request_param_t *param);

/**
 * Returns the available bytes in a buffer of the library, without a copy and
 * without waiting.
 *
 * @param ep      the endpoint to the sender
 * @param length  bytes in the buffer
 *
 * @return NULL if there is nothing, an error, or the data itself (not a
 *         request); release it by ucp_stream_data_release()
 */
ucs_status_ptr_t ucp_stream_recv_data_nb(ucp_ep_h ep, size_t *length);

/** Releases the data that ucp_stream_recv_data_nb() returned. */
void ucp_stream_data_release(ucp_ep_h ep, void *data);

/**
 * Finds endpoints that have data to receive. Makes no progress.
 *
 * @param worker    the worker of the endpoints
 * @param poll_eps  an array of the caller
 * @param max_eps   number of entries of the array
 * @param flags     0
 *
 * @return number of entries in the array, or a negative ucs_status_t
 */
ssize_t ucp_stream_worker_poll(ucp_worker_h worker,
                               ucp_stream_poll_ep_t *poll_eps, size_t max_eps,
                               unsigned flags);

/** @} */

/* =========================================================================
 * Memory
 *
 * Mapping registers memory with the devices, so that they access it without the
 * CPU. The owner packs the handle and sends the bytes to a peer, which unpacks
 * them on its endpoint to the owner and then uses put, get and atomics.
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
    UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER = UCS_BIT(5),
};

/** Bits of ucp_mem_map_params_t::flags. */
enum {
    /** Return early; pages may be mapped at their first use. */
    UCP_MEM_MAP_NONBLOCK       = UCS_BIT(0),
    /** Allocate the memory also; the address is a hint. */
    UCP_MEM_MAP_ALLOCATE       = UCS_BIT(1),
    /** Allocate exactly at the address, which must be a multiple of the page
     *  size. */
    UCP_MEM_MAP_FIXED          = UCS_BIT(2),
    /**
     * A hint: make the unpacked remote keys of several processes equal for
     * segments that have the same address, length, protection and memory type,
     * and are all mapped with this flag. If ucp_rkey_compare() finds that keys
     * of a worker are equal, one of them is sufficient to access the segments
     * of all these processes. Keys of memory to which ucp_rkey_ptr() may return
     * a pointer are never equal.
     */
    UCP_MEM_MAP_SYMMETRIC_RKEY = UCS_BIT(3),
    /** Map and pin all pages now. Excludes UCP_MEM_MAP_NONBLOCK. */
    UCP_MEM_MAP_LOCK           = UCS_BIT(4),
};

/** Bits of ucp_mem_map_params_t::prot: allowed accesses. */
enum {
    UCP_MEM_MAP_PROT_LOCAL_READ   = UCS_BIT(0),
    UCP_MEM_MAP_PROT_LOCAL_WRITE  = UCS_BIT(1),
    UCP_MEM_MAP_PROT_REMOTE_READ  = UCS_BIT(8),
    UCP_MEM_MAP_PROT_REMOTE_WRITE = UCS_BIT(9),
};

/** Parameters of a mapping. */
typedef struct ucp_mem_map_params {
    /** Members given, bits of ucp_mem_map_params_field. */
    uint64_t field_mask;
    /** Start of the segment; see ucp_mem_map(). */
    void *address;
    /** Length in bytes. Mandatory, except with @a exported_memh_buffer. */
    size_t length;
    /** Bits of the flags UCP_MEM_MAP_NONBLOCK, ... */
    unsigned flags;
    /** Allowed accesses: bits UCP_MEM_MAP_PROT_LOCAL_READ, ...; default:
     *  all. */
    unsigned prot;
    /**
     * Type of memory to allocate, default UCS_MEMORY_TYPE_HOST. For existing
     * memory, its type, which must be correct; default: detected.
     */
    ucs_memory_type_t memory_type;
    /**
     * Bytes that a peer packed with UCP_MEMH_PACK_FLAG_EXPORT: map its segment
     * for local operations. The buffer can be released when the call returns.
     */
    const void *exported_memh_buffer;
} ucp_mem_map_params_t;

/** Members of ucp_mem_attr_t. */
enum ucp_mem_attr_field {
    /** ucp_mem_attr_t::address */
    UCP_MEM_ATTR_FIELD_ADDRESS  = UCS_BIT(0),
    /** ucp_mem_attr_t::length */
    UCP_MEM_ATTR_FIELD_LENGTH   = UCS_BIT(1),
    /** ucp_mem_attr_t::mem_type */
    UCP_MEM_ATTR_FIELD_MEM_TYPE = UCS_BIT(2),
};

/** Attributes of a mapped segment. */
struct ucp_mem_attr {
    /** Members to fill, bits of ucp_mem_attr_field. */
    uint64_t field_mask;
    /** Start address. */
    void *address;
    /** Length in bytes; may be more than requested. */
    size_t length;
    /** Type of the memory. */
    ucs_memory_type_t mem_type;
};

/** Members of ucp_mem_advise_params_t. */
enum ucp_mem_advise_params_field {
    /** ucp_mem_advise_params_t::address */
    UCP_MEM_ADVISE_PARAM_FIELD_ADDRESS = UCS_BIT(0),
    /** ucp_mem_advise_params_t::length */
    UCP_MEM_ADVISE_PARAM_FIELD_LENGTH  = UCS_BIT(1),
    /** ucp_mem_advise_params_t::advice */
    UCP_MEM_ADVISE_PARAM_FIELD_ADVICE  = UCS_BIT(2),
};

/** Expected use of memory. */
typedef enum ucp_mem_advice {
    /** No advice. */
    UCP_MADV_NORMAL = 0,
    /** Used soon: map the pages that UCP_MEM_MAP_NONBLOCK has not mapped. */
    UCP_MADV_WILLNEED,
} ucp_mem_advice_t;

/** An advice and the memory that it is for. All members are mandatory. */
typedef struct ucp_mem_advise_params {
    /** Members given, bits of ucp_mem_advise_params_field. */
    uint64_t field_mask;
    /** Start of the memory, inside the segment. */
    void *address;
    /** Length of the memory in bytes. */
    size_t length;
    /** How the memory will be used. */
    ucp_mem_advice_t advice;
} ucp_mem_advise_params_t;

/** Members of ucp_memh_pack_params_t. */
enum ucp_memh_pack_params_field {
    /** ucp_memh_pack_params_t::flags */
    UCP_MEMH_PACK_PARAM_FIELD_FLAGS = UCS_BIT(0),
};

/** Bits of ucp_memh_pack_params_t::flags. */
enum ucp_memh_pack_flags {
    /**
     * Pack for ucp_mem_map() rather than for ucp_ep_rkey_unpack(): a peer on
     * the same device can then use the memory in its local operations. Needs
     * UCP_FEATURE_EXPORTED_MEMH.
     */
    UCP_MEMH_PACK_FLAG_EXPORT = UCS_BIT(0),
};

/** Parameters to pack a memory handle. */
typedef struct ucp_memh_pack_params {
    /** Members given, bits of ucp_memh_pack_params_field. */
    uint64_t field_mask;
    /** Bits of ucp_memh_pack_flags. */
    uint64_t flags;
} ucp_memh_pack_params_t;

/** Parameters to release a packed memory handle; none is defined. */
typedef struct ucp_memh_buffer_release_params {
    /** 0 */
    uint64_t field_mask;
} ucp_memh_buffer_release_params_t;

/** Parameters to compare remote keys; none is defined. */
typedef struct ucp_rkey_compare_params {
    /** 0 */
    uint64_t field_mask;
} ucp_rkey_compare_params_t;

/**
 * Maps memory, and allocates it if requested. By address and flags:
 *
 *     address | ALLOCATE | FIXED | result
 *     NULL    | no       | no    | error unless length is 0
 *     NULL    | yes      | no    | allocates, anywhere
 *     given   | no       | no    | maps the caller's memory
 *     given   | yes      | no    | allocates, near the address if possible
 *     given   | yes      | yes   | allocates at the address, or fails
 *     other combinations         | error
 *
 * The same memory may be mapped more than once. ucp_mem_query() returns the
 * address of allocated memory.
 *
 * @param context  the context to map in
 * @param params   what to map
 * @param memh_p   receives the handle; unmap it by ucp_mem_unmap()
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for a combination marked "error";
 *         UCS_ERR_NO_MEMORY if it cannot be allocated; UCS_ERR_INVALID_ADDR if
 *         the caller's host memory has pages that are not mapped in this
 *         process; UCS_ERR_UNSUPPORTED if no memory domain allocates memory of
 *         the type; UCS_ERR_UNREACHABLE if no memory domain can use the
 *         exported memory
 */
ucs_status_t ucp_mem_map(ucp_context_h context,
                         const ucp_mem_map_params_t *params, ucp_mem_h *memh_p);

/**
 * Unmaps memory, and frees it if ucp_mem_map() allocated it. At that time, no
 * operation of this process or of a peer may use the memory. Its remote keys
 * become invalid.
 *
 * @param context  the context in which it was mapped
 * @param memh     the handle
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM; or the error of the memory domain that
 *         cannot deregister the memory
 */
ucs_status_t ucp_mem_unmap(ucp_context_h context, ucp_mem_h memh);

/**
 * Queries the attributes of mapped memory.
 *
 * @param attr  in: field_mask; out: the selected members
 *
 * @return UCS_OK
 */
ucs_status_t ucp_mem_query(const ucp_mem_h memh, ucp_mem_attr_t *attr);

/**
 * Allocates and maps memory, prints which method allocated it and which memory
 * domains registered it, and unmaps it.
 *
 * @param mem_spec  "<size>[,<memory type>]", such as "32768" or "1m,cuda"
 * @param context   the context to map in
 * @param stream    where to print
 */
void ucp_mem_print_info(const char *mem_spec, ucp_context_h context,
                        FILE *stream);

/**
 * States the expected use of memory. The advice affects performance only, and
 * may have no effect.
 *
 * @param context  the context in which it was mapped
 * @param memh     the segment
 * @param params   the advice
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM if the range is not inside the mapped
 *         memory; or the error of a memory domain
 */
ucs_status_t ucp_mem_advise(ucp_context_h context, ucp_mem_h memh,
                            ucp_mem_advise_params_t *params);

/**
 * Packs a memory handle into bytes for a peer; any architecture can read them.
 * The application sends them to the peer. Every process that has these bytes
 * can access the memory.
 *
 * @param memh           the segment
 * @param params         NULL or no flags: for ucp_ep_rkey_unpack(); otherwise
 *                       see UCP_MEMH_PACK_FLAG_EXPORT
 * @param buffer_p       receives the bytes; release them by
 *                       ucp_memh_buffer_release()
 * @param buffer_size_p  receives the number of bytes
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM; UCS_ERR_UNSUPPORTED if the memory
 *         cannot be exported; UCS_ERR_NO_MEMORY
 */
ucs_status_t ucp_memh_pack(ucp_mem_h memh, const ucp_memh_pack_params_t *params,
                           void **buffer_p, size_t *buffer_size_p);

/**
 * Releases the bytes that ucp_memh_pack() returned. Unmaps nothing.
 *
 * @param params  NULL, or an empty structure
 */
void ucp_memh_buffer_release(void *buffer,
                             const ucp_memh_buffer_release_params_t *params);

/**
 * Creates a remote key from the bytes that the owner of the memory packed.
 *
 * @param ep           the endpoint to the owner; the key is valid on it only,
 *                     except for UCP_MEM_MAP_SYMMETRIC_RKEY
 * @param rkey_buffer  the bytes, unchanged
 * @param rkey_p       receives the key; destroy it by ucp_rkey_destroy()
 *
 * @return UCS_OK; UCS_ERR_UNREACHABLE if no transport of the endpoint can use
 *         the key
 */
ucs_status_t ucp_ep_rkey_unpack(ucp_ep_h ep, const void *rkey_buffer,
                                ucp_rkey_h *rkey_p);

/**
 * Returns a local pointer to a peer's memory, if it is shared memory.
 *
 * @param rkey    the key
 * @param raddr   an address in the owner's process, inside the segment
 * @param addr_p  receives the pointer, which is valid as long as the key
 *
 * @return UCS_OK; UCS_ERR_UNREACHABLE if the memory cannot be accessed in this
 *         way; UCS_ERR_INVALID_ADDR if @a raddr is outside the segment
 */
ucs_status_t ucp_rkey_ptr(ucp_rkey_h rkey, uint64_t raddr, void **addr_p);

/**
 * Compares two remote keys of a worker. The result is a total order, usable for
 * sorting. Equal keys give the same access, so that one of them is sufficient.
 *
 * @param worker  the worker of both
 * @param params  not NULL; no parameter is defined
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
 * The owner of the memory does not take part, except that it must call progress
 * if the transport needs it. Only ucp_dt_make_contig(1) is supported.
 * Operations are not ordered among each other; ucp_worker_fence() orders them.
 * ====================================================================== */

/** @addtogroup UCP_COMM
 *  @{ */

/**
 * Writes to a peer's memory. Completes when @a buffer may be used again; the
 * data is guaranteed to be at the peer only after a flush.
 *
 * @param ep           the endpoint to the owner
 * @param buffer       the data
 * @param count        number of bytes
 * @param remote_addr  destination, an address in the owner's process
 * @param rkey         the key, unpacked on @a ep
 * @param param        callback: cb.send
 *
 * @return NULL if the operation is complete, a request if it is in progress, or
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
 * @param count        number of bytes
 * @param remote_addr  source, an address in the owner's process
 * @param rkey         the key, unpacked on @a ep
 * @param param        callback: cb.send
 *
 * @return NULL if the operation is complete, a request if it is in progress, or
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
 * The operations on a remote value Y with an operand X. The old Y goes to
 * ucp_request_param_t::reply_buffer: always with SWAP and CSWAP, with the other
 * operations if it is given.
 */
typedef enum {
    /** Y += X */
    UCP_ATOMIC_OP_ADD,
    /** Y = X */
    UCP_ATOMIC_OP_SWAP,
    /** if Y == X then Y = the initial value of the reply buffer */
    UCP_ATOMIC_OP_CSWAP,
    /** Y &= X */
    UCP_ATOMIC_OP_AND,
    /** Y |= X */
    UCP_ATOMIC_OP_OR,
    /** Y ^= X */
    UCP_ATOMIC_OP_XOR,
    /** Number of operations; not an operation. */
    UCP_ATOMIC_OP_LAST,
} ucp_atomic_op_t;

/**
 * Changes a value in a peer's memory, atomically with respect to all other such
 * operations. With a reply buffer, the operation completes when the reply
 * buffer contains the old value; without a reply buffer, when @a buffer may be
 * used again.
 *
 * @param ep           the endpoint to the owner
 * @param opcode       the operation
 * @param buffer       the operand
 * @param count        1
 * @param remote_addr  address of the value in the owner's process, aligned to
 *                     its size
 * @param rkey         the key, unpacked on @a ep
 * @param param        datatype: ucp_dt_make_contig(4) or (8), mandatory;
 *                     reply_buffer; callback: cb.send
 *
 * @return NULL if the operation is complete, a request if it is in progress, or
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
 * A fence orders: operations that are issued on an endpoint after the fence
 * take effect after those that were issued before it. A flush waits: when it
 * completes, all puts, gets and atomics that were issued before it are
 * complete, here and at the target.
 * ====================================================================== */

/** @addtogroup UCP_COMM
 *  @{ */

/**
 * Orders the operations of each endpoint of a worker: puts, gets and atomics
 * that were issued before the fence are complete before any operation, of any
 * kind, that is issued on the same endpoint after the fence. Does not wait.
 *
 * @return UCS_OK, or the error of an endpoint that cannot order its operations
 */
ucs_status_t ucp_worker_fence(ucp_worker_h worker);

/**
 * Flushes all endpoints of a worker: completes when all puts, gets and atomics
 * that were issued on them before the flush are complete.
 *
 * @param param  callback: cb.send
 *
 * @return NULL if the operation is complete, a request if it is in progress, or
 *         an error as a pointer
 */
ucs_status_ptr_t ucp_worker_flush_nbx(ucp_worker_h worker,
                                      const ucp_request_param_t *param);

/**
 * Flushes one endpoint: completes when all puts, gets and atomics that were
 * issued on it before the flush are complete.
 *
 * @param param  callback: cb.send
 *
 * @return NULL if the operation is complete, a request if it is in progress, or
 *         an error as a pointer
 */
ucs_status_ptr_t ucp_ep_flush_nbx(ucp_ep_h ep,
                                  const ucp_request_param_t *param);

/** @} */

END_C_DECLS

#endif
