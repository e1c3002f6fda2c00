/* SPDX-License-Identifier: MIT */
/* compat.c - one 32-bit system call */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "expect.h"

/* Pointers of such a call have 32 bits. */
static char *copy_low(const char *string) {
  char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  if (low == MAP_FAILED)
    fail("no memory below 4 GiB: %m");
  return strcpy(low, string);
}

void compat_call(long number, const char *first, const char *second) {
  char *low_first = copy_low(first);
  char *low_second = second ? copy_low(second) : NULL;
  pid_t child = must(fork());
  if (child == 0) { /* a kernel without such calls kills it */
    long result;
    watch_me();
    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "a"(number), "b"(low_first), "c"(low_second), "d"(0L)
                     : "memory", "r8", "r9", "r10", "r11");
    _exit((int)result >= 0 ? 0 : 1);
  }
  int status;
  must(waitpid(child, &status, 0));
  if (WIFSIGNALED(status))
    skip("this kernel runs no 32-bit system calls");
  if (status != 0)
    fail("32-bit system call %ld fails", number);
}
