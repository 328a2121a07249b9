/* SPDX-License-Identifier: BSD-3-Clause */
/* Generates and shares the random part of tokens, and the ids of spaces: see
 * secret.h. */
#include "secret.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/random.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once  = PTHREAD_ONCE_INIT;
static shm_secret_t *secrets; /* Objects of all workers of the process */

static uint8_t next_id[4]; /* Id of the next space; the first byte is
                            * incremented */
static unsigned ids_left;  /* Number of ids until a new random id is
                            * generated */

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

/* Runs in a forked child, which must not continue the ids of the parent. */
static void in_child(void)
{
    ids_left = 0;
    after_fork();
}

static void set_up(void)
{
    pthread_atfork(before_fork, after_fork, in_child);
}

ucs_status_t shm_space_new_id(uint8_t id[4])
{
    ucs_status_t status = UCS_OK;

    pthread_once(&once, set_up);
    pthread_mutex_lock(&lock);
    if (ids_left == 0) {
        if (getrandom(next_id, sizeof(next_id), 0) ==
            (ssize_t)sizeof(next_id)) {
            ids_left = UINT8_MAX + 1;
        } else {
            status = UCS_ERR_IO_ERROR;
        }
    }
    if (status == UCS_OK) {
        memcpy(id, next_id, sizeof(next_id));
        ++next_id[0];
        --ids_left;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

void shm_secret_get(shm_secret_t *secret, const void *worker)
{
    const shm_secret_t *other;

    pthread_once(&once, set_up);
    pthread_mutex_lock(&lock);
    for (other = secrets; (other != NULL) && (other->worker != worker);
         other = other->next) {
    }
    secret->worker = worker;
    secret->value  = 0;
    if (other != NULL) {
        secret->value = other->value;
    } else if (getrandom(&secret->value, sizeof(secret->value), 0) !=
               (ssize_t)sizeof(secret->value)) {
        secret->value = 0;
    }
    secret->next = secrets;
    secret->link = &secrets;
    if (secrets != NULL) {
        secrets->link = &secret->next;
    }
    secrets = secret;
    pthread_mutex_unlock(&lock);
}

void shm_secret_put(shm_secret_t *secret)
{
    pthread_mutex_lock(&lock);
    *secret->link = secret->next;
    if (secret->next != NULL) {
        secret->next->link = secret->link;
    }
    pthread_mutex_unlock(&lock);
}
