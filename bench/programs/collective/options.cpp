#include "collective/options.h"

#include <string_view>

#include "command_line.h"

namespace thinwire::bench {
namespace {

// More than any of the library's enumerations has.
constexpr std::uint32_t kMostCodes = 64;

// Words by the names that the library gives its codes.
template <typename Code>
bool parse_names(std::string_view text, const char* (*name_of)(std::uint32_t),
                 std::vector<Code>* codes) {
  codes->clear();
  return each_word(text, [&](std::string_view word) {
    for (std::uint32_t code = 0; code < kMostCodes; ++code) {
      if (name_of(code) == nullptr || word != name_of(code)) continue;
      codes->push_back(static_cast<Code>(code));
      return true;
    }
    return false;
  });
}

bool parse_memory(std::string_view text, Memory* memory) {
  *memory = text == "device" ? Memory::kDevice : Memory::kHost;
  return text == "device" || text == "host";
}

bool parse_native(std::string_view text, Memory* memory) {
  *memory = text == "device" ? Memory::kDevice : Memory::kStaged;
  return text == "device" || text == "staged";
}

bool parse_nodes(std::string_view text, bool* apart) {
  *apart = text == "apart";
  return text == "apart" || text == "real";
}

bool set(std::string_view name, const std::string& value, Options* options) {
  if (name == "--operations") {
    return parse_names(value, tw_operation_text, &options->operations);
  }
  if (name == "--algorithms") {
    return parse_names(value, tw_algorithm_text, &options->algorithms);
  }
  if (name == "--codings") return parse_names(value, tw_coding_text, &options->codings);
  if (name == "--sizes") return parse_sizes(value, &options->sizes);
  if (name == "--dtype") return parse_dtype(value, &options->dtype);
  if (name == "--nodes") return parse_nodes(value, &options->apart);
  if (name == "--memory") return parse_memory(value, &options->memory);
  if (name == "--native") return parse_native(value, &options->native_memory);
  if (name == "--iterations") return parse_number(value, 1, &options->iterations);
  if (name == "--root") return parse_number(value, 0, &options->root);
  if (name == "--filler") return parse_number<std::int64_t>(value, 0, &options->filler);
  if (name == "--threshold") return parse_number<std::int64_t>(value, 0, &options->threshold);
  if (name == "--piece") return parse_number<std::int64_t>(value, 0, &options->piece);
  if (name == "--link") return parse_number(value, 0.0, &options->link);
  if (name == "--codec") options->codecs.push_back(value);
  if (name == "--data") options->data = value;
  if (name == "--transport") options->transport = value;
  return name == "--codec" || name == "--data" || name == "--transport";
}

}  // namespace

std::vector<Case> Options::cases() const {
  std::vector<Case> all;
  for (const std::string& codec : codecs) {
    for (const tw_algorithm algorithm : algorithms) {
      for (const tw_coding coding : codings) all.push_back({codec, algorithm, coding});
    }
  }
  return all;
}

bool parse_options(int argc, char** argv, Options* options, std::string* error) {
  const auto take = [options](const std::string& name, const std::string& value) {
    return set(name, value, options);
  };
  if (!each_option(argc, argv, error, take)) return false;
  if (options->algorithms.empty()) options->algorithms = {TW_ALGORITHM_PLANNED};
  if (options->codings.empty()) options->codings = {TW_CODING_PLANNED};
  const bool complete = !options->operations.empty() && !options->sizes.empty() &&
                        !options->codecs.empty() && !options->data.empty() &&
                        !options->transport.empty();
  if (!complete) *error = "--operations, --sizes, --codec, --data and --transport are needed";
  return complete;
}

const char* usage() {
  return "usage: collective --operations NAME,... --sizes BYTES,... --codec SPEC [--codec ...]\n"
         "                  --data FILE --transport LIBRARY [--dtype f32|f64|f16|bf16]\n"
         "                  [--algorithms NAME,...] [--codings NAME,...] [--iterations N]\n"
         "                  [--root RANK] [--link BYTES_PER_SECOND] [--threshold BYTES]\n"
         "                  [--piece BYTES] [--filler BYTES] [--memory host|device]\n"
         "                  [--nodes real|apart] [--native staged|device]\n"
         "sizes are multiples of 8: of the array in bcast, reduce and allreduce, else of one\n"
         "rank's block. apart makes each rank a node of its own. --native device hands device\n"
         "arrays to an MPI that takes them. LIBRARY is the libthinwire_mpi_*.so of this\n"
         "program's MPI";
}

}  // namespace thinwire::bench
