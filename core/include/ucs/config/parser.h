/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of options of programs: structures that are filled in from defaults,
 * environment and ucx.conf.
 *
 *   typedef struct { unsigned depth; char *name; } my_opts_t;
 *   static ucs_config_field_t my_table[] = {
 *       {"DEPTH", "8", "How deep", offsetof(my_opts_t, depth),
 *        UCS_CONFIG_TYPE_UINT},
 *       {"NAME", "x", "Its name", offsetof(my_opts_t, name),
 *        UCS_CONFIG_TYPE_STRING},
 *       {NULL}
 *   };
 *   UCS_CONFIG_DECLARE_TABLE(my_table, "My", "MY_", my_opts_t)
 *
 *   ucs_config_parser_fill_opts(&opts, UCS_CONFIG_GET_TABLE(my_table), "APP_",
 *                               0);
 *
 * reads the option "depth" from the variable APP_MY_DEPTH or, if that is
 * not set, from APP_DEPTH.
 */
#ifndef UCS_CONFIG_PARSER_H
#define UCS_CONFIG_PARSER_H

#include <stdio.h>
#include <ucs/config/parser_func.h>
#include <ucs/config/types.h>
#include <ucs/datastruct/list.h>
#include <ucs/sys/preprocessor.h>
#include <ucs/sys/string.h>

BEGIN_C_DECLS

/** @addtogroup UCS_CONFIG
 *  @{ */

/** A string buffer that grows; opaque. */
typedef struct ucs_string_buffer ucs_string_buffer_t;

/** Functions for the values of a type; see parser_func.h. */
typedef struct ucs_config_parser {
    /** Reads a text, like ucs_config_sscanf_int(). */
    int (*read)(const char *buf, void *dest, const void *arg);
    /** Writes a text, like ucs_config_sprintf_int(). */
    int (*write)(char *buf, size_t max, const void *src, const void *arg);
    /** Copies a value, like ucs_config_clone_int(). */
    ucs_status_t (*clone)(const void *src, void *dest, const void *arg);
    /** Releases the memory that a value owns. */
    void (*release)(void *ptr, const void *arg);
    /** Writes a description of the valid texts. */
    void (*help)(char *buf, size_t max, const void *arg);
    /** Adds to the documentation of an option; may be NULL. */
    void (*doc)(ucs_string_buffer_t *strb, const void *arg);
    const void *arg; /**< last argument of all these functions */
} ucs_config_parser_t;

/** Type of the elements of an array. */
typedef struct ucs_config_array {
    size_t elem_size;           /**< size of an element in bytes */
    ucs_config_parser_t parser; /**< functions for the value of an element */
} ucs_config_array_t;

/** One option. A table of options ends with a NULL name. */
typedef struct ucs_config_field {
    /** Name without prefixes. If the type is a table, a prefix for the names of
     *  its options, which may be empty */
    const char *name;
    const char *dfl_value;      /**< default, as text */
    const char *doc;            /**< help, one or more lines; NULL: hidden */
    size_t offset;              /**< offset of the option's member in the
                                 *   structure of options */
    ucs_config_parser_t parser; /**< functions of its type:
                                 *   UCS_CONFIG_TYPE_xx */
} ucs_config_field_t;

/** A table of options, as an entry in a list of tables. */
typedef struct ucs_config_global_list_entry {
    const char *name;          /**< title */
    const char *prefix;        /**< prefix of the names of its options, or
                                *   NULL */
    ucs_config_field_t *table; /**< fields */
    size_t size;               /**< size of the structure of options in bytes */
    ucs_list_link_t list;      /**< link in the list of tables */
    uint8_t flags;             /**< 0 */
} ucs_config_global_list_entry_t;

/** The element type of UCS_CONFIG_TYPE_STRING_ARRAY. */
extern ucs_config_array_t ucs_config_array_string;

#define UCS_CONFIG_PARSER_(_text, _clone, _release, _help, _arg) \
    { \
        ucs_config_sscanf_##_text, ucs_config_sprintf_##_text, \
            ucs_config_clone_##_clone, ucs_config_release_##_release, \
            ucs_config_help_##_help, ucs_config_doc_nop, _arg \
    }

/** Types of options, for the last member of ucs_config_field_t. */
#define UCS_CONFIG_TYPE_STRING \
    UCS_CONFIG_PARSER_(string, string, string, generic, "any text")
#define UCS_CONFIG_TYPE_INT \
    UCS_CONFIG_PARSER_(int, int, nop, generic, "a whole number")
#define UCS_CONFIG_TYPE_UINT \
    UCS_CONFIG_PARSER_(uint, uint, nop, generic, "a whole number, not negative")
#define UCS_CONFIG_TYPE_ULONG \
    UCS_CONFIG_PARSER_(ulong, ulong, nop, generic, \
                       "a whole number, not negative")
#define UCS_CONFIG_TYPE_ULUNITS \
    UCS_CONFIG_PARSER_(ulunits, ulong, nop, generic, \
                       "a whole number, not negative, \"inf\" or \"auto\"")
#define UCS_CONFIG_TYPE_DOUBLE \
    UCS_CONFIG_PARSER_(double, double, nop, generic, "a number")
#define UCS_CONFIG_TYPE_BOOL \
    UCS_CONFIG_PARSER_(bool, int, nop, generic, "y or n")
#define UCS_CONFIG_TYPE_TERNARY \
    UCS_CONFIG_PARSER_(ternary, int, nop, generic, "y, n or try")
#define UCS_CONFIG_TYPE_TERNARY_AUTO \
    UCS_CONFIG_PARSER_(ternary_auto, int, nop, generic, "y, n, try or auto")
#define UCS_CONFIG_TYPE_ON_OFF_AUTO \
    UCS_CONFIG_PARSER_(on_off_auto, int, nop, generic, "on, off or auto")
/* _names: const char *[], terminated by NULL */
#define UCS_CONFIG_TYPE_ENUM(_names) \
    UCS_CONFIG_PARSER_(enum, uint, nop, enum, _names)
#define UCS_CONFIG_TYPE_BITMAP(_names) \
    UCS_CONFIG_PARSER_(bitmap, uint, nop, bitmap, _names)
#define UCS_CONFIG_TYPE_MEMUNITS \
    UCS_CONFIG_PARSER_( \
        memunits, ulong, nop, generic, \
        "a size such as 4096, 4k, 1m or 2g, \"inf\" or \"auto\"")
#define UCS_CONFIG_TYPE_TIME \
    UCS_CONFIG_PARSER_(time, double, nop, generic, \
                       "a time such as 10us, 5ms, 1.5s or 1m")
#define UCS_CONFIG_TYPE_BW \
    UCS_CONFIG_PARSER_(bw, double, nop, generic, \
                       "a bandwidth such as 10GBs or 100Gbps")
/* The level of an ucs_log_component_config_t. */
#define UCS_CONFIG_TYPE_LOG_COMP \
    UCS_CONFIG_PARSER_(enum, log_comp, nop, enum, ucs_log_level_names)
#define UCS_CONFIG_TYPE_ALLOW_LIST \
    UCS_CONFIG_PARSER_(allow_list, allow_list, allow_list, allow_list, \
                       &ucs_config_array_string)
/* _array: defined by UCS_CONFIG_DEFINE_ARRAY */
#define UCS_CONFIG_TYPE_ARRAY(_array) \
    UCS_CONFIG_PARSER_(array, array, array, array, &ucs_config_array_##_array)
#define UCS_CONFIG_TYPE_STRING_ARRAY UCS_CONFIG_TYPE_ARRAY(string)
/* The fields of another table, for a structure in this one. */
#define UCS_CONFIG_TYPE_TABLE(_table) \
    UCS_CONFIG_PARSER_(table, table, table, table, _table)

/* Defines the element type of an array: its size, and an UCS_CONFIG_TYPE_*. */
#define UCS_CONFIG_DEFINE_ARRAY(_name, _elem_size, ...) \
    static ucs_config_array_t ucs_config_array_##_name = {_elem_size, \
                                                          __VA_ARGS__}

/* Defines the list entry of a table. _name is its title. */
#define UCS_CONFIG_DECLARE_TABLE(_table, _name, _prefix, _type) \
    static ucs_config_global_list_entry_t _table##_config_entry = { \
        _name, _prefix, _table, sizeof(_type), {NULL, NULL}, 0};
#define UCS_CONFIG_GET_TABLE(_table) &_table##_config_entry

/* Adds an entry to a list when the shared object that contains the entry is
 * loaded, and removes the entry when that object is unloaded. */
#define UCS_CONFIG_REGISTER_TABLE_ENTRY(_entry, _list) \
    UCS_STATIC_INIT \
    { \
        ucs_list_add_tail(_list, &(_entry)->list); \
    } \
    UCS_STATIC_CLEANUP \
    { \
        ucs_list_del(&(_entry)->list); \
    }

/* Defines the list entry of a table and adds it to a list. */
#define UCS_CONFIG_REGISTER_TABLE(_table, _name, _prefix, _type, _list) \
    UCS_CONFIG_DECLARE_TABLE(_table, _name, _prefix, _type) \
    UCS_CONFIG_REGISTER_TABLE_ENTRY(UCS_CONFIG_GET_TABLE(_table), _list)

/**
 * Fills a structure, whose former contents are ignored. An option NAME is read
 * from the first variable that is set, in the environment and then in ucx.conf:
 * with env_prefix "APP_UCC_" and the table's prefix "TL_" APP_UCC_TL_NAME,
 * UCC_TL_NAME, APP_UCC_NAME, UCC_NAME; otherwise it gets its default.
 *
 * @param [out] opts           Structure; release it by
 *                             ucs_config_parser_release_opts().
 * @param [in]  entry          Table.
 * @param [in]  env_prefix     Prefix of variables, ending with "_".
 * @param [in]  ignore_errors  If nonzero, an option whose variable has an
 *                             invalid text gets its default.
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for an invalid text, after a message;
 *         opts owns no memory then.
 */
ucs_status_t ucs_config_parser_fill_opts(void *opts,
                                         ucs_config_global_list_entry_t *entry,
                                         const char *env_prefix,
                                         int ignore_errors);

/**
 * Copies the options of a structure to another structure, which must own no
 * memory. Members that are not options are not changed.
 *
 * @return UCS_OK; UCS_ERR_NO_MEMORY, and @a dst owns no memory then
 */
ucs_status_t ucs_config_parser_clone_opts(const void *src, void *dst,
                                          ucs_config_field_t *fields);

/** Releases the memory that a structure owns, but not the structure itself. */
void ucs_config_parser_release_opts(void *opts, ucs_config_field_t *fields);

/**
 * Sets one option.
 *
 * @param [in] prefix  Prefix with which the name may begin; may be NULL.
 *
 * @return UCS_ERR_NO_ELEM if the table has no such option;
 *         UCS_ERR_INVALID_PARAM, after a message, for an invalid text; the old
 *         value is kept.
 */
ucs_status_t ucs_config_parser_set_value(void *opts, ucs_config_field_t *fields,
                                         const char *prefix, const char *name,
                                         const char *value);

/**
 * Prints a structure as lines NAME=VALUE.
 *
 * @param [in] title         For UCS_CONFIG_PRINT_HEADER.
 * @param [in] table_prefix  Prefix of the table; may be NULL.
 * @param [in] prefix        Prefix of all variables, which precedes
 *                           table_prefix.
 * @param [in] flags         UCS_CONFIG_PRINT_COMMENT_DEFAULT compares texts: a
 *                           value that equals its default, but is written
 *                           differently, is not commented out.
 * @param [in] filter        Print only names that contain this text; NULL: all.
 */
void ucs_config_parser_print_opts(FILE *stream, const char *title,
                                  const void *opts, ucs_config_field_t *fields,
                                  const char *table_prefix, const char *prefix,
                                  ucs_config_print_flags_t flags,
                                  const char *filter);

/** @} */

END_C_DECLS

#endif
