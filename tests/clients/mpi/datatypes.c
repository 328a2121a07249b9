/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derived datatypes with holes: sent as such and received as contiguous bytes,
 * the reverse, and sent and received with the same type. Bytes in holes must
 * not change.
 */
#include "client.h"

#include <stdlib.h>
#include <string.h>

enum { HOLE = 0xdd, TYPES = 6 };

typedef struct {
    char tag;
    double value;
    short more[3];
} record_t;

/* Returns a type of about `size` bytes. By `kind`: a vector, an indexed type, a
 * structure, a resized type, a subarray, a vector of vectors. */
static MPI_Datatype make_type(int kind, int size)
{
    int ints = size / 4 + 1;
    MPI_Datatype type, inner;

    switch (kind) {
    case 0:
        MPI_Type_vector(ints, 1, 3, MPI_INT, &type);
        break;
    case 1: {
        int lengths[3] = {ints / 3 + 1, 1, ints / 2 + 1};
        int places[3]  = {ints * 2, 1, 5};

        MPI_Type_indexed(3, lengths, places, MPI_INT, &type);
        break;
    }
    case 2: {
        int lengths[3]        = {1, 1, 3};
        MPI_Aint places[3]    = {offsetof(record_t, tag),
                                 offsetof(record_t, value),
                                 offsetof(record_t, more)};
        MPI_Datatype kinds[3] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT};

        MPI_Type_create_struct(3, lengths, places, kinds, &inner);
        MPI_Type_create_resized(inner, 0, sizeof(record_t), &type);
        MPI_Type_free(&inner);
        MPI_Type_contiguous(size / 15 + 1, type, &inner);
        MPI_Type_free(&type);
        type = inner;
        break;
    }
    case 3:
        MPI_Type_create_resized(MPI_INT, 0, 20, &inner);
        MPI_Type_contiguous(ints, inner, &type);
        MPI_Type_free(&inner);
        break;
    case 4: {
        int whole[2] = {ints / 16 + 4, 24}, part[2] = {ints / 16 + 2, 16};
        int from[2] = {1, 5};

        MPI_Type_create_subarray(2, whole, part, from, MPI_ORDER_C, MPI_INT,
                                 &type);
        break;
    }
    default:
        MPI_Type_vector(4, 2, 3, MPI_SHORT, &inner);
        MPI_Type_create_hvector(size / 16 + 1, 1, 64, inner, &type);
        MPI_Type_free(&inner);
    }
    MPI_Type_commit(&type);
    return type;
}

/* Returns the bytes that a buffer for `count` elements needs, and some more. */
static size_t span_of(MPI_Datatype type, int count)
{
    MPI_Aint low, extent, true_low, true_extent;

    MPI_Type_get_extent(type, &low, &extent);
    MPI_Type_get_true_extent(type, &true_low, &true_extent);
    return (size_t)(true_low + true_extent + extent * (count - 1)) + 64;
}

/* Returns the packed bytes of a buffer with elements of `type`; the caller
 * frees them. *size: their number. */
static char *packed(const void *buffer, int count, MPI_Datatype type, int *size)
{
    int position = 0;
    char *bytes;

    MPI_Pack_size(count, type, MPI_COMM_SELF, size);
    bytes = client_alloc(*size);
    MPI_Pack(buffer, count, type, bytes, *size, &position, MPI_COMM_SELF);
    *size = position;
    return bytes;
}

static void receive(int kind, int size, int count, MPI_Datatype type)
{
    size_t span    = span_of(type, count);
    char *buffer   = client_alloc(span);
    char *expected = client_alloc(span);
    MPI_Status status;
    int got, bytes, packed_size, position = 0;
    char *data;

    MPI_Type_size(type, &bytes);
    bytes *= count;

    /* received with the same type: the holes must not change */
    memset(buffer, HOLE, span);
    MPI_Recv(buffer, count, type, 0, kind, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, type, &got);
    CHECK_EQ(got, count);
    data = client_alloc(bytes);
    client_fill(data, bytes, size);
    memset(expected, HOLE, span);
    MPI_Unpack(data, bytes, &position, expected, count, type, MPI_COMM_SELF);
    if (memcmp(buffer, expected, span) != 0) {
        FAIL("type %d of about %d bytes: wrong bytes, or holes written", kind,
             size);
    }

    /* sent with holes, received as bytes */
    memset(data, 0, bytes);
    MPI_Recv(data, bytes, MPI_BYTE, 0, kind, MPI_COMM_WORLD, &status);
    client_check(data, bytes, size);

    /* sent as bytes, received with holes */
    memset(buffer, HOLE, span);
    MPI_Recv(buffer, count, type, 0, kind, MPI_COMM_WORLD, &status);
    free(data);
    data = packed(buffer, count, type, &packed_size);
    client_check(data, bytes, size);

    free(data);
    free(expected);
    free(buffer);
}

static void send(int kind, int size, int count, MPI_Datatype type)
{
    char *buffer = client_alloc(span_of(type, count));
    int bytes, position = 0;
    char *data;

    MPI_Type_size(type, &bytes);
    bytes *= count;
    data = client_alloc(bytes);
    client_fill(data, bytes, size);
    MPI_Unpack(data, bytes, &position, buffer, count, type, MPI_COMM_SELF);
    MPI_Ssend(buffer, count, type, 1, kind, MPI_COMM_WORLD);
    MPI_Send(buffer, count, type, 1, kind, MPI_COMM_WORLD);
    MPI_Send(data, bytes, MPI_BYTE, 1, kind, MPI_COMM_WORLD);
    free(data);
    free(buffer);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {1, 100, 3000, 20000, 300000, 3000000};
    MPI_Datatype type;
    int kind, i, count;

    client_start(&argc, &argv, MPI_THREAD_SINGLE);
    for (kind = 0; kind < TYPES; ++kind) {
        for (i = 0; i < (client_long ? 6 : 5); ++i) {
            for (count = 1; count <= 3; count += 2) {
                type = make_type(kind, sizes[i]);
                if (client_rank == 0) {
                    send(kind, sizes[i], count, type);
                } else if (client_rank == 1) {
                    receive(kind, sizes[i], count, type);
                }
                MPI_Type_free(&type);
            }
        }
    }
    return client_end("derived datatypes");
}
