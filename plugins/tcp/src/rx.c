/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives. Bytes are read into the interface's buffer, many frames by one
 * system call, and handled there in place. Data of puts and gets is read
 * directly to its destination, except for the bytes that arrived together with
 * their frame's header.
 *
 * An incomplete frame stays in the interface's buffer until another connection
 * needs this buffer; then its bytes move to a buffer of its connection.
 *
 * All data comes from a peer: lengths, keys and types are checked first.
 */
#include "conn.h"
#include "sock.h"

#include <ucx/am.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Direct data: data of a PUT or DATA frame that is read to its destination.
 * Once such a frame with RX_BULK_MIN or more bytes of data has arrived, a call
 * receives at most RX_LIMIT_BULK bytes into the shared buffer: what follows is
 * probably more direct data, which would have to be copied from there. The
 * limit grows again when other frames reach it. */
#define RX_LIMIT_BULK 4096u
#define RX_BULK_MIN   16384u
/* Maximum bytes of direct data that one system call receives, so that other
 * connections are served, too. */
#define RX_DIRECT_MAX (1u << 20)

/* --- The shared buffer --------------------------------------------------- */

static void part_free(tcp_conn_t *conn)
{
    if (conn->part == NULL) {
        return;
    }
    if (conn->part_pooled) {
        ucx_mpool_put(conn->iface->part_pool, conn->part);
    } else {
        free(conn->part);
    }
    conn->part        = NULL;
    conn->part_length = 0;
}

static void *part_alloc(tcp_iface_t *iface, size_t length, uint8_t *pooled_p)
{
    ucx_mpool_params_t params = {
        .size      = sizeof(params),
        .name      = "tcp_part",
        .elem_size = 16384,
        .alignment = 8,
        .max_elems = UINT32_MAX,
    };

    *pooled_p = (length <= params.elem_size);
    if (!*pooled_p) {
        return malloc(length);
    }
    if ((iface->part_pool == NULL) &&
        (iface->host->mpool_create(&params, &iface->part_pool) != UCS_OK)) {
        iface->part_pool = NULL;
        return NULL;
    }
    return ucx_mpool_get(iface->host, iface->part_pool);
}

/* Moves the bytes of the connection rx_owner out of the shared buffer, into the
 * connection's own buffer `part`. */
static void rx_evict(tcp_iface_t *iface)
{
    tcp_conn_t *conn = iface->rx_owner;
    size_t length    = iface->rx_tail - iface->rx_head;

    iface->rx_owner = NULL;
    if ((conn == NULL) || (length == 0)) {
        return;
    }
    conn->part = part_alloc(iface, length, &conn->part_pooled);
    if (conn->part == NULL) {
        tcp_conn_break(conn, UCS_ERR_NO_MEMORY);
        return;
    }
    memcpy(conn->part, iface->rx_buf + iface->rx_head, length);
    conn->part_length = (uint32_t)length;
}

/* Makes this connection the owner of the shared buffer, and moves the bytes of
 * its buffer `part` there. */
static void rx_own(tcp_conn_t *conn)
{
    tcp_iface_t *iface = conn->iface;

    if (iface->rx_owner == conn) {
        return;
    }
    rx_evict(iface);
    iface->rx_owner = conn;
    iface->rx_head  = 0;
    iface->rx_tail  = conn->part_length;
    if (conn->part_length > 0) {
        memcpy(iface->rx_buf, conn->part, conn->part_length);
        part_free(conn);
    }
}

void tcp_rx_reset(tcp_conn_t *conn)
{
    tcp_iface_t *iface = conn->iface;

    if (iface->rx_owner == conn) {
        iface->rx_owner = NULL;
        iface->rx_head  = 0;
        iface->rx_tail  = 0;
    }
    part_free(conn);
    conn->rx_mode  = TCP_RX_FRAMES;
    conn->rx_left  = 0;
    conn->rx_pad   = 0;
    conn->rx_limit = (uint32_t)iface->config.rx_seg_size;
    conn->silent   = 0;
}

/* --- Data of puts and gets ----------------------------------------------- */

static tcp_get_t *rx_get(tcp_conn_t *conn)
{
    return tcp_container_of(conn->get_head, tcp_get_t, op);
}

/* Records that `n` bytes of the data, or of the padding after it, were
 * received. */
static void rx_advance(tcp_conn_t *conn, size_t n)
{
    size_t take = tcp_min(n, conn->rx_left);
    tcp_get_t *get;

    conn->rx_left -= take;
    conn->rx_pad -= (uint8_t)(n - take);

    if (conn->rx_mode == TCP_RX_PUT) {
        conn->rx_address += take;
    } else if (conn->rx_mode == TCP_RX_DATA) {
        get = rx_get(conn);
        get->left -= take;
        while ((take > 0) && !get->cancelled) {
            struct iovec *iov = &get->iov[get->iov_index];
            size_t piece      = tcp_min(take, iov->iov_len - get->iov_off);

            get->iov_off += piece;
            take -= piece;
            if (get->iov_off == iov->iov_len) {
                get->iov_off = 0;
                ++get->iov_index;
            }
        }
        if ((conn->rx_left == 0) && (get->left == 0)) {
            tcp_get_finish(conn);
        }
    }

    if (conn->rx_left == 0) {
        if (conn->rx_mode == TCP_RX_PUT) {
            ++conn->puts_taken;
            tcp_tx_schedule(conn); /* The current call of progress sends the
                                    * acknowledgement */
        }
        conn->rx_mode = (conn->rx_pad > 0) ? TCP_RX_FILLING : TCP_RX_FRAMES;
    }
}

/* Copies the start of the received bytes to the destination of the data;
 * returns how many bytes it used. */
static size_t rx_feed(tcp_conn_t *conn, const uint8_t *data, size_t length)
{
    size_t take = tcp_min(length, conn->rx_left), done, piece;
    unsigned index;
    tcp_get_t *get;
    tcp_key_t *key;
    size_t off;

    if ((conn->rx_mode == TCP_RX_PUT) && (take > 0)) {
        key = tcp_keys_hold(&conn->iface->md->keys, conn->rx_key,
                            conn->rx_address, conn->rx_left,
                            UCT_MD_MEM_ACCESS_REMOTE_PUT);
        if (key == NULL) {
            tcp_conn_violation(conn, "puts to memory that is not registered, "
                                     "or was deregistered meanwhile");
            return length;
        }
        memcpy((void *)(uintptr_t)conn->rx_address, data, take);
        tcp_keys_release(key);
    } else if ((conn->rx_mode == TCP_RX_DATA) && !rx_get(conn)->cancelled) {
        get   = rx_get(conn);
        index = get->iov_index;
        off   = get->iov_off;
        for (done = 0; done < take; done += piece) {
            piece = tcp_min(take - done, get->iov[index].iov_len - off);
            memcpy((char *)get->iov[index++].iov_base + off, data + done,
                   piece);
            off = 0;
        }
    }

    if (take == conn->rx_left) {
        take += tcp_min(length - take, conn->rx_pad);
    }
    rx_advance(conn, take);
    return take;
}

static void rx_begin(tcp_conn_t *conn, enum tcp_rx_mode mode, size_t length)
{
    conn->rx_mode = mode;
    conn->rx_left = length;
    conn->rx_pad  = (uint8_t)tcp_wire_pad(length);
    if (length >= RX_BULK_MIN) {
        conn->rx_limit = RX_LIMIT_BULK;
    }
    if (length == 0) {
        rx_advance(conn, 0);
    }
}

/* --- Frames -------------------------------------------------------------- */

/* Handles the header of a PUT, which is complete. */
static void rx_put(tcp_conn_t *conn, const uint8_t *payload, size_t length)
{
    tcp_wire_put_t put;
    tcp_key_t *key;

    memcpy(&put, payload, sizeof(put));
    length -= sizeof(put);
    conn->rx_key     = le64toh(put.key);
    conn->rx_address = le64toh(put.address);

    key = tcp_keys_hold(&conn->iface->md->keys, conn->rx_key, conn->rx_address,
                        length, UCT_MD_MEM_ACCESS_REMOTE_PUT);
    if (key == NULL) {
        tcp_conn_violation(conn,
                           "puts to memory for which it has no valid key");
        return;
    }
    tcp_keys_release(key);
    rx_begin(conn, TCP_RX_PUT, length);
}

/* Handles PUT_ACK: `puts` of the puts on this socket are complete. The number
 * must neither decrease nor exceed the number of puts that were queued. */
static void rx_put_ack(tcp_conn_t *conn, uint64_t puts)
{
    if ((puts < conn->puts_acked - conn->puts_before) ||
        (puts > conn->puts - conn->puts_before)) {
        tcp_conn_violation(conn, "acknowledges data that was not sent");
        return;
    }
    conn->puts_acked = conn->puts_before + puts;
    tcp_flush_check(conn);
}

/* Returns whether the payload length of a frame other than AM is valid. */
static int rx_length_is_good(unsigned type, uint32_t length)
{
    switch (type) {
    case TCP_WIRE_PUT:
        return (length >= sizeof(tcp_wire_put_t)) &&
               (length <= sizeof(tcp_wire_put_t) + TCP_WIRE_SEG_MAX);
    case TCP_WIRE_GET:
        return length == sizeof(tcp_wire_get_t);
    case TCP_WIRE_DATA:
        return (length > 0) && (length <= TCP_WIRE_SEG_MAX);
    case TCP_WIRE_PUT_ACK:
        return length == sizeof(uint64_t);
    case TCP_WIRE_CLOSE:
    case TCP_WIRE_CLOSE_YES:
    case TCP_WIRE_CLOSE_NO:
        return length == 0;
    default:
        return 0;
    }
}

/* Returns how many bytes of the payload must be present before the frame is
 * handled. */
static size_t rx_length_needed(unsigned type, uint32_t length)
{
    return (type == TCP_WIRE_PUT)  ? sizeof(tcp_wire_put_t) :
           (type == TCP_WIRE_DATA) ? 0 :
                                     length;
}

/* Handles a frame other than AM; the needed part of its payload is present.
 * Returns the bytes of the payload that it used. */
static size_t rx_frame(tcp_conn_t *conn, unsigned type, const uint8_t *payload,
                       uint32_t length)
{
    tcp_wire_get_t get;

    switch (type) {
    case TCP_WIRE_PUT:
        rx_put(conn, payload, length);
        return sizeof(tcp_wire_put_t);
    case TCP_WIRE_GET:
        memcpy(&get, payload, sizeof(get));
        tcp_serve_add(conn, &get);
        return length;
    case TCP_WIRE_DATA:
        if ((conn->get_head == NULL) || (rx_get(conn)->left < length)) {
            tcp_conn_violation(conn, "sends data without a request");
        } else {
            rx_begin(conn, TCP_RX_DATA, length);
        }
        return 0;
    case TCP_WIRE_PUT_ACK:
        rx_put_ack(conn, tcp_wire_load(payload));
        return length;
    default:
        tcp_conn_close_frame(conn, (enum tcp_wire_type)type);
        return length;
    }
}

static inline int rx_is_open(const tcp_conn_t *conn)
{
    return (conn->state == TCP_CONN_UP) || (conn->state == TCP_CONN_CLOSING);
}

size_t tcp_rx_parse(tcp_conn_t *conn, uint8_t *data, size_t length,
                    unsigned *events_p)
{
    tcp_iface_t *iface = conn->iface;
    size_t pos         = 0, need;
    uint64_t word;
    uint32_t payload;
    unsigned type;

    while (rx_is_open(conn)) {
        if (tcp_unlikely(conn->rx_mode != TCP_RX_FRAMES)) {
            if (pos == length) {
                break;
            }
            pos += rx_feed(conn, data + pos, length - pos);
            ++*events_p;
            continue;
        }
        if (length - pos < TCP_WIRE_HDR) {
            break;
        }

        word    = tcp_wire_load(data + pos);
        type    = word & 0xff;
        payload = (uint32_t)(word >> 32);
        if (tcp_likely(type == TCP_WIRE_AM)) {
            need = tcp_wire_frame_size(payload);
            if (tcp_unlikely((word & 0xffffe000u) ||
                             (payload > TCP_WIRE_AM_MAX))) {
                tcp_conn_violation(conn, "sends an invalid message");
                break;
            }
            if (length - pos < need) {
                conn->rx_limit = (uint32_t)iface->config.rx_seg_size;
                break;
            }
            if (tcp_unlikely(iface->tracer != NULL)) {
                tcp_trace_am(iface, UCT_AM_TRACE_TYPE_RECV,
                             (uint8_t)(word >> 8), data + pos + TCP_WIRE_HDR,
                             payload);
            }
            ucx_iface_deliver_am(&iface->super, (uint8_t)(word >> 8),
                                 data + pos + TCP_WIRE_HDR, payload, 0);
            pos += need;
            ++*events_p;
            continue;
        }

        if ((word & 0xffffff00u) || !rx_length_is_good(type, payload)) {
            tcp_conn_violation(conn, "sends an invalid frame");
            break;
        }
        need = TCP_WIRE_HDR + rx_length_needed(type, payload);
        if (length - pos < need) {
            break;
        }
        pos += TCP_WIRE_HDR;
        pos += rx_frame(conn, type, data + pos, payload);
        ++*events_p;
    }

    return rx_is_open(conn) ? pos : length;
}

/* Handles the answer to our HELLO when it is complete; returns the bytes
 * used. */
static size_t rx_greeting(tcp_conn_t *conn, const uint8_t *data, size_t length)
{
    tcp_wire_hello_t hello;

    if (length < sizeof(hello)) {
        return 0;
    }
    memcpy(&hello, data, sizeof(hello));
    tcp_conn_greeted(conn, &hello);
    return sizeof(hello);
}

/* --- From the socket ----------------------------------------------------- */

/* Handles new bytes, which are at the tail of the shared buffer. */
static void rx_handle(tcp_conn_t *conn, unsigned *events_p)
{
    tcp_iface_t *iface = conn->iface;
    size_t used;

    if (conn->state == TCP_CONN_GREETING) {
        iface->rx_head += rx_greeting(conn, iface->rx_buf + iface->rx_head,
                                      iface->rx_tail - iface->rx_head);
        ++*events_p;
    }
    if (!rx_is_open(conn) || (iface->rx_owner != conn)) {
        return;
    }

    used = tcp_rx_parse(conn, iface->rx_buf + iface->rx_head,
                        iface->rx_tail - iface->rx_head, events_p);
    if (iface->rx_owner == conn) {
        iface->rx_head += used;
        if (iface->rx_head == iface->rx_tail) {
            iface->rx_head = 0;
            iface->rx_tail = 0;
        }
    }
}

/* Handles the result of a receive call. Returns 0 if the socket has no more
 * data, or is closed. */
static int rx_result(tcp_conn_t *conn, ssize_t n)
{
    if (tcp_likely(n > 0)) {
        conn->silent = 0;
        return 1;
    }
    if (n == 0) {
        tcp_conn_lost(conn, 0);
    } else if ((errno == EAGAIN) || (errno == EWOULDBLOCK) ||
               (errno == EINTR)) {
        ++conn->silent;
    } else {
        tcp_conn_lost(conn, errno);
    }
    return 0;
}

static int rx_frames(tcp_conn_t *conn, unsigned *events_p)
{
    tcp_iface_t *iface = conn->iface;
    size_t limit       = conn->rx_limit;
    ssize_t n;

    rx_own(conn);
    if (iface->rx_cap - iface->rx_tail < limit) {
        memmove(iface->rx_buf, iface->rx_buf + iface->rx_head,
                iface->rx_tail - iface->rx_head);
        iface->rx_tail -= iface->rx_head;
        iface->rx_head = 0;
    }

    n = recv(conn->fd, iface->rx_buf + iface->rx_tail, limit, 0);
    if (!rx_result(conn, n)) {
        return 0;
    }

    iface->rx_tail += (size_t)n;
    rx_handle(conn, events_p);
    if (((size_t)n == limit) && (conn->rx_mode == TCP_RX_FRAMES)) {
        /* Much data arrives, and none of it is direct data: receive more at a
         * time */
        conn->rx_limit = (uint32_t)tcp_min(2 * limit,
                                           iface->config.rx_seg_size);
    }
    return (size_t)n == limit;
}

/* Fills `iov` with the destinations of the next direct data, *length_p bytes.
 * *hold_p keeps the memory of a put registered until the caller releases it.
 * Returns the number of entries, or -1 if that memory is not registered any
 * more. */
static int rx_direct_iov(tcp_conn_t *conn, struct iovec *iov, size_t *length_p,
                         tcp_key_t **hold_p)
{
    size_t left        = tcp_min(conn->rx_left, RX_DIRECT_MAX), off, take;
    tcp_iface_t *iface = conn->iface;
    int count          = 0;
    unsigned index;
    tcp_get_t *get;

    *length_p = left;
    if (conn->rx_mode == TCP_RX_PUT) {
        *hold_p = tcp_keys_hold(&iface->md->keys, conn->rx_key,
                                conn->rx_address, conn->rx_left,
                                UCT_MD_MEM_ACCESS_REMOTE_PUT);
        if (*hold_p == NULL) {
            tcp_conn_violation(conn, "puts to memory that was deregistered "
                                     "meanwhile");
            return -1;
        }
        iov[count].iov_base  = (void *)(uintptr_t)conn->rx_address;
        iov[count++].iov_len = left;
    } else if (conn->rx_mode == TCP_RX_DATA) {
        get   = rx_get(conn);
        index = get->iov_index;
        off   = get->iov_off;
        if (get->cancelled) {
            /* The data of a cancelled get is discarded: it is read into the
             * second half of the shared buffer, which is not in use now */
            left = *length_p     = tcp_min(left, iface->rx_cap / 2);
            iov[count].iov_base  = iface->rx_buf + iface->rx_cap / 2;
            iov[count++].iov_len = left;
            left                 = 0;
        }
        for (; left > 0; left -= take, off = 0) {
            take                 = tcp_min(left, get->iov[index].iov_len - off);
            iov[count].iov_base  = (char *)get->iov[index++].iov_base + off;
            iov[count++].iov_len = take;
        }
    }
    return count;
}

static int rx_direct(tcp_conn_t *conn, unsigned *events_p)
{
    tcp_iface_t *iface = conn->iface;
    struct iovec iov[TCP_IOV_MAX + 2];
    tcp_key_t *hold = NULL;
    size_t direct, asked;
    uint8_t filling[8];
    ssize_t n;
    int count;

    rx_own(conn);
    count = rx_direct_iov(conn, iov, &direct, &hold);
    if (count < 0) {
        return 0;
    }
    asked = direct;
    if (direct == conn->rx_left) {
        if (conn->rx_pad > 0) {
            iov[count].iov_base  = filling;
            iov[count++].iov_len = conn->rx_pad;
            direct += conn->rx_pad;
        }
        iov[count].iov_base  = iface->rx_buf;
        iov[count++].iov_len = conn->rx_limit / 2;
        asked                = direct + conn->rx_limit / 2;
    }

    n = readv(conn->fd, iov, count);
    if (hold != NULL) {
        tcp_keys_release(hold);
    }
    if (!rx_result(conn, n)) {
        return 0;
    }

    rx_advance(conn, tcp_min((size_t)n, direct));
    ++*events_p;
    if ((size_t)n > direct) {
        iface->rx_head = 0;
        iface->rx_tail = (size_t)n - direct;
        rx_handle(conn, events_p);
    }
    return (size_t)n == asked;
}

unsigned tcp_rx(tcp_conn_t *conn)
{
    unsigned polls  = conn->iface->config.max_poll;
    unsigned events = 0;
    int more        = 1;

    while (more && (polls-- > 0) &&
           ((conn->state == TCP_CONN_GREETING) || rx_is_open(conn))) {
        more = (conn->rx_mode == TCP_RX_FRAMES) ? rx_frames(conn, &events) :
                                                  rx_direct(conn, &events);
    }
    return events;
}
