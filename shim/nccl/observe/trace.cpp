#include "observe/count.h"

#include <atomic>
#include <mutex>
#include <string>

#include "base/job_rank.h"
#include "observe/report.h"
#include "shim/common/trace/recorder.h"
#include "state/settings.h"

namespace thinwire::nccl {
namespace {

std::atomic<shim::Recorder*> g_recorder{nullptr};

// Messages are the operation 0 of traces.
std::uint32_t number_of(int operation) {
  return operation == kSend ? 0 : static_cast<std::uint32_t>(operation) + 1;
}

shim::CellText describe(const shim::CellKey& key) {
  const auto& codecs = settings().codecs;
  shim::CellText text{key.operation == 0 ? "send"
                                         : operation_name(static_cast<int>(key.operation) - 1)};
  if (key.codec < codecs.size()) text.codec = tw_codec_spec(codecs[key.codec].codec);
  if (key.reason != 0) text.raw = reason_text(static_cast<int>(key.reason));
  return text;
}

shim::ProcessFigures no_figures() { return {}; }

shim::PoolBytes pool_bytes_now() {
  tw_pool_counters counters{};
  counters.size = sizeof counters;
  if (tw_pool_describe(TW_MEMORY_PINNED, -1, &counters) != TW_OK) return {};
  return {counters.idle_bytes + counters.loaned_bytes, counters.peak_bytes};
}

std::int64_t ranks_of_job(const Communicator& first) {
  return job_size().value_or(static_cast<std::int64_t>(first.ranks));
}

std::string head_line(const Communicator& first, const std::string& rank) {
  return "{" + shim::head_fields() + ", \"rank\": " + rank +
         ", \"ranks\": " + std::to_string(ranks_of_job(first)) + ", \"mpi\": \"NCCL " +
         std::to_string(nccl_version()) + "\", \"threads\": true, \"codec\": \"" +
         tw_codec_spec(settings().codecs.front().codec) +
         "\", \"threshold\": " + std::to_string(settings().threshold) + "}\n";
}

std::string with_rank(const std::string& path, const std::string& rank, const char* suffix) {
  return path.empty() ? "" : path + ".nccl.rank" + rank + suffix;
}

// Never destroyed: a thread may still be counting.
shim::Recorder* start(const Communicator& first) {
  const std::int64_t of_job = tw_job_rank();
  const std::string rank = std::to_string(of_job >= 0 ? of_job : first.rank);
  auto* const made = new shim::Recorder(
      {with_rank(settings().trace, rank, ""), with_rank(settings().metrics, rank, ".prom"), rank},
      {describe, no_figures, pool_bytes_now});
  if (made->start(head_line(first, rank))) return made;
  tw_log(TW_LOG_ERROR, "THINWIRE_TRACE: the system has no thread to write it");
  return nullptr;
}

shim::Recorder* recorder_for(const Communicator& first) {
  static std::once_flag once;
  std::call_once(once, [&] { g_recorder.store(start(first), std::memory_order_release); });
  return g_recorder.load(std::memory_order_acquire);
}

}  // namespace

bool is_traced() { return !settings().trace.empty() || !settings().metrics.empty(); }

void trace_call(const Count& call) {
  if (call.operation == kRecv) return;
  const Communicator& communicator = *call.communicator;
  shim::Recorder* const recorder = recorder_for(communicator);
  if (recorder == nullptr) return;
  // A rank of the communicator is one of the job if it has them all.
  const bool is_whole = communicator.ranks == ranks_of_job(communicator);
  const shim::CellKey key{number_of(call.operation),
                          TW_PEER_UNKNOWN,
                          call.codec,
                          static_cast<std::uint32_t>(call.reason),
                          recorder->names.of(communicator.name.c_str()),
                          call.operation == kSend && is_whole ? call.peer : -1};
  recorder->cells.of(key).add({call.bytes, call.wire_bytes, 0, 0}, shim::Writers::kMany);
  if (recorder->wants_steps()) {
    recorder->steps.call(shim::call_number(key, call.bytes), call.reason == 0,
                         shim::Writers::kMany);
  }
}

void end_trace() {
  shim::Recorder* const recorder = g_recorder.exchange(nullptr);
  if (recorder != nullptr) recorder->end("null");
}

}  // namespace thinwire::nccl
