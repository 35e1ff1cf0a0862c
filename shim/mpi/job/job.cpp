#include "shim/mpi/job/job.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <utility>

#include "shim/mpi/native/mpi_symbols.h"

namespace thinwire::mpi {
namespace {

// A job inside a job inherits the variables of both launchers. Open MPI listens to PMIx alone; the
// others go by PMI_FD if they have one.
bool mpi_is_open_mpi() { return find_symbol("ompi_mpi_comm_world") != nullptr; }

std::unique_ptr<Launcher> find_launcher() {
  std::unique_ptr<Launcher> found;
  if (!mpi_is_open_mpi()) found = find_pmi_launcher();
  return found ? std::move(found) : find_pmix_launcher();
}

}  // namespace

void Job::publish(Capabilities capabilities) {
  launcher_ = find_launcher();
  if (!launcher_) return;
  has_shared_ = false;
  if (!capabilities.collectives.empty()) capabilities.node_cards = cards_.offer();
  launcher_->publish(capabilities.text());
}

void Job::learn_locality(int own) {
  if (launcher_) launcher_->mpi_has_started();
  if (launcher_ && !launcher_->published()) launcher_.reset();
  if (!launcher_) return cards_.withdraw();
  name_ = launcher_->job_name();
  local_ = launcher_->ranks_on_this_node();
  std::sort(local_.begin(), local_.end());
  if (local_.size() < 2 || local_.front() != own) cards_.withdraw();
}

bool Job::share_on_node(int own, int ranks) const {
  if (!launcher_ || local_.size() < 2) return false;
  const std::lock_guard lock(sharing_);
  if (std::exchange(has_shared_, true)) return cards_.is_open();
  if (own == local_.front()) {
    cards_.open_own(ranks);
  } else if (const auto first = capabilities_of(local_.front()).capabilities) {
    cards_.open(first->node_cards, ranks);
  }
  return cards_.is_open();
}

bool Job::expect_threads() { return !launcher_ || launcher_->expect_threads(); }

void Job::leave() {
  launcher_.reset();
  cards_.leave();
}

bool Job::on_this_node(int world_rank) const {
  return std::binary_search(local_.begin(), local_.end(), world_rank);
}

CapabilitiesAnswer Job::ask(int world_rank) const {
  if (const auto text = cards_.find(world_rank)) {
    if (auto shared = Capabilities::parse(*text)) return {true, std::move(shared)};
  }
  const CapabilitiesText found = launcher_->capabilities_of(world_rank);
  if (!found.known || !found.text) return {found.known, std::nullopt};
  auto capabilities = Capabilities::parse(*found.text);
  if (capabilities) cards_.keep(world_rank, *found.text);
  return {capabilities.has_value(), std::move(capabilities)};
}

CapabilitiesAnswer Job::capabilities_of(int world_rank) const {
  if (!launcher_) return {};
  if (!ask_again_.is_time(world_rank)) return {false, std::nullopt};
  CapabilitiesAnswer answer = ask(world_rank);
  if (answer.known) {
    ask_again_.answered(world_rank);
  } else {
    ask_again_.failed(world_rank);
  }
  return answer;
}

CapabilitiesAnswer Job::insist_on_capabilities_of(int world_rank) const {
  if (!launcher_) return {};
  const auto end = AskAgain::Clock::now() + patience_;
  AskAgain::Clock::duration pause = AskAgain::kFirst;
  for (;;) {
    CapabilitiesAnswer answer = ask(world_rank);
    if (answer.known) return answer;
    if (launcher_->is_lost() || AskAgain::Clock::now() + pause > end) return answer;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, AskAgain::kLongest);
  }
}

std::optional<int> rank_by_launcher() {
  const char* text = mpi_is_open_mpi() ? nullptr : std::getenv("PMI_RANK");
  if (text == nullptr) text = std::getenv("PMIX_RANK");
  int rank = 0;
  if (text == nullptr || !read_number(std::string_view(text), rank)) return std::nullopt;
  return rank;
}

}  // namespace thinwire::mpi
