/* SPDX-License-Identifier: MIT */
/*
 * What holds when counting is interrupted by counting, and when a window is
 * read while it rolls: I2, I3, I4, I6 of window.bpf.h, W2 of window.h, and the
 * promise of reader.h. Figures stand in the comments of the TAP output.
 * RACE_SECONDS says how long each run counts (default 3); the one that reads goes
 * on until it has seen RACE_COPIES closed buckets (a million), or lost patience.
 */
#include "place.h"
#include "race_load.h"
#include "window/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#define NARROW_NS 16384 /* all 300 slots are used again every 5 ms */
#define READ_NS 1048576 /* a copy of the window fits in between most rolls */
/* Interrupting more often than this leaves little time on a virtual machine for
 * what is interrupted. */
#define INTERRUPT_NS 40000
#define INTERRUPT_READ_NS 100000
#define UNGUARDED_COPIES 50 /* after each snapshot */
#define PATIENCE_NS 45000000000
#define EVER UINT64_MAX

static int tests, failed;

static void report(bool good, const char *title) {
  printf("%sok %d - %s\n", good ? "" : "not ", ++tests, title);
  failed += !good;
  fflush(stdout);
}

static uint64_t setting(const char *name, uint64_t usual) {
  const char *value = getenv(name);
  return value ? strtoull(value, NULL, 10) : usual;
}

static uint64_t duration_ns(void) {
  return setting("RACE_SECONDS", 3) * 1000000000;
}

static struct reader *open_reader(const struct race *race) {
  struct reader *reader = NULL;
  struct failure failure;
  if (reader_open(&reader, race_map(race, "race"), race_map(race, "race_epoch"),
                  race_map(race, "race_cursor"), &failure) != 0)
    printf("# %s\n", failure.text);
  return reader;
}

/* ---- Nothing is lost ---- */

static bool totals_of(const struct race *race, uint64_t *totals) {
  struct reader *reader = open_reader(race);
  const struct window_snapshot *snapshot;
  struct failure failure;
  bool good = reader && reader_snapshot(reader, &snapshot, &failure) == 0;
  if (good)
    window_total_at(snapshot, EVER, totals);
  reader_close(&reader);
  return good;
}

struct losing_case {
  const char *title;
  bool fast, atomic;
};

static void test_losing(const struct losing_case *c) {
  uint64_t totals[RACE_VALUES] = {0};
  struct race *race = race_open(c->fast, NARROW_NS);
  if (!race || race_start(race, c->atomic, INTERRUPT_NS) != 0) {
    report(false, c->title);
    if (race)
      race_stop(race);
    race_close(&race);
    return;
  }
  uint64_t end_ns = race_now_ns() + duration_ns();
  while (race_now_ns() < end_ns)
    usleep(10000);
  race_stop(race);

  bool read = totals_of(race, totals);
  uint64_t looped = race_looped(race), interruptions = race_interruptions(race);
  int64_t lost = (int64_t)(looped + interruptions - totals[RACE_EVENTS]);
  printf("# %s: %" PRIu64 " rolls, %" PRIu64 " events in loops, %" PRIu64
         " interrupting (%.0f kHz per CPU), lost %" PRId64
         " (%.3f%% of the interrupting)\n",
         c->title, race_rolls(race), looped, interruptions,
         (double)interruptions / ((double)duration_ns() / 1e6) /
             (double)sysconf(_SC_NPROCESSORS_ONLN),
         lost, 100.0 * (double)lost / (double)interruptions);
  bool exact = lost == 0 && totals[RACE_LOOPED] == looped &&
               totals[RACE_INTERRUPTING] == interruptions;
  /* The plain add promises nothing here; its figure is told, not tested. */
  report(read && interruptions > 0 && (exact || !c->atomic), c->title);
  race_close(&race);
}

/* ---- Nothing torn is accepted ---- */

/* Copies of closed buckets in a snapshot, and how many of them are torn. */
struct copies {
  uint64_t closed, torn;
};

static void examine(const struct window_snapshot *snapshot,
                    struct copies *copies) {
  size_t words = 1 + snapshot->values;
  for (uint32_t cpu = 0; cpu < snapshot->cpus; cpu++) {
    uint64_t newest = 0;
    for (uint32_t slot = 0; slot < snapshot->slots; slot++) {
      uint64_t label = snapshot->buckets[(slot * snapshot->cpus + cpu) * words];
      newest = label > newest ? label : newest;
    }
    for (uint32_t slot = 0; slot < snapshot->slots; slot++) {
      const uint64_t *b =
          snapshot->buckets + (slot * snapshot->cpus + cpu) * words;
      uint64_t label = b[0], ahead;
      if (label == 0 || label == newest)
        continue; /* unused, or still counting */
      copies->closed++;
      ahead = b[1 + RACE_LABEL_SUM] - label * b[1 + RACE_EVENTS];
      /* An interrupted loop may owe the last closed bucket its second add. */
      copies->torn += ahead != 0 && ahead != label;
    }
  }
}

/* What a reader sees that does not look at the cursors: it copies the bucket
 * that is recycled next. A label that does not divide the sum came from another
 * lap. */
static void examine_unguarded(const struct race *race,
                              const struct window_snapshot *snapshot,
                              struct copies *copies) {
  static uint64_t row[RACE_MAX_CPUS * (1 + RACE_VALUES)];
  const struct bpf_window_cursor *cursor =
      (const struct bpf_window_cursor *)snapshot->cursors;
  uint32_t slot = (cursor->slot + 1) % BPF_WINDOW_SLOTS;
  for (int i = 0; i < UNGUARDED_COPIES && snapshot->cpus <= RACE_MAX_CPUS;
       i++) {
    if (bpf_map_lookup_elem(race_map(race, "race"), &slot, row) != 0)
      return;
    for (uint32_t cpu = 0; cpu < snapshot->cpus; cpu++) {
      const uint64_t *b = row + cpu * (1 + RACE_VALUES);
      copies->closed++;
      copies->torn += b[0] != 0 && b[1 + RACE_LABEL_SUM] % b[0] != 0;
    }
  }
}

static void test_reading(void) {
  struct copies accepted = {0, 0}, unguarded = {0, 0};
  struct race *race = race_open(true, READ_NS);
  struct reader *reader = race ? open_reader(race) : NULL;
  if (!reader || race_start(race, true, INTERRUPT_READ_NS) != 0) {
    report(false, "reading while counting");
    exit(1);
  }
  const struct window_snapshot *snapshot = NULL;
  struct failure failure;
  uint64_t totals[RACE_VALUES], last[RACE_VALUES] = {0};
  uint64_t snapshots = 0, given_up = 0, fell = 0;
  uint64_t end_ns = race_now_ns() + duration_ns();
  uint64_t enough = setting("RACE_COPIES", 1000000);
  while (race_now_ns() < end_ns ||
         (accepted.closed < enough && race_now_ns() < end_ns + PATIENCE_NS)) {
    if (reader_snapshot(reader, &snapshot, &failure) != 0) {
      given_up++;
      continue;
    }
    snapshots++;
    examine(snapshot, &accepted);
    window_total_at(snapshot, EVER, totals);
    for (int i = 0; i < RACE_VALUES; i++)
      fell += i != RACE_LABEL_SUM && totals[i] < last[i];
    memcpy(last, totals, sizeof(last));
    examine_unguarded(race, snapshot, &unguarded);
  }
  race_stop(race);
  printf("# %" PRIu64 " snapshots taken, %" PRIu64
         " copies thrown away, %" PRIu64 " times given up, during %" PRIu64
         " rolls\n",
         snapshots, reader_statistics(reader)->retries, given_up,
         race_rolls(race));
  printf("# closed buckets copied: %" PRIu64 ", torn and accepted %" PRIu64
         "\n",
         accepted.closed, accepted.torn);
  printf("# copies of the next bucket without that check: %" PRIu64
         ", torn %" PRIu64 " (%.1f per million)\n",
         unguarded.closed, unguarded.torn,
         1e6 * (double)unguarded.torn / (double)(unguarded.closed + 1));
  report(snapshots > 0 && accepted.torn == 0,
         "no torn bucket is accepted (I4, reader.h)");
  report(fell == 0, "totals never fall while windows roll (W2)");
  report(totals_of(race, totals) &&
             totals[RACE_EVENTS] ==
                 race_looped(race) + race_interruptions(race),
         "the total is the number of events after all that (I2)");
  reader_close(&reader);
  race_close(&race);
}

int main(void) {
  static const struct losing_case cases[] = {
      {"atomic add, buckets of 1 s: nothing lost (I6)", false, true},
      {"atomic add, buckets of 16 us: nothing lost (I2, I3, I6)", true, true},
      {"plain add, buckets of 1 s: may lose", false, false},
      {"plain add, buckets of 16 us: may lose", true, false},
  };
  if (!place_can_load()) {
    printf("1..0 # SKIP cannot load BPF programs here\n");
    return 77;
  }
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
    test_losing(&cases[i]);
  test_reading();
  printf("1..%d\n", tests);
  return failed != 0;
}
