/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The main program of a fuzz target in builds without a fuzzer. It runs the
 * target on each file of a corpus, on all truncations of the file to fewer than
 * 4096 bytes, and on 2000 mutations of the file. The random numbers start with
 * a fixed state, so that each run of the program makes the same mutations.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* MAX_SIZE: bytes of a file that are used at most. MUTATIONS: for each file. */
enum { MAX_SIZE = 1 << 16, MUTATIONS = 2000 };

/* State of the random number generator (xorshift). */
static uint64_t state = 0x2545f4914f6cdd1d;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Runs the target on a copy of the data in which one to four bytes have random
 * values. */
static void mutate(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    unsigned flips;

    memcpy(copy, data, size);
    for (flips = 1 + next_random() % 4; (flips > 0) && (size > 0); --flips) {
        copy[next_random() % size] = (uint8_t)next_random();
    }
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void run(const uint8_t *data, size_t size)
{
    size_t cut;
    int i;

    LLVMFuzzerTestOneInput(data, size);
    for (cut = 0; (cut < size) && (cut < 4096); ++cut) {
        LLVMFuzzerTestOneInput(data, cut);
    }
    for (i = 0; i < MUTATIONS; ++i) {
        mutate(data, size);
    }
}

int main(int argc, char **argv)
{
    static uint8_t data[MAX_SIZE];
    struct dirent *entry;
    char path[4096];
    unsigned count = 0;
    FILE *file;
    DIR *dir;

    if ((argc != 2) || ((dir = opendir(argv[1])) == NULL)) {
        fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
        return 2;
    }

    while ((entry = readdir(dir)) != NULL) {
        snprintf(path, sizeof(path), "%s/%s", argv[1], entry->d_name);
        if ((entry->d_name[0] == '.') || ((file = fopen(path, "rb")) == NULL)) {
            continue;
        }
        run(data, fread(data, 1, sizeof(data), file));
        fclose(file);
        ++count;
    }
    closedir(dir);
    printf("%u files and their mutations\n", count);
    return (count > 0) ? 0 : 1;
}
