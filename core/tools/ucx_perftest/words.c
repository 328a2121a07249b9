/* SPDX-License-Identifier: BSD-3-Clause */
/* The words that options accept, and their values. */
#include "words.h"

#include "params.h"

#include <ucp/api/ucp.h>

#include <stdio.h>
#include <string.h>

const struct word words_thread_modes[] = {
    {"single", UCS_THREAD_MODE_SINGLE},
    {"serialized", UCS_THREAD_MODE_SERIALIZED},
    {"multi", UCS_THREAD_MODE_MULTI},
    {NULL, 0},
};

const struct word words_async_modes[] = {
    {"thread_spinlock", UCS_ASYNC_MODE_THREAD_SPINLOCK},
    {"thread_mutex", UCS_ASYNC_MODE_THREAD_MUTEX},
    {"signal", UCS_ASYNC_MODE_SIGNAL},
    {"poll", UCS_ASYNC_MODE_POLL},
    {NULL, 0},
};

const struct word words_layouts[] = {
    {"short", LAYOUT_SHORT},
    {"shortiov", LAYOUT_SHORT_IOV},
    {"bcopy", LAYOUT_BCOPY},
    {"zcopy", LAYOUT_ZCOPY},
    {NULL, 0},
};

const struct word words_datatypes[] = {
    {"contig", 0},
    {"iov", 1},
    {NULL, 0},
};

const struct word words_memory_types[] = {
    {"host", UCS_MEMORY_TYPE_HOST},
    {"cuda", UCS_MEMORY_TYPE_CUDA},
    {"cuda-managed", UCS_MEMORY_TYPE_CUDA_MANAGED},
    {"rocm", UCS_MEMORY_TYPE_ROCM},
    {"rocm-managed", UCS_MEMORY_TYPE_ROCM_MANAGED},
#if UCP_API_VERSION >= UCP_VERSION(1, 18)
    {"ze-host", UCS_MEMORY_TYPE_ZE_HOST},
    {"ze-device", UCS_MEMORY_TYPE_ZE_DEVICE},
    {"ze-managed", UCS_MEMORY_TYPE_ZE_MANAGED},
#endif
    {NULL, 0},
};

const struct word *words_find(const struct word *words, const char *text,
                              size_t length)
{
    for (; words->name != NULL; ++words) {
        if ((strlen(words->name) == length) &&
            (memcmp(words->name, text, length) == 0)) {
            return words;
        }
    }
    return NULL;
}

const char *words_name(const struct word *words, unsigned value)
{
    for (; words->name != NULL; ++words) {
        if (words->value == value) {
            return words->name;
        }
    }
    return NULL;
}

void words_list(const struct word *words, char *text, size_t length)
{
    size_t used = 0;

    text[0] = '\0';
    for (; (words->name != NULL) && (used < length); ++words) {
        used += snprintf(text + used, length - used, "%s%s",
                         (used == 0) ? "" : ", ", words->name);
    }
}
