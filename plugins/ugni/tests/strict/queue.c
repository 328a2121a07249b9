/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queues and address vectors of the provider `strict`. */
#include "strict.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define ONE_SIDED (FI_SEND | FI_READ | FI_WRITE)

/* --- Completion queues ---------------------------------------------------- */

static int take(strict_cq_t *cq, strict_held_t *held)
{
    ssize_t num = fi_cq_read(cq->real, &held->entry, 1);

    memset(&held->error, 0, sizeof(held->error));
    if (num == -FI_EAVAIL) {
        num               = fi_cq_readerr(cq->real, &held->error, 0);
        held->entry.flags = held->error.flags;
    }
    if (num != 1) {
        return 0;
    }
    if (held->entry.flags & ONE_SIDED) {
        ++cq->ended;
        if ((cq->ended == strict_options.fail) && (held->error.err == 0)) {
            held->error.err        = FI_EIO;
            held->error.op_context = held->entry.op_context;
            held->error.flags      = held->entry.flags;
        }
    }
    return 1;
}

/* Moves completions of the provider below to `held`. Returns whether there were
 * any. */
static int fill(strict_cq_t *cq)
{
    unsigned before = cq->num_held;

    while ((cq->num_held < STRICT_HELD) && take(cq, &cq->held[cq->num_held])) {
        ++cq->num_held;
    }
    return cq->num_held > before;
}

/* Returns the index of the held completion to report next. With the option
 * `shuffle` it is a random one. cq_read() then reports nothing while more
 * completions arrive and `held` is less than half full, so that there are
 * several to select from. */
static unsigned next_of(strict_cq_t *cq)
{
    if (!strict_options.shuffle) {
        return 0;
    }
    cq->random = cq->random * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)((cq->random >> 33) % cq->num_held);
}

static void drop(strict_cq_t *cq, unsigned i)
{
    --cq->num_held;
    memmove(&cq->held[i], &cq->held[i + 1],
            (cq->num_held - i) * sizeof(cq->held[0]));
}

static ssize_t cq_read(struct fid_cq *fid, void *buffer, size_t count)
{
    struct fi_cq_tagged_entry *entries = buffer;
    strict_cq_t *cq                    = (strict_cq_t *)fid;
    ssize_t num                        = 0;
    unsigned i;
    int more;

    pthread_mutex_lock(&cq->lock);
    more = fill(cq);
    if (strict_options.shuffle && more && (cq->num_held < STRICT_HELD / 2)) {
        pthread_mutex_unlock(&cq->lock);
        return -FI_EAGAIN;
    }
    while ((cq->num_held > 0) && (num < (ssize_t)count)) {
        i = next_of(cq);
        if (cq->held[i].error.err != 0) {
            if (num == 0) { /* Move the error to index 0, from which
                             * fi_cq_readerr() takes it */
                strict_held_t held = cq->held[i];

                drop(cq, i);
                memmove(&cq->held[1], &cq->held[0],
                        cq->num_held * sizeof(held));
                cq->held[0] = held;
                ++cq->num_held;
                num = -FI_EAVAIL;
            }
            break;
        }
        entries[num++] = cq->held[i].entry;
        drop(cq, i);
    }
    pthread_mutex_unlock(&cq->lock);
    return (num == 0) ? -FI_EAGAIN : num;
}

static ssize_t cq_readerr(struct fid_cq *fid, struct fi_cq_err_entry *entry,
                          uint64_t flags)
{
    strict_cq_t *cq = (strict_cq_t *)fid;
    ssize_t num     = -FI_EAGAIN;

    pthread_mutex_lock(&cq->lock);
    if ((cq->num_held > 0) && (cq->held[0].error.err != 0)) {
        *entry = cq->held[0].error;
        drop(cq, 0);
        num = 1;
    }
    pthread_mutex_unlock(&cq->lock);
    return num;
}

static const char *cq_strerror(struct fid_cq *fid, int error, const void *data,
                               char *buffer, size_t length)
{
    return fi_cq_strerror(((strict_cq_t *)fid)->real, error, data, buffer,
                          length);
}

static int cq_close(struct fid *fid)
{
    strict_cq_t *cq = (strict_cq_t *)fid;
    int rc          = fi_close(&cq->real->fid);

    pthread_mutex_destroy(&cq->lock);
    free(cq);
    return rc;
}

static int cq_control(struct fid *fid, int command, void *arg)
{
    return fi_control(&((strict_cq_t *)fid)->real->fid, command, arg);
}

static struct fi_ops cq_fid_ops = {
    .size     = sizeof(cq_fid_ops),
    .close    = cq_close,
    .bind     = strict_no_bind,
    .control  = cq_control,
    .ops_open = strict_no_ops,
};

static struct fi_ops_cq cq_ops = {
    .size     = sizeof(cq_ops),
    .read     = cq_read,
    .readerr  = cq_readerr,
    .strerror = cq_strerror,
};

int strict_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
                   struct fid_cq **cq_p, void *context)
{
    strict_cq_t *cq;
    int rc;

    if (attr->format != FI_CQ_FORMAT_TAGGED) {
        return -FI_ENOSYS; /* Entries of other formats are not held */
    }
    cq = calloc(1, sizeof(*cq));
    rc = (cq == NULL) ? -FI_ENOMEM :
                        fi_cq_open(((strict_domain_t *)domain)->real, attr,
                                   &cq->real, context);
    if (rc != 0) {
        free(cq);
        return rc;
    }
    pthread_mutex_init(&cq->lock, NULL);
    cq->fid.fid.fclass  = FI_CLASS_CQ;
    cq->fid.fid.context = context;
    cq->fid.fid.ops     = &cq_fid_ops;
    cq->fid.ops         = &cq_ops;
    *cq_p               = &cq->fid;
    return 0;
}

int strict_post(strict_cq_t *cq, size_t length)
{
    int rc = 0;

    pthread_mutex_lock(&cq->lock);
    if (length > strict_options.message) {
        rc = -FI_EMSGSIZE;
    } else if (cq->posted - cq->ended >= strict_options.depth) {
        rc = -FI_EAGAIN;
    } else {
        ++cq->posted;
    }
    pthread_mutex_unlock(&cq->lock);
    return rc;
}

void strict_unpost(strict_cq_t *cq)
{
    pthread_mutex_lock(&cq->lock);
    --cq->posted;
    pthread_mutex_unlock(&cq->lock);
}

/* --- Address vectors ------------------------------------------------------ */

/* Returns the size of an IP socket address, which need not be aligned. */
static size_t size_of(const void *address)
{
    sa_family_t family;

    memcpy(&family, address, sizeof(family));
    return (family == AF_INET6) ? sizeof(struct sockaddr_in6) :
                                  sizeof(struct sockaddr_in);
}

static int av_insert(struct fid_av *fid, const void *address, size_t count,
                     fi_addr_t *fi_addr, uint64_t flags, void *context)
{
    strict_av_t *av = (strict_av_t *)fid;
    int num;

    if (count != 1) {
        return -FI_ENOSYS;
    }
    if (av->count >= strict_options.addresses) {
        return 0;
    }
    num = fi_av_insert(av->real, address, 1, fi_addr, flags, context);
    if (num == 1) {
        av->peers[av->count]  = *fi_addr;
        av->hashes[av->count] = strict_hash(address, size_of(address));
        ++av->count;
    }
    return num;
}

static int av_close(struct fid *fid)
{
    strict_av_t *av = (strict_av_t *)fid;
    int rc          = fi_close(&av->real->fid);

    free(av);
    return rc;
}

static struct fi_ops av_fid_ops = {
    .size     = sizeof(av_fid_ops),
    .close    = av_close,
    .bind     = strict_no_bind,
    .control  = strict_no_control,
    .ops_open = strict_no_ops,
};

static struct fi_ops_av av_ops = {
    .size   = sizeof(av_ops),
    .insert = av_insert,
};

int strict_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
                   struct fid_av **av_p, void *context)
{
    strict_av_t *av = calloc(1, sizeof(*av));
    int rc          = (av == NULL) ? -FI_ENOMEM :
                                     fi_av_open(((strict_domain_t *)domain)->real, attr,
                                                &av->real, context);

    if (rc != 0) {
        free(av);
        return rc;
    }
    av->fid.fid.fclass  = FI_CLASS_AV;
    av->fid.fid.context = context;
    av->fid.fid.ops     = &av_fid_ops;
    av->fid.ops         = &av_ops;
    *av_p               = &av->fid;
    return 0;
}
