/* SPDX-License-Identifier: MIT */
/*
 * inventory.h - all windows that can be seen with the privileges at hand, with
 * who holds them and how busy they are.
 */
#ifndef BPF_WINDOW_INVENTORY_H
#define BPF_WINDOW_INVENTORY_H

#include "object/discover.h"
#include "object/pins.h"
#include "window/clock.h"

#define INVENTORY_RECENT_NS (10 * NS_PER_SECOND)

struct inventory_window {
  struct discover_window found;
  char pin[256];          /* empty if it is not pinned */
  bool activity_known;    /* whether it could be read */
  uint64_t recent_events; /* in the last recent_ns */
  uint64_t recent_ns;     /* INVENTORY_RECENT_NS in whole buckets */
  uint64_t age_seconds;   /* since its epoch */
};

struct inventory {
  struct inventory_window *windows;
  size_t count;
  struct census *census; /* NULL without the privilege to take one: then only
                            what is pinned below the folder is here */
};

/* Errors: -EPERM if nothing at all may be seen, -ENOMEM. */
int inventory_take(struct inventory *inventory, const char *pin_dir,
                   uint64_t width_ns, struct failure *failure);

void inventory_free(struct inventory *inventory);

#endif
