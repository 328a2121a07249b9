/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types of memory: what a memory domain can do, how memory is to be allocated
 * or registered, and what identifies it locally and remotely. The calls are in
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
    UCT_MD_FLAG_ADVISE        = UCS_BIT(4),  /**< Takes advice,
                                                  uct_md_mem_advise() */
    UCT_MD_FLAG_FIXED         = UCS_BIT(5),  /**< Allocates at a given
                                                  address */
    UCT_MD_FLAG_RKEY_PTR      = UCS_BIT(6),  /**< Old name of what
                                                  UCT_COMPONENT_FLAG_RKEY_PTR
                                                  says */
    UCT_MD_FLAG_SOCKADDR      = UCS_BIT(7),  /**< Connects by socket address */
    UCT_MD_FLAG_INVALIDATE    = UCS_BIT(8),  /**< Can shut remote keys out while
                                                  peers still hold them */
    UCT_MD_FLAG_EXPORTED_MKEY = UCS_BIT(9),  /**< Can hand a memory key to
                                                  another process on the same
                                                  device, and attach to such a
                                                  key */
    UCT_MD_FLAG_REG_DMABUF    = UCS_BIT(10), /**< Registers memory by its
                                                  dma-buf descriptor */
    UCT_MD_FLAG_LAST          = UCS_BIT(11), /**< First unused bit; no
                                                  flag will be added here */
};

/** How to allocate or register memory. */
enum uct_md_mem_flags {
    /** A hint: pages may be mapped when first touched */
    UCT_MD_MEM_FLAG_NONBLOCK    = UCS_BIT(0),
    UCT_MD_MEM_FLAG_FIXED       = UCS_BIT(1), /**< At the given address, or
                                                        fail */
    /** Lock the pages: dearer now, faster later */
    UCT_MD_MEM_FLAG_LOCK        = UCS_BIT(2),
    /** Print nothing on failure */
    UCT_MD_MEM_FLAG_HIDE_ERRORS = UCS_BIT(3),

    UCT_MD_MEM_ACCESS_REMOTE_PUT    = UCS_BIT(5), /**< Peers may write */
    UCT_MD_MEM_ACCESS_REMOTE_GET    = UCS_BIT(6), /**< Peers may read */
    UCT_MD_MEM_ACCESS_REMOTE_ATOMIC = UCS_BIT(7), /**< Peers may use atomics */
    UCT_MD_MEM_ACCESS_LOCAL_READ    = UCS_BIT(8), /**< We may send from it */
    /** We may receive into it */
    UCT_MD_MEM_ACCESS_LOCAL_WRITE   = UCS_BIT(9),

    /** A hint: try to get the same remote key as every other process, so that a
     *  peer need keep only one */
    UCT_MD_MEM_SYMMETRIC_RKEY = UCS_BIT(10),
    /** Register the whole address space of the process */
    UCT_MD_MEM_GVA            = UCS_BIT(11),

    /** Everything, from here and from afar. */
    UCT_MD_MEM_ACCESS_ALL = UCT_MD_MEM_ACCESS_REMOTE_PUT |
                            UCT_MD_MEM_ACCESS_REMOTE_GET |
                            UCT_MD_MEM_ACCESS_REMOTE_ATOMIC |
                            UCT_MD_MEM_ACCESS_LOCAL_READ |
                            UCT_MD_MEM_ACCESS_LOCAL_WRITE,

    /** Everything but atomics. */
    UCT_MD_MEM_ACCESS_RMA = UCT_MD_MEM_ACCESS_REMOTE_PUT |
                            UCT_MD_MEM_ACCESS_REMOTE_GET |
                            UCT_MD_MEM_ACCESS_LOCAL_READ |
                            UCT_MD_MEM_ACCESS_LOCAL_WRITE,
};

/** What uct_md_query() tells. Bitmaps of memory types have bit n set for
 *  ucs_memory_type_t n. */
struct uct_md_attr {
    struct {
        uint64_t max_alloc;        /**< Most bytes that can be allocated */
        size_t max_reg;            /**< Most bytes that can be registered */
        uint64_t flags;            /**< UCT_MD_FLAG_xx */
        uint64_t reg_mem_types;    /**< Memory that can be registered */
        uint64_t detect_mem_types; /**< Memory that it recognises by its
                                        address */
        uint64_t alloc_mem_types;  /**< Memory that can be allocated */
        uint64_t access_mem_types; /**< Memory that its transports can read and
                                        write */
    } cap;                         /**< Abilities */

    ucs_linear_func_t reg_cost; /**< Seconds to register, as a function of
                                     bytes */
    char component_name[UCT_COMPONENT_NAME_MAX]; /**< Component it belongs to */
    size_t rkey_packed_size;  /**< Bytes that uct_md_mkey_pack()
                                             writes */
    ucs_cpu_set_t local_cpus; /**< Processors near the device */
};

/** Fields of uct_md_mem_attr that are asked for. */
typedef enum uct_md_mem_attr_field {
    UCT_MD_MEM_ATTR_FIELD_MEM_TYPE      = UCS_BIT(0), /**< mem_type */
    UCT_MD_MEM_ATTR_FIELD_SYS_DEV       = UCS_BIT(1), /**< sys_dev */
    UCT_MD_MEM_ATTR_FIELD_BASE_ADDRESS  = UCS_BIT(2), /**< base_address */
    UCT_MD_MEM_ATTR_FIELD_ALLOC_LENGTH  = UCS_BIT(3), /**< alloc_length */
    UCT_MD_MEM_ATTR_FIELD_DMABUF_FD     = UCS_BIT(4), /**< dmabuf_fd */
    UCT_MD_MEM_ATTR_FIELD_DMABUF_OFFSET = UCS_BIT(5), /**< dmabuf_offset */
} uct_md_mem_attr_field_t;

/** What uct_md_mem_query() tells about a range of addresses. */
typedef struct uct_md_mem_attr {
    uint64_t field_mask;        /**< Bits of uct_md_mem_attr_field, set by
                                         the caller */
    ucs_memory_type_t mem_type; /**< Type, or UCS_MEMORY_TYPE_UNKNOWN */
    ucs_sys_device_t sys_dev;   /**< Device or node that holds the memory,
                                         or UCS_SYS_DEVICE_ID_UNKNOWN */
    void *base_address;         /**< Start of the allocation that the range
                                         lies in; the range's own where that is
                                         not known */
    size_t alloc_length;        /**< Bytes of that allocation; the range's
                                         own where that is not known */
    int dmabuf_fd;              /**< Descriptor by which another device can
                                         reach the memory; the caller closes it.
                                         UCT_DMABUF_FD_INVALID where there is
                                         none */
    size_t dmabuf_offset;       /**< Bytes from the start of what dmabuf_fd
                                         stands for to the range */
} uct_md_mem_attr_t;

/** Memory that UCT allocated: what uct_mem_alloc() fills and uct_mem_free()
 *  takes. */
typedef struct uct_allocated_memory {
    void *address;               /**< First byte */
    size_t length;               /**< Bytes, not less than were asked for */
    uct_alloc_method_t method;   /**< Where it came from */
    ucs_memory_type_t mem_type;  /**< Its type */
    uct_md_h md;                 /**< With UCT_ALLOC_METHOD_MD: the domain */
    uct_mem_h memh;              /**< With UCT_ALLOC_METHOD_MD: its handle
                                        there */
    ucs_sys_device_t sys_device; /**< Device it is on, or
                                        UCS_SYS_DEVICE_ID_UNKNOWN */
} uct_allocated_memory_t;

/** An unpacked remote key, with what releasing it takes. */
typedef struct uct_rkey_bundle {
    uct_rkey_t rkey; /**< For put, get and atomics */
    void *handle;    /**< The component's own */
    void *type;      /**< The component's own */
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
    unsigned flags;             /**< Bits of uct_md_mem_flags; by default
                                       reading and writing from here only */
    void *address;              /**< Where to map; NULL, the default, for
                                       anywhere. A wish, unless flags has
                                       UCT_MD_MEM_FLAG_FIXED: then it is there
                                       or not at all */
    ucs_memory_type_t mem_type; /**< Host memory by default */

    struct {
        const uct_md_h *mds; /**< Domains to try, in this order; may be NULL
                                    if count is 0 */
        unsigned count;      /**< How many */
    } mds; /**< For UCT_ALLOC_METHOD_MD; that is passed over if there are
                none */

    const char *name;            /**< What the memory is for, in logs;
                                       "anonymous-uct_mem_alloc" by default */
    ucs_sys_device_t sys_device; /**< Device to allocate on, or
                                       UCS_SYS_DEVICE_ID_UNKNOWN, the default,
                                       for any */
} uct_mem_alloc_params_t;

/** @} */

END_C_DECLS

#endif
