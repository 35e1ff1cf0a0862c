#include "shim/common/trace/lines.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <string>
#include <string_view>

#include "thinwire/thinwire.h"

extern char** environ;

namespace thinwire::shim {
namespace {

std::uint64_t since(const Counter& counter, std::uint64_t& before) {
  const std::uint64_t now = counter.read();
  const std::uint64_t more = now - before;
  before = now;
  return more;
}

// As [[bucket, how many], ...].
std::string histogram(const std::array<Counter, kBuckets>& counters,
                      std::array<std::uint64_t, kBuckets>& before) {
  std::string text = "[";
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    const std::uint64_t more = since(counters[bucket], before[bucket]);
    if (more == 0) continue;
    if (text.size() > 1) text += ',';
    text += '[' + std::to_string(bucket) + ',' + std::to_string(more) + ']';
  }
  return text + ']';
}

// With a comma before it; "" if no step has ended.
std::string as_field(const StepSums& steps) {
  if (steps.compressed + steps.raw == 0) return "";
  return ", \"steps\": {\"calls\": " + std::to_string(steps.calls) +
         ", \"compressed\": " + std::to_string(steps.compressed) +
         ", \"compressed_nanoseconds\": " + std::to_string(steps.compressed_nanoseconds) +
         ", \"raw\": " + std::to_string(steps.raw) +
         ", \"raw_nanoseconds\": " + std::to_string(steps.raw_nanoseconds) + '}';
}

std::string model_of_processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const auto colon = line.find(": ");
    return colon == std::string::npos ? "" : line.substr(colon + 2);
  }
  return "";
}

std::string settings_as_json() {
  std::string text = "{";
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view variable = *at;
    const auto equals = variable.find('=');
    if (!variable.starts_with("THINWIRE_") || equals == std::string_view::npos) continue;
    if (text.size() > 1) text += ", ";
    text +=
        quoted(std::string(variable.substr(0, equals)).c_str()) + ": " + quoted(*at + equals + 1);
  }
  return text + '}';
}

}  // namespace

std::string quoted(const char* text) {
  std::string out = "\"";
  for (const char* at = text; *at != '\0'; ++at) {
    const auto letter = static_cast<unsigned char>(*at);
    if (letter == '"' || letter == '\\') {
      out += '\\';
      out += *at;
    } else if (letter < 0x20 || letter == 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", letter);
      out += escaped;
    } else {
      out += *at;
    }
  }
  return out + '"';
}

std::string head_fields() {
  char node[256] = {};
  gethostname(node, sizeof node - 1);
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  std::ostringstream out;
  out << "\"thinwire_trace\": 2, \"version\": \"" << tw_version()
      << "\", \"format\": " << tw_format_version() << ", \"node\": " << quoted(node)
      << ", \"pid\": " << getpid() << ", \"started\": " << now.tv_sec << '.' << std::setw(3)
      << std::setfill('0') << now.tv_nsec / 1'000'000
      << ", \"processors\": " << sysconf(_SC_NPROCESSORS_ONLN)
      << ", \"processor\": " << quoted(model_of_processor().c_str())
      << ", \"settings\": " << settings_as_json();
  return out.str();
}

std::string BinLines::cell_line(const Cell& cell, const Names& names, std::size_t place) const {
  std::ostringstream out;
  out << "{\"cell\": " << place;
  if (cell.key == Cells::kOfAllOthers) {
    out << ", \"operation\": \"others\"}\n";
    return out.str();
  }
  const CellKey key = unpacked(cell.key);
  const CellText text = describe_(key);
  out << ", \"operation\": \"" << text.operation
      << "\", \"communicator\": " << quoted(names.at(key.name));
  if (!text.place.empty()) out << ", \"place\": \"" << text.place << '"';
  if (key.peer >= 0) out << ", \"peer\": " << key.peer;
  if (!text.codec.empty()) out << ", \"codec\": \"" << text.codec << '"';
  if (!text.raw.empty()) out << ", \"raw\": \"" << text.raw << '"';
  out << "}\n";
  return out.str();
}

std::string BinLines::changes(const Cell& cell, Counted& before, std::size_t place) {
  const std::uint64_t calls = since(cell.calls, before.calls);
  if (calls == 0) return "";
  std::ostringstream out;
  out << '[' << place << ',' << calls << ',' << since(cell.bytes, before.bytes) << ','
      << since(cell.wire_bytes, before.wire_bytes) << ','
      << since(cell.predicted_nanoseconds, before.predicted_nanoseconds) << ','
      << since(cell.nanoseconds, before.nanoseconds) << ',' << histogram(cell.sizes, before.sizes)
      << ',' << histogram(cell.times, before.times) << ','
      << histogram(cell.predictions, before.predictions) << ','
      << since(cell.raw_nanoseconds, before.raw_nanoseconds) << ','
      << since(cell.whole_nanoseconds, before.whole_nanoseconds) << ']';
  return out.str();
}

std::string BinLines::next(const Cells& cells, const Names& names, const ProcessFigures& figures,
                           const PoolBytes& pool, const StepSums& steps, const Seconds& seconds) {
  std::string lines, changed;
  const std::size_t size = cells.size();
  for (std::size_t place = 0; place < size; ++place) {
    if (place == counted_.size()) {
      counted_.push_back({});
      lines += cell_line(cells.at(place), names, place);
    }
    const std::string more = changes(cells.at(place), counted_[place], place);
    if (more.empty()) continue;
    changed += changed.empty() ? more : ", " + more;
  }
  if (changed.empty() && figures == figures_) return lines;
  std::ostringstream out;
  out << "{\"from\": " << seconds.from << ", \"to\": " << seconds.to
      << ", \"below_threshold\": " << figures.below_threshold - figures_.below_threshold
      << ", \"decoded\": " << figures.decoded - figures_.decoded
      << ", \"decode_nanoseconds\": " << figures.decode_nanoseconds - figures_.decode_nanoseconds
      << ", \"damaged\": " << figures.damaged - figures_.damaged
      << ", \"without_memory\": " << figures.without_memory - figures_.without_memory
      << ", \"device_failures\": " << figures.device_failures - figures_.device_failures
      << ", \"pool_bytes\": " << pool.now << ", \"pool_peak_bytes\": " << pool.peak
      << ", \"cells\": [" << changed << ']' << as_field(steps) << "}\n";
  figures_ = figures;
  return lines + out.str();
}

namespace {

static_assert(kBuckets == TW_HISTOGRAM_BUCKETS);

template <std::size_t kRoom>
void copy(const std::string& from, char (&to)[kRoom]) {
  const std::size_t length = std::min(from.size(), kRoom - 1);
  std::fill(std::copy_n(from.begin(), length, to), to + kRoom, '\0');
}

void copy(const std::array<Counter, kBuckets>& from, std::uint64_t (&to)[kBuckets]) {
  std::ranges::transform(from, to, &Counter::read);
}

}  // namespace

void read_kind(const Cell& cell, const Names& names, const Describe& describe,
               tw_stats_kind& kind) {
  const bool is_rest = cell.key == Cells::kOfAllOthers;
  const CellKey key = unpacked(cell.key);
  const CellText text = is_rest ? CellText{"others"} : describe(key);
  copy(text.operation, kind.operation);
  copy(is_rest ? "" : names.at(key.name), kind.communicator);
  copy(text.place, kind.place);
  copy(text.codec, kind.codec);
  copy(text.raw, kind.raw);
  kind.peer = key.peer;
  kind.calls = cell.calls.read();
  kind.bytes = cell.bytes.read();
  kind.wire_bytes = cell.wire_bytes.read();
  kind.nanoseconds = cell.nanoseconds.read();
  kind.predicted_nanoseconds = cell.predicted_nanoseconds.read();
  kind.raw_nanoseconds = cell.raw_nanoseconds.read();
  kind.whole_nanoseconds = cell.whole_nanoseconds.read();
  copy(cell.sizes, kind.sizes);
  copy(cell.times, kind.times);
  copy(cell.predictions, kind.predictions);
}

}  // namespace thinwire::shim
