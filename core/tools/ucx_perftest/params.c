/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the parameters that both sides of a test must share, with
 * functions that parse and print them. tests_check() checks whether the values
 * fit the test. */
#include "params.h"

#include "words.h"

#include <ucp/api/ucp.h>

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Kinds of parameters: the type of the member of struct params that a parameter
 * sets. */
enum kind {
    KIND_NAME,   /* a char[PARAMS_NAME_MAX] */
    KIND_NUMBER, /* a uint64_t */
    KIND_COUNT,  /* an unsigned */
    KIND_SIGNED, /* an int >= 0; -1 if not given */
    KIND_SIZES,
    KIND_WORD,   /* an unsigned, the value of one of `words` */
    KIND_MEMORY, /* two memory types, of sent and of received messages */
    KIND_LAYOUT, /* one word for UCT; one or two for UCP */
    KIND_FLAG,
    KIND_CHOICE, /* a bit of params.flags: the second of two words sets it */
};

struct param {
    const char *key;
    enum kind kind;
    size_t offset;
    uint64_t min;
    uint64_t max;
    unsigned flag;
    const struct word *words;
};

#define AT(_member) offsetof(struct params, _member)

static const struct word stream_modes[] = {
    {"recv", 0},
    {"recv_data", 1},
    {NULL, 0},
};
static const struct word wait_modes[] = {
    {"poll", 0},
    {"sleep", 1},
    {NULL, 0},
};

static const struct param table[] = {
    {"t", KIND_NAME, AT(test)},
    {"x", KIND_NAME, AT(transport)},
    {"d", KIND_NAME, AT(device)},
    {"s", KIND_SIZES},
    {"i", KIND_NUMBER, AT(stride), 0, UINT64_C(1) << 40},
    {"n", KIND_NUMBER, AT(iterations), 1, UINT64_C(1) << 40},
    {"w", KIND_NUMBER, AT(warmup), 0, UINT64_C(1) << 40},
    {"time", KIND_NUMBER, AT(milliseconds), 1, 86400000},
    {"O", KIND_COUNT, AT(outstanding), 0, 65536},
    {"T", KIND_COUNT, AT(threads), 1, PARAMS_MAX_THREADS},
    {"M", KIND_WORD, AT(thread_mode), .words = words_thread_modes},
    {"A", KIND_WORD, AT(async_mode), .words = words_async_modes},
    {"H", KIND_SIGNED, AT(header), 0, 65536},
    {"W", KIND_COUNT, AT(window), 1, 65536},
    {"m", KIND_MEMORY},
    {"D", KIND_LAYOUT},
    {"r", KIND_CHOICE, .flag = PARAMS_STREAM_DATA, .words = stream_modes},
    {"E", KIND_CHOICE, .flag = PARAMS_SLEEP, .words = wait_modes},
    {"l", KIND_FLAG, .flag = PARAMS_LOOPBACK},
    {"o", KIND_FLAG, .flag = PARAMS_NO_RESPONDER_PROGRESS},
    {"B", KIND_FLAG, .flag = PARAMS_NONBLOCK},
    {"C", KIND_FLAG, .flag = PARAMS_WILDCARD},
    {"U", KIND_FLAG, .flag = PARAMS_PROBE},
    {"I", KIND_FLAG, .flag = PARAMS_WAKEUP},
    {"e", KIND_FLAG, .flag = PARAMS_ERRORS},
    {"z", KIND_FLAG, .flag = PARAMS_HANDLES},
    {"check", KIND_FLAG, .flag = PARAMS_CHECK},
};

enum {
    PARAM_COUNT = sizeof(table) / sizeof(table[0]),
};

void params_init(struct params *params)
{
    *params = (struct params){.sizes       = {8},
                              .size_count  = 1,
                              .iterations  = 1000000,
                              .warmup      = 10000,
                              .threads     = 1,
                              .header      = -1,
                              .window      = 127,
                              .thread_mode = UCS_THREAD_MODE_SINGLE,
                              .async_mode  = UCS_ASYNC_MODE_THREAD_SPINLOCK,
                              .send_memory = UCS_MEMORY_TYPE_HOST,
                              .recv_memory = UCS_MEMORY_TYPE_HOST};
}

static const struct param *find(const char *key)
{
    unsigned i;

    for (i = 0; i < PARAM_COUNT; ++i) {
        if (strcmp(table[i].key, key) == 0) {
            return &table[i];
        }
    }
    return NULL;
}

bool params_has(const char *key, bool *takes_value)
{
    const struct param *param = find(key);

    *takes_value = (param != NULL) && (param->kind != KIND_FLAG);
    return param != NULL;
}

bool params_number(const char *text, uint64_t max, uint64_t *number_p)
{
    static const char units[] = "kmg";
    const char *unit;
    unsigned shift = 0;
    char *end;

    if (!isdigit((unsigned char)text[0])) {
        return false;
    }
    errno     = 0;
    *number_p = strtoull(text, &end, 10);
    unit      = (*end == '\0') ? NULL : strchr(units, tolower(*end));
    if (unit != NULL) {
        shift = 10 * (unit - units + 1);
        ++end;
    }
    if ((errno != 0) || (*end != '\0') || (*number_p > (max >> shift))) {
        return false;
    }
    *number_p <<= shift;
    return true;
}

static bool set_sizes(struct params *params, const char *value, char *error)
{
    uint64_t sizes[PARAMS_MAX_SIZES], sum = 0;
    unsigned count = 0;
    size_t length;
    char item[32];

    for (;; value += length + 1) {
        length = strcspn(value, ",");
        snprintf(item, sizeof(item), "%.*s", (int)length, value);
        if ((count == PARAMS_MAX_SIZES) || (length >= sizeof(item)) ||
            !params_number(item, UINT64_C(1) << 36, &sizes[count])) {
            snprintf(error, PARAMS_ERROR_MAX,
                     "-s takes 1 to %d sizes of at "
                     "most 64g, such as 8 or 16,4k,1m; \"%.40s\" is none",
                     PARAMS_MAX_SIZES, item);
            return false;
        }
        sum += sizes[count++];
        if (value[length] == '\0') {
            break;
        }
    }
    if (sum > UINT64_C(1) << 36) {
        snprintf(error, PARAMS_ERROR_MAX,
                 "-s: the sizes add up to more than "
                 "64g");
        return false;
    }
    memcpy(params->sizes, sizes, sizeof(sizes[0]) * count);
    params->size_count = count;
    return true;
}

static bool no_word(const char *key, const char *text, size_t length,
                    const struct word *words, char *error)
{
    char list[160];

    words_list(words, list, sizeof(list));
    snprintf(error, PARAMS_ERROR_MAX, "-%s takes one of %s; not \"%.*s\"", key,
             list, (int)((length > 40) ? 40 : length), text);
    return false;
}

static bool set_memory(struct params *params, const char *value, char *error)
{
    size_t first            = strcspn(value, ",");
    const char *second      = (value[first] == ',') ? value + first + 1 : value;
    size_t length           = (value[first] == ',') ? strlen(second) : first;
    const struct word *send = words_find(words_memory_types, value, first);
    const struct word *recv = words_find(words_memory_types, second, length);

    if (send == NULL) {
        return no_word("m", value, first, words_memory_types, error);
    }
    if (recv == NULL) {
        return no_word("m", second, length, words_memory_types, error);
    }
    params->send_memory = send->value;
    params->recv_memory = recv->value;
    return true;
}

/* Sets the layout. The words for UCT and for UCP differ, so one option can
 * serve both. A second word for UCP is the receiver's layout, whose default is
 * contiguous. */
static bool set_layout(struct params *params, const char *value, char *error)
{
    const struct word *word = words_find(words_layouts, value, strlen(value));
    const struct word *send, *recv;
    const char *second;
    size_t first;

    if (word != NULL) {
        params->layout = word->value;
        return true;
    }
    first  = strcspn(value, ",");
    second = (value[first] == ',') ? value + first + 1 : "contig";
    send   = words_find(words_datatypes, value, first);
    recv   = words_find(words_datatypes, second, strlen(second));
    if ((send == NULL) || (recv == NULL)) {
        snprintf(error, PARAMS_ERROR_MAX,
                 "-D takes short, shortiov, bcopy or "
                 "zcopy (UCT), or one or two of contig, iov (UCP); not "
                 "\"%.40s\"",
                 value);
        return false;
    }
    params->flags &= ~(PARAMS_IOV_SEND | PARAMS_IOV_RECV);
    params->flags |= (send->value ? PARAMS_IOV_SEND : 0) |
                     (recv->value ? PARAMS_IOV_RECV : 0);
    return true;
}

static bool set_number(struct params *params, const struct param *param,
                       const char *value, char *error)
{
    void *member = (char *)params + param->offset;
    uint64_t number;

    if (!params_number(value, param->max, &number) || (number < param->min)) {
        snprintf(error, PARAMS_ERROR_MAX,
                 "-%s%s takes a number from %" PRIu64 " to %" PRIu64
                 "; not \"%.40s\"",
                 (param->key[1] == '\0') ? "" : "-", param->key, param->min,
                 param->max, value);
        return false;
    }
    if (param->kind == KIND_NUMBER) {
        *(uint64_t *)member = number;
    } else {
        *(unsigned *)member = number;
    }
    return true;
}

static bool set_name(struct params *params, const struct param *param,
                     const char *value, char *error)
{
    const char *c;

    for (c = value; isgraph((unsigned char)*c); ++c) {
    }
    if ((*c != '\0') || (c == value) || (c - value >= PARAMS_NAME_MAX)) {
        snprintf(error, PARAMS_ERROR_MAX,
                 "-%s takes a name of 1 to %d "
                 "characters",
                 param->key, PARAMS_NAME_MAX - 1);
        return false;
    }
    memcpy((char *)params + param->offset, value, c - value + 1);
    return true;
}

bool params_set(struct params *params, const char *key, const char *value,
                char error[PARAMS_ERROR_MAX])
{
    const struct param *param = find(key);
    const struct word *word;

    if (param == NULL) {
        snprintf(error, PARAMS_ERROR_MAX, "unknown option: \"%.40s\"", key);
        return false;
    }
    if ((value == NULL) != (param->kind == KIND_FLAG)) {
        snprintf(error, PARAMS_ERROR_MAX, "option %s %s", key,
                 (value == NULL) ? "needs a value" : "takes no value");
        return false;
    }
    switch (param->kind) {
    case KIND_NAME:
        return set_name(params, param, value, error);
    case KIND_NUMBER:
    case KIND_COUNT:
    case KIND_SIGNED:
        return set_number(params, param, value, error);
    case KIND_SIZES:
        return set_sizes(params, value, error);
    case KIND_MEMORY:
        return set_memory(params, value, error);
    case KIND_LAYOUT:
        return set_layout(params, value, error);
    case KIND_FLAG:
        params->flags |= param->flag;
        return true;
    case KIND_WORD:
    case KIND_CHOICE:
        break;
    }
    word = words_find(param->words, value, strlen(value));
    if (word == NULL) {
        return no_word(key, value, strlen(value), param->words, error);
    }
    if (param->kind == KIND_WORD) {
        *(unsigned *)((char *)params + param->offset) = word->value;
    } else {
        params->flags &= ~param->flag;
        params->flags |= word->value ? param->flag : 0;
    }
    return true;
}

static void write_sizes(const struct params *params, FILE *file)
{
    unsigned i;

    for (i = 0; i < params->size_count; ++i) {
        fprintf(file, "%s%" PRIu64, (i == 0) ? "s " : ",", params->sizes[i]);
    }
    fputc('\n', file);
}

static void write_layout(const struct params *params, FILE *file)
{
    fprintf(file, "D %s\nD %s,%s\n", params_layout_name(params),
            words_name(words_datatypes, !!(params->flags & PARAMS_IOV_SEND)),
            words_name(words_datatypes, !!(params->flags & PARAMS_IOV_RECV)));
}

/* Writes one parameter. Numbers that mean "not given" are omitted. */
static void write_one(const struct params *params, const struct param *param,
                      FILE *file)
{
    const void *member = (const char *)params + param->offset;
    uint64_t number;

    switch (param->kind) {
    case KIND_NAME:
        if (*(const char *)member != '\0') {
            fprintf(file, "%s %s\n", param->key, (const char *)member);
        }
        return;
    case KIND_NUMBER:
    case KIND_COUNT:
        number = (param->kind == KIND_NUMBER) ? *(const uint64_t *)member :
                                                *(const unsigned *)member;
        if (number >= param->min) {
            fprintf(file, "%s %" PRIu64 "\n", param->key, number);
        }
        return;
    case KIND_SIGNED:
        if (*(const int *)member >= 0) {
            fprintf(file, "%s %d\n", param->key, *(const int *)member);
        }
        return;
    case KIND_SIZES:
        write_sizes(params, file);
        return;
    case KIND_WORD:
        fprintf(file, "%s %s\n", param->key,
                words_name(param->words, *(const unsigned *)member));
        return;
    case KIND_MEMORY:
        fprintf(file, "m %s,%s\n", params_memory_name(params->send_memory),
                params_memory_name(params->recv_memory));
        return;
    case KIND_LAYOUT:
        write_layout(params, file);
        return;
    case KIND_FLAG:
        if (params->flags & param->flag) {
            fprintf(file, "%s\n", param->key);
        }
        return;
    case KIND_CHOICE:
        fprintf(file, "%s %s\n", param->key,
                words_name(param->words, !!(params->flags & param->flag)));
        return;
    }
}

size_t params_write(const struct params *params, char *text, size_t length)
{
    FILE *file = fmemopen(text, length, "w");
    long written;
    unsigned i;

    if (file == NULL) {
        return 0;
    }
    for (i = 0; i < PARAM_COUNT; ++i) {
        write_one(params, &table[i], file);
    }
    fflush(file);
    written = ftell(file);
    fclose(file);
    return (written > 0) ? written : 0;
}

/* Returns whether the text is printable ASCII. Invalid words from a peer are
 * printed, and must not control the terminal. */
static bool is_line(const char *text, size_t size)
{
    size_t i;

    for (i = 0; (i < size) && (text[i] >= ' ') && (text[i] <= '~'); ++i) {
    }
    return i == size;
}

bool params_read(struct params *params, const char *text, size_t length,
                 char error[PARAMS_ERROR_MAX])
{
    char line[PARAMS_TEXT_MAX], *value;
    const char *end;
    size_t size;

    params_init(params);
    for (; length > 0; text += size + 1, length -= size + 1) {
        end  = memchr(text, '\n', length);
        size = (end == NULL) ? 0 : end - text;
        if ((end == NULL) || (size >= sizeof(line)) || !is_line(text, size)) {
            snprintf(error, PARAMS_ERROR_MAX,
                     "the description of the test is "
                     "not text");
            return false;
        }
        memcpy(line, text, size);
        line[size] = '\0';
        value      = strchr(line, ' ');
        if (value != NULL) {
            *value++ = '\0';
        }
        if (!params_set(params, line, value, error)) {
            return false;
        }
    }
    return true;
}

uint64_t params_size(const struct params *params)
{
    uint64_t size = 0;
    unsigned i;

    for (i = 0; i < params->size_count; ++i) {
        size += params->sizes[i];
    }
    return size;
}

uint64_t params_extent(const struct params *params, bool iov)
{
    if (!iov || (params->stride == 0)) {
        return params_size(params);
    }
    return (params->stride * (params->size_count - 1)) +
           params->sizes[params->size_count - 1];
}

const char *params_layout_name(const struct params *params)
{
    return words_name(words_layouts, params->layout);
}

const char *params_memory_name(unsigned type)
{
    const char *name = words_name(words_memory_types, type);

    return (name == NULL) ? "?" : name;
}
