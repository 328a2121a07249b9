/* SPDX-License-Identifier: BSD-3-Clause */
/* Strings, and conversion between numbers of bytes and text. All functions may
 * be called from any thread. */
#ifndef UCS_STRING_H
#define UCS_STRING_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/sys/math.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

/** @addtogroup UCS_SYS
 *  @{ */

/* Special values of numbers of bytes, and of options of type unsigned long. */
#define UCS_MEMUNITS_INF  SIZE_MAX
#define UCS_MEMUNITS_AUTO (SIZE_MAX - 1)
#define UCS_ULUNITS_INF   ULONG_MAX
#define UCS_ULUNITS_AUTO  (ULONG_MAX - 1)

/* Text of the special values. */
#define UCS_NUMERIC_INF_STR "inf"
#define UCS_VALUE_AUTO_STR  "auto"

/* Units of numbers of bytes. */
#define UCS_KBYTE (1ull << 10)
#define UCS_MBYTE (1ull << 20)
#define UCS_GBYTE (1ull << 30)
#define UCS_TBYTE (1ull << 40)
#define UCS_PBYTE (1ull << 50)

/**
 * Copies a string, truncates it if it is too long, and terminates it.
 *
 * @param [out] dst  Destination.
 * @param [in]  src  Text.
 * @param [in]  len  Size of dst in bytes, including the terminating zero; with
 *                   0, nothing is written.
 *
 * @return dst
 */
char *ucs_strncpy_safe(char *dst, const char *src, size_t len);

/**
 * Writes a number of bytes in the largest unit that divides it: 4096 is "4K".
 * ucs_str_to_memunits() parses it.
 *
 * @return buf
 */
char *ucs_memunits_to_str(size_t value, char *buf, size_t max);

/** Writes a range of numbers of bytes, both ends included: "1K..4M".
 *  @return buf */
const char *ucs_memunits_range_str(size_t range_start, size_t range_end,
                                   char *buf, size_t max);

/**
 * Reads a number of bytes: "4096", "4k", "1.5m", "inf", "auto".
 *
 * @param [in]  buf   Text.
 * @param [out] dest  A size_t; UCS_MEMUNITS_INF and UCS_MEMUNITS_AUTO for the
 *                    words.
 *
 * @return UCS_ERR_INVALID_PARAM if the text is not a number of bytes,
 *         UCS_ERR_OUT_OF_RANGE if the number is too large.
 */
ucs_status_t ucs_str_to_memunits(const char *buf, void *dest);

/** @} */

END_C_DECLS

#endif
