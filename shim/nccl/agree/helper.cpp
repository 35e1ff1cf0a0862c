#include <atomic>

#include "agree/core.h"
#include "agree/handle.h"
#include "agree/terms.h"

namespace thinwire::nccl::agree {
namespace {

std::shared_ptr<Handle> raw_handle(std::shared_ptr<Core> core, const std::string& why) {
  auto shared = std::make_shared<Shared>();
  shared->set(State::kRaw, "raw: " + why);
  return std::make_shared<Handle>(std::move(core), 0, std::move(shared));
}

// Writes what the helper's thread answers, if it does in time.
bool write_answer(Loop& loop, std::span<std::byte, kIdBytes> id,
                  std::function<std::optional<Stamp>()> ask) {
  const auto made = std::make_shared<std::promise<std::optional<Stamp>>>();
  auto answer = made->get_future();
  if (!loop.post([=] { made->set_value(ask()); })) return false;
  if (answer.wait_for(kStampTime) != std::future_status::ready) return false;
  const std::optional<Stamp> stamp = answer.get();
  if (stamp) write_stamp(id, *stamp);
  return stamp.has_value();
}

}  // namespace

struct Helper::Parts {
  std::shared_ptr<Core> core;
  std::atomic<std::uint64_t> next_id{1};
  std::atomic<bool> left{false};
};

Helper::Helper(Options options) : parts_(std::make_unique<Parts>()) {
  parts_->core = std::make_shared<Core>(std::move(options));
}

Helper::~Helper() {
  leave();
  parts_->core->loop().join();
}

bool Helper::stamp(std::span<std::byte, kIdBytes> id) {
  const auto interface = room_for_stamp(id);
  if (!interface) return false;
  return write_answer(parts_->core->loop(), id, [core = parts_->core.get(), at = *interface] {
    return core->make_stamp(at);
  });
}

bool Helper::stamp_part(std::span<std::byte, kIdBytes> id, const CommunicatorRef& parent,
                        std::uint64_t split, int color) {
  const auto* const of = static_cast<const Handle*>(parent.get());
  if (of->id() == 0 || !room_for_stamp(id)) return false;
  return write_answer(parts_->core->loop(), id,
                      [core = parts_->core.get(), parent_id = of->id(), split, color] {
                        return core->stamp_of_part(parent_id, split, color);
                      });
}

CommunicatorRef Helper::open(IdView id, int rank, int ranks, const Terms& terms,
                             const Kindred& kindred, std::uint64_t domain) {
  if (ranks <= 1) return raw_handle(parts_->core, "one rank");
  if (!parts_->core->loop().lives()) return raw_handle(parts_->core, "there is no helper thread");
  const auto stamp = read_stamp(id);
  if (!stamp)
    return raw_handle(parts_->core,
                      "the unique id comes from a process that lacks it, or from NCCL_COMM_ID");
  Core* const core = parts_->core.get();
  const std::uint64_t number = parts_->next_id++;
  auto shared = std::make_shared<Shared>();
  const bool posted = core->loop().post([=, text = terms_text(terms)] {
    core->open(number, shared, rank, ranks, *stamp, text, domain);
    core->relate(number, kindred);
  });
  if (!posted) return raw_handle(parts_->core, "there is no helper thread");
  return std::make_shared<Handle>(parts_->core, number, std::move(shared));
}

CommunicatorRef Helper::open_child(const CommunicatorRef& parent, std::uint64_t split, int color,
                                   int rank, int ranks, int meets, const Terms& terms,
                                   const Kindred& kindred, std::uint64_t domain) {
  if (ranks <= 1) return raw_handle(parts_->core, "one rank");
  const auto* const of = static_cast<const Handle*>(parent.get());
  if (of->id() == 0) return raw_handle(parts_->core, "its parent is raw");
  Core* const core = parts_->core.get();
  const std::uint64_t number = parts_->next_id++;
  auto shared = std::make_shared<Shared>();
  const std::string text = terms.empty() ? "" : terms_text(terms);
  const bool posted = core->loop().post([=, parent_id = of->id()] {
    core->open_child(number, shared, rank, ranks, {parent_id, split, color}, meets, text, domain);
    core->relate_part(number, kindred, parent_id, split, color);
  });
  if (!posted) return raw_handle(parts_->core, "there is no helper thread");
  return std::make_shared<Handle>(parts_->core, number, std::move(shared));
}

void Helper::leave_out(const CommunicatorRef& parent, std::uint64_t split) {
  const auto* const of = static_cast<const Handle*>(parent.get());
  if (of->id() == 0) return;
  Core* const core = parts_->core.get();
  core->loop().post([=, parent_id = of->id()] { core->leave_out(parent_id, split); });
}

std::size_t Helper::connections() {
  Core* const core = parts_->core.get();
  const auto made = std::make_shared<std::promise<std::size_t>>();
  auto answer = made->get_future();
  if (!core->loop().post([=] { made->set_value(core->connections()); })) return 0;
  return answer.wait_for(kStampTime) == std::future_status::ready ? answer.get() : 0;
}

void Helper::leave() {
  Core* const core = parts_->core.get();
  if (!core->loop().lives() || parts_->left.exchange(true)) return;
  const auto done = std::make_shared<std::promise<void>>();
  auto told = done->get_future();
  if (core->loop().post([=] { core->leave(done); })) {
    told.wait_for(kLastCallsTime + kExitTime);
  }
}

namespace {

struct OfProcess {
  explicit OfProcess(const Options& options) : helper(options), generation(fork_generation()) {}
  Helper helper;
  const int generation;
};

// Never destroyed: host threads may still use it while the process ends.
constinit std::atomic<OfProcess*> g_of_process{nullptr};

}  // namespace

Helper& process_helper(const Options& options) {
  OfProcess* found = g_of_process.load();
  while (found == nullptr || found->generation != fork_generation()) {
    OfProcess* const made = new OfProcess(options);
    if (g_of_process.compare_exchange_strong(found, made)) return made->helper;
    delete made;
  }
  return found->helper;
}

void leave_process_helper() {
  OfProcess* const found = g_of_process.load();
  if (found != nullptr && found->generation == fork_generation()) found->helper.leave();
}

}  // namespace thinwire::nccl::agree
