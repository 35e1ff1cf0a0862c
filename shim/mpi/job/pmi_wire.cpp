#include "shim/mpi/job/pmi_wire.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdint>
#include <cstring>

namespace thinwire::mpi::pmi {
namespace {

constexpr char kSpace = '_';

bool is_plain(char letter) { return letter > ' ' && letter <= '~' && letter != '='; }

// Calls visit(rank, node) for each rank in order.
template <typename Visit>
void visit_ranks(const std::vector<NodePattern>& mapping, int size, Visit visit) {
  int rank = 0;
  const auto fill = [&](const NodeBlock& block) {
    for (int node = 0; node < block.nodes; ++node) {
      for (int place = 0; place < block.ranks_per_node; ++place) {
        if (rank == size) return;
        visit(rank++, std::int64_t{block.first_node} + node);
      }
    }
  };
  while (rank < size) {
    for (const NodePattern& pattern : mapping) {
      for (int time = 0; time < pattern.times && rank < size; ++time) {
        for (const NodeBlock& block : pattern.blocks) fill(block);
      }
    }
  }
}

bool take(std::string_view& text, std::string_view front) {
  if (!text.starts_with(front)) return false;
  text.remove_prefix(front.size());
  return true;
}

bool take_number(std::string_view& text, int least, int& number) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return error == std::errc() && number >= least;
}

bool take_block(std::string_view& text, NodeBlock& block) {
  if (!take(text, "(")) return take_number(text, 0, block.first_node);
  return take_number(text, 0, block.first_node) && take(text, ",") &&
         take_number(text, 1, block.nodes) && take(text, ",") &&
         take_number(text, 1, block.ranks_per_node) && take(text, ")");
}

bool take_pattern(std::string_view& text, NodePattern& pattern) {
  const bool repeated = take(text, "[");
  do {
    if (!take_block(text, pattern.blocks.emplace_back())) return false;
  } while (repeated && take(text, ","));
  return !repeated || (take(text, "]x") && take_number(text, 1, pattern.times));
}

}  // namespace

std::optional<std::string_view> field(std::string_view line, std::string_view key) {
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find(' '));
    if (word.size() > key.size() && word.starts_with(key) && word[key.size()] == '=') {
      return word.substr(key.size() + 1);
    }
    line.remove_prefix(std::min(line.size(), word.size() + 1));
  }
  return std::nullopt;
}

bool answers(std::string_view line, std::string_view command) {
  // Not every launcher says rc in every answer.
  return field(line, "cmd") == command && field(line, "rc").value_or("0") == "0";
}

bool says_not_found(std::string_view line) {
  // Hydra before 4.1 says so after the key's name. Later ones say 1, and nothing more.
  const auto why = field(line, "msg");
  return why ? why->ends_with("not_found") : field(line, "rc") == "1";
}

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_plain);
}

std::string as_word(std::string text) {
  std::replace(text.begin(), text.end(), ' ', kSpace);
  return text;
}

std::string from_word(std::string text) {
  std::replace(text.begin(), text.end(), kSpace, ' ');
  return text;
}

std::optional<std::vector<NodePattern>> parse_mapping(std::string_view text) {
  if (!take(text, "(vector")) return std::nullopt;
  std::vector<NodePattern> mapping;
  while (take(text, ",")) {
    if (!take_pattern(text, mapping.emplace_back())) return std::nullopt;
  }
  if (text != ")" || mapping.empty()) return std::nullopt;
  return mapping;
}

std::vector<int> ranks_beside(const std::vector<NodePattern>& mapping, int rank, int size) {
  std::int64_t own_node = -1;
  visit_ranks(mapping, size, [&](int each, std::int64_t node) {
    if (each == rank) own_node = node;
  });
  std::vector<int> ranks;
  visit_ranks(mapping, size, [&](int each, std::int64_t node) {
    if (own_node >= 0 && node == own_node) ranks.push_back(each);
  });
  return ranks;
}

namespace {

// Bytes of an answer's line; a longer one is read to its end and dropped.
constexpr std::size_t kLongestLine = 64 << 10;

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK; }

template <typename Call>
auto without_interruption(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace

std::optional<std::string> Channel::ask(std::string_view request) {
  if (broken_ || !is_quiet()) return std::nullopt;
  const auto deadline =
      patience_.count() == 0 ? Clock::time_point::max() : Clock::now() + patience_;
  std::optional<std::string> answer;
  if (send_line(std::string(request) + '\n', deadline)) answer = receive_line(deadline);
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
      if (wait <= 0) return false;
      left = static_cast<int>(std::min<long long>(wait, INT_MAX));
    }
    pollfd ready{descriptor_, events, 0};
    const int found = poll(&ready, 1, left);
    // If it hung up, the call that follows says so.
    if (found > 0) return (ready.revents & POLLNVAL) == 0;
    if (found < 0 && errno != EINTR) return false;
  }
}

bool Channel::send_line(std::string line, Clock::time_point deadline) {
  for (std::size_t sent = 0; sent < line.size();) {
    const auto taken = without_interruption([&] {
      return send(descriptor_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
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

}  // namespace thinwire::mpi::pmi
