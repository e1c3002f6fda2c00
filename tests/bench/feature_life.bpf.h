/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * feature_life.bpf.h - a variant that counts no opens counts closes instead:
 * the loader takes an object of which nothing moves for one that the kernel
 * does not run. Closes are outside of what is measured.
 */
SEC("lsm/file_free_security")
BPF_WINDOW_FRONT(lsm)
int BPF_PROG(sign_of_life) {
  (void)ctx;
  struct inode_cache_stats *bucket = inode_cache__bucket();
  if (bucket)
    bpf_window_add(&bucket->lookups, 1);
  return 0;
}
