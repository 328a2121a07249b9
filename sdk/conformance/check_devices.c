/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of devices: repeated lists have the same length, names are valid and
 * distinct, types and names match the manifest.
 */
#include "check.h"
#include "plugin.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define LOOKS 5

static void check_device(run_t *run, const ucx_manifest_component_t *declared,
                         const uct_tl_resource_desc_t *device)
{
    const ucx_manifest_transport_t *tl;
    unsigned i;

    tl = ucx_manifest_transport(declared, device->tl_name);
    if (tl == NULL) {
        return; /* check_descriptor reports this */
    }

    check_that(run, 25, device->dev_name[0] != '\0',
               "transport %s lists a device without a name", tl->name);
    check_that(run, 10, device->dev_type == tl->device_type,
               "device %s of %s is of kind %d, the manifest declares %s",
               device->dev_name, tl->name, (int)device->dev_type,
               tl->device_class);

    for (i = 0; i < tl->num_device_globs; ++i) {
        if (fnmatch(tl->device_globs[i], device->dev_name, 0) == 0) {
            return;
        }
    }
    check_that(run, 10, tl->num_device_globs == 0,
               "device %s of %s matches none of the manifest's device_globs",
               device->dev_name, tl->name);
}

static void check_unlike(run_t *run, const uct_tl_resource_desc_t *list,
                         unsigned count)
{
    unsigned i, j;

    for (i = 0; i < count; ++i) {
        for (j = 0; j < i; ++j) {
            check_that(run, 25,
                       strcmp(list[i].tl_name, list[j].tl_name) ||
                           strcmp(list[i].dev_name, list[j].dev_name),
                       "transport %s lists the device %s twice",
                       list[i].tl_name, list[i].dev_name);
        }
    }
}

/* Checks that at least two consecutive lists have the same length. Hardware may
 * change between two queries, but not between each of LOOKS + 1 queries. */
static void check_steady(run_t *run, uct_md_h md, const char *md_name,
                         unsigned count)
{
    uct_tl_resource_desc_t *list;
    unsigned count_before = count, i;

    for (i = 0; i < LOOKS; ++i) {
        count_before = count;
        if (uct_md_query_tl_resources(md, &list, &count) != UCS_OK) {
            return;
        }
        uct_release_tl_resource_list(list);
        if (count == count_before) {
            return;
        }
    }
    check_fail(run, 25, "domain %s lists %u devices, and then %u, %d times",
               md_name, count_before, count, LOOKS);
}

static void check_md_devices(run_t *run, uct_component_h component,
                             const char *component_name, const char *md_name,
                             void *arg)
{
    uct_tl_resource_desc_t *list = NULL;
    unsigned *total              = arg;
    uct_md_h md                  = plugin_open_md(run, component, md_name);
    unsigned count, i;

    if (md == NULL) {
        return;
    }

    check_doing(run, "listing the devices of %s", md_name);
    if (!check_that(run, 26,
                    uct_md_query_tl_resources(md, &list, &count) == UCS_OK,
                    "domain %s: devices cannot be listed", md_name)) {
        goto out;
    }

    for (i = 0; i < count; ++i) {
        check_device(run,
                     ucx_manifest_component(run->target->manifest,
                                            component_name),
                     &list[i]);
    }
    check_unlike(run, list, count);
    check_steady(run, md, md_name, count);
    uct_release_tl_resource_list(list);
    *total += count;
out:
    uct_md_close(md);
}

void check_devices(run_t *run)
{
    unsigned count = 0;

    if ((plugin_load(run) != NULL) &&
        plugin_for_each_md(run, check_md_devices, &count) && (count == 0)) {
        check_skip(run, "there is no device here");
    }
}
