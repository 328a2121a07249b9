/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx_info -b: the build configuration, as preprocessor lines.
 */
#include "info.h"

#include <ctype.h>
#include <string.h>

#include "build_config.h"

int info_build_ask(info_t *info, json_t **answer_p)
{
    static const struct {
        const char *name;
        const char *value;
    } rows[] = {
#define ROW(_name, _value) {_name, _value},
        INFO_BUILD_ROWS(ROW)
#undef ROW
    };
    json_t *answer = json_object();
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        json_object_set_new(answer, rows[i].name, json_text(rows[i].value));
    }
    *answer_p = answer;
    return (answer == NULL) ? INFO_BAD : INFO_OK;
}

static int is_number(const char *text)
{
    return (text[0] != '\0') && (text[strspn(text, "0123456789")] == '\0');
}

void info_build_print(const info_t *info, const json_t *answer)
{
    const char *name, *value;
    json_t *member;

    /* jansson requires a non-const object, but does not change it */
    json_object_foreach((json_t *)(uintptr_t)answer, name, member) {
        value = json_string_value(member);
        if (is_number(value)) {
            printf("#define %-25s %s\n", name, value);
        } else {
            printf("#define %-25s \"%s\"\n", name, value);
        }
    }
}
