/* SPDX-License-Identifier: MIT */
#include "feed.h"

#include "plugin.h"
#include "utils/common/common.h"

#include "account.h"
#include "barrier.h"
#include "metrics.h"
#include "notice.h"
#include "value.h"
#include "window/clock.h"

/* How long a read waits for an edge to pass collectd's writers. */
#define BARRIER_AT_MOST TIME_T_TO_CDTIME_T(2)

/* How long, over several reads, the next edge is held back for it; at least an
 * interval. New RRD files have been seen to take some seconds. */
#define PATIENCE TIME_T_TO_CDTIME_T(10)

struct feed {
  char name[DATA_MAX_NAME_LEN]; /* of the window */
  struct account *account;
  const struct config_window *config;
  const char *path; /* of its pin, for a window that others own; else NULL */
  const struct pins_root *pins; /* where it is kept what is known of that */
  struct metrics *metrics;
  uint64_t
      *dispatched;  /* one per value of the bucket: totals at the last edge */
  uint64_t *totals; /* likewise: to work in */
  bool has_dispatched; /* since this process began */
  bool backfill;
  cdtime_t interval;
  struct barrier barrier;
  unsigned held_back;     /* reads since the barrier waits for the last edge */
  bool slow_writers;      /* said so */
  struct failure trouble; /* so that a lasting one is logged once */
};

/* ---- Dispatching ---- */

static void dispatch(const struct feed *feed, const char *type,
                     const char *type_instance, value_t value, cdtime_t time) {
  value_dispatch(feed->name, type, type_instance, value, time);
}

static void dispatch_rolling(struct feed *feed, const struct clock_pair *now,
                             uint64_t wall_ns) {
  account_sum(feed->account, now, wall_ns,
              metrics_rolling_buckets(feed->metrics), feed->totals);
  metrics_dispatch_rolling(feed->metrics, feed->totals,
                           NS_TO_CDTIME_T(wall_ns));
}

/* One edge, of which the totals are there; the next may follow when the writers
 * have it. */
static void dispatch_edge(struct feed *feed, const struct clock_pair *now,
                          uint64_t wall_ns, bool newest) {
  cdtime_t time = NS_TO_CDTIME_T(wall_ns);
  unsigned count = metrics_count_totals(feed->metrics);
  if (newest)
    count += metrics_count_rolling(feed->metrics);
  barrier_expect(&feed->barrier, time, count);
  metrics_dispatch_totals(feed->metrics, feed->dispatched, time);
  if (newest)
    dispatch_rolling(feed, now, wall_ns);
}

/* ---- Keeping the order ---- */

/* Whether collectd's writers have taken the edge dispatched last. */
static bool wait_for_writers(struct feed *feed) {
  cdtime_t at_most = plugin_get_interval() / 4;
  if (at_most > BARRIER_AT_MOST)
    at_most = BARRIER_AT_MOST;
  return barrier_wait(&feed->barrier, at_most);
}

/* At the begin of a read: whether the next edge may follow. What was not taken
 * for long will perhaps never be; from then on nothing is held back for it. */
static bool may_go_on(struct feed *feed) {
  bool seen = wait_for_writers(feed);
  cdtime_t patience = plugin_get_interval();
  if (patience < PATIENCE)
    patience = PATIENCE;
  /* Reads are counted, not the clock's time: collectd may have been stopped, or
   * the clock set. */
  feed->held_back = seen ? 0 : feed->held_back + 1;
  if (!seen && !feed->slow_writers) {
    cdtime_t waited = feed->held_back * plugin_get_interval();
    if (waited < patience)
      return false;
    WARNING("bpf_window plugin: %s: collectd's writers have not taken an edge "
            "for %.0f s, or a filter rule drops it; edges may reach them out "
            "of order",
            feed->name, CDTIME_T_TO_DOUBLE(waited));
  }
  feed->slow_writers = !seen;
  return true;
}

/* ---- Reading ---- */

static void say_lost(const struct feed *feed, uint64_t lost_ns) {
  notice(NOTIF_WARNING, feed->name,
         "%.0f seconds are unknown in the record: collectd did not read for "
         "longer than the window, a clock was set, or the machine slept. The "
         "totals %s.",
         (double)lost_ns / 1e9,
         account_is_exact(feed->account)
             ? "are exact"
             : "lack what the window, which has no cursor, no longer holds");
}

/* Counts that came into buckets after their edge was dispatched. They are in
 * the next total; their number tells how late counts can be. */
static uint64_t late_events(struct feed *feed) {
  uint64_t late = 0;
  account_total_again(feed->account, feed->totals);
  for (uint32_t v = 0; v < metrics_count_totals(feed->metrics); v++)
    late += feed->totals[v] - feed->dispatched[v];
  return late;
}

static void dispatch_self(const struct feed *feed, const struct pins_edge *edge,
                          double read_seconds) {
  cdtime_t time = NS_TO_CDTIME_T(edge->wall_ns);
  dispatch(feed, "derive", "self_lost_seconds",
           (value_t){.derive = (derive_t)(edge->lost_ns / NS_PER_SECOND)},
           time);
  dispatch(feed, "derive", "self_late_events",
           (value_t){.derive = (derive_t)edge->late_events}, time);
  dispatch(feed, "derive", "self_snapshot_retries",
           (value_t){.derive = (derive_t)account_retries(feed->account)}, time);
  dispatch(feed, "duration", "self_read", (value_t){.gauge = read_seconds},
           time);
}

static int dispatch_due(struct feed *feed, const struct clock_pair *now,
                        double read_seconds, struct failure *failure) {
  uint64_t interval_ns = CDTIME_T_TO_NS(plugin_get_interval());
  struct pins_edge last;
  int status = account_last(feed->account, &last, failure);
  if (status != 0)
    return status;
  struct edges due = account_due(feed->account, now, interval_ns, &last);
  if (due.count == 0)
    return 0;
  if (due.lost_ns > 0)
    say_lost(feed, due.lost_ns);
  struct pins_edge edge = last;
  edge.lost_ns += due.lost_ns;
  if (feed->has_dispatched)
    edge.late_events += late_events(feed);
  for (uint64_t i = feed->backfill ? 0 : due.count - 1; i < due.count; i++) {
    bool newest = i + 1 == due.count;
    edge.wall_ns = due.first_ns + i * interval_ns;
    account_total_at(feed->account, now, edge.wall_ns, feed->dispatched);
    feed->has_dispatched = true;
    /* Kept before it is dispatched: a kill in between leaves out one point,
     * over which the next one's increment reaches; the other way round a point
     * would come twice, which writers refuse. */
    status = account_keep(feed->account, now, &edge, feed->dispatched, failure);
    if (status != 0)
      return status;
    if (newest) /* first: the window's are waited for */
      dispatch_self(feed, &edge, read_seconds);
    dispatch_edge(feed, now, edge.wall_ns, newest);
    /* Otherwise the next read goes on from here. */
    if (!newest && !feed->slow_writers && !wait_for_writers(feed))
      break;
  }
  return 0;
}

/* ---- Maps that come and go ---- */

/* What follows from the record of the maps. */
static int describe(struct feed *feed, struct failure *failure) {
  const struct bpf_window_epoch *epoch = account_epoch(feed->account);
  metrics_free(&feed->metrics);
  free(feed->dispatched);
  free(feed->totals);
  feed->dispatched = calloc(epoch->values, sizeof(*feed->dispatched));
  feed->totals = calloc(epoch->values, sizeof(*feed->totals));
  feed->has_dispatched = false;
  if (!feed->dispatched || !feed->totals)
    return failure_set(failure, -ENOMEM, "out of memory");
  int status = window_check_interval(
      epoch, CDTIME_T_TO_NS(plugin_get_interval()), failure);
  return status == 0 ? metrics_new(&feed->metrics, feed->name, epoch,
                                   feed->config, failure)
                     : status;
}

static void say_news(const struct feed *feed, enum account_news news) {
  switch (news) {
  case ACCOUNT_SAME:
    break;
  case ACCOUNT_FOUND:
    INFO("bpf_window plugin: %s: reading the window pinned at %s", feed->name,
         feed->path);
    break;
  case ACCOUNT_AGAIN:
    notice(NOTIF_OKAY, feed->name,
           "other maps are pinned at %s; the totals go on", feed->path);
    break;
  case ACCOUNT_CHANGED:
    notice(NOTIF_WARNING, feed->name,
           "the window pinned at %s has other counters now: those that it had "
           "before go on, the others begin at 0",
           feed->path);
    break;
  case ACCOUNT_MISSING:
    NOTICE("bpf_window plugin: %s: nothing is pinned at %s yet; it is looked "
           "for at every interval",
           feed->name, feed->path);
    break;
  case ACCOUNT_GONE:
    notice(NOTIF_WARNING, feed->name,
           "nothing is pinned at %s any more; its last maps are read on, and "
           "others looked for at every interval",
           feed->path);
    break;
  case ACCOUNT_BACK:
    notice(NOTIF_OKAY, feed->name, "it is pinned at %s again", feed->path);
    break;
  }
}

/* So that the first increment of a counter that is new has a base: at the edge that
 * the others had last. The order is kept as between edges. */
static int dispatch_zeroes(struct feed *feed, struct failure *failure) {
  struct pins_edge last;
  int status = account_last(feed->account, &last, failure);
  if (status != 0 || last.wall_ns == 0)
    return status;
  cdtime_t time = NS_TO_CDTIME_T(last.wall_ns);
  const bool *fresh = account_fresh(feed->account);
  unsigned count = 0;
  for (uint32_t v = 0; v < metrics_count_totals(feed->metrics); v++)
    count += fresh[v];
  barrier_expect(&feed->barrier, time, count);
  metrics_dispatch_zeroes(feed->metrics, fresh, time);
  wait_for_writers(feed);
  return 0;
}

/* Nothing for a window of ours. */
static int follow(struct feed *feed, const struct clock_pair *now,
                  struct failure *failure) {
  enum account_news news;
  int status = account_follow(feed->account, now, &news, failure);
  say_news(feed, news);
  if (status == 0 && account_epoch(feed->account) &&
      (news == ACCOUNT_CHANGED || !feed->metrics))
    status = describe(feed, failure);
  if (status == 0 && news == ACCOUNT_CHANGED)
    status = dispatch_zeroes(feed, failure);
  return status;
}

/* Without its pin the next collectd would begin anew. */
static int keep_pin(const struct feed *feed, struct failure *failure) {
  int status = feed->pins
                   ? pins_mend_watch(feed->pins, feed->name,
                                     account_state_fd(feed->account), failure)
                   : 0;
  if (status > 0)
    notice(NOTIF_WARNING, feed->name,
           "somebody removed the pin of its totals; it was made again");
  return status < 0 ? status : 0;
}

/* ---- A read ---- */

static void say_trouble(struct feed *feed, int status,
                        const struct failure *failure) {
  if (status != 0 && strcmp(feed->trouble.text, failure->text) != 0)
    notice(NOTIF_FAILURE, feed->name, "%s", failure->text);
  else if (status == 0 && feed->trouble.text[0] && feed->metrics)
    notice(NOTIF_OKAY, feed->name, "reading works again");
  if (status != 0)
    feed->trouble = *failure;
  else
    feed->trouble.text[0] = '\0';
}

/* Returns 0 whatever happens: collectd would read a failing callback ever more
 * seldom, while here the next interval makes up for everything. */
static int on_read(user_data_t *user_data) {
  struct feed *feed = user_data->data;
  struct failure failure;
  if (!may_go_on(feed))
    return 0;
  struct clock_pair now = clock_pair();
  int trouble = follow(feed, &now, &failure), status = 0;
  struct failure reading;
  if (trouble == 0)
    trouble = keep_pin(feed, &failure);
  if (feed->metrics) { /* also with a trouble: what is held is read on */
    status = account_take(feed->account, &reading);
    if (status == 0)
      status = dispatch_due(
          feed, &now,
          (double)(clock_ns(CLOCK_MONOTONIC) - (int64_t)now.mono_ns) / 1e9,
          &reading);
  }
  say_trouble(feed, trouble ? trouble : status, trouble ? &failure : &reading);
  return 0;
}

/* ---- Start and end ---- */

static void feed_free(void *data) {
  struct feed *feed = data;
  /* At its end collectd throws away what its writers have not taken yet. */
  if (!feed->slow_writers)
    barrier_wait_at_end(&feed->barrier, feed->interval / 2 < BARRIER_AT_MOST
                                            ? feed->interval / 2
                                            : BARRIER_AT_MOST);
  barrier_remove(&feed->barrier);
  account_free(&feed->account);
  metrics_free(&feed->metrics);
  free(feed->dispatched);
  free(feed->totals);
  free(feed);
}

static struct feed *
new_feed(const char *name, const struct config_window *config, bool backfill) {
  struct feed *feed = calloc(1, sizeof(*feed));
  if (!feed)
    return NULL;
  feed->config = config;
  feed->backfill = backfill;
  feed->interval = plugin_get_interval();
  sstrncpy(feed->name, name, sizeof(feed->name));
  sstrncpy(feed->barrier.plugin_instance, feed->name,
           sizeof(feed->barrier.plugin_instance));
  barrier_add(&feed->barrier);
  return feed;
}

/* Takes the feed over; status is that of setting it up. */
static int start(struct feed *feed, int status, struct failure *failure) {
  if (status != 0) {
    feed_free(feed);
    return status;
  }
  char instance[DATA_MAX_NAME_LEN], name[DATA_MAX_NAME_LEN * 2];
  sstrncpy(instance, feed->name, sizeof(instance)); /* outlives the feed */
  ssnprintf(name, sizeof(name), "bpf_window/%s", instance);
  /* On failure collectd frees the user data itself. */
  user_data_t user_data = {.data = feed, .free_func = feed_free};
  if (plugin_register_complex_read(NULL, name, on_read, 0, &user_data) != 0)
    return failure_set(failure, -EEXIST,
                       "collectd refuses to read it: there is a window %s "
                       "already; give one of them another name with Instance "
                       "in its <Window> block",
                       instance);
  return 0;
}

int feed_start(const struct object_window *window,
               const struct config_window *config, bool backfill,
               struct failure *failure) {
  struct feed *feed =
      new_feed(config->name ? config_window_instance(config) : window->name,
               config, backfill);
  if (!feed)
    return failure_set(failure, -ENOMEM, "out of memory");
  int status = account_open(&feed->account, window->ring_fd, window->epoch_fd,
                            window->cursor_fd, window->edge_fd, failure);
  if (status == 0)
    status = describe(feed, failure);
  return start(feed, status, failure);
}

int feed_watch(const struct config_window *config, const struct pins_root *pins,
               bool backfill, struct failure *failure) {
  int state_fd = pins_open_watch(pins, config_window_instance(config), failure);
  if (state_fd < 0)
    return state_fd;
  struct feed *feed =
      new_feed(config_window_instance(config), config, backfill);
  int status = -ENOMEM;
  if (feed) {
    feed->path = config->name;
    feed->pins = pins;
    status = start(
        feed, account_watch(&feed->account, config->name, state_fd, failure),
        failure);
  } else {
    failure_set(failure, status, "out of memory");
  }
  close(state_fd);
  return status;
}
