#include "p2p_options.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <string_view>

namespace thinwire::bench {
namespace {

template <typename Integer>
bool parse_integer(std::string_view text, Integer* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse_sizes(std::string_view text, std::vector<std::int64_t>* sizes) {
  sizes->clear();
  while (true) {
    const std::size_t comma = text.find(',');
    std::int64_t size = 0;
    if (!parse_integer(text.substr(0, comma), &size)) return false;
    // One message has a count of type int.
    if (size < 4 || size % 4 != 0 || size / 4 > INT_MAX) return false;
    sizes->push_back(size);
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
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
  if (name == "--sizes") return parse_sizes(value, &options->sizes);
  if (name == "--iterations") {
    return parse_integer(value, &options->iterations) && options->iterations >= 1;
  }
  if (name == "--filler") {
    return parse_integer(value, &options->filler) && options->filler >= 0 &&
           options->filler <= INT_MAX;
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
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) {
      *error = "no value for " + name;
      return false;
    }
    if (!set(name, argv[i + 1], options)) {
      *error = "cannot take " + name + " " + argv[i + 1];
      return false;
    }
  }
  return true;
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
