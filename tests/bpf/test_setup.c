/* SPDX-License-Identifier: MIT */
/* setup.h, which agents use without this project's libraries: it says what they
 * say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf_window/setup.h>
#include <cmocka.h>

#include "object/describe.h"
#include "place.h"
#include "window/reader.h"

/* What docs/instrument.md says of the bytes. */
_Static_assert(sizeof(struct bpf_window_epoch) == 3120 &&
                   offsetof(struct bpf_window_epoch, width_ns) == 8 &&
                   offsetof(struct bpf_window_epoch, tick_ns) == 16 &&
                   offsetof(struct bpf_window_epoch, layout) == 24 &&
                   offsetof(struct bpf_window_epoch, format) == 32 &&
                   offsetof(struct bpf_window_epoch, slots) == 36 &&
                   offsetof(struct bpf_window_epoch, counters) == 40 &&
                   offsetof(struct bpf_window_epoch, values) == 44 &&
                   offsetof(struct bpf_window_epoch, counter) == 48,
               "the record");
_Static_assert(sizeof(struct bpf_window_counter) == 48 &&
                   offsetof(struct bpf_window_counter, role) == 40 &&
                   offsetof(struct bpf_window_counter, values) == 44,
               "its entries");
_Static_assert(sizeof(struct bpf_window_cursor) == 16 &&
                   offsetof(struct bpf_window_cursor, slot) == 8,
               "the cursor");

static const char *const objects[] = {
    "bpf/block_io",    "bpf/inode_cache",       "bpf/page_cache",
    "bpf/tcp",         "tests/bpf/histogram",   "tests/bpf/marked_calls",
    "tests/bpf/split", "tests/bpf/torn_window", "tests/bpf/marked_calls_short",
};

static int ignore(enum libbpf_print_level level, const char *format,
                  va_list arguments) {
  (void)level, (void)format, (void)arguments;
  return 0;
}

static void each_bucket_is_described_as_the_plugin_does(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
    struct bpf_object *object =
        bpf_object__open_file(place_object(objects[i]), NULL);
    unsigned windows = 0;
    struct bpf_map *map;
    assert_non_null(object);
    bpf_object__for_each_map(map, object) {
      const struct btf *btf = bpf_object__btf(object);
      struct bpf_window_epoch ours, theirs;
      if (!describe_is_ring(btf, map))
        continue;
      assert_int_equal(describe_window(btf, map, &ours, NULL), 0);
      assert_int_equal(
          bpf_window_describe(btf, bpf_map__btf_value_type_id(map), &theirs),
          0);
      assert_memory_equal(&ours, &theirs, sizeof(ours));
      windows++;
    }
    assert_true(windows > 0);
    bpf_object__close(object);
  }
}

static void what_is_no_bucket_is_refused_by_both(void **state) {
  (void)state;
  struct btf *btf = btf__new_empty();
  int u64 = btf__add_int(btf, "u64", 8, 0),
      u32 = btf__add_int(btf, "u32", 4, 0);
  int array = btf__add_array(btf, u32, u64, 65);
  struct {
    const char *label, *counter;
    int type;
    unsigned size;
    const char *tag;
    int member; /* that is tagged */
  } cases[] = {
      {"label", "n", u64, 16, NULL, 0},
      {"abs_bucket", "n", u32, 16, NULL, 0},
      {"abs_bucket", "n", u64, 24, NULL, 0},
      {"abs_bucket", "", u64, 16, NULL, 0},
      {"abs_bucket", "a_name_of_forty_characters_is_one_too_lon", u64, 16, NULL,
       0},
      {"abs_bucket", "n", array, 8 * 66, "bpf_window:log2", 1},
      {"abs_bucket", "n", u64, 16, "bpf_window:log2", 1},
      {"abs_bucket", "n", u64, 16, "bpf_window:totl", 1},
      {"abs_bucket", "n", u64, 16, "bpf_window:", 1},
      {"abs_bucket", "n", u64, 16, "bpf_window:bucket_ns=5", 1},
      {"abs_bucket", "n", u64, 16, "bpf_window:hit", 0},
      {"abs_bucket", "n", u64, 16, "bpf_window:hit", -1},
      {"abs_bucket", "n", u64, 16, "bpf_window:bucket_ns=", -1},
      {"abs_bucket", "n", u64, 16, "bpf_window:bucket_ns=0", -1},
      {"abs_bucket", "n", u64, 16, "bpf_window:bucket_ns=-5", -1},
      {"abs_bucket", "n", u64, 16, "bpf_window:bucket_ns=1s", -1},
      {"abs_bucket", "n", u64, 16, "bpf_window:bucket_ns=10*1000", -1},
      {"abs_bucket", "n", u64, 16, "bpf_window:bucket_ns=99999999999999999999",
       -1},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct bpf_window_epoch record;
    int id = btf__add_struct(btf, "bucket", cases[i].size);
    assert_true(id > 0);
    assert_int_equal(btf__add_field(btf, cases[i].label, u64, 0, 0), 0);
    assert_int_equal(
        btf__add_field(btf, cases[i].counter, cases[i].type, 64, 0), 0);
    if (cases[i].tag)
      assert_true(btf__add_decl_tag(btf, cases[i].tag, id, cases[i].member) >
                  0);
    assert_int_equal(bpf_window_describe(btf, id, &record), -EINVAL);
    assert_int_equal(describe_struct(btf, id, &record, NULL), -EINVAL);
  }
  btf__free(btf);
}

static void names_that_btf_has_not_are_refused_by_both(void **state) {
  (void)state;
  for (int member = 0; member < 2; member++) {
    struct btf *btf = btf__new_empty();
    struct bpf_window_epoch record;
    int u64 = btf__add_int(btf, "u64", 8, 0);
    int id = btf__add_struct(btf, "bucket", 16);
    assert_int_equal(btf__add_field(btf, "abs_bucket", u64, 0, 0), 0);
    assert_int_equal(btf__add_field(btf, "n", u64, 64, 0), 0);
    struct btf_type *type = (struct btf_type *)btf__type_by_id(btf, (__u32)id);
    btf_members(type)[member].name_off = 1 << 20;
    assert_int_equal(bpf_window_describe(btf, (__u32)id, &record), -EINVAL);
    assert_int_equal(describe_struct(btf, (__u32)id, &record, NULL), -EINVAL);
    btf__free(btf);
  }
}

static void tags_are_read_alike_by_both(void **state) {
  (void)state;
  static const char *const tags[][2] = {
      {"bpf_window:hit", "bpf_window:hit"},
      {"bpf_window:hit", "other:tag"},
      {"bpf_window:hit", "bpf_window:miss"}, /* refused */
  };
  for (int i = 0; i < 3; i++) {
    struct btf *btf = btf__new_empty();
    struct bpf_window_epoch ours, theirs;
    int u64 = btf__add_int(btf, "u64", 8, 0);
    int id = btf__add_struct(btf, "bucket", 16);
    assert_int_equal(btf__add_field(btf, "abs_bucket", u64, 0, 0), 0);
    assert_int_equal(btf__add_field(btf, "n", u64, 64, 0), 0);
    for (int t = 0; t < 2; t++)
      assert_true(btf__add_decl_tag(btf, tags[i][t], id, 1) > 0);
    assert_true(
        btf__add_decl_tag(btf, "bpf_window:bucket_ns=10000ULL", id, -1) > 0);
    int status = i == 2 ? -EINVAL : 0;
    assert_int_equal(bpf_window_describe(btf, (__u32)id, &ours), status);
    assert_int_equal(describe_struct(btf, (__u32)id, &theirs, NULL), status);
    if (status == 0) {
      assert_memory_equal(&ours, &theirs, sizeof(ours));
      assert_int_equal(ours.width_ns, 10000);
      assert_int_equal(ours.counter[0].role, BPF_WINDOW_ROLE_HIT);
    }
    btf__free(btf);
  }
}

static struct bpf_object *load(const char *name) {
  struct bpf_object *object = bpf_object__open_file(place_object(name), NULL);
  assert_non_null(object);
  assert_int_equal(bpf_object__load(object), 0);
  return object;
}

static uint64_t calls_of(struct reader *reader) {
  const struct window_snapshot *snapshot;
  uint64_t totals[2];
  assert_int_equal(reader_snapshot(reader, &snapshot, NULL), 0);
  window_total_at(snapshot, UINT64_MAX, totals);
  return totals[0];
}

static void a_window_is_set_up_pinned_counted_in_and_read(void **state) {
  (void)state;
  const char *folder = place_pins();
  struct bpf_object *object = load("tests/bpf/marked_calls");
  struct reader *reader;
  char path[512];
  assert_int_equal(bpf_window_setup(object, "nonsense"), -ENOENT);
  assert_int_equal(bpf_window_setup(object, "marked"), 0);
  assert_int_equal(bpf_window_setup(object, "marked"), 0);
  assert_int_equal(bpf_window_pin(object, "marked", folder), 0);
  assert_int_equal(bpf_window_pin(object, "marked", folder), -EEXIST);
  struct bpf_program *program =
      bpf_object__find_program_by_name(object, "on_call");
  struct bpf_link *link = bpf_program__attach(program);
  assert_non_null(link);
  place_marked_calls(1000);
  bpf_link__destroy(link);

  snprintf(path, sizeof(path), "%s/marked", folder);
  assert_int_equal(reader_open_pinned(&reader, path, NULL), 0);
  assert_int_equal(calls_of(reader), 1000);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  assert_true(window_open_bucket(reader_epoch(reader), now_ns) >= 1);
  reader_close(&reader);

  /* Frozen: nobody writes by system call. */
  __u32 zero = 0;
  struct bpf_window_epoch record = {0};
  int fd = bpf_map__fd(bpf_object__find_map_by_name(object, "marked_epoch"));
  assert_int_equal(bpf_map_update_elem(fd, &zero, &record, BPF_ANY), -EPERM);
  /* Half of the pins can be made: then none is. */
  char half[520];
  snprintf(half, sizeof(half), "%s_epoch", path);
  assert_int_equal(unlink(half), 0);
  assert_int_equal(bpf_window_pin(object, "marked", folder), -EEXIST);
  assert_int_not_equal(access(half, F_OK), 0);
  assert_int_equal(access(path, F_OK), 0);
  bpf_window_unpin("marked", folder);
  assert_int_not_equal(access(path, F_OK), 0);
  assert_int_not_equal(access(folder, F_OK), 0);
  bpf_object__close(object);
}

static void maps_that_were_taken_over_go_on_or_are_refused(void **state) {
  (void)state;
  struct bpf_object *first = load("tests/bpf/marked_calls");
  assert_int_equal(bpf_window_setup(first, "marked"), 0);
  const char *const next[] = {"tests/bpf/marked_calls_again",
                              "tests/bpf/marked_calls_short"};
  for (int i = 0; i < 2; i++) {
    struct bpf_object *second =
        bpf_object__open_file(place_object(next[i]), NULL);
    static const char *const maps[] = {"marked", "marked_epoch",
                                       "marked_cursor"};
    for (int m = 0; m < 3; m++)
      assert_int_equal(
          bpf_map__reuse_fd(
              bpf_object__find_map_by_name(second, maps[m]),
              bpf_map__fd(bpf_object__find_map_by_name(first, maps[m]))),
          0);
    assert_int_equal(bpf_object__load(second), 0);
    assert_int_equal(bpf_window_setup(second, "marked"), i == 0 ? 0 : -EEXIST);
    bpf_object__close(second);
  }
  bpf_object__close(first);
}

int main(void) {
  if (!place_can_load())
    return 77;
  libbpf_set_print(ignore);
  if (!place_pins()) {
    printf("# no bpffs can be mounted here\n");
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_bucket_is_described_as_the_plugin_does),
      cmocka_unit_test(what_is_no_bucket_is_refused_by_both),
      cmocka_unit_test(names_that_btf_has_not_are_refused_by_both),
      cmocka_unit_test(tags_are_read_alike_by_both),
      cmocka_unit_test(a_window_is_set_up_pinned_counted_in_and_read),
      cmocka_unit_test(maps_that_were_taken_over_go_on_or_are_refused),
  };
  return cmocka_run_group_tests_name("setup", tests, NULL, NULL);
}
