// An array to a frame and back, in C++.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <thinwire/thinwire.hpp>
#include <vector>

int main() {
  std::vector<double> values(1 << 16);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i) / 99);

  // Any contiguous range, in the shape that the spec names.
  const thinwire::Codec codec("szp:abs=1e-6,shape=256x256");
  std::vector<std::byte> frame = thinwire::encode(codec, values);
  const auto again = thinwire::decode<double>(frame);
  double error = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    error = std::max(error, std::abs(values[i] - again[i]));
  }
  std::printf("%s: %zu bytes to %zu, largest error %.2g\n", thinwire::inspect(frame).spec,
              8 * values.size(), frame.size(), error);

  // Into memory of one's own, here from the library's pool of scratch memory.
  const thinwire::Codec lossless("lorenzo");
  const tw_shape shape = thinwire::make_shape(TW_F64, {256, 256});
  const thinwire::Scratch scratch(TW_MEMORY_HOST, lossless.bound(shape));
  const auto written = thinwire::encode(lossless, shape, values.data(), scratch.bytes());
  const bool same = thinwire::decode<double>(written) == values;
  std::printf("%s: %zu bytes, %s\n", lossless.spec().data(), written.size(),
              same ? "the same bits" : "NOT THE SAME");

  // A failure throws, with the status and the library's own sentence.
  frame.resize(frame.size() / 2);
  try {
    thinwire::decode<double>(frame);
  } catch (const thinwire::Error& failed) {
    std::printf("half a frame: %s\n", failed.what());
    return error <= 1e-6 && same && failed.status() == TW_DAMAGED ? 0 : 1;
  }
  return 1;
}
