/* SPDX-License-Identifier: MIT */
/* bpf_window_at in the kernel: the verifier lets each kind of index through, and what is
 * beyond the array is counted in its last. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <bpf_window/setup.h>
#include <cmocka.h>

#include "place.h"
#include "window/reader.h"

#define VALUES (5 * 8 + 1 + 5 + 2 * 8)

static struct bpf_object *object;
static struct reader *reader;

static int map_fd(const char *name) {
  return bpf_object__find_map_fd_by_name(object, name);
}

static int load(void **state) {
  (void)state;
  struct failure failure;
  object = bpf_object__open(place_object("tests/bpf/split"));
  if (!object || bpf_object__load(object) != 0 ||
      bpf_window_setup(object, "split") != 0)
    return -1;
  return reader_open(&reader, map_fd("split"), map_fd("split_epoch"),
                     map_fd("split_cursor"), &failure);
}

static int unload(void **state) {
  (void)state;
  reader_close(&reader);
  bpf_object__close(object);
  return 0;
}

static void count(uint64_t index) {
  int fd = bpf_program__fd(bpf_object__find_program_by_name(object, "count"));
  LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = &index,
              .ctx_size_in = sizeof(index));
  assert_int_equal(bpf_prog_test_run_opts(fd, &run), 0);
  assert_int_equal(run.retval, 0);
}

static uint64_t within(uint64_t index, uint64_t length) {
  return index < length ? index : length - 1;
}

static void each_index_is_counted_in_its_place(void **state) {
  (void)state;
  static const uint64_t indices[] = {
      0,           1,         4,          5,
      7,           8,         9,          255,
      256,         INT32_MAX, 0x80000000, UINT32_MAX,
      0x100000003, INT64_MAX, UINT64_MAX, UINT64_MAX - 6};
  uint64_t wanted[VALUES] = {0}, totals[VALUES];
  for (size_t i = 0; i < sizeof(indices) / sizeof(indices[0]); i++) {
    uint64_t index = indices[i];
    count(index);
    wanted[within((uint8_t)index, 8)]++;
    wanted[8 + within((uint64_t)(int32_t)index, 8)]++;
    wanted[16 + within((uint32_t)index, 8)]++;
    wanted[24 + within(index, 8)]++;
    wanted[32 + within(index, 8)]++;
    wanted[40]++;
    wanted[41 + within(index, 5)]++;
    if (index < 8)
      wanted[46 + index]++;
    wanted[54 + index % 8]++;
  }
  const struct window_snapshot *snapshot;
  assert_int_equal(reader_snapshot(reader, &snapshot, NULL), 0);
  assert_int_equal(reader_epoch(reader)->values, VALUES);
  window_total_at(snapshot, UINT64_MAX, totals);
  for (int i = 0; i < VALUES; i++)
    assert_int_equal(totals[i], wanted[i]);
}

int main(void) {
  if (!place_can_load())
    return 77;
  libbpf_set_print(NULL);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_index_is_counted_in_its_place),
  };
  return cmocka_run_group_tests_name("an array by an index", tests, load,
                                     unload);
}
