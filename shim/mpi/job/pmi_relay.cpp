#include "shim/mpi/job/pmi_relay.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "base/threads.h"
#include "shim/mpi/job/descriptors.h"
#include "shim/mpi/job/socket_calls.h"

namespace thinwire::mpi {
namespace {

// The MPI may end the process within MPI_Init, after it has told the launcher why.
std::atomic<PmiRelay*> g_relay{nullptr};

[[gnu::destructor]] void end_of_process() {
  if (PmiRelay* const relay = g_relay.exchange(nullptr)) relay->hand_on_last_words();
}

ino_t number_of(int descriptor) {
  struct stat facts{};
  return fstat(descriptor, &facts) == 0 ? facts.st_ino : 0;
}

// `descriptor` becomes another name of `by`, and is closed in programs that are started if it was.
bool replace(int descriptor, int by) {
  const int flags = fcntl(descriptor, F_GETFD);
  return flags >= 0 && dup3(by, descriptor, (flags & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0) >= 0;
}

// The MPI opens as many, or nearly, while this library holds some.
bool leaves_room(int highest) {
  constexpr rlim_t kRoom = 32;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  return limit.rlim_cur == RLIM_INFINITY || static_cast<rlim_t>(highest) + kRoom < limit.rlim_cur;
}

bool send_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = pmi::without_interruption(
        [&] { return send(descriptor, text.data(), text.size(), MSG_NOSIGNAL); });
    if (sent > 0) {
      text.remove_prefix(static_cast<std::size_t>(sent));
    } else if (sent < 0 && pmi::would_block()) {
      pollfd room{descriptor, POLLOUT, 0};
      poll(&room, 1, -1);
    } else {
      return false;
    }
  }
  return true;
}

enum class Heard { kSome, kNothing, kEnd };

Heard hear(int descriptor, std::string& text) {
  char chunk[4096];
  const ssize_t taken = pmi::without_interruption(
      [&] { return recv(descriptor, chunk, sizeof chunk, MSG_DONTWAIT); });
  if (taken < 0 && pmi::would_block()) return Heard::kNothing;
  if (taken <= 0) return Heard::kEnd;
  text.append(chunk, static_cast<std::size_t>(taken));
  return Heard::kSome;
}

}  // namespace

bool PmiRelay::open() {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
  own_ = above_streams(ends[0]);
  const int other = above_streams(ends[1]);
  launcher_ = fcntl(of_mpi_, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const bool stands_between = own_ >= 0 && other >= 0 && launcher_ >= 0 && leaves_room(launcher_) &&
                              replace(of_mpi_, other);
  if (other >= 0) close(other);
  if (!stands_between) return false;
  pair_ = number_of(of_mpi_);
  process_ = getpid();
  return true;
}

bool PmiRelay::begin(Ask before_exchange) {
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
  pollfd ready[] = {{own_, POLLIN, 0}, {launcher_, POLLIN, 0}};
  bool goes_on = true;
  while (goes_on) {
    if (poll(ready, 2, -1) < 0 && errno != EINTR) break;
    is_busy_ = true;
    goes_on = hand_on_answers() && hand_on_requests();
    is_busy_ = false;
  }
  if (!ends_) shutdown(own_, SHUT_RDWR);  // as the MPI would see that the launcher has gone
}

// A whole request at a time. False: nothing more comes, or nobody hears it.
bool PmiRelay::hand_on_requests() {
  const Heard heard = hear(own_, unsent_);
  while (const std::size_t length = pmi::request_length(unsent_)) {
    const std::string_view request = std::string_view(unsent_).substr(0, length);
    const auto protocol = before_exchange_ ? pmi::exchange_of(request) : std::nullopt;
    if (protocol) owed_ = std::exchange(before_exchange_, nullptr)(*protocol);
    if (!send_all(launcher_, request)) return false;
    unsent_.erase(0, length);
  }
  return heard != Heard::kEnd;
}

// Answers have the form of requests.
void PmiRelay::drop_owed(std::string& answers) {
  late_ += answers;
  answers.clear();
  while (owed_ > 0) {
    const std::size_t length = pmi::request_length(late_);
    if (length == 0) return;
    late_.erase(0, length);
    --owed_;
  }
  answers.swap(late_);
}

bool PmiRelay::hand_on_answers() {
  std::string answers;
  const Heard heard = hear(launcher_, answers);
  if (owed_ > 0) drop_owed(answers);
  return send_all(own_, answers) && heard != Heard::kEnd;
}

bool PmiRelay::is_of_this_process() const { return process_ == getpid(); }

void PmiRelay::hand_on_last_words() {
  if (!is_of_this_process()) return;
  constexpr int kLooks = 50;
  for (int look = 0; look < kLooks; ++look) {
    int unheard = 0;
    if (ioctl(own_, FIONREAD, &unheard) != 0 || (unheard == 0 && !is_busy_)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

PmiRelay::~PmiRelay() {
  end();
  if (launcher_ >= 0) close(launcher_);
}

void PmiRelay::end() {
  PmiRelay* self = this;
  g_relay.compare_exchange_strong(self, nullptr);
  if (!thread_.joinable()) return;
  if (!is_of_this_process()) {
    thread_.detach();  // the parent's
    return;
  }
  ends_ = true;
  shutdown(own_, SHUT_RD);  // the thread hands on what is there, and finds that no more comes
  thread_.join();
  before_exchange_ = nullptr;
  step_aside();
}

void PmiRelay::step_aside() {
  if (pair_ != 0 && number_of(of_mpi_) == pair_) replace(of_mpi_, launcher_);
  pair_ = 0;
  if (own_ >= 0) close(std::exchange(own_, -1));
}

}  // namespace thinwire::mpi
