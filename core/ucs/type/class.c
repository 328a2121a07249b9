/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects of classes (<ucs/type/class.h>): allocation, and cleanup from the
 * class of the object to its base class. */
#include <ucs/type/class.h>

#include <stdlib.h>

#include "ucs/debug/assert.h"

static int class_depth(const ucs_class_t *cls)
{
    int depth = 0;

    /* The chain ends with void_class, whose superclass is NULL. Its address is
     * not compared, because a program may contain a copy of it. */
    for (; cls->superclass != NULL; cls = cls->superclass) {
        ++depth;
    }

    return depth;
}

void ucs_class_call_cleanup_chain(ucs_class_t *cls, void *obj, int limit)
{
    int depth = class_depth(cls); /* 1 for a class directly below void_class */

    for (; cls->superclass != NULL; cls = cls->superclass, --depth) {
        if ((limit < 0) || (depth < limit)) {
            cls->cleanup(obj);
        }
    }
}

void *ucs_class_malloc(ucs_class_t *cls)
{
    return malloc(cls->size);
}

void ucs_class_free(void *obj)
{
    free(obj);
}

void ucs_class_check_new_func_result(ucs_status_t status, void *obj)
{
    ucs_assertv_always((status == UCS_OK) == (obj != NULL),
                       "a function that makes an object returned '%s' and %p",
                       ucs_status_string(status), obj);
}
