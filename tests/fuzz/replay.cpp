// Every target without a fuzzer: its seeds and the inputs of its folders, each as it is and changed
// in a few ways that are the same every time. Needs no special compiler.
//
//   fuzz_replay <folder with a folder of inputs for each target>...
//   fuzz_replay --list
//   fuzz_replay --seeds <target> <folder>      write the target's seeds there
#include <filesystem>
#include <fstream>
#include <iterator>

#include "fuzz/input.h"

using namespace thinwire;
using namespace thinwire::fuzz;

namespace {

constexpr int kMutations = 12;
constexpr std::size_t kRoom = 64;  // for inputs that grow

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::vector<Bytes> read_folder(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  if (std::filesystem::is_directory(folder)) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> inputs;
  for (const auto& path : paths) inputs.push_back(read_file(path));
  return inputs;
}

// Flipped bits, numbers at their ends, cuts and repeats.
Bytes mutated(const Target& target, const Bytes& input, std::uint64_t seed) {
  Random random(seed);
  Bytes changed = input;
  for (std::uint64_t times = 1 + random.below(3); times > 0 && !changed.empty(); --times) {
    const std::size_t at = random.below(changed.size());
    const auto behind = static_cast<std::ptrdiff_t>(changed.size() - at);
    switch (random.below(6)) {
      case 0:
        changed[at] ^= static_cast<std::byte>(1u << random.below(8));
        break;
      case 1:
        changed[at] = static_cast<std::byte>(random.next());
        break;
      case 2:
        std::fill_n(changed.end() - behind, std::min<std::ptrdiff_t>(behind, 8),
                    random.below(2) == 0 ? std::byte{0xFF} : std::byte{0});
        break;
      case 3:
        changed.resize(at);
        break;
      case 4: {
        const Bytes again(changed.end() - behind, changed.end());
        changed.insert(changed.end(), again.begin(), again.end());
        break;
      }
      default:
        changed.erase(changed.end() - behind);
    }
  }
  if (target.mend == nullptr) return changed;
  const std::size_t length = changed.size();
  changed.resize(length + kRoom);
  changed.resize(target.mend(target, changed, length, static_cast<unsigned>(random.next())));
  return changed;
}

int replay(const std::vector<std::filesystem::path>& corpora) {
  for (const Target& target : all_targets()) {
    std::vector<Bytes> inputs = target.seeds(target);
    const std::size_t seeds = inputs.size();
    THINWIRE_FUZZ_CHECK(seeds > 0);
    for (const std::filesystem::path& corpus : corpora) {
      for (Bytes& input : read_folder(corpus / target.name)) inputs.push_back(std::move(input));
    }
    for (std::size_t number = 0; number < inputs.size(); ++number) {
      target.run(target, inputs[number]);
      for (std::uint64_t seed = 0; seed < kMutations; ++seed) {
        target.run(target, mutated(target, inputs[number], number * kMutations + seed));
      }
    }
    std::printf("%s: %zu seeds, %zu inputs, each in %d more forms\n", target.name.c_str(), seeds,
                inputs.size() - seeds, kMutations);
    std::fflush(stdout);
  }
  return 0;
}

int write_seeds(const char* name, const std::filesystem::path& folder) {
  const Target* target = find_target(name);
  if (target == nullptr) return 2;
  std::filesystem::create_directories(folder);
  std::size_t number = 0;
  for (const Bytes& seed : target->seeds(*target)) {
    std::ofstream file(folder / ("seed-" + std::to_string(number++)), std::ios::binary);
    file.write(reinterpret_cast<const char*>(seed.data()),
               static_cast<std::streamsize>(seed.size()));
    if (!file) return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "--list" && argc == 2) {
    for (const Target& target : all_targets()) std::printf("%s\n", target.name.c_str());
    return 0;
  }
  if (first == "--seeds" && argc == 4) return write_seeds(argv[2], argv[3]);
  if (argc >= 2 && !first.starts_with("-")) return replay({argv + 1, argv + argc});
  std::fprintf(stderr, "fuzz_replay <corpus>... | --list | --seeds <target> <folder>\n");
  return 2;
}
