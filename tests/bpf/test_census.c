/* SPDX-License-Identifier: MIT */
/* census.h beside programs of others. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>

#include "object/census.h"
#include "place.h"

/* ---- In the place of libbpf's ---- */

static unsigned links_asked, names_asked_wrongly;

/* Of a link, the kernel writes other things, and more, where the name of a raw
 * tracepoint goes, if it is no such link. */
int bpf_obj_get_info_by_fd(int fd, void *info, __u32 *size) {
  union bpf_attr attributes = {
      .info = {.bpf_fd = (__u32)fd, .info_len = *size}};
  char kind[16];
  census_kind_of(fd, kind);
  if (strcmp(kind, "bpf-link") == 0) {
    struct bpf_link_info link = {0};
    attributes.info.info_len = sizeof(link);
    attributes.info.info = (uintptr_t)&link;
    syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attributes, sizeof(attributes));
    links_asked++;
    if (((struct bpf_link_info *)info)->raw_tracepoint.tp_name &&
        link.type != BPF_LINK_TYPE_RAW_TRACEPOINT)
      names_asked_wrongly++;
  }
  attributes.info.info_len = *size;
  attributes.info.info = (uintptr_t)info;
  long status =
      syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attributes, sizeof(attributes));
  *size = attributes.info.info_len;
  return status == 0 ? 0 : -errno;
}

/* ---- Programs ---- */

static const struct census_program *find(const struct census *census,
                                         uint32_t id) {
  for (size_t i = 0; i < census->program_count; i++)
    if (census->programs[i].id == id)
      return &census->programs[i];
  return NULL;
}

static uint32_t id_of(const struct bpf_program *program) {
  struct bpf_prog_info info = {0};
  uint32_t size = sizeof(info);
  assert_int_equal(
      bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size), 0);
  return info.id;
}

static struct bpf_program *load(const char *name, struct bpf_object **object) {
  *object = bpf_object__open_file(place_object(name), NULL);
  assert_non_null(*object);
  return bpf_object__load(*object) == 0
             ? bpf_object__next_program(*object, NULL)
             : NULL;
}

static void take_and_look_for(const struct bpf_program *program,
                              const char *hook) {
  struct census *census;
  uint32_t id = id_of(program);
  assert_int_equal(census_take(&census, NULL, NULL), 0);
  assert_non_null(find(census, id));
  assert_string_equal(find(census, id)->hook, hook);
  census_free(&census);
}

static void a_hook_has_its_name(void **state) {
  (void)state;
  struct bpf_object *object;
  struct bpf_program *program = load("tests/bpf/marked_calls", &object);
  assert_non_null(program);
  struct bpf_link *link = bpf_program__attach(program);
  assert_non_null(link);
  take_and_look_for(program, "tp_btf/sys_enter");
  bpf_link__destroy(link);
  bpf_object__close(object);
}

/* Ends the child and returns whether the census has it as one that holds the program. */
static bool is_held_by(pid_t child, uint32_t program) {
  struct census *census;
  bool held = false;
  assert_int_equal(census_take(&census, NULL, NULL), 0);
  for (size_t i = 0; i < census->holder_count; i++)
    held |= census->holders[i].pid == child &&
            census->holders[i].program_id == program;
  census_free(&census);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  return held;
}

/* The kernel calls the descriptor of a link that was made bpf_link, and of one that was
 * opened, by a pin or its number, bpf-link. */
static void a_link_is_held_by_who_made_it_and_by_who_opened_it(void **state) {
  (void)state;
  struct bpf_object *object;
  struct bpf_program *program = load("tests/bpf/each_task", &object);
  assert_non_null(program);
  for (int opened = 0; opened < 2; opened++) {
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
      struct bpf_link *link = bpf_program__attach(program);
      struct bpf_link_info info = {0};
      uint32_t size = sizeof(info);
      close(bpf_program__fd(program));
      if (opened) {
        bpf_obj_get_info_by_fd(bpf_link__fd(link), &info, &size);
        bpf_link_get_fd_by_id(info.id);
        close(bpf_link__fd(link));
      }
      (void)!write(ready[1], "", 1);
      pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_true(is_held_by(child, id_of(program)));
    close(ready[0]);
    close(ready[1]);
  }
  bpf_object__close(object);
}

static void a_name_is_asked_of_raw_tracepoints_only(void **state) {
  (void)state;
  struct bpf_object *object;
  struct census *census;
  struct bpf_program *program = load("tests/bpf/each_task", &object);
  assert_non_null(program);
  struct bpf_link *link = bpf_program__attach(program);
  assert_non_null(link);
  links_asked = names_asked_wrongly = 0;
  assert_int_equal(census_take(&census, NULL, NULL), 0);
  census_free(&census);
  assert_true(links_asked > 0);
  assert_int_equal(names_asked_wrongly, 0);
  bpf_link__destroy(link);
  bpf_object__close(object);
}

static int ignore(enum libbpf_print_level level, const char *format,
                  va_list arguments) {
  (void)level, (void)format, (void)arguments;
  return 0;
}

int main(void) {
  if (!place_can_load())
    return 77;
  libbpf_set_print(ignore);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_hook_has_its_name),
      cmocka_unit_test(a_link_is_held_by_who_made_it_and_by_who_opened_it),
      cmocka_unit_test(a_name_is_asked_of_raw_tracepoints_only),
  };
  return cmocka_run_group_tests_name("census", tests, NULL, NULL);
}
