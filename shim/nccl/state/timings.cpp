#include "state/timings.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "base/dtype.h"
#include "state/communicators.h"
#include "state/settings.h"
#include "thinwire/thinwire.h"

namespace thinwire::nccl {

namespace {

const char* outcome_text(const Timing& of) { return of.codes ? "compressed" : "raw"; }

bool is_message(const Timing& of) { return of.operation == kSend || of.operation == kRecv; }

double microseconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e3; }

// "AllReduce of f32, 65536 to 131071 bytes, lossless: raw; raw took 97.1 us and compressed 121.0
// us, 99.0 and 140.2 on average (timing round 1)"
std::string sentence(const Timing& of) {
  std::ostringstream out;
  out << operation_name(of.operation);
  if (of.peer >= 0) out << (is_message(of) ? " with rank " : " from rank ") << of.peer;
  out << " of " << type_text(of.dtype) << ", " << of.least_bytes << " to " << 2 * of.least_bytes - 1
      << " bytes, " << tw_codec_spec(settings().codecs[of.codec].codec);
  char times[160];
  std::snprintf(times, sizeof times,
                ": %s; raw took %.1f us and compressed %.1f us, %.1f and %.1f on average (timing "
                "round %u)",
                outcome_text(of), microseconds(of.times.raw), microseconds(of.times.coded),
                microseconds(of.times.raw_mean), microseconds(of.times.coded_mean),
                of.timing_round);
  return out.str() + times;
}

}  // namespace

void Timings::put(const Timing& made) {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::ranges::find_if(of_kinds_, [&](const Timing& each) { return each.is_of(made); });
  if (found == of_kinds_.end()) {
    of_kinds_.push_back(made);
  } else {
    *found = made;
  }
}

std::vector<Timing> Timings::all() const {
  const std::lock_guard lock(mutex_);
  return of_kinds_;
}

void note_timing(Communicator& communicator, const Timing& made) {
  communicator.timings.put(made);
  // The sender tells of a message.
  if (is_message(made) ? made.operation == kSend : communicator.rank == 0) {
    tw_log(TW_LOG_PLAN, sentence(made).c_str());
  }
}

std::string timings_as_json(const Communicator& communicator) {
  std::ostringstream out;
  const char* separator = "";
  out << '[';
  for (const Timing& each : communicator.timings.all()) {
    out << separator << "{\"operation\": \"" << operation_name(each.operation)
        << "\", \"dtype\": \"" << type_text(each.dtype)
        << "\", \"least_bytes\": " << each.least_bytes << ", \"codec\": \""
        << tw_codec_spec(settings().codecs[each.codec].codec) << "\", \"peer\": " << each.peer
        << ", \"probations\": " << each.timing_round << ", \"raw_nanoseconds\": " << each.times.raw
        << ", \"compressed_nanoseconds\": " << each.times.coded
        << ", \"raw_mean_nanoseconds\": " << each.times.raw_mean
        << ", \"compressed_mean_nanoseconds\": " << each.times.coded_mean << ", \"way\": \""
        << outcome_text(each) << "\"}";
    separator = ", ";
  }
  out << ']';
  return out.str();
}

std::string timings_as_text(const Communicator& communicator) {
  std::string lines;
  for (const Timing& each : communicator.timings.all()) lines += "    " + sentence(each) + '\n';
  return lines;
}

}  // namespace thinwire::nccl
