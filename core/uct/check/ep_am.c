/* SPDX-License-Identifier: BSD-3-Clause */
/* Checking slots (functions that replace those of the plugin, see internal.h)
 * of endpoints for active messages, tagged messages and put_bcopy. */
#include "uct/check/internal.h"

/* The user's pack callback of a buffered send, and a record of its calls. */
typedef struct pack {
    uct_pack_callback_t cb;
    void *arg;
    unsigned calls; /* number of calls */
    size_t length;  /* what the last call returned */
} pack_t;

static size_t run_pack(void *dest, void *arg)
{
    pack_t *pack = arg;
    uct_check_used_t start;

    ++pack->calls;
    uct_check_user_begin(&start);
    pack->length = pack->cb(dest, pack->arg);
    uct_check_user_end(&start);
    return pack->length;
}

/* Called after a buffered send, with its result. Rule 26 of sdk/ABI.md: the
 * pack callback is called once. It may consume the data. Therefore a send that
 * returns UCS_ERR_NO_RESOURCE must not have called it: the user repeats the
 * send later, which calls it again. */
static void check_packed(uct_check_iface_t *iface, const char *slot,
                         const pack_t *pack, ssize_t result)
{
    if (result < 0) {
        if ((pack->calls > 0) && (result == UCS_ERR_NO_RESOURCE)) {
            uct_check_report(iface->tl->name, 26, slot,
                             "it returns UCS_ERR_NO_RESOURCE after it has "
                             "packed the data");
        }
    } else if (pack->calls != 1) {
        uct_check_report(iface->tl->name, 26, slot,
                         "the pack callback is called %u times", pack->calls);
    } else if ((size_t)result != pack->length) {
        uct_check_report(iface->tl->name, 26, slot,
                         "it returns %zd, but %zu bytes were packed", result,
                         pack->length);
    }
}

static ssize_t end_bcopy(uct_check_call_t *call, uct_ep_h ep,
                         const pack_t *pack, ssize_t result)
{
    check_packed(call->iface, call->slot, pack, result);
    uct_check_send_end(call, ep, (result < 0) ? (ucs_status_t)result : UCS_OK);
    return result;
}

/* --- Active messages ------------------------------------------------------ */

static ucs_status_t am_short(uct_ep_h ep, uint8_t id, uint64_t header,
                             const void *payload, unsigned length)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = uct_check_send_begin(&call, ep, "am_short");

    return uct_check_send_end(&call, ep,
                              ops->am_short(ep, id, header, payload, length));
}

static ucs_status_t am_short_iov(uct_ep_h ep, uint8_t id, const uct_iov_t *iov,
                                 size_t iovcnt)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = uct_check_send_begin(&call, ep, "am_short_iov");

    return uct_check_send_end(&call, ep,
                              ops->am_short_iov(ep, id, iov, iovcnt));
}

static ssize_t am_bcopy(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack_cb,
                        void *arg, unsigned flags)
{
    pack_t pack = {.cb = pack_cb, .arg = arg};
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = uct_check_send_begin(&call, ep, "am_bcopy");

    return end_bcopy(&call, ep, &pack,
                     ops->am_bcopy(ep, id, run_pack, &pack, flags));
}

static ucs_status_t am_zcopy(uct_ep_h ep, uint8_t id, const void *header,
                             unsigned header_length, const uct_iov_t *iov,
                             size_t iovcnt, unsigned flags,
                             uct_completion_t *comp)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = uct_check_send_begin(&call, ep, "am_zcopy");
    uct_check_op_t *op      = uct_check_op_begin(call.iface, ep, call.slot,
                                                 UCT_CHECK_DATA, comp);

    return uct_check_send_end_op(&call, ep, op,
                                 ops->am_zcopy(ep, id, header, header_length,
                                               iov, iovcnt, flags,
                                               uct_check_op_comp(op, comp)));
}

/* --- Tagged messages ------------------------------------------------------ */

static ucs_status_t tag_eager_short(uct_ep_h ep, uct_tag_t tag,
                                    const void *data, size_t length)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = uct_check_send_begin(&call, ep,
                                                   "tag_eager_short");

    return uct_check_send_end(&call, ep,
                              ops->tag_eager_short(ep, tag, data, length));
}

static ssize_t tag_eager_bcopy(uct_ep_h ep, uct_tag_t tag, uint64_t imm,
                               uct_pack_callback_t pack_cb, void *arg,
                               unsigned flags)
{
    pack_t pack = {.cb = pack_cb, .arg = arg};
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = uct_check_send_begin(&call, ep,
                                                   "tag_eager_bcopy");

    return end_bcopy(&call, ep, &pack,
                     ops->tag_eager_bcopy(ep, tag, imm, run_pack, &pack,
                                          flags));
}

static ucs_status_t tag_eager_zcopy(uct_ep_h ep, uct_tag_t tag, uint64_t imm,
                                    const uct_iov_t *iov, size_t iovcnt,
                                    unsigned flags, uct_completion_t *comp)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = uct_check_send_begin(&call, ep,
                                                   "tag_eager_zcopy");
    uct_check_op_t *op      = uct_check_op_begin(call.iface, ep, call.slot,
                                                 UCT_CHECK_DATA, comp);

    return uct_check_send_end_op(
        &call, ep, op,
        ops->tag_eager_zcopy(ep, tag, imm, iov, iovcnt, flags,
                             uct_check_op_comp(op, comp)));
}

/* --- Put, whose buffered form also packs ---------------------------------- */

static ssize_t put_bcopy(uct_ep_h ep, uct_pack_callback_t pack_cb, void *arg,
                         uint64_t remote_addr, uct_rkey_t rkey)
{
    pack_t pack = {.cb = pack_cb, .arg = arg};
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = uct_check_send_begin(&call, ep, "put_bcopy");

    return end_bcopy(&call, ep, &pack,
                     ops->put_bcopy(ep, run_pack, &pack, remote_addr, rkey));
}

void uct_check_am_slots(ucx_ep_ops_t *ops)
{
    ops->am_short        = am_short;
    ops->am_short_iov    = am_short_iov;
    ops->am_bcopy        = am_bcopy;
    ops->am_zcopy        = am_zcopy;
    ops->tag_eager_short = tag_eager_short;
    ops->tag_eager_bcopy = tag_eager_bcopy;
    ops->tag_eager_zcopy = tag_eager_zcopy;
    ops->put_bcopy       = put_bcopy;
}
