/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * file_policy.h - the bytes of a file policy, shared by the BPF programs that
 * apply it and the user space that writes it.
 *
 * A policy is a trie from paths to verdicts; the longest prefix of a path that
 * is in the trie decides. Two spellings make prefixes into rules:
 *
 *   folder  "/a/b/"    everything below /a/b, but not /a/b itself
 *   exact   "/a/b\0"   /a/b alone; the NUL counts in the prefix's length
 *
 * so that an exact rule, being longer, beats every folder around it.
 */
#ifndef BPF_WINDOW_FILE_POLICY_H
#define BPF_WINDOW_FILE_POLICY_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

enum file_verdict {
  FILE_NO_POLICY = 0, /* no rule matched, or one that says "none" */
  FILE_ALLOW = 1,
  FILE_DENY = 2,
};

/* Bytes of a path that a rule can look at, an exact rule's NUL among them. */
#define FILE_RULE_SIZE 256

/* A key of the trie (BPF_MAP_TYPE_LPM_TRIE). Its value is a __u32,
 * file_verdict. */
struct file_rule_key {
  __u32 bits; /* eight times the bytes of path[] that count */
  char path[FILE_RULE_SIZE];
};

/* Files that can be marked as denied by whatever path; see file_marks.bpf.h. */
#define FILE_MARKS_MAX 65536
/* In unmarked: void marks have been removed since marks_since was written. */
#define FILE_MARKS_SWEPT 0x80000000u

/*
 * The one entry of the map `file_policy_state`. A verdict is made under one
 * generation and applies under no other. An odd one (FILE_POLICY_CHANGING)
 * says that rules, terms or marks are being changed: what is judged under it is
 * right, but not remembered. How they are changed: policy_install.c.
 */
#define FILE_POLICY_CHANGING 1u

struct file_policy_state {
  __u64 generation;
  __u64 marks_since; /* marks made under an older generation are void */
  __u32 enforce;     /* 0: verdicts are counted; 1: denied opens fail */
  __u32 marker;      /* process that may open denied folders, to mark what is in
                   them; 0: none */
  __u32 namespace; /* mount namespace that the rules are for, by the number that
                      stat gives of /proc/PID/ns/mnt; 0: all */
  __u32 unmarked;  /* marks that found no room, since the marks before are void;
                     and FILE_MARKS_SWEPT */
};

#endif
