/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Configuration files: NAME=VALUE lines, comments from # on the first column,
 * blank lines, [sections]. A section with other lines than settings of ours is
 * about certain machines only; what it sets is not applied.
 */
#include "ucs/config/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ucs/debug/log.h"
#include "ucs/sys/file.h"
#include "ucs/sys/sys.h"

#define CONFIG_FILE_NAME "ucx.conf"
#define CONFIG_FILE_MAX (1ul << 20)
#define CONFIG_NUM_FILES 4

#ifndef UCS_SYSCONF_DIR
#define UCS_SYSCONF_DIR "/etc"
#endif

typedef struct {
    ucs_list_link_t list;
    char *name; /* whole, e.g. UCX_TLS */
    char *text;
    unsigned section; /* 0: before the first one */
} setting_t;

struct config_file {
    char *path;
    ucs_list_link_t settings;
};

/* Read once, at the first question. Highest priority last. */
static struct {
    pthread_mutex_t lock;
    int loaded; /* atomic */
    config_file_t *files[CONFIG_NUM_FILES];
    unsigned count;
} standard = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void setting_free(setting_t *setting)
{
    ucs_list_del(&setting->list);
    free(setting->name);
    free(setting->text);
    free(setting);
}

void config_file_free(config_file_t *file)
{
    setting_t *setting, *next;

    if (file == NULL) {
        return;
    }

    ucs_list_for_each_safe(setting, next, &file->settings, list) {
        setting_free(setting);
    }

    free(file->path);
    free(file);
}

/* Ours are UCX_NAME, and APP_UCX_NAME of an application with a prefix. */
static int is_our_name(const char *name)
{
    const char *ours = strstr(name, UCS_CONFIG_ENV_PREFIX);

    return (ours != NULL) && ((ours == name) || (ours[-1] == '_')) &&
           (ours[strlen(UCS_CONFIG_ENV_PREFIX)] != '\0') &&
           (strpbrk(name, " \t") == NULL);
}

static ucs_status_t file_add(config_file_t *file, char *name, char *text,
                             unsigned section)
{
    size_t length = strlen(text);
    setting_t *setting;

    if ((length >= 2) && ((text[0] == '"') || (text[0] == '\'')) &&
        (text[length - 1] == text[0])) {
        memmove(text, text + 1, length - 2);
        text[length - 2] = '\0';
    }

    setting = calloc(1, sizeof(*setting));
    if (setting == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    setting->name = name;
    setting->text = text;
    setting->section = section;
    ucs_list_add_tail(&file->settings, &setting->list);
    return UCS_OK;
}

static void file_drop_section(config_file_t *file, unsigned section)
{
    setting_t *setting, *next;

    ucs_list_for_each_safe(setting, next, &file->settings, list) {
        if (setting->section == section) {
            setting_free(setting);
        }
    }
}

typedef struct {
    config_file_t *file;
    unsigned line;
    unsigned section;
    int is_conditional; /* the section is for certain machines */
} file_parser_t;

static void file_note_conditional(file_parser_t *parser)
{
    if (!parser->is_conditional) {
        ucs_info("%s:%u: the settings of this section are for certain machines "
                 "and are not applied", parser->file->path, parser->line);
        parser->is_conditional = 1;
        file_drop_section(parser->file, parser->section);
    }
}

/* "line" is trimmed and not empty. */
static ucs_status_t file_parse_line(file_parser_t *parser, const char *line)
{
    const char *equals = strchr(line, '=');
    ucs_status_t status = UCS_OK;
    char *name, *text;

    if (line[0] == '#') {
        return UCS_OK;
    } else if ((line[0] == '[') && (line[strlen(line) - 1] == ']')) {
        ++parser->section;
        parser->is_conditional = 0;
        return UCS_OK;
    } else if (equals == NULL) {
        ucs_warn("%s:%u: ignored: not of the form UCX_NAME=VALUE: %.80s",
                 parser->file->path, parser->line, line);
        return UCS_OK;
    }

    name = config_strndup_trim(line, (size_t)(equals - line));
    text = config_strndup_trim(equals + 1, strlen(equals + 1));
    if ((name == NULL) || (text == NULL)) {
        status = UCS_ERR_NO_MEMORY;
    } else if (!is_our_name(name)) {
        if (parser->section > 0) {
            file_note_conditional(parser);
        } else {
            ucs_warn("%s:%u: ignored: '%.80s' does not begin with %s",
                     parser->file->path, parser->line, name,
                     UCS_CONFIG_ENV_PREFIX);
        }
    } else if (!parser->is_conditional) {
        status = file_add(parser->file, name, text, parser->section);
        if (status == UCS_OK) {
            return UCS_OK; /* both belong to the file now */
        }
    }

    free(name);
    free(text);
    return status;
}

static ucs_status_t file_parse(config_file_t *file, const char *data,
                               size_t length)
{
    file_parser_t parser = {.file = file};
    ucs_status_t status = UCS_OK;
    const char *end;
    char *line;

    if (memchr(data, '\0', length) != NULL) {
        ucs_warn("%s: ignored: this is no text file", file->path);
        return UCS_OK;
    }

    while ((*data != '\0') && (status == UCS_OK)) {
        end = strchrnul(data, '\n');
        ++parser.line;
        line = config_strndup_trim(data, (size_t)(end - data));
        if (line == NULL) {
            return UCS_ERR_NO_MEMORY;
        }

        if (*line != '\0') {
            status = file_parse_line(&parser, line);
        }

        free(line);
        data = end + (*end == '\n');
    }

    return status;
}

/* A file that others may write could steer this process. */
static int file_is_trusted(const char *path, const struct stat *st)
{
    if (!S_ISREG(st->st_mode)) {
        ucs_warn("%s: ignored: not a regular file", path);
        return 0;
    } else if ((st->st_uid != 0) && (st->st_uid != geteuid())) {
        ucs_warn("%s: ignored: it belongs to user %u, neither root nor you",
                 path, (unsigned)st->st_uid);
        return 0;
    } else if (st->st_mode & S_IWOTH) {
        ucs_warn("%s: ignored: everybody may write it; run chmod o-w on it",
                 path);
        return 0;
    }

    return 1;
}

/* The text of a file, or NULL if there is none that can be used. */
static char *file_read(const char *path, int check_owner, size_t *length_p)
{
    ucs_status_t status;
    char *data = NULL;
    struct stat st;
    int fd;

    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        if ((errno != ENOENT) && (errno != ENOTDIR) && (errno != EACCES)) {
            ucs_warn("%s: ignored: cannot be opened: %s", path,
                     strerror(errno));
        } else if (errno == EACCES) {
            ucs_debug("%s: ignored: no permission to read it", path);
        }
        return NULL;
    }

    if (fstat(fd, &st) != 0) {
        ucs_warn("%s: ignored: fstat() failed: %s", path, strerror(errno));
    } else if (check_owner ? file_is_trusted(path, &st) :
                             (S_ISREG(st.st_mode) != 0)) {
        status = ucs_read_fd(fd, CONFIG_FILE_MAX, &data, length_p);
        if (status != UCS_OK) {
            ucs_warn("%s: ignored: %s", path,
                     (status == UCS_ERR_EXCEEDS_LIMIT) ?
                             "it is larger than 1 MiB" :
                             ucs_status_string(status));
            data = NULL;
        }
    }

    close(fd);
    return data;
}

config_file_t *config_file_load(const char *path, int check_owner)
{
    config_file_t *file;
    size_t length = 0;
    char *data;

    data = file_read(path, check_owner, &length);
    if (data == NULL) {
        return NULL;
    }

    file = calloc(1, sizeof(*file));
    if (file == NULL) {
        goto out;
    }

    ucs_list_head_init(&file->settings);
    file->path = strdup(path);
    if ((file->path == NULL) || (file_parse(file, data, length) != UCS_OK)) {
        config_file_free(file);
        file = NULL;
    }

out:
    free(data);
    return file;
}

const char *config_file_get(const config_file_t *file, const char *full_name)
{
    const char *text = NULL;
    const setting_t *setting;

    if (file == NULL) {
        return NULL;
    }

    ucs_list_for_each(setting, &file->settings, list) {
        if (!strcmp(setting->name, full_name)) {
            text = setting->text; /* the last one counts */
        }
    }

    return text;
}

/* ---- the standard files ---- */

static void standard_add(const char *dir, const char *file_name)
{
    char path[4096];
    config_file_t *file;
    unsigned i;

    if ((dir == NULL) || (*dir == '\0') ||
        (snprintf(path, sizeof(path), "%s/%s", dir, file_name) >=
         (int)sizeof(path))) {
        return;
    }

    for (i = 0; i < standard.count; ++i) {
        if (!strcmp(standard.files[i]->path, path)) {
            return;
        }
    }

    file = config_file_load(path, 1);
    if (file != NULL) {
        ucs_debug("configuration file %s", path);
        standard.files[standard.count++] = file;
    }
}

static void standard_load(void)
{
    if (__atomic_load_n(&standard.loaded, __ATOMIC_ACQUIRE)) {
        return;
    }

    pthread_mutex_lock(&standard.lock);
    if (!standard.loaded) {
        standard_add(UCS_SYSCONF_DIR "/ucx", CONFIG_FILE_NAME);
        if (!ucs_sys_is_secure()) {
            standard_add(getenv("UCX_CONFIG_DIR"), CONFIG_FILE_NAME);
            standard_add(getenv("HOME"), CONFIG_FILE_NAME);
            standard_add(".", CONFIG_FILE_NAME);
        }
        __atomic_store_n(&standard.loaded, 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&standard.lock);
}

const char *config_files_get(const char *full_name, const char **where_p)
{
    const char *text;
    unsigned i;

    standard_load();
    for (i = standard.count; i-- > 0;) {
        text = config_file_get(standard.files[i], full_name);
        if (text != NULL) {
            *where_p = standard.files[i]->path;
            return text;
        }
    }

    return NULL;
}

void config_files_each(void (*visit)(const char *full_name, const char *where,
                                     void *arg),
                       void *arg)
{
    const setting_t *setting;
    unsigned i;

    standard_load();
    for (i = 0; i < standard.count; ++i) {
        ucs_list_for_each(setting, &standard.files[i]->settings, list) {
            visit(setting->name, standard.files[i]->path, arg);
        }
    }
}

void ucs_config_files_forget(void)
{
    pthread_mutex_lock(&standard.lock);
    while (standard.count > 0) {
        config_file_free(standard.files[--standard.count]);
    }
    __atomic_store_n(&standard.loaded, 0, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&standard.lock);
}

static void UCS_F_DTOR files_at_unload(void)
{
    ucs_config_files_forget();
}
