#include "observe/report.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <sstream>
#include <string>
#include <vector>

#include "base/standard_error.h"
#include "members/membership.h"
#include "native/not_taken.h"
#include "native/real.h"
#include "native/refused.h"
#include "observe/count.h"
#include "run/compressor.h"
#include "run/service.h"
#include "shim/common/trace/recorder.h"
#include "state/communicators.h"
#include "state/policy.h"
#include "state/settings.h"
#include "thinwire/thinwire_nccl.h"

namespace thinwire::nccl {
namespace {

// Which process it is: a child that was forked has the figures too, and tells nothing.
std::atomic<pid_t> g_owner{0};

std::string raw_by_reason(const Counters& counters) {
  std::ostringstream out;
  const char* separator = "";
  out << '{';
  for (int reason = 0; reason < kReasons; ++reason) {
    if (counters.raw[reason] == 0) continue;
    out << separator << '"' << reason_text(reason) << "\": " << counters.raw[reason];
    separator = ", ";
  }
  out << '}';
  return out.str();
}

std::string order_as_json(const Counters& counters) {
  if (counters.in_rank_order + counters.out_of_rank_order == 0) return "";
  return ", \"in_rank_order\": " + std::to_string(counters.in_rank_order) +
         ", \"out_of_rank_order\": " + std::to_string(counters.out_of_rank_order);
}

std::string order_as_text(const Counters& counters) {
  const std::uint64_t in = counters.in_rank_order, out = counters.out_of_rank_order;
  if (in + out == 0) return "";
  return ", " + std::to_string(in) + " of " + std::to_string(in + out) +
         " sums in the order of the ranks";
}

std::string operations_as_json(const Communicator& communicator) {
  std::ostringstream out;
  const char* separator = "";
  for (int operation = 0; operation < kOperations; ++operation) {
    const Counters& counters = communicator.of[operation];
    if (counters.calls == 0) continue;
    out << separator << '"' << operation_name(operation) << "\": {\"calls\": " << counters.calls
        << ", \"bytes\": " << counters.bytes << ", \"wire_bytes\": " << counters.wire_bytes
        << ", \"compressed_calls\": " << counters.compressed
        << ", \"compressed_bytes\": " << counters.compressed_bytes
        << ", \"compressed_wire_bytes\": " << counters.compressed_wire_bytes
        << ", \"frames\": " << counters.frames
        << ", \"spilled_blocks\": " << counters.spilled_blocks
        << ", \"spilled_blocks_received\": " << counters.spilled_blocks_received
        << ", \"spilled_at_replays\": " << counters.spilled_at_replays
        << ", \"difference_bytes\": " << counters.difference_bytes
        << ", \"trials\": " << counters.sample_encodes << order_as_json(counters)
        << ", \"raw_by_reason\": " << raw_by_reason(counters) << '}';
    separator = ", ";
  }
  return out.str();
}

}  // namespace

int nccl_version() {
  int version = 0;
  if (real().GetVersion != nullptr) real().GetVersion(&version);
  return version;
}

namespace {

using Communicators = std::vector<Communicator*>;

const Compressor* compressor_of(const Communicator& communicator) {
  return communicator.compressor.load(std::memory_order_acquire);
}

std::string connections_as_json(const Communicator& communicator) {
  const Compressor* const compressor = compressor_of(communicator);
  if (compressor == nullptr) return "";
  return ", \"connections\": {\"ranks\": " + std::to_string(compressor->connected_ranks()) +
         ", \"estimated_bytes\": " + std::to_string(compressor->connected_bytes()) + '}';
}

std::string memory_as_json(const Communicator& communicator) {
  const Compressor* const compressor = compressor_of(communicator);
  if (compressor == nullptr) return "";
  return ", \"memory\": {\"held_bytes\": " + std::to_string(compressor->held().now()) +
         ", \"most_held_bytes\": " + std::to_string(compressor->held().most()) +
         ", \"free\": " + communicator.free_memory.as_json() + '}';
}

std::string memory_as_text(const Communicator& communicator) {
  const Compressor* const compressor = compressor_of(communicator);
  if (compressor == nullptr || compressor->held().most() == 0) return "";
  return "    calls worked in up to " +
         std::to_string((compressor->held().most() + 0xFFFFF) >> 20) +
         " MiB of GPU memory of the library's own\n" + communicator.free_memory.as_text();
}

std::string connections_as_text(const Communicator& communicator) {
  const Compressor* const compressor = compressor_of(communicator);
  if (compressor == nullptr || compressor->connected_ranks() == 0) return "";
  return "    compressed calls exchange messages with " +
         std::to_string(compressor->connected_ranks()) + " ranks more, for which NCCL takes some " +
         std::to_string(compressor->connected_bytes() >> 20) + " MiB of GPU memory\n";
}

std::string as_json(const Communicators& all, const std::string& rank) {
  std::ostringstream out;
  out << "{\"nccl_version\": " << nccl_version() << ", \"codec\": \""
      << tw_codec_spec(settings().codecs.front().codec) << "\", \"rank\": " << rank;
  if (const std::string rules = rules_as_json(); !rules.empty()) out << ", \"rules\": " << rules;
  out << ", \"communicators\": [";
  const char* separator = "";
  for (const Communicator* each : all) {
    out << separator << "{\"ranks\": " << each->ranks << ", \"rank\": " << each->rank
        << ", \"name\": \"" << printable(each->name) << "\", \"presence\": \""
        << membership_text(*each) << "\", \"operations\": {" << operations_as_json(*each)
        << "}, \"timed\": " << timings_as_json(*each) << connections_as_json(*each)
        << memory_as_json(*each) << '}';
    separator = ", ";
  }
  out << "], \"functions_not_seen\": [";
  separator = "";
  for (const std::string& name : functions_not_taken()) {
    out << separator << '"' << name << '"';
    separator = ", ";
  }
  out << "]}\n";
  return out.str();
}

std::string not_taken_as_text() {
  std::string names;
  for (const std::string& name : functions_not_taken()) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "" : "  in no figure, as this library does not take them: " + names + '\n';
}

std::string as_text(const Communicators& all, const std::string& rank) {
  std::ostringstream out;
  out << "thinwire: NCCL " << nccl_version() << ", rank " << rank << " alone, codec "
      << tw_codec_spec(settings().codecs.front().codec) << '\n';
  for (const Communicator* each : all) {
    out << "  communicator of " << each->ranks << " ranks, as rank " << each->rank << ": "
        << membership_text(*each) << '\n';
    for (int operation = 0; operation < kOperations; ++operation) {
      const Counters& counters = each->of[operation];
      if (counters.calls == 0) continue;
      out << "    " << operation_name(operation) << "  " << counters.calls << " calls, "
          << counters.bytes << " bytes";
      if (counters.compressed > 0) {
        out << " as " << counters.wire_bytes << ", " << counters.compressed << " compressed ("
            << counters.frames << " frames, " << counters.spilled_blocks << " spilled)";
        if (counters.difference_bytes > 0) {
          out << ", " << counters.difference_bytes << " bytes of results as differences";
        }
      }
      out << order_as_text(counters) << ", raw " << raw_by_reason(counters) << '\n';
    }
    out << timings_as_text(*each) << connections_as_text(*each) << memory_as_text(*each);
  }
  out << not_taken_as_text();
  return out.str();
}

// As the launcher has it; else the least that this process has in the communicators of most ranks.
std::string own_rank(const Communicators& all) {
  if (const std::int64_t rank = tw_job_rank(); rank >= 0) return std::to_string(rank);
  const auto by_size = [](const Communicator* left, const Communicator* right) {
    return left->ranks != right->ranks ? left->ranks > right->ranks : left->rank < right->rank;
  };
  return std::to_string((*std::min_element(all.begin(), all.end(), by_size))->rank);
}

// If a program goes by exit() or returns from main(), its threads may still be in calls of NCCL,
// which count on; the figures are those of this moment.
void report_now() {
  if (g_owner == 0 && !had_communicators()) return say_if_unseen();
  if (g_owner != getpid() || !had_communicators()) return;
  end_trace();
  // Whatever threads still end after this stays as it is.
  const Communicators& all = (new Reading)->all;
  const std::string rank = own_rank(all);
  if (rank == "0") explain_nothing_compressed(all);
  if (settings().report.empty()) return;
  take_last_reports();
  if (settings().report == "1") {
    return write_to_stderr(as_text(all, rank));
  }
  shim::write_report(settings().report + ".nccl.rank" + rank, as_json(all, rank));
}

__attribute__((destructor)) void report() { allowed(report_now); }

}  // namespace

bool is_counting() {
  const Settings& set = settings();
  return set.could_compress || set.asked_for || !set.report.empty() || is_traced();
}

void report_at_exit() {
  if (g_owner.load(std::memory_order_relaxed) == 0) [[unlikely]] {
    pid_t nobody = 0;
    g_owner.compare_exchange_strong(nobody, getpid());
  }
}

}  // namespace thinwire::nccl

using namespace thinwire::nccl;

tw_status tw_nccl_report(char* text, std::uint64_t room, std::uint64_t* bytes) {
  if (bytes == nullptr || (text == nullptr && room != 0)) return TW_INVALID_ARGUMENT;
  std::string whole;
  const bool is_whole = allowed([&] {
    const Reading reading;
    const Communicators& all = reading.all;
    if (all.empty() || !is_counting()) return;
    take_last_reports();
    whole = as_json(all, own_rank(all));
  });
  if (!is_whole) return TW_INTERNAL;
  *bytes = whole.size() + 1;
  if (*bytes <= room) std::copy_n(whole.c_str(), *bytes, text);
  return TW_OK;
}
