// A library to preload: the kernel's counters of TCP connections are not to be had, as of networks
// that are not TCP.
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int getsockopt(int socket, int level, int name, void* value, socklen_t* size) {
  if (level == IPPROTO_TCP && name == TCP_INFO) {
    errno = ENOPROTOOPT;
    return -1;
  }
  return (int)syscall(SYS_getsockopt, socket, level, name, value, size);
}
