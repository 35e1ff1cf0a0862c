#include "comm/agreement.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/checksum.h"
#include "comm/exchange.h"

namespace thinwire::comm {
namespace {

// Terms one after the other, each with a line of its own.
std::string text_of(const std::vector<Term>& terms) {
  std::string text;
  for (const Term& term : terms) text += term.name + "=" + term.value + "\n";
  return text;
}

std::uint64_t digest_of(const std::string& text) {
  return checksum(std::as_bytes(std::span(text)));
}

Result<std::string> text_from(transport::Transport& transport, int owner, const std::string& own) {
  std::uint64_t length = own.size();
  Status status = broadcast(transport, owner, std::as_writable_bytes(std::span(&length, 1)));
  if (!status.ok()) return status;
  std::string text = transport.rank() == owner ? own : std::string(length, '\0');
  status = broadcast(transport, owner, std::as_writable_bytes(std::span(text)));
  if (!status.ok()) return status;
  return text;
}

// The first line that differs, from both.
std::string difference(const std::string& first, const std::string& second, int rank) {
  std::size_t begin = 0;
  for (std::size_t at = 0; at < std::min(first.size(), second.size()); ++at) {
    if (first[at] != second[at]) break;
    if (first[at] == '\n') begin = at + 1;
  }
  const auto line = [&](const std::string& text) {
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  return "the ranks differ: rank 0 has " + line(first) + ", rank " + std::to_string(rank) +
         " has " + line(second);
}

}  // namespace

Status agree(transport::Transport& transport, const std::vector<Term>& terms) {
  const std::string own = text_of(terms);
  std::uint64_t most = digest_of(own), least = ~most;
  for (std::uint64_t* value : {&most, &least}) {
    if (Status status = largest(transport, value); !status.ok()) return status;
  }
  if (most == ~least) return {};

  const auto first = text_from(transport, 0, own);
  if (!first.ok()) return first.status();
  // The lowest rank that differs from rank 0, as the largest number of ranks from it on.
  const auto size = static_cast<std::uint64_t>(transport.size());
  std::uint64_t left = own == *first ? 0 : size - static_cast<std::uint64_t>(transport.rank());
  if (Status status = largest(transport, &left); !status.ok()) return status;
  const int other = static_cast<int>(size - left);
  const auto second = text_from(transport, other, own);
  if (!second.ok()) return second.status();
  return {StatusCode::kVersion, difference(*first, *second, other)};
}

}  // namespace thinwire::comm
