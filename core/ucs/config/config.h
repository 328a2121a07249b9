/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Configuration: tables that map text to the members of an options structure,
 * the sources of the text, and the known names.
 *
 * The text of the option NAME of a table with the prefix P is searched in this
 * order; the first text found is used. APP is the application's prefix; without
 * one, steps 2 and 4 are omitted.
 *   1. overrides of the caller (ucp_config_modify)      P NAME
 *   2. environment                                      <APP>_UCX_ P NAME
 *   3. environment                                      UCX_ P NAME
 *   4. files                                            <APP>_UCX_ P NAME
 *   5. files                                            UCX_ P NAME
 * Files are the file that the caller names, then ucx.conf in .,
 * $UCX_CONFIG_DIR, $HOME, <sysconfdir>/ucx and /etc/ucx. If no text is found,
 * the search is repeated with the option's alternative name, then both names
 * with each fallback prefix of the table. After that, the default of the option
 * is used. A program with more privileges than its user (AT_SECURE) searches
 * ucx.conf in the last two folders only, and ignores variables with paths in
 * the environment.
 */
#ifndef UCS_CONFIG_H
#define UCS_CONFIG_H

#include <stdio.h>
#include <ucs/config/types.h>
#include <ucs/sys/string.h>
#include <ucs/time/time_def.h>
#include <ucs/type/status.h>
#include "ucs/datastruct/list.h"

BEGIN_C_DECLS

#define UCS_CONFIG_ENV_PREFIX "UCX_"

/* Value of a time or bandwidth (a double) that is set to "auto". "inf" is
 * INFINITY. For the special values of sizes and of unsigned longs see
 * <ucs/sys/string.h>. */
#define UCS_CONFIG_DBL_AUTO            (-1.0)
#define UCS_CONFIG_DBL_IS_AUTO(_value) ((_value) < 0)

/* Limits of a number, both inclusive. */
typedef struct ucs_config_range {
    double min;
    double max;
} ucs_config_range_t;

/** Type of the value of an option. UCP and UCT define more types. `arg` is the
 *  member `arg` of the option (ucs_config_field_t). */
typedef struct ucs_config_type {
    size_t size; /* bytes of the value in the options structure */

    /* Converts text to a value. On failure nothing is left allocated, and "why"
     * (of size UCS_CONFIG_WHY_MAX, initially "") receives a description of the
     * error. It stays "" if the text of describe() is sufficient. */
    ucs_status_t (*parse)(const char *text, void *dest, const void *arg,
                          char *why);

    /* Converts a value to text that parse() accepts. */
    void (*print)(char *buf, size_t max, const void *src, const void *arg);

    /* Describes the accepted values: "one of: a, b", "a number from 1 to 9". */
    void (*describe)(char *buf, size_t max, const void *arg);

    /* Copies memory that the value refers to. NULL if a plain copy is
     * sufficient. */
    ucs_status_t (*clone)(void *dest, const void *src, const void *arg);

    /* Frees memory that the value refers to. NULL if there is none. */
    void (*release)(void *ptr, const void *arg);
} ucs_config_type_t;

#define UCS_CONFIG_WHY_MAX 256

/* One option. An array of options is terminated by a NULL name. */
typedef struct ucs_config_field {
    const char *name;      /* without the prefix of the table; for a sub-table:
                            * the prefix of its options, may be "" */
    const char *dfl_value; /* default, as text; NULL is the same as "" */
    const char *doc;       /* help, one or more lines; NULL: hidden, as with
                            * UCS_CONFIG_FLAG_HIDDEN */
    size_t offset;         /* of the value in the options structure, bytes */
    const ucs_config_type_t *type;
    const void *arg;  /* passed to the functions of the type: a range, an array
                       * of names, or the fields of a sub-table; may be NULL */
    unsigned flags;   /* UCS_CONFIG_FLAG_* */
    const char *also; /* alternative name without the prefix of the table, or
                       * NULL */
} ucs_config_field_t;

enum {
    /* The value is a path. See ucs_config_env_is_ignored(). */
    UCS_CONFIG_FLAG_PATH       = UCS_BIT(0),
    /* Printed only with UCS_CONFIG_PRINT_HIDDEN */
    UCS_CONFIG_FLAG_HIDDEN     = UCS_BIT(1),
    /* Accepted, with a warning that it is obsolete. Printed only with
     * UCS_CONFIG_PRINT_HIDDEN */
    UCS_CONFIG_FLAG_DEPRECATED = UCS_BIT(2),
};

/* A set of options. Registered tables (ucs_config_table_register) are listed by
 * programs, and their options are known to ucs_config_warn_unknown(). */
typedef struct ucs_config_table {
    const char *title;  /* heading in listings, such as "UCP context" */
    const char *prefix; /* follows UCX_ in the names: "" or "TCP_" */
    const ucs_config_field_t *fields; /* terminated by a NULL name */
    size_t size;                      /* bytes of the options structure */
    const char *const *fallbacks; /* prefixes to search if a name with `prefix`
                                   * is not set, in this order; terminated by
                                   * NULL; may be NULL */
    ucs_list_link_t list;         /* link in the list of registered tables; zero
                                   * while the table is not registered */
} ucs_config_table_t;

/* ---- types of options ---- */

/* The comment after a type is the C type of the member in the options
 * structure. It is ucs_config_names_array_t for a string array, and
 * ucs_config_allow_list_t for the other lists. The macros UCS_CONFIG_TYPE_*
 * below give two initializers of a ucs_config_field_t: the type and its
 * argument. */
extern const ucs_config_type_t ucs_config_type_int;     /* int */
extern const ucs_config_type_t ucs_config_type_uint;    /* unsigned */
extern const ucs_config_type_t ucs_config_type_ulong;   /* unsigned long */
extern const ucs_config_type_t ucs_config_type_ulunits; /* unsigned long, auto
                                                         * or inf */
extern const ucs_config_type_t ucs_config_type_double;  /* double */
extern const ucs_config_type_t ucs_config_type_signo;   /* unsigned: number of
                                                         * a signal */
extern const ucs_config_type_t ucs_config_type_bool;    /* int */
extern const ucs_config_type_t ucs_config_type_ternary; /* int: UCS_YES, UCS_NO
                                                         * or UCS_TRY */
extern const ucs_config_type_t ucs_config_type_ternary_auto; /* also UCS_AUTO */
extern const ucs_config_type_t
    ucs_config_type_on_off_auto; /* int: ucs_on_off_auto_value_t */
extern const ucs_config_type_t ucs_config_type_string;   /* char *, own copy */
extern const ucs_config_type_t ucs_config_type_enum;     /* unsigned: index in
                                                          * the list of words */
extern const ucs_config_type_t ucs_config_type_bitmap;   /* uint64_t: bit n is
                                                          * word n of the
                                                          * list */
extern const ucs_config_type_t ucs_config_type_memunits; /* size_t, bytes */
extern const ucs_config_type_t ucs_config_type_time;     /* double, seconds */
extern const ucs_config_type_t ucs_config_type_time_units; /* ucs_time_t, also
                                                            * UCS_TIME_AUTO and
                                                            * _INFINITY */
extern const ucs_config_type_t ucs_config_type_bw; /* double, bytes a second */
extern const ucs_config_type_t ucs_config_type_string_array;
extern const ucs_config_type_t ucs_config_type_allow_list;
extern const ucs_config_type_t ucs_config_type_device_list; /* allow list */
extern const ucs_config_type_t
    ucs_config_type_table; /* structure of the sub-table */
extern const ucs_config_type_t ucs_config_type_deprecated; /* no value */

#define UCS_CONFIG_RANGE(_min, _max) (&(const ucs_config_range_t){_min, _max})

#define UCS_CONFIG_TYPE_INT &ucs_config_type_int, NULL
#define UCS_CONFIG_TYPE_INT_RANGE(_min, _max) \
    &ucs_config_type_int, UCS_CONFIG_RANGE(_min, _max)
#define UCS_CONFIG_TYPE_UINT &ucs_config_type_uint, NULL
#define UCS_CONFIG_TYPE_UINT_RANGE(_min, _max) \
    &ucs_config_type_uint, UCS_CONFIG_RANGE(_min, _max)
#define UCS_CONFIG_TYPE_ULONG &ucs_config_type_ulong, NULL
#define UCS_CONFIG_TYPE_ULONG_RANGE(_min, _max) \
    &ucs_config_type_ulong, UCS_CONFIG_RANGE(_min, _max)
#define UCS_CONFIG_TYPE_ULUNITS &ucs_config_type_ulunits, NULL
#define UCS_CONFIG_TYPE_DOUBLE  &ucs_config_type_double, NULL
#define UCS_CONFIG_TYPE_DOUBLE_RANGE(_min, _max) \
    &ucs_config_type_double, UCS_CONFIG_RANGE(_min, _max)
#define UCS_CONFIG_TYPE_SIGNO_RANGE(_min, _max) \
    &ucs_config_type_signo, UCS_CONFIG_RANGE(_min, _max)
#define UCS_CONFIG_TYPE_BOOL         &ucs_config_type_bool, NULL
#define UCS_CONFIG_TYPE_TERNARY      &ucs_config_type_ternary, NULL
#define UCS_CONFIG_TYPE_TERNARY_AUTO &ucs_config_type_ternary_auto, NULL
#define UCS_CONFIG_TYPE_ON_OFF_AUTO  &ucs_config_type_on_off_auto, NULL
#define UCS_CONFIG_TYPE_STRING       &ucs_config_type_string, NULL
/* _names: const char *const [], terminated by NULL */
#define UCS_CONFIG_TYPE_ENUM(_names)   &ucs_config_type_enum, (_names)
#define UCS_CONFIG_TYPE_BITMAP(_names) &ucs_config_type_bitmap, (_names)
#define UCS_CONFIG_TYPE_MEMUNITS       &ucs_config_type_memunits, NULL
/* inf and auto are always accepted, also outside the range */
#define UCS_CONFIG_TYPE_MEMUNITS_RANGE(_min, _max) \
    &ucs_config_type_memunits, UCS_CONFIG_RANGE(_min, _max)
#define UCS_CONFIG_TYPE_TIME         &ucs_config_type_time, NULL
#define UCS_CONFIG_TYPE_TIME_UNITS   &ucs_config_type_time_units, NULL
#define UCS_CONFIG_TYPE_BW           &ucs_config_type_bw, NULL
#define UCS_CONFIG_TYPE_STRING_ARRAY &ucs_config_type_string_array, NULL
#define UCS_CONFIG_TYPE_ALLOW_LIST   &ucs_config_type_allow_list, NULL
/* Words may contain ranges: eth[0-3]; see ucs_config_device_is_called */
#define UCS_CONFIG_TYPE_DEVICE_LIST &ucs_config_type_device_list, NULL
/* A sub-table. `_fields` are the fields of another options structure, which is
 * a member of the enclosing one at the field's offset. The field's name is the
 * prefix of their names. The field's default may be "A=1;B=2": it replaces the
 * defaults of the sub-table's options A and B. */
#define UCS_CONFIG_TYPE_TABLE(_fields) &ucs_config_type_table, (_fields)
#define UCS_CONFIG_TYPE_DEPRECATED     &ucs_config_type_deprecated, NULL

/* ---- the registry ---- */

/** Adds the table to the registry. The table must exist until it is
 *  unregistered; a library that defines the table unregisters it before the
 *  library is unloaded. No effect if the table is registered. */
void ucs_config_table_register(ucs_config_table_t *table);
void ucs_config_table_unregister(ucs_config_table_t *table);

/* Defines a table named _var, which is registered while the library that
 * contains it is loaded. */
#define UCS_CONFIG_DEFINE_TABLE(_var, _title, _prefix, _fields, _type) \
    static ucs_config_table_t _var = {_title,        _prefix, _fields, \
                                      sizeof(_type), NULL,    {NULL, NULL}}; \
    UCS_CONFIG_KEEP_REGISTERED(_var)

#define UCS_CONFIG_KEEP_REGISTERED(_var) \
    static void UCS_F_CTOR _var##_ctor(void) \
    { \
        ucs_config_table_register(&_var); \
    } \
    static void UCS_F_DTOR _var##_dtor(void) \
    { \
        ucs_config_table_unregister(&_var); \
    }

/* Sources of a read, in addition to the variables UCX_* in the environment and
 * in the standard files (ucx.conf). */
typedef struct ucs_config_source {
    const char *app_prefix; /* "MYAPP" for MYAPP_UCX_*; or NULL */
    const char *filename;   /* one more file, which need not exist; or NULL */
    const struct ucs_config_overrides *overrides; /* may be NULL */
} ucs_config_source_t;

/**
 * Warns about UCX_* variables in the environment, the files and the caller's
 * settings that are unknown, with the most similar known name; once for each
 * name in the life of the process. UCX_WARN_UNUSED_ENV_VARS=n disables the
 * warnings. Names that only other implementations have are logged at level
 * info.
 *
 * @param [in] source          As for ucs_config_read; may be NULL.
 * @param [in] known_prefixes  Prefixes of more known names, e.g. "TCP_" for
 *                             UCX_TCP_*, unless a table with that prefix is
 *                             registered; terminated by NULL; may be NULL.
 * @param [in] known_names     More known names, e.g. "TLS"; terminated by NULL;
 *                             may be NULL.
 *
 * @return Number of names that this call warned about.
 */
unsigned ucs_config_warn_unknown(const ucs_config_source_t *source,
                                 const char *const *known_prefixes,
                                 const char *const *known_names);

/** Returns the meaning ("NVIDIA GPUs") of the name of a transport that only
 *  other implementations of UCX have; NULL if the name is unknown. */
const char *ucs_config_foreign_transport(const char *word);

/* ---- overrides: settings made by calls ---- */

/* One setting. */
typedef struct ucs_config_override {
    ucs_list_link_t list;
    char *name; /* without UCX_ */
    char *text;
} ucs_config_override_t;

/* A list of ucs_config_override_t, in the order in which they were added. */
typedef struct ucs_config_overrides {
    ucs_list_link_t list;
} ucs_config_overrides_t;

void ucs_config_overrides_init(ucs_config_overrides_t *overrides);
void ucs_config_overrides_cleanup(ucs_config_overrides_t *overrides);

/** Adds or replaces a setting. The name may begin with UCX_. */
ucs_status_t ucs_config_overrides_set(ucs_config_overrides_t *overrides,
                                      const char *name, const char *text);

/** Returns the text of a setting, or NULL if there is none. */
const char *ucs_config_overrides_get(const ucs_config_overrides_t *overrides,
                                     const char *name);
ucs_status_t ucs_config_overrides_clone(ucs_config_overrides_t *dest,
                                        const ucs_config_overrides_t *src);

/* ---- options ---- */

/**
 * Fills an options structure. Its previous contents are ignored and not
 * released.
 *
 * @param [in]  table   Table of the options; need not be registered.
 * @param [in]  source  NULL for the environment and the standard files only.
 * @param [out] opts    Release it by ucs_config_release.
 *
 * @return UCS_ERR_INVALID_PARAM for an invalid text, after a message with the
 *         variable, the text, what is expected and the most similar valid word.
 */
ucs_status_t ucs_config_read(const ucs_config_table_t *table,
                             const ucs_config_source_t *source, void *opts);

/** Fills an options structure with the defaults. */
ucs_status_t ucs_config_read_defaults(const ucs_config_table_t *table,
                                      void *opts);

/**
 * Sets one option. The name may have the table's prefix, and UCX_ before it.
 *
 * @return UCS_ERR_NO_ELEM, without a message, if the table has no such name;
 *         UCS_ERR_INVALID_PARAM, after a message, for an invalid text: the old
 *         value is kept.
 */
ucs_status_t ucs_config_set(const ucs_config_table_t *table, void *opts,
                            const char *name, const char *text);

/** Gets one option as text. UCS_ERR_BUFFER_TOO_SMALL if it was truncated. */
ucs_status_t ucs_config_get(const ucs_config_table_t *table, const void *opts,
                            const char *name, char *text, size_t max);

ucs_status_t ucs_config_clone(const ucs_config_table_t *table, void *dest,
                              const void *src);
void ucs_config_release(const ucs_config_table_t *table, void *opts);

/** Prints the options as `flags` request. If @a title is NULL, the table's
 *  title is used. */
void ucs_config_print(FILE *stream, const char *title,
                      const ucs_config_table_t *table, const void *opts,
                      const char *app_prefix, ucs_config_print_flags_t flags);

/** Reads and prints every registered table. A table that cannot be read is
 *  skipped, after a message except for UCS_ERR_NO_MEMORY. Returns the first
 *  such failure, or UCS_OK. */
ucs_status_t ucs_config_print_all(FILE *stream, const char *app_prefix,
                                  ucs_config_print_flags_t flags);

/* A variable, as passed by ucs_config_each. */
typedef struct ucs_config_item {
    const char *table; /* title of its table */
    const char *name;  /* full name, with UCX_ and the prefix */
    const char *value; /* current value, as text */
    const char *dfl_value;
    const char *type; /* description of accepted values */
    const char *doc;  /* help; "" if none */
    unsigned flags;   /* UCS_CONFIG_FLAG_*; HIDDEN is also set without
                       * help */
} ucs_config_item_t;

/**
 * Calls @a visit for every variable of every registered table. @a visit must
 * not keep its arguments, nor call functions of this header.
 *
 * @return The first failure to read a table, or UCS_OK. The variables of a table
 *         that cannot be read are skipped, after a message except for
 *         UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_config_each(const char *app_prefix,
                             void (*visit)(const ucs_config_item_t *item,
                                           void *arg),
                             void *arg);

/** Returns the text of a variable (name without UCX_) from the overrides, the
 *  environment or the standard files, or NULL. For the few settings that are
 *  needed without reading a table. The text is valid until the environment or
 *  the overrides change, or ucs_config_files_forget() is called. */
const char *ucs_config_lookup(const ucs_config_source_t *source,
                              const char *name);

/**
 * Returns whether the value of this variable in the environment must be
 * ignored. True if the variable is set, its value is a path
 * (UCS_CONFIG_FLAG_PATH), and the program has more privileges than its user
 * (AT_SECURE): the user must not control which files the program reads and
 * creates. Warns at the first call for each such variable. Any thread.
 *
 * @param [in] full_name  With UCX_ and the prefix.
 * @param [in] flags      UCS_CONFIG_FLAG_* of the variable.
 */
int ucs_config_env_is_ignored(const char *full_name, unsigned flags);

/** Frees the contents of the standard files and of those that callers named;
 *  the next read opens the files again. No other thread may be reading. For
 *  tests. */
void ucs_config_files_forget(void);

/* ---- helpers for callers of lists ---- */

/** Returns the index of the name in the array, or -1. */
int ucs_config_names_search(const ucs_config_names_array_t *array,
                            const char *name);

/** Returns whether a word of a device list matches the device. "eth[0-3]"
 *  matches eth0 to eth3; a word without a colon also matches the device's ports
 *  ("NAME:1"). */
int ucs_config_device_is_called(const char *device, const char *word);

/** Returns whether the list allows the name. */
int ucs_config_allow_list_allows(const ucs_config_allow_list_t *list,
                                 const char *name);

/** Returns the maximum edit distance (ucs_config_edit_distance()) at which
 *  `word` counts as a misspelling of a known word. It depends on the length of
 *  `word`. */
unsigned ucs_config_slips(const char *word);

/** Returns the candidate most similar to a misspelt word, or NULL if none is
 *  similar. */
const char *ucs_config_nearest(const char *word, const char *const *candidates);

/** Returns the smallest number of single-letter changes (insert, delete,
 *  replace, swap neighbours) that turn one word into the other, ignoring case.
 *  Returns limit + 1 if the number is larger than @a limit, or a word has more
 *  than 96 letters. */
unsigned ucs_config_edit_distance(const char *a, const char *b, unsigned limit);

/* ---- the options of this library, read when it is loaded ---- */

typedef struct ucs_global_opts {
    unsigned log_level; /* ucs_log_level_t */
    char *log_file;   /* "stdout", "stderr" or a path, see ucs_log_file_set() */
    char *config_dir; /* for listings only; the search for ucx.conf reads
                       * UCX_CONFIG_DIR from the environment */
    int warn_unused_env_vars; /* for listings only; ucs_config_warn_unknown()
                               * searches the variable at each call */
    unsigned async_signo;     /* signal for handlers in UCS_ASYNC_MODE_SIGNAL;
                               * 0: the first free real-time signal */
} ucs_global_opts_t;

extern ucs_global_opts_t ucs_global_opts;

END_C_DECLS

#endif
