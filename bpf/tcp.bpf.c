/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * tcp.bpf.c - the connections of TCP and what goes wrong with them, in all
 * network namespaces. docs/tcp.md says what each counter means.
 *
 * The hooks are tracepoints of the kernel's TCP. Each counter has a program of
 * its own, but softirqs interrupt processes: all adds are atomic.
 */
#include "kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf_window/window.bpf.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define IPPROTO_TCP 6

/* net/tcp_states.h */
#define TCP_SYN_SENT 2
#define TCP_SYN_RECV 3
#define TCP_CLOSE 7
#define TCP_LISTEN 10

struct tcp_stats {
  __u64 abs_bucket;
  __u64 active_opens;
  __u64 passive_opens;
  __u64 failed_connects;
  __u64 retransmitted_segments;
  __u64 resets_sent;
  __u64 resets_received;
};
BPF_WINDOW(tcp, struct tcp_stats);

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(set_state, const struct sock *sk, int old, int new) {
  bool active = old == TCP_CLOSE && new == TCP_SYN_SENT;
  bool failed = old == TCP_SYN_SENT && new == TCP_CLOSE;
  bool passive = old == TCP_LISTEN && new == TCP_SYN_RECV;
  if (!active && !failed && !passive)
    return 0;
  if (sk->sk_protocol != IPPROTO_TCP) /* DCCP, SCTP, MPTCP's own socket */
    return 0;
  struct tcp_stats *bucket = bpf_window_bucket(tcp);
  if (!bucket)
    return 0;
  if (active)
    bpf_window_add(&bucket->active_opens, 1);
  else if (failed)
    bpf_window_add(&bucket->failed_connects, 1);
  else
    bpf_window_add(&bucket->passive_opens, 1);
  return 0;
}

/* From 6.17 on also called for what could not be sent, with the error behind
 * the other arguments; older kernels have no such argument to be read. */
static __always_inline bool was_sent(unsigned long long *arguments) {
  if (!bpf_core_field_exists(struct trace_event_raw_tcp_retransmit_skb, err))
    return true;
  return (int)arguments[2] == 0;
}

SEC("tp_btf/tcp_retransmit_skb")
int retransmit_skb(unsigned long long *arguments) {
  if (!was_sent(arguments))
    return 0;
  const struct sk_buff *skb = (void *)arguments[1];
  const struct tcp_skb_cb *control = (void *)skb->cb;
  struct tcp_stats *bucket = bpf_window_bucket(tcp);
  if (bucket)
    bpf_window_add(&bucket->retransmitted_segments,
                   BPF_CORE_READ(control, tcp_gso_segs));
  return 0;
}

/* The answer to a SYN, sent again; not seen by the tracepoint above. */
SEC("tp_btf/tcp_retransmit_synack")
int BPF_PROG(retransmit_synack) {
  struct tcp_stats *bucket = bpf_window_bucket(tcp);
  if (bucket)
    bpf_window_add(&bucket->retransmitted_segments, 1);
  return 0;
}

SEC("tp_btf/tcp_send_reset")
int BPF_PROG(send_reset) {
  struct tcp_stats *bucket = bpf_window_bucket(tcp);
  if (bucket)
    bpf_window_add(&bucket->resets_sent, 1);
  return 0;
}

SEC("tp_btf/tcp_receive_reset")
int BPF_PROG(receive_reset) {
  struct tcp_stats *bucket = bpf_window_bucket(tcp);
  if (bucket)
    bpf_window_add(&bucket->resets_received, 1);
  return 0;
}
