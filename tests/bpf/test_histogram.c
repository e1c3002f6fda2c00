/* SPDX-License-Identifier: MIT */
/* BPF_WINDOW_LOG2 in the kernel: what the verifier lets through counts each number in
 * its slot, and the record says what the slots are. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>

#include "object/describe.h"
#include "place.h"
#include "window/reader.h"

static struct bpf_object *object;
static struct bpf_window_epoch record;
static struct reader *reader;

static int map_fd(const char *name) {
  return bpf_object__find_map_fd_by_name(object, name);
}

static int load(void **state) {
  (void)state;
  struct failure failure;
  object = bpf_object__open(place_object("tests/bpf/histogram"));
  if (!object ||
      describe_window(bpf_object__btf(object),
                      bpf_object__find_map_by_name(object, "numbers"), &record,
                      &failure) != 0)
    return -1;
  bpf_program__set_autoattach(
      bpf_object__find_program_by_name(object, "on_call"), false);
  if (bpf_object__load(object) != 0)
    return -1;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  record.epoch_ns = (uint64_t)(now.tv_sec - 1) * 1000000000u;
  record.tick_ns = 4000000;
  uint32_t zero = 0;
  bpf_map_update_elem(map_fd("numbers_epoch"), &zero, &record, BPF_ANY);
  return reader_open(&reader, map_fd("numbers"), map_fd("numbers_epoch"),
                     map_fd("numbers_cursor"), &failure);
}

static int unload(void **state) {
  (void)state;
  reader_close(&reader);
  bpf_object__close(object);
  return 0;
}

/* By doubling, not by counting bits. */
static uint32_t slot_of(uint64_t number, uint32_t slots) {
  uint32_t slot = 0;
  for (; number >= 2 && slot + 1 < slots; number /= 2)
    slot++;
  return slot;
}

static void count(uint64_t number) {
  int fd = bpf_program__fd(bpf_object__find_program_by_name(object, "count"));
  LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = &number,
              .ctx_size_in = sizeof(number));
  assert_int_equal(bpf_prog_test_run_opts(fd, &run), 0);
  assert_int_equal(run.retval, 0);
}

static void each_number_is_counted_in_its_slot(void **state) {
  (void)state;
  uint64_t wanted[1 + 30 + 2 + 64] = {0}, totals[1 + 30 + 2 + 64];
  for (int power = 0; power < 64; power++) {
    for (int around = -1; around <= 1; around++) {
      uint64_t number = (UINT64_C(1) << power) + (uint64_t)around;
      count(number);
      wanted[0]++;
      wanted[1 + slot_of(number, 30)]++;
      wanted[1 + 30 + slot_of(number, 2)]++;
      wanted[1 + 30 + 2 + slot_of(number, 64)]++;
    }
  }
  count(UINT64_MAX);
  wanted[0]++, wanted[1 + 29]++, wanted[1 + 30 + 1]++, wanted[96]++;
  const struct window_snapshot *snapshot;
  assert_int_equal(reader_snapshot(reader, &snapshot, NULL), 0);
  window_total_at(snapshot, UINT64_MAX, totals);
  for (int i = 0; i < 97; i++)
    assert_int_equal(totals[i], wanted[i]);
}

static void the_record_says_which_counters_are_histograms(void **state) {
  (void)state;
  assert_int_equal(record.counters, 4);
  assert_int_equal(record.counter[0].role, BPF_WINDOW_ROLE_TOTAL);
  const uint32_t slots[] = {30, 2, 64};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(record.counter[1 + i].role, BPF_WINDOW_ROLE_LOG2);
    assert_int_equal(record.counter[1 + i].values, slots[i]);
  }
  assert_null(window_epoch_problem(&record));
}

static void a_histogram_of_one_counter_is_refused(void **state) {
  (void)state;
  struct failure failure;
  struct bpf_window_epoch none;
  struct bpf_object *other =
      bpf_object__open(place_object("tests/bpf/histogram_of_one"));
  assert_non_null(other);
  assert_int_equal(
      describe_window(bpf_object__btf(other),
                      bpf_object__find_map_by_name(other, "numbers"), &none,
                      &failure),
      -EINVAL);
  assert_non_null(strstr(failure.text, "field number_us of struct numbers is "
                                       "tagged as a histogram"));
  bpf_object__close(other);
}

int main(void) {
  if (!place_can_load())
    return 77;
  libbpf_set_print(NULL);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_number_is_counted_in_its_slot),
      cmocka_unit_test(the_record_says_which_counters_are_histograms),
      cmocka_unit_test(a_histogram_of_one_counter_is_refused),
  };
  return cmocka_run_group_tests_name("histograms in the kernel", tests, load,
                                     unload);
}
