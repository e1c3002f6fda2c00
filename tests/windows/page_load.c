/* SPDX-License-Identifier: MIT */
/*
 * page_load FILE PAGES ACTION: does something to each page of a file, one after
 * the other, and is named "page-load" just while it does that.
 *
 *   drop        takes the pages out of the cache; exit status 1 if any stay
 *   write       writes the page
 *   write_read  the same, and reads it
 *   read        reads the page, without readahead
 *   stream      reads the page, with it
 *   fault       reads the page through a mapping, without readahead
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static void die(const char *what) {
  fprintf(stderr, "page_load: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void be_watched(int on) {
  if (prctl(PR_SET_NAME, on ? "page-load" : "other") != 0)
    die("name");
}

static int is_cached(int fd, size_t size, size_t pages) {
  unsigned char cached[pages];
  void *mapping = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
  if (mapping == MAP_FAILED || mincore(mapping, size, cached) != 0)
    die("mincore");
  munmap(mapping, size);
  for (size_t i = 0; i < pages; i++)
    if (cached[i] & 1)
      return 1;
  return 0;
}

static void write_page(int fd, size_t i, void *page, size_t page_size) {
  if (pwrite(fd, page, page_size, (off_t)(i * page_size)) < 0)
    die("write");
}

static void read_page(int fd, size_t i, void *page, size_t page_size) {
  if (pread(fd, page, page_size, (off_t)(i * page_size)) < 0)
    die("read");
}

int main(int count, char **argument) {
  if (count != 4)
    return 2;
  static char page[1 << 16];
  const char *action = argument[3];
  size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
  size_t pages = strtoul(argument[2], NULL, 10), size = pages * page_size;
  int fd = open(argument[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || page_size > sizeof(page))
    die(argument[1]);
  int advice =
      strcmp(action, "stream") == 0 ? POSIX_FADV_NORMAL : POSIX_FADV_RANDOM;
  if (posix_fadvise(fd, 0, 0, advice) != 0)
    die("advice");
  if (strcmp(action, "drop") == 0) {
    if (fsync(fd) != 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
      die("drop");
    return is_cached(fd, size, pages);
  }

  memset(page, 1, sizeof(page)); /* or this would fault below */
  bool writes = strstr(action, "write"), reads = strstr(action, "read");
  volatile char *mapping = NULL;
  if (strcmp(action, "fault") == 0) {
    mapping = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (mapping == MAP_FAILED ||
        madvise((void *)mapping, size, MADV_RANDOM) != 0)
      die("map");
  }
  be_watched(1);
  for (size_t i = 0; i < pages; i++) {
    if (writes)
      write_page(fd, i, page, page_size);
    if (reads || advice == POSIX_FADV_NORMAL)
      read_page(fd, i, page, page_size);
    if (mapping)
      (void)mapping[i * page_size];
  }
  be_watched(0);
  return 0;
}
