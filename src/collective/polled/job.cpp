#include "collective/polled/job.h"

#include <chrono>
#include <new>

namespace thinwire::collective {
namespace {

Status encode(Engine& engine, Job& job) {
  const auto packet = job.is_raw() ? engine.pass(job.from, job.shape, job.slot, job.why_raw)
                                   : engine.encode(job.from, job.shape, job.slot, job.reference);
  job.packet = packet.ok() ? *packet : Packet{};
  return packet.status();
}

Status perform_action(Engine& engine, Job& job) {
  switch (job.action) {
    case Action::kCopy:
      return engine.copy(job.to, job.from, job.shape);
    case Action::kCombine:
      return engine.combine(job.to, job.from, job.shape);
    case Action::kDecode:
      return engine.decode(job.packet, job.shape, job.to, job.reference);
    case Action::kReduce:
      return engine.reduce(job.packet, job.shape, job.to);
    case Action::kEncode:
      return encode(engine, job);
    default:
      return {StatusCode::kInternal, "a message is no local step"};
  }
}

}  // namespace

void perform(Engine& engine, Job& job) noexcept {
  const auto begin = std::chrono::steady_clock::now();
  // Nobody above could catch it on a thread of ours. The texts are short: they need no memory.
  try {
    job.status = perform_action(engine, job);
  } catch (const std::bad_alloc&) {
    job.status = {StatusCode::kInternal, "out of memory"};
  } catch (...) {
    job.status = {StatusCode::kInternal, "an exception"};
  }
  job.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace thinwire::collective
