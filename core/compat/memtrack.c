/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics of memory that a program allocates. The program reports each
 * allocation with a name, and each release; no call is intercepted here.
 * Without UCX_MEMTRACK_DEST, the functions do nothing.
 */
#include "ucs/config/config.h"
#include "ucs/datastruct/hash.h"
#include "ucs/debug/log.h"
#include "ucs/sys/sys.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char *dest;
} options_t;

/* Totals of the allocations with one name. */
typedef struct account {
    struct account *next;
    size_t bytes, blocks; /* currently allocated */
    size_t peak_bytes, peak_blocks;
    char name[];
} account_t;

/* One allocation. */
typedef struct {
    account_t *account;
    size_t size;
} block_t;

static const ucs_config_field_t fields[] = {
    {"MEMTRACK_DEST", "",
     "Where to write, at exit, the sizes of memory that the program reported\n"
     "by ucs_memtrack_*: stdout, stderr or file:<path>. In a path %p, %h, %e, %u\n"
     "and %t are replaced by process id, host, program, user and time.",
     ucs_offsetof(options_t, dest), UCS_CONFIG_TYPE_STRING,
     UCS_CONFIG_FLAG_PATH},

    {NULL, NULL, NULL, 0, NULL, NULL, 0},
};

UCS_CONFIG_DEFINE_TABLE(memtrack_table, "UCX memory account", "", fields,
                        options_t)

static struct {
    pthread_mutex_t lock;
    int enabled;
    options_t options;
    account_t *accounts;
    ucs_hash_t blocks; /* maps addresses to block_t */
} track = {.lock = PTHREAD_MUTEX_INITIALIZER};

static pthread_once_t asked_once = PTHREAD_ONCE_INIT;

BEGIN_C_DECLS
void ucs_memtrack_allocated(void *ptr, size_t size, const char *name);
void ucs_memtrack_releasing(void *ptr);
END_C_DECLS

/* Reads the configuration when a program first uses these functions. A program
 * with more privileges than its user (AT_SECURE) does not record anything. */
static void ask(void)
{
    ucs_hash_init(&track.blocks);
    if (ucs_sys_is_secure() ||
        (ucs_config_read(&memtrack_table, NULL, &track.options) != UCS_OK)) {
        return;
    }
    if (track.options.dest[0] == '\0') {
        ucs_config_release(&memtrack_table, &track.options);
        return;
    }
    track.enabled = 1;
}

static int is_enabled(void)
{
    pthread_once(&asked_once, ask);
    return track.enabled;
}

static size_t larger(size_t a, size_t b)
{
    return (a > b) ? a : b;
}

/* Returns the totals for a name; creates them if necessary. NULL if memory is
 * exhausted. */
static account_t *account_of(const char *name)
{
    size_t length = strlen(name) + 1;
    account_t *account;

    for (account = track.accounts; account != NULL; account = account->next) {
        if (strcmp(account->name, name) == 0) {
            return account;
        }
    }
    account = calloc(1, sizeof(*account) + length);
    if (account != NULL) {
        memcpy(account->name, name, length);
        account->next  = track.accounts;
        track.accounts = account;
    }
    return account;
}

static void forget(void *ptr)
{
    block_t *block = ucs_hash_del(&track.blocks, (uintptr_t)ptr);

    if (block != NULL) {
        block->account->bytes -= block->size;
        --block->account->blocks;
        free(block);
    }
}

/* Records an allocation. If memory is exhausted, the block is missing from the
 * totals. */
static void note(void *ptr, size_t size, account_t *account)
{
    block_t *block = malloc(sizeof(*block));

    if ((block == NULL) || (account == NULL)) {
        free(block);
        return;
    }
    block->account = account;
    block->size    = size;
    if (ucs_hash_put(&track.blocks, (uintptr_t)ptr, block) != UCS_OK) {
        free(block);
        return;
    }
    account->bytes += size;
    account->blocks += 1;
    account->peak_bytes  = larger(account->peak_bytes, account->bytes);
    account->peak_blocks = larger(account->peak_blocks, account->blocks);
}

void ucs_memtrack_allocated(void *ptr, size_t size, const char *name)
{
    if ((ptr == NULL) || !is_enabled()) {
        return;
    }
    pthread_mutex_lock(&track.lock);
    if (track.enabled) {
        forget(ptr); /* drop an old record: its release was not reported */
        note(ptr, size, account_of(name));
    }
    pthread_mutex_unlock(&track.lock);
}

void ucs_memtrack_releasing(void *ptr)
{
    if ((ptr == NULL) || !is_enabled()) {
        return;
    }
    pthread_mutex_lock(&track.lock);
    if (track.enabled) {
        forget(ptr);
    }
    pthread_mutex_unlock(&track.lock);
}

static void print(FILE *stream)
{
    account_t *account;

    fprintf(stream, "%-24s %14s %10s %14s %10s\n", "name", "bytes", "blocks",
            "peak bytes", "peak");
    for (account = track.accounts; account != NULL; account = account->next) {
        fprintf(stream, "%-24s %14zu %10zu %14zu %10zu\n", account->name,
                account->bytes, account->blocks, account->peak_bytes,
                account->peak_blocks);
    }
    fflush(stream);
}

static void print_to_file(const char *pattern)
{
    char path[PATH_MAX];
    FILE *stream;

    if (ucs_fill_filename_template(pattern, path, sizeof(path)) != UCS_OK) {
        ucs_error("UCX_MEMTRACK_DEST: the path %s is too long", pattern);
        return;
    }
    stream = fopen(path, "w");
    if (stream == NULL) {
        ucs_error("UCX_MEMTRACK_DEST: cannot write %s: %m", path);
        return;
    }
    print(stream);
    fclose(stream);
}

static void release_all(void)
{
    account_t *account;
    block_t *block;

    ucs_hash_for_each(block, &track.blocks) {
        free(block);
    }
    ucs_hash_cleanup(&track.blocks);
    while ((account = track.accounts) != NULL) {
        track.accounts = account->next;
        free(account);
    }
    ucs_config_release(&memtrack_table, &track.options);
}

static void UCS_F_DTOR stop(void)
{
    const char *dest = track.options.dest;

    if (!track.enabled) {
        return;
    }
    pthread_mutex_lock(&track.lock);
    track.enabled = 0;
    if (strcmp(dest, "stdout") == 0) {
        print(stdout);
    } else if (strcmp(dest, "stderr") == 0) {
        print(stderr);
    } else if (strncmp(dest, "file:", 5) == 0) {
        print_to_file(dest + 5);
    } else {
        ucs_error("UCX_MEMTRACK_DEST=%s: write stdout, stderr or file:<path>",
                  dest);
    }
    release_all();
    pthread_mutex_unlock(&track.lock);
}
