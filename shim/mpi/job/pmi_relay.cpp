#include "shim/mpi/job/pmi_relay.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/threads.h"

namespace thinwire::mpi {
namespace {

// The MPI may end the process within MPI_Init, after it has told the launcher why.
std::atomic<PmiRelay*> g_relay{nullptr};

[[gnu::destructor]] void hand_on_last_words() {
  if (PmiRelay* const relay = g_relay.exchange(nullptr)) relay->end();
}

ino_t number_of(int descriptor) {
  struct stat facts{};
  return fstat(descriptor, &facts) == 0 ? facts.st_ino : 0;
}

bool send_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = send(descriptor, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

enum class Heard { kSome, kNothing, kEnd };

Heard hear(int descriptor, std::string& text) {
  char chunk[4096];
  ssize_t taken = 0;
  do {
    taken = recv(descriptor, chunk, sizeof chunk, MSG_DONTWAIT);
  } while (taken < 0 && errno == EINTR);
  if (taken < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Heard::kNothing;
  if (taken <= 0) return Heard::kEnd;
  text.append(chunk, static_cast<std::size_t>(taken));
  return Heard::kSome;
}

}  // namespace

bool PmiRelay::open() {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
  own_ = ends[0];
  wake_ = eventfd(0, EFD_CLOEXEC);
  launcher_ = fcntl(of_mpi_, F_DUPFD_CLOEXEC, 0);
  const int flags = fcntl(of_mpi_, F_GETFD);
  const bool stands_between =
      wake_ >= 0 && launcher_ >= 0 && flags >= 0 &&
      dup3(ends[1], of_mpi_, (flags & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0) >= 0;
  close(ends[1]);
  if (!stands_between) return false;
  pair_ = number_of(of_mpi_);
  return true;
}

bool PmiRelay::begin(std::function<void(pmi::Protocol)> before_exchange) {
  before_exchange_ = std::move(before_exchange);
  if (open()) thread_ = quiet_thread("thinwire-pmi", [this] { relay(); });
  if (!thread_.joinable()) {
    step_aside();
    if (launcher_ >= 0) close(std::exchange(launcher_, -1));
    return false;
  }
  g_relay = this;
  return true;
}

void PmiRelay::relay() {
  pollfd ready[] = {{own_, POLLIN, 0}, {launcher_, POLLIN, 0}, {wake_, POLLIN, 0}};
  while (ready[2].revents == 0) {
    if (poll(ready, 3, -1) < 0 && errno != EINTR) return;
    if (!hand_on_requests() || !hand_on_answers()) return;
  }
}

// A whole request at a time. False: nothing more comes.
bool PmiRelay::hand_on_requests() {
  const Heard heard = hear(own_, unsent_);
  while (const std::size_t length = pmi::request_length(unsent_)) {
    const std::string_view request = std::string_view(unsent_).substr(0, length);
    const auto protocol = before_exchange_ ? pmi::exchange_of(request) : std::nullopt;
    if (protocol) std::exchange(before_exchange_, nullptr)(*protocol);
    if (!send_all(launcher_, request)) return false;
    unsent_.erase(0, length);
  }
  return heard != Heard::kEnd;
}

bool PmiRelay::hand_on_answers() {
  std::string answers;
  const Heard heard = hear(launcher_, answers);
  if (heard == Heard::kEnd) shutdown(own_, SHUT_RDWR);  // as the MPI would see it
  return send_all(own_, answers) && heard != Heard::kEnd;
}

PmiRelay::~PmiRelay() {
  end();
  if (launcher_ >= 0) close(launcher_);
}

void PmiRelay::end() {
  PmiRelay* self = this;
  g_relay.compare_exchange_strong(self, nullptr);
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  while (write(wake_, &one, sizeof one) < 0 && errno == EINTR) continue;
  thread_.join();
  before_exchange_ = nullptr;
  hand_on_requests();
  step_aside();
}

void PmiRelay::step_aside() {
  if (pair_ != 0 && number_of(of_mpi_) == pair_) {
    const int flags = fcntl(of_mpi_, F_GETFD);
    dup3(launcher_, of_mpi_, (flags & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0);
  }
  pair_ = 0;
  for (int* each : {&own_, &wake_}) {
    if (*each >= 0) close(std::exchange(*each, -1));
  }
}

}  // namespace thinwire::mpi
