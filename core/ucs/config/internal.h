/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of this folder: walking tables of options, reading
 * ucx.conf, parsing numbers and lists. */
#ifndef UCS_CONFIG_INTERNAL_H
#define UCS_CONFIG_INTERNAL_H

#include "ucs/config/config.h"

#ifndef UCS_SYSCONF_DIR
#define UCS_SYSCONF_DIR "/etc"
#endif

#define CONFIG_NAME_MAX 192
#define CONFIG_TEXT_MAX 1024

/* ---- walking the fields of a table, sub-tables included (walk.c) ---- */

/* A sub-table on the path to an option, and the defaults that it changes. */
typedef struct config_scope {
    const struct config_scope *up;
    const char *dfl;    /* "A=1;B=2"; may be NULL */
    size_t name_offset; /* offset in item.name of this scope's names */
} config_scope_t;

typedef struct config_item {
    const ucs_config_field_t *field;
    const char *name; /* with the prefixes of sub-tables, without the table's */
    char *ptr;        /* the value */
    const config_scope_t *scope;
} config_item_t;

/* The walk stops when a callback returns anything but UCS_OK, and returns that
 * status. */
typedef ucs_status_t (*config_visit_t)(const config_item_t *item, void *arg);

ucs_status_t config_walk(const ucs_config_field_t *fields, void *opts,
                         config_visit_t visit, void *arg);

/* Returns whether the option has this name or alternative name. */
int config_item_is_called(const config_item_t *item, const char *name);

/* Returns the default of an option, including the changes by outer tables. */
const char *config_default(const config_item_t *item, char *buf, size_t max);

/* ---- files (file.c) and their contents (file_parse.c) ---- */

/* Maximum length of a location: a path and a line. */
#define CONFIG_WHERE_MAX (4096 + 16)

typedef struct config_setting {
    ucs_list_link_t list;
    char *name; /* full name, e.g. UCX_TLS */
    char *text;
    unsigned line;
    unsigned section; /* 0: before the first section */
} config_setting_t;

typedef struct config_file {
    char *path;
    ucs_list_link_t settings; /* effective settings, in order */
} config_file_t;

/* Parses a text with any contents, which has a zero byte after "length" bytes.
 * Invalid lines are reported and ignored. NULL: out of memory. Exported for the
 * fuzzer. */
config_file_t *ucs_config_file_parse(const char *path, const char *data,
                                     size_t length);
void ucs_config_file_free(config_file_t *file);

/* Returns the last setting of this name, or NULL. `file` may be NULL. */
const config_setting_t *config_file_find(const config_file_t *file,
                                         const char *full_name);

/* Searches the standard files: later files take precedence. */
const config_setting_t *config_files_find(const char *full_name,
                                          const config_file_t **file_p);

/* Returns the contents of a file that a caller named, or NULL if the file does
 * not exist. The file is read again if it has changed. Release the reference by
 * config_app_file_put(). */
const config_file_t *config_app_file_get(const char *path);
void config_app_file_put(const config_file_t *file);

/* Calls visit for each setting of a file, or of the standard files. "where" is
 * "path:line". */
typedef void (*config_setting_visit_t)(const char *full_name, const char *where,
                                       void *arg);
void config_file_each(const config_file_t *file, config_setting_visit_t visit,
                      void *arg);
void config_files_each(config_setting_visit_t visit, void *arg);

/* ---- text and numbers without regard to the locale (number.c) ---- */

/* Parses the number at the start of a text. Returns the text after it, or NULL
 * if there is no number. */
const char *config_parse_double(const char *text, double *value_p);
void config_print_double(char *buf, size_t max, double value);

/* Checks a value against the range of the type's argument; reports an error. */
ucs_status_t config_check_range(const void *range, double value, char *why);

/* Writes " from 1 to 9" for a range, or nothing. */
void config_describe_range(char *buf, size_t max, const void *range);

/* Copies text[0..length) without surrounding blanks; NULL: out of memory. */
char *config_strndup_trim(const char *text, size_t length);

/* ---- lists of words (word.c) ---- */

/* Parses a list. For an invalid word, `why` describes the expected syntax. */
ucs_status_t config_allow_list_parse(const char *text,
                                     ucs_config_allow_list_t *list, char *why);

/* ---- names of other implementations (foreign.c) ---- */

/* Returns the reason why a variable has no effect in this implementation, or
 * NULL if the variable is unknown. `prefix`: the prefix of the loaded plugin to
 * which the name belongs, or NULL. */
const char *config_foreign_variable(const char *name, const char *prefix);

/* ---- registry, locked while it is walked (registry.c) ---- */

/* Records that a variable was warned about, so that each warning is logged once
 * in the process. Returns 0 if it was recorded before. */
int config_warned_add(const char *full_name);

void config_registry_each(void (*visit)(const ucs_config_table_t *table,
                                        void *arg),
                          void *arg);

#endif
