/* SPDX-License-Identifier: MIT */
/*
 * cli.h - what the verbs of `bpf-window` share with main: their table's row,
 * their exit statuses, and the one way in which they complain.
 */
#ifndef BPF_WINDOW_CLI_H
#define BPF_WINDOW_CLI_H

enum cli_status {
  CLI_OK = 0,
  CLI_PROBLEM = 1,   /* something is wrong on this machine or with the input */
  CLI_USAGE = 2,     /* the command line makes no sense */
  CLI_NO_ANSWER = 3, /* where 1 is an answer: there is none */
};

/* argv[0] is `bpf-window: VERB`; the options follow. */
int check_main(int argc, char **argv);
int detach_main(int argc, char **argv);
int graph_main(int argc, char **argv);
int list_main(int argc, char **argv);
int policy_main(int argc, char **argv);
int report_main(int argc, char **argv);
int show_main(int argc, char **argv);
int watch_main(int argc, char **argv);

/* Prints `bpf-window: VERB: ` and the text as one line to stderr. */
void complain(const char *verb, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* For a command line that makes no sense (getopt has said why, or the text
 * does; format may be NULL): points at --help and returns CLI_USAGE. */
int complain_usage(const char *verb, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
