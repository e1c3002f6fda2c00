/* SPDX-License-Identifier: MIT */
#include "expect.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

/* A machine at work renames, which empties the cache; patience, then. */
#define TRIES 500

static const char *const verdicts[] = {"no_policy", "allow", "deny"};
static const char *const reasons[] = {"kept",     "no_room",   "no_sequence",
                                      "raced",    "too_deep",  "unreachable",
                                      "unhashed", "hardlinked"};

const struct policy *expect_rules(void) {
  static struct policy *policy;
  if (policy)
    return policy;
  struct failure failure;
  if (policy_new(&policy) != 0 ||
      policy_add(policy, FILE_DENY, BASE "/secret/", "test", &failure) != 0 ||
      policy_add(policy, FILE_ALLOW, BASE "/ok/", "test", &failure) != 0 ||
      policy_add(policy, FILE_DENY, BASE "/exact", "test", &failure) != 0 ||
      policy_add(policy, FILE_ALLOW, BASE "/secret/allowed", "test",
                 &failure) != 0)
    fail("%s", failure.text);
  return policy;
}

const char *text(const char *format, ...) {
  static char buffer[8][512];
  static unsigned next;
  char *at = buffer[next++ % 8];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(at, sizeof(buffer[0]), format, arguments);
  va_end(arguments);
  return at;
}

void make_file(const char *path) {
  int fd = must(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  must(write(fd, "x", 1));
  close(fd);
}

void make_folder(const char *path) { must(mkdir(path, 0755)); }

/* The newest event since watch_me that was no skip; how many there were. */
static unsigned events(struct watched_event *newest) {
  unsigned seen = 0, all = watch_state().events;
  for (unsigned i = 0; i < all; i++) {
    struct watched_event event = watch_event(i);
    if (event.kind == WATCHED_SKIPPED)
      continue;
    *newest = event;
    seen++;
  }
  return seen;
}

bool was_seen(void) {
  struct watched_event event;
  return events(&event) > 0;
}

static void check_path(const char *what, int fd,
                       const struct watched_event *event) {
  char link[64], path[8192];
  if (fd < 0 || !event->path[0])
    return;
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof(path) - 1);
  if (length < 0)
    return; /* chrooted: there is no /proc */
  path[length] = '\0';
  char *deleted = strstr(path, " (deleted)");
  if (deleted)
    *deleted = '\0';
  if (strncmp(path, event->path, WATCHED_PATH - 1) != 0)
    fail("%s: walked to %s, but is %s", what, event->path, path);
}

static struct watched_event only_event(const char *what, int fd,
                                       enum file_verdict verdict) {
  struct watched_event event = {0};
  unsigned seen = events(&event);
  if (seen != 1)
    fail("%s: seen %u times instead of once", what, seen);
  check_path(what, fd, &event);
  if (event.verdict != verdict)
    fail("%s: is %s (%s, %s%s), should be %s", what, verdicts[event.verdict],
         event.kind == WATCHED_HIT ? "cached" : "walked",
         event.kind == WATCHED_HIT ? "" : reasons[event.unkept],
         event.path[0] ? text(", %.255s", event.path) : "", verdicts[verdict]);
  return event;
}

void expect_event(const char *what, int fd, enum file_verdict verdict) {
  only_event(what, fd, verdict);
}

static struct watched_event open_once(const char *path,
                                      enum file_verdict verdict) {
  watch_me();
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    fail("cannot open %s: %m", path);
  struct watched_event event = only_event(path, fd, verdict);
  close(fd);
  return event;
}

void expect(const char *path, enum file_verdict verdict) {
  open_once(path, verdict);
}

void warm(const char *path, enum file_verdict verdict) {
  struct watched_event event = {0};
  for (int i = 0; i < TRIES; i++) {
    event = open_once(path, verdict);
    if (event.kind == WATCHED_HIT)
      return;
  }
  fail("%s is never cached: %s", path, reasons[event.unkept]);
}

void expect_unkept(const char *path, enum file_verdict verdict,
                   enum unkept reason) {
  struct watched_event event = {0};
  int proofs = 0;
  for (int i = 0; i < TRIES && proofs < 2; i++) {
    event = open_once(path, verdict);
    if (event.kind == WATCHED_HIT)
      fail("%s is cached, should not be: %s", path, reasons[reason]);
    if (event.unkept == reason)
      proofs++;
    else if (event.unkept != UNKEPT_RACED)
      fail("%s is not kept for another reason: %s instead of %s", path,
           reasons[event.unkept], reasons[reason]);
  }
  if (proofs < 2)
    fail("%s is %s each time", path, reasons[event.unkept]);
}

void expect_skipped(const char *what, unsigned least) {
  struct watched_event event;
  unsigned all = watch_state().events;
  if (events(&event) != 0)
    fail("%s is judged (%s), should be skipped", what, verdicts[event.verdict]);
  if (all < least)
    fail("%s is skipped %u times instead of %u", what, all, least);
}
