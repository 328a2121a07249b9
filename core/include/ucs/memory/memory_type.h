/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types of memory in which a buffer may be. The values below
 * UCS_MEMORY_TYPE_LAST do not change, because they are used in masks and in
 * messages.
 */
#ifndef UCS_MEMORY_TYPE_H
#define UCS_MEMORY_TYPE_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/** @addtogroup UCS_RESOURCE
 *  @{ */

/** Type of memory. */
typedef enum ucs_memory_type {
    UCS_MEMORY_TYPE_HOST,         /**< Ordinary system memory */
    UCS_MEMORY_TYPE_CUDA,         /**< CUDA device memory */
    UCS_MEMORY_TYPE_CUDA_MANAGED, /**< CUDA managed (unified) memory */
    UCS_MEMORY_TYPE_ROCM,         /**< ROCm device memory */
    UCS_MEMORY_TYPE_ROCM_MANAGED, /**< ROCm managed memory */
    UCS_MEMORY_TYPE_RDMA,         /**< Memory on an RDMA device */
    UCS_MEMORY_TYPE_ZE_HOST,      /**< Level Zero host allocation */
    UCS_MEMORY_TYPE_ZE_DEVICE,    /**< Level Zero device allocation */
    UCS_MEMORY_TYPE_ZE_MANAGED,   /**< Level Zero shared allocation */
    UCS_MEMORY_TYPE_LAST,
    UCS_MEMORY_TYPE_UNKNOWN = UCS_MEMORY_TYPE_LAST,
} ucs_memory_type_t;

/* Types of memory that the CPU can access directly. As in OpenUCX, CUDA managed
 * memory is not among them: the CUDA driver copies it. */
#define UCS_MEMORY_TYPES_CPU_ACCESSIBLE \
    (UCS_BIT(UCS_MEMORY_TYPE_HOST) | UCS_BIT(UCS_MEMORY_TYPE_ROCM_MANAGED) | \
     UCS_BIT(UCS_MEMORY_TYPE_ZE_HOST) | UCS_BIT(UCS_MEMORY_TYPE_ZE_MANAGED))

/** UCS_MEM_IS_HOST is nonzero if the type is host memory,
 *  UCS_MEM_IS_ACCESSIBLE_FROM_CPU if the CPU can access memory of the type
 *  directly. */
#define UCS_MEM_IS_HOST(_type) ((_type) == UCS_MEMORY_TYPE_HOST)
#define UCS_MEM_IS_ACCESSIBLE_FROM_CPU(_type) \
    (!!(UCS_BIT(_type) & UCS_MEMORY_TYPES_CPU_ACCESSIBLE))

/* Iterates over all types. */
#define ucs_memory_type_for_each(_type) \
    for ((_type) = UCS_MEMORY_TYPE_HOST; (_type) < UCS_MEMORY_TYPE_LAST; \
         ++(_type))

/** Names of the types in settings, indexed by type, then "unknown"; terminated
 *  by NULL. */
extern const char *ucs_memory_type_names[];

/** Descriptions of the types for messages, in the same order as the names. */
extern const char *ucs_memory_type_descs[];

/** @} */

END_C_DECLS

#endif
