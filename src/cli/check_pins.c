/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <errno.h>
#include <string.h>

#include "object/pins.h"
#include "pin_dir.h"
#include "units.h"
#include "window/clock.h"
#include "window/reader.h"

struct pinned_object {
  struct check *check;
  const char *pin_dir, *object;
  unsigned windows, links;
};

static bool ends_with(const char *text, const char *suffix) {
  size_t length = strlen(text), ending = strlen(suffix);
  return length > ending && strcmp(text + length - ending, suffix) == 0;
}

static void check_window(struct pinned_object *pinned, const char *epoch_pin) {
  char path[PINS_PATH_SIZE];
  struct reader *reader = NULL;
  struct failure failure;
  pinned->windows++;
  if (pins_object_path(pinned->pin_dir, pinned->object, epoch_pin, path) != 0)
    return;
  path[strlen(path) - strlen("_epoch")] = '\0';
  if (reader_open_pinned(&reader, path, &failure) != 0)
    check_say(pinned->check, CHECK_PROBLEM, "pins",
              "%s: %s; `bpf-window detach --pin-dir %s %s` removes it", path,
              failure.text, pinned->pin_dir, pinned->object);
  reader_close(&reader);
}

static int visit_pin(const char *pin, void *context) {
  struct pinned_object *pinned = context;
  if (ends_with(pin, "_epoch"))
    check_window(pinned, pin);
  pinned->links +=
      strncmp(pin, PINS_LINK_PREFIX, strlen(PINS_LINK_PREFIX)) == 0;
  return 0;
}

static int visit_object(const char *object, void *context) {
  const struct pinned_object *all = context;
  struct pinned_object pinned = {all->check, all->pin_dir, object, 0, 0};
  struct pins_record record;
  struct failure failure;
  if (pins_read_record(all->pin_dir, object, &record, &failure) != 0) {
    check_say(
        all->check, CHECK_PROBLEM, "pins",
        "%s: %s; `bpf-window detach --pin-dir %s %s` removes what is left",
        object, failure.text, all->pin_dir, object);
    return 0;
  }
  pins_for_each_pin(all->pin_dir, object, visit_pin, &pinned);
  char date[UNITS_TEXT];
  units_date((int64_t)record.loaded_at * NS_PER_SECOND, date);
  if (pinned.links == 0)
    check_say(all->check, CHECK_PROBLEM, "pins",
              "%s: loaded %s, but no program is attached any more; "
              "`bpf-window detach --pin-dir %s %s`, then start collectd",
              object, date, all->pin_dir, object);
  else
    check_say(all->check, CHECK_OK, "pins",
              "%s: %u window%s, loaded %s from %s%s%s", object, pinned.windows,
              pinned.windows == 1 ? "" : "s", date, record.path,
              record.front[0] ? ", front " : "", record.front);
  return 0;
}

void check_pins(struct check *check, const char *pin_dir) {
  struct pinned_object all = {.check = check, .pin_dir = pin_dir};
  int status = pin_dir_readable(pin_dir);
  struct failure failure;
  if (status == -ENOENT) {
    check_say(check, CHECK_OK, "pins", "nothing is pinned below %s", pin_dir);
  } else if (status != 0) {
    pin_dir_unreadable(pin_dir, status, &failure);
    check_say(check, CHECK_PROBLEM, "pins", "%s", failure.text);
  } else {
    pins_for_each(pin_dir, visit_object, &all);
  }
}
