/* SPDX-License-Identifier: MIT */
/*
 * Every call that can fail does so once, in each part of do_part.c: it ends in one line
 * that names the cause, or changes nothing; done again it succeeds; and no pins are left
 * that nobody owns.
 */
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

static bool never(const char *name, void *context) {
  (void)name, (void)context;
  return false;
}

static void clear(void) {
  struct pins_root *root = NULL;
  if (pins_open(&root, pins, NULL) == 0)
    pins_forget_watches(root, never, NULL);
  pins_close(&root);
  place_clear();
}

struct part {
  const char *argument[4];
  struct fault_outcome whole;
};

static bool one_call(const struct fault *fault, void *context) {
  const struct part *part = context;
  struct fault_outcome faulty = fault_run(part->argument, fault);
  if (!faulty.struck)
    return false;
  bool good = WIFEXITED(faulty.status) && WEXITSTATUS(faulty.status) <= 1 &&
              strcmp(faulty.printed, part->whole.printed) == 0;
  if (!good)
    print_message("# call %d of %s: status %#x, prints %s, says %s\n",
                  fault->nth, fault->call, faulty.status, faulty.printed,
                  faulty.text);
  assert_true(good);
  if (WEXITSTATUS(faulty.status) == 1)
    fault_check_text(&faulty, fault->error);
  else
    assert_string_equal(faulty.text, "");
  char staged[PINS_PATH_SIZE];
  pins_object_path(pins, PINS_STAGING_PREFIX "marked", "", staged);
  assert_int_not_equal(access(staged, F_OK), 0);
  clear();
  return true;
}

static int clear_all(void **state) {
  (void)state;
  clear();
  return 0;
}

static void each_call_fails_once(void **state) {
  struct part part = {{"do_part", *state, pins, NULL}, {0}};
  part.whole = fault_run(part.argument, &(struct fault){0});
  clear();
  if (WIFEXITED(part.whole.status) && WEXITSTATUS(part.whole.status) == 77) {
    print_message("# %s", part.whole.printed);
    skip();
  }
  if (part.whole.status != 0)
    print_message("# it says: %s\n", part.whole.text);
  assert_int_equal(part.whole.status, 0);
  struct fault_counts *counts = fault_count(part.argument, true);
  clear();
  assert_true(fault_each_call(counts, one_call, &part) > 0);
}

#define PART(name)                                                             \
  {                                                                            \
#name "_with_each_call_failing_once", each_call_fails_once, NULL,          \
        clear_all, (void *)#name                                               \
  }

/* test_parts [PATTERN]: all parts, or those whose names match. */
int main(int count, char **argument) {
  if (count > 1)
    cmocka_set_test_filter(argument[1]);
  if (!place_can_load())
    return 77;
  if (!place_pins()) {
    printf("# no bpffs can be mounted here\n");
    return 77;
  }
  snprintf(pins, sizeof(pins), "%s", place_pins());
  const struct CMUnitTest tests[] = {
      PART(mend),        PART(drop),    PART(watch),
      PART(watch_again), PART(install), PART(uninstall),
      PART(read_rules),  PART(mark),    PART(read_file),
      PART(walk),        PART(locate),  PART(locate_by_programs),
      PART(count_runs),  PART(hook),    PART(inspect),
      PART(follow),      PART(own),
  };
  return cmocka_run_group_tests_name("parts", tests, NULL, NULL);
}
