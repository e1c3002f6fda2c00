/* SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "cli.h"
#include "inventory.h"
#include "pin_dir.h"
#include "units.h"

static const char usage[] =
    "usage: bpf-window list [OPTION...]\n"
    "\n"
    "Every window on this machine: pinned ones, and those that only live "
    "inside a\n"
    "running program, whoever made them.\n"
    "\n"
    "  --json            as JSON; the names are explained in bpf-window(8)\n"
    "  --width DURATION  width of a bucket, for windows that do not tell "
    "it\n" PIN_DIR_HELP;

/* ---- Who uses a window ---- */

static bool uses(const struct inventory_window *window,
                 const struct census_program *program) {
  return census_program_uses(program, window->found.ring_id);
}

/* Whether a process has a descriptor of the window's ring or programs. */
static bool holds(const struct inventory *inventory,
                  const struct inventory_window *window,
                  const struct census_holder *holder) {
  if (holder->map_id)
    return holder->map_id == window->found.ring_id;
  for (size_t i = 0; i < inventory->census->program_count; i++)
    if (inventory->census->programs[i].id == holder->program_id)
      return uses(window, &inventory->census->programs[i]);
  return false;
}

/* The holders are in the order of their processes: is this another one? */
static bool is_new_process(const struct census *census, size_t holder,
                           int last) {
  return census->holders[holder].pid != last;
}

/* ---- Text ---- */

static void print_programs(const struct inventory *inventory,
                           const struct inventory_window *window) {
  for (size_t i = 0; i < inventory->census->program_count; i++) {
    const struct census_program *program = &inventory->census->programs[i];
    if (uses(window, program))
      printf("  %-9s %s by %s (id %u)\n", "hook", program->hook, program->name,
             program->id);
  }
}

static void print_holders(const struct inventory *inventory,
                          const struct inventory_window *window) {
  int last = 0;
  for (size_t i = 0; i < inventory->census->holder_count; i++) {
    const struct census_holder *holder = &inventory->census->holders[i];
    if (!is_new_process(inventory->census, i, last) ||
        !holds(inventory, window, holder))
      continue;
    printf("  %-9s %s (pid %d)\n", "held by", holder->command, holder->pid);
    last = holder->pid;
  }
}

static void print_counters(const struct bpf_window_epoch *record) {
  int column = 12;
  printf("  %-9s", "counters");
  for (uint32_t c = 0; c < record->counters; c++) {
    int length = (int)strlen(record->counter[c].name);
    if (column + 1 + length > 79)
      column = 12 - printf("\n%11s", "") + 12;
    printf(" %s", record->counter[c].name);
    column += 1 + length;
  }
  putchar('\n');
}

static void print_window(const struct inventory *inventory,
                         const struct inventory_window *window) {
  const struct discover_window *found = &window->found;
  char count[UNITS_TEXT], age[UNITS_TEXT], bytes[UNITS_TEXT];
  printf("%s (id:%u)\n", found->name, found->ring_id);
  if (found->problem[0])
    printf("  %-9s %s\n", "problem", found->problem);
  if (window->activity_known)
    printf("  %-9s %s events in the last %.6g s; %s old\n", "activity",
           units_count(window->recent_events, count),
           (double)window->recent_ns / 1e9,
           units_age(window->age_seconds, age));
  if (found->record.counters)
    print_counters(&found->record);
  if (window->pin[0])
    printf("  %-9s %s\n", "pinned", window->pin);
  if (inventory->census) {
    print_programs(inventory, window);
    print_holders(inventory, window);
    printf("  %-9s %s of kernel memory%s\n", "memory",
           units_bytes(found->bytes, bytes),
           found->cursor_id ? "" : "; no cursor, so no totals since load");
  }
}

static void print_text(const struct inventory *inventory) {
  for (size_t i = 0; i < inventory->count; i++) {
    if (i > 0)
      putchar('\n');
    print_window(inventory, &inventory->windows[i]);
  }
  if (inventory->count == 0)
    puts(inventory->census ? "There is no window on this machine."
                           : "No window is pinned there.");
}

/* ---- JSON ---- */

static json_t *programs_json(const struct inventory *inventory,
                             const struct inventory_window *window) {
  json_t *programs = json_array();
  for (size_t i = 0; inventory->census && i < inventory->census->program_count;
       i++) {
    const struct census_program *program = &inventory->census->programs[i];
    if (uses(window, program))
      json_array_append_new(
          programs, json_pack("{s:i, s:s, s:s}", "id", (int)program->id, "name",
                              program->name, "hook", program->hook));
  }
  return programs;
}

static json_t *processes_json(const struct inventory *inventory,
                              const struct inventory_window *window) {
  json_t *processes = json_array();
  int last = 0;
  for (size_t i = 0; inventory->census && i < inventory->census->holder_count;
       i++) {
    const struct census_holder *holder = &inventory->census->holders[i];
    if (!is_new_process(inventory->census, i, last) ||
        !holds(inventory, window, holder))
      continue;
    json_array_append_new(processes, json_pack("{s:i, s:s}", "pid", holder->pid,
                                               "command", holder->command));
    last = holder->pid;
  }
  return processes;
}

static json_t *window_json(const struct inventory *inventory,
                           const struct inventory_window *window) {
  const struct discover_window *found = &window->found;
  json_t *counters = json_array();
  for (uint32_t c = 0; c < found->record.counters; c++)
    json_array_append_new(counters, json_string(found->record.counter[c].name));
  return json_pack(
      "{s:s, s:i, s:s?, s:s?, s:o, s:o, s:o, s:I, s:b, s:o, s:o}", "window",
      found->name, "map_id", (int)found->ring_id, "pin",
      window->pin[0] ? window->pin : NULL, "problem",
      found->problem[0] ? found->problem : NULL, "counters", counters,
      "age_seconds",
      window->activity_known ? json_integer((json_int_t)window->age_seconds)
                             : json_null(),
      "events_last_10_s",
      window->activity_known && window->recent_ns == INVENTORY_RECENT_NS
          ? json_integer((json_int_t)window->recent_events)
          : json_null(),
      "bytes", (json_int_t)found->bytes, "totals", found->cursor_id != 0,
      "programs", programs_json(inventory, window), "processes",
      processes_json(inventory, window));
}

static void print_json(const struct inventory *inventory) {
  json_t *windows = json_array();
  for (size_t i = 0; i < inventory->count; i++)
    json_array_append_new(windows,
                          window_json(inventory, &inventory->windows[i]));
  json_dumpf(windows, stdout, JSON_INDENT(1));
  putchar('\n');
  json_decref(windows);
}

/* ---- The verb ---- */

int list_main(int argc, char **argv) {
  static const struct option known[] = {
      {"json", no_argument, NULL, 'j'},
      {"width", required_argument, NULL, 'w'},
      {"pin-dir", required_argument, NULL, 'p'},
      {"help", no_argument, NULL, 'h'},
      {0}};
  const char *pin_dir = NULL;
  int64_t width_ns = 0;
  bool json = false;
  int option;
  while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
    switch (option) {
    case 'j':
      json = true;
      break;
    case 'w':
      if (!units_parse_duration(optarg, &width_ns))
        return complain_usage("list", "--width %s: no duration like 1s",
                              optarg);
      break;
    case 'p':
      pin_dir = optarg;
      break;
    case 'h':
      fputs(usage, stdout);
      return CLI_OK;
    default:
      return complain_usage("list", NULL);
    }
  }
  if (optind < argc)
    return complain_usage("list", "it takes no window; `show` does");

  struct inventory inventory;
  struct failure failure;
  if (inventory_take(&inventory, pin_dir_for_reading(pin_dir),
                     (uint64_t)width_ns, &failure) != 0) {
    complain("list", "%s", failure.text);
    return CLI_PROBLEM;
  }
  (json ? print_json : print_text)(&inventory);
  if (!inventory.census)
    complain("list", "only pinned windows are listed: to look into running "
                     "programs needs CAP_SYS_ADMIN");
  inventory_free(&inventory);
  return CLI_OK;
}
