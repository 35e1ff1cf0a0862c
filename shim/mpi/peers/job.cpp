#include "peers/job.h"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "abi/real.h"
#include "peers/pmix_abi.h"

namespace thinwire::mpi {
namespace {

constexpr const char* kCardKey = "thinwire.card";

struct Calls {
  pmix::InitCall init = nullptr;
  pmix::FinalizeCall finalize = nullptr;
  pmix::PutCall put = nullptr;
  pmix::CommitCall commit = nullptr;
  pmix::GetCall get = nullptr;
};

// The PMIx that the MPI itself uses, where it links one; else the system's.
const Calls& calls() {
  static const Calls found = [] {
    void* library = find_symbol("PMIx_Init") ? nullptr : dlopen("libpmix.so.2", RTLD_LAZY);
    const auto find = [library](const char* name) {
      return library ? dlsym(library, name) : find_symbol(name);
    };
    Calls table;
    table.init = reinterpret_cast<pmix::InitCall>(find("PMIx_Init"));
    table.finalize = reinterpret_cast<pmix::FinalizeCall>(find("PMIx_Finalize"));
    table.put = reinterpret_cast<pmix::PutCall>(find("PMIx_Put"));
    table.commit = reinterpret_cast<pmix::CommitCall>(find("PMIx_Commit"));
    table.get = reinterpret_cast<pmix::GetCall>(find("PMIx_Get"));
    return table;
  }();
  return found;
}

template <typename Number>
bool read_number(const std::string& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

template <typename Number>
std::vector<Number> read_list(const std::string& text) {
  std::vector<Number> numbers;
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    Number number{};
    if (read_number(item, number)) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

std::string Card::text() const {
  std::ostringstream out;
  out << format_version << ' ' << hook_threshold << ' ' << sends_compressed << ' '
      << sends_same_node << ' ' << reports << ' ';
  for (std::size_t at = 0; at < codecs.size(); ++at) out << (at == 0 ? "" : ",") << codecs[at];
  return out.str();
}

std::optional<Card> Card::parse(const std::string& text) {
  Card card;
  std::string codecs;
  std::istringstream in(text);
  // A later version may add words; it must keep these in place.
  if (!(in >> card.format_version >> card.hook_threshold >> card.sends_compressed >>
        card.sends_same_node >> card.reports >> codecs)) {
    return std::nullopt;
  }
  card.codecs = read_list<std::uint32_t>(codecs);
  return card;
}

void Job::publish(const Card& card) {
  // PMIx without its server's address would start looking for one, or wait.
  if (std::getenv("PMIX_NAMESPACE") == nullptr || std::getenv("PMIX_RANK") == nullptr) return;
  const Calls& pmix_calls = calls();
  if (!pmix_calls.init || !pmix_calls.finalize || !pmix_calls.put || !pmix_calls.commit ||
      !pmix_calls.get) {
    return;
  }
  pmix::Process self{};
  if (pmix_calls.init(&self, nullptr, 0) != 0) return;
  std::string text = card.text();
  pmix::Value value{};
  value.type = pmix::kTypeString;
  value.data.string = text.data();
  reachable_ =
      pmix_calls.put(pmix::kScopeGlobal, kCardKey, &value) == 0 && pmix_calls.commit() == 0;
  name_ = self.name_space;
}

void Job::learn_locality() {
  if (!reachable_) return;
  if (auto peers = query(pmix::kRankWildcard, pmix::kLocalPeers)) local_ = read_list<int>(*peers);
  std::sort(local_.begin(), local_.end());
}

void Job::leave() {
  if (!name_.empty()) calls().finalize(nullptr, 0);
  name_.clear();
  reachable_ = false;
}

bool Job::on_this_node(int world_rank) const {
  return std::binary_search(local_.begin(), local_.end(), world_rank);
}

std::optional<Card> Job::card_of(int world_rank) const {
  auto text = query(static_cast<std::uint32_t>(world_rank), kCardKey);
  return text ? Card::parse(*text) : std::nullopt;
}

std::optional<std::string> Job::query(std::uint32_t rank, const char* key) const {
  if (!reachable_) return std::nullopt;
  pmix::Process whom{};
  std::strncpy(whom.name_space, name_.c_str(), pmix::kMaxNamespace);
  whom.rank = rank;
  // Without this a key that nobody published is waited for.
  pmix::Info immediate{};
  std::strncpy(immediate.key, pmix::kImmediate, pmix::kMaxKey);
  immediate.value.type = pmix::kTypeBool;
  immediate.value.data.flag = true;
  pmix::Value* value = nullptr;
  if (calls().get(&whom, key, &immediate, 1, &value) != 0 || value == nullptr) return std::nullopt;
  std::optional<std::string> text;
  if (value->type == pmix::kTypeString && value->data.string != nullptr) {
    text = value->data.string;
    std::free(value->data.string);
  }
  std::free(value);
  return text;
}

}  // namespace thinwire::mpi
