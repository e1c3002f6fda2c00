/* SPDX-License-Identifier: MIT */
/* uring.c - one open through io_uring, without a library */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cases.h"

static void *map_ring(int ring, size_t size, off_t offset) {
  void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                  ring, offset);
  if (at == MAP_FAILED)
    fail("cannot map an io_uring: %m");
  return at;
}

int uring_open(const char *path, bool by_worker) {
  struct io_uring_params p = {0};
  int ring = syscall(SYS_io_uring_setup, 1, &p);
  if (ring < 0)
    skip("no io_uring: %m");
  char *queue = map_ring(ring, p.sq_off.array + p.sq_entries * sizeof(uint32_t),
                         IORING_OFF_SQ_RING);
  char *done =
      map_ring(ring, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe),
               IORING_OFF_CQ_RING);
  struct io_uring_sqe *entry =
      map_ring(ring, p.sq_entries * sizeof(*entry), IORING_OFF_SQES);
  *entry = (struct io_uring_sqe){
      .opcode = IORING_OP_OPENAT,
      .flags = by_worker ? IOSQE_ASYNC : 0,
      .fd = AT_FDCWD,
      .addr = (uintptr_t)path,
      .open_flags = O_RDONLY | O_CLOEXEC,
  };
  uint32_t *tail = (uint32_t *)(queue + p.sq_off.tail);
  ((uint32_t *)(queue + p.sq_off.array))[0] = 0;
  __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
  if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) <
      0)
    fail("io_uring_enter: %m");
  int result = ((struct io_uring_cqe *)(done + p.cq_off.cqes))[0].res;
  close(ring);
  return result;
}
