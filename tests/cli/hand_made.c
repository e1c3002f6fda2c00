/* SPDX-License-Identifier: MIT */
/*
 * hand_made KIND EVENTS [FOLDER] - a window declared by system calls, without a
 * line of this project's headers: maps and a program in instructions written by
 * hand, which is run for each event (BPF_PROG_TEST_RUN). Prints "ready", and
 * holds all of it until its input ends.
 *
 *   btf     the ring's BTF tells the counters; the epoch has 16 bytes; no cursor, no pins
 *   record  no BTF at all: the epoch has the whole record, and there is a cursor, in
 *           which 7 earlier calls are retired; all three are pinned in FOLDER
 *   bare    no BTF and no record: nothing tells what the counters are; pinned in FOLDER
 *   btf_of_later, record_of_later
 *           the same as btf and record, but the hits are tagged, or have the role, of
 *           some later version
 *
 * An event is a call and a hit, and adds 2 to sizes[1].
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <linux/bpf.h>

#define VALUES 5 /* calls, hits, sizes[3] */
#define BUCKET_BYTES (8 * (1 + VALUES))
#define RECORD_BYTES 3120
#define CURSOR_BYTES (16 + 8 * VALUES)
#define NS_PER_SECOND 1000000000

static void die(const char *what) {
  fprintf(stderr, "hand_made: %s: %s\n", what, strerror(errno));
  exit(1);
}

static int call(enum bpf_cmd command, union bpf_attr *attributes,
                const char *what) {
  long result = syscall(SYS_bpf, command, attributes, sizeof(*attributes));
  if (result < 0)
    die(what);
  return (int)result;
}

static int create_map(unsigned type, unsigned size, unsigned entries,
                      const char *name, unsigned btf_fd, unsigned key_id,
                      unsigned value_id) {
  union bpf_attr attributes = {.map_type = type,
                               .key_size = 4,
                               .value_size = size,
                               .max_entries = entries,
                               .btf_fd = btf_fd,
                               .btf_key_type_id = key_id,
                               .btf_value_type_id = value_id};
  strncpy(attributes.map_name, name, sizeof(attributes.map_name) - 1);
  return call(BPF_MAP_CREATE, &attributes, name);
}

static void update(int map_fd, const void *value, const char *what) {
  unsigned zero = 0;
  union bpf_attr attributes = {.map_fd = (unsigned)map_fd,
                               .key = (unsigned long)&zero,
                               .value = (unsigned long)value};
  call(BPF_MAP_UPDATE_ELEM, &attributes, what);
}

static void pin(int fd, const char *folder, const char *name) {
  char path[256];
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  union bpf_attr attributes = {.pathname = (unsigned long)path,
                               .bpf_fd = (unsigned)fd};
  mkdir(folder, 0700);
  call(BPF_OBJ_PIN, &attributes, path);
}

/* ---- The program ---- */

#define INSN(CODE, DST, SRC, OFF, IMM)                                         \
  {                                                                            \
    .code = (CODE), .dst_reg = (DST), .src_reg = (SRC), .off = (OFF),          \
    .imm = (IMM)                                                               \
  }
#define MAP(DST, FD)                                                           \
  INSN(BPF_LD | BPF_DW | BPF_IMM, DST, BPF_PSEUDO_MAP_FD, 0, FD),              \
      INSN(0, 0, 0, 0, 0)
#define CALL(FUNCTION) INSN(BPF_JMP | BPF_CALL, 0, 0, 0, FUNCTION)
#define LOAD(DST, SRC, OFF) INSN(BPF_LDX | BPF_MEM | BPF_DW, DST, SRC, OFF, 0)
#define STORE(DST, OFF, SRC) INSN(BPF_STX | BPF_MEM | BPF_DW, DST, SRC, OFF, 0)
#define CLEAR(DST, OFF) INSN(BPF_ST | BPF_MEM | BPF_DW, DST, 0, OFF, 0)
#define ATOMIC_ADD(DST, OFF, SRC)                                              \
  INSN(BPF_STX | BPF_ATOMIC | BPF_DW, DST, SRC, OFF, BPF_ADD)
#define COPY(DST, SRC) INSN(BPF_ALU64 | BPF_MOV | BPF_X, DST, SRC, 0, 0)
#define SET(DST, IMM) INSN(BPF_ALU64 | BPF_MOV | BPF_K, DST, 0, 0, IMM)
#define WITH(OPERATION, DST, IMM)                                              \
  INSN(BPF_ALU64 | OPERATION | BPF_K, DST, 0, 0, IMM)
#define SUBTRACT(DST, SRC) INSN(BPF_ALU64 | BPF_SUB | BPF_X, DST, SRC, 0, 0)
#define IF_ZERO(DST, AHEAD) INSN(BPF_JMP | BPF_JEQ | BPF_K, DST, 0, AHEAD, 0)
#define IF_SAME(DST, SRC, AHEAD)                                               \
  INSN(BPF_JMP | BPF_JEQ | BPF_X, DST, SRC, AHEAD, 0)
#define END INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

static int load_program(int ring_fd, int epoch_fd) {
  struct bpf_insn program[] = {
      CALL(BPF_FUNC_ktime_get_ns),
      COPY(6, 0),
      CLEAR(10, -8),
      COPY(2, 10),
      WITH(BPF_ADD, 2, -8),
      MAP(1, epoch_fd),
      CALL(BPF_FUNC_map_lookup_elem),
      IF_ZERO(0, 26),
      LOAD(1, 0, 0),
      SUBTRACT(6, 1),
      WITH(BPF_DIV, 6, NS_PER_SECOND), /* r6: the bucket's number */
      COPY(7, 6),
      WITH(BPF_MOD, 7, 300),
      STORE(10, -8, 7), /* little-endian: its first four bytes are the key */
      COPY(2, 10),
      WITH(BPF_ADD, 2, -8),
      MAP(1, ring_fd),
      CALL(BPF_FUNC_map_lookup_elem),
      IF_ZERO(0, 14),
      LOAD(1, 0, 0),
      IF_SAME(1, 6, 6),
      CLEAR(0, 8),
      CLEAR(0, 16),
      CLEAR(0, 24),
      CLEAR(0, 32),
      CLEAR(0, 40),
      STORE(0, 0, 6),
      SET(1, 1),
      ATOMIC_ADD(0, 8, 1),
      ATOMIC_ADD(0, 16, 1),
      SET(1, 2),
      ATOMIC_ADD(0, 32, 1),
      SET(0, 0),
      END,
  };
  static char log[4096];
  union bpf_attr attributes = {.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
                               .insns = (unsigned long)program,
                               .insn_cnt = sizeof(program) / sizeof(program[0]),
                               .license = (unsigned long)"GPL",
                               .log_buf = (unsigned long)log,
                               .log_size = sizeof(log),
                               .log_level = 1};
  strcpy(attributes.prog_name, "by_hand");
  long fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attributes, sizeof(attributes));
  if (fd < 0) {
    fprintf(stderr, "%s", log);
    die("program");
  }
  return (int)fd;
}

static void run_program(int program_fd, unsigned events) {
  static char packet[64];
  union bpf_attr attributes = {.test = {.prog_fd = (unsigned)program_fd,
                                        .data_in = (unsigned long)packet,
                                        .data_size_in = sizeof(packet),
                                        .repeat = events}};
  call(BPF_PROG_TEST_RUN, &attributes, "run");
}

/* ---- What says what the counters are ---- */

static int create_described_ring(const char *tag_of_hits) {
  struct btf *btf = btf__new_empty();
  int u32 = btf__add_int(btf, "unsigned int", 4, 0);
  int u64 = btf__add_int(btf, "unsigned long long", 8, 0);
  int sizes = btf__add_array(btf, u32, u64, 3);
  int bucket = btf__add_struct(btf, "bucket", BUCKET_BYTES);
  if (btf__add_field(btf, "abs_bucket", u64, 0, 0) != 0 ||
      btf__add_field(btf, "calls", u64, 64, 0) != 0 ||
      btf__add_field(btf, "hits", u64, 128, 0) != 0 ||
      btf__add_field(btf, "sizes", sizes, 192, 0) != 0 ||
      btf__add_decl_tag(btf, "bpf_window:total", bucket, 0 + 1) < 0 ||
      btf__add_decl_tag(btf, tag_of_hits, bucket, 1 + 1) < 0)
    die("BTF");
  unsigned size;
  const void *bytes = btf__raw_data(btf, &size);
  union bpf_attr attributes = {.btf = (unsigned long)bytes, .btf_size = size};
  int btf_fd = call(BPF_BTF_LOAD, &attributes, "BTF");
  int fd = create_map(BPF_MAP_TYPE_PERCPU_ARRAY, BUCKET_BYTES, 300, "by_hand",
                      (unsigned)btf_fd, (unsigned)u32, (unsigned)bucket);
  close(btf_fd);
  btf__free(btf);
  return fd;
}

static void put_u32(char *record, unsigned offset, unsigned value) {
  memcpy(record + offset, &value, 4);
}

static void put_u64(char *record, unsigned offset, unsigned long long value) {
  memcpy(record + offset, &value, 8);
}

static void put_counter(char *record, unsigned index, const char *name,
                        unsigned role, unsigned values) {
  char *entry = record + 48 + 48 * index;
  strcpy(entry, name);
  put_u32(entry, 40, role);
  put_u32(entry, 44, values);
}

/* The record, byte by byte. */
static void fill_record(char *record, unsigned role_of_hits) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  put_u64(record, 0, (unsigned long long)(now.tv_sec - 2) * NS_PER_SECOND);
  put_u64(record, 8, NS_PER_SECOND);
  put_u64(record, 16, 4000000); /* only header's writers need it */
  put_u32(record, 32, 1);
  put_u32(record, 36, 300);
  put_u32(record, 40, 3);
  put_u32(record, 44, VALUES);
  put_counter(record, 0, "calls", 1, 1);
  put_counter(record, 1, "hits", role_of_hits, 1);
  put_counter(record, 2, "sizes", 0, 3);
}

/* Earlier calls, of all CPUs, on the first of them. */
static int create_cursor(void) {
  int fd = create_map(BPF_MAP_TYPE_PERCPU_ARRAY, CURSOR_BYTES, 1,
                      "by_hand_cursor", 0, 0, 0);
  long cpus = 4096; /* more than there are: the rest is not looked at */
  unsigned long long *value = calloc((size_t)cpus, CURSOR_BYTES);
  value[2] = 7;
  update(fd, value, "cursor");
  free(value);
  return fd;
}

int main(int count, char **argument) {
  if (count < 3)
    return 2;
  const char *kind = argument[1], *folder = count > 3 ? argument[3] : NULL;
  int described = strncmp(kind, "btf", 3) == 0,
      recorded = strncmp(kind, "record", 6) == 0,
      later = strstr(kind, "_of_later") != NULL;
  char record[RECORD_BYTES] = "";
  fill_record(record, later ? 9 : 2);
  int ring_fd = described ? create_described_ring(later ? "bpf_window:p99"
                                                        : "bpf_window:hit")
                          : create_map(BPF_MAP_TYPE_PERCPU_ARRAY, BUCKET_BYTES,
                                       300, "by_hand", 0, 0, 0);
  int epoch_fd = create_map(BPF_MAP_TYPE_ARRAY, recorded ? RECORD_BYTES : 16, 1,
                            "by_hand_epoch", 0, 0, 0);
  update(epoch_fd, record, "epoch");
  int cursor_fd = recorded ? create_cursor() : -1;
  if (folder) {
    pin(ring_fd, folder, "by_hand");
    pin(epoch_fd, folder, "by_hand_epoch");
    if (cursor_fd >= 0)
      pin(cursor_fd, folder, "by_hand_cursor");
  }
  run_program(load_program(ring_fd, epoch_fd), (unsigned)atoi(argument[2]));
  puts("ready");
  fflush(stdout);
  while (getchar() != EOF)
    ;
  return 0;
}
