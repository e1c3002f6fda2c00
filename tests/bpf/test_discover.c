/* SPDX-License-Identifier: MIT */
/* discover.h: whole names, and companions that are the window's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <bpf_window/setup.h>
#include <cmocka.h>

#include "object/discover.h"
#include "place.h"

static struct bpf_object *object;
static struct discover_window *windows;
static size_t count;

static uint32_t id_of(const char *map) {
  struct bpf_map_info info = {0};
  uint32_t size = sizeof(info);
  int fd = bpf_object__find_map_fd_by_name(object, map);
  assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &size), 0);
  return info.id;
}

static const struct discover_window *window_of(const char *map) {
  uint32_t id = id_of(map);
  for (size_t i = 0; i < count; i++)
    if (windows[i].ring_id == id)
      return &windows[i];
  fail_msg("%s was not found", map);
  return NULL;
}

static int load(void **state) {
  (void)state;
  static const char *const names[] = {
      "names_of_14_ch", "names_of_15_chr", "names_of_16_chrs",
      "request_latency_read", "request_latency_write"};
  const uint32_t zero = 0;
  const uint64_t some_time = 1;
  struct census *census;
  object = bpf_object__open_file(place_object("tests/bpf/many_names"), NULL);
  if (!object || bpf_object__load(object) != 0)
    return -1;
  for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
    if (bpf_window_setup(object, names[i]) != 0)
      return -1;
  bpf_map_update_elem(bpf_object__find_map_fd_by_name(object, "started"), &zero,
                      &some_time, BPF_ANY);
  if (census_take(&census, NULL, NULL) != 0)
    return -1;
  int status = discover_windows(census, 0, &windows, &count, NULL);
  census_free(&census);
  return status;
}

static int unload(void **state) {
  (void)state;
  free(windows);
  bpf_object__close(object);
  return 0;
}

static void names_are_whole(void **state) {
  (void)state;
  static const char *const names[] = {"names_of_14_ch", "names_of_15_chr",
                                      "names_of_16_chrs"};
  for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
    const struct discover_window *window = window_of(names[i]);
    assert_string_equal(window->problem, "");
    assert_string_equal(window->name, names[i]);
    assert_true(window->cursor_id != 0);
  }
}

/* Another window's counts are worse than none. */
static void of_names_that_are_cut_to_the_same_nothing_is_guessed(void **state) {
  (void)state;
  static const char *const names[] = {"request_latency_read",
                                      "request_latency_write"};
  for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
    const struct discover_window *window = window_of(names[i]);
    assert_non_null(strstr(window->problem, "either could be its epoch"));
    assert_int_equal(window->cursor_id, 0);
  }
}

static void a_lone_array_is_the_epoch_and_variables_are_not(void **state) {
  (void)state;
  const struct discover_window *window = window_of("clear_ring");
  assert_string_equal(window->problem, "");
  assert_int_equal(window->epoch_id, id_of("started"));
}

static void of_two_arrays_neither_is_the_epoch(void **state) {
  (void)state;
  assert_non_null(
      strstr(window_of("unclear_ring")->problem, "either could be its epoch"));
}

int main(void) {
  if (!place_can_load_unmarked())
    return 77;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_are_whole),
      cmocka_unit_test(of_names_that_are_cut_to_the_same_nothing_is_guessed),
      cmocka_unit_test(a_lone_array_is_the_epoch_and_variables_are_not),
      cmocka_unit_test(of_two_arrays_neither_is_the_epoch),
  };
  return cmocka_run_group_tests_name("discover", tests, load, unload);
}
