/* SPDX-License-Identifier: MIT */
#include "feed.h"

#include <bpf/bpf.h>

#include "plugin.h"
#include "utils/common/common.h"

#include "barrier.h"
#include "edges.h"
#include "metrics.h"
#include "notice.h"
#include "value.h"
#include "window/reader.h"

/* How long a read waits for an edge to pass collectd's writers. */
#define BARRIER_AT_MOST TIME_T_TO_CDTIME_T(2)

/* How long, over several reads, the next edge is held back for it; at least an
 * interval. New RRD files have been seen to take some seconds. */
#define PATIENCE TIME_T_TO_CDTIME_T(10)

/* How many values dispatch_self sends, at the newest edge. */
#define SELF_VALUES 4

struct feed {
  char name[DATA_MAX_NAME_LEN]; /* of the window */
  struct reader *reader;
  int edge_fd;
  struct metrics *metrics;
  uint64_t *dispatched; /* one per value of the bucket: totals at the last edge */
  uint64_t *totals;     /* likewise: to work in */
  bool has_dispatched;  /* since this process began */
  bool backfill;
  struct barrier barrier;
  unsigned held_back; /* reads since the barrier waits for the last edge */
  bool slow_writers;  /* said so */
  int last_status; /* of reading, so that a lasting trouble is logged once */
};

/* ---- Dispatching ---- */

static void dispatch(const struct feed *feed, const char *type,
                     const char *type_instance, value_t value, cdtime_t time) {
  value_dispatch(feed->name, type, type_instance, value, time);
}

static void dispatch_rolling(struct feed *feed,
                             const struct window_snapshot *snapshot,
                             uint64_t edge, cdtime_t time) {
  uint64_t back = metrics_rolling_buckets(feed->metrics);
  window_sum(snapshot, edge > back ? edge - back : 0, edge, feed->totals);
  metrics_dispatch_rolling(feed->metrics, feed->totals, time);
}

/* One edge; the next may follow when the writers have it. */
static void dispatch_edge(struct feed *feed,
                          const struct window_snapshot *snapshot, uint64_t edge,
                          cdtime_t time, bool newest) {
  window_total_at(snapshot, edge, feed->dispatched);
  feed->has_dispatched = true;
  unsigned count = metrics_count_totals(feed->metrics);
  if (newest)
    count += metrics_count_rolling(feed->metrics) + SELF_VALUES;
  barrier_expect(&feed->barrier, time, count);
  metrics_dispatch_totals(feed->metrics, feed->dispatched, time);
  if (newest)
    dispatch_rolling(feed, snapshot, edge, time);
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

static uint64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The wall clock between two readings of the other: their mean is the same
 * instant to a microsecond. */
static struct edges_now read_clocks(void) {
  uint64_t before_ns = clock_ns(CLOCK_MONOTONIC);
  uint64_t wall_ns = clock_ns(CLOCK_REALTIME);
  uint64_t after_ns = clock_ns(CLOCK_MONOTONIC);
  return (struct edges_now){.wall_ns = wall_ns,
                            .mono_ns = before_ns + (after_ns - before_ns) / 2};
}

static void say_lost(const struct feed *feed, uint64_t lost_ns) {
  notice(NOTIF_WARNING, feed->name,
         "%.0f seconds are unknown in the record: collectd did not read for "
         "longer than the window, a clock was set, or the machine slept. The "
         "totals are exact.",
         (double)lost_ns / 1e9);
}

/* Counts that came into buckets after their edge was dispatched. They are in
 * the next total; their number tells how late counts can be. */
static uint64_t late_events(const struct feed *feed,
                            const struct window_snapshot *snapshot,
                            uint64_t edge, uint64_t *totals) {
  uint64_t late = 0;
  window_total_at(snapshot, edge, totals);
  for (uint32_t v = 0; v < snapshot->values; v++)
    late += totals[v] - feed->dispatched[v];
  return late;
}

static void dispatch_self(const struct feed *feed, const struct pins_edge *edge,
                          double read_seconds) {
  const struct reader_statistics *statistics = reader_statistics(feed->reader);
  cdtime_t time = NS_TO_CDTIME_T(edge->wall_ns);
  dispatch(feed, "derive", "self_lost_seconds",
           (value_t){.derive = (derive_t)(edge->lost_ns / 1000000000)}, time);
  dispatch(feed, "derive", "self_late_events",
           (value_t){.derive = (derive_t)edge->late_events}, time);
  dispatch(feed, "derive", "self_snapshot_retries",
           (value_t){.derive = (derive_t)statistics->retries}, time);
  dispatch(feed, "duration", "self_read", (value_t){.gauge = read_seconds},
           time);
}

static int dispatch_due(struct feed *feed,
                        const struct window_snapshot *snapshot,
                        const struct edges_now *now, double read_seconds,
                        struct failure *failure) {
  const struct bpf_window_epoch *epoch = reader_epoch(feed->reader);
  uint64_t interval_ns = CDTIME_T_TO_NS(plugin_get_interval());
  uint32_t zero = 0;
  struct pins_edge last;
  if (bpf_map_lookup_elem(feed->edge_fd, &zero, &last) != 0)
    return failure_set(failure, -errno, "cannot read the last edge: %s",
                       STRERRNO);
  struct edges due = edges_due(epoch, now, interval_ns, &last);
  if (due.count == 0)
    return 0;
  if (due.lost_ns > 0)
    say_lost(feed, due.lost_ns);
  struct pins_edge edge = last;
  edge.lost_ns += due.lost_ns;
  if (feed->has_dispatched)
    edge.late_events += late_events(feed, snapshot, last.edge, feed->totals);
  for (uint64_t i = feed->backfill ? 0 : due.count - 1; i < due.count; i++) {
    bool newest = i + 1 == due.count;
    edge.wall_ns = due.first_ns + i * interval_ns;
    edge.edge = edges_in_window(epoch, now, edge.wall_ns);
    /* Kept before it is dispatched: a kill in between leaves out one point,
     * over which the next one's increment reaches; the other way round a point
     * would come twice, which writers refuse. */
    if (bpf_map_update_elem(feed->edge_fd, &zero, &edge, BPF_ANY) != 0)
      return failure_set(failure, -errno, "cannot keep the last edge: %s",
                         STRERRNO);
    dispatch_edge(feed, snapshot, edge.edge, NS_TO_CDTIME_T(edge.wall_ns),
                  newest);
    if (newest)
      dispatch_self(feed, &edge, read_seconds);
    /* Otherwise the next read goes on from here. */
    else if (!feed->slow_writers && !wait_for_writers(feed))
      break;
  }
  return 0;
}

/* Returns 0 whatever happens: collectd would read a failing callback ever more
 * seldom, while here the next interval makes up for everything. */
static int on_read(user_data_t *user_data) {
  struct feed *feed = user_data->data;
  const struct window_snapshot *snapshot;
  struct failure failure;
  if (!may_go_on(feed))
    return 0;
  struct edges_now now = read_clocks();
  int status = reader_snapshot(feed->reader, &snapshot, &failure);
  if (status == 0)
    status = dispatch_due(
        feed, snapshot, &now,
        (double)(clock_ns(CLOCK_MONOTONIC) - now.mono_ns) / 1e9, &failure);
  if (status != 0 && status != feed->last_status)
    ERROR("bpf_window plugin: %s: %s", feed->name, failure.text);
  else if (status == 0 && feed->last_status != 0)
    NOTICE("bpf_window plugin: %s: reading works again", feed->name);
  feed->last_status = status;
  return 0;
}

/* ---- Start and end ---- */

static void feed_free(void *data) {
  struct feed *feed = data;
  /* At its end collectd throws away what its writers have not taken yet. */
  if (!feed->slow_writers)
    barrier_wait(&feed->barrier, BARRIER_AT_MOST);
  barrier_remove(&feed->barrier);
  reader_close(&feed->reader);
  if (feed->edge_fd >= 0)
    close(feed->edge_fd);
  metrics_free(&feed->metrics);
  free(feed->dispatched);
  free(feed->totals);
  free(feed);
}

/* Edges must fall on bucket boundaries, and two must fit into the ring. */
static int check_interval(const struct bpf_window_epoch *epoch,
                          struct failure *failure) {
  uint64_t interval_ns = CDTIME_T_TO_NS(plugin_get_interval());
  uint64_t most_ns = WINDOW_HISTORY_BUCKETS * epoch->width_ns / 2;
  if (interval_ns % epoch->width_ns == 0 && interval_ns <= most_ns)
    return 0;
  return failure_set(failure, -EINVAL,
                     "an interval of %.3f s does not fit: it must be a whole "
                     "multiple of the bucket width, %.3f s, and at most %.0f s "
                     "(Interval in the LoadPlugin block)",
                     (double)interval_ns / 1e9, (double)epoch->width_ns / 1e9,
                     (double)most_ns / 1e9);
}

static int set_up(struct feed *feed, const struct object_window *window,
                  const struct config_window *config, struct failure *failure) {
  int status = reader_open(&feed->reader, window->ring_fd, window->epoch_fd,
                           window->cursor_fd, failure);
  if (status != 0)
    return status;
  const struct bpf_window_epoch *epoch = reader_epoch(feed->reader);
  status = check_interval(epoch, failure);
  if (status == 0)
    status = metrics_new(&feed->metrics, feed->name, epoch, config, failure);
  if (status != 0)
    return status;
  feed->dispatched = calloc(epoch->values, sizeof(*feed->dispatched));
  feed->totals = calloc(epoch->values, sizeof(*feed->totals));
  feed->edge_fd = fcntl(window->edge_fd, F_DUPFD_CLOEXEC, 0);
  if (!feed->dispatched || !feed->totals || feed->edge_fd < 0)
    return failure_set(failure, -ENOMEM, "out of memory or descriptors");
  return 0;
}

int feed_start(const struct object_window *window,
               const struct config_window *config, bool backfill,
               struct failure *failure) {
  struct feed *feed = calloc(1, sizeof(*feed));
  if (!feed)
    return failure_set(failure, -ENOMEM, "out of memory");
  feed->edge_fd = -1;
  feed->backfill = backfill;
  sstrncpy(feed->name, window->name, sizeof(feed->name));
  sstrncpy(feed->barrier.plugin_instance, feed->name,
           sizeof(feed->barrier.plugin_instance));
  barrier_add(&feed->barrier);
  int status = set_up(feed, window, config, failure);
  if (status != 0) {
    feed_free(feed);
    return status;
  }
  char name[DATA_MAX_NAME_LEN * 2];
  ssnprintf(name, sizeof(name), "bpf_window/%s", feed->name);
  /* On failure collectd frees the user data itself. */
  user_data_t user_data = {.data = feed, .free_func = feed_free};
  if (plugin_register_complex_read(NULL, name, on_read, 0, &user_data) != 0)
    return failure_set(failure, -EINVAL,
                       "collectd refuses to read it (is there another window "
                       "of this name?)");
  return 0;
}
