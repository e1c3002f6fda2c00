/* SPDX-License-Identifier: MIT */
/* case_enforce.c - what must fail when the policy is enforced, and what must
 * not */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/fs.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "expect.h"

/* A call that must fail with EPERM, or must not. */
#define denied(call)                                                           \
  ({                                                                           \
    if ((call) >= 0)                                                           \
      fail("%s:%d: not denied: %s", __FILE__, __LINE__, #call);                \
    if (errno != EPERM)                                                        \
      fail("%s:%d: %s fails with %m", __FILE__, __LINE__, #call);              \
  })

static void enforce(void) { world_policy(expect_rules(), true); }
static void observe(void) { world_policy(expect_rules(), false); }

static int open_file(const char *path, int flags) {
  int fd = open(path, flags | O_CLOEXEC, 0644);
  if (fd >= 0)
    close(fd);
  return fd;
}

static bool exists(const char *path) {
  struct stat status;
  return lstat(path, &status) == 0;
}

static off_t size_of(const char *path) {
  struct stat status;
  must(stat(path, &status));
  return status.st_size;
}

static void opens_denied(void) {
  make_file("secret/f");
  make_file("secret/allowed");
  make_file("ok/f");
  make_file("plain/f");
  make_file("exact");
  enforce();
  for (int i = 0; i < 3; i++) { /* walked, then cached */
    denied(open_file("secret/f", O_RDONLY));
    denied(open_file("secret/f", O_RDWR));
    denied(open_file("exact", O_WRONLY));
    denied(open_file("secret", O_RDONLY | O_DIRECTORY));
    must(open_file("secret/allowed", O_RDWR));
    must(open_file("ok/f", O_RDWR));
    must(open_file("plain/f", O_RDWR));
    must(open_file(".", O_RDONLY | O_DIRECTORY));
  }
  must(open_file("secret/f", O_PATH)); /* which gives no access */
  observe();
  must(open_file("secret/f", O_RDONLY));
}

static void creating_denied(void) {
  enforce();
  denied(open_file("secret/new", O_CREAT | O_RDWR));
  denied(creat("secret/new", 0644));
  denied(mknod("secret/new", S_IFREG | 0644, 0));
  denied(mkfifo("secret/new", 0644));
  denied(mkdir("secret/new", 0755));
  denied(symlink("x", "secret/new"));
  if (exists("secret/new"))
    fail("a denied call has created secret/new");
  denied(open_file("exact", O_CREAT | O_RDWR));
  if (exists("exact"))
    fail("a denied call has created exact");
  must(open_file("secret/allowed", O_CREAT | O_RDWR));
  must(open_file("plain/new", O_CREAT | O_RDWR));
  must(mkdir("plain/folder", 0755));
}

static void truncating_denied(void) {
  make_file("secret/f");
  make_file("plain/f");
  enforce();
  denied(open_file("secret/f", O_WRONLY | O_TRUNC));
  denied(truncate("secret/f", 0));
  must(truncate("plain/f", 0));
  if (size_of("secret/f") != 1 || size_of("plain/f") != 0)
    fail("truncated what was denied, or not what was not");
}

static void links_denied(void) {
  make_file("secret/f");
  make_file("plain/f");
  must(link("secret/f", "plain/older"));
  enforce();
  denied(open_file("plain/older", O_RDONLY)); /* its mark */
  denied(link("secret/f", "plain/new"));
  denied(link("plain/f", "secret/new"));
  must(link("plain/f", "plain/new"));
  must(open_file("plain/new", O_RDONLY));
}

static void renames_denied(void) {
  make_file("secret/f");
  make_file("plain/f");
  make_file("plain/g");
  make_folder("plain/d");
  enforce();
  denied(rename("secret/f", "plain/new"));
  denied(rename("plain/f", "secret/new"));
  denied(rename("plain/f", "secret/f"));
  denied(rename("plain/d", "secret/d"));
  denied(rename("secret", "plain/secret"));
  denied(syscall(SYS_renameat2, AT_FDCWD, "plain/f", AT_FDCWD, "secret/f",
                 RENAME_EXCHANGE));
  denied(syscall(SYS_renameat2, AT_FDCWD, "plain", AT_FDCWD, "secret",
                 RENAME_EXCHANGE));
  must(rename("plain/f", "plain/g"));
}

static void parent_renamed_away(void) {
  struct policy *policy;
  struct failure failure = {""};
  make_folder("plain/a");
  make_folder("plain/a/secret");
  make_file("plain/a/secret/f");
  if (policy_new(&policy) != 0 ||
      policy_add(policy, FILE_DENY, BASE "/plain/a/secret/", "test",
                 &failure) != 0)
    fail("%s", failure.text);
  world_policy(policy, true);
  denied(open_file("plain/a/secret/f", O_RDONLY));
  must(rename("plain/a", "plain/b")); /* as documented; hence the marks */
  denied(open_file("plain/b/secret/f", O_RDONLY));
}

static void bound_elsewhere(void) {
  make_file("secret/f");
  make_folder("plain/b");
  make_file("plain/g");
  must(mount("secret", "plain/b", NULL, MS_BIND, NULL));
  must(mount("secret/f", "plain/g", NULL, MS_BIND, NULL));
  enforce();
  for (int i = 0; i < 3; i++) {
    denied(open_file("plain/b/f", O_RDONLY));
    denied(open_file("plain/g", O_RDONLY));
    denied(truncate("plain/g", 0));
    denied(rename("plain/b/f", "plain/b/g"));
  }
  must(umount2("plain/g", 0));
  must(open_file("plain/g", O_RDONLY));
}

static void bound_in_a_namespace_of_its_own(void) {
  make_file("secret/f");
  make_file("plain/f");
  enforce();
  must(unshare(CLONE_NEWNS));
  must(mount("secret/f", "plain/f", NULL, MS_BIND, NULL));
  denied(open_file("plain/f", O_RDONLY));
  must(mount("policy", BASE "/ok", "tmpfs", 0, NULL));
  must(chroot("secret"));
  denied(open_file("/f", O_RDONLY));
}

static void programs_denied(void) {
  must(system("cp /bin/true secret/true && cp /bin/true plain/true"));
  enforce();
  for (int denies = 0; denies < 2; denies++) {
    pid_t child = must(fork());
    if (child == 0) {
      execl(denies ? "secret/true" : "plain/true", "true", (char *)NULL);
      _exit(errno == EPERM ? 77 : 1);
    }
    int status;
    must(waitpid(child, &status, 0));
    if (WEXITSTATUS(status) != (denies ? 77 : 0))
      fail("exec of a %s program: status %d", denies ? "denied" : "plain",
           WEXITSTATUS(status));
  }
}

static void uring_denied(void) {
  make_file("secret/f");
  make_file("plain/f");
  enforce();
  for (int by_worker = 0; by_worker < 2; by_worker++) {
    int fd = uring_open("secret/f", by_worker);
    if (fd != -EPERM)
      fail("io_uring opens secret/f: %d", fd);
    must(uring_open("plain/f", by_worker));
  }
}

static void handles_denied(void) {
  union {
    struct file_handle handle;
    char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
  } named = {.handle.handle_bytes = MAX_HANDLE_SZ};
  int mount_id;
  make_file("secret/f");
  if (name_to_handle_at(AT_FDCWD, "secret/f", &named.handle, &mount_id, 0) < 0)
    skip("no file handles on this file system: %m");
  int folder = must(open(".", O_RDONLY | O_DIRECTORY));
  enforce();
  denied(open_by_handle_at(folder, &named.handle, O_RDONLY));
  drop_dentries(); /* then it has no path, but a mark */
  denied(open_by_handle_at(folder, &named.handle, O_RDONLY));
}

static void marks_outlive_the_inode(void) {
  make_file("secret/f");
  must(link("secret/f", "plain/f"));
  enforce();
  denied(open_file("plain/f", O_RDONLY));
  drop_dentries();
  denied(open_file("plain/f", O_RDONLY));
}

static void marks_go_with_their_policy(void) {
  make_file("secret/f");
  must(link("secret/f", "plain/f"));
  enforce();
  denied(open_file("plain/f", O_RDONLY));
  enforce(); /* the marker is not locked out by itself */
  denied(open_file("plain/f", O_RDONLY));
  struct policy *none;
  must(policy_new(&none));
  world_policy(none, true);
  must(open_file("plain/f", O_RDONLY));
  must(open_file("secret/f", O_RDONLY));
}

static struct policy *no_rules(void) {
  struct policy *none;
  must(policy_new(&none));
  return none;
}

static struct policy *one_rule(const char *denied_path) {
  struct failure failure;
  struct policy *policy = no_rules();
  if (policy_add(policy, FILE_DENY, denied_path, "test", &failure) != 0)
    fail("%s", failure.text);
  return policy;
}

static void mark_or_fail(const struct policy *policy) {
  struct failure failure = {""};
  if (world_mark(policy, &failure) != 0)
    fail("%s", failure.text);
}

/* Opened before the marker is done: denied by a mark of the rules before, and
 * remembered so. */
static void verdicts_go_with_void_marks(void) {
  struct policy *none = no_rules();
  make_file("secret/f");
  enforce();
  world_install(none, true);
  for (int i = 0; i < 3; i++)
    denied(open_file("secret/f", O_RDONLY));
  mark_or_fail(none);
  must(open_file("secret/f", O_RDONLY));
}

/* Opened by another path before the marker reaches it: allowed, and remembered
 * so. */
static void verdicts_of_unmarked_files_go(void) {
  make_file("secret/f");
  make_folder("plain/b");
  must(mount("secret", "plain/b", NULL, MS_BIND, NULL));
  world_install(expect_rules(), true);
  for (int i = 0; i < 3; i++)
    must(open_file("plain/b/f", O_RDONLY));
  mark_or_fail(expect_rules());
  denied(open_file("plain/b/f", O_RDONLY));
}

static void changes_are_enforced(void) {
  make_file("secret/f");
  make_file("plain/f");
  enforce();
  struct file_policy_state state = world_state();
  state.generation |= FILE_POLICY_CHANGING;
  world_set_state(&state);
  for (int i = 0; i < 3; i++) {
    denied(open_file("secret/f", O_RDONLY));
    must(open_file("plain/f", O_RDONLY));
  }
  enforce();
  denied(open_file("secret/f", O_RDONLY));
}

/* Names of the folder that were opened since, in a row. */
static const char *opened_in(int inotify) {
  static char names[512];
  char room[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
  names[0] = '\0';
  ssize_t length = read(inotify, room, sizeof(room));
  for (char *at = room; at < room + length;) {
    const struct inotify_event *event = (const void *)at;
    if (event->len > 0)
      strncat(names, event->name, sizeof(names) - strlen(names) - 1);
    at += sizeof(*event) + event->len;
  }
  return names;
}

/* Opening a device may be an act, and a pipe's reader lets its writer go. */
static void marker_opens_folders_only(void) {
  make_folder("secret/d");
  make_file("secret/f");
  must(mkfifo("secret/pipe", 0600));
  must(mknod("secret/null", S_IFCHR | 0600, makedev(1, 3)));
  must(link("secret/pipe", "plain/pipe"));
  must(link("secret/null", "plain/null"));
  int inotify = must(inotify_init1(IN_NONBLOCK));
  must(inotify_add_watch(inotify, "secret", IN_OPEN));
  enforce();
  const char *opened = opened_in(inotify);
  if (strstr(opened, "f") || strstr(opened, "pipe") || strstr(opened, "null"))
    fail("the marker opens %s", opened);
  if (!strstr(opened, "d"))
    fail("the marker does not list folders, or the test sees no opens");
  denied(
      open_file("plain/pipe", O_RDONLY | O_NONBLOCK)); /* marks all the same */
  denied(open_file("plain/null", O_RDONLY));
}

/* Whoever gets the process number of a collectd that was killed meanwhile. */
static void marker_is_denied_files(void) {
  make_file("secret/f");
  enforce();
  struct file_policy_state state = world_state();
  state.marker = getpid();
  world_set_state(&state);
  denied(open_file("secret/f", O_RDONLY));
  must(open_file("secret", O_RDONLY | O_DIRECTORY));
  enforce();
  denied(open_file("secret", O_RDONLY | O_DIRECTORY));
}

static void in_a_pid_namespace(void) {
  struct failure failure = {""};
  struct policy *none = no_rules();
  world_install(none, true);
  if (world_mark(none, &failure) != -ENOTSUP)
    fail("files are marked in a PID namespace: %s", failure.text);
  must(open_file("secret/f", O_RDONLY));
}

static void marks_are_void_in_a_pid_namespace(void) {
  int status;
  make_file("secret/f");
  enforce();
  denied(open_file("secret/f", O_RDONLY));
  must(unshare(CLONE_NEWPID));
  pid_t child = must(fork());
  if (child == 0) {
    in_a_pid_namespace();
    _exit(0);
  }
  must(waitpid(child, &status, 0));
  if (status != 0)
    _exit(1);
}

static void make_many(const char *folder, int files) {
  for (int i = 0; i < files; i++)
    make_file(text("%s/%d", folder, i));
}

static void deny_all_bound(const char *folder, int files) {
  must(mount(folder, "plain", NULL, MS_BIND, NULL));
  for (int i = 0; i < files; i++)
    denied(open_file(text("plain/%d", i), O_RDONLY));
  must(umount2("plain", 0));
}

/* Marks of one set of rules take the room of the next ones' until these are in
 * force. */
static void room_of_void_marks(void) {
  const int files = WORLD_MARKS * 3 / 4;
  make_many("secret", files);
  make_many("ok", files);
  for (int i = 0; i < 2; i++) {
    world_policy(one_rule(BASE "/secret/"), true);
    deny_all_bound("secret", files);
    world_policy(one_rule(BASE "/ok/"), true);
    deny_all_bound("ok", files);
    must(open_file("secret/0", O_RDONLY));
  }
}

static void more_than_can_be_marked(void) {
  struct failure failure = {""};
  make_many("secret", WORLD_MARKS + 20);
  world_install(expect_rules(), true);
  if (world_mark(expect_rules(), &failure) != -ENOSPC)
    fail("more files are marked than there is room for: %s", failure.text);
  if (!strstr(failure.text, "21 files")) /* the folder is one, too */
    fail("%s", failure.text);
  denied(open_file(text("secret/%d", WORLD_MARKS + 19), O_RDONLY));
}

static void number_used_again(void) {
  make_file("secret/f");
  enforce();
  for (int i = 0; i < 20; i++) {
    must(open_file("plain/f", O_CREAT | O_RDWR));
    must(unlink("plain/f"));
  }
  must(unlink("secret/f")); /* as documented */
  for (int i = 0; i < 20; i++)
    must(open_file(text("plain/f%d", i), O_CREAT | O_RDWR));
}

static void open_before_the_policy(void) {
  make_file("secret/f");
  int fd = must(open("secret/f", O_RDONLY));
  char byte;
  enforce();
  must(read(fd, &byte, 1)); /* as documented */
  denied(open_file(text("/proc/self/fd/%d", fd), O_RDONLY));
}

static void too_deep_fails(void) {
  must(chdir("plain"));
  for (int i = 0; i < 70; i++) {
    make_folder("d");
    must(chdir("d"));
  }
  make_file("f");
  enforce();
  denied(open_file("f", O_RDONLY));
  denied(open_file("g", O_CREAT | O_RDWR));
  must(chdir(BASE));
  must(open_file("plain/d/d/d", O_RDONLY));
}

static int opens(const char *path, const struct stat *status, int type,
                 struct FTW *position) {
  (void)status;
  (void)position;
  if (type == FTW_F && open_file(path, O_RDONLY | O_NONBLOCK) < 0 &&
      errno == EPERM)
    fail("denied: %s", path);
  return 0;
}

static void nothing_else_denied(void) {
  static const char *const folders[] = {"/etc", "/usr/bin", "/usr/lib",
                                        "/usr/sbin", "/dev"};
  make_file("secret/f");
  enforce();
  for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
    nftw(folders[i], opens, 64, FTW_PHYS);
  int fd = must(memfd_create("policy", 0));
  must(open_file(text("/proc/self/fd/%d", fd), O_RDWR));
  must(open_file("/proc/self/status", O_RDONLY));
  must(open_file("plain", O_TMPFILE | O_RDWR));
  denied(open_file("secret", O_TMPFILE | O_RDWR));
}

static void overlay_unharmed(void) {
  must(chdir("plain"));
  must(system("mkdir -p lower" BASE "/secret upper work merged; "
              "echo x >lower" BASE "/secret/f; echo x >lower" BASE
              "/secret/g"));
  if (mount("policy", "merged", "overlay", 0,
            "lowerdir=lower,upperdir=upper,workdir=work") < 0)
    skip("no overlay here: %m");
  enforce();
  must(open_file("merged" BASE "/secret/f", O_RDONLY));
  must(open_file("merged" BASE "/secret/f", O_RDWR));
  must(open_file("merged" BASE "/secret/g", O_WRONLY | O_TRUNC));
  must(rename("merged" BASE "/secret/g", "merged" BASE "/secret/h"));
}

const struct tap_case enforce_cases[] = {
    {"enforcing: open", opens_denied},
    {"enforcing: create", creating_denied},
    {"enforcing: truncate", truncating_denied},
    {"enforcing: hard links, old and new", links_denied},
    {"enforcing: rename into and out of a folder", renames_denied},
    {"enforcing: rename of a parent", parent_renamed_away},
    {"enforcing: bind mounts", bound_elsewhere},
    {"enforcing: bind mount in a namespace of its own",
     bound_in_a_namespace_of_its_own},
    {"enforcing: exec", programs_denied},
    {"enforcing: io_uring", uring_denied},
    {"enforcing: open_by_handle_at", handles_denied},
    {"enforcing: marks outlive evicted inodes", marks_outlive_the_inode},
    {"enforcing: marks go with their policy", marks_go_with_their_policy},
    {"enforcing: verdicts go with void marks", verdicts_go_with_void_marks},
    {"enforcing: verdicts of files not yet marked go",
     verdicts_of_unmarked_files_go},
    {"enforcing: while the policy is being changed", changes_are_enforced},
    {"enforcing: the marker opens folders only", marker_opens_folders_only},
    {"enforcing: the marker is denied files", marker_is_denied_files},
    {"enforcing: marks are void in a PID namespace",
     marks_are_void_in_a_pid_namespace},
    {"enforcing: room of void marks", room_of_void_marks},
    {"enforcing: more files than can be marked", more_than_can_be_marked},
    {"enforcing: inode number used again", number_used_again},
    {"enforcing: opened before the policy", open_before_the_policy},
    {"enforcing: paths too deep to judge", too_deep_fails},
    {"enforcing: nothing else is denied", nothing_else_denied},
    {"enforcing: overlay", overlay_unharmed},
    {NULL, NULL},
};
