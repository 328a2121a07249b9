/* SPDX-License-Identifier: BSD-3-Clause */
/* See bad.h. */
#include "bad.h"

#include <check.h>
#include <string.h>

void bad_expect_good(uct_plugin_registry_t *registry)
{
    uct_rejection_t rejection;

    tree_assert_code(tree_load(registry, "good", &rejection), UCT_REJECT_NONE,
                     &rejection);
    ck_assert(tree_is_mapped("good/fake.so"));
}

void bad_expect_listed(const char *text, uct_rejection_code_t code,
                       const char *reason)
{
    json_t *root = json_loads(text, 0, NULL), *plugin, *rejection;
    int seen = 0, good = 0;
    const char *name;
    size_t i;

    ck_assert_msg(root != NULL, "no JSON: %s", text);
    json_array_foreach(json_object_get(root, "plugins"), i, plugin) {
        name      = json_string_value(json_object_get(plugin, "name"));
        rejection = json_object_get(plugin, "rejection");
        if (!strcmp(name, "bad")) {
            ck_assert_str_eq(json_string_value(
                                 json_object_get(rejection, "code")),
                             uct_rejection_info(code)->id);
            ck_assert_ptr_nonnull(
                strstr(json_string_value(json_object_get(rejection, "reason")),
                       reason));
            seen = 1;
        } else if (!strcmp(name, "good")) {
            good = rejection == NULL;
        }
    }
    ck_assert_msg(seen, "the tool does not list it: %s", text);
    ck_assert_msg(good, "the tool does not list the good one: %s", text);
    json_decref(root);
}
