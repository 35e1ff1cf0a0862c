#include "shim/common/trace/recorder.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <utility>

#include "base/threads.h"
#include "shim/common/results_file.h"
#include "shim/common/trace/metrics.h"
#include "thinwire/thinwire.h"

namespace thinwire::shim {
namespace {

void say_failure(const char* setting, const std::string& path) {
  tw_log(TW_LOG_ERROR, (std::string(setting) + ": cannot write " + path + ": " +
                        why_refused(errno) + "; the program goes on without it")
                           .c_str());
}

}  // namespace

void TraceFile::open(const char* setting, const std::string& path) {
  setting_ = setting;
  path_ = path;
  file_ = open_results(path);
  if (file_ < 0) say_failure(setting_, path_);
}

void TraceFile::write(const std::string& text) {
  if (file_ >= 0 && !write_results(file_, text.data(), text.size())) give_up();
}

void TraceFile::give_up() {
  say_failure(setting_, path_);
  close();
}

void TraceFile::close() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

void replace_file(const char* setting, const std::string& path, const std::string& text) {
  static std::atomic<bool> said{false};
  const std::string draft = path + ".draft";
  errno = EINVAL;
  bool whole = is_replaceable(path);
  if (whole) {
    errno = write_results(draft, text.data(), text.size());
    whole = errno == 0 && std::rename(draft.c_str(), path.c_str()) == 0;
  }
  if (!whole && !said.exchange(true)) say_failure(setting, path);
}

void write_report(const std::string& path, const std::string& text) {
  errno = write_results(path, text.data(), text.size());
  if (errno != 0) say_failure("THINWIRE_REPORT", path);
}

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
  const std::string bin = lines_.next(cells, names, source_.figures(), source_.pool_bytes(),
                                      steps.take(), {from, written_to_});
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
