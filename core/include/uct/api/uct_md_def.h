/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types of memory: capabilities of memory domains, parameters of allocation and
 * registration, and local and remote handles of memory. The calls are in
 * uct_md.h.
 */
#ifndef UCT_API_UCT_MD_DEF_H_
#define UCT_API_UCT_MD_DEF_H_

#include <uct/api/uct_def.h>
#include <ucs/datastruct/linear_func.h>
#include <ucs/memory/memory_type.h>
#include <ucs/sys/topo_def.h>
#include <ucs/type/cpu_set.h>

BEGIN_C_DECLS

/** @addtogroup UCT_MD
 *  @{ */

/** Bits of uct_md_attr::cap.flags. */
enum {
    UCT_MD_FLAG_ALLOC         = UCS_BIT(0),  /**< Allocates memory */
    UCT_MD_FLAG_REG           = UCS_BIT(1),  /**< Registers memory */
    UCT_MD_FLAG_NEED_MEMH     = UCS_BIT(2),  /**< Zero-copy operations need a
                                                  memory handle for local
                                                  data */
    UCT_MD_FLAG_NEED_RKEY     = UCS_BIT(3),  /**< Put, get and atomics need a
                                                  remote key */
    UCT_MD_FLAG_ADVISE        = UCS_BIT(4),  /**< Supports
                                              *   uct_md_mem_advise() */
    UCT_MD_FLAG_FIXED         = UCS_BIT(5),  /**< Allocates at a given
                                                  address */
    UCT_MD_FLAG_RKEY_PTR      = UCS_BIT(6),  /**< Obsolete: see
                                              *   UCT_COMPONENT_FLAG_RKEY_PTR */
    UCT_MD_FLAG_SOCKADDR      = UCS_BIT(7),  /**< Connects by socket address */
    UCT_MD_FLAG_INVALIDATE    = UCS_BIT(8),  /**< Can invalidate remote keys
                                              *   that peers still hold */
    UCT_MD_FLAG_EXPORTED_MKEY = UCS_BIT(9),  /**< Can export a memory key to
                                              *   another process on the same
                                              *   device, and import such a
                                              *   key */
    UCT_MD_FLAG_REG_DMABUF    = UCS_BIT(10), /**< Registers memory by its
                                                  dma-buf descriptor */
    UCT_MD_FLAG_LAST          = UCS_BIT(11), /**< First bit above the flags */
};

/** How to allocate or register memory. */
enum uct_md_mem_flags {
    /** A hint: pages may be mapped when first touched */
    UCT_MD_MEM_FLAG_NONBLOCK    = UCS_BIT(0),
    UCT_MD_MEM_FLAG_FIXED       = UCS_BIT(1), /**< Allocate at the given
                                               *   address, or fail */
    /** Lock the pages: allocation takes longer, access is faster */
    UCT_MD_MEM_FLAG_LOCK        = UCS_BIT(2),
    /** Print nothing on failure */
    UCT_MD_MEM_FLAG_HIDE_ERRORS = UCS_BIT(3),

    UCT_MD_MEM_ACCESS_REMOTE_PUT    = UCS_BIT(5), /**< Peers may write */
    UCT_MD_MEM_ACCESS_REMOTE_GET    = UCS_BIT(6), /**< Peers may read */
    UCT_MD_MEM_ACCESS_REMOTE_ATOMIC = UCS_BIT(7), /**< Peers may use atomics */
    UCT_MD_MEM_ACCESS_LOCAL_READ    = UCS_BIT(8), /**< Local operations may read
                                                   *   the memory */
    /** Local operations may write the memory */
    UCT_MD_MEM_ACCESS_LOCAL_WRITE   = UCS_BIT(9),

    /** A hint: if several processes register memory of the same address and
     *  length, try to give all of it the same remote key, so that a peer needs
     *  one key only */
    UCT_MD_MEM_SYMMETRIC_RKEY = UCS_BIT(10),
    /** Register the whole address space of the process */
    UCT_MD_MEM_GVA            = UCS_BIT(11),

    /** All local and remote access. */
    UCT_MD_MEM_ACCESS_ALL = UCT_MD_MEM_ACCESS_REMOTE_PUT |
                            UCT_MD_MEM_ACCESS_REMOTE_GET |
                            UCT_MD_MEM_ACCESS_REMOTE_ATOMIC |
                            UCT_MD_MEM_ACCESS_LOCAL_READ |
                            UCT_MD_MEM_ACCESS_LOCAL_WRITE,

    /** All access except atomics. */
    UCT_MD_MEM_ACCESS_RMA = UCT_MD_MEM_ACCESS_REMOTE_PUT |
                            UCT_MD_MEM_ACCESS_REMOTE_GET |
                            UCT_MD_MEM_ACCESS_LOCAL_READ |
                            UCT_MD_MEM_ACCESS_LOCAL_WRITE,
};

/** Attributes of a memory domain, see uct_md_query(). In bitmaps of memory
 *  types, bit n is ucs_memory_type_t n. */
struct uct_md_attr {
    struct {
        uint64_t max_alloc;        /**< Maximum length of one allocation in
                                    *   bytes */
        size_t max_reg;            /**< Maximum length of one registration in
                                    *   bytes */
        uint64_t flags;            /**< UCT_MD_FLAG_xx */
        uint64_t reg_mem_types;    /**< Types of memory that can be
                                    *   registered */
        uint64_t detect_mem_types; /**< Types of memory that the domain detects
                                    *   by the address */
        uint64_t alloc_mem_types;  /**< Types of memory that can be allocated */
        uint64_t access_mem_types; /**< Types of memory that its transports can
                                    *   read and write */
    } cap;                         /**< Capabilities */

    ucs_linear_func_t reg_cost; /**< Time of a registration in seconds, as a
                                 *   function of its bytes */
    char component_name[UCT_COMPONENT_NAME_MAX]; /**< Name of the component */
    size_t rkey_packed_size;  /**< Number of bytes that uct_md_mkey_pack()
                               *   writes */
    ucs_cpu_set_t local_cpus; /**< Processors close to the device */
};

/** Fields of uct_md_mem_attr to query. */
typedef enum uct_md_mem_attr_field {
    UCT_MD_MEM_ATTR_FIELD_MEM_TYPE      = UCS_BIT(0), /**< mem_type */
    UCT_MD_MEM_ATTR_FIELD_SYS_DEV       = UCS_BIT(1), /**< sys_dev */
    UCT_MD_MEM_ATTR_FIELD_BASE_ADDRESS  = UCS_BIT(2), /**< base_address */
    UCT_MD_MEM_ATTR_FIELD_ALLOC_LENGTH  = UCS_BIT(3), /**< alloc_length */
    UCT_MD_MEM_ATTR_FIELD_DMABUF_FD     = UCS_BIT(4), /**< dmabuf_fd */
    UCT_MD_MEM_ATTR_FIELD_DMABUF_OFFSET = UCS_BIT(5), /**< dmabuf_offset */
} uct_md_mem_attr_field_t;

/** Attributes of a range of memory, see uct_md_mem_query(). */
typedef struct uct_md_mem_attr {
    uint64_t field_mask;        /**< Bits of uct_md_mem_attr_field, set by
                                         the caller */
    ucs_memory_type_t mem_type; /**< Type, or UCS_MEMORY_TYPE_UNKNOWN */
    ucs_sys_device_t sys_dev;   /**< Device or node that contains the memory, or
                                 *   UCS_SYS_DEVICE_ID_UNKNOWN */
    void *base_address;         /**< Start of the allocation that contains the
                                 *   range; if the allocation is unknown, start
                                 *   of the range */
    size_t alloc_length;        /**< Length of the allocation that contains the
                                 *   range; if the allocation is unknown, length
                                 *   of the range */
    int dmabuf_fd;              /**< Descriptor by which another device can
                                 *   access the memory; the caller closes it.
                                 *   UCT_DMABUF_FD_INVALID if there is none */
    size_t dmabuf_offset;       /**< Offset of the range in the memory of
                                 *   dmabuf_fd, in bytes */
} uct_md_mem_attr_t;

/** Memory that uct_mem_alloc() allocated; argument of uct_mem_free(). */
typedef struct uct_allocated_memory {
    void *address;              /**< First byte */
    size_t length;              /**< Length in bytes, at least the requested
                                 *   length */
    uct_alloc_method_t method;  /**< Method that allocated the memory */
    ucs_memory_type_t mem_type; /**< Type of the memory */
    /** Domain that allocated the memory; only with UCT_ALLOC_METHOD_MD */
    uct_md_h md;
    /** Handle of the memory; only with UCT_ALLOC_METHOD_MD */
    uct_mem_h memh;
    ucs_sys_device_t sys_device; /**< Device of the memory, or
                                  *   UCS_SYS_DEVICE_ID_UNKNOWN */
} uct_allocated_memory_t;

/** An unpacked remote key, with the data that uct_rkey_release() needs. */
typedef struct uct_rkey_bundle {
    uct_rkey_t rkey; /**< Argument of put, get and atomics */
    void *handle;    /**< Private to the component */
    void *type;      /**< Private to the component */
} uct_rkey_bundle_t;

/** Fields of uct_mem_alloc_params_t that are set. */
typedef enum {
    UCT_MEM_ALLOC_PARAM_FIELD_FLAGS      = UCS_BIT(0), /**< flags */
    UCT_MEM_ALLOC_PARAM_FIELD_ADDRESS    = UCS_BIT(1), /**< address */
    UCT_MEM_ALLOC_PARAM_FIELD_MEM_TYPE   = UCS_BIT(2), /**< mem_type */
    UCT_MEM_ALLOC_PARAM_FIELD_MDS        = UCS_BIT(3), /**< mds */
    UCT_MEM_ALLOC_PARAM_FIELD_NAME       = UCS_BIT(4), /**< name */
    UCT_MEM_ALLOC_PARAM_FIELD_SYS_DEVICE = UCS_BIT(5), /**< sys_device */
} uct_mem_alloc_params_field_t;

/** Parameters of uct_mem_alloc(). */
typedef struct {
    uint64_t field_mask;        /**< Bits of uct_mem_alloc_params_field_t */
    unsigned flags;             /**< Bits of uct_md_mem_flags; by default, only
                                 *   local read and write access */
    void *address;              /**< Preferred address; NULL, the default, for
                                 *   any. With UCT_MD_MEM_FLAG_FIXED, allocation
                                 *   fails if the address cannot be used */
    ucs_memory_type_t mem_type; /**< Type of the memory to allocate; host memory
                                 *   by default */

    struct {
        const uct_md_h *mds; /**< Domains to try, in this order; may be NULL
                                    if count is 0 */
        unsigned count;      /**< Number of entries of `mds` */
    } mds; /**< For UCT_ALLOC_METHOD_MD, which is skipped if there are no
            *   domains */

    const char *name;            /**< Purpose of the memory, for log messages;
                                  *   "anonymous-uct_mem_alloc" by default */
    ucs_sys_device_t sys_device; /**< Device on which to allocate; by default
                                  *   UCS_SYS_DEVICE_ID_UNKNOWN, for any
                                  *   device */
} uct_mem_alloc_params_t;

/** @} */

END_C_DECLS

#endif
