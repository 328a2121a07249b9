/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the results of slots (functions of the plugin) of components and
 * transports. The core calls these slots itself, and passes the results to the
 * functions here. */
#include <string.h>

#include "uct/check/internal.h"

/* Checks the name at position `index` in an array of structures of `stride`
 * bytes. `names`: the name in the first one; `size`: bytes of a name. Reports a
 * name that is empty, not terminated, or equal to an earlier one. */
static void check_name(const char *who, const char *slot, const void *names,
                       unsigned index, size_t stride, size_t size)
{
    const char *name = (const char *)names + (index * stride);
    unsigned i;

    if ((name[0] == '\0') || (memchr(name, '\0', size) == NULL)) {
        uct_check_report(who, 25, slot, "name %u is empty or has no end",
                         index);
        return;
    }
    for (i = 0; i < index; ++i) {
        if (strncmp((const char *)names + (i * stride), name, size) == 0) {
            uct_check_report(who, 25, slot, "it lists %s twice", name);
        }
    }
}

void uct_check_listed_mds(const char *who, ucs_status_t status,
                          const uct_md_resource_desc_t *mds, unsigned num_mds)
{
    unsigned i;

    uct_check_status(who, "query_md_resources", status);
    for (i = 0; (status == UCS_OK) && (i < num_mds); ++i) {
        check_name(who, "query_md_resources", mds[0].md_name, i, sizeof(*mds),
                   sizeof(mds->md_name));
    }
}

void uct_check_listed_devices(const char *who, uct_device_type_t declared,
                              ucs_status_t status,
                              const ucx_device_desc_t *devices,
                              unsigned num_devices)
{
    unsigned i;

    uct_check_status(who, "query_devices", status);
    for (i = 0; (status == UCS_OK) && (i < num_devices); ++i) {
        check_name(who, "query_devices", devices[0].name, i, sizeof(*devices),
                   sizeof(devices->name));
        if (devices[i].type != declared) {
            uct_check_report(who, 10, "query_devices",
                             "device %u is of kind %d, the manifest's "
                             "device_class is %d",
                             i, (int)devices[i].type, (int)declared);
        }
    }
}

void uct_check_opened(const char *who, const char *slot, ucs_status_t status,
                      const void *host, const void *expected)
{
    uct_check_status(who, slot, status);
    if ((status == UCS_OK) && (host != expected)) {
        uct_check_report(who, 26, slot,
                         "the head of the object is not initialized by the "
                         "function of the SDK");
    }
}

void uct_check_returned(const char *who, const char *slot, ucs_status_t status)
{
    uct_check_status(who, slot, status);
}
