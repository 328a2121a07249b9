/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parser of configuration files:
 *
 *     # a comment; it may begin with ; and follow a value and a blank
 *     UCX_TLS = tcp,posix
 *     UCX_LOG_FILE = "/var/log/a b.log"    # quotes preserve their contents
 *     UCX_NET_DEVICES = eth0,\
 *                       eth1               # \ at the end continues the line
 *     [Large machines]
 *     CPU vendor = AMD                     # conditions: the section is used
 *     CPU model = Genoa                    # only if all of them are true
 *     UCX_RNDV_THRESH = 64k
 *
 * A `:` may replace `=`. An invalid line is reported with its number and
 * ignored. Exception: a title without ] begins a section, after the report.
 */
#include "ucs/config/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/debug/log.h"
#include "ucs/sys/machine.h"

#define BLANKS " \t\r\n\v\f"

typedef struct {
    config_file_t *file;
    const char *next;   /* start of the next line of the text */
    unsigned line;      /* number of the line that is being parsed; of its first
                         * line, if it is continued by \ */
    unsigned num_lines; /* number of lines before `next` */
    unsigned section;   /* number of the current section, from 1; 0: before the
                         * first one */
    char *title;        /* title of that section; NULL before the first one */
    int is_out; /* the rest of the section is skipped, because one of its
                 * conditions is false or unknown */
} parser_t;

static void setting_free(config_setting_t *setting)
{
    ucs_list_del(&setting->list);
    free(setting->name);
    free(setting->text);
    free(setting);
}

void ucs_config_file_free(config_file_t *file)
{
    config_setting_t *setting, *next;

    if (file == NULL) {
        return;
    }

    ucs_list_for_each_safe(setting, next, &file->settings, list) {
        setting_free(setting);
    }

    free(file->path);
    free(file);
}

/* Names of UCX variables are UCX_NAME, and APP_UCX_NAME for an application with
 * the prefix APP. */
static int is_our_name(const char *name)
{
    const char *ours = strstr(name, UCS_CONFIG_ENV_PREFIX);

    return (ours != NULL) && ((ours == name) || (ours[-1] == '_')) &&
           (ours[strlen(UCS_CONFIG_ENV_PREFIX)] != '\0') &&
           (strpbrk(name, BLANKS) == NULL);
}

/* The file takes ownership of both texts; on failure they are freed. */
static ucs_status_t add_setting(parser_t *parser, char *name, char *text)
{
    config_setting_t *setting = calloc(1, sizeof(*setting));

    if (setting == NULL) {
        free(name);
        free(text);
        return UCS_ERR_NO_MEMORY;
    }

    setting->name    = name;
    setting->text    = text;
    setting->line    = parser->line;
    setting->section = parser->section;
    ucs_list_add_tail(&parser->file->settings, &setting->list);
    return UCS_OK;
}

/* Removes the settings of the current section that were already added, and
 * marks the rest of the section to be skipped. */
static void drop_section(parser_t *parser)
{
    ucs_list_link_t *settings = &parser->file->settings;
    config_setting_t *setting;

    parser->is_out = 1;
    while (!ucs_list_is_empty(settings)) {
        setting = ucs_list_tail(settings, config_setting_t, list);
        if (setting->section != parser->section) {
            return;
        }
        setting_free(setting);
    }
}

/* ---- values ---- */

/* Returns the length of an unquoted value: up to a comment or the end. A
 * comment begins with # or ; at the start or after a blank. */
static size_t plain_length(const char *text)
{
    size_t i;

    for (i = 0; text[i] != '\0'; ++i) {
        if (((text[i] == '#') || (text[i] == ';')) &&
            ((i == 0) || (strchr(BLANKS, text[i - 1]) != NULL))) {
            break;
        }
    }

    return i;
}

/* Copies the value that begins at "text" to *value_p. Logs an invalid value and
 * returns UCS_ERR_INVALID_PARAM. */
static ucs_status_t take_value(const parser_t *parser, const char *text,
                               char **value_p)
{
    const char *end, *rest;

    text += strspn(text, BLANKS);
    if ((*text != '"') && (*text != '\'')) {
        *value_p = config_strndup_trim(text, plain_length(text));
        return (*value_p == NULL) ? UCS_ERR_NO_MEMORY : UCS_OK;
    }

    end = strchr(text + 1, *text);
    if (end == NULL) {
        ucs_warn("%s:%u: ignored: the quote before %.80s is not closed",
                 parser->file->path, parser->line, text + 1);
        return UCS_ERR_INVALID_PARAM;
    }

    rest = end + 1 + strspn(end + 1, BLANKS);
    if ((*rest != '\0') && (*rest != '#') && (*rest != ';')) {
        ucs_warn("%s:%u: ignored: %.80s follows a closing quote; put the whole "
                 "value in quotes",
                 parser->file->path, parser->line, rest);
        return UCS_ERR_INVALID_PARAM;
    }

    *value_p = strndup(text + 1, (size_t)(end - text) - 1);
    return (*value_p == NULL) ? UCS_ERR_NO_MEMORY : UCS_OK;
}

/* ---- lines ---- */

static int find_label(const char *name)
{
    int i;

    for (i = 0; ucs_machine_labels[i] != NULL; ++i) {
        if (!strcmp(ucs_machine_labels[i], name)) {
            return i;
        }
    }

    return -1;
}

static void check_condition(parser_t *parser, const char *name,
                            const char *pattern)
{
    int label = find_label(name);
    const char *nearest;

    if (label >= 0) {
        if (!ucs_machine_matches((ucs_machine_fact_t)label, pattern)) {
            ucs_debug("%s:%u: section [%s] is skipped: it is for other "
                      "machines",
                      parser->file->path, parser->line, parser->title);
            drop_section(parser);
        }
        return;
    }

    nearest = ucs_config_nearest(name, ucs_machine_labels);
    ucs_warn("%s:%u: unknown condition '%.80s'%s%s%s: section [%s] is ignored",
             parser->file->path, parser->line, name,
             (nearest == NULL) ? "" : " (did you mean '",
             (nearest == NULL) ? "" : nearest, (nearest == NULL) ? "" : "'?)",
             parser->title);
    drop_section(parser);
}

/* Warns about a name that is not a UCX variable. Called for lines before the
 * first section only: in a section, such a name is a condition. */
static void report_name(const parser_t *parser, const char *name)
{
    static const char export_word[] = "export ";

    if (!strncmp(name, export_word, strlen(export_word)) &&
        is_our_name(name + strlen(export_word))) {
        ucs_warn("%s:%u: ignored: leave out 'export' before %.80s",
                 parser->file->path, parser->line, name + strlen(export_word));
    } else if ((*name != '\0') &&
               (name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")] ==
                '\0')) {
        ucs_warn("%s:%u: ignored: '%.80s' does not begin with %s; write "
                 "%s%.80s",
                 parser->file->path, parser->line, name, UCS_CONFIG_ENV_PREFIX,
                 UCS_CONFIG_ENV_PREFIX, name);
    } else {
        ucs_warn("%s:%u: ignored: '%.80s' does not begin with %s",
                 parser->file->path, parser->line, name, UCS_CONFIG_ENV_PREFIX);
    }
}

static ucs_status_t parse_header(parser_t *parser, const char *line)
{
    const char *end = strchr(line, ']');

    if (end == NULL) {
        ucs_warn("%s:%u: a section begins here, but the ] after %.80s is "
                 "missing",
                 parser->file->path, parser->line, line);
        end = line + strlen(line);
    }

    free(parser->title);
    parser->title  = config_strndup_trim(line + 1, (size_t)(end - line) - 1);
    parser->is_out = 0;
    ++parser->section;
    return (parser->title == NULL) ? UCS_ERR_NO_MEMORY : UCS_OK;
}

static ucs_status_t parse_assignment(parser_t *parser, const char *line,
                                     const char *delimiter)
{
    ucs_status_t status;
    char *name, *text;

    name = config_strndup_trim(line, (size_t)(delimiter - line));
    if (name == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    status = take_value(parser, delimiter + 1, &text);
    if (status != UCS_OK) {
        goto out;
    }

    if (is_our_name(name)) {
        if (!parser->is_out) {
            return add_setting(parser, name, text);
        }
    } else if (parser->section == 0) {
        report_name(parser, name);
    } else if (!parser->is_out) {
        check_condition(parser, name, text);
    }

    free(text);
out:
    free(name);
    return (status == UCS_ERR_NO_MEMORY) ? status : UCS_OK;
}

/* Parses a line without surrounding blanks. */
static ucs_status_t parse_line(parser_t *parser, const char *line)
{
    const char *delimiter;

    if ((line[0] == '\0') || (line[0] == '#') || (line[0] == ';')) {
        return UCS_OK;
    } else if (line[0] == '[') {
        return parse_header(parser, line);
    }

    delimiter = strpbrk(line, "=:");
    if (delimiter == NULL) {
        ucs_warn("%s:%u: ignored: not of the form UCX_NAME=VALUE: %.80s",
                 parser->file->path, parser->line, line);
        return UCS_OK;
    }

    return parse_assignment(parser, line, delimiter);
}

/* Returns the next line in *line_p, without surrounding blanks and joined with
 * its continuation lines; NULL at the end of the text. Comments are not
 * continued. */
static ucs_status_t next_line(parser_t *parser, char **line_p)
{
    char *line = NULL, *joined, *part;
    const char *end;
    size_t length = 0, part_length;
    int goes_on   = 1;

    *line_p      = NULL;
    parser->line = parser->num_lines + 1;
    while (goes_on && (*parser->next != '\0')) {
        end  = strchrnul(parser->next, '\n');
        part = config_strndup_trim(parser->next, (size_t)(end - parser->next));
        joined = (part == NULL) ? NULL :
                                  realloc(line, length + strlen(part) + 1);
        if (joined == NULL) {
            free(part);
            free(line);
            return UCS_ERR_NO_MEMORY;
        }

        part_length = strlen(part);
        line        = joined;
        memcpy(line + length, part, part_length + 1);
        length += part_length;
        free(part);

        goes_on = (part_length > 0) && (line[length - 1] == '\\') &&
                  (strchr("#;", line[0]) == NULL);
        length -= (size_t)goes_on;
        line[length] = '\0';
        ++parser->num_lines;
        parser->next = end + (*end == '\n');
    }

    *line_p = line;
    return UCS_OK;
}

static ucs_status_t parse_text(parser_t *parser)
{
    ucs_status_t status;
    char *line;

    do {
        status = next_line(parser, &line);
        if ((status != UCS_OK) || (line == NULL)) {
            break;
        }

        status = parse_line(parser, line);
        free(line);
    } while (status == UCS_OK);

    free(parser->title);
    return status;
}

config_file_t *ucs_config_file_parse(const char *path, const char *data,
                                     size_t length)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    parser_t parser                     = {.next = data};
    config_file_t *file;

    file = calloc(1, sizeof(*file));
    if (file == NULL) {
        return NULL;
    }

    ucs_list_head_init(&file->settings);
    file->path = strdup(path);
    if (file->path == NULL) {
        goto err;
    }

    if (memchr(data, '\0', length) != NULL) {
        ucs_warn("%s: ignored: this is not a text file", path);
        return file;
    }

    if (!strncmp(data, byte_order_mark, strlen(byte_order_mark))) {
        parser.next += strlen(byte_order_mark);
    }

    parser.file = file;
    if (parse_text(&parser) == UCS_OK) {
        return file;
    }

err:
    ucs_config_file_free(file);
    return NULL;
}
