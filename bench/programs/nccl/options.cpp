#include "nccl/options.h"

#include <cstdlib>
#include <iterator>
#include <string_view>

#include "command_line.h"

namespace thinwire::bench::nccl {
namespace {

constexpr const char* kOperations[] = {"all_gather",         "reduce_scatter", "all_reduce",
                                       "broadcast",          "send_recv",      "all_to_all",
                                       "all_to_all_grouped", "scatter"};
constexpr const char* kWayNames[] = {"raw", "coded", "per-hop", "naive", "host"};

// Words of a list by their place in `names`.
template <typename Code, std::size_t kCount>
bool parse_names(std::string_view text, const char* const (&names)[kCount],
                 std::vector<Code>* codes) {
  codes->clear();
  return each_word(text, [&](std::string_view word) {
    for (std::size_t code = 0; code < kCount; ++code) {
      if (word != names[code]) continue;
      codes->push_back(static_cast<Code>(code));
      return true;
    }
    return false;
  });
}

bool parse_lossless(std::string_view text, bool* lossless) {
  *lossless = text == "yes";
  return text == "yes" || text == "no";
}

bool set(std::string_view name, const std::string& value, Options* options) {
  if (name == "--operations") return parse_names(value, kOperations, &options->operations);
  if (name == "--ways") return parse_names(value, kWayNames, &options->ways);
  if (name == "--sizes") return parse_sizes(value, &options->sizes);
  if (name == "--dtype") return parse_dtype(value, &options->dtype);
  if (name == "--iterations") return parse_number(value, 1, &options->iterations);
  if (name == "--calls") return parse_number(value, 1, &options->calls);
  if (name == "--filler") return parse_number<std::int64_t>(value, 0, &options->filler);
  if (name == "--threshold") return parse_number<std::int64_t>(value, 0, &options->threshold);
  if (name == "--lossless") return parse_lossless(value, &options->lossless);
  if (name == "--bound") return parse_number(value, 0.0, &options->bound);
  if (name == "--sum-bound") return parse_number(value, 0.0, &options->sum_bound);
  if (name == "--sum-rel") return parse_number(value, 0.0, &options->sum_rel);
  if (name == "--data") options->data = value;
  if (name == "--library") options->library = value;
  if (name == "--codec") options->codec = value;
  return name == "--data" || name == "--library" || name == "--codec";
}

bool read_number(const char* name, int least, int* number) {
  const char* const text = std::getenv(name);
  return text == nullptr || parse_number(text, least, number);
}

}  // namespace

const char* name_of(Operation operation) { return kOperations[static_cast<int>(operation)]; }
bool goes(Operation operation, Way way) {
  if (way == Way::kRaw || way == Way::kCoded) return true;
  // A single message of the library's is what `coded` does, as is a group of them.
  if (operation == Operation::kAllToAllGrouped) return false;
  return way != Way::kPerHop ||
         (operation != Operation::kSendRecv && operation != Operation::kScatter);
}
const char* name_of(Way way) { return kWayNames[static_cast<int>(way)]; }

bool parse_options(int argc, char** argv, Options* options, std::string* error) {
  const auto take = [options](const std::string& name, const std::string& value) {
    return set(name, value, options);
  };
  if (!each_option(argc, argv, error, take)) return false;
  const bool complete =
      !options->operations.empty() && !options->sizes.empty() && !options->data.empty();
  if (!complete) *error = "--operations, --sizes and --data are needed";
  return complete;
}

bool read_place(Place* place, std::string* error) {
  const bool sound = read_number("RANK", 0, &place->rank) &&
                     read_number("WORLD_SIZE", 1, &place->ranks) &&
                     read_number("LOCAL_RANK", 0, &place->local_rank);
  if (const char* const text = std::getenv("MASTER_ADDR")) place->address = text;
  if (const char* const text = std::getenv("MASTER_PORT")) place->port = text;
  if (sound && place->rank < place->ranks) return true;
  *error = "RANK, WORLD_SIZE and LOCAL_RANK of the environment make no sense";
  return false;
}

const char* usage() {
  return "usage: nccl --operations NAME,... --sizes BYTES,... --data FILE [--dtype "
         "f32|f64|f16|bf16]\n"
         "            [--ways raw,coded,per-hop,naive,host] [--library LIBNCCL] [--iterations N]\n"
         "            [--calls N] [--codec SPEC]\n"
         "            [--filler BYTES] [--threshold BYTES] [--lossless yes|no] [--bound E]\n"
         "            [--sum-bound E] [--sum-rel E]\n"
         "operations: all_gather, reduce_scatter, all_reduce, broadcast, send_recv, all_to_all\n"
         "and all_to_all_grouped and scatter (sends and receives). Sizes are multiples of 8: of "
         "the\n"
         "array in "
         "all_reduce, broadcast and send_recv, else of one rank's block.\n"
         "One process a rank: RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT as\n"
         "torchrun sets them. `coded` needs the preload library for NCCL, with its report on;\n"
         "`naive` and `host` code messages by --codec";
}

}  // namespace thinwire::bench::nccl
