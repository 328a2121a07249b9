/* SPDX-License-Identifier: BSD-3-Clause */
/* A shared object that is sound, but no plugin: it has no entry point. */
int fake_noentry_answer(void);

__attribute__((visibility("default"))) int fake_noentry_answer(void)
{
    return 42;
}
