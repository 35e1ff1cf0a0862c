// Runs the kernels of all variants on a few chunks by threads of the host:
//
//     c++ -std=c++20 -O1 -pthread -I bench/studies/roof bench/studies/roof/check.cpp -o check
//     ./check FILE.bf16
//
// Says of each whether the frame is that of the reference and the values come back; 1 if not.
#include <cstdio>
#include <fstream>
#include <iterator>

#include "variants.h"

namespace {

using namespace roof;

template <typename V>
bool is_right(std::vector<std::uint16_t> values, const char* name) {
  values.resize(3 * V::kBlockValues);
  const std::uint64_t count = values.size();
  const auto chunks = static_cast<std::uint32_t>(count / V::kChunkValues);
  const auto expected = V::kReference(values.data(), count);
  std::vector<uint4> frame((3 * count + 4096) / sizeof(uint4)), in(count / 8), back(count / 8);
  std::vector<std::uint8_t> slots(3 * count);
  std::vector<Word> words(chunks);
  std::memcpy(in.data(), values.data(), 2 * count);
  std::uint64_t bytes = 0;
  std::uint32_t damaged = 0;
  auto* const bytes_of_frame = reinterpret_cast<std::uint8_t*>(frame.data());
  const EncodeJob job{in.data(), bytes_of_frame, words.data(), &bytes, slots.data(), chunks, 1};
  emulated::run(V::kEncode, 3, V::kThreads, V::kEncodeShared, job);
  if constexpr (V::kGathers) {
    emulated::run(&gather<typename V::Its>, (chunks + kGatherChunks - 1) / kGatherChunks,
                  kGatherThreads, 64, job);
  }
  const bool is_frame = bytes == expected.size() &&
                        std::memcmp(bytes_of_frame + V::kHeader, expected.data() + V::kHeader,
                                    bytes - V::kHeader) == 0;
  emulated::run(V::kDecode, 3, V::kThreads, V::kDecodeShared,
                DecodeJob{bytes_of_frame, back.data(), words.data(), &damaged, chunks, 2});
  const bool is_back = damaged == 0 && std::memcmp(back.data(), values.data(), 2 * count) == 0;
  std::printf("%-40s %7llu bytes: %s, %s\n", name, static_cast<unsigned long long>(bytes),
              is_frame ? "the reference's" : "OTHERS THAN THE REFERENCE'S",
              is_back ? "values come back" : "OTHER VALUES COME BACK");
  return is_frame && is_back;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return std::puts("check FILE.bf16"), 2;
  std::ifstream file(arguments[1], std::ios::binary);
  const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  if (bytes.size() < 2) return std::puts("no values"), 2;
  std::vector<std::uint16_t> values(3 * 16 * 8 * 256);  // of the largest variant
  for (std::size_t at = 0; at < values.size(); ++at) {
    std::memcpy(&values[at], &bytes[2 * (at % (bytes.size() / 2))], 2);
  }
  bool all = true;
  for_each_variant([&]<typename V>(V, const char* name) { all &= is_right<V>(values, name); });
  return all ? 0 : 1;
}
