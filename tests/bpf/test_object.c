/* SPDX-License-Identifier: MIT */
/* The clauses of object.h and pins.h on this kernel. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <cmocka.h>

#include "object/object.h"
#include "place.h"
#include "window/reader.h"

static struct pins_root *root;
static struct failure failure;

static int open_root(void **state) {
  (void)state;
  return pins_open(&root, place_pins(), &failure);
}

static int close_root(void **state) {
  (void)state;
  pins_close(&root);
  place_clear();
  return 0;
}

static struct object *start(const char *file) {
  struct object *object = NULL;
  struct object_options options = {
      .name = "marked", .path = place_object(file), .pins = root};
  if (object_start(&object, &options, &failure) != 0)
    print_message("# %s\n", failure.text);
  return object;
}

static uint64_t calls(const struct object *object) {
  const struct object_window *window;
  const struct window_snapshot *snapshot;
  struct reader *reader;
  uint64_t totals[2];
  assert_int_equal(object_windows(object, &window), 1);
  assert_int_equal(reader_open(&reader, window->ring_fd, window->epoch_fd,
                               window->cursor_fd, NULL),
                   0);
  assert_int_equal(reader_snapshot(reader, &snapshot, NULL), 0);
  window_total_at(snapshot, UINT64_MAX, totals);
  reader_close(&reader);
  return totals[0];
}

static void o1_an_object_counts_from_start_to_stop(void **state) {
  (void)state;
  struct object *object = start("tests/bpf/marked_calls");
  assert_non_null(object);
  assert_int_equal(object_origin(object), OBJECT_LOADED);
  place_marked_calls(1000);
  assert_int_equal(calls(object), 1000);
  object_stop(&object, false, NULL);
  assert_null(object);
  struct pins_record record;
  assert_int_equal(
      pins_read_record(pins_path(root), "marked", &record, &failure), -ENOENT);
}

static void o2_what_is_pinned_is_adopted_and_never_stopped(void **state) {
  (void)state;
  struct object *object = start("tests/bpf/marked_calls");
  place_marked_calls(10);
  object_stop(&object, true, NULL);
  place_marked_calls(20);
  object = start("tests/bpf/marked_calls");
  assert_non_null(object);
  assert_int_equal(object_origin(object), OBJECT_ADOPTED);
  place_marked_calls(30);
  assert_int_equal(calls(object), 60);
  object_stop(&object, false, NULL);
  place_marked_calls(1);
}

static void o3_other_programs_go_on_with_the_same_maps(void **state) {
  (void)state;
  struct object *object = start("tests/bpf/marked_calls");
  place_marked_calls(10);
  object_stop(&object, true, NULL);
  object = start("tests/bpf/marked_calls_again");
  assert_non_null(object);
  assert_int_equal(object_origin(object), OBJECT_UPGRADED);
  place_marked_calls(5); /* counted once: the old programs are gone */
  assert_int_equal(calls(object), 15);
  object_stop(&object, false, NULL);
}

static void o3_other_counters_get_new_maps(void **state) {
  (void)state;
  struct object *object = start("tests/bpf/marked_calls");
  place_marked_calls(10);
  object_stop(&object, true, NULL);
  object = start("tests/bpf/marked_calls_other");
  assert_non_null(object);
  assert_int_equal(object_origin(object), OBJECT_REPLACED);
  place_marked_calls(5);
  assert_int_equal(calls(object), 5);
  object_stop(&object, false, NULL);
}

/* What was dispatched of the old maps: its times hold for the new ones, its edge does
 * not, and a start that fails after all must find it as it was. */
static void o3_edges_of_new_maps_begin_behind_those_of_the_old(void **state) {
  (void)state;
  const struct object_window *window;
  const struct pins_edge before = {.wall_ns = 1764460800000000000,
                                   .edge = 777600,
                                   .lost_ns = 5,
                                   .late_events = 7};
  struct pins_edge edge;
  uint32_t zero = 0;
  struct object *object = start("tests/bpf/marked_calls");
  object_windows(object, &window);
  int old_fd = dup(window->edge_fd);
  assert_int_equal(bpf_map_update_elem(old_fd, &zero, &before, BPF_ANY), 0);
  object_stop(&object, true, NULL);
  object = start("tests/bpf/marked_calls_other");
  assert_int_equal(object_origin(object), OBJECT_REPLACED);
  object_windows(object, &window);
  assert_int_equal(bpf_map_lookup_elem(window->edge_fd, &zero, &edge), 0);
  assert_int_equal(edge.wall_ns, before.wall_ns);
  assert_int_equal(edge.edge, 0);
  assert_int_equal(edge.lost_ns, before.lost_ns);
  assert_int_equal(edge.late_events, before.late_events);
  assert_int_equal(bpf_map_lookup_elem(old_fd, &zero, &edge), 0);
  assert_memory_equal(&edge, &before, sizeof(edge));
  close(old_fd);
  object_stop(&object, false, NULL);
}

static void a_window_named_like_a_pin_is_adopted(void **state) {
  (void)state;
  struct object *object = start("tests/bpf/awkward_names");
  assert_non_null(object);
  place_marked_calls(10);
  object_stop(&object, true, NULL);
  object = start("tests/bpf/awkward_names");
  assert_non_null(object);
  assert_int_equal(object_origin(object), OBJECT_ADOPTED);
  assert_int_equal(calls(object), 10);
  object_stop(&object, false, NULL);
}

/* Pins of somebody else, or of a later version. */
static void pins_of_another_size_are_refused(void **state) {
  (void)state;
  char path[PINS_PATH_SIZE];
  struct object *object = start("tests/bpf/marked_calls");
  object_stop(&object, true, NULL);
  pins_object_path(pins_path(root), "marked", "marked" PINS_EDGE_SUFFIX, path);
  assert_int_equal(unlink(path), 0);
  int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "edge", 4, 4096, 1, NULL);
  assert_int_equal(bpf_obj_pin(fd, path), 0);
  close(fd);
  assert_null(start("tests/bpf/marked_calls"));
  assert_non_null(strstr(failure.text, "pins of another kind"));
  assert_int_equal(pins_remove(pins_path(root), "marked", &failure), 0);
}

static void
detached_programs_are_attached_again_to_the_same_maps(void **state) {
  (void)state;
  struct object *object = start("tests/bpf/marked_calls");
  place_marked_calls(10);
  object_stop(&object, true, NULL);
  char link[PINS_PATH_SIZE];
  pins_object_path(pins_path(root), "marked", PINS_LINK_PREFIX "on_call", link);
  assert_int_equal(unlink(link), 0);
  usleep(200000); /* the kernel detaches when it has the time */
  place_marked_calls(100);
  object = start("tests/bpf/marked_calls");
  assert_non_null(object);
  assert_int_equal(object_origin(object), OBJECT_REATTACHED);
  place_marked_calls(5);
  assert_int_equal(calls(object), 15);
  object_stop(&object, false, NULL);
}

static void pins_removed_meanwhile_are_made_again(void **state) {
  (void)state;
  struct object *object = start("tests/bpf/marked_calls");
  assert_int_equal(object_mend_pins(object, &failure), 0);
  place_marked_calls(10);
  assert_int_equal(pins_remove(pins_path(root), "marked", &failure), 0);
  place_marked_calls(10); /* our descriptors keep it attached */
  assert_int_equal(object_mend_pins(object, &failure), 1);
  object_stop(&object, true, NULL);
  place_marked_calls(10);
  object = start("tests/bpf/marked_calls");
  assert_int_equal(object_origin(object), OBJECT_ADOPTED);
  assert_int_equal(calls(object), 30);
  object_stop(&object, false, NULL);
}

/* The folder of all pins, whose lock another collectd could take. */
static void so_is_the_folder_of_pins(void **state) {
  (void)state;
  struct object *object = start("tests/bpf/marked_calls");
  struct pins_root *other;
  place_marked_calls(10);
  assert_int_equal(pins_remove(pins_path(root), "marked", &failure), 0);
  assert_int_equal(rmdir(pins_path(root)), 0);
  assert_int_equal(object_mend_pins(object, &failure), 1);
  assert_int_equal(object_mend_pins(object, &failure), 0);
  assert_int_equal(pins_open(&other, pins_path(root), &failure), -EBUSY);
  object_stop(&object, true, NULL);
  object = start("tests/bpf/marked_calls");
  assert_int_equal(object_origin(object), OBJECT_ADOPTED);
  assert_int_equal(calls(object), 10);
  object_stop(&object, false, NULL);
}

static void o4_frozen_maps_refuse_writes_and_go_on_counting(void **state) {
  (void)state;
  struct object *object = start("tests/bpf/marked_calls");
  const struct object_window *window;
  object_windows(object, &window);
  uint32_t zero = 0;
  static uint64_t bytes[4096];
  assert_int_equal(bpf_map_update_elem(window->ring_fd, &zero, bytes, BPF_ANY),
                   -EPERM);
  assert_int_equal(bpf_map_update_elem(window->epoch_fd, &zero, bytes, BPF_ANY),
                   -EPERM);
  assert_int_equal(
      bpf_map_update_elem(window->cursor_fd, &zero, bytes, BPF_ANY), -EPERM);
  place_marked_calls(42);
  assert_int_equal(calls(object), 42);
  object_stop(&object, false, NULL);
}

static void o5_a_failed_start_leaves_nothing(void **state) {
  (void)state;
  static const struct {
    const char *file, *says;
  } bad[] = {
      {"tests/bpf/no_window", "declares no window"},
      {"tests/bpf/torn_window", "lacks the map torn_epoch"},
      {"tests/bpf/awkward_names_colliding",
       "window cdn_edge would be pinned where cdn has another pin"},
      {"tests/bpf/missing", "cannot open the object file"},
      {"tests/bpf/over_the_limits_windows", "has over 16 windows"},
      {"tests/bpf/over_the_limits_name", "has over 56 characters"},
      {"tests/bpf/over_the_limits_programs", "the object has over 64 programs"},
      {"tests/bpf/over_the_limits_fronts", "an object has at most 8 fronts"},
      {"tests/bpf/over_the_limits_slots", "has 60 entries, a window 300"},
  };
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    assert_null(start(bad[i].file));
    assert_non_null(strstr(failure.text, bad[i].says));
    char path[PINS_PATH_SIZE];
    pins_object_path(pins_path(root), "marked", "", path);
    assert_int_not_equal(access(path, F_OK), 0);
  }
}

/* The counter would be another one: not a total, and with other types and ratios. */
static void a_misspelt_tag_is_refused_and_what_runs_goes_on(void **state) {
  (void)state;
  assert_null(start("tests/bpf/marked_calls_misspelt"));
  struct object *object = start("tests/bpf/marked_calls");
  place_marked_calls(10);
  object_stop(&object, true, NULL);
  assert_null(start("tests/bpf/marked_calls_misspelt"));
  char wanted[768];
  snprintf(wanted, sizeof(wanted),
           "%s: field calls of struct marked_stats has the tag "
           "\"bpf_window:totl\", which is not known there: it is misspelt, "
           "misplaced or of a newer version (known: total, hit, miss, log2)",
           place_object("tests/bpf/marked_calls_misspelt"));
  assert_string_equal(failure.text, wanted);
  place_marked_calls(10);
  object = start("tests/bpf/marked_calls");
  assert_int_equal(object_origin(object), OBJECT_ADOPTED);
  assert_int_equal(calls(object), 20);
  object_stop(&object, false, NULL);
}

static int visit_none(const char *pin, void *context) {
  (void)pin, (void)context;
  return 0;
}

static void paths_that_are_too_long_are_refused(void **state) {
  (void)state;
  char folder[PINS_PATH_SIZE];
  struct pins_record record;
  struct pins_root *other = NULL;
  memset(folder, 'x', sizeof(folder));
  memcpy(folder, "/sys/fs/bpf/", 12);
  folder[sizeof(folder) - 2] = '\0';
  assert_int_equal(pins_read_record(folder, "marked", &record, &failure),
                   -ENAMETOOLONG);
  assert_non_null(strstr(failure.text, "marked: name too long"));
  assert_int_equal(pins_remove(folder, "marked", &failure), -ENAMETOOLONG);
  assert_non_null(strstr(failure.text, "marked: name too long"));
  assert_int_equal(pins_for_each_pin(folder, "marked", visit_none, NULL),
                   -ENAMETOOLONG);
  assert_int_equal(pins_open(&other, folder, &failure), -EINVAL);
  assert_non_null(strstr(failure.text, "of at most 64 bytes"));
  assert_int_equal(pins_open(&other, "/sys/fs/bpf", &failure), -EINVAL);
  assert_non_null(strstr(failure.text, "the whole of a BPF file system"));
}

/* Not of this version, and of none: both are told apart from a failure. */
static void records_of_others_are_no_records(void **state) {
  (void)state;
  char path[PINS_PATH_SIZE];
  struct pins_record record = {.format = PINS_FORMAT + 1};
  uint32_t zero = 0, sizes[] = {sizeof(record), 8};
  for (int i = 0; i < 2; i++) {
    int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "record", 4, sizes[i], 1, NULL);
    assert_int_equal(bpf_map_update_elem(fd, &zero, &record, BPF_ANY), 0);
    pins_object_path(pins_path(root), "marked", "", path);
    assert_int_equal(mkdir(path, 0700), 0);
    pins_object_path(pins_path(root), "marked", PINS_RECORD, path);
    assert_int_equal(bpf_obj_pin(fd, path), 0);
    close(fd);
    struct pins_record read;
    assert_int_equal(
        pins_read_record(pins_path(root), "marked", &read, &failure), -EINVAL);
    assert_non_null(strstr(failure.text, "of another version"));
    struct object *object = start("tests/bpf/marked_calls");
    assert_non_null(object);
    assert_int_equal(object_origin(object), OBJECT_LOADED);
    object_stop(&object, false, NULL);
  }
}

static void a_file_that_is_no_object_is_refused(void **state) {
  (void)state;
  struct object *object = NULL;
  struct object_options options = {
      .name = "marked", .path = "/proc/self/exe", .pins = root};
  assert_true(object_start(&object, &options, &failure) < 0);
  assert_non_null(strstr(failure.text, "no BPF object"));
  options.path = "/dev/null";
  assert_true(object_start(&object, &options, &failure) < 0);
  assert_non_null(strstr(failure.text, "no regular file"));
  options.name = "no/name";
  assert_true(object_start(&object, &options, &failure) < 0);
  assert_non_null(strstr(failure.text, "cannot be the name"));
}

static void a_front_that_does_not_exist_is_named(void **state) {
  (void)state;
  struct object *object = NULL;
  struct object_options options = {.name = "marked",
                                   .path = place_object("bpf/inode_cache"),
                                   .pins = root,
                                   .front = "nonsense"};
  assert_true(object_start(&object, &options, &failure) < 0);
  assert_non_null(strstr(failure.text, "none of that name"));
}

static void without_pins_an_object_lives_with_its_process(void **state) {
  (void)state;
  struct object *object = NULL;
  struct object_options options = {
      .name = "marked", .path = place_object("tests/bpf/marked_calls")};
  assert_int_equal(object_start(&object, &options, &failure), 0);
  place_marked_calls(3);
  assert_int_equal(calls(object), 3);
  object_stop(&object, true, NULL);
}

static void p2_a_crash_between_record_and_rename_is_finished(void **state) {
  (void)state;
  struct object *object = start("tests/bpf/marked_calls");
  place_marked_calls(7);
  object_stop(&object, true, NULL);
  char whole[PINS_PATH_SIZE], staged[PINS_PATH_SIZE];
  pins_object_path(pins_path(root), "marked", "", whole);
  pins_staged_path(root, "marked", "", staged);
  assert_int_equal(rename(whole, staged), 0);
  pins_close(&root);
  assert_int_equal(open_root(NULL), 0);
  object = start("tests/bpf/marked_calls");
  assert_int_equal(object_origin(object), OBJECT_ADOPTED);
  assert_int_equal(calls(object), 7);
  object_stop(&object, false, NULL);
}

static void p2_an_unfinished_removal_is_finished(void **state) {
  (void)state;
  struct object *object = start("tests/bpf/marked_calls");
  object_stop(&object, true, NULL);
  char whole[PINS_PATH_SIZE], removed[PINS_PATH_SIZE];
  pins_object_path(pins_path(root), "marked", "", whole);
  pins_staged_path(root, "-marked", "", removed);
  assert_int_equal(rename(whole, removed), 0);
  pins_close(&root);
  assert_int_equal(open_root(NULL), 0);
  assert_int_not_equal(access(removed, F_OK), 0);
  assert_int_not_equal(access(whole, F_OK), 0);
}

static void p2_an_unfinished_staging_folder_is_removed(void **state) {
  (void)state;
  struct object *object = start("tests/bpf/marked_calls");
  object_stop(&object, true, NULL);
  char record[PINS_PATH_SIZE], whole[PINS_PATH_SIZE], staged[PINS_PATH_SIZE];
  pins_object_path(pins_path(root), "marked", PINS_RECORD, record);
  pins_object_path(pins_path(root), "marked", "", whole);
  pins_staged_path(root, "marked", "", staged);
  assert_int_equal(unlink(record), 0);
  assert_int_equal(rename(whole, staged), 0);
  pins_close(&root);
  assert_int_equal(open_root(NULL), 0);
  assert_int_not_equal(access(staged, F_OK), 0);
}

static void p2_what_is_not_ours_is_left_alone(void **state) {
  (void)state;
  char folder[PINS_PATH_SIZE], pin[PINS_PATH_SIZE];
  pins_object_path(pins_path(root), "of_another_agent", "", folder);
  pins_object_path(pins_path(root), "of_another_agent", "map", pin);
  assert_int_equal(mkdir(folder, 0700), 0);
  int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "theirs", 4, 8, 1, NULL);
  assert_int_equal(bpf_obj_pin(fd, pin), 0);
  close(fd);
  pins_close(&root);
  assert_int_equal(open_root(NULL), 0);
  assert_int_equal(access(pin, F_OK), 0);
  assert_int_equal(unlink(pin), 0);
  assert_int_equal(rmdir(folder), 0);
}

static void the_root_is_locked_and_the_second_is_told_by_whom(void **state) {
  (void)state;
  struct pins_root *second = NULL;
  char holder[64];
  assert_int_equal(pins_open(&second, pins_path(root), &failure), -EBUSY);
  snprintf(holder, sizeof(holder), "process %d (", getpid());
  assert_non_null(strstr(failure.text, holder));
  struct stat info;
  assert_int_equal(stat(pins_path(root), &info), 0);
  assert_int_equal(info.st_mode & 0777, 0700);
}

static void a_folder_elsewhere_is_no_place_for_pins(void **state) {
  (void)state;
  struct pins_root *other = NULL;
  assert_int_equal(pins_open(&other, "/tmp/bpf_window", &failure), -ENODEV);
  assert_non_null(strstr(failure.text, "choose a PinDir below /sys/fs/bpf"));
  assert_int_equal(pins_open(&other, "relative", &failure), -EINVAL);
}

static void nobody_is_told_which_capabilities_are_missing(void **state) {
  (void)state;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    struct object *object = NULL;
    struct object_options options = {
        .name = "marked", .path = place_object("tests/bpf/marked_calls")};
    if (setgid(65534) != 0 || setuid(65534) != 0)
      _exit(2);
    int status = object_start(&object, &options, &failure);
    ssize_t sent = write(ends[1], failure.text, strlen(failure.text) + 1);
    _exit(status < 0 && sent > 0 ? 0 : 1);
  }
  int status;
  char text[sizeof(failure.text)] = "";
  waitpid(child, &status, 0);
  assert_int_equal(status, 0);
  assert_true(read(ends[0], text, sizeof(text)) > 0);
  assert_non_null(strstr(text, "CAP_BPF and CAP_PERFMON"));
}

int main(void) {
  if (!place_can_load())
    return 77;
  object_log_libbpf(NULL);
  if (!place_pins()) {
    printf("# no bpffs can be mounted here\n");
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(o1_an_object_counts_from_start_to_stop),
      cmocka_unit_test(o2_what_is_pinned_is_adopted_and_never_stopped),
      cmocka_unit_test(o3_other_programs_go_on_with_the_same_maps),
      cmocka_unit_test(o3_other_counters_get_new_maps),
      cmocka_unit_test(detached_programs_are_attached_again_to_the_same_maps),
      cmocka_unit_test(o3_edges_of_new_maps_begin_behind_those_of_the_old),
      cmocka_unit_test(a_window_named_like_a_pin_is_adopted),
      cmocka_unit_test(pins_of_another_size_are_refused),
      cmocka_unit_test(p2_an_unfinished_removal_is_finished),
      cmocka_unit_test(pins_removed_meanwhile_are_made_again),
      cmocka_unit_test(o4_frozen_maps_refuse_writes_and_go_on_counting),
      cmocka_unit_test(so_is_the_folder_of_pins),
      cmocka_unit_test(o4_frozen_maps_refuse_writes_and_go_on_counting),
      cmocka_unit_test(o5_a_failed_start_leaves_nothing),
      cmocka_unit_test(a_misspelt_tag_is_refused_and_what_runs_goes_on),
      cmocka_unit_test(paths_that_are_too_long_are_refused),
      cmocka_unit_test(records_of_others_are_no_records),
      cmocka_unit_test(a_file_that_is_no_object_is_refused),
      cmocka_unit_test(a_front_that_does_not_exist_is_named),
      cmocka_unit_test(without_pins_an_object_lives_with_its_process),
      cmocka_unit_test(p2_a_crash_between_record_and_rename_is_finished),
      cmocka_unit_test(p2_an_unfinished_staging_folder_is_removed),
      cmocka_unit_test(p2_what_is_not_ours_is_left_alone),
      cmocka_unit_test(the_root_is_locked_and_the_second_is_told_by_whom),
      cmocka_unit_test(a_folder_elsewhere_is_no_place_for_pins),
      cmocka_unit_test(nobody_is_told_which_capabilities_are_missing),
  };
  return cmocka_run_group_tests_name("object", tests, open_root, close_root);
}
