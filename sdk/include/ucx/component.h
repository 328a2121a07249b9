/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Components and memory domains: what a plugin offers, and the memory that it
 * can reach.
 *
 * A component is a family of transports that share memory domains. A memory
 * domain (MD) is an opened device or mechanism that memory is registered with.
 */
#ifndef UCX_COMPONENT_H
#define UCX_COMPONENT_H

#include <uct/api/uct.h>
#include <ucx/abi.h>
#include <ucx/config.h>

UCX_BEGIN_DECLS

typedef struct ucx_component ucx_component_t;
typedef struct ucx_md_ops    ucx_md_ops_t;
typedef struct ucx_transport ucx_transport_t;
typedef struct ucx_cm_ops    ucx_cm_ops_t;

/**
 * The head of every memory domain; the plugin's own state follows it. The
 * plugin allocates the whole and sets the head with ucx_md_init().
 */
struct uct_md {
    const ucx_md_ops_t    *ops;        /**< The core's complete table */
    const ucx_component_t *component;  /**< The one that opened it */
    void                  *host;       /**< The core's */
};
typedef struct uct_md uct_md_t;

/** What md_open is given. */
typedef struct ucx_md_open_args {
    size_t        size;     /**< sizeof(ucx_md_open_args_t) */
    uct_md_t      head;     /**< For ucx_md_init() */
    const char    *name;    /**< One of query_md_resources' names */
    const void    *config;  /**< The options of the component's md_config, or
                                 NULL; valid during the call only */
} ucx_md_open_args_t;

static inline void ucx_md_init(uct_md_t *md, const ucx_md_open_args_t *args)
{
    *md = args->head;
}

/** What a memory domain can do and what it costs. */
typedef struct ucx_md_attr {
    size_t            size;
    uint64_t          flags;              /**< UCT_MD_FLAG_* */
    uint64_t          max_alloc;          /**< Bytes; 0: cannot allocate */
    uint64_t          max_reg;            /**< Bytes; 0: cannot register */
    uint64_t          reg_mem_types;      /**< Bits by ucs_memory_type_t */
    uint64_t          reg_nonblock_mem_types; /**< Registered without pinning */
    uint64_t          cache_mem_types;    /**< Worth a registration cache */
    uint64_t          detect_mem_types;   /**< mem_query can tell these */
    uint64_t          alloc_mem_types;
    uint64_t          access_mem_types;   /**< The device reads and writes these
                                               without registration */
    uint64_t          dmabuf_mem_types;   /**< Exported as a dmabuf */
    ucs_linear_func_t reg_cost;           /**< Seconds, by bytes */
    size_t            rkey_packed_size;   /**< Bytes of mkey_pack */
    size_t            exported_mkey_packed_size; /**< ... of an exported one */
    size_t            reg_alignment;      /**< A power of two */
    uint64_t          global_id;          /**< Equal for domains of the same
                                               device; 0: not known */
    ucs_cpu_set_t     local_cpus;         /**< Close to the device */
} ucx_md_attr_t;

/** How to allocate. */
typedef struct ucx_mem_alloc_params {
    size_t            size;
    unsigned          flags;      /**< UCT_MD_MEM_FLAG_*, UCT_MD_MEM_ACCESS_* */
    ucs_memory_type_t mem_type;
    ucs_sys_device_t  sys_dev;    /**< UCS_SYS_DEVICE_ID_UNKNOWN: any */
    const char        *name;      /**< For tools and leak reports; may be NULL */
    uint64_t          secret;     /**< As of ucx_mem_reg_params_t */
} ucx_mem_alloc_params_t;

/** How to register. */
typedef struct ucx_mem_reg_params {
    size_t   size;
    unsigned flags;               /**< UCT_MD_MEM_FLAG_*, UCT_MD_MEM_ACCESS_* */
    int      dmabuf_fd;           /**< -1: by address */
    size_t   dmabuf_offset;
    uint64_t secret;              /**< A random number that only those get who
                                       may access the memory, for the domain's
                                       keys instead of one of its own: who sends
                                       the keys of several domains together
                                       sends it once. Little-endian in packed
                                       keys. 0: none */
} ucx_mem_reg_params_t;

/** How to deregister. */
typedef struct ucx_mem_dereg_params {
    size_t           size;
    unsigned         flags;       /**< UCX_MEM_DEREG_INVALIDATE */
    uct_completion_t *comp;       /**< With INVALIDATE: when no peer can reach
                                       the memory any more */
} ucx_mem_dereg_params_t;

enum {
    /** Peers that hold the key lose access before `comp` is called. */
    UCX_MEM_DEREG_INVALIDATE = 1u << 0
};

enum {
    /** mkey_pack: for mem_attach by another process or device, not for rkeys */
    UCX_MKEY_PACK_EXPORT      = 1u << 0,
    /** mkey_pack: the key can be invalidated on its own */
    UCX_MKEY_PACK_INVALIDATE  = 1u << 1
};

/** What mem_query tells; unknown members stay as they were. */
typedef struct ucx_mem_attr {
    size_t            size;
    ucs_memory_type_t mem_type;
    ucs_sys_device_t  sys_dev;
    void              *base_address;
    size_t            alloc_length;
    int               dmabuf_fd;      /**< -1: none; else the caller closes it */
    size_t            dmabuf_offset;
} ucx_mem_attr_t;

/**
 * Operations of a memory domain. Any thread may call them, several at once:
 * a domain locks for itself. They may block for as long as a registration
 * takes. A slot that is NULL or beyond `size` is "not supported".
 */
struct ucx_md_ops {
    size_t size;

    /** Frees the domain; everything registered with it is gone already. */
    void (*close)(uct_md_h md);

    /** Fills the members of `attr` that `attr->size` covers; the rest of it
     *  comes zeroed (local_cpus: all set). */
    ucs_status_t (*query)(uct_md_h md, ucx_md_attr_t *attr);

    /** Allocates at least *length bytes; at *address if that is not NULL and
     *  UCT_MD_MEM_FLAG_FIXED is set. Stores what it got in all three. */
    ucs_status_t (*mem_alloc)(uct_md_h md, size_t *length, void **address,
                              const ucx_mem_alloc_params_t *params,
                              uct_mem_h *memh_p);
    ucs_status_t (*mem_free)(uct_md_h md, uct_mem_h memh);

    ucs_status_t (*mem_advise)(uct_md_h md, uct_mem_h memh, void *address,
                               size_t length, uct_mem_advice_t advice);

    /** Registers memory of the caller's. UCS_ERR_INVALID_ADDR for a range that
     *  is not mapped, where that can be told. */
    ucs_status_t (*mem_reg)(uct_md_h md, void *address, size_t length,
                            const ucx_mem_reg_params_t *params,
                            uct_mem_h *memh_p);
    ucs_status_t (*mem_dereg)(uct_md_h md, uct_mem_h memh,
                              const ucx_mem_dereg_params_t *params);

    /** UCS_ERR_INVALID_ADDR: not memory of this domain's types. */
    ucs_status_t (*mem_query)(uct_md_h md, const void *address, size_t length,
                              ucx_mem_attr_t *attr);

    /** Writes rkey_packed_size (or exported_mkey_packed_size) bytes that let a
     *  peer reach [address, +length) of the registration, or all of it if
     *  address is NULL; position-independent bytes, explicit byte order, fit
     *  for a wire. */
    ucs_status_t (*mkey_pack)(uct_md_h md, uct_mem_h memh, void *address,
                              size_t length, unsigned flags, void *buffer);

    /** Opens memory that another process exported. The bytes are foreign:
     *  checked before use. */
    ucs_status_t (*mem_attach)(uct_md_h md, const void *buffer, size_t length,
                               uct_mem_h *memh_p);

    /** Non-zero if the address may be listened on / connected to here. */
    int (*is_sockaddr_accessible)(uct_md_h md, const ucs_sock_addr_t *sockaddr,
                                  uct_sockaddr_accessibility_t mode);
};

/**
 * A component. It is constant data of the plugin: the core keeps the pointer
 * until the plugin's fini().
 */
struct ucx_component {
    size_t     size;
    const char *name;    /**< Shorter than UCT_COMPONENT_NAME_MAX, unique */
    uint64_t   flags;    /**< UCT_COMPONENT_FLAG_* */

    /** Variables of the memory domain, and of the connection manager. Their
     *  options are handed to md_open and cm_open. NULL: none. */
    const ucx_config_table_t *md_config;
    const ucx_config_table_t *cm_config;

    /** Lists the domains that exist now, in an array from malloc() that the
     *  core frees. None is UCS_OK with *num = 0: "not there" is no error. */
    ucs_status_t (*query_md_resources)(const ucx_component_t *component,
                                       uct_md_resource_desc_t **mds_p,
                                       unsigned *num_p);

    ucs_status_t (*md_open)(const ucx_component_t *component,
                            const ucx_md_open_args_t *args, uct_md_h *md_p);
    const ucx_md_ops_t *md_ops;

    /* Remote keys. They need no domain: any process that has the component
     * can unpack. The packed bytes are foreign and checked: a bad key is
     * UCS_ERR_INVALID_PARAM, never an over-read. All NULL: keys are empty. */

    /** `length` bytes are readable at `buffer`; SIZE_MAX: the caller does not
     *  know, and vouches for one whole key. `sys_dev` is the device that will
     *  use the key, or UCS_SYS_DEVICE_ID_UNKNOWN. */
    ucs_status_t (*rkey_unpack)(const ucx_component_t *component,
                                const void *buffer, size_t length,
                                ucs_sys_device_t sys_dev, uct_rkey_t *rkey_p,
                                void **handle_p);
    /** The local address through which remote memory is loaded and stored. */
    ucs_status_t (*rkey_ptr)(const ucx_component_t *component, uct_rkey_t rkey,
                             void *handle, uint64_t remote_address,
                             void **local_address_p);
    ucs_status_t (*rkey_release)(const ucx_component_t *component,
                                 uct_rkey_t rkey, void *handle);
    /** Stores <0, 0, >0 in *result: an order among keys. */
    ucs_status_t (*rkey_compare)(const ucx_component_t *component,
                                 uct_rkey_t a, uct_rkey_t b, int *result);

    const ucx_transport_t *const *transports;   /**< num_transports of them */
    unsigned                    num_transports;

    /** The connection manager, or NULL. See <ucx/cm.h>. */
    const ucx_cm_ops_t *cm_ops;
};

UCX_END_DECLS

#endif
