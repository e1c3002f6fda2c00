/* SPDX-License-Identifier: MIT */
#include "filesystem.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expect.h"
#include "tap.h"

#define IMAGE_SIZE (512L << 20) /* sparse */

static char image[64];

const char *filesystem_enter(void) {
  if (geteuid() != 0)
    return "needs root";
  if (unshare(CLONE_NEWNS) < 0 ||
      mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
    return "cannot have a mount namespace of its own";
  mkdir(BASE, 0755);
  return NULL;
}

static const char *mount_ext4(void) {
  char command[512];
  const char *options = getenv("MKFS_OPTIONS");
  snprintf(image, sizeof(image), "/var/tmp/bpf_window_policy.%d", getpid());
  FILE *file = fopen(image, "w");
  if (!file || ftruncate(fileno(file), IMAGE_SIZE) < 0)
    return "no room for an ext4 image";
  fclose(file);
  snprintf(command, sizeof(command),
           "{ mkfs.ext4 -q -F %s %s && mount -o loop,noinit_itable %s %s; } "
           ">/dev/null 2>&1",
           options ? options : "", image, image, BASE);
  return system(command) == 0 ? NULL : "cannot make and mount an ext4 image";
}

const char *filesystem_mount(const char *type) {
  if (strcmp(type, "ext4") == 0) {
    const char *why = mount_ext4();
    if (why)
      unlink(image);
    return why;
  }
  return mount("policy", BASE, type, 0, NULL) == 0 ? NULL : "cannot mount it";
}

void filesystem_unmount(void) {
  if (chdir("/") == 0)
    umount2(BASE, MNT_DETACH);
  if (image[0])
    unlink(image);
  image[0] = '\0';
}

void filesystem_reset(void) {
  /* rm: some cases make paths longer than a path may be. */
  if (chdir(BASE) < 0 || system("rm -rf ./*") != 0) {
    printf("Bail out! cannot empty " BASE "\n");
    exit(2);
  }
  mkdir("secret", 0755);
  mkdir("ok", 0755);
  mkdir("plain", 0755);
}
