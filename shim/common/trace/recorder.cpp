#include "shim/common/trace/recorder.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/quiet_thread.h"
#include "shim/common/trace/metrics.h"

namespace thinwire::shim {
namespace {

constexpr double kMetricsSeconds = 5;

}  // namespace

Recorder::Recorder(Paths paths, Source source)
    : paths_(std::move(paths)), source_(std::move(source)), lines_(source_.describe) {}

bool Recorder::start(std::string head) {
  if (paths_.trace.empty() && paths_.metrics.empty()) return true;
  head_ = std::move(head);
  thread_ = quiet_thread("thinwire-trace", [this] { work(); }, Runs::kAnywhere);
  return thread_.joinable();
}

void Recorder::end(std::string totals) {
  {
    const std::lock_guard lock(mutex_);
    totals_ = std::move(totals);
    ended_ = true;
  }
  wakes_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Recorder::write_bin() {
  const double from = written_to_;
  written_to_ = now();
  if (file_.is_broken() || full_) return;
  const std::string bin =
      lines_.next(cells, names, source_.figures(), source_.pool_bytes(), from, written_to_);
  full_ = !bins_.take(bin.size());
  if (!full_) file_.write(bin);
}

void Recorder::write_metrics() {
  next_metrics_ = now() + kMetricsSeconds;
  replace_file("THINWIRE_METRICS", paths_.metrics,
               metrics_text(cells, names, source_.describe, source_.figures(), source_.pool_bytes(),
                            paths_.rank));
}

double Recorder::seconds_to_next() const {
  const double never = std::numeric_limits<double>::max();
  const double bin = paths_.trace.empty() ? never : written_to_ + bins_.seconds();
  return std::min(bin, paths_.metrics.empty() ? never : next_metrics_);
}

void Recorder::work() {
  if (!paths_.trace.empty()) {
    file_.open("THINWIRE_TRACE", paths_.trace);
    file_.write(head_);
  }
  std::unique_lock lock(mutex_);
  for (bool ended = false; !ended; lock.lock()) {
    const std::chrono::duration<double> next(seconds_to_next());
    ended = wakes_.wait_until(lock, start_ + std::chrono::duration_cast<Clock::duration>(next),
                              [this] { return ended_; });
    lock.unlock();
    const bool is_bin = now() >= written_to_ + bins_.seconds();
    if (!paths_.trace.empty() && (ended || is_bin)) write_bin();
    if (!paths_.metrics.empty() && (ended || now() >= next_metrics_)) write_metrics();
  }
  file_.write("{\"end\": " + std::to_string(now()) + ", \"whole\": " + (full_ ? "false" : "true") +
              ", \"totals\": " + totals_ + "}\n");
  file_.close();
}

}  // namespace thinwire::shim
