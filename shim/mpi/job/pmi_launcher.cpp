#include "shim/mpi/job/pmi_launcher.h"

#include <sys/socket.h>

#include <cstdlib>
#include <mutex>
#include <optional>
#include <string_view>

#include "shim/mpi/job/capabilities.h"
#include "shim/mpi/job/pmi_wire.h"
#include "shim/mpi/native/mpi_symbols.h"
#include "shim/mpi/native/stack_frame.h"

namespace thinwire::mpi {
namespace {

// One descriptor a process, so one lock: held during an exchange of ours, and taken for a moment
// by each call of the MPI's own.
std::mutex g_descriptor;
int g_calls_of_mpi = 0;
thread_local OutermostCall own_call;

std::string key_of(int rank) { return "thinwire.capabilities." + std::to_string(rank); }

std::optional<int> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  int number = 0;
  if (text == nullptr || !read_number(std::string_view(text), number)) return std::nullopt;
  return number;
}

bool is_stream_socket(int descriptor) {
  int type = 0;
  socklen_t length = sizeof type;
  return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

// The MPIs whose every word to the launcher is known; see the header.
bool speaks_in_known_calls_only() {
  const std::string version = library_version();
  return version.find("ch4:") != std::string::npos ||
         version.find("Intel(R) MPI") != std::string::npos;
}

}  // namespace

// The code that it returns to is the call's.
[[gnu::noinline]] LauncherCall::LauncherCall() {
  bool left = false;
  const bool counts = own_call.enter(this, __builtin_return_address(0), left);
  // Not counted: it is inside another call, or replaces one that a longjmp() has left.
  if (left || !counts) return;
  const std::lock_guard lock(g_descriptor);
  ++g_calls_of_mpi;
}

LauncherCall::~LauncherCall() {
  if (!own_call.leave(this)) return;
  const std::lock_guard lock(g_descriptor);
  --g_calls_of_mpi;
}

void PmiLauncher::publish(const std::string& capabilities) {
  capabilities_ = capabilities;
  if (greetings_ == Greetings::kSeveral) {
    publish_now();
    return;
  }
  relay_.begin([this](pmi::Protocol protocol) {
    channel_ = pmi::Channel(relay_.launcher_end(), protocol);
    publish_now();
    return channel_.is_owed() ? 1 : 0;
  });
}

void PmiLauncher::publish_now() {
  const std::lock_guard lock(g_descriptor);
  const std::string key = key_of(rank_);
  const std::string value = pmi::as_word(capabilities_);
  std::size_t longest_key = 0, longest_value = 0;
  channel_.set_patience(patience_);
  const bool is_greeted = greetings_ == Greetings::kOne || greet();  // kOne: the MPI greets
  const bool fits = is_greeted && learn_limits(longest_key, longest_value) && learn_name() &&
                    key.size() < longest_key && value.size() < longest_value && pmi::is_word(value);
  published_ = fits && learn_locality() && put(key, value);
  channel_.set_patience(std::chrono::milliseconds::zero());
}

// MPICH 4.0's launcher forgets what was put before the first init that it hears. The MPI sends its
// own later: hydra counts none.
bool PmiLauncher::greet() {
  const auto greeting = channel_.ask("cmd=init pmi_version=1 pmi_subversion=1");
  return greeting && pmi::answers(*greeting, "response_to_init") &&
         pmi::field(*greeting, "pmi_version") == "1";
}

bool PmiLauncher::learn_limits(std::size_t& longest_key, std::size_t& longest_value) {
  if (channel_.protocol() == pmi::Protocol::kPmi2) {  // they are the protocol's
    longest_key = 64;
    longest_value = 1024;
    return true;
  }
  const auto maxes = channel_.ask("cmd=get_maxes");
  if (!maxes || !pmi::answers(*maxes, "maxes")) return false;
  return read_number(pmi::field(*maxes, "keylen_max").value_or(""), longest_key) &&
         read_number(pmi::field(*maxes, "vallen_max").value_or(""), longest_value);
}

bool PmiLauncher::learn_name() {
  const auto named = channel_.ask(pmi::name_request(channel_.protocol()));
  if (named) name_ = pmi::name_in(channel_.protocol(), *named);
  return !name_.empty();
}

// Before the capabilities are out, because ranks must agree on it: a rank that alone did not know
// its neighbours would compress to those who do not expect it.
bool PmiLauncher::learn_locality() {
  const std::string_view command = pmi::mapping_answer(channel_.protocol());
  const auto answer = channel_.ask(pmi::mapping_request(channel_.protocol(), name_));
  if (!answer || pmi::field(*answer, "cmd") != command) return false;
  if (!pmi::answers(*answer, command)) return pmi::says_not_found(*answer);
  const auto mapping = pmi::parse_mapping(pmi::field(*answer, "value").value_or(""));
  if (mapping) local_ = pmi::ranks_beside(*mapping, rank_, size_);
  return true;
}

bool PmiLauncher::put(const std::string& key, const std::string& value) {
  const std::string_view command = pmi::put_answer(channel_.protocol());
  const auto answer = channel_.ask(pmi::put_request(channel_.protocol(), name_, key, value));
  if (answer && pmi::field(*answer, "cmd") == command) {
    return put_is_answered_ = pmi::answers(*answer, command);
  }
  // Another answer than the put's: nobody knows what became of it. Others may read the
  // capabilities and compress to this rank.
  if (answer) may_ask_ = false;
  return !may_ask_ || channel_.broken();
}

CapabilitiesText PmiLauncher::capabilities_of(int world_rank) {
  const CapabilitiesText kNotNow{false, std::nullopt};
  const std::lock_guard lock(g_descriptor);
  if (own_call.forget_if_left(&kNotNow)) --g_calls_of_mpi;
  if (!may_ask_ || g_calls_of_mpi > 0) return kNotNow;
  const std::string_view command = pmi::get_answer(channel_.protocol());
  const auto answer =
      channel_.ask(pmi::get_request(channel_.protocol(), name_, key_of(world_rank)));
  if (!answer) return kNotNow;
  if (pmi::field(*answer, "cmd") != command) {
    may_ask_ = false;
    return kNotNow;
  }
  if (!pmi::answers(*answer, command)) return {pmi::says_not_found(*answer), std::nullopt};
  const auto value = pmi::field(*answer, "value");
  return value ? CapabilitiesText{true, pmi::from_word(std::string(*value))} : kNotNow;
}

bool PmiLauncher::is_lost() const {
  const std::lock_guard lock(g_descriptor);
  return !may_ask_ || channel_.broken();
}

bool PmiLauncher::answers_with_threads() const { return speaks_in_known_calls_only(); }

bool PmiLauncher::expect_threads() {
  const std::lock_guard lock(g_descriptor);
  may_ask_ = may_ask_ && answers_with_threads();
  return may_ask_;
}

// The local ranks are what hydra alone sets, on every node and in all its variants. Slurm's server
// refuses a second greeting and ends the job step; others (gforker's) may, too.
std::unique_ptr<Launcher> find_pmi_launcher() {
  const auto descriptor = number_in("PMI_FD");
  const auto rank = number_in("PMI_RANK");
  const auto size = number_in("PMI_SIZE");
  if (!descriptor || !rank || !size || *rank < 0 || *rank >= *size) return nullptr;
  // For a debugger the launcher speaks first, and the MPI waits for that.
  if (std::getenv("PMI_TOTALVIEW") != nullptr || !is_stream_socket(*descriptor)) return nullptr;
  const auto local_ranks = number_in("MPI_LOCALNRANKS");
  const auto local_rank = number_in("MPI_LOCALRANKID");
  const bool is_hydra = local_ranks && local_rank && *local_rank >= 0 && *local_rank < *local_ranks;
  using enum PmiLauncher::Greetings;
  return std::make_unique<PmiLauncher>(*descriptor, *rank, *size, PmiLauncher::kPatience,
                                       is_hydra ? kSeveral : kOne);
}

}  // namespace thinwire::mpi
