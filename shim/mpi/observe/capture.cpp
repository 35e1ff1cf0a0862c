#include "shim/mpi/observe/capture.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <sstream>
#include <string>
#include <unordered_map>

#include "shim/common/results_file.h"
#include "shim/common/trace/cells.h"
#include "shim/common/trace/lines.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/observe/reservoir.h"
#include "shim/mpi/state/collective_arguments.h"
#include "shim/mpi/state/fast_path.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

// The part of what a rank may keep that one sample may take, so that there are several.
constexpr std::uint64_t kMostPart = 8;

using Clock = std::chrono::steady_clock;

// Facts about an array, before it is known whether it is kept.
struct Array {
  const void* buffer;
  MPI_Count count;
  MPI_Datatype type;
  TypeFacts facts;
  std::uint64_t bytes;
  bool on_device;
};

// The part of an array that a sample has, in whole planes of its slowest extent.
struct Excerpt {
  std::uint64_t offset = 0, bytes = 0;
  std::string shape;
};

std::string shape_text(const std::vector<std::uint64_t>& extents) {
  std::string text;
  for (const std::uint64_t extent : extents) {
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  }
  return text;
}

// The slowest extent first: the datatype's own array, or several one after the other.
std::vector<std::uint64_t> extents_of(const Array& array) {
  const std::uint64_t leaves = array.bytes / leaf_bytes(array.facts.leaf);
  const TypeFacts& facts = array.facts;
  std::uint64_t product = 1;
  for (std::uint32_t at = 0; at < facts.rank; ++at) product *= facts.extent[at];
  if (facts.rank < 2 || product == 0 || leaves % product != 0) return {leaves};
  std::vector<std::uint64_t> extents(facts.extent, facts.extent + facts.rank);
  const std::uint64_t several = leaves / product;
  if (several > 1 && facts.rank == 4) return {leaves};
  if (several > 1) extents.insert(extents.begin(), several);
  return extents;
}

Excerpt excerpt_of(const Array& array, std::uint64_t most, std::uint64_t turn) {
  std::vector<std::uint64_t> extents = extents_of(array);
  std::uint64_t plane = array.bytes / extents.front();
  if (array.bytes <= most) return {0, array.bytes, shape_text(extents)};
  if (plane > most) {
    extents = {array.bytes / leaf_bytes(array.facts.leaf)};
    plane = leaf_bytes(array.facts.leaf);
  }
  const std::uint64_t planes = std::max<std::uint64_t>(1, most / plane);
  const std::uint64_t first = turn * 0x9e3779b97f4a7c15 % (extents.front() - planes + 1);
  extents.front() = planes;
  return {first * plane, planes * plane, shape_text(extents)};
}

}  // namespace

class Capturer {
 public:
  Capturer(std::string folder, std::uint64_t most, CopyElements copy)
      : folder_(std::move(folder)),
        most_(most),
        copy_(copy),
        reservoir_(most, static_cast<std::uint64_t>(process().world.rank) + 1) {}

  // `said` is JSON: what the array was of.
  void offer(const Array& array, std::uint32_t operation, const std::string& said);

 private:
  void keep(const Array& array, const Excerpt& excerpt, const Lease& copy, std::uint64_t number,
            const std::string& said);
  void stop(const std::string& path, int error);
  std::string name_of(std::uint64_t number) const {
    return "rank" + std::to_string(process().world.rank) + "-" + std::to_string(number);
  }

  const std::string folder_;
  const std::uint64_t most_;
  const CopyElements copy_;
  const Clock::time_point start_ = Clock::now();
  std::mutex mutex_;
  bool stopped_ = false;
  Reservoir reservoir_;
  std::unordered_map<std::uint64_t, std::string> paths_;  // of what is kept, by number
};

namespace detail {
std::atomic<Capturer*> capturer{nullptr};
}

void Capturer::stop(const std::string& path, int error) {
  stopped_ = true;
  if (!is_first(folder_ + "/stopped")) return;
  tw_log(TW_LOG_ERROR, ("THINWIRE_CAPTURE: cannot write " + path + ": " + shim::why_refused(error) +
                        "; nothing more is captured, the program goes on")
                           .c_str());
}

void Capturer::keep(const Array& array, const Excerpt& excerpt, const Lease& copy,
                    std::uint64_t number, const std::string& said) {
  const char* const suffix = array.facts.leaf == TW_F64 ? ".f64" : ".f32";
  const std::string name = name_of(number) + suffix, path = folder_ + "/" + name;
  const auto* const from = copy ? copy.data() : static_cast<const std::byte*>(array.buffer);
  int error = write_file(path, from + excerpt.offset, excerpt.bytes);
  if (error != 0) return stop(path, error);
  std::ostringstream line;
  line << "{\"file\": \"" << name << "\", \"dtype\": \"" << suffix + 1 << "\", \"shape\": \""
       << excerpt.shape << "\", \"bytes\": " << excerpt.bytes << ", \"of_bytes\": " << array.bytes
       << ", \"rank\": " << process().world.rank << ", \"number\": " << number
       << ", \"seconds\": " << std::chrono::duration<double>(Clock::now() - start_).count() << ", "
       << said << "}\n";
  const std::string index = folder_ + "/rank" + std::to_string(process().world.rank) + ".jsonl";
  error = add_line(index, line.str());
  if (error == 0) {
    paths_[number] = path;
    return;
  }
  unlink(path.c_str());
  stop(index, error);
}

void Capturer::offer(const Array& array, std::uint32_t operation, const std::string& said) {
  const std::uint64_t most = std::max<std::uint64_t>(most_ / kMostPart, leaf_bytes(TW_F64));
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  const auto kind =
      static_cast<std::uint32_t>(operation * shim::kBuckets + shim::bucket_of(array.bytes));
  const std::uint64_t expected = std::min(array.bytes, most);
  const Reservoir::Verdict verdict = reservoir_.offer(kind, expected);
  // Before the new one is written: the bound holds at every moment.
  for (const std::uint64_t number : verdict.dropped) {
    unlink(paths_[number].c_str());
    paths_.erase(number);
  }
  if (!verdict.keep) return;
  Lease copy;
  if (array.on_device || !array.facts.dense) {
    copy = copy_(array.buffer, array.count, array.type, array.on_device, array.bytes);
    if (!copy) return;
  }
  keep(array, excerpt_of(array, most, verdict.number), copy, verdict.number, said);
}

void start_capture(CopyElements copy) {
  const Process& self = process();
  static bool started = false;
  if (self.settings.capture.empty() || std::exchange(started, true)) return;
  const auto ranks = static_cast<std::uint64_t>(
      std::max(1, self.job.reachable() ? self.job.ranks_on_this_node() : self.world.size));
  mkdir(self.settings.capture.c_str(), 0755);  // where it is not there, writing says why
  detail::capturer = new Capturer(self.settings.capture, self.settings.capture_bytes / ranks, copy);
}

void end_capture() { detail::capturer = nullptr; }

namespace {

std::string name_as_json(MPI_Comm comm) {
  char name[MPI_MAX_OBJECT_NAME + 1] = {};
  int length = 0;
  real().Comm_get_name(comm, name, &length);
  return ", \"communicator\": " + shim::quoted(name);
}

void offer(const void* buffer, MPI_Count count, MPI_Datatype type, bool device,
           std::uint32_t operation, const std::string& said) {
  Capturer* const capturer = detail::capturer;
  const std::uint64_t bytes = message_bytes(count, type);
  if (capturer == nullptr || bytes < thresholds.send || is_null_buffer(buffer, type)) return;
  const TypeFacts facts = type_facts(type);
  if (facts.leaf != TW_F32 && facts.leaf != TW_F64) return;
  capturer->offer({buffer, count, type, facts, bytes, device}, operation, said);
}

// The side that this rank gives, if its blocks lie one after the other; else nullptr.
const Side* side_given(const CollectiveArguments& arguments, int rank) {
  const Form& form = form_of(arguments.call);
  if (form.operation == TW_BCAST) return rank == arguments.root ? &arguments.received : nullptr;
  if (form.sent_at == Where::kAtRoot && rank != arguments.root) return nullptr;
  const bool in_place = arguments.sent.buffer == MPI_IN_PLACE;
  const bool reduces_in_place = in_place && form.reduces && form.sent == Blocks::kOne;
  const Side& side = reduces_in_place ? arguments.received : arguments.sent;
  const bool in_one_piece = side.types == nullptr && !side.counts.is_list();
  return in_one_piece && side.buffer != MPI_IN_PLACE ? &side : nullptr;
}

}  // namespace

void capture_message(const Outgoing& message, int world_rank) {
  const std::string said = "\"operation\": \"send\", \"peer\": " + std::to_string(world_rank) +
                           name_as_json(message.comm);
  offer(message.buffer, message.count, message.type, message.on_device, 0, said);
}

void capture_collective(const CollectiveArguments& arguments) {
  int inter = 0, rank = 0, ranks = 0;
  if (arguments.comm == MPI_COMM_NULL ||
      real().Comm_test_inter(arguments.comm, &inter) != MPI_SUCCESS || inter != 0) {
    return;
  }
  real().Comm_rank(arguments.comm, &rank);
  real().Comm_size(arguments.comm, &ranks);
  const Side* const side = side_given(arguments, rank);
  if (side == nullptr || side->counts.count(0) <= 0 || side->type == MPI_DATATYPE_NULL) return;
  const bool many = form_of(arguments.call).sent == Blocks::kOneEach && side == &arguments.sent;
  const MPI_Count count = side->counts.count(0) * (many ? ranks : 1);
  const std::string said = std::string("\"operation\": \"") + form_of(arguments.call).name + "\"" +
                           name_as_json(arguments.comm);
  offer(side->buffer, count, side->type, on_device(side->buffer, count, side->type),
        static_cast<std::uint32_t>(arguments.call) + 1, said);
}

}  // namespace thinwire::mpi
