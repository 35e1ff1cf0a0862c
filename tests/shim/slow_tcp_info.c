// A library to preload: connections seem to be busy for many times as long as they are, so that a
// link is taken for a much slower one.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kTimes = 20 };

int getsockopt(int socket, int level, int name, void* value, socklen_t* size) {
  const int result = (int)syscall(SYS_getsockopt, socket, level, name, value, size);
  if (result == 0 && level == IPPROTO_TCP && name == TCP_INFO) {
    struct tcp_info* const info = value;
    info->tcpi_busy_time *= kTimes;
    info->tcpi_rwnd_limited = 0;
  }
  return result;
}
