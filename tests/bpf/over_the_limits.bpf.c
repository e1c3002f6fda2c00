/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* Objects that are too large for the loader in one way each. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <bpf_window/window.bpf.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

struct stats {
  __u64 abs_bucket;
  __u64 events;
};

#define PASTE_AS_IT_IS(a, b) a##b
#define PASTE(a, b) PASTE_AS_IT_IS(a, b)
#define FOUR(what, n)                                                          \
  what(PASTE(n, 0)) what(PASTE(n, 1)) what(PASTE(n, 2)) what(PASTE(n, 3))
#define SIXTEEN(what, n)                                                       \
  FOUR(what, PASTE(n, 0))                                                      \
  FOUR(what, PASTE(n, 1))                                                      \
  FOUR(what, PASTE(n, 2))                                                      \
  FOUR(what, PASTE(n, 3))

#ifdef LONG_NAME /* 57 characters; with _cursor 64 */
BPF_WINDOW(a_window_with_a_name_that_is_one_too_long_for_a_folder_of,
           struct stats);
#else
BPF_WINDOW(first, struct stats);
#endif

#ifdef MANY_WINDOWS
#define NAMED(name) BPF_WINDOW(name, struct stats);
#define WINDOW(n) NAMED(PASTE(window_, n))
SIXTEEN(WINDOW, 1)
#endif

#define PROGRAM(n)                                                             \
  SEC("raw_tp/sched_process_exec") int PASTE(program_, n)(void *context) {     \
    return 0;                                                                  \
  }
PROGRAM(0)
#ifdef MANY_PROGRAMS
SIXTEEN(PROGRAM, 1)
SIXTEEN(PROGRAM, 2)
SIXTEEN(PROGRAM, 3)
SIXTEEN(PROGRAM, 4)
#endif

#ifdef MANY_FRONTS
#define FRONT(n)                                                               \
  BPF_WINDOW_FRONT(n)                                                          \
  SEC("raw_tp/sched_process_exec") int PASTE(front_, n)(void *context) {       \
    return 0;                                                                  \
  }
SIXTEEN(FRONT, 1)
#endif

#ifdef FEW_SLOTS
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 60);
  __type(key, __u32);
  __type(value, struct stats);
} minute SEC(".maps"), minute_epoch SEC(".maps"), minute_cursor SEC(".maps");
#endif
