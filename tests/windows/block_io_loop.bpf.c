/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* The window block_io, watching loop devices only: others are never quiet. */
#define LOOP_MAJOR 7
#define BLOCK_IO_WATCHES(request) ((request)->q->disk->major == LOOP_MAJOR)
#include "block_io.bpf.c"
