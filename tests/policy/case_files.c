/* SPDX-License-Identifier: MIT */
/* case_files.c - odd files, and odd ways to open */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "expect.h"

static void path_only_then_opened(void) {
  make_file("secret/f");
  watch_me();
  int fd = must(open("secret/f", O_PATH));
  if (was_seen())
    fail("O_PATH is taken for an open");
  expect(text("/proc/self/fd/%d", fd), FILE_DENY);
  warm(text("/proc/self/fd/%d", fd), FILE_DENY);
}

static void memfd(void) {
  watch_me();
  int fd = must(memfd_create("policy", 0));
  must(open(text("/proc/self/fd/%d", fd), O_RDONLY));
  expect_skipped("a memfd", 1);
}

static void anonymous_pipe(void) {
  int ends[2];
  watch_me();
  must(pipe(ends));
  must(open(text("/proc/self/fd/%d", ends[0]), O_RDONLY | O_NONBLOCK));
  expect_skipped("a pipe", 1);
}

static void namespace_file(void) {
  watch_me();
  must(open("/proc/self/ns/mnt", O_RDONLY));
  expect_skipped("a namespace's file", 1);
}

static void sockets(void) {
  struct sockaddr_un name = {.sun_family = AF_UNIX,
                             .sun_path = "secret/socket"};
  watch_me();
  int fd = must(socket(AF_UNIX, SOCK_STREAM, 0));
  must(bind(fd, (struct sockaddr *)&name, sizeof(name)));
  if (was_seen())
    fail("a socket is taken for an open");
}

static void named_pipe(void) {
  must(mkfifo("secret/fifo", 0600));
  expect("secret/fifo", FILE_DENY);
  warm("secret/fifo", FILE_DENY);
}

static void symbolic_link(void) {
  make_file("secret/f");
  must(symlink("../secret/f", "plain/link"));
  expect("plain/link", FILE_DENY);
  warm("plain/link", FILE_DENY);
}

static void folder_itself(void) {
  make_folder("secret/d");
  expect("secret", FILE_DENY);
  warm("secret", FILE_DENY);
  warm("secret/d", FILE_DENY);
  must(rename("secret/d", "plain/d"));
  expect("plain/d", FILE_NO_POLICY);
}

static void proc_self(void) {
  expect("/proc/self/status", FILE_NO_POLICY);
  expect("/proc/thread-self/status", FILE_NO_POLICY);
}

static void device(void) { warm("/dev/null", FILE_NO_POLICY); }

/* Runs a program in a child whose opens are watched. */
static void run_watched(int (*run)(const void *), const void *argument) {
  pid_t child = must(fork());
  if (child == 0) {
    watch_me();
    run(argument);
    _exit(127);
  }
  int status;
  must(waitpid(child, &status, 0));
  if (!WIFEXITED(status) || WEXITSTATUS(status) == 127)
    fail("the program does not run");
}

static int run_path(const void *path) {
  return execl(path, "true", (char *)NULL);
}

static int run_descriptor(const void *fd) {
  char name[] = "true", *arguments[] = {name, NULL}, *environment[] = {NULL};
  return syscall(SYS_execveat, *(const int *)fd, "", arguments, environment,
                 AT_EMPTY_PATH);
}

static void copy_program(int to) {
  struct stat status;
  int from = must(open("/bin/true", O_RDONLY));
  must(fstat(from, &status));
  if (sendfile(to, from, NULL, status.st_size) != status.st_size)
    fail("cannot copy /bin/true");
  close(from);
}

static void needs_exec_seen(void) {
  if (front_is("syscall"))
    skip("exec is no system call that opens");
}

static void program_run(void) {
  needs_exec_seen();
  int fd = must(open("secret/true", O_CREAT | O_WRONLY, 0755));
  copy_program(fd);
  close(fd);
  for (int i = 0; i < 2; i++) {
    run_watched(run_path, "secret/true");
    if (!watch_state().events || watch_event(0).verdict != FILE_DENY)
      fail("exec of secret/true: %u events, the first of verdict %u",
           watch_state().events, watch_event(0).verdict);
  }
}

static void memfd_run(void) {
  needs_exec_seen();
  int fd = must(memfd_create("policy", 0));
  copy_program(fd);
  run_watched(run_descriptor, &fd);
  if (!watch_state().events || watch_event(0).kind != WATCHED_SKIPPED)
    fail("execveat of a memfd: %u events, the first of kind %u",
         watch_state().events, watch_event(0).kind);
}

static void opened_by_uring(bool by_worker) {
  make_file("secret/f");
  for (int i = 0; i < 2; i++) {
    watch_me();
    int fd = uring_open("secret/f", by_worker);
    if (fd < 0)
      fail("cannot open through io_uring: %s", strerror(-fd));
    if (!front_is("syscall"))
      expect_event("secret/f through io_uring", fd, FILE_DENY);
    else if (was_seen())
      fail("the syscall front sees io_uring, against its documentation");
    close(fd);
  }
}

static void uring_inline(void) { opened_by_uring(false); }
static void uring_worker(void) { opened_by_uring(true); }

static void opened_by_a_32_bit_call(void) {
  make_file("secret/f");
  compat_call(5 /* open */, "secret/f", NULL);
  expect_event("secret/f by a 32-bit call", -1, FILE_DENY);
}

static void by_handle(void) {
  union {
    struct file_handle handle;
    char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
  } named = {.handle.handle_bytes = MAX_HANDLE_SZ};
  int mount_id;
  make_file("secret/f");
  warm("secret/f", FILE_DENY);
  if (name_to_handle_at(AT_FDCWD, "secret/f", &named.handle, &mount_id, 0) < 0)
    skip("no file handles on this file system: %m");
  int folder = must(open(".", O_RDONLY | O_DIRECTORY));
  watch_me();
  int fd = must(open_by_handle_at(folder, &named.handle, O_RDONLY));
  expect_event("secret/f by handle", fd, FILE_DENY);
  close(fd);

  drop_dentries();
  watch_me();
  fd = must(open_by_handle_at(folder, &named.handle, O_RDONLY));
  /* Nothing knows its name now, unless the file system keeps all names in
   * memory. */
  struct watched_event event = watch_event(0);
  if (event.unkept == UNKEPT_UNREACHABLE)
    expect_event("file without a known name", -1, FILE_NO_POLICY);
  else
    expect_event("secret/f by handle, caches dropped", fd, FILE_DENY);
  expect("secret/f", FILE_DENY);
}

const struct tap_case file_cases[] = {
    {"O_PATH, then opened by descriptor", path_only_then_opened},
    {"memfd", memfd},
    {"pipe", anonymous_pipe},
    {"namespace file", namespace_file},
    {"socket", sockets},
    {"named pipe", named_pipe},
    {"symbolic link", symbolic_link},
    {"folder itself", folder_itself},
    {"/proc/self", proc_self},
    {"device", device},
    {"open by a 32-bit call", opened_by_a_32_bit_call},
    {"exec", program_run},
    {"execveat of a memfd", memfd_run},
    {"io_uring, at once", uring_inline},
    {"io_uring, by a worker", uring_worker},
    {"open_by_handle_at, before and behind dropped caches", by_handle},
    {NULL, NULL},
};
