/* SPDX-License-Identifier: MIT */
/*
 * bench.c - runs everything, interleaved, and says what came out.
 *
 *   bench RESULTS.json [LOADS [ROUNDS [PIPELINE]]]
 *
 * Objects are loaded several times, since where the kernel puts a program's
 * code changes its speed; within a load, rounds go through all variants, so
 * that a ratio compares neighbours in time. PIPELINE is a shell command with %u
 * for the id of the map to dump.
 */
#include "counting.h"
#include "machine.h"
#include "reading.h"
#include "result.h"
#include "window_setup.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "tests/bench/bench.skel.h"

#define DEFAULT_LOADS 5
#define DEFAULT_ROUNDS 30

/* ---- Loading ---- */

static struct bench_bpf *load(void) {
  struct bench_bpf *bpf = bench_bpf__open();
  if (!bpf)
    return NULL;
  bpf->rodata->event_syscall = SYS_getppid;
  int status = bench_bpf__load(bpf);
  if (status == 0)
    status = window_setup(bpf_map__fd(bpf->maps.bench_epoch));
  /* The maps in which a key has to be made before it can be counted on. */
  uint32_t zero = 0;
  uint64_t values[2 * MACHINE_MAX_CPUS] = {0};
  const struct bpf_map *hashes[] = {bpf->maps.percpu_hash_map,
                                    bpf->maps.hash_map, bpf->maps.lru_hash_map};
  for (size_t i = 0; i < sizeof(hashes) / sizeof(*hashes) && !status; i++)
    status =
        bpf_map_update_elem(bpf_map__fd(hashes[i]), &zero, values, BPF_ANY);
  uint64_t epoch_ns = 1;
  if (status == 0)
    status = bpf_map_update_elem(bpf_map__fd(bpf->maps.literal_epoch), &zero,
                                 &epoch_ns, BPF_ANY);
  if (status != 0) {
    bench_bpf__destroy(bpf);
    return NULL;
  }
  return bpf;
}

/* ---- Tables ---- */

static double share(const struct losses *losses, enum stream_kind kind) {
  return kind == NO_STREAM ? NAN : losses->dropped / losses->sent;
}

static void report_loop(void) {
  const struct series *floor = &variant_named("floor")->loop;
  result_table("loop",
               "In a loop inside one program run (compares code; not an "
               "event's cost)",
               "ns per call", "to the floor");
  for (int i = 0; i < variant_count; i++) {
    const struct variant *v = &variants[i];
    result_row(
        &(struct result_row){.name = v->name,
                             .title = v->title,
                             .family = v->family,
                             .series = &v->loop,
                             .ratio = series_paired_ratio(&v->loop, floor),
                             .drops = share(&v->loop_losses, v->stream)});
  }
}

static void report_all(void) {
  result_table("all", "The same on all CPUs at once", "ns per call",
               "to one CPU");
  for (int i = 0; i < variant_count; i++) {
    const struct variant *v = &variants[i];
    result_row(
        &(struct result_row){.name = v->name,
                             .title = v->title,
                             .family = v->family,
                             .series = &v->all,
                             .ratio = series_paired_ratio(&v->all, &v->alone),
                             .drops = share(&v->all_losses, v->stream)});
  }
}

/* The empty program's row is a difference between it and itself: the spread. */
static void report_event(void) {
  double spread = series_quantile(&variant_named("empty")->event, 0.9);
  result_table("event",
               "A system call with the program attached, less the same "
               "with an empty one",
               "ns per event", "");
  for (int i = 0; i < variant_count; i++) {
    const struct variant *v = &variants[i];
    if (v->event.count == 0)
      continue;
    double median = series_quantile(&v->event, 0.5);
    result_row(&(struct result_row){
        .name = v->name,
        .title = v->title,
        .family = v->family,
        .series = &v->event,
        .ratio = NAN,
        .drops = share(&v->event_losses, v->stream),
        .verdict = v->counters == 0   ? "the spread of this method"
                   : median <= spread ? "not resolvable"
                                      : NULL});
  }
}

static void report_reading(void) {
  result_table("reading", "Reading on this machine", "microseconds",
               "to reading an interval");
  for (int i = 0; i < READINGS; i++) {
    if (reading[i].count == 0)
      continue;
    result_row(&(struct result_row){
        .title = reading_title(i),
        .series = &reading[i],
        .ratio = series_quantile(&reading[i], 0.5) /
                 series_quantile(&reading[READING_INTERVAL], 0.5),
        .drops = NAN});
  }
}

static void report_sizes(void) {
  char title[64];
  result_table("sizes",
               "Reading an interval on larger machines (the same bytes "
               "as larger values)",
               "microseconds", "of which copying");
  for (int i = 0; i < READING_SIZES; i++) {
    if (reading_size_copy[i].count == 0)
      continue;
    snprintf(title, sizeof(title), "%d possible CPUs", reading_size_cpus[i]);
    result_row(&(struct result_row){
        .title = title,
        .series = &reading_size_interval[i],
        .ratio = series_paired_ratio(&reading_size_copy[i],
                                     &reading_size_interval[i]),
        .drops = NAN});
  }
}

static double ratio(const char *a, const char *b) {
  return series_paired_ratio(&variant_named(a)->loop, &variant_named(b)->loop);
}

static double growth(const char *name) {
  const struct variant *v = variant_named(name);
  return series_paired_ratio(&v->all, &v->alone);
}

static void report_proofs(void) {
  result_proof("two counters, plain, to the floor",
               ratio("window_two", "floor"), 2.0, 0, "x");
  result_proof("two counters, atomic, to two bare atomic adds",
               ratio("window_two_atomic", "floor_two_atomic"), 1.2, 0, "x");
  result_proof("article's design to ours, two counters, plain",
               ratio("literal_two", "window_two"), 10, 1, "x");
  result_proof("growth on all CPUs at once, plain",
               100 * (growth("window_two") - 1), 15, 0, "%");
  result_proof("growth on all CPUs at once, atomic",
               100 * (growth("window_two_atomic") - 1), 15, 0, "%");
  result_proof("the first, beyond the growth of two bare ++",
               100 * (growth("window_two") / growth("floor_two") - 1), 15, 0,
               "%");
  if (reading[READING_ARTICLE].count)
    result_proof("article's pipeline to our reading of an interval",
                 series_quantile(&reading[READING_ARTICLE], 0.5) /
                     series_quantile(&reading[READING_INTERVAL], 0.5),
                 300, 1, "x");
  result_proof("reading an interval, 256 possible CPUs",
               series_quantile(&reading_size_interval[READING_SIZES - 1], 0.5) /
                   1e3,
               1, 0, "ms");
}

/* ---- All of it ---- */

static int measure(int loads, int rounds, const char *pipeline) {
  for (int l = 0; l < loads; l++) {
    struct bench_bpf *bpf = load();
    if (!bpf) {
      fprintf(stderr, "cannot load the programs; LIBBPF_DEBUG=1 says why\n");
      return 1;
    }
    for (int round = 0; round < rounds; round++) {
      counting_loop_round(bpf);
      counting_all_round(bpf);
    }
    for (int round = 0; round < rounds; round++)
      counting_event_round(bpf, round);
    char command[1024] = "";
    struct bpf_map_info info = {0};
    uint32_t size = sizeof(info);
    bpf_obj_get_info_by_fd(bpf_map__fd(bpf->maps.bench), &info, &size);
    if (pipeline && snprintf(command, sizeof(command), "id=%u; %s", info.id,
                             pipeline) >= (int)sizeof(command))
      return 1;
    int status = reading_rounds(bpf, rounds, pipeline ? command : NULL);
    bench_bpf__destroy(bpf);
    if (status == 0)
      status = reading_size_rounds(rounds);
    if (status != 0) {
      fprintf(stderr, "reading failed: %s\n", strerror(-status));
      return 1;
    }
    fprintf(stderr, "# load %d of %d done\n", l + 1, loads);
  }
  return 0;
}

static int print(enum libbpf_print_level level, const char *format,
                 va_list arguments) {
  (void)level;
  return getenv("LIBBPF_DEBUG") ? vfprintf(stderr, format, arguments) : 0;
}

int main(int argc, char **argv) {
  int loads = argc > 2 ? atoi(argv[2]) : DEFAULT_LOADS;
  int rounds = argc > 3 ? atoi(argv[3]) : DEFAULT_ROUNDS;
  if (argc < 2 || loads < 1 || rounds < 3) {
    fprintf(stderr, "usage: bench RESULTS.json [LOADS [ROUNDS [PIPELINE]]]; "
                    "ROUNDS is 3 or more\n");
    return 2;
  }
  machine_init();
  libbpf_set_print(print);
  if (result_open(argv[1]) != 0) {
    perror(argv[1]);
    return 1;
  }
  machine_report();
  result_fact("scheduling", machine_take_priority()
                                ? "real-time; readers of streams as usual"
                                : "as usual");
  int status = measure(loads, rounds, argc > 4 ? argv[4] : NULL);
  if (status == 0) {
    result_fact("rounds", "%d loads of %d rounds", loads, rounds);
    report_loop();
    report_all();
    report_event();
    report_reading();
    report_sizes();
    report_proofs();
  }
  result_close();
  return status;
}
