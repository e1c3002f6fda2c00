/* SPDX-License-Identifier: MIT */
#include "barrier.h"

#include "utils/common/common.h"

#include "value.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t seen;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct barrier *barriers;

/* A wall clock that is set back must not make a wait longer. */
static void make_condition(void) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&seen, &attributes);
  pthread_condattr_destroy(&attributes);
}

static int on_write(__attribute__((unused)) const data_set_t *set,
                    const value_list_t *vl,
                    __attribute__((unused)) user_data_t *user_data) {
  if (strcmp(vl->plugin, "bpf_window") != 0 ||
      strcmp(vl->host, hostname_g) != 0 ||
      strncmp(vl->type_instance, SERIES_SELF, strlen(SERIES_SELF)) == 0)
    return 0;
  pthread_mutex_lock(&lock);
  for (struct barrier *b = barriers; b; b = b->next) {
    if (b->pending > 0 && b->time == vl->time &&
        strcmp(b->plugin_instance, vl->plugin_instance) == 0 &&
        --b->pending == 0)
      pthread_cond_broadcast(&seen);
  }
  pthread_mutex_unlock(&lock);
  return 0;
}

int barrier_register(void) {
  pthread_once(&once, make_condition);
  return plugin_register_write("bpf_window", on_write, NULL);
}

void barrier_add(struct barrier *barrier) {
  pthread_mutex_lock(&lock);
  barrier->next = barriers;
  barriers = barrier;
  pthread_mutex_unlock(&lock);
}

void barrier_remove(struct barrier *barrier) {
  pthread_mutex_lock(&lock);
  for (struct barrier **at = &barriers; *at; at = &(*at)->next) {
    if (*at == barrier) {
      *at = barrier->next;
      break;
    }
  }
  pthread_mutex_unlock(&lock);
}

void barrier_expect(struct barrier *barrier, cdtime_t time, unsigned count) {
  pthread_mutex_lock(&lock);
  barrier->time = time;
  barrier->pending = count;
  pthread_mutex_unlock(&lock);
}

static struct timespec later(cdtime_t by) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return CDTIME_T_TO_TIMESPEC(TIMESPEC_TO_CDTIME_T(&now) + by);
}

static bool wait_until(struct barrier *barrier, const struct timespec *until) {
  int status = 0;
  pthread_mutex_lock(&lock);
  while (barrier->pending > 0 && status == 0)
    status = pthread_cond_timedwait(&seen, &lock, until);
  bool all = barrier->pending == 0;
  pthread_mutex_unlock(&lock);
  return all;
}

bool barrier_wait(struct barrier *barrier, cdtime_t at_most) {
  struct timespec until = later(at_most);
  return wait_until(barrier, &until);
}

void barrier_wait_at_end(struct barrier *barrier, cdtime_t at_most) {
  static struct timespec until; /* collectd frees one read after the other */
  if (barrier_wait(barrier, 0))
    return; /* perhaps collectd only begins, and this window cannot be read */
  if (until.tv_sec == 0)
    until = later(at_most);
  wait_until(barrier, &until);
}
