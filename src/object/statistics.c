/* SPDX-License-Identifier: MIT */
#include "statistics.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "parts.h"
#include "probe.h"

static bool add_program(int link_fd, struct object_statistics *statistics) {
  struct bpf_link_info link = {0};
  struct bpf_prog_info program = {0};
  uint32_t link_size = sizeof(link), program_size = sizeof(program);
  if (bpf_obj_get_info_by_fd(link_fd, &link, &link_size) != 0)
    return false;
  statistics->programs++;
  int fd = bpf_prog_get_fd_by_id(link.prog_id);
  if (fd < 0)
    return false;
  bool known = bpf_obj_get_info_by_fd(fd, &program, &program_size) == 0;
  close(fd);
  statistics->runs += program.run_cnt;
  statistics->run_ns += program.run_time_ns;
  statistics->recursion_misses += program.recursion_misses;
  return known;
}

void object_statistics(const struct object *object,
                       struct object_statistics *statistics) {
  *statistics = (struct object_statistics){.runs_known = object->links > 0};
  for (unsigned i = 0; i < object->links; i++)
    statistics->runs_known &= add_program(object->link[i].fd, statistics);
  for (unsigned i = 0; i < object->windows; i++) {
    const struct object_window *window = &object->window[i];
    statistics->map_bytes += probe_map_bytes(window->ring_fd) +
                             probe_map_bytes(window->epoch_fd) +
                             probe_map_bytes(window->cursor_fd);
  }
}

int object_count_runs(struct failure *failure) {
  int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
  return fd >= 0
             ? fd
             : failure_set(failure, fd,
                           "the kernel does not count runs of programs: %s%s",
                           strerror(-fd),
                           fd == -EPERM ? " (it needs CAP_SYS_ADMIN)" : "");
}
