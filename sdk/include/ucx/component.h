/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Components and memory domains: what a plugin offers, and the memory that it
 * can access.
 *
 * A component is a family of transports that share memory domains. A memory
 * domain (MD) is an opened device or mechanism that registers memory.
 */
#ifndef UCX_COMPONENT_H
#define UCX_COMPONENT_H

#include <uct/api/uct.h>
#include <ucx/abi.h>
#include <ucx/config.h>

UCX_BEGIN_DECLS

typedef struct ucx_component ucx_component_t;
typedef struct ucx_md_ops ucx_md_ops_t;
typedef struct ucx_transport ucx_transport_t;
typedef struct ucx_cm_ops ucx_cm_ops_t;

/**
 * Head of every memory domain; the plugin's state follows it. The plugin
 * allocates the whole object and initializes the head with ucx_md_init().
 */
struct uct_md {
    const ucx_md_ops_t *ops;          /**< The plugin's table, in which the core
                                       *   has filled missing slots */
    const ucx_component_t *component; /**< The component that opened the
                                       *   domain */
    void *host;                       /**< Private to the core */
};
typedef struct uct_md uct_md_t;

/** Arguments of md_open. */
typedef struct ucx_md_open_args {
    size_t size;        /**< sizeof(ucx_md_open_args_t) */
    uct_md_t head;      /**< For ucx_md_init() */
    const char *name;   /**< One of the names from query_md_resources */
    const void *config; /**< Options of the component's md_config, or NULL;
                         *   valid during the call only */
} ucx_md_open_args_t;

static inline void ucx_md_init(uct_md_t *md, const ucx_md_open_args_t *args)
{
    *md = args->head;
}

/** Capabilities and costs of a memory domain. */
typedef struct ucx_md_attr {
    size_t size;
    uint64_t flags;     /**< UCT_MD_FLAG_* */
    uint64_t max_alloc; /**< Longest allocation in bytes; 0: the domain cannot
                         *   allocate */
    uint64_t max_reg;   /**< Longest registration in bytes; 0: the domain cannot
                         *   register */
    /** Memory types that can be registered. In this and all other masks of
     * memory types, bit n is the value n of ucs_memory_type_t. */
    uint64_t reg_mem_types;
    uint64_t reg_nonblock_mem_types; /**< Types that are registered without
                                      *   pinning their pages */
    uint64_t cache_mem_types;        /**< Types whose registrations are worth
                                      *   keeping in a registration cache */
    uint64_t detect_mem_types;       /**< Types that mem_query detects */
    uint64_t alloc_mem_types;
    uint64_t access_mem_types;        /**< The device accesses these without
                                       *   registration */
    uint64_t dmabuf_mem_types;        /**< Types that mem_query can export as a
                                       *   dmabuf */
    ucs_linear_func_t reg_cost;       /**< Seconds that a registration takes, as
                                       *   a function of its bytes */
    size_t rkey_packed_size;          /**< Bytes of a key from mkey_pack */
    size_t exported_mkey_packed_size; /**< Bytes of a key from mkey_pack with
                                       *   UCX_MKEY_PACK_EXPORT */
    size_t reg_alignment;             /**< Alignment of registered ranges in
                                       *   bytes: 0 or a power of two */
    uint64_t global_id;               /**< Same value for domains of the
                                       *   same device; 0: unknown */
    ucs_cpu_set_t local_cpus;         /**< Processors close to the device */
    size_t process_key_packed_size;   /**< Bytes of a key from mkey_pack with
                                       *   UCX_MKEY_PACK_PROCESS; 0: not
                                       *   supported. Since 1.2 */
} ucx_md_attr_t;

/** Parameters of mem_alloc. */
typedef struct ucx_mem_alloc_params {
    size_t size;
    unsigned flags; /**< UCT_MD_MEM_FLAG_*, UCT_MD_MEM_ACCESS_* */
    /** Type of the memory to allocate */
    ucs_memory_type_t mem_type;
    ucs_sys_device_t sys_dev; /**< Device whose memory to allocate;
                               *   UCS_SYS_DEVICE_ID_UNKNOWN: any */
    const char *name;         /**< For tools and leak reports; may be NULL */
    uint64_t secret;          /**< See ucx_mem_reg_params_t */
} ucx_mem_alloc_params_t;

/** Parameters of mem_reg. */
typedef struct ucx_mem_reg_params {
    size_t size;
    unsigned flags; /**< UCT_MD_MEM_FLAG_*, UCT_MD_MEM_ACCESS_* */
    /** File descriptor of a dmabuf that contains the memory to register; -1:
     *  only `address` of mem_reg describes the memory */
    int dmabuf_fd;
    /** Offset of the memory in the dmabuf */
    size_t dmabuf_offset;
    uint64_t secret; /**< Random number that replaces the domain's own secret in
                      *   the memory's keys. A peer whose key contains the
                      *   secret may access the memory. If several domains
                      *   register the memory with the same number, a message
                      *   with all keys contains the number only once.
                      *   Little-endian in packed keys. 0: the domain uses its
                      *   own secret */
} ucx_mem_reg_params_t;

/** Parameters of mem_dereg. */
typedef struct ucx_mem_dereg_params {
    size_t size;
    unsigned flags;         /**< UCX_MEM_DEREG_INVALIDATE */
    uct_completion_t *comp; /**< With UCX_MEM_DEREG_INVALIDATE: called when no
                             *   peer can access the memory any more */
} ucx_mem_dereg_params_t;

enum {
    /** mem_dereg: peers that hold a key of the memory lose access before `comp`
     *  is called. */
    UCX_MEM_DEREG_INVALIDATE = 1u << 0,
};

enum {
    /** mkey_pack: writes a key that another process or device passes to
     *  mem_attach, not to rkey_unpack */
    UCX_MKEY_PACK_EXPORT     = 1u << 0,
    /** mkey_pack: this key can be invalidated without invalidating other
     *  keys */
    UCX_MKEY_PACK_INVALIDATE = 1u << 1,
    /** mkey_pack: writes a key of all memory of this process that the domain
     *  could register, without a registration: `memh` and `address` are NULL.
     *  For transports whose accesses the system checks, not the key. The core
     *  sends it with a message that states address and length of the memory, if
     *  process_key_packed_size is not 0. Since 1.2 */
    UCX_MKEY_PACK_PROCESS    = 1u << 2,
};

/** Result of mem_query. Before the call, the core sets the types and devices to
 *  "unknown", and the range to the queried one. The domain does not write
 *  members whose value it cannot determine. */
typedef struct ucx_mem_attr {
    size_t size;
    ucs_memory_type_t mem_type;
    ucs_sys_device_t sys_dev;
    /** Start and length of the allocation that contains the queried memory */
    void *base_address;
    size_t alloc_length;
    int dmabuf_fd; /**< The caller closes it; -1: not exported */
    size_t dmabuf_offset;
    unsigned wanted; /**< Input: UCX_MEM_WANT_*; since 1.1 */
    uint32_t place;  /**< Number by which a copier (<ucx/transport.h>)
                      *   recognizes the memory; 0: none. Since 1.1 */
} ucx_mem_attr_t;

enum {
    /** mem_query: export the range as a dmabuf, for example to register it with
     *  a network device. Calls that only detect the memory type do not set this
     *  flag, because an export takes time. */
    UCX_MEM_WANT_DMABUF = 1u << 0,
};

/**
 * Operations of a memory domain. Several threads may call them at the same
 * time: the domain does its own locking. They may block for as long as a
 * registration takes. A slot that is NULL or beyond `size` is not supported.
 */
struct ucx_md_ops {
    size_t size;

    /** Frees the domain. Called once, after all its memory is deregistered and
     *  all its interfaces are closed. */
    void (*close)(uct_md_h md);

    /** Fills the members of `attr` within the first attr->size bytes. The core
     * has set all members to zero, except local_cpus, which has all bits set.
     * An error fails the opening of the domain. */
    ucs_status_t (*query)(uct_md_h md, ucx_md_attr_t *attr);

    /** Allocates and registers at least *length bytes; at *address, if *address
     *  is not NULL and UCT_MD_MEM_FLAG_FIXED is set. Stores the actual address,
     *  length and handle. The memory belongs to the domain until mem_free.
     *  UCS_ERR_NO_MEMORY: out of memory; UCS_ERR_UNSUPPORTED: type or flags not
     *  supported. */
    ucs_status_t (*mem_alloc)(uct_md_h md, size_t *length, void **address,
                              const ucx_mem_alloc_params_t *params,
                              uct_mem_h *memh_p);
    /** Frees memory from mem_alloc, exactly once. */
    ucs_status_t (*mem_free)(uct_md_h md, uct_mem_h memh);

    /** Passes a hint about the use of a registered range. May be ignored with
     *  UCS_OK. */
    ucs_status_t (*mem_advise)(uct_md_h md, uct_mem_h memh, void *address,
                               size_t length, uct_mem_advice_t advice);

    /** Registers memory of the caller, who keeps owning it.
     *  UCS_ERR_INVALID_ADDR: the range is not mapped, where the domain can
     *  detect that; UCS_ERR_UNSUPPORTED: type or flags not supported. */
    ucs_status_t (*mem_reg)(uct_md_h md, void *address, size_t length,
                            const ucx_mem_reg_params_t *params,
                            uct_mem_h *memh_p);
    /** Ends a registration from mem_reg or mem_attach. `memh` is invalid after
     *  the call. With UCX_MEM_DEREG_INVALIDATE, `params->comp` is called once,
     *  from any thread, unless the call fails. */
    ucs_status_t (*mem_dereg)(uct_md_h md, uct_mem_h memh,
                              const ucx_mem_dereg_params_t *params);

    /** Detects type, device and range of memory. UCS_ERR_INVALID_ADDR: the
     *  memory is of none of the types in detect_mem_types. */
    ucs_status_t (*mem_query)(uct_md_h md, const void *address, size_t length,
                              ucx_mem_attr_t *attr);

    /** Writes a key of rkey_packed_size bytes (of exported_mkey_packed_size
     * bytes with UCX_MKEY_PACK_EXPORT, of process_key_packed_size bytes with
     * UCX_MKEY_PACK_PROCESS). The key lets a peer access [address,
     * +length) of the registration; if `address` is NULL, the whole
     * registration. The bytes have an explicit byte order and contain no local
     * pointers, so that they can be sent. `flags`: UCX_MKEY_PACK_*;
     * UCS_ERR_UNSUPPORTED if it contains a flag that the domain does not
     * support. */
    ucs_status_t (*mkey_pack)(uct_md_h md, uct_mem_h memh, void *address,
                              size_t length, unsigned flags, void *buffer);

    /** Attaches memory that another process exported by mkey_pack with
     *  UCX_MKEY_PACK_EXPORT; mem_dereg releases it. The bytes come from a peer:
     *  check them before use. UCS_ERR_INVALID_PARAM: the key is not valid. */
    ucs_status_t (*mem_attach)(uct_md_h md, const void *buffer, size_t length,
                               uct_mem_h *memh_p);

    /** Returns non-zero if the process can listen on the address, or connect to
     *  it, as `mode` states. */
    int (*is_sockaddr_accessible)(uct_md_h md, const ucs_sock_addr_t *sockaddr,
                                  uct_sockaddr_accessibility_t mode);
};

/**
 * A component: constant data of the plugin. The core keeps the pointer until
 * the plugin's fini(). Several threads may call its slots at the same time; the
 * slots may block for as long as opening a device takes.
 */
struct ucx_component {
    size_t size;
    const char *name; /**< Shorter than UCT_COMPONENT_NAME_MAX, unique */
    uint64_t flags;   /**< UCT_COMPONENT_FLAG_* */

    /** Variables of the memory domain, whose values md_open receives in
     *  args->config, and of the connection manager, whose values
     *  ucx_cm_ops::open receives. NULL: there are no variables. */
    const ucx_config_table_t *md_config;
    const ucx_config_table_t *cm_config;

    /** Lists the domains that exist now, in an array from malloc() that the
     *  core frees. A missing device is no error: UCS_OK with *num_p = 0. */
    ucs_status_t (*query_md_resources)(const ucx_component_t *component,
                                       uct_md_resource_desc_t **mds_p,
                                       unsigned *num_p);

    /** Opens the domain `args->name`. The core calls `md_ops->close` to free
     *  it. UCS_ERR_NO_DEVICE: the device does not exist any more. */
    ucs_status_t (*md_open)(const ucx_component_t *component,
                            const ucx_md_open_args_t *args, uct_md_h *md_p);
    const ucx_md_ops_t *md_ops;

    /* Remote keys. Unpacking needs no domain: any process that has the
     * component can unpack them. If the four slots are NULL, keys are empty. */

    /** Unpacks a key; rkey_release frees the result. The bytes come from a peer
     *  and are checked: a bad key is UCS_ERR_INVALID_PARAM, never an over-read.
     *  `length` bytes are readable at `buffer`; SIZE_MAX: the caller does not
     *  know the length and guarantees one whole key of rkey_packed_size bytes.
     *  A key of process_key_packed_size bytes has exactly this length. `sys_dev` is the device
     *  that will use the key, or UCS_SYS_DEVICE_ID_UNKNOWN. */
    ucs_status_t (*rkey_unpack)(const ucx_component_t *component,
                                const void *buffer, size_t length,
                                ucs_sys_device_t sys_dev, uct_rkey_t *rkey_p,
                                void **handle_p);
    /** Stores the local address at which remote memory can be loaded and
     *  stored. UCS_ERR_UNSUPPORTED: there is none. */
    ucs_status_t (*rkey_ptr)(const ucx_component_t *component, uct_rkey_t rkey,
                             void *handle, uint64_t remote_address,
                             void **local_address_p);
    /** Frees an unpacked key. Called exactly once, when no operation uses the
     *  key any more. */
    ucs_status_t (*rkey_release)(const ucx_component_t *component,
                                 uct_rkey_t rkey, void *handle);
    /** Orders two keys: stores a number below, equal to or above 0 in *result
     *  if `a` is less than, equal to or greater than `b`. */
    ucs_status_t (*rkey_compare)(const ucx_component_t *component, uct_rkey_t a,
                                 uct_rkey_t b, int *result);

    const ucx_transport_t *const *transports; /**< num_transports entries */
    unsigned num_transports;

    /** The connection manager, or NULL. See <ucx/cm.h>. */
    const ucx_cm_ops_t *cm_ops;

    /** Checks whether this process can use the component. For this it may start
     *  drivers and devices, even if that is slow; query_md_resources and
     *  md_open do not, and leave a slow start to the first use. Only tools call
     *  it, from any thread. An error means that the component cannot be used;
     *  `reason` receives a text of at most `reason_size` bytes that says why
     *  and what to do. Default: UCS_OK. Since 1.1 */
    ucs_status_t (*inspect)(const ucx_component_t *component, char *reason,
                            size_t reason_size);
};

UCX_END_DECLS

#endif
