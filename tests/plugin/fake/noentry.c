/* SPDX-License-Identifier: BSD-3-Clause */
/* A valid shared object that is not a plugin: it has no entry point. */
int fake_noentry_answer(void);

__attribute__((visibility("default"))) int fake_noentry_answer(void)
{
    return 42;
}
