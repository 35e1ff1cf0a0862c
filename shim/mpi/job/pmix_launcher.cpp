// PMIx, through the library that the MPI itself uses.
//
// An MPI that links PMIx starts it: an Open MPI 5 that finds it started does not learn who it is,
// and ends in MPI_Init. So the call by which the MPI starts it is caught, and the capabilities
// published there, before the exchange that carries what the MPI publishes. Older ones load PMIx
// late, under names that cannot always be caught, but bear with one that was started before.
#include <dlfcn.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <span>
#include <thread>

#include "shim/mpi/job/capabilities.h"
#include "shim/mpi/job/launcher.h"
#include "shim/mpi/job/pmix_abi.h"
#include "shim/mpi/native/mpi_symbols.h"

namespace thinwire::mpi {
namespace {

constexpr const char* kKey = "thinwire.capabilities";

// A server that does not know kRefreshCache would wait for a key that nobody published.
constexpr int kSeconds = 5;

// Tries of what fails at MPI_Init, after 1, 2, 4, ... milliseconds.
constexpr int kTries = 8;

template <typename Try>
bool try_again(Try&& succeeds) {
  for (int at = 0; at < kTries; ++at) {
    if (succeeds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1 << at));
  }
  return false;
}

pmix::Info flag(const char* key) {
  pmix::Info info{};
  std::strncpy(info.key, key, pmix::kMaxKey);
  info.value.type = pmix::kTypeBool;
  info.value.data.flag = true;
  return info;
}

pmix::Info seconds(const char* key, int count) {
  pmix::Info info{};
  std::strncpy(info.key, key, pmix::kMaxKey);
  info.value.type = pmix::kTypeInt;
  info.value.data.integer = count;
  return info;
}

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

  void publish(const std::string& capabilities) override {
    capabilities_ = capabilities;
    if (mpi_links_pmix()) {
      g_publisher = this;
      return;
    }
    pmix::Process self{};
    started_ = calls().all() && calls().init(&self, nullptr, 0) == 0;
    if (started_) put_capabilities(self);
  }

  void put_capabilities(const pmix::Process& self) {
    disarm();
    if (!calls().all()) return;
    name_ = self.name_space;
    // Before the capabilities are out, because ranks must agree on it: a rank that alone did not
    // know its neighbours would compress to those who do not expect it.
    if (!try_again([this] { return learn_locality(); })) return;
    pmix::Value value{};
    value.type = pmix::kTypeString;
    value.data.string = capabilities_.data();
    const bool put = try_again([&] { return calls().put(pmix::kScopeGlobal, kKey, &value) == 0; });
    // A value in this process' own store goes out, if not by this commit then by the MPI's own.
    const CapabilitiesText own =
        put ? CapabilitiesText{false, std::nullopt} : query(self.rank, kKey);
    published_ = !(own.known && !own.text);
    capabilities_are_out_ = try_again([] { return calls().commit() == 0; }) && put;
  }

  bool published() const override { return published_; }
  bool capabilities_are_out() const override { return capabilities_are_out_; }
  const std::string& job_name() const override { return name_; }
  std::vector<int> ranks_on_this_node() override { return local_; }
  bool always_answers() const override { return true; }

  // The server of this node may not have fetched what a rank of another node published: Open MPI 5
  // has it fetched when a rank first talks to that one. So its "not found" means nothing yet.
  CapabilitiesText capabilities_of(int world_rank) override {
    const auto rank = static_cast<std::uint32_t>(world_rank);
    const CapabilitiesText here = query(rank, kKey);
    if (!here.known || here.text) return here;
    const pmix::Info fetched[] = {flag(pmix::kRefreshCache), seconds(pmix::kTimeout, kSeconds)};
    return query(rank, kKey, fetched);
  }

 private:
  bool learn_locality() {
    const CapabilitiesText peers = query(pmix::kRankWildcard, pmix::kLocalPeers);
    if (peers.text) local_ = read_list<int>(*peers.text);
    return peers.known;
  }

  // By what the server of this node has. Without it a key that nobody published is waited for.
  CapabilitiesText query(std::uint32_t rank, const char* key) const {
    const pmix::Info immediate[] = {flag(pmix::kImmediate)};
    return query(rank, key, immediate);
  }

  // Queries a key. Only one of all failures says that nobody published it.
  CapabilitiesText query(std::uint32_t rank, const char* key,
                         std::span<const pmix::Info> how) const {
    pmix::Process whom{};
    std::strncpy(whom.name_space, name_.c_str(), pmix::kMaxNamespace);
    whom.rank = rank;
    pmix::Value* value = nullptr;
    const int error = calls().get(&whom, key, how.data(), how.size(), &value);
    if (error != 0 || value == nullptr) return {error == pmix::kNotFound, std::nullopt};
    CapabilitiesText found{false, std::nullopt};
    if (value->type == pmix::kTypeString && value->data.string != nullptr) {
      found = {true, value->data.string};
      std::free(value->data.string);
    }
    std::free(value);
    return found;
  }

  void disarm() {
    if (g_publisher == this) g_publisher = nullptr;
  }

  std::string capabilities_;
  std::string name_;
  std::vector<int> local_;
  bool started_ = false;    // here, not by the MPI
  bool published_ = false;  // or it may be
  bool capabilities_are_out_ = false;
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
    g_publisher->put_capabilities(process == nullptr ? self : *process);
  }
  return error;
}
