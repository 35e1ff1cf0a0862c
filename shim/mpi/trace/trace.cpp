#include "trace/trace.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>

#include "abi/real.h"
#include "base/quiet_thread.h"
#include "process/process.h"
#include "process/report.h"
#include "process/report_text.h"
#include "process/shortcut.h"
#include "trace/bins.h"
#include "trace/lines.h"
#include "wire/decode.h"
#include "wire/pool.h"

namespace thinwire::mpi {

// Its thread does all that takes time: a message finds the table alone.
class Tracer {
 public:
  explicit Tracer(std::string path) : path_(std::move(path)) {}

  bool start(std::string head) {
    head_ = std::move(head);
    thread_ = quiet_thread("thinwire-trace", [this] { work(); });
    return thread_.joinable();
  }

  void end(std::string totals) {
    {
      const std::lock_guard lock(mutex_);
      totals_ = std::move(totals);
      ended_ = true;
    }
    wakes_.notify_all();
    thread_.join();
  }

  Cells cells;
  Names names;

 private:
  using Clock = std::chrono::steady_clock;

  void work();
  void write_bin();
  void write(const std::string& text);
  void give_up();
  double now() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  const std::string path_;
  const Clock::time_point start_ = Clock::now();
  std::string head_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable wakes_;
  std::string totals_;
  bool ended_ = false;
  // The thread's own:
  int file_ = -1;
  Bins bins_;
  BinLines lines_;
  double written_to_ = 0;
  bool full_ = false;
  bool broken_ = false;
};

namespace detail {
std::atomic<Tracer*> tracer{nullptr};
}

namespace {

Writers writers() { return process().concurrent ? Writers::kMany : Writers::kOne; }

ProcessFigures figures_now() {
  const Counters& counters = process().counters;
  return {sends_below_threshold,     counters.decoded_messages, counters.decode_nanoseconds,
          counters.damaged_messages, messages_without_memory,   counters.device_failures};
}

// Held by the pool of host memory and that of pinned memory, on loan and idle.
std::uint64_t pool_bytes_now() {
  std::uint64_t bytes = 0;
  for (const tw_memory memory : {TW_MEMORY_HOST, TW_MEMORY_PINNED}) {
    const tw_pool_counters counters = describe_pool(memory, -1);
    bytes += counters.idle_bytes + counters.loaned_bytes;
  }
  return bytes;
}

}  // namespace

// Nothing more where the file takes none, which is said once.
void Tracer::write(const std::string& text) {
  for (std::size_t done = 0; !broken_ && done < text.size();) {
    const ssize_t moved = ::write(file_, text.data() + done, text.size() - done);
    if (moved > 0) {
      done += static_cast<std::size_t>(moved);
    } else if (errno != EINTR) {
      give_up();
    }
  }
}

void Tracer::give_up() {
  broken_ = true;
  tw_log(TW_LOG_ERROR, ("THINWIRE_TRACE: cannot write " + path_ + ": " + std::strerror(errno) +
                        "; the program goes on without a trace")
                           .c_str());
}

void Tracer::write_bin() {
  const double from = written_to_;
  written_to_ = now();
  if (broken_ || full_) return;
  const std::string bin =
      lines_.next(cells, names, figures_now(), pool_bytes_now(), from, written_to_);
  full_ = !bins_.take(bin.size());
  if (!full_) write(bin);
}

void Tracer::work() {
  file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file_ < 0) give_up();
  write(head_);
  std::unique_lock lock(mutex_);
  for (bool ended = false; !ended; lock.lock()) {
    const auto length = std::chrono::duration<double>(written_to_ + bins_.seconds());
    ended = wakes_.wait_until(lock, start_ + std::chrono::duration_cast<Clock::duration>(length),
                              [this] { return ended_; });
    lock.unlock();
    write_bin();
  }
  write("{\"end\": " + std::to_string(now()) + ", \"whole\": " + (full_ ? "false" : "true") +
        ", \"totals\": " + totals_ + "}\n");
  if (file_ >= 0) close(file_);
}

void start_trace() {
  const Process& self = process();
  static bool started = false;
  if (self.settings.trace.empty() || std::exchange(started, true)) return;
  // Never destroyed: a thread may still be counting.
  auto* const made = new Tracer(self.settings.trace + ".rank" + std::to_string(self.world.rank));
  if (!made->start(head_line())) {
    tw_log(TW_LOG_ERROR, "THINWIRE_TRACE: the system has no thread to write it");
    return;
  }
  detail::tracer.store(made, std::memory_order_release);
}

void end_trace() {
  Tracer* const tracer = detail::tracer.exchange(nullptr);
  if (tracer == nullptr) return;
  std::string totals = as_json(own_totals());
  totals.pop_back();  // the end of its line
  tracer->end(std::move(totals));
}

std::uint32_t traced_name(MPI_Comm comm) {
  Tracer* const tracer = detail::tracer.load(std::memory_order_acquire);
  if (tracer == nullptr || comm == MPI_COMM_NULL) return 0;
  char name[MPI_MAX_OBJECT_NAME + 1] = {};
  int length = 0;
  if (real().Comm_get_name(comm, name, &length) != MPI_SUCCESS) return 0;
  return tracer->names.of(name);
}

void trace_message(const Outgoing& message, const Peer& peer, const CodecUse& use,
                   std::uint32_t reason, const Event& event) {
  Tracer* const tracer = detail::tracer.load(std::memory_order_acquire);
  if (tracer == nullptr) return;
  const CellKey key{0, peer.place, use.number, reason, traced_name(message.comm), peer.world_rank};
  tracer->cells.of(key).add(event, writers());
}

void trace_native(const Asked& asked, NativeReason why, std::uint64_t bytes) {
  Tracer* const tracer = detail::tracer.load(std::memory_order_acquire);
  if (tracer == nullptr) return;
  constexpr std::uint32_t kNoCodec = 0xff;
  const CellKey key{static_cast<std::uint32_t>(asked.call) + 1,
                    0,
                    kNoCodec,
                    static_cast<std::uint32_t>(why),
                    traced_name(asked.comm),
                    -1};
  tracer->cells.of(key).add({bytes, bytes, 0, 0}, writers());
}

void trace_collective(CollectiveCall call, std::uint32_t name, const tw_codec* codec,
                      const tw_collective_report& report) {
  Tracer* const tracer = detail::tracer.load(std::memory_order_acquire);
  if (tracer == nullptr) return;
  const auto nanoseconds = [](double seconds) { return static_cast<std::uint64_t>(seconds * 1e9); };
  std::uint32_t number = 0;
  for (const CodecUse& use : process().settings.codecs) {
    if (use.codec.get() == codec) number = use.number;
  }
  const CellKey key{static_cast<std::uint32_t>(call) + 1, 0, number, TW_COMPRESS, name, -1};
  tracer->cells.of(key).add({report.raw_bytes, report.wire_bytes,
                             nanoseconds(report.predicted_seconds), nanoseconds(report.seconds)},
                            writers());
}

}  // namespace thinwire::mpi
