/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include "result.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>

#include <bpf/libbpf.h>

uint64_t machine_tick_ns(void) {
  struct timespec resolution;
  clock_getres(CLOCK_MONOTONIC_COARSE, &resolution);
  return (uint64_t)resolution.tv_nsec;
}

uint64_t machine_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static cpu_set_t usable;

void machine_init(void) { sched_getaffinity(0, sizeof(usable), &usable); }

bool machine_take_priority(void) {
  struct sched_param parameters = {.sched_priority = 10};
  return sched_setscheduler(0, SCHED_FIFO, &parameters) == 0;
}

void machine_give_up_priority(void) {
  struct sched_param parameters = {.sched_priority = 0};
  sched_setscheduler(0, SCHED_OTHER, &parameters);
}

int machine_cpus(int cpus[MACHINE_MAX_CPUS]) {
  int count = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE && cpu < MACHINE_MAX_CPUS; cpu++)
    if (CPU_ISSET(cpu, &usable))
      cpus[count++] = cpu;
  return count;
}

void machine_pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof(set), &set);
}

void machine_unpin(void) { sched_setaffinity(0, sizeof(usable), &usable); }

long machine_preemptions(void) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

/* First line of a file, from behind the first occurrence of mark on. */
static const char *line_of(const char *path, const char *mark) {
  static char line[512];
  FILE *file = fopen(path, "r");
  const char *found = "unknown";
  while (file && fgets(line, sizeof(line), file)) {
    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, mark, strlen(mark)) == 0) {
      found = line + strlen(mark);
      found += strspn(found, "\t :");
      break;
    }
  }
  if (file)
    fclose(file);
  return found;
}

/* /sys/kernel/debug/sched/preempt marks the mode in use: "none (voluntary)". */
static const char *preemption(const struct utsname *kernel) {
  static char mode[32];
  const char *modes = line_of("/sys/kernel/debug/sched/preempt", "");
  const char *open = strchr(modes, '(');
  if (open && sscanf(open, "(%31[^)])", mode) == 1)
    return mode;
  return strstr(kernel->version, "PREEMPT_DYNAMIC") ? "dynamic, mode not known"
         : strstr(kernel->version, "PREEMPT")       ? "full"
                                                    : "none or voluntary";
}

void machine_report(void) {
  struct utsname kernel;
  int cpus[MACHINE_MAX_CPUS];
  uname(&kernel);
  result_fact("kernel", "%s %s", kernel.release, kernel.machine);
  result_fact("CPU", "%s", line_of("/proc/cpuinfo", "model name"));
  result_fact("CPUs usable", "%d", machine_cpus(cpus));
  result_fact("CPUs online", "%s",
              line_of("/sys/devices/system/cpu/online", ""));
  result_fact("CPUs possible", "%d", libbpf_num_possible_cpus());
  result_fact(
      "clock source", "%s",
      line_of(
          "/sys/devices/system/clocksource/clocksource0/current_clocksource",
          ""));
  result_fact("HZ", "%.0f", 1e9 / (double)machine_tick_ns());
  result_fact("preemption", "%s", preemption(&kernel));
  result_fact("BPF JIT", "enable %s",
              line_of("/proc/sys/net/core/bpf_jit_enable", ""));
  result_fact("BPF JIT hardening", "%s",
              line_of("/proc/sys/net/core/bpf_jit_harden", ""));
  result_fact(
      "mitigations", "%s",
      line_of("/sys/devices/system/cpu/vulnerabilities/spectre_v2", ""));
  result_fact("load", "%s", line_of("/proc/loadavg", ""));
}
