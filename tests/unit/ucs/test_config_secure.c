/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables in a program whose privileges its user lacks: paths in the environment
 * are ignored. This program replaces getauxval(), so that it counts as one. */
#include "suite.h"

#include <sys/auxv.h>

#include "ucs/config/config.h"

unsigned long __getauxval(unsigned long type);

__attribute__((visibility("default"))) unsigned long
getauxval(unsigned long type)
{
    return (type == AT_SECURE) ? 1 : __getauxval(type);
}

typedef struct {
    char *file;
} opts_t;

static const ucs_config_field_t fields[] = {
    {"FILE", "none", "Where.", ucs_offsetof(opts_t, file),
     UCS_CONFIG_TYPE_STRING, UCS_CONFIG_FLAG_PATH},
    {NULL},
};

static ucs_config_table_t table = {
    "Paths", "SEC_", fields, sizeof(opts_t), NULL, {NULL, NULL},
};

static void visit(const ucs_config_item_t *item, void *arg)
{
    if (strcmp(item->name, "UCX_SEC_FILE") == 0) {
        ck_assert_str_eq(item->value, "none");
        ++*(unsigned *)arg;
    }
}

/* The warning about the variable is logged while all tables are visited. */
START_TEST(a_path_is_ignored_when_all_tables_are_read)
{
    unsigned count = 0;

    setenv("UCX_SEC_FILE", "/tmp/other", 1);
    ucs_config_table_register(&table);
    ck_ok(ucs_config_each(NULL, visit, &count));
    ck_assert_uint_eq(count, 1);
    ck_ok(ucs_config_each(NULL, visit, &count));
    ck_assert_uint_eq(count, 2);
    ucs_config_table_unregister(&table);
}
END_TEST

SUITE_MAIN("config secure", a_path_is_ignored_when_all_tables_are_read)
