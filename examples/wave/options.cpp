#include "options.h"

#include <charconv>
#include <string_view>

#include "stencil.h"

namespace wave {
namespace {

bool parse_int(std::string_view text, int* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

int* find_integer(std::string_view name, Options* options) {
  if (name == "--nx") return &options->nx;
  if (name == "--ny") return &options->ny;
  if (name == "--nz") return &options->nz;
  if (name == "--steps") return &options->steps;
  if (name == "--gather-every") return &options->gather_every;
  if (name == "--shots") return &options->shots;
  return nullptr;
}

bool parse_device(std::string_view text, Device* device) {
  if (text == "cpu") *device = Device::kCpu;
  if (text == "gpu") *device = Device::kGpu;
  if (text == "auto") *device = Device::kAuto;
  return text == "cpu" || text == "gpu" || text == "auto";
}

// Of an option that takes a value. On failure `error` holds a sentence for the user.
bool set(const std::string& name, const char* value, Options* options, std::string* error) {
  if (name == "--output") {
    options->output = value;
  } else if (name == "--device") {
    if (!parse_device(value, &options->device)) *error = "--device takes cpu, gpu or auto";
  } else if (int* integer = find_integer(name, options); integer == nullptr) {
    *error = "unknown option: " + name;
  } else if (!parse_int(value, integer)) {
    *error = name + " takes an integer, not '" + value + "'";
  }
  return error->empty();
}

bool check(const Options& options, std::string* error) {
  constexpr int kSmallest = 4 * kRadius;
  for (const int extent : {options.nx, options.ny, options.nz}) {
    if (extent < kSmallest || extent > 4096) {
      *error = "--nx, --ny and --nz must lie between " + std::to_string(kSmallest) + " and 4096";
      return false;
    }
  }
  if (options.steps < 1 || options.gather_every < 0) {
    *error = "--steps must be at least 1 and --gather-every at least 0";
    return false;
  }
  if (options.staging && options.device == Device::kCpu) {
    *error = "--staging is for --device gpu or auto";
    return false;
  }
  if (options.shots < 1 || options.shots > kSmallest) {
    *error = "--shots must lie between 1 and " + std::to_string(kSmallest);
    return false;
  }
  return true;
}

}  // namespace

bool parse_options(int argc, char** argv, Options* options, std::string* error) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--staging") {
      options->staging = true;
      continue;
    }
    if (i + 1 == argc) {
      *error = "unknown option or missing value: " + name;
      return false;
    }
    if (!set(name, argv[++i], options, error)) return false;
  }
  return check(*options, error);
}

const char* usage() {
  return "usage: wave [--nx N] [--ny N] [--nz N] [--steps N] [--gather-every N] [--shots N] "
         "[--device cpu|gpu|auto] [--staging] [--output FILE]";
}

}  // namespace wave
