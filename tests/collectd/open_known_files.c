/* SPDX-License-Identifier: MIT */
/*
 * open_known_files FOLDER FILES ROUNDS: makes FILES files if they are not there, opens
 * each of them ROUNDS times and says how many opens that were. Nothing else is opened
 * between the lines "begin" and "end", so that another program can count along.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **argument) {
  if (count != 4) {
    fprintf(stderr, "usage: open_known_files FOLDER FILES ROUNDS\n");
    return 2;
  }
  long files = atol(argument[2]), rounds = atol(argument[3]), opens = 0;
  char path[512];
  for (long round = 0; round < rounds; round++) {
    for (long file = 0; file < files; file++) {
      snprintf(path, sizeof(path), "%s/%ld", argument[1], file);
      int fd = open(path, O_RDONLY | O_CLOEXEC);
      if (fd < 0) {
        perror(path);
        return 1;
      }
      close(fd);
      opens++;
    }
  }
  printf("%ld\n", opens);
  return 0;
}
