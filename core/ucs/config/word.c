/* SPDX-License-Identifier: BSD-3-Clause */
/* Types of options whose values are words: booleans, enumerations, bitmaps,
 * strings, and lists of strings. */
#include "ucs/config/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ucs/datastruct/string_buffer.h"

typedef const char *const *names_t;

/* All spellings of one value; the first one is printed. A table of values ends
 * with an entry without spellings. */
typedef struct {
    int value;
    const char *words[6];
} word_t;

static const word_t bool_words[] = {
    {UCS_YES, {"y", "yes", "1", "on", "true"}},
    {UCS_NO, {"n", "no", "0", "off", "false"}},
    {0, {NULL}},
};
static const word_t ternary_words[] = {
    {UCS_YES, {"y", "yes", "1", "on", "true"}},
    {UCS_NO, {"n", "no", "0", "off", "false"}},
    {UCS_TRY, {"try", "maybe"}},
    {0, {NULL}},
};
static const word_t ternary_auto_words[] = {
    {UCS_YES, {"y", "yes", "1", "on", "true"}},
    {UCS_NO, {"n", "no", "0", "off", "false"}},
    {UCS_TRY, {"try", "maybe"}},
    {UCS_AUTO, {"auto"}},
    {0, {NULL}},
};
static const word_t on_off_auto_words[] = {
    {UCS_CONFIG_ON, {"on", "1", "yes", "y", "true"}},
    {UCS_CONFIG_OFF, {"off", "0", "no", "n", "false"}},
    {UCS_CONFIG_AUTO, {"auto"}},
    {0, {NULL}},
};

static ucs_status_t words_parse(const word_t *words, const char *text,
                                int *dest)
{
    size_t i;

    for (; words->words[0] != NULL; ++words) {
        for (i = 0; (i < ucs_static_array_size(words->words)) &&
                    (words->words[i] != NULL);
             ++i) {
            if (!strcasecmp(text, words->words[i])) {
                *dest = words->value;
                return UCS_OK;
            }
        }
    }

    return UCS_ERR_INVALID_PARAM;
}

static void words_print(const word_t *words, char *buf, size_t max, int value)
{
    while ((words->words[0] != NULL) && (words->value != value)) {
        ++words;
    }

    snprintf(buf, max, "%s", (words->words[0] == NULL) ? "?" : words->words[0]);
}

#define DEFINE_WORD_TYPE(_name, _text) \
    static ucs_status_t _name##_parse(const char *text, void *dest, \
                                      const void *arg, char *why) \
    { \
        (void)arg; \
        (void)why; \
        return words_parse(_name##_words, text, dest); \
    } \
    static void _name##_print(char *buf, size_t max, const void *src, \
                              const void *arg) \
    { \
        (void)arg; \
        words_print(_name##_words, buf, max, *(const int *)src); \
    } \
    static void _name##_describe(char *buf, size_t max, const void *arg) \
    { \
        (void)arg; \
        snprintf(buf, max, "%s", _text); \
    } \
    const ucs_config_type_t ucs_config_type_##_name = {sizeof(int), \
                                                       _name##_parse, \
                                                       _name##_print, \
                                                       _name##_describe, \
                                                       NULL, \
                                                       NULL}

DEFINE_WORD_TYPE(bool, "y or n");
DEFINE_WORD_TYPE(ternary, "y, n or try");
DEFINE_WORD_TYPE(ternary_auto, "y, n, try or auto");
DEFINE_WORD_TYPE(on_off_auto, "on, off or auto");

/* ---- enumerations ---- */

static int names_find(names_t names, const char *text, size_t length)
{
    int i;

    for (i = 0; names[i] != NULL; ++i) {
        if ((strlen(names[i]) == length) &&
            !strncasecmp(names[i], text, length)) {
            return i;
        }
    }

    return -1;
}

static void names_suggest(names_t names, const char *word, char *why)
{
    const char *nearest = ucs_config_nearest(word, names);

    if (nearest != NULL) {
        snprintf(why, UCS_CONFIG_WHY_MAX, "did you mean '%s'?", nearest);
    }
}

static void names_list(names_t names, ucs_string_buffer_t *strb)
{
    int i;

    for (i = 0; names[i] != NULL; ++i) {
        ucs_string_buffer_appendf(strb, "%s%s", (i == 0) ? "" : ", ", names[i]);
    }
}

static ucs_status_t enum_parse(const char *text, void *dest, const void *arg,
                               char *why)
{
    int index = names_find(arg, text, strlen(text));

    if (index < 0) {
        names_suggest(arg, text, why);
        return UCS_ERR_INVALID_PARAM;
    }

    *(unsigned *)dest = (unsigned)index;
    return UCS_OK;
}

static void enum_print(char *buf, size_t max, const void *src, const void *arg)
{
    unsigned index = *(const unsigned *)src;
    names_t names  = arg;
    unsigned count = 0;

    while (names[count] != NULL) {
        ++count;
    }

    snprintf(buf, max, "%s", (index < count) ? names[index] : "?");
}

static void enum_describe(char *buf, size_t max, const void *arg)
{
    ucs_string_buffer_t strb;

    ucs_string_buffer_init_fixed(&strb, buf, max);
    ucs_string_buffer_appendf(&strb, "one of: ");
    names_list(arg, &strb);
}

/* Returns the next element of a comma-separated list, without surrounding
 * blanks, or NULL at the end. The element has *length_p characters and may be
 * empty. *list advances to the rest of the list. */
static const char *list_next(const char **list, size_t *length_p)
{
    const char *part = *list;
    size_t length;

    if (part == NULL) {
        return NULL;
    }

    length = strcspn(part, ",");
    *list  = (part[length] == ',') ? part + length + 1 : NULL;
    while ((length > 0) && ((*part == ' ') || (*part == '\t'))) {
        ++part;
        --length;
    }
    while ((length > 0) &&
           ((part[length - 1] == ' ') || (part[length - 1] == '\t'))) {
        --length;
    }

    *length_p = length;
    return part;
}

static ucs_status_t bitmap_parse(const char *text, void *dest, const void *arg,
                                 char *why)
{
    uint64_t value = 0;
    const char *part;
    char word[64];
    size_t length;
    int index;

    while ((part = list_next(&text, &length)) != NULL) {
        if (length == 0) {
            continue;
        }

        index = names_find(arg, part, length);
        if ((index < 0) || (index > 63)) {
            snprintf(word, sizeof(word), "%.*s", (int)length, part);
            names_suggest(arg, word, why);
            return UCS_ERR_INVALID_PARAM;
        }

        value |= UCS_BIT(index);
    }

    *(uint64_t *)dest = value;
    return UCS_OK;
}

static void bitmap_print(char *buf, size_t max, const void *src,
                         const void *arg)
{
    uint64_t value = *(const uint64_t *)src;
    ucs_string_buffer_t strb;
    names_t names = arg;
    int i;

    ucs_string_buffer_init_fixed(&strb, buf, max);
    for (i = 0; (i < 64) && (names[i] != NULL); ++i) {
        if (value & UCS_BIT(i)) {
            ucs_string_buffer_appendf(&strb, "%s%s",
                                      (strb.length == 0) ? "" : ",", names[i]);
        }
    }
}

static void bitmap_describe(char *buf, size_t max, const void *arg)
{
    ucs_string_buffer_t strb;

    ucs_string_buffer_init_fixed(&strb, buf, max);
    ucs_string_buffer_appendf(&strb, "a list, separated by commas, of: ");
    names_list(arg, &strb);
}

/* ---- strings ---- */

static ucs_status_t string_parse(const char *text, void *dest, const void *arg,
                                 char *why)
{
    (void)arg;
    (void)why;
    *(char **)dest = strdup(text);
    return (*(char **)dest == NULL) ? UCS_ERR_NO_MEMORY : UCS_OK;
}

static void string_print(char *buf, size_t max, const void *src,
                         const void *arg)
{
    (void)arg;
    snprintf(buf, max, "%s", *(char *const *)src);
}

static void string_describe(char *buf, size_t max, const void *arg)
{
    (void)arg;
    snprintf(buf, max, "any text");
}

static ucs_status_t string_clone(void *dest, const void *src, const void *arg)
{
    return string_parse(*(char *const *)src, dest, arg, NULL);
}

static void string_release(void *ptr, const void *arg)
{
    (void)arg;
    free(*(char **)ptr);
    *(char **)ptr = NULL;
}

/* ---- lists of strings ---- */

static void array_release(void *ptr, const void *arg)
{
    ucs_config_names_array_t *array = ptr;
    unsigned i;

    (void)arg;
    for (i = 0; i < array->count; ++i) {
        free(array->names[i]);
    }

    free(array->names);
    memset(array, 0, sizeof(*array));
}

static ucs_status_t array_add(ucs_config_names_array_t *array, const char *text,
                              size_t length)
{
    char **larger;

    larger = realloc(array->names, (array->count + 1) * sizeof(*larger));
    if (larger == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    array->names         = larger;
    larger[array->count] = strndup(text, length);
    if (larger[array->count] == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    ++array->count;
    return UCS_OK;
}

static ucs_status_t array_parse(const char *text, void *dest, const void *arg,
                                char *why)
{
    ucs_status_t status = UCS_OK;
    const char *part;
    size_t length;

    (void)why;
    memset(dest, 0, sizeof(ucs_config_names_array_t));
    while ((status == UCS_OK) && ((part = list_next(&text, &length)) != NULL)) {
        status = (length == 0) ? UCS_OK : array_add(dest, part, length);
    }

    if (status != UCS_OK) {
        array_release(dest, arg);
    }

    return status;
}

static void array_print(char *buf, size_t max, const void *src, const void *arg)
{
    const ucs_config_names_array_t *array = src;
    ucs_string_buffer_t strb;
    unsigned i;

    (void)arg;
    ucs_string_buffer_init_fixed(&strb, buf, max);
    for (i = 0; i < array->count; ++i) {
        ucs_string_buffer_appendf(&strb, "%s%s", (i == 0) ? "" : ",",
                                  array->names[i]);
    }
}

static void array_describe(char *buf, size_t max, const void *arg)
{
    (void)arg;
    snprintf(buf, max, "a list of words, separated by commas");
}

static ucs_status_t array_clone(void *dest, const void *src, const void *arg)
{
    const ucs_config_names_array_t *array = src;
    ucs_status_t status                   = UCS_OK;
    unsigned i;

    memset(dest, 0, sizeof(*array));
    for (i = 0; (i < array->count) && (status == UCS_OK); ++i) {
        status = array_add(dest, array->names[i], strlen(array->names[i]));
    }

    if (status != UCS_OK) {
        array_release(dest, arg);
    }

    return status;
}

int ucs_config_names_search(const ucs_config_names_array_t *array,
                            const char *name)
{
    unsigned i;

    for (i = 0; i < array->count; ++i) {
        if (!strcmp(array->names[i], name)) {
            return (int)i;
        }
    }

    return -1;
}

/* ---- allow lists ---- */

/* Returns an error text if word `i` is invalid, otherwise NULL. */
static const char *allow_flaw(const ucs_config_allow_list_t *list, unsigned i)
{
    const char *word = list->array.names[i];

    if (!strcmp(word, "all") &&
        ((list->array.count > 1) ||
         (list->mode == UCS_CONFIG_ALLOW_LIST_NEGATE))) {
        return "\"all\" must stand alone";
    } else if ((word[0] == '^') || (word[0] == '!')) {
        return "to exclude, put one ^ before the whole list";
    } else if (strpbrk(word, " \t") != NULL) {
        return "separate the words by commas";
    }

    return NULL;
}

ucs_status_t config_allow_list_parse(const char *text,
                                     ucs_config_allow_list_t *list, char *why)
{
    const char *flaw = NULL;
    ucs_status_t status;
    unsigned i;

    text += strspn(text, " \t");
    list->mode = UCS_CONFIG_ALLOW_LIST_ALLOW;
    if (*text == '^') {
        list->mode = UCS_CONFIG_ALLOW_LIST_NEGATE;
        ++text;
    }

    status = array_parse(text, &list->array, NULL, why);
    if (status != UCS_OK) {
        return status;
    }

    for (i = 0; (i < list->array.count) && (flaw == NULL); ++i) {
        flaw = allow_flaw(list, i);
    }

    if (flaw != NULL) {
        snprintf(why, UCS_CONFIG_WHY_MAX, "%s", flaw);
        array_release(&list->array, NULL);
        return UCS_ERR_INVALID_PARAM;
    }

    if (ucs_config_names_search(&list->array, "all") >= 0) {
        array_release(&list->array, NULL);
        list->mode = UCS_CONFIG_ALLOW_LIST_ALLOW_ALL;
    }

    return UCS_OK;
}

static ucs_status_t allow_parse(const char *text, void *dest, const void *arg,
                                char *why)
{
    (void)arg;
    return config_allow_list_parse(text, dest, why);
}

static void allow_print(char *buf, size_t max, const void *src, const void *arg)
{
    const ucs_config_allow_list_t *list = src;

    if (list->mode == UCS_CONFIG_ALLOW_LIST_ALLOW_ALL) {
        snprintf(buf, max, "all");
        return;
    }

    if ((list->mode == UCS_CONFIG_ALLOW_LIST_NEGATE) && (max > 1)) {
        *buf++ = '^';
        --max;
    }

    array_print(buf, max, &list->array, arg);
}

static void allow_describe(char *buf, size_t max, const void *arg)
{
    (void)arg;
    snprintf(buf, max,
             "a list of words, separated by commas, with ^ before it for all "
             "but these, or \"all\"");
}

static ucs_status_t allow_clone(void *dest, const void *src, const void *arg)
{
    const ucs_config_allow_list_t *list = src;

    ((ucs_config_allow_list_t *)dest)->mode = list->mode;
    return array_clone(&((ucs_config_allow_list_t *)dest)->array, &list->array,
                       arg);
}

static void allow_release(void *ptr, const void *arg)
{
    array_release(&((ucs_config_allow_list_t *)ptr)->array, arg);
}

int ucs_config_allow_list_allows(const ucs_config_allow_list_t *list,
                                 const char *name)
{
    switch (list->mode) {
    case UCS_CONFIG_ALLOW_LIST_ALLOW_ALL:
        return 1;
    case UCS_CONFIG_ALLOW_LIST_NEGATE:
        return ucs_config_names_search(&list->array, name) < 0;
    default:
        return ucs_config_names_search(&list->array, name) >= 0;
    }
}

const ucs_config_type_t ucs_config_type_enum = {
    sizeof(unsigned), enum_parse, enum_print, enum_describe, NULL, NULL,
};
const ucs_config_type_t ucs_config_type_bitmap = {
    sizeof(uint64_t), bitmap_parse, bitmap_print, bitmap_describe, NULL, NULL,
};
const ucs_config_type_t ucs_config_type_string = {
    sizeof(char *),  string_parse, string_print,
    string_describe, string_clone, string_release,
};
const ucs_config_type_t ucs_config_type_string_array = {
    sizeof(ucs_config_names_array_t),
    array_parse,
    array_print,
    array_describe,
    array_clone,
    array_release,
};
const ucs_config_type_t ucs_config_type_allow_list = {
    sizeof(ucs_config_allow_list_t),
    allow_parse,
    allow_print,
    allow_describe,
    allow_clone,
    allow_release,
};
