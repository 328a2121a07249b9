/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types of values in tables of options: how each is read from text, written as
 * text, copied, released and described. parser.h makes fields of them.
 *
 * ucs_config_sscanf_*   Reads "buf" into "dest". Returns 1, or 0 if the text is
 *                       no value of the type; then nothing is left allocated.
 * ucs_config_sprintf_*  Writes the value at "src" so that sscanf takes it back,
 *                       cut at "max" bytes. Returns the length of the text.
 * ucs_config_clone_*    Makes a copy of "src" at "dest", which holds no value
 *                       yet. UCS_OK or UCS_ERR_NO_MEMORY.
 * ucs_config_release_*  Releases what the value owns.
 * ucs_config_help_*     Writes what texts are accepted.
 *
 * "arg" is the parser's: names ended by NULL for enum and bitmap, an
 * ucs_config_array_t for array, fields for table; unused for the others. Any
 * thread.
 */
#ifndef UCS_CONFIG_PARSER_FUNC_H
#define UCS_CONFIG_PARSER_FUNC_H

#include <stddef.h>
#include <ucs/config/types.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

struct ucs_string_buffer;

/* char *, an own copy */
int ucs_config_sscanf_string(const char *buf, void *dest, const void *arg);
int ucs_config_sprintf_string(char *buf, size_t max, const void *src,
                              const void *arg);
/* int */
int ucs_config_sscanf_int(const char *buf, void *dest, const void *arg);
int ucs_config_sprintf_int(char *buf, size_t max, const void *src,
                           const void *arg);
/* unsigned */
int ucs_config_sscanf_uint(const char *buf, void *dest, const void *arg);
int ucs_config_sprintf_uint(char *buf, size_t max, const void *src,
                            const void *arg);
/* unsigned long */
int ucs_config_sscanf_ulong(const char *buf, void *dest, const void *arg);
int ucs_config_sprintf_ulong(char *buf, size_t max, const void *src,
                             const void *arg);
/* The same, or inf, auto */
int ucs_config_sscanf_ulunits(const char *buf, void *dest, const void *arg);
int ucs_config_sprintf_ulunits(char *buf, size_t max, const void *src,
                               const void *arg);
/* double */
int ucs_config_sscanf_double(const char *buf, void *dest, const void *arg);
int ucs_config_sprintf_double(char *buf, size_t max, const void *src,
                              const void *arg);
/* int: 0 or 1 */
int ucs_config_sscanf_bool(const char *buf, void *dest, const void *arg);
int ucs_config_sprintf_bool(char *buf, size_t max, const void *src,
                            const void *arg);
/* int: UCS_NO, UCS_YES, UCS_TRY */
int ucs_config_sscanf_ternary(const char *buf, void *dest, const void *arg);
int ucs_config_sprintf_ternary(char *buf, size_t max, const void *src,
                               const void *arg);
/* The same, or UCS_AUTO */
int ucs_config_sscanf_ternary_auto(const char *buf, void *dest,
                                   const void *arg);
int ucs_config_sprintf_ternary_auto(char *buf, size_t max, const void *src,
                                    const void *arg);
/* int: ucs_on_off_auto_value_t */
int ucs_config_sscanf_on_off_auto(const char *buf, void *dest, const void *arg);
int ucs_config_sprintf_on_off_auto(char *buf, size_t max, const void *src,
                                   const void *arg);
/* unsigned: number of the name */
int ucs_config_sscanf_enum(const char *buf, void *dest, const void *arg);
int ucs_config_sprintf_enum(char *buf, size_t max, const void *src,
                            const void *arg);
/* unsigned: bits of up to 32 names */
int ucs_config_sscanf_bitmap(const char *buf, void *dest, const void *arg);
int ucs_config_sprintf_bitmap(char *buf, size_t max, const void *src,
                              const void *arg);
/* size_t, bytes */
int ucs_config_sscanf_memunits(const char *buf, void *dest, const void *arg);
int ucs_config_sprintf_memunits(char *buf, size_t max, const void *src,
                                const void *arg);
/* double, seconds */
int ucs_config_sscanf_time(const char *buf, void *dest, const void *arg);
int ucs_config_sprintf_time(char *buf, size_t max, const void *src,
                            const void *arg);
/* double, bytes per second */
int ucs_config_sscanf_bw(const char *buf, void *dest, const void *arg);
int ucs_config_sprintf_bw(char *buf, size_t max, const void *src,
                          const void *arg);
/* ucs_config_allow_list_t */
int ucs_config_sscanf_allow_list(const char *buf, void *dest, const void *arg);
int ucs_config_sprintf_allow_list(char *buf, size_t max, const void *src,
                                  const void *arg);
/* UCS_CONFIG_ARRAY_FIELD */
int ucs_config_sscanf_array(const char *buf, void *dest, const void *arg);
int ucs_config_sprintf_array(char *buf, size_t max, const void *src,
                             const void *arg);
/* A structure with fields of its own: "NAME=VALUE;..." changes its defaults */
int ucs_config_sscanf_table(const char *buf, void *dest, const void *arg);
int ucs_config_sprintf_table(char *buf, size_t max, const void *src,
                             const void *arg);

ucs_status_t
ucs_config_clone_string(const void *src, void *dest, const void *arg);
ucs_status_t ucs_config_clone_int(const void *src, void *dest, const void *arg);
ucs_status_t ucs_config_clone_uint(const void *src, void *dest, const void *arg);
ucs_status_t
ucs_config_clone_ulong(const void *src, void *dest, const void *arg);
ucs_status_t
ucs_config_clone_double(const void *src, void *dest, const void *arg);
ucs_status_t
ucs_config_clone_log_comp(const void *src, void *dest, const void *arg);
ucs_status_t
ucs_config_clone_allow_list(const void *src, void *dest, const void *arg);
ucs_status_t
ucs_config_clone_array(const void *src, void *dest, const void *arg);
ucs_status_t
ucs_config_clone_table(const void *src, void *dest, const void *arg);

void ucs_config_release_nop(void *ptr, const void *arg);
void ucs_config_release_string(void *ptr, const void *arg);
void ucs_config_release_allow_list(void *ptr, const void *arg);
void ucs_config_release_array(void *ptr, const void *arg);
void ucs_config_release_table(void *ptr, const void *arg);

/** Writes arg, which is a text. */
void ucs_config_help_generic(char *buf, size_t max, const void *arg);
void ucs_config_help_enum(char *buf, size_t max, const void *arg);
void ucs_config_help_bitmap(char *buf, size_t max, const void *arg);
void ucs_config_help_allow_list(char *buf, size_t max, const void *arg);
void ucs_config_help_array(char *buf, size_t max, const void *arg);
void ucs_config_help_table(char *buf, size_t max, const void *arg);

/** Adds nothing to the documentation of an option. */
void ucs_config_doc_nop(struct ucs_string_buffer *strb, const void *arg);

/** Names of ucs_log_level_t, by number, ended by NULL. */
extern const char *ucs_log_level_names[];

END_C_DECLS

#endif
