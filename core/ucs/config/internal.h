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

/* A sub-table that contains an option. */
typedef struct config_scope {
    const struct config_scope *up; /* sub-table that contains this one; NULL:
                                    * this one is directly in the table */
    const char *dfl;    /* texts that replace the defaults of the sub-table's
                         * options, as "A=1;B=2"; may be NULL */
    size_t name_offset; /* number of characters of config_item_t::name before
                         * the option's name within this sub-table */
} config_scope_t;

/* An option, as passed to the callback of a walk. */
typedef struct config_item {
    const ucs_config_field_t *field;
    const char *name; /* with the prefixes of sub-tables, without the prefix of
                       * the table; valid during the callback */
    char *ptr; /* the value in the options structure; NULL if the walk has
                * no such structure */
    const config_scope_t *scope; /* innermost sub-table that contains the
                                  * option; NULL: none */
} config_item_t;

/* Callback of config_walk(). If it returns anything but UCS_OK, config_walk()
 * stops and returns that status. */
typedef ucs_status_t (*config_visit_t)(const config_item_t *item, void *arg);

/* Calls `visit` for each option. `opts`: the options structure, or NULL. */
ucs_status_t config_walk(const ucs_config_field_t *fields, void *opts,
                         config_visit_t visit, void *arg);

/* Returns whether the option has this name or alternative name. */
int config_item_is_called(const config_item_t *item, const char *name);

/* Returns the default of an option as text. A sub-table that contains the
 * option may have replaced it; then the text is in `buf`. */
const char *config_default(const config_item_t *item, char *buf, size_t max);

/* ---- files (file.c) and their contents (file_parse.c) ---- */

/* Size of a buffer for "path:line". */
#define CONFIG_WHERE_MAX (4096 + 16)

/* A line NAME=TEXT of a file. */
typedef struct config_setting {
    ucs_list_link_t list;
    char *name; /* full name, e.g. UCX_TLS */
    char *text;
    unsigned line;    /* number of the line, from 1 */
    unsigned section; /* number of the section, from 1; 0: before the first
                       * section */
} config_setting_t;

typedef struct config_file {
    char *path;
    ucs_list_link_t settings; /* config_setting_t in the order of their lines,
                               * except those in sections that do not apply to
                               * this machine */
} config_file_t;

/* Parses `data`: `length` bytes of any contents, followed by a zero byte.
 * `path` is used in messages. Invalid lines are reported and ignored, and so is
 * the whole text if it contains a zero byte. Returns NULL if memory is
 * exhausted. Exported for the fuzzer. */
config_file_t *ucs_config_file_parse(const char *path, const char *data,
                                     size_t length);
void ucs_config_file_free(config_file_t *file);

/* Returns the last setting of this name, or NULL. `file` may be NULL. */
const config_setting_t *config_file_find(const config_file_t *file,
                                         const char *full_name);

/* Searches the standard files (ucx.conf in five folders), the one with the
 * highest priority first. Returns NULL if none has the setting; otherwise
 * *file_p receives the file. */
const config_setting_t *config_files_find(const char *full_name,
                                          const config_file_t **file_p);

/* Returns the contents of a file that is not a standard one, or NULL if the
 * file does not exist or cannot be read. The file is read again if it has
 * changed. Release the reference by config_app_file_put(). */
const config_file_t *config_app_file_get(const char *path);
void config_app_file_put(const config_file_t *file);

/* Calls `visit` for each setting of one file, or of all standard files. `where`
 * is the location of the setting as "path:line". */
typedef void (*config_setting_visit_t)(const char *full_name, const char *where,
                                       void *arg);
void config_file_each(const config_file_t *file, config_setting_visit_t visit,
                      void *arg);
void config_files_each(config_setting_visit_t visit, void *arg);

/* ---- text and numbers without regard to the locale (number.c) ---- */

/* Parses the decimal number at the start of a text. Returns the text after the
 * number, or NULL if there is none or it exceeds the range of a double. */
const char *config_parse_double(const char *text, double *value_p);
void config_print_double(char *buf, size_t max, double value);

/* Checks a value against `range`, a ucs_config_range_t or NULL. If the value is
 * outside, writes the reason to `why` and returns UCS_ERR_INVALID_PARAM. */
ucs_status_t config_check_range(const void *range, double value, char *why);

/* Writes " from 1 to 9" for a ucs_config_range_t, or "" for NULL. */
void config_describe_range(char *buf, size_t max, const void *range);

/* Copies text[0..length) without surrounding blanks; NULL: out of memory. */
char *config_strndup_trim(const char *text, size_t length);

/* ---- lists of words (word.c) ---- */

/* Parses a list "a,b", "^a,b" or "all". For an invalid word, `why` receives
 * what is wrong. */
ucs_status_t config_allow_list_parse(const char *text,
                                     ucs_config_allow_list_t *list, char *why);

/* ---- names of other implementations (foreign.c) ---- */

/* Returns the reason why a variable has no effect in this implementation, or
 * NULL if the variable is unknown. `prefix`: the prefix of the loaded plugin to
 * which the name belongs, whose entry "PREFIX*" is not used; or NULL. */
const char *config_foreign_variable(const char *name, const char *prefix);

/* ---- registry, locked while it is walked (registry.c) ---- */

/* Returns whether the caller must log a warning about a variable: nonzero at
 * the first call with this name in the process, 0 at later calls. */
int config_warned_add(const char *full_name);

/* Calls `visit` for each registered table, while the registry is locked. */
void config_registry_each(void (*visit)(const ucs_config_table_t *table,
                                        void *arg),
                          void *arg);

#endif
