/* SPDX-License-Identifier: MIT */
#include "window_setup.h"

#include "machine.h"

#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf_window/layout.h>

static const struct {
  const char *name;
  enum bpf_window_role role;
} counters[] = {
    {"lookups", BPF_WINDOW_ROLE_TOTAL},
    {"hits_no_policy", BPF_WINDOW_ROLE_HIT},
    {"hits_allow", BPF_WINDOW_ROLE_HIT},
    {"hits_deny", BPF_WINDOW_ROLE_HIT},
    {"misses_walk", BPF_WINDOW_ROLE_MISS},
    {"fills", BPF_WINDOW_ROLE_PLAIN},
};
#define COUNTERS (sizeof(counters) / sizeof(*counters))

int window_setup(int epoch_fd) {
  static struct bpf_window_epoch epoch;
  uint32_t zero = 0;
  uint64_t now_ns = machine_now_ns();
  epoch = (struct bpf_window_epoch){
      /* Uptimes of less than two seconds do not run benchmarks. */
      .epoch_ns = (now_ns / BPF_WINDOW_WIDTH_NS - 1) * BPF_WINDOW_WIDTH_NS,
      .width_ns = BPF_WINDOW_WIDTH_NS,
      .tick_ns = machine_tick_ns(),
      .format = BPF_WINDOW_FORMAT,
      .slots = BPF_WINDOW_SLOTS,
      .counters = COUNTERS,
      .values = COUNTERS,
  };
  for (size_t i = 0; i < COUNTERS; i++) {
    strcpy(epoch.counter[i].name, counters[i].name);
    epoch.counter[i].role = counters[i].role;
    epoch.counter[i].values = 1;
  }
  return bpf_map_update_elem(epoch_fd, &zero, &epoch, BPF_ANY) ? -errno : 0;
}
