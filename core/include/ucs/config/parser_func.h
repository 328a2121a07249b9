/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types of values in tables of options: how each is read from text, written as
 * text, copied, released and described. parser.h combines them into types of
 * options.
 *
 * - ucs_config_sscanf_*   Reads "buf" into "dest". Returns 1, or 0 if the text
 *   is not a valid value; then nothing is allocated.
 * - ucs_config_sprintf_*  Writes the value at "src" in a form that
 *   ucs_config_sscanf_* accepts, as a string of at most "max" bytes with its
 *   terminating zero. Returns the length of this string, which may be cut.
 * - ucs_config_clone_*    Copies the value at "src" to "dest", which must
 *   contain no value. Returns UCS_OK or UCS_ERR_NO_MEMORY.
 * - ucs_config_release_*  Releases the memory that the value owns.
 * - ucs_config_help_*     Writes what texts are accepted.
 *
 * "arg" is the member "arg" of the type: for enum and bitmap an array of names
 * that ends with NULL, for array an ucs_config_array_t, for table an array of
 * fields; the other types ignore it. Any thread.
 */
#ifndef UCS_CONFIG_PARSER_FUNC_H
#define UCS_CONFIG_PARSER_FUNC_H

#include <stddef.h>
#include <ucs/config/types.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

/** @addtogroup UCS_CONFIG
 *  @{ */

struct ucs_string_buffer;

/**
 * Reads a string (char *, allocated).
 *
 * @return 1; 0 if the text is not valid
 */
int ucs_config_sscanf_string(const char *buf, void *dest, const void *arg);

/**
 * Writes a string (char *, allocated).
 *
 * @return Length of the text
 */
int ucs_config_sprintf_string(char *buf, size_t max, const void *src,
                              const void *arg);
/**
 * Reads an int.
 *
 * @return 1; 0 if the text is not valid
 */
int ucs_config_sscanf_int(const char *buf, void *dest, const void *arg);

/**
 * Writes an int.
 *
 * @return Length of the text
 */
int ucs_config_sprintf_int(char *buf, size_t max, const void *src,
                           const void *arg);
/**
 * Reads an unsigned.
 *
 * @return 1; 0 if the text is not valid
 */
int ucs_config_sscanf_uint(const char *buf, void *dest, const void *arg);

/**
 * Writes an unsigned.
 *
 * @return Length of the text
 */
int ucs_config_sprintf_uint(char *buf, size_t max, const void *src,
                            const void *arg);
/**
 * Reads an unsigned long.
 *
 * @return 1; 0 if the text is not valid
 */
int ucs_config_sscanf_ulong(const char *buf, void *dest, const void *arg);

/**
 * Writes an unsigned long.
 *
 * @return Length of the text
 */
int ucs_config_sprintf_ulong(char *buf, size_t max, const void *src,
                             const void *arg);
/**
 * Reads an unsigned long; "inf" is UCS_ULUNITS_INF, "auto" UCS_ULUNITS_AUTO.
 *
 * @return 1; 0 if the text is not valid
 */
int ucs_config_sscanf_ulunits(const char *buf, void *dest, const void *arg);

/**
 * Writes an unsigned long; UCS_ULUNITS_INF as "inf", UCS_ULUNITS_AUTO as
 * "auto".
 *
 * @return Length of the text
 */
int ucs_config_sprintf_ulunits(char *buf, size_t max, const void *src,
                               const void *arg);
/**
 * Reads a double.
 *
 * @return 1; 0 if the text is not valid
 */
int ucs_config_sscanf_double(const char *buf, void *dest, const void *arg);

/**
 * Writes a double.
 *
 * @return Length of the text
 */
int ucs_config_sprintf_double(char *buf, size_t max, const void *src,
                              const void *arg);
/**
 * Reads a bool (int, 0 or 1).
 *
 * @return 1; 0 if the text is not valid
 */
int ucs_config_sscanf_bool(const char *buf, void *dest, const void *arg);

/**
 * Writes a bool (int, 0 or 1).
 *
 * @return Length of the text
 */
int ucs_config_sprintf_bool(char *buf, size_t max, const void *src,
                            const void *arg);
/**
 * Reads UCS_NO, UCS_YES or UCS_TRY (int).
 *
 * @return 1; 0 if the text is not valid
 */
int ucs_config_sscanf_ternary(const char *buf, void *dest, const void *arg);

/**
 * Writes UCS_NO, UCS_YES or UCS_TRY (int).
 *
 * @return Length of the text
 */
int ucs_config_sprintf_ternary(char *buf, size_t max, const void *src,
                               const void *arg);
/**
 * Reads an ucs_ternary_auto_value_t (int).
 *
 * @return 1; 0 if the text is not valid
 */
int ucs_config_sscanf_ternary_auto(const char *buf, void *dest,
                                   const void *arg);

/**
 * Writes an ucs_ternary_auto_value_t (int).
 *
 * @return Length of the text
 */
int ucs_config_sprintf_ternary_auto(char *buf, size_t max, const void *src,
                                    const void *arg);
/**
 * Reads an ucs_on_off_auto_value_t (int).
 *
 * @return 1; 0 if the text is not valid
 */
int ucs_config_sscanf_on_off_auto(const char *buf, void *dest, const void *arg);

/**
 * Writes an ucs_on_off_auto_value_t (int).
 *
 * @return Length of the text
 */
int ucs_config_sprintf_on_off_auto(char *buf, size_t max, const void *src,
                                   const void *arg);
/**
 * Reads a name as its index in the list of names (unsigned).
 *
 * @return 1; 0 if the text is not valid
 */
int ucs_config_sscanf_enum(const char *buf, void *dest, const void *arg);

/**
 * Writes the name with an index (unsigned).
 *
 * @return Length of the text
 */
int ucs_config_sprintf_enum(char *buf, size_t max, const void *src,
                            const void *arg);
/**
 * Reads names as a bitmap of their indices (unsigned, at most 32 names).
 *
 * @return 1; 0 if the text is not valid
 */
int ucs_config_sscanf_bitmap(const char *buf, void *dest, const void *arg);

/**
 * Writes the names in a bitmap of indices (unsigned, at most 32 names).
 *
 * @return Length of the text
 */
int ucs_config_sprintf_bitmap(char *buf, size_t max, const void *src,
                              const void *arg);
/**
 * Reads a number of bytes (size_t).
 *
 * @return 1; 0 if the text is not valid
 */
int ucs_config_sscanf_memunits(const char *buf, void *dest, const void *arg);

/**
 * Writes a number of bytes (size_t).
 *
 * @return Length of the text
 */
int ucs_config_sprintf_memunits(char *buf, size_t max, const void *src,
                                const void *arg);
/**
 * Reads a time in seconds (double).
 *
 * @return 1; 0 if the text is not valid
 */
int ucs_config_sscanf_time(const char *buf, void *dest, const void *arg);

/**
 * Writes a time in seconds (double).
 *
 * @return Length of the text
 */
int ucs_config_sprintf_time(char *buf, size_t max, const void *src,
                            const void *arg);
/**
 * Reads a bandwidth in bytes per second (double).
 *
 * @return 1; 0 if the text is not valid
 */
int ucs_config_sscanf_bw(const char *buf, void *dest, const void *arg);

/**
 * Writes a bandwidth in bytes per second (double).
 *
 * @return Length of the text
 */
int ucs_config_sprintf_bw(char *buf, size_t max, const void *src,
                          const void *arg);
/**
 * Reads an ucs_config_allow_list_t.
 *
 * @return 1; 0 if the text is not valid
 */
int ucs_config_sscanf_allow_list(const char *buf, void *dest, const void *arg);

/**
 * Writes an ucs_config_allow_list_t.
 *
 * @return Length of the text
 */
int ucs_config_sprintf_allow_list(char *buf, size_t max, const void *src,
                                  const void *arg);
/**
 * Reads an array, UCS_CONFIG_ARRAY_FIELD().
 *
 * @return 1; 0 if the text is not valid
 */
int ucs_config_sscanf_array(const char *buf, void *dest, const void *arg);

/**
 * Writes an array, UCS_CONFIG_ARRAY_FIELD().
 *
 * @return Length of the text
 */
int ucs_config_sprintf_array(char *buf, size_t max, const void *src,
                             const void *arg);
/**
 * Reads a structure with fields of its own. A text "NAME=VALUE;..." changes
 * their defaults.
 *
 * @return 1; 0 if the text is not valid
 */
int ucs_config_sscanf_table(const char *buf, void *dest, const void *arg);

/**
 * Writes a structure with fields of its own as "NAME=VALUE;...".
 *
 * @return Length of the text
 */
int ucs_config_sprintf_table(char *buf, size_t max, const void *src,
                             const void *arg);

/**
 * Copies a string (char *, allocated).
 *
 * @return UCS_OK; UCS_ERR_NO_MEMORY
 */
ucs_status_t ucs_config_clone_string(const void *src, void *dest,
                                     const void *arg);

/**
 * Copies an int.
 *
 * @return UCS_OK
 */
ucs_status_t ucs_config_clone_int(const void *src, void *dest, const void *arg);

/**
 * Copies an unsigned.
 *
 * @return UCS_OK
 */
ucs_status_t ucs_config_clone_uint(const void *src, void *dest,
                                   const void *arg);

/**
 * Copies an unsigned long.
 *
 * @return UCS_OK
 */
ucs_status_t ucs_config_clone_ulong(const void *src, void *dest,
                                    const void *arg);

/**
 * Copies a double.
 *
 * @return UCS_OK
 */
ucs_status_t ucs_config_clone_double(const void *src, void *dest,
                                     const void *arg);

/**
 * Copies an ucs_log_component_config_t.
 *
 * @return UCS_OK
 */
ucs_status_t ucs_config_clone_log_comp(const void *src, void *dest,
                                       const void *arg);

/**
 * Copies an ucs_config_allow_list_t.
 *
 * @return UCS_OK; UCS_ERR_NO_MEMORY
 */
ucs_status_t ucs_config_clone_allow_list(const void *src, void *dest,
                                         const void *arg);

/**
 * Copies an array, UCS_CONFIG_ARRAY_FIELD().
 *
 * @return UCS_OK; UCS_ERR_NO_MEMORY
 */
ucs_status_t ucs_config_clone_array(const void *src, void *dest,
                                    const void *arg);

/**
 * Copies a structure with fields of its own.
 *
 * @return UCS_OK; UCS_ERR_NO_MEMORY
 */
ucs_status_t ucs_config_clone_table(const void *src, void *dest,
                                    const void *arg);

/** Releases nothing: for values that own no memory. */
void ucs_config_release_nop(void *ptr, const void *arg);

/** Releases what the value owns: a string (char *, allocated). */
void ucs_config_release_string(void *ptr, const void *arg);

/** Releases what the value owns: an ucs_config_allow_list_t. */
void ucs_config_release_allow_list(void *ptr, const void *arg);

/** Releases what the value owns: an array, UCS_CONFIG_ARRAY_FIELD(). */
void ucs_config_release_array(void *ptr, const void *arg);

/**
 * Releases what the value owns: a structure with fields of its own.
 */
void ucs_config_release_table(void *ptr, const void *arg);

/** Writes arg, which is a text that describes the valid values. */
void ucs_config_help_generic(char *buf, size_t max, const void *arg);

/** Writes which texts are valid for an enum: the names. */
void ucs_config_help_enum(char *buf, size_t max, const void *arg);

/** Writes which texts are valid for a bitmap of names. */
void ucs_config_help_bitmap(char *buf, size_t max, const void *arg);

/** Writes which texts are valid for an ucs_config_allow_list_t. */
void ucs_config_help_allow_list(char *buf, size_t max, const void *arg);

/** Writes which texts are valid for an array, UCS_CONFIG_ARRAY_FIELD(). */
void ucs_config_help_array(char *buf, size_t max, const void *arg);

/**
 * Writes which texts are valid for a structure with fields of its own.
 */
void ucs_config_help_table(char *buf, size_t max, const void *arg);

/** Adds nothing to the documentation of an option. */
void ucs_config_doc_nop(struct ucs_string_buffer *strb, const void *arg);

/** Names of the values of ucs_log_level_t, indexed by value, terminated by
 *  NULL. */
extern const char *ucs_log_level_names[];

/** @} */

END_C_DECLS

#endif
