/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helper's side of shared copies (cma_job.h): other processes, the
 * initiators, put to and get from our memory. While this interface has nothing
 * else to copy, it copies a part of the data for them.
 *
 * Their requests may be wrong or malicious. We help only a process that could
 * do the copy itself: it has read our secret, and the secret is in the memory
 * of the process whose PID it has sent. Thus no process can use us to access
 * memory that the kernel denies to it, neither ours nor that of a third
 * process.
 */
#include "cma.h"

#include <stdlib.h>

/* Seconds for which a process that has proved that it knows our secret is not
 * checked again. */
#define HELP_GOOD_FOR 0.1

typedef struct help_job {
    cma_msg_job_t msg; /* The initiator's message that describes the job */
    uint32_t limit;    /* The helper may claim chunks with a lower index than
                        * this */
    uint32_t done;     /* Number of chunks copied by us */
} help_job_t;

/* What this process, as helper, keeps for one initiator. */
struct cma_helper {
    cma_helper_t *next, *previous; /* Circular list of the initiators with open
                                    * jobs, iface->helping; NULL: not in the
                                    * list */
    cma_iface_t *iface;
    cma_job_t *words; /* The jobs' words, in the private area of the initiator's
                       * box */
    pid_t pid;        /* The initiator's process; 0: not received yet */
    uint64_t proof;   /* Address in the initiator's memory where it has stored
                       * our secret */
    double seen;      /* Host time at which the secret was last read there;
                       * 0: never */
    uint8_t is_refused; /* Non-zero: the initiator is not trusted, and all its
                         * further jobs are ignored */
    uint32_t open;      /* Bit i: jobs[i] is open */
    help_job_t jobs[CMA_JOBS];
};

/* --- Initiators with open jobs -------------------------------------------- */

static void list_add(cma_iface_t *iface, cma_helper_t *helper)
{
    cma_helper_t *first = iface->helping;

    if (helper->next != NULL) {
        return;
    }
    if (first == NULL) {
        helper->next = helper->previous = helper;
        iface->helping                  = helper;
    } else {
        helper->next          = first;
        helper->previous      = first->previous;
        first->previous->next = helper;
        first->previous       = helper;
    }
}

static void list_remove(cma_iface_t *iface, cma_helper_t *helper)
{
    if (helper->next == NULL) {
        return;
    }
    if (iface->helping == helper) {
        iface->helping = (helper->next == helper) ? NULL : helper->next;
    }
    helper->next->previous = helper->previous;
    helper->previous->next = helper->next;
    helper->next = helper->previous = NULL;
}

/* --- Messages ------------------------------------------------------------ */

void cma_help_joined(void *arg, unsigned slot, void *private_area)
{
    cma_iface_t *iface   = arg;
    cma_helper_t *helper = calloc(1, sizeof(*helper));

    /* If memory has run out, helpers[slot] is NULL, and this sender gets no
     * help */
    if (helper != NULL) {
        helper->iface = iface;
        helper->words = private_area;
    }
    iface->helpers[slot] = helper;
}

void cma_help_left(void *arg, unsigned slot, void *private_area)
{
    cma_iface_t *iface   = arg;
    cma_helper_t *helper = iface->helpers[slot];

    if (helper != NULL) {
        list_remove(iface, helper);
        free(helper);
        iface->helpers[slot] = NULL;
    }
}

static ucs_status_t take_hello(cma_helper_t *helper, const void *data,
                               uint32_t length)
{
    cma_msg_hello_t msg;

    if ((length != sizeof(msg)) || (helper->pid != 0)) {
        return UCS_ERR_INVALID_PARAM;
    }
    memcpy(&msg, data, sizeof(msg));
    if ((msg.pid == 0) || (msg.pid > INT32_MAX)) {
        return UCS_ERR_INVALID_PARAM;
    }
    helper->pid   = (pid_t)msg.pid;
    helper->proof = msg.proof;
    return UCS_OK;
}

static int is_range(uint64_t address, uint64_t length)
{
    return (length <= SSIZE_MAX) && (address <= UINT64_MAX - length);
}

static ucs_status_t take_job(cma_helper_t *helper, const void *data,
                             uint32_t length)
{
    cma_msg_job_t msg;

    if ((length != sizeof(msg)) || (helper->pid == 0)) {
        return UCS_ERR_INVALID_PARAM;
    }
    memcpy(&msg, data, sizeof(msg));
    if ((msg.index >= CMA_JOBS) || (msg.flags > CMA_JOB_FLAGS) ||
        (msg.length == 0) || (msg.chunk == 0) || (msg.count == 0) ||
        !is_range(msg.remote, msg.length) || !is_range(msg.local, msg.length) ||
        ((msg.length - 1) / msg.chunk + 1 != msg.count)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (!helper->is_refused) {
        helper->jobs[msg.index] = (help_job_t){msg, msg.count, 0};
        helper->open |= 1u << msg.index;
        list_add(helper->iface, helper);
    }
    return UCS_OK;
}

ucs_status_t cma_help_deliver(void *arg, unsigned slot, uint8_t id, void *data,
                              uint32_t length)
{
    cma_iface_t *iface   = arg;
    cma_helper_t *helper = iface->helpers[slot];

    if (helper == NULL) {
        return UCS_OK;
    }
    switch (id) {
    case CMA_MSG_HELLO:
        return take_hello(helper, data, length);
    case CMA_MSG_JOB:
        return take_job(helper, data, length);
    default:
        return UCS_ERR_INVALID_PARAM;
    }
}

/* --- Copying ------------------------------------------------------------- */

static void refuse(cma_helper_t *helper, const char *why)
{
    const ucx_host_t *host = helper->iface->host;

    ucx_debug("cma: no help for the copies of process %d: %s", (int)helper->pid,
              why);
    helper->is_refused = 1;
    helper->open       = 0;
}

/* Returns whether our secret is in the memory of the process with the
 * initiator's PID: then that process could read our memory. After success, does
 * not check again for HELP_GOOD_FOR seconds. After failure, refuses all jobs of
 * the initiator. */
static int is_trusted(cma_helper_t *helper)
{
    const cma_iface_t *iface = helper->iface;
    double now               = iface->host->time();
    uint64_t proof           = 0;
    struct iovec iov         = {&proof, sizeof(proof)};

    if ((helper->seen != 0) && (now - helper->seen < HELP_GOOD_FOR)) {
        return 1;
    }
    if (cma_copy(helper->pid, 0, &iov, 1, 0, helper->proof, sizeof(proof)) !=
        UCS_OK) {
        refuse(helper, "its memory cannot be read");
        return 0;
    }
    if (proof != iface->md->words.secret) {
        refuse(helper, "it has not read our secret");
        return 0;
    }
    helper->seen = now;
    return 1;
}

static void copy_chunk(cma_helper_t *helper, unsigned index)
{
    help_job_t *job          = &helper->jobs[index];
    const cma_msg_job_t *msg = &job->msg;
    int from_end             = msg->flags & CMA_JOB_FROM_END;
    cma_part_t part          = cma_job_part(msg->length, msg->chunk, from_end,
                                            job->limit, 1);
    struct iovec ours        = {(void *)(uintptr_t)(msg->remote + part.offset),
                                part.length};
    ucs_status_t status;

    status = cma_copy(helper->pid, !(msg->flags & CMA_JOB_PUT), &ours, 1, 0,
                      msg->local + part.offset, part.length);
    if (status == UCS_OK) {
        cma_help_report(&helper->words[index], msg->generation, ++job->done);
        return;
    }

    cma_help_report(&helper->words[index], msg->generation,
                    job->done | CMA_JOB_REFUSED);
    helper->open &= ~(1u << index);
    if (status != UCS_ERR_INVALID_ADDR) {
        refuse(helper, "copying is not permitted, or the process has ended");
    }
}

/* Returns the index of the initiator's oldest open job, which the initiator
 * copies first, too. */
static unsigned next_job(const cma_helper_t *helper)
{
    unsigned best = (unsigned)__builtin_ctz(helper->open);

    for (unsigned i = best + 1; i < CMA_JOBS; ++i) {
        if ((helper->open & (1u << i)) &&
            ((int32_t)(helper->jobs[i].msg.generation -
                       helper->jobs[best].msg.generation) < 0)) {
            best = i;
        }
    }
    return best;
}

/* Claims one chunk and copies it. Returns zero if no chunk could be claimed. */
static int help_one(cma_helper_t *helper)
{
    unsigned index;

    while ((helper->open != 0) && is_trusted(helper)) {
        index = next_job(helper);
        if (cma_help_claim(&helper->words[index],
                           helper->jobs[index].msg.generation,
                           &helper->jobs[index].limit) == CMA_CLAIMED) {
            copy_chunk(helper, index);
            return 1;
        }
        helper->open &= ~(1u << index);
    }
    return 0;
}

unsigned cma_help(cma_iface_t *iface)
{
    unsigned count = 0;
    cma_helper_t *helper;

    while ((count == 0) && ((helper = iface->helping) != NULL)) {
        count          = (unsigned)help_one(helper);
        iface->helping = helper->next;
        if (helper->open == 0) {
            list_remove(iface, helper);
        }
    }
    return count;
}
