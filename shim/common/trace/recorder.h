// Counts what a process sends by kind, and runs the thread that writes it: all that takes time is
// done there, and whoever sends meets the table alone.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "shim/common/trace/cells.h"
#include "shim/common/trace/lines.h"
#include "shim/common/trace/steps.h"

namespace thinwire::shim {

// Files that a program's run is not to fail for: what cannot be written is said once and left out.

// One that grows. Nothing more is written after a failure.
class TraceFile {
 public:
  // `setting` is what a message names.
  void open(const char* setting, const std::string& path);
  void write(const std::string& text);
  void close();

  bool is_broken() const { return file_ < 0; }

 private:
  void give_up();

  const char* setting_ = "";
  std::string path_;
  int file_ = -1;
};

// One that others read meanwhile, whole each time. A failure is said once a process.
void replace_file(const char* setting, const std::string& path, const std::string& text);

// One at the end of a process.
void write_report(const std::string& path, const std::string& text);

class Recorder {
 public:
  // Sources of what is written besides cells; asked for by the thread.
  struct Source {
    Describe describe;
    std::function<ProcessFigures()> figures;
    std::function<PoolBytes()> pool_bytes;
  };
  // Paths of the files: "" for neither, and nobody writes then. `rank` is a label of each metric.
  struct Paths {
    std::string trace;
    std::string metrics;
    std::string rank;
  };

  Recorder(Paths paths, Source source);

  // `head`: the trace's first line. False if the system has no thread.
  bool start(std::string head);

  // Writes what is left and `totals`, a JSON object; waits for that.
  void end(std::string totals);

  // Whether somebody will read steps.
  bool wants_steps() const { return !paths_.trace.empty(); }

  Cells cells;
  Names names;
  Steps steps;

 private:
  using Clock = std::chrono::steady_clock;

  void work();
  void write_bin();
  void write_metrics();
  double seconds_to_next() const;
  double now() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  const Paths paths_;
  const Source source_;
  const Clock::time_point start_ = Clock::now();
  std::string head_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable wakes_;
  std::string totals_;
  bool ended_ = false;
  // The thread's own:
  TraceFile file_;
  Bins bins_;
  BinLines lines_;
  double written_to_ = 0;
  double next_metrics_ = 0;
  bool full_ = false;
};

}  // namespace thinwire::shim
