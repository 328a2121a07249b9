/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The version of the UCP interface that these headers describe. The version of
 * the library at run time may differ: see ucp_get_version().
 */
#ifndef UCP_API_UCP_VERSION_H
#define UCP_API_UCP_VERSION_H

/** Bit position of the major number in a packed version. */
#define UCP_VERSION_MAJOR_SHIFT 24

/** Bit position of the minor number in a packed version. */
#define UCP_VERSION_MINOR_SHIFT 16

/**
 * Packs two numbers into one that compares in version order, so that a client
 * may write `#if UCP_API_VERSION >= UCP_VERSION(1, 17)`.
 */
#define UCP_VERSION(_major, _minor) \
    (((_major) << UCP_VERSION_MAJOR_SHIFT) | \
     ((_minor) << UCP_VERSION_MINOR_SHIFT))

/** Increased when clients must be recompiled. */
#define UCP_API_MAJOR 1

/** Increased when something is added; clients that were compiled earlier keep
 *  working. */
#define UCP_API_MINOR 20

/** The interface version of these headers, packed by UCP_VERSION(). */
#define UCP_API_VERSION UCP_VERSION(UCP_API_MAJOR, UCP_API_MINOR)

#endif
