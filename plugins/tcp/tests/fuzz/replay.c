/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs the fuzz target without libFuzzer: on the files of a folder, and on
 * mutations of each from a fixed random sequence.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIATIONS 2000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t state = 1;

static uint32_t next_random(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static void run_variations(const uint8_t *data, size_t size)
{
    uint8_t copy[8192];

    for (int i = 0; i < VARIATIONS; ++i) {
        size_t length = size;

        memcpy(copy, data, size);
        for (unsigned j = next_random() % 4; j > 0; --j) {
            copy[next_random() % size] = (uint8_t)next_random();
        }
        if (next_random() % 4 == 0) {
            length = 2 + next_random() % (size - 1);
        }
        copy[0] = data[0];
        LLVMFuzzerTestOneInput(copy, length);
    }
}

int main(int argc, char **argv)
{
    uint8_t data[8192];
    struct dirent *entry;
    unsigned count = 0;
    char path[4096];
    size_t size;
    FILE *file;
    DIR *dir;

    dir = (argc == 2) ? opendir(argv[1]) : NULL;
    if (dir == NULL) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 1;
    }
    while ((entry = readdir(dir)) != NULL) {
        snprintf(path, sizeof(path), "%s/%s", argv[1], entry->d_name);
        file = (entry->d_name[0] == '.') ? NULL : fopen(path, "rb");
        if (file == NULL) {
            continue;
        }
        size = fread(data, 1, sizeof(data), file);
        fclose(file);
        if (size >= 3) {
            LLVMFuzzerTestOneInput(data, size);
            run_variations(data, size);
            ++count;
        }
    }
    closedir(dir);
    printf("%u inputs with %d variations each\n", count, VARIATIONS);
    return (count > 0) ? 0 : 1;
}
