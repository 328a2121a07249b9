/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Version of the plugin ABI, and the rule by which tables grow. The policy is
 * in sdk/ABI.md.
 */
#ifndef UCX_ABI_H
#define UCX_ABI_H

#include <stddef.h>
#include <stdint.h>

/** Encodes an ABI version as one number; a newer version is greater. */
#define UCX_PLUGIN_ABI(_major, _minor) \
    (((uint32_t)(_major) << 16) | (uint32_t)(_minor))

#define UCX_PLUGIN_ABI_MAJOR_OF(_abi) ((uint32_t)(_abi) >> 16)
#define UCX_PLUGIN_ABI_MINOR_OF(_abi) ((uint32_t)(_abi)&0xffffu)

/** The version that these headers describe. */
#define UCX_PLUGIN_ABI_MAJOR 1
#define UCX_PLUGIN_ABI_MINOR 2
#define UCX_PLUGIN_ABI_VERSION \
    UCX_PLUGIN_ABI(UCX_PLUGIN_ABI_MAJOR, UCX_PLUGIN_ABI_MINOR)

/**
 * True if the table `_t` contains the member `_m`. A table comes from the core
 * or from a plugin, which may be built with older headers than its reader.
 * Every table begins with `size_t size`, which its writer sets to sizeof the
 * table in the writer's headers. A reader must not access a member for which
 * this macro returns false.
 */
#define UCX_TABLE_HAS(_t, _m) \
    ((_t)->size >= offsetof(__typeof__(*(_t)), _m) + sizeof((_t)->_m))

/** Marks the entry point of a plugin as visible outside the shared object. */
#define UCX_PLUGIN_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
#define UCX_BEGIN_DECLS extern "C" {
#define UCX_END_DECLS   }
#else
#define UCX_BEGIN_DECLS
#define UCX_END_DECLS
#endif

#endif
