/* SPDX-License-Identifier: MIT */
/* Errors of the kernel that mean something else than a failure: each is told by what it
 * means, with the remedy, or got around. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../bpf/place.h"
#include "fault.h"
#include "object/pins.h"

static char pins[64];

static int clear(void **state) {
  (void)state;
  place_clear();
  return 0;
}

/* A row is a part of do_part.c, or the start of an object. */
static const struct row {
  const char *part; /* NULL: start_object */
  const char *call;
  int nth, error;
  int status; /* exit status: 0 if it does without */
  const char *says;
} rows[] = {
    {NULL, "bpf_object__load", 1, EPERM, 1,
     "loading is not permitted: this kernel"},
    {NULL, "bpf_object__load", 1, ENOENT, 1,
     "lacks what the program is to be attached to"},
    {NULL, "bpf_object__load", 1, ESRCH, 1,
     "lacks what the program is to be attached to"},
    {NULL, "bpf_program__attach", 1, EPERM, 1,
     "attaching on_call is not permitted: this kernel"},
    /* Of a type that somebody else attaches. */
    {NULL, "bpf_program__attach", 1, EOPNOTSUPP, 0, ""},
    {NULL, "flock", 1, EWOULDBLOCK, 1,
     "is in use by another process; stop that, or set another PinDir"},
    {NULL, "mkdir", 1, EACCES, 1, "cannot make the folder"},
    {NULL, "open", 2, ENOENT, 1, "cannot open the object file"},
    {NULL, "open", 1, EMFILE, 1, "Too many open files"},
    /* A kernel that reads no per-CPU arrays in batches. */
    {NULL, "bpf_map_lookup_batch", 1, EINVAL, 0, ""},
    {NULL, "bpf_map_lookup_batch", 1, ENOTSUP, 0, ""},
    {NULL, "bpf_map_lookup_batch", 1, 524, 0, ""},
    {"walk", "bpf_prog_get_next_id", 1, EPERM, 1,
     "it needs CAP_SYS_ADMIN (run as root)"},
    {"walk", "bpf_map_get_next_id", 1, EPERM, 1,
     "cannot walk the kernel's maps"},
    /* Gone since it was seen. */
    {"walk", "bpf_prog_get_fd_by_id", 1, ENOENT, 0, ""},
    {"walk", "bpf_link_get_fd_by_id", 1, ENOENT, 0, ""},
    {"walk", "bpf_map_get_fd_by_id_opts", 1, ENOENT, 0, ""},
    {"locate", "bpf_obj_get_opts", 1, EPERM, 1,
     "(needs root, or CAP_BPF and access to the folder)"},
    {"locate", "bpf_obj_get_opts", 1, EACCES, 1,
     "(needs root, or CAP_BPF and access to the folder)"},
    {"locate_by_programs", "bpf_prog_get_next_id", 1, EPERM, 1,
     "it needs CAP_SYS_ADMIN (run as root)"},
    {"read_rules", "bpf_obj_get_opts", 1, EACCES, 1, "(run as root)"},
    {"read_rules", "bpf_map_get_fd_by_id", 1, EPERM, 1,
     "(needs CAP_SYS_ADMIN: run as root)"},
    /* Replaced by others since: read again. */
    {"read_rules", "bpf_map_get_fd_by_id", 1, ENOENT, 0, ""},
    {"hook", "bpf_enable_stats", 1, EPERM, 1, "whether it runs cannot be told"},
    {"mend", "bpf_obj_pin", 1, EEXIST, 1, "cannot pin"},
    {"follow", "bpf_obj_get_opts", 1, EACCES, 1, "cannot open the pin"},
};

static void an_error_is_told_by_what_it_means(void **state) {
  int wrong = 0;
  (void)state;
  for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
    const struct row *row = &rows[i];
    const char *part[] = {"do_part", row->part, pins, NULL};
    const char *start[] = {"start_object", pins, "tests/bpf/marked_calls", "0",
                           NULL};
    struct fault fault = {row->nth, "fail", row->call, row->error,
                          row->part != NULL};
    struct fault_outcome outcome = fault_run(row->part ? part : start, &fault);
    bool good = outcome.struck && WIFEXITED(outcome.status) &&
                WEXITSTATUS(outcome.status) == row->status &&
                strstr(outcome.text, row->says) &&
                (row->status != 0 || outcome.text[0] == '\0');
    if (!good)
      print_message("# %s of %s as error %d: status %#x, says %s\n", row->call,
                    row->part ? row->part : "a start", row->error,
                    outcome.status, outcome.text);
    wrong += !good;
    clear(NULL);
  }
  assert_int_equal(wrong, 0);
}

int main(void) {
  if (!place_can_load_unmarked())
    return 77;
  if (!place_pins()) {
    printf("# no bpffs can be mounted here\n");
    return 77;
  }
  snprintf(pins, sizeof(pins), "%s", place_pins());
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(an_error_is_told_by_what_it_means, clear),
  };
  return cmocka_run_group_tests_name("errors", tests, NULL, NULL);
}
