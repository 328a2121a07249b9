/* SPDX-License-Identifier: BSD-3-Clause */
#include "carrier.h"

#include "check.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_LENGTH = 512 };

void carrier_prepare(struct carrier *carrier)
{
    const char *tmp = getenv("TMPDIR");
    char dest[PATH_LENGTH];

    carrier->transport = getenv("TEST_CARRIER");
    if (carrier->transport == NULL) {
        return;
    }
    snprintf(carrier->dir, sizeof(carrier->dir), "%s/ucx-carrier-XXXXXX",
             ((tmp != NULL) && (strlen(tmp) < CARRIER_DIR_MAX / 2)) ? tmp :
                                                                      "/tmp");
    EXPECT(mkdtemp(carrier->dir) != NULL);
    snprintf(dest, sizeof(dest), "file:%s/%%p.json", carrier->dir);
    setenv("UCX_STATS_DEST", dest, 1);
}

static long long sum_of_bytes(const json_t *counters)
{
    long long sum = 0;
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)counters, key, value) {
        sum += json_integer_value(json_object_get(value, "bytes"));
    }
    return sum;
}

/* Returns the number of bytes in one process's report: those that lanes of the
 * transport have sent and those that its interfaces have received. Received
 * bytes count, too, because a process that was killed leaves no report of what
 * it sent. Lanes and interfaces are named TRANSPORT/DEVICE; `ugni` also selects
 * ugni_smsg and ugni_rdma. */
static long long carried_by(const char *path, const char *transport)
{
    size_t length     = strlen(transport), i;
    long long carried = 0;
    json_t *report    = json_load_file(path, 0, NULL);
    const char *type, *name;
    json_t *record;

    json_array_foreach(json_object_get(report, "records"), i, record) {
        type = json_string_value(json_object_get(record, "type"));
        name = json_string_value(json_object_get(record, "name"));
        if ((type != NULL) && (name != NULL) &&
            ((strcmp(type, "lane") == 0) || (strcmp(type, "interface") == 0)) &&
            (strncmp(name, transport, length) == 0) &&
            ((name[length] == '/') || (name[length] == '_'))) {
            carried += sum_of_bytes(json_object_get(record, "counters"));
        }
    }
    json_decref(report);
    return carried;
}

int carrier_finish(struct carrier *carrier, int status)
{
    long long carried = 0;
    char path[PATH_LENGTH];
    struct dirent *entry;
    int reports = 0;
    DIR *dir;

    if (carrier->transport == NULL) {
        return status;
    }
    dir = opendir(carrier->dir);
    EXPECT(dir != NULL);
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof(path), "%s/%s", carrier->dir, entry->d_name);
            carried += carried_by(path, carrier->transport);
            unlink(path);
            ++reports;
        }
    }
    closedir(dir);
    rmdir(carrier->dir);
    unsetenv("UCX_STATS_DEST"); /* the next team may send no messages */
    if ((status == 0) && (carried == 0)) {
        fprintf(stderr,
                "no bytes went over %s, by the counters of %d "
                "processes\n",
                carrier->transport, reports);
        return 1;
    }
    return status;
}
