#include "p2p/options.h"

#include <algorithm>
#include <climits>
#include <string_view>

#include "command_line.h"

namespace thinwire::bench {
namespace {

bool parse_message_sizes(std::string_view text, std::vector<std::int64_t>* sizes) {
  sizes->clear();
  return each_word(text, [sizes](std::string_view word) {
    std::int64_t size = 0;
    if (!parse_number<std::int64_t>(word, 4, &size)) return false;
    sizes->push_back(size);
    // One message has a count of type int.
    return size % 4 == 0 && size / 4 <= INT_MAX;
  });
}

bool parse_mode(std::string_view text, Mode* mode) {
  if (text != "latency" && text != "bandwidth") return false;
  *mode = text == "latency" ? Mode::kLatency : Mode::kBandwidth;
  return true;
}

bool parse_memory(std::string_view text, Memory* found) {
  for (const Memory memory : {Memory::kHost, Memory::kDevice, Memory::kStaged}) {
    if (text != name_of(memory)) continue;
    *found = memory;
    return true;
  }
  return false;
}

bool is_pattern(std::string_view text) {
  return text == "smooth" || text == "random" || text == "zeros";
}

bool set(std::string_view name, const std::string& value, Options* options) {
  if (name == "--sizes") return parse_message_sizes(value, &options->sizes);
  if (name == "--iterations") return parse_number(value, 1, &options->iterations);
  if (name == "--filler") {
    return parse_number<std::int64_t>(value, 0, &options->filler) && options->filler <= INT_MAX;
  }
  if (name == "--mode") return parse_mode(value, &options->mode);
  if (name == "--memory") return parse_memory(value, &options->memory);
  if (name == "--data") {
    options->data = value;
    return !value.empty();
  }
  options->pattern = value;
  return name == "--pattern" && is_pattern(value);
}

}  // namespace

std::int64_t Options::largest() const { return *std::max_element(sizes.begin(), sizes.end()); }

bool parse_options(int argc, char** argv, Options* options, std::string* error) {
  return each_option(argc, argv, error,
                     [options](const std::string& name, const std::string& value) {
                       return set(name, value, options);
                     });
}

const char* name_of(Memory memory) {
  if (memory == Memory::kDevice) return "device";
  return memory == Memory::kStaged ? "staged" : "host";
}

const char* usage() {
  return "usage: p2p [--sizes BYTES,...] [--iterations N] [--filler BYTES]\n"
         "           [--data FILE | --pattern smooth|random|zeros] [--mode latency|bandwidth]\n"
         "           [--memory host|device|staged]\n"
         "between ranks 0 and 1; sizes are multiples of 4, as all messages are fp32. device hands\n"
         "GPU memory to MPI, staged copies it through pinned memory by hand";
}

}  // namespace thinwire::bench
