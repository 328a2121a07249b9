/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Configuration: tables that say how text becomes the members of an options
 * structure, where the text comes from, and which names exist at all.
 *
 * The text of an option NAME of a table with prefix P is looked up here, first
 * found wins:
 *   1. overrides of the caller (ucp_config_modify)      P NAME
 *   2. environment of the application, if it has one    <APP>_UCX_ P NAME
 *   3. environment                                      UCX_ P NAME
 *   4. the file named by the caller
 *   5. ucx.conf in ., $UCX_CONFIG_DIR, $HOME, <sysconfdir>/ucx and
 *      /etc/ucx                                         as 2, then 3
 *   6. the table's default
 * If 1 to 5 have nothing, they are asked again for each fallback prefix of the
 * table, before the default counts.
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

/* Special values of times and bandwidths; those of memory units and unsigned
 * longs are in <ucs/sys/string.h>. */
#define UCS_CONFIG_DBL_AUTO (-1.0)
#define UCS_CONFIG_DBL_IS_AUTO(_value) ((_value) < 0)

/* Limits of a number, both included. */
typedef struct ucs_config_range {
    double min;
    double max;
} ucs_config_range_t;

/**
 * A type of values. UCP and plugins may define their own.
 */
typedef struct ucs_config_type {
    size_t size; /* of the value in the options structure */

    /* Turns text into a value. On failure nothing is left allocated and
     * "why" (of size UCS_CONFIG_WHY_MAX) says what is wrong with the text, or
     * stays empty when describe() says it all. */
    ucs_status_t (*parse)(const char *text, void *dest, const void *arg,
                          char *why);

    /* Turns a value into text that parse() takes back. */
    void (*print)(char *buf, size_t max, const void *src, const void *arg);

    /* Says what is accepted: "one of: a, b", "a number from 1 to 9". */
    void (*describe)(char *buf, size_t max, const void *arg);

    /* Copies what the value owns; NULL: plain bytes. */
    ucs_status_t (*clone)(void *dest, const void *src, const void *arg);

    /* Frees what the value owns; NULL: nothing. */
    void (*release)(void *ptr, const void *arg);
} ucs_config_type_t;

#define UCS_CONFIG_WHY_MAX 256

/* One option. An array of them ends with a NULL name. */
typedef struct ucs_config_field {
    const char *name;      /* without prefix; "" with a table type */
    const char *dfl_value; /* default, as text */
    const char *doc;       /* one or more lines; NULL: not advertised */
    size_t offset;         /* in the options structure */
    const ucs_config_type_t *type;
    const void *arg;       /* of the type: range, names, sub-table */
    unsigned flags;
    const char *also;      /* a second name that is understood; may be NULL */
} ucs_config_field_t;

enum {
    /* Names a path: not taken from the environment of a privileged program */
    UCS_CONFIG_FLAG_PATH = UCS_BIT(0),
    /* Shown by UCS_CONFIG_PRINT_HIDDEN only */
    UCS_CONFIG_FLAG_HIDDEN = UCS_BIT(1),
    /* Still accepted, and said to be obsolete when it is set */
    UCS_CONFIG_FLAG_DEPRECATED = UCS_BIT(2)
};

/* A set of options. Register it while it may be used. */
typedef struct ucs_config_table {
    const char *title;  /* "UCP context" */
    const char *prefix; /* "" or "TCP_" */
    const ucs_config_field_t *fields;
    size_t size;                  /* of the options structure */
    const char *const *fallbacks; /* more prefixes, most specific first, ended
                                     by NULL; may be NULL itself */
    ucs_list_link_t list;         /* of the registry; start with all zero */
} ucs_config_table_t;

/* ---- types: use as the 5th and 6th initialiser of a field ---- */

extern const ucs_config_type_t ucs_config_type_int;     /* int */
extern const ucs_config_type_t ucs_config_type_uint;    /* unsigned */
extern const ucs_config_type_t ucs_config_type_ulong;   /* unsigned long */
extern const ucs_config_type_t ucs_config_type_ulunits; /* same, auto, inf */
extern const ucs_config_type_t ucs_config_type_double;  /* double */
extern const ucs_config_type_t ucs_config_type_signo;   /* unsigned */
extern const ucs_config_type_t ucs_config_type_bool;    /* int */
extern const ucs_config_type_t ucs_config_type_ternary; /* y, n, try */
extern const ucs_config_type_t ucs_config_type_ternary_auto;
extern const ucs_config_type_t ucs_config_type_on_off_auto;
extern const ucs_config_type_t ucs_config_type_string; /* char *, own copy */
extern const ucs_config_type_t ucs_config_type_enum;   /* unsigned index */
extern const ucs_config_type_t ucs_config_type_bitmap; /* uint64_t of indices */
extern const ucs_config_type_t ucs_config_type_memunits;   /* size_t, bytes */
extern const ucs_config_type_t ucs_config_type_time;       /* double, seconds */
extern const ucs_config_type_t ucs_config_type_time_units; /* ucs_time_t */
extern const ucs_config_type_t ucs_config_type_bw; /* double, bytes a second */
extern const ucs_config_type_t ucs_config_type_string_array;
extern const ucs_config_type_t ucs_config_type_allow_list;
extern const ucs_config_type_t ucs_config_type_device_list; /* allow list */
extern const ucs_config_type_t ucs_config_type_table; /* fields in a structure */
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
#define UCS_CONFIG_TYPE_DOUBLE &ucs_config_type_double, NULL
#define UCS_CONFIG_TYPE_DOUBLE_RANGE(_min, _max) \
    &ucs_config_type_double, UCS_CONFIG_RANGE(_min, _max)
#define UCS_CONFIG_TYPE_SIGNO_RANGE(_min, _max) \
    &ucs_config_type_signo, UCS_CONFIG_RANGE(_min, _max)
#define UCS_CONFIG_TYPE_BOOL &ucs_config_type_bool, NULL
#define UCS_CONFIG_TYPE_TERNARY &ucs_config_type_ternary, NULL
#define UCS_CONFIG_TYPE_TERNARY_AUTO &ucs_config_type_ternary_auto, NULL
#define UCS_CONFIG_TYPE_ON_OFF_AUTO &ucs_config_type_on_off_auto, NULL
#define UCS_CONFIG_TYPE_STRING &ucs_config_type_string, NULL
/* _names: const char *const [], ended by NULL */
#define UCS_CONFIG_TYPE_ENUM(_names) &ucs_config_type_enum, (_names)
#define UCS_CONFIG_TYPE_BITMAP(_names) &ucs_config_type_bitmap, (_names)
#define UCS_CONFIG_TYPE_MEMUNITS &ucs_config_type_memunits, NULL
/* inf and auto are always in the range */
#define UCS_CONFIG_TYPE_MEMUNITS_RANGE(_min, _max) \
    &ucs_config_type_memunits, UCS_CONFIG_RANGE(_min, _max)
#define UCS_CONFIG_TYPE_TIME &ucs_config_type_time, NULL
#define UCS_CONFIG_TYPE_TIME_UNITS &ucs_config_type_time_units, NULL
#define UCS_CONFIG_TYPE_BW &ucs_config_type_bw, NULL
#define UCS_CONFIG_TYPE_STRING_ARRAY &ucs_config_type_string_array, NULL
#define UCS_CONFIG_TYPE_ALLOW_LIST &ucs_config_type_allow_list, NULL
/* The words may have ranges: eth[0-3]; ask ucs_config_device_is_called */
#define UCS_CONFIG_TYPE_DEVICE_LIST &ucs_config_type_device_list, NULL
/* The options of another table (its fields only; its prefix does not count)
 * live at this offset. The field's name is put before their names; its default
 * may be "A=1;B=2" to change some of theirs. */
#define UCS_CONFIG_TYPE_TABLE(_fields) &ucs_config_type_table, (_fields)
#define UCS_CONFIG_TYPE_DEPRECATED &ucs_config_type_deprecated, NULL

/* ---- the registry ---- */

/** Makes the table's names known. The table must stay until unregistered, which
 * a plugin does before it is unloaded. Registering twice is harmless. */
void ucs_config_table_register(ucs_config_table_t *table);
void ucs_config_table_unregister(ucs_config_table_t *table);

/* Defines a table named _var and keeps it registered while its library is
 * loaded. */
#define UCS_CONFIG_DEFINE_TABLE(_var, _title, _prefix, _fields, _type)        \
    static ucs_config_table_t _var = {_title, _prefix, _fields,               \
                                      sizeof(_type), NULL, {NULL, NULL}};     \
    UCS_CONFIG_KEEP_REGISTERED(_var)

#define UCS_CONFIG_KEEP_REGISTERED(_var)                         \
    static void UCS_F_CTOR _var##_ctor(void)                     \
    {                                                            \
        ucs_config_table_register(&_var);                        \
    }                                                            \
    static void UCS_F_DTOR _var##_dtor(void)                     \
    {                                                            \
        ucs_config_table_unregister(&_var);                      \
    }

/* Where a read looks beside the environment and the standard files. */
typedef struct ucs_config_source {
    const char *app_prefix; /* "MYAPP" for MYAPP_UCX_*; NULL: none */
    const char *filename;   /* one more file; missing is no error */
    const struct ucs_config_overrides *overrides; /* NULL: none */
} ucs_config_source_t;

/**
 * Warns, once for each name in the life of the process, of UCX_* variables in
 * the environment, the files and the caller's settings that nobody knows, with
 * the nearest known name. UCX_WARN_UNUSED_ENV_VARS=n keeps it quiet. Names that
 * only other implementations have are told of at level info.
 *
 * @param [in] source          As for ucs_config_read; may be NULL.
 * @param [in] known_prefixes  More names are known if they begin so, e.g.
 *                             "TCP_" for UCX_TCP_*, unless a table of that
 *                             prefix is registered; ended by NULL; may be NULL.
 * @param [in] known_names     More names, e.g. "TLS"; the same.
 *
 * @return How many names were warned of now.
 */
unsigned ucs_config_warn_unknown(const ucs_config_source_t *source,
                                 const char *const *known_prefixes,
                                 const char *const *known_names);

/** What a word for transports that other implementations have stands for
 * ("NVIDIA GPUs"), or NULL. */
const char *ucs_config_foreign_transport(const char *word);

/* ---- overrides: settings made by calls ---- */

/* One setting. */
typedef struct ucs_config_override {
    ucs_list_link_t list;
    char *name; /* without UCX_ */
    char *text;
} ucs_config_override_t;

/* A list of them; start with ucs_config_overrides_init. */
typedef struct ucs_config_overrides {
    ucs_list_link_t list;
} ucs_config_overrides_t;

void ucs_config_overrides_init(ucs_config_overrides_t *overrides);
void ucs_config_overrides_cleanup(ucs_config_overrides_t *overrides);

/** Adds or replaces. The name may begin with UCX_ or not. */
ucs_status_t ucs_config_overrides_set(ucs_config_overrides_t *overrides,
                                      const char *name, const char *text);

/** The text, or NULL. */
const char *ucs_config_overrides_get(const ucs_config_overrides_t *overrides,
                                     const char *name);
ucs_status_t ucs_config_overrides_clone(ucs_config_overrides_t *dest,
                                        const ucs_config_overrides_t *src);

/* ---- options ---- */

/**
 * Fills in an options structure, which may hold anything before.
 *
 * @param [in]  table   Its table; need not be registered.
 * @param [in]  source  NULL: the environment and the standard files only.
 * @param [out] opts    Release by ucs_config_release.
 *
 * @return UCS_ERR_INVALID_PARAM for a bad text, after a message that names the
 *         variable, the text, what is expected and the nearest valid word.
 */
ucs_status_t ucs_config_read(const ucs_config_table_t *table,
                             const ucs_config_source_t *source, void *opts);

/** Fills in the defaults only. */
ucs_status_t ucs_config_read_defaults(const ucs_config_table_t *table,
                                      void *opts);

/**
 * Sets one option. The name may carry the table's prefix, and UCX_ before it.
 *
 * @return UCS_ERR_NO_ELEM, silently, if the table has no such name;
 *         UCS_ERR_INVALID_PARAM, after a message, for a bad text: the old value
 *         stays.
 */
ucs_status_t ucs_config_set(const ucs_config_table_t *table, void *opts,
                            const char *name, const char *text);

/** Gets one option as text. UCS_ERR_BUFFER_TOO_SMALL if it was cut. */
ucs_status_t ucs_config_get(const ucs_config_table_t *table, const void *opts,
                            const char *name, char *text, size_t max);

ucs_status_t ucs_config_clone(const ucs_config_table_t *table, void *dest,
                              const void *src);
void ucs_config_release(const ucs_config_table_t *table, void *opts);

/** Prints the options as flags ask. @a title: NULL is the table's. */
void ucs_config_print(FILE *stream, const char *title,
                      const ucs_config_table_t *table, const void *opts,
                      const char *app_prefix, ucs_config_print_flags_t flags);

/** Reads and prints every registered table. Returns the first failure to read
 * one, which was logged; that table is left out. */
ucs_status_t ucs_config_print_all(FILE *stream, const char *app_prefix,
                                  ucs_config_print_flags_t flags);

/* One variable, as ucs_config_each tells of it. */
typedef struct ucs_config_item {
    const char *table;     /* title of its table */
    const char *name;      /* with UCX_ and what else belongs in front */
    const char *value;     /* now, as text */
    const char *dfl_value;
    const char *type;      /* what is accepted, in words */
    const char *doc;       /* help; "" if there is none */
    unsigned flags;        /* UCS_CONFIG_FLAG_*; HIDDEN also without help */
} ucs_config_item_t;

/**
 * Tells of every variable of every registered table. @a visit keeps nothing it
 * is given and calls nothing of this header.
 *
 * @return The first failure to read a table, which was logged; the variables of
 *         that table are left out.
 */
ucs_status_t ucs_config_each(const char *app_prefix,
                             void (*visit)(const ucs_config_item_t *item,
                                           void *arg),
                             void *arg);

/** The text of a variable (without UCX_) from environment or files, or NULL.
 * For the few settings that no table can hold. Valid until the next change of
 * the environment. */
const char *ucs_config_lookup(const ucs_config_source_t *source,
                              const char *name);

/**
 * Does the environment not count for this variable? So it is for those that name
 * a path (UCS_CONFIG_FLAG_PATH) in a program with privileges that its user lacks
 * (AT_SECURE): its user must not choose which files it reads and creates. Warns
 * once for each variable that is set all the same. Any thread.
 *
 * @param [in] full_name  With UCX_ and what else belongs in front.
 * @param [in] flags      UCS_CONFIG_FLAG_* of the variable.
 */
int ucs_config_env_is_ignored(const char *full_name, unsigned flags);

/** Forgets the contents of the standard files; the next read opens them again.
 * No other thread may be reading. For tests. */
void ucs_config_files_forget(void);

/* ---- helpers for callers of lists ---- */

/** Is the name in the array? Returns its index, or -1. */
int ucs_config_names_search(const ucs_config_names_array_t *array,
                            const char *name);

/** Does a word of a device list mean the device? "eth[0-3]" means eth0 to eth3;
 * a word without a colon also means the device's ports ("NAME:1"). */
int ucs_config_device_is_called(const char *device, const char *word);

/** Does the list let the name through? */
int ucs_config_allow_list_allows(const ucs_config_allow_list_t *list,
                                 const char *name);

/** How many slips a word of this length may have and still be recognised. */
unsigned ucs_config_slips(const char *word);

/** The candidate nearest to a misspelt word, or NULL if none is near. */
const char *ucs_config_nearest(const char *word, const char *const *candidates);

/** How many single-letter changes (insert, drop, replace, swap neighbours) lie
 * between two words, ignoring case; no more than limit + 1 is counted. */
unsigned ucs_config_edit_distance(const char *a, const char *b,
                                  unsigned limit);

/* ---- the library's own options ---- */

typedef struct ucs_global_opts {
    unsigned log_level;
    char *log_file;
    char *config_dir; /* where ucx.conf is looked for as well */
    int warn_unused_env_vars;
    unsigned async_signo;
} ucs_global_opts_t;

extern ucs_global_opts_t ucs_global_opts;

END_C_DECLS

#endif
