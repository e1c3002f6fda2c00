/* SPDX-License-Identifier: MIT */
/*
 * tcp_load: makes a known number of TCP's events in a network namespace of its
 * own, and prints them and what the kernel says of the same namespace, as one
 * line of JSON. Exit status 77 if there can be no such namespace.
 *
 * Segments are lost by a filter on the socket that should have got them.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLOSED_CLEANLY 50
#define REFUSED 20
#define RESET 10
#define UNANSWERED 1

static unsigned connected, refused, resets;

static void die(const char *what) {
  fprintf(stderr, "tcp_load: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void enter_namespace(void) {
  struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP};
  int fd = -1;
  if (unshare(CLONE_NEWNET) != 0 || (fd = socket(AF_INET, SOCK_DGRAM, 0)) < 0 ||
      ioctl(fd, SIOCSIFFLAGS, &loopback) != 0) {
    printf("# no network namespace of one's own: %s\n", strerror(errno));
    exit(77);
  }
  close(fd);
}

static int open_socket(void) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    die("socket");
  return fd;
}

/* Listens at a port of the kernel's choice. */
static int open_listener(struct sockaddr_in *address) {
  socklen_t size = sizeof(*address);
  *address = (struct sockaddr_in){.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = open_socket();
  if (bind(fd, (struct sockaddr *)address, size) != 0 || listen(fd, 8) != 0 ||
      getsockname(fd, (struct sockaddr *)address, &size) != 0)
    die("listen");
  return fd;
}

static int try_connect(int fd, const struct sockaddr_in *address) {
  return connect(fd, (const struct sockaddr *)address, sizeof(*address));
}

static void open_pair(int listener, const struct sockaddr_in *address,
                      int *client, int *server) {
  *client = open_socket();
  if (try_connect(*client, address) != 0)
    die("connect");
  if ((*server = accept(listener, NULL, NULL)) < 0)
    die("accept");
  connected++;
}

/* Lets a socket lose all segments that it gets. */
static void lose(int fd, int on) {
  struct sock_filter nothing = {.code = BPF_RET | BPF_K, .k = 0};
  struct sock_fprog program = {.len = 1, .filter = &nothing};
  if (setsockopt(fd, SOL_SOCKET, on ? SO_ATTACH_FILTER : SO_DETACH_FILTER,
                 &program, sizeof(program)) != 0)
    die("filter");
}

static void close_cleanly(void) {
  struct sockaddr_in address;
  int listener = open_listener(&address), client, server;
  for (int i = 0; i < CLOSED_CLEANLY; i++) {
    open_pair(listener, &address, &client, &server);
    close(client);
    close(server);
  }
  close(listener);
}

static void be_refused(void) {
  struct sockaddr_in address;
  close(open_listener(&address)); /* nobody listens there now */
  for (int i = 0; i < REFUSED; i++) {
    int client = open_socket();
    if (try_connect(client, &address) == 0 || errno != ECONNREFUSED)
      die("a connect that is to be refused");
    refused++;
    close(client);
  }
}

/* To close a socket with unread data resets the connection. */
static void reset(void) {
  struct sockaddr_in address;
  int listener = open_listener(&address), client, server;
  char byte = 0;
  for (int i = 0; i < RESET; i++) {
    open_pair(listener, &address, &client, &server);
    if (send(client, &byte, 1, 0) != 1 || recv(server, &byte, 1, MSG_PEEK) != 1)
      die("send");
    close(server);
    if (recv(client, &byte, 1, 0) >= 0 || errno != ECONNRESET)
      die("a connection that is to be reset");
    resets++;
    close(client);
  }
  close(listener);
}

/* The client loses each answer: both repeat themselves until the client gives
 * up. */
static void be_unanswered(void) {
  struct sockaddr_in address;
  int listener = open_listener(&address), client = open_socket(), one = 1;
  lose(client, 1);
  if (setsockopt(client, IPPROTO_TCP, TCP_SYNCNT, &one, sizeof(one)) != 0)
    die("TCP_SYNCNT");
  if (try_connect(client, &address) == 0 || errno != ETIMEDOUT)
    die("a connect that is to time out");
  close(listener); /* or it would go on answering */
  close(client);
}

static unsigned retransmits(int fd) {
  struct tcp_info info;
  socklen_t size = sizeof(info);
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
    die("TCP_INFO");
  return info.tcpi_total_retrans;
}

/* Many segments are lost until some were sent three times. */
static void lose_data(void) {
  struct sockaddr_in address;
  int listener = open_listener(&address), client, server;
  static char data[100000];
  open_pair(listener, &address, &client, &server);
  lose(server, 1);
  if (send(client, data, sizeof(data), 0) != sizeof(data))
    die("send");
  while (retransmits(client) < 3)
    usleep(10000);
  lose(server, 0);
  if (recv(server, data, sizeof(data), MSG_WAITALL) != sizeof(data))
    die("receive");
  close(client);
  close(server);
  close(listener);
}

/* A counter of /proc/net/snmp's two lines "Tcp:", which has names above
 * numbers. */
static unsigned long kernel_count(const char *wanted) {
  char names[1024] = "", line[1024], *rest_of_names = names, *rest = line;
  FILE *file = fopen("/proc/self/net/snmp", "re");
  while (file && fgets(line, sizeof(line), file))
    if (strncmp(line, "Tcp:", 4) == 0) {
      if (names[0])
        break;
      strcpy(names, line);
    }
  if (!file)
    die("/proc/self/net/snmp");
  fclose(file);
  for (;;) {
    char *name = strsep(&rest_of_names, " \n"), *value = strsep(&rest, " \n");
    if (!name || !value)
      die(wanted);
    if (strcmp(name, wanted) == 0)
      return strtoul(value, NULL, 10);
  }
}

/* Whether a socket of this namespace may still send something again. */
static bool is_busy(void) {
  char line[1024];
  unsigned state;
  bool busy = false;
  FILE *file = fopen("/proc/self/net/tcp", "re");
  if (!file)
    die("/proc/self/net/tcp");
  while (fgets(line, sizeof(line), file))
    busy |= sscanf(line, " %*[^ ] %*s %*s %x", &state) == 1 &&
            state != TCP_TIME_WAIT && state != TCP_CLOSE;
  fclose(file);
  return busy;
}

int main(void) {
  enter_namespace();
  close_cleanly();
  be_refused();
  reset();
  be_unanswered();
  lose_data();
  while (is_busy())
    usleep(10000);
  unsigned failed = refused + UNANSWERED;
  printf("{\"known\": {\"active_opens\": %u, \"passive_opens\": %u, "
         "\"failed_connects\": %u, \"resets_of_sockets\": %u, "
         "\"resets_received\": %u}, ",
         connected + failed, connected, failed, resets, resets + refused);
  printf("\"kernel\": {\"active_opens\": %lu, \"passive_opens\": %lu, "
         "\"failed_connects\": %lu, \"retransmitted_segments\": %lu, "
         "\"resets_sent\": %lu}}\n",
         kernel_count("ActiveOpens"), kernel_count("PassiveOpens"),
         kernel_count("AttemptFails"), kernel_count("RetransSegs"),
         kernel_count("OutRsts"));
  return 0;
}
