#include "shim/mpi/job/pmi_wire.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace thinwire::mpi::pmi {
namespace {

constexpr char kSpace = '_';

bool is_digit_or_space(char letter) { return letter == ' ' || (letter >= '0' && letter <= '9'); }

bool is_plain(char letter) {
  return letter > ' ' && letter <= '~' && letter != '=' && letter != ';';
}

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
  return field(line, "cmd") == command && field(line, "rc").value_or("0") == "0" &&
         field(line, "found").value_or("TRUE") == "TRUE";
}

bool says_not_found(std::string_view line) {
  if (const auto found = field(line, "found")) {
    return found == "FALSE" && field(line, "rc").value_or("0") == "0";
  }
  // Hydra before 4.1 says so after the key's name. Later ones say 1, and nothing more.
  const auto why = field(line, "msg");
  return why ? why->ends_with("not_found") : field(line, "rc") == "1";
}

std::optional<std::size_t> read_length(std::string_view head) {
  int length = 0;
  head.remove_prefix(std::min(head.find_first_not_of(' '), head.size()));
  if (!take_number(head, 0, length)) return std::nullopt;
  if (head.find_first_not_of(' ') != std::string_view::npos) return std::nullopt;
  return static_cast<std::size_t>(length);
}

std::size_t request_length(std::string_view text) {
  if (text.starts_with('c') || text.starts_with('m')) {  // cmd=, mcmd=
    const std::size_t newline = text.find('\n');
    return newline == std::string_view::npos ? 0 : newline + 1;
  }
  const std::string_view head = text.substr(0, kDigits);
  if (text.size() < kDigits)
    return std::all_of(head.begin(), head.end(), is_digit_or_space) ? 0 : text.size();
  const auto length = read_length(head);
  if (!length) return text.size();
  return kDigits + *length <= text.size() ? kDigits + *length : 0;
}

std::optional<Protocol> exchange_of(std::string_view request) {
  if (field(request.substr(0, request.find('\n')), "cmd") == "barrier_in") return Protocol::kPmi1;
  const std::string_view after_length = request.substr(std::min(kDigits, request.size()));
  if (after_length.starts_with("cmd=kvs-fence;")) return Protocol::kPmi2;
  return std::nullopt;
}

std::string name_request(Protocol protocol) {
  return protocol == Protocol::kPmi1 ? "cmd=get_my_kvsname" : "cmd=job-getid;";
}

std::string name_in(Protocol protocol, std::string_view answer) {
  const bool is_first = protocol == Protocol::kPmi1;
  if (!answers(answer, is_first ? "my_kvsname" : "job-getid-response")) return {};
  return std::string(field(answer, is_first ? "kvsname" : "jobid").value_or(""));
}

std::string mapping_request(Protocol protocol, const std::string& job) {
  const std::string key = "PMI_process_mapping";
  if (protocol == Protocol::kPmi1) return get_request(protocol, job, key);
  return "cmd=info-getjobattr;key=" + key + ";";
}

std::string put_request(Protocol protocol, const std::string& job, const std::string& key,
                        const std::string& value) {
  if (protocol == Protocol::kPmi1)
    return "cmd=put kvsname=" + job + " key=" + key + " value=" + value;
  return "cmd=kvs-put;key=" + key + ";value=" + value + ";";
}

std::string get_request(Protocol protocol, const std::string& job, const std::string& key) {
  if (protocol == Protocol::kPmi1) return "cmd=get kvsname=" + job + " key=" + key;
  return "cmd=kvs-get;jobid=" + job + ";srcid=-1;key=" + key + ";";
}

std::string_view mapping_answer(Protocol protocol) {
  return protocol == Protocol::kPmi1 ? "get_result" : "info-getjobattr-response";
}

std::string_view put_answer(Protocol protocol) {
  return protocol == Protocol::kPmi1 ? "put_result" : "kvs-put-response";
}

std::string_view get_answer(Protocol protocol) {
  return protocol == Protocol::kPmi1 ? "get_result" : "kvs-get-response";
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

}  // namespace thinwire::mpi::pmi
