/* SPDX-License-Identifier: MIT */
#include "environment.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "object/census.h"
#include "object/pins.h"
#include "object/probe.h"

static void set(json_t *environment, const char *key, const char *text) {
  if (text[0])
    json_object_set_new(environment, key, json_string(text));
}

static void read_line(const char *path, char *line, size_t size) {
  FILE *file = fopen(path, "re");
  line[0] = '\0';
  if (file && !fgets(line, (int)size, file))
    line[0] = '\0';
  line[strcspn(line, "\n")] = '\0';
  if (file)
    fclose(file);
}

static void add_kernel(json_t *environment) {
  struct utsname name;
  struct probe_kernel kernel;
  char text[256], clock[64];
  probe_kernel(&kernel);
  if (uname(&name) == 0) {
    set(environment, "host", name.nodename);
    set(environment, "kernel", name.release);
    set(environment, "kernel_build", name.version);
    set(environment, "architecture", name.machine);
  }
  read_line("/sys/kernel/debug/sched/preempt", text, sizeof(text));
  set(environment, "preemption", text);
  snprintf(text, sizeof(text), "%ld online", sysconf(_SC_NPROCESSORS_ONLN));
  set(environment, "cpus", text);
  read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource",
            clock, sizeof(clock));
  set(environment, "clocksource", clock);
  set(environment, "security_modules", kernel.lsm_list);
  set(environment, "lockdown", kernel.lockdown);
  set(environment, "bpf_window", BPF_WINDOW_VERSION);
  set(environment, "libbpf", probe_libbpf_version());
}

static void add_record(json_t *environment, const char *pin_dir,
                       const char *object) {
  struct pins_record record;
  if (!object[0] || pins_read_record(pin_dir, object, &record, NULL) != 0)
    return;
  set(environment, "object_file", record.path);
  set(environment, "front", record.front);
  set(environment, "front_because", record.reason);
}

static void add_programs(json_t *environment, unsigned ring_id) {
  struct census *census;
  if (ring_id == 0 || census_take(&census, NULL, NULL) != 0)
    return;
  json_t *programs = json_array();
  for (size_t i = 0; i < census->program_count; i++) {
    const struct census_program *program = &census->programs[i];
    if (!census_program_uses(program, ring_id))
      continue;
    json_array_append_new(
        programs,
        json_pack("{s:i, s:s, s:s, s:o, s:o}", "id", (int)program->id, "name",
                  program->name, "hook", program->hook, "runs",
                  program->runs ? json_integer((json_int_t)program->runs)
                                : json_null(),
                  "ns_per_run",
                  program->runs ? json_real((double)program->run_ns /
                                            (double)program->runs)
                                : json_null()));
  }
  json_object_set_new(environment, "programs", programs);
  census_free(&census);
}

json_t *environment_json(const char *object, const char *pin_dir,
                         unsigned ring_id) {
  json_t *environment = json_object();
  add_kernel(environment);
  add_record(environment, pin_dir, object);
  add_programs(environment, ring_id);
  return environment;
}
