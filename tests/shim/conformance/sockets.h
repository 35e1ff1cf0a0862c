// Connections between two processes of one host; a negative value is an error.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static inline struct sockaddr_in loopback(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A socket that listens on a port of the system's choice.
static inline int listen_here(int* port) {
  struct sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listening, (struct sockaddr*)&address, length) != 0 || listen(listening, 1) != 0)
    return -1;
  getsockname(listening, (struct sockaddr*)&address, &length);
  *port = ntohs(address.sin_port);
  return listening;
}

static inline int accept_one(int listening) {
  const int connection = accept(listening, NULL, NULL);
  close(listening);
  return connection;
}

static inline int connect_here(int port) {
  struct sockaddr_in address = loopback(port);
  const int connection = socket(AF_INET, SOCK_STREAM, 0);
  return connect(connection, (struct sockaddr*)&address, sizeof address) == 0 ? connection : -1;
}
