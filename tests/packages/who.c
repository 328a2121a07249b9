/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program: the ranks exchange a message with their neighbours, then rank
 * 0 prints "runtime" if libucp-core (this project's library) is loaded, else
 * "distribution". */
#include <mpi.h>

#include <stdio.h>
#include <string.h>

static int is_loaded(const char *name)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    int found = 0;

    while ((maps != NULL) && (fgets(line, sizeof(line), maps) != NULL)) {
        found = found || (strstr(line, name) != NULL);
    }
    if (maps != NULL) {
        fclose(maps);
    }
    return found;
}

int main(int argc, char **argv)
{
    int rank, size, from;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &from, 1, MPI_INT,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (from != (rank + size - 1) % size) {
        fprintf(stderr, "who: rank %d received %d\n", rank, from);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0) {
        printf("%s\n",
               is_loaded("libucp-core.so") ? "runtime" : "distribution");
    }
    MPI_Finalize();
    return 0;
}
