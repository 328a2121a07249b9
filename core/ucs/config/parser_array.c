/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of programs (<ucs/config/parser.h>) whose value is a comma-separated
 * list of values of one type. */
#include <ucs/config/parser.h>

#include <stdlib.h>
#include <string.h>

#include "ucs/sys/sys.h"

/* Layout of every list in a program's options structure
 * (UCS_CONFIG_ARRAY_FIELD); `data` is the array of elements. */
typedef UCS_CONFIG_ARRAY_FIELD(char, data) array_t;

static void array_release(array_t *array, const ucs_config_array_t *type)
{
    unsigned i;

    for (i = 0; i < array->count; ++i) {
        type->parser.release(array->data + i * type->elem_size,
                             type->parser.arg);
    }

    free(array->data);
    memset(array, 0, sizeof(*array));
}

/* Makes an empty list with space for `count` elements. */
static ucs_status_t array_alloc(array_t *array, const ucs_config_array_t *type,
                                size_t count)
{
    memset(array, 0, sizeof(*array));
    array->data = calloc(count + 1, type->elem_size);
    return (array->data == NULL) ? UCS_ERR_NO_MEMORY : UCS_OK;
}

/* Adds the elements of `text`, which strtok_r() modifies. Returns 0 for an
 * invalid element. */
static int array_read(array_t *array, const ucs_config_array_t *type,
                      char *text)
{
    char *word, *save = NULL;

    for (word = strtok_r(text, ", \t", &save); word != NULL;
         word = strtok_r(NULL, ", \t", &save)) {
        if (!type->parser.read(word,
                               array->data + array->count * type->elem_size,
                               type->parser.arg)) {
            return 0;
        }
        ++array->count;
    }

    return 1;
}

int ucs_config_sscanf_array(const char *buf, void *dest, const void *arg)
{
    size_t length = strlen(buf);
    char *text    = strdup(buf);
    int done;

    /* length / 2 + 1 elements are enough: each has at least one character, and
     * a separator after it except the last */
    if ((text == NULL) || (array_alloc(dest, arg, length / 2 + 1) != UCS_OK)) {
        free(text);
        return 0;
    }

    done = array_read(dest, arg, text);
    if (!done) {
        array_release(dest, arg);
    }

    free(text);
    return done;
}

int ucs_config_sprintf_array(char *buf, size_t max, const void *src,
                             const void *arg)
{
    const ucs_config_array_t *type = arg;
    const array_t *array           = src;
    size_t length                  = 0;
    unsigned i;

    if (max == 0) {
        return 0;
    }

    buf[0] = '\0';
    for (i = 0; (i < array->count) && (length + 2 < max); ++i) {
        if (i > 0) {
            buf[length++] = ',';
        }
        buf[length] = '\0';
        type->parser.write(buf + length, max - length,
                           array->data + i * type->elem_size, type->parser.arg);
        length += strlen(buf + length);
    }

    return (int)length;
}

ucs_status_t ucs_config_clone_array(const void *src, void *dest,
                                    const void *arg)
{
    const ucs_config_array_t *type = arg;
    const array_t *from            = src;
    array_t *to                    = dest;
    ucs_status_t status;

    status = array_alloc(to, type, from->count);
    while ((status == UCS_OK) && (to->count < from->count)) {
        status = type->parser.clone(from->data + to->count * type->elem_size,
                                    to->data + to->count * type->elem_size,
                                    type->parser.arg);
        to->count += (status == UCS_OK);
    }

    if (status != UCS_OK) {
        array_release(to, type);
    }

    return status;
}

void ucs_config_release_array(void *ptr, const void *arg)
{
    array_release(ptr, arg);
}

void ucs_config_help_array(char *buf, size_t max, const void *arg)
{
    const ucs_config_array_t *type = arg;
    char element[256]              = "";

    type->parser.help(element, sizeof(element), type->parser.arg);
    snprintf(buf, max, "a list, separated by commas, of: %s", element);
}
