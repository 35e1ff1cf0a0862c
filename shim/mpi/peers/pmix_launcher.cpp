// PMIx, through the library that the MPI itself uses.
//
// An MPI that links PMIx starts it: an Open MPI 5 that finds it started does not learn who it is,
// and ends in MPI_Init. So the call by which the MPI starts it is caught, and the card published
// there, before the exchange that carries what the MPI publishes. Older ones load PMIx late, under
// names that cannot always be caught, but bear with one that was started before.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "abi/symbols.h"
#include "peers/card.h"
#include "peers/launcher.h"
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

  bool all() const { return init && finalize && put && commit && get; }
};

bool mpi_links_pmix() { return find_symbol("PMIx_Init") != nullptr; }

const Calls& calls() {
  static const Calls found = [] {
    void* library = mpi_links_pmix() ? nullptr : dlopen("libpmix.so.2", RTLD_LAZY);
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

class PmixLauncher;

// From before MPI_Init to the start of PMIx inside it, both in one thread.
PmixLauncher* g_publisher = nullptr;

class PmixLauncher final : public Launcher {
 public:
  ~PmixLauncher() override {
    disarm();
    if (started_) calls().finalize(nullptr, 0);
  }

  void publish(const std::string& card) override {
    card_ = card;
    if (mpi_links_pmix()) {
      g_publisher = this;
      return;
    }
    pmix::Process self{};
    started_ = calls().all() && calls().init(&self, nullptr, 0) == 0;
    if (started_) put_card(self);
  }

  void put_card(const pmix::Process& self) {
    disarm();
    if (!calls().all()) return;
    name_ = self.name_space;
    pmix::Value value{};
    value.type = pmix::kTypeString;
    value.data.string = card_.data();
    // From here on the card may be out, if not by this commit then by the MPI's own.
    published_ = calls().put(pmix::kScopeGlobal, kCardKey, &value) == 0;
    calls().commit();
  }

  bool published() const override { return published_; }
  const std::string& job_name() const override { return name_; }

  std::vector<int> ranks_on_this_node() override {
    const auto peers = query(pmix::kRankWildcard, pmix::kLocalPeers);
    return peers ? read_list<int>(*peers) : std::vector<int>{};
  }

  bool always_answers() const override { return true; }

  CardText card_of(int world_rank) override {
    return {true, query(static_cast<std::uint32_t>(world_rank), kCardKey)};
  }

 private:
  std::optional<std::string> query(std::uint32_t rank, const char* key) const {
    pmix::Process whom{};
    std::strncpy(whom.name_space, name_.c_str(), pmix::kMaxNamespace);
    whom.rank = rank;
    // Without this a key that nobody published is waited for.
    pmix::Info immediate{};
    std::strncpy(immediate.key, pmix::kImmediate, pmix::kMaxKey);
    immediate.value.type = pmix::kTypeBool;
    immediate.value.data.flag = true;
    pmix::Value* value = nullptr;
    if (calls().get(&whom, key, &immediate, 1, &value) != 0 || value == nullptr) {
      return std::nullopt;
    }
    std::optional<std::string> text;
    if (value->type == pmix::kTypeString && value->data.string != nullptr) {
      text = value->data.string;
      std::free(value->data.string);
    }
    std::free(value);
    return text;
  }

  void disarm() {
    if (g_publisher == this) g_publisher = nullptr;
  }

  std::string card_;
  std::string name_;
  bool started_ = false;  // here, not by the MPI
  bool published_ = false;
};

}  // namespace

std::unique_ptr<Launcher> find_pmix_launcher() {
  // PMIx without its server's address would start looking for one, or wait.
  if (std::getenv("PMIX_NAMESPACE") == nullptr || std::getenv("PMIX_RANK") == nullptr) {
    return nullptr;
  }
  return std::make_unique<PmixLauncher>();
}

}  // namespace thinwire::mpi

// Programs that start PMIx themselves, launchers among them, pass through here too.
extern "C" __attribute__((visibility("default"))) int PMIx_Init(
    thinwire::mpi::pmix::Process* process, thinwire::mpi::pmix::Info* info, std::size_t count) {
  using namespace thinwire::mpi;
  if (calls().init == nullptr) return pmix::kNotSupported;
  pmix::Process self{};
  const int error = calls().init(process == nullptr ? &self : process, info, count);
  if (error == 0 && g_publisher != nullptr) {
    g_publisher->put_card(process == nullptr ? self : *process);
  }
  return error;
}
