/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Configuration files: which files exist, which are trusted, and their contents
 * in memory. file_parse.c parses the text.
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

#define CONFIG_FILE_NAME        "ucx.conf"
#define CONFIG_FILE_MAX         (1ul << 20)
#define CONFIG_NUM_FILES        5
#define CONFIG_DISTRIBUTION_DIR "/etc/ucx"

/* A standard file: ucx.conf in one of the standard folders. */
typedef struct {
    config_file_t *file;
    struct stat stamp; /* its device and inode number identify the file */
} known_file_t;

/* The standard files that exist. The first query reads them. */
static struct {
    pthread_mutex_t lock;
    int loaded; /* atomic; the files were searched and read */
    known_file_t files[CONFIG_NUM_FILES]; /* highest priority last */
    unsigned count;
} standard = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A file that a caller named (config_app_file_get). */
typedef struct {
    ucs_list_link_t list;
    config_file_t *file;
    struct stat stamp; /* attributes of the file when it was read */
    unsigned users;    /* references that were not released by
                        * config_app_file_put */
    int is_stale;      /* the file has changed since it was read, or
                        * ucs_config_files_forget() was called: not returned
                        * again, freed with the last reference */
} app_file_t;

static struct {
    pthread_mutex_t lock;
    ucs_list_link_t files;
} app = {
    .lock  = PTHREAD_MUTEX_INITIALIZER,
    .files = UCS_LIST_INITIALIZER(&app.files),
};

/* Rejects files that are not regular files, and files that neither root nor
 * this user owns, or that everybody can write: other users could change the
 * configuration of this process. A file that its group can write is
 * accepted. */
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

/* Opens a file and stores its attributes in *st. Returns -1 if the file does
 * not exist, cannot be opened, is not a regular file, or is a standard file and
 * not trusted. Warns about these cases, except a file that does not exist, and
 * a standard file that this user may not read. */
static int file_open(const char *path, int is_standard, struct stat *st)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0) {
        if ((errno == ENOENT) || (errno == ENOTDIR)) {
            return -1;
        } else if ((errno == EACCES) && is_standard) {
            ucs_debug("%s: ignored: no permission to read it", path);
        } else {
            ucs_warn("%s: ignored: cannot be opened: %s", path,
                     strerror(errno));
        }
        return -1;
    }

    if (fstat(fd, st) != 0) {
        ucs_warn("%s: ignored: fstat() failed: %s", path, strerror(errno));
    } else if (is_standard ? file_is_trusted(path, st) : S_ISREG(st->st_mode)) {
        return fd;
    } else if (!is_standard) {
        ucs_warn("%s: ignored: not a regular file", path);
    }

    close(fd);
    return -1;
}

static config_file_t *file_read(const char *path, int fd)
{
    config_file_t *file = NULL;
    ucs_status_t status;
    size_t length;
    char *data;

    status = ucs_read_fd(fd, CONFIG_FILE_MAX, &data, &length);
    if (status != UCS_OK) {
        ucs_warn("%s: ignored: %s", path,
                 (status == UCS_ERR_EXCEEDS_LIMIT) ? "it is larger than 1 MiB" :
                                                     ucs_status_string(status));
        return NULL;
    }

    file = ucs_config_file_parse(path, data, length);
    free(data);
    return file;
}

const config_setting_t *config_file_find(const config_file_t *file,
                                         const char *full_name)
{
    const config_setting_t *setting, *found = NULL;

    if (file == NULL) {
        return NULL;
    }

    ucs_list_for_each(setting, &file->settings, list) {
        if (!strcmp(setting->name, full_name)) {
            found = setting; /* the last one is used */
        }
    }

    return found;
}

void config_file_each(const config_file_t *file, config_setting_visit_t visit,
                      void *arg)
{
    const config_setting_t *setting;
    char where[CONFIG_WHERE_MAX];

    ucs_list_for_each(setting, &file->settings, list) {
        snprintf(where, sizeof(where), "%s:%u", file->path, setting->line);
        visit(setting->name, where, arg);
    }
}

/* ---- the standard files ---- */

/* If the file was already read from another folder, moves it to the end of the
 * array and returns 1. Two standard folders may be the same: if $HOME is the
 * current folder, its ucx.conf gets the higher priority, that of the current
 * folder. */
static int standard_move_last(const struct stat *st)
{
    known_file_t moved;
    unsigned i;

    for (i = 0; i < standard.count; ++i) {
        moved = standard.files[i];
        if ((moved.stamp.st_dev == st->st_dev) &&
            (moved.stamp.st_ino == st->st_ino)) {
            --standard.count;
            memmove(&standard.files[i], &standard.files[i + 1],
                    (standard.count - i) * sizeof(moved));
            standard.files[standard.count++] = moved;
            return 1;
        }
    }

    return 0;
}

static void standard_add(const char *dir)
{
    known_file_t *known = &standard.files[standard.count];
    char path[4096];
    int fd;

    if ((dir == NULL) || (*dir == '\0') ||
        (snprintf(path, sizeof(path), "%s/%s", dir, CONFIG_FILE_NAME) >=
         (int)sizeof(path))) {
        return;
    }

    fd = file_open(path, 1, &known->stamp);
    if (fd < 0) {
        return;
    }

    if (!standard_move_last(&known->stamp)) {
        known->file = file_read(path, fd);
        if (known->file != NULL) {
            ucs_debug("configuration file %s", path);
            ++standard.count;
        }
    }
    close(fd);
}

static void standard_load(void)
{
    if (__atomic_load_n(&standard.loaded, __ATOMIC_ACQUIRE)) {
        return;
    }

    pthread_mutex_lock(&standard.lock);
    if (!standard.loaded) {
        standard_add(CONFIG_DISTRIBUTION_DIR);
        standard_add(UCS_SYSCONF_DIR "/ucx");
        if (!ucs_sys_is_secure()) {
            standard_add(getenv("HOME"));
            standard_add(getenv("UCX_CONFIG_DIR"));
            standard_add(".");
        }
        __atomic_store_n(&standard.loaded, 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&standard.lock);
}

const config_setting_t *config_files_find(const char *full_name,
                                          const config_file_t **file_p)
{
    const config_setting_t *setting;
    unsigned i;

    standard_load();
    for (i = standard.count; i-- > 0;) {
        setting = config_file_find(standard.files[i].file, full_name);
        if (setting != NULL) {
            *file_p = standard.files[i].file;
            return setting;
        }
    }

    return NULL;
}

void config_files_each(config_setting_visit_t visit, void *arg)
{
    unsigned i;

    standard_load();
    for (i = 0; i < standard.count; ++i) {
        config_file_each(standard.files[i].file, visit, arg);
    }
}

/* ---- files that callers name ---- */

static int is_same_stamp(const struct stat *a, const struct stat *b)
{
    return (a->st_dev == b->st_dev) && (a->st_ino == b->st_ino) &&
           (a->st_size == b->st_size) &&
           (a->st_mtim.tv_sec == b->st_mtim.tv_sec) &&
           (a->st_mtim.tv_nsec == b->st_mtim.tv_nsec) &&
           (a->st_ctim.tv_sec == b->st_ctim.tv_sec) &&
           (a->st_ctim.tv_nsec == b->st_ctim.tv_nsec);
}

static void app_file_drop(app_file_t *entry)
{
    ucs_list_del(&entry->list);
    ucs_config_file_free(entry->file);
    free(entry);
}

static app_file_t *app_file_find(const char *path)
{
    app_file_t *entry;

    ucs_list_for_each(entry, &app.files, list) {
        if (!entry->is_stale && !strcmp(entry->file->path, path)) {
            return entry;
        }
    }

    return NULL;
}

static app_file_t *app_file_add(const char *path, int fd, const struct stat *st)
{
    app_file_t *entry = calloc(1, sizeof(*entry));

    if (entry == NULL) {
        return NULL;
    }

    entry->file = file_read(path, fd);
    if (entry->file == NULL) {
        free(entry);
        return NULL;
    }

    entry->stamp = *st;
    ucs_list_add_tail(&app.files, &entry->list);
    return entry;
}

const config_file_t *config_app_file_get(const char *path)
{
    const config_file_t *file = NULL;
    app_file_t *entry;
    struct stat st;
    int fd;

    fd = file_open(path, 0, &st);
    if (fd < 0) {
        return NULL;
    }

    pthread_mutex_lock(&app.lock);
    entry = app_file_find(path);
    if ((entry != NULL) && !is_same_stamp(&entry->stamp, &st)) {
        entry->is_stale = 1;
        if (entry->users == 0) {
            app_file_drop(entry);
        }
        entry = NULL;
    }

    if (entry == NULL) {
        entry = app_file_add(path, fd, &st);
    }

    if (entry != NULL) {
        ++entry->users;
        file = entry->file;
    }
    pthread_mutex_unlock(&app.lock);
    close(fd);
    return file;
}

void config_app_file_put(const config_file_t *file)
{
    app_file_t *entry, *next;

    if (file == NULL) {
        return;
    }

    pthread_mutex_lock(&app.lock);
    ucs_list_for_each_safe(entry, next, &app.files, list) {
        if ((entry->file == file) && (--entry->users == 0) && entry->is_stale) {
            app_file_drop(entry);
        }
    }
    pthread_mutex_unlock(&app.lock);
}

/* ---- dropping the contents ---- */

void ucs_config_files_forget(void)
{
    app_file_t *entry, *next;

    pthread_mutex_lock(&standard.lock);
    while (standard.count > 0) {
        ucs_config_file_free(standard.files[--standard.count].file);
    }
    __atomic_store_n(&standard.loaded, 0, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&standard.lock);

    pthread_mutex_lock(&app.lock);
    ucs_list_for_each_safe(entry, next, &app.files, list) {
        entry->is_stale = 1;
        if (entry->users == 0) {
            app_file_drop(entry);
        }
    }
    pthread_mutex_unlock(&app.lock);
}

static void UCS_F_DTOR files_at_unload(void)
{
    ucs_config_files_forget();
}
