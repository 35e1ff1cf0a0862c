#include "shim/mpi/job/pmi_channel.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "shim/mpi/job/socket_calls.h"

namespace thinwire::mpi::pmi {
namespace {

// Bytes of an answer's line; a longer one is read to its end and dropped.
constexpr std::size_t kLongestLine = 64 << 10;

}  // namespace

std::optional<std::string> Channel::ask(std::string_view request) {
  if (broken_ || !is_quiet()) return std::nullopt;
  const auto deadline =
      patience_.count() == 0 ? Clock::time_point::max() : Clock::now() + patience_;
  const bool is_first = protocol_ == Protocol::kPmi1;
  std::string text = is_first ? "" : std::to_string(request.size());
  if (!is_first) text.resize(kDigits, ' ');
  text.append(request).append(is_first ? "\n" : "");
  std::optional<std::string> answer;
  if (send_text(text, deadline)) {
    answer = is_first ? receive_line(deadline) : receive_sized(deadline);
    is_owed_ = !answer;
  }
  broken_ = !answer;
  return answer;
}

// False if something is unread: it belongs to somebody else's dialogue.
bool Channel::is_quiet() {
  char byte;
  const auto got =
      without_interruption([&] { return recv(descriptor_, &byte, 1, MSG_PEEK | MSG_DONTWAIT); });
  broken_ = got == 0 || (got < 0 && !would_block());
  return got < 0 && !broken_;
}

bool Channel::wait_for(short events, Clock::time_point deadline) {
  for (;;) {
    int left = -1;
    if (deadline != Clock::time_point::max()) {
      const auto wait =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
      // One more look after the last moment: the process may have been stopped meanwhile.
      left = static_cast<int>(std::clamp<long long>(wait, 0, INT_MAX));
    }
    pollfd ready{descriptor_, events, 0};
    const int found = poll(&ready, 1, left);
    // If it hung up, the call that follows says so.
    if (found > 0) return (ready.revents & POLLNVAL) == 0;
    if (found < 0 && errno != EINTR) return false;
    if (found == 0 && left == 0) return false;
  }
}

bool Channel::send_text(std::string_view text, Clock::time_point deadline) {
  for (std::size_t sent = 0; sent < text.size();) {
    const auto taken = without_interruption([&] {
      return send(descriptor_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    });
    if (taken >= 0) {
      sent += static_cast<std::size_t>(taken);
    } else if (!would_block() || !wait_for(POLLOUT, deadline)) {
      return false;
    }
  }
  return true;
}

// Looks before it takes, and takes no byte after the newline.
std::optional<std::string> Channel::receive_line(Clock::time_point deadline) {
  std::string line;
  bool too_long = false;
  char chunk[4096];
  for (;;) {
    if (!wait_for(POLLIN, deadline)) return std::nullopt;
    const auto seen = without_interruption(
        [&] { return recv(descriptor_, chunk, sizeof chunk, MSG_PEEK | MSG_DONTWAIT); });
    if (seen < 0 && would_block()) continue;
    if (seen <= 0) return std::nullopt;
    const auto* newline =
        static_cast<const char*>(std::memchr(chunk, '\n', static_cast<std::size_t>(seen)));
    const auto length =
        newline == nullptr ? static_cast<std::size_t>(seen) : newline - chunk + std::size_t{1};
    const auto taken =
        without_interruption([&] { return recv(descriptor_, chunk, length, MSG_DONTWAIT); });
    if (taken != static_cast<ssize_t>(length)) return std::nullopt;
    too_long = too_long || line.size() + length > kLongestLine;
    if (too_long) {
      line.clear();
    } else {
      line.append(chunk, length);
    }
    if (newline == nullptr) continue;
    if (!line.empty()) line.pop_back();
    return line;
  }
}

bool Channel::receive_bytes(char* bytes, std::size_t count, Clock::time_point deadline) {
  for (std::size_t had = 0; had < count;) {
    if (!wait_for(POLLIN, deadline)) return false;
    const auto taken = without_interruption(
        [&] { return recv(descriptor_, bytes + had, count - had, MSG_DONTWAIT); });
    if (taken < 0 && would_block()) continue;
    if (taken <= 0) return false;
    had += static_cast<std::size_t>(taken);
  }
  return true;
}

std::optional<std::string> Channel::receive_sized(Clock::time_point deadline) {
  char head[kDigits];
  if (!receive_bytes(head, kDigits, deadline)) return std::nullopt;
  const auto length = read_length({head, kDigits});
  if (!length || *length > kLongestLine) return std::nullopt;
  std::string answer(*length, '\0');
  if (!receive_bytes(answer.data(), *length, deadline)) return std::nullopt;
  std::replace(answer.begin(), answer.end(), ';', ' ');
  return answer;
}

}  // namespace thinwire::mpi::pmi
