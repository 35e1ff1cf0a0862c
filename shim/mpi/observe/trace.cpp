#include "shim/mpi/observe/trace.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "shim/common/trace/lines.h"
#include "shim/common/trace/recorder.h"
#include "shim/mpi/native/mpi_symbols.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/observe/report.h"
#include "shim/mpi/observe/report_text.h"
#include "shim/mpi/state/collective_arguments.h"
#include "shim/mpi/state/fast_path.h"
#include "shim/mpi/state/pool.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {

namespace detail {
std::atomic<shim::Recorder*> recorder{nullptr};
}

namespace {

using shim::CellKey;
using shim::Writers;

Writers writers() { return process().concurrent ? Writers::kMany : Writers::kOne; }

shim::ProcessFigures figures_now() {
  const Counters& counters = process().counters;
  return {sends_below_threshold,     counters.decoded_messages,        counters.decode_nanoseconds,
          counters.damaged_messages, counters.messages_without_memory, counters.device_failures};
}

// Bytes of the pool of host memory and that of pinned memory; their peaks may have been at two
// times.
shim::PoolBytes pool_bytes_now() {
  shim::PoolBytes bytes;
  for (const tw_memory memory : {TW_MEMORY_HOST, TW_MEMORY_PINNED}) {
    const tw_pool_counters counters = describe_pool(memory, -1);
    bytes.now += counters.idle_bytes + counters.loaned_bytes;
    bytes.peak += counters.peak_bytes;
  }
  return bytes;
}

const char* place_name(std::uint32_t place) {
  switch (place) {
    case TW_PEER_SELF:
      return "self";
    case TW_PEER_SAME_NODE:
      return "same node";
    case TW_PEER_OTHER_NODE:
      return "other node";
    default:
      return "unknown";
  }
}

shim::CellText describe(const CellKey& key) {
  const bool is_message = key.operation == 0;
  const auto& codecs = process().settings.codecs;
  shim::CellText text{is_message ? "send" : kForms[key.operation - 1].name};
  if (is_message) text.place = place_name(key.place);
  if (key.codec < codecs.size()) text.codec = tw_codec_spec(codecs[key.codec].codec.get());
  if (key.reason != TW_COMPRESS) {
    text.raw = native_reason_text(static_cast<NativeReason>(key.reason));
  }
  return text;
}

std::string first_line_of(const char* text) { return std::string(text, std::strcspn(text, "\n")); }

std::string head_line() {
  const Process& self = process();
  return "{" + shim::head_fields() + ", \"rank\": " + std::to_string(self.world.rank) +
         ", \"ranks\": " + std::to_string(self.world.size) +
         ", \"mpi\": " + shim::quoted(first_line_of(library_version().c_str()).c_str()) +
         ", \"threads\": " + (self.concurrent ? "true" : "false") + ", \"codec\": \"" +
         tw_codec_spec(self.settings.codec()) +
         "\", \"threshold\": " + std::to_string(self.settings.plan.threshold) + "}\n";
}

std::string with_rank(const std::string& path, const char* suffix = "") {
  if (path.empty()) return "";
  return path + ".rank" + std::to_string(process().world.rank) + suffix;
}

// Changes if a name may have.
std::atomic<std::uint32_t> g_names_known{0};

// The cell of a thread's last message: most have its communicator, and are of its kind.
struct LastTraced {
  MPI_Comm comm{};
  std::uint32_t place = 0;  // of the communicator's name
  std::uint32_t at = 0;     // g_names_known then
  std::uint32_t times = 0;  // that it was taken for granted
  std::uint64_t key = 0;
  shim::Cell* cell = nullptr;
};
// Not of the initial-exec model: where the library is loaded later than the program there is no
// room for all of its thread-local variables, of which CUDA's are the most.
constinit thread_local LastTraced last_traced;

// Bytes of collectives are counted in two ways, so that they tell no calls apart.
void note_step(shim::Recorder& recorder, const CellKey& key, std::uint64_t bytes) {
  if (!recorder.wants_steps()) return;
  recorder.steps.call(shim::call_number(key, bytes), key.reason == TW_COMPRESS, writers());
}

void start_recorder() {
  static std::atomic<bool> started{false};
  if (started.exchange(true)) return;
  const Settings& settings = process().settings;
  // Never destroyed: a thread may still be counting.
  auto* const made =
      new shim::Recorder({with_rank(settings.trace), with_rank(settings.metrics, ".prom"),
                          std::to_string(process().world.rank)},
                         {describe, figures_now, pool_bytes_now});
  if (!made->start(head_line())) {
    tw_log(TW_LOG_ERROR, "THINWIRE_TRACE: the system has no thread to write it");
    return;
  }
  detail::recorder.store(made, std::memory_order_release);
}

}  // namespace

void start_trace() {
  const Settings& settings = process().settings;
  if (!settings.trace.empty() || !settings.metrics.empty()) start_recorder();
}

void count_kinds() {
  if (shim_is_active()) start_recorder();
}

std::uint32_t kinds_so_far() {
  const shim::Recorder* const recorder = detail::recorder.load(std::memory_order_acquire);
  return recorder == nullptr ? 0 : static_cast<std::uint32_t>(recorder->cells.size());
}

bool read_kind(std::uint32_t number, tw_stats_kind& kind) {
  const shim::Recorder* const recorder = detail::recorder.load(std::memory_order_acquire);
  if (recorder == nullptr || number >= recorder->cells.size()) return false;
  shim::read_kind(recorder->cells.at(number), recorder->names, describe, kind);
  return true;
}

void forget_traced_names() { g_names_known.fetch_add(1, std::memory_order_release); }

void end_trace() {
  shim::Recorder* const recorder = detail::recorder.exchange(nullptr);
  if (recorder == nullptr) return;
  std::string totals = as_json(own_totals());
  totals.pop_back();  // the end of its line
  recorder->end(std::move(totals));
}

std::uint32_t traced_name(MPI_Comm comm) {
  shim::Recorder* const recorder = detail::recorder.load(std::memory_order_acquire);
  if (recorder == nullptr || comm == MPI_COMM_NULL) return 0;
  // Asking the MPI takes longer than all else that is counted. Some MPIs' Fortran bindings set
  // names if nobody sees it: so it is asked again now and then.
  constexpr std::uint32_t kTimes = 256;
  auto& known = last_traced;
  const std::uint32_t now = g_names_known.load(std::memory_order_acquire);
  if (known.comm == comm && known.at == now && ++known.times < kTimes) return known.place;
  char name[MPI_MAX_OBJECT_NAME + 1] = {};
  int length = 0;
  if (real().Comm_get_name(comm, name, &length) != MPI_SUCCESS) return 0;
  known.comm = comm;
  known.place = recorder->names.of(name);
  known.at = now;
  known.times = 0;
  return known.place;
}

void trace_message(MPI_Comm comm, tw_peer place, int world_rank, const CodecUse& use,
                   std::uint32_t reason, const Event& event) {
  shim::Recorder* const recorder = detail::recorder.load(std::memory_order_acquire);
  if (recorder == nullptr) return;
  const CellKey key{0, place, use.number, reason, traced_name(comm), world_rank};
  const std::uint64_t word = packed(key);
  auto& last = last_traced;
  if (last.key != word) {
    last.cell = &recorder->cells.of(key);
    last.key = word;
  }
  last.cell->add(event, writers());
  note_step(*recorder, key, event.bytes);
}

void trace_native(const CollectiveArguments& arguments, NativeReason why, std::uint64_t bytes) {
  shim::Recorder* const recorder = detail::recorder.load(std::memory_order_acquire);
  if (recorder == nullptr) return;
  constexpr std::uint32_t kNoCodec = 0xff;
  const CellKey key{static_cast<std::uint32_t>(arguments.call) + 1,
                    0,
                    kNoCodec,
                    static_cast<std::uint32_t>(why),
                    traced_name(arguments.comm),
                    -1};
  recorder->cells.of(key).add({bytes, bytes, 0, 0}, writers());
  note_step(*recorder, key, 0);
}

void trace_collective(CollectiveCall call, std::uint32_t name, const tw_codec* codec,
                      std::optional<std::int64_t> gain, const tw_collective_report& report) {
  shim::Recorder* const recorder = detail::recorder.load(std::memory_order_acquire);
  if (recorder == nullptr) return;
  const auto nanoseconds = [](double seconds) { return static_cast<std::uint64_t>(seconds * 1e9); };
  std::uint32_t number = 0;
  for (const CodecUse& use : process().settings.codecs) {
    if (use.codec.get() == codec) number = use.number;
  }
  const CellKey key{static_cast<std::uint32_t>(call) + 1, 0, number, TW_COMPRESS, name, -1};
  const std::uint64_t took = nanoseconds(report.seconds);
  const auto least = -static_cast<std::int64_t>(took);
  const std::uint64_t raw = gain ? took + static_cast<std::uint64_t>(std::max(*gain, least)) : 0;
  recorder->cells.of(key).add({report.raw_bytes, report.wire_bytes,
                               nanoseconds(report.predicted_seconds), took, raw, gain ? took : 0},
                              writers());
  note_step(*recorder, key, 0);
}

}  // namespace thinwire::mpi
