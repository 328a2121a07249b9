/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the kernel writes the data of a zero-copy send. On an idle connection it
 * copies what one system call sends to the start of a page. AMD's Zen 3 takes up
 * to three times as long (`rep movsb`) if the offset of the destination in its
 * page is 1 to 31 bytes more than that of the source. Headers of 8 to 31 bytes in
 * front of data that begins at a page do exactly this.
 */
#include "tx.h"

/* The copy is slow if the destination is less than this many bytes ahead. */
#define ALIGN_NEAR 32u

/* For shorter data it does not matter. */
#define ALIGN_MIN 4096u

#define ALIGN_PAGE 4096u

void tcp_tx_align(tcp_conn_t *conn, size_t header, const struct iovec *data)
{
    uint64_t begin = conn->tx_queued - conn->tx_sent + header;
    uint64_t ahead = (begin - (uintptr_t)data->iov_base) % ALIGN_PAGE;

    if ((data->iov_len >= ALIGN_MIN) && (ahead > 0) && (ahead < ALIGN_NEAR)) {
        tcp_put_ack_queue(conn);
        tcp_put_ack_queue(conn);
    }
}
