// Codecs on a GPU. Reads one request a line on standard input, fields separated by tabs:
//
//   ceiling <bytes>                         a copy and a halving kernel, as roofs
//   codec <spec> <dtype> <4x5x6> <path> <1 with checksums, else 0>
//
// where the file's values fill the array over and over, and prints one JSON object a request.
// Exit code: 1 if one did not verify.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

#include "measure.h"
#include "values.h"

namespace thinwire::bench {
namespace {

std::vector<std::byte> read_tiled(const std::string& path, std::uint64_t bytes) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::byte> values(bytes);
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(bytes));
  const auto found = static_cast<std::uint64_t>(file.gcount());
  if (found == 0 && bytes > 0) throw std::runtime_error("cannot read " + path);
  for (std::uint64_t at = found; at < bytes; ++at) values[at] = values[at - found];
  return values;
}

Request parse(std::istream& fields) {
  Request request{};
  std::string extents, path, checksums;
  std::getline(fields, request.spec, '\t');
  std::getline(fields, request.dtype, '\t');
  std::getline(fields, extents, '\t');
  std::getline(fields, path, '\t');
  std::getline(fields, checksums, '\t');
  std::uint64_t bytes = value_bytes(request.dtype);
  std::istringstream axes(extents);
  for (std::string extent; std::getline(axes, extent, 'x');) {
    if (request.shape.rank == 4) throw std::runtime_error("more than four axes: " + extents);
    request.shape.extent[request.shape.rank++] = std::stoull(extent);
    bytes *= std::stoull(extent);
  }
  if (bytes == 0 || request.shape.rank == 0) throw std::runtime_error("no array: " + extents);
  request.shape.dtype = static_cast<std::uint32_t>(dtype_code(request.dtype));
  request.checksums = checksums == "1";
  request.values = read_tiled(path, bytes);
  return request;
}

void print_times(const char* name, const Times& times) {
  std::printf(", \"%s_us\": %.3f, \"%s_p90_us\": %.3f", name, times.median, name, times.p90);
}

void run_codec(std::istream& fields, const Stream& stream, const DeviceBytes& flush) {
  const Request request = parse(fields);
  const Coder coder(request, stream);
  const Expected expected(request, coder);
  const Slots slots(coder, request.values, stream);
  const Measured measured = measure(coder, slots, expected, stream, flush);
  std::printf("{\"verified\": true, \"declined\": %s, \"bytes\": %llu, \"frame_bytes\": %llu",
              expected.declined() ? "true" : "false",
              static_cast<unsigned long long>(request.values.size()),
              static_cast<unsigned long long>(expected.frame_bytes()));
  std::printf(", \"frames_vary\": %s", measured.frames_vary ? "true" : "false");
  std::printf(", \"max_error\": %.17g, \"range\": %.17g", expected.max_error(), expected.range());
  print_times("encode", measured.encode);
  print_times("ready", measured.ready);
  print_times("ready_synced", measured.ready_synced);
  print_times("graph_ready", measured.graph_ready);
  if (!expected.declined()) {
    print_times("decode", measured.decode);
    print_times("decoded", measured.decoded);
    print_times("decoded_synced", measured.decoded_synced);
    if (measured.decode_add) print_times("decode_add", *measured.decode_add);
  }
  std::printf("}\n");
}

// GPU times of what no codec that moves as many bytes can beat.
void run_ceiling(std::istream& fields, const Stream& stream, const DeviceBytes& flush) {
  std::uint64_t bytes = 0;
  if (!(fields >> bytes) || bytes % 32 != 0) throw std::runtime_error("not a multiple of 32 bytes");
  const std::uint64_t count = slot_count(bytes);
  const DeviceBytes sources(count * aligned(bytes)), targets(count * aligned(bytes));
  const auto place = [&](const DeviceBytes& of, int call) {
    return of.data() + static_cast<std::uint64_t>(call) % count * aligned(bytes);
  };
  const auto nothing = [](int) {};
  check(cudaMemsetAsync(sources.data(), 0x11, sources.size(), stream.get()));
  raise_clocks(stream);
  flush_cache(stream, flush);
  const auto copy = [&](int call) {
    check(cudaMemcpyAsync(place(targets, call), place(sources, call), bytes,
                          cudaMemcpyDeviceToDevice, stream.get()));
  };
  const Times copied = time_on_gpu(stream, timed_calls(bytes), copy, nothing);
  flush_cache(stream, flush);
  const auto half = [&](int call) {
    halve(stream, place(sources, call), place(targets, call), bytes);
  };
  const Times halved = time_on_gpu(stream, timed_calls(bytes), half, nothing);
  std::printf("{\"bytes\": %llu, \"copy_us\": %.3f, \"halve_us\": %.3f}\n",
              static_cast<unsigned long long>(bytes), copied.median, halved.median);
}

// A message as a JSON string's inside.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c >= ' ' ? c : ' ';
  }
  return out;
}

int run() {
  const Stream stream;
  const DeviceBytes flush(kFlushBytes);
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, 0));
  std::printf("{\"gpu\": \"%s\", \"sm_count\": %d}\n", escaped(device.name).c_str(),
              device.multiProcessorCount);
  bool sound = true;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream fields(line);
    std::string kind;
    std::getline(fields, kind, '\t');
    try {
      kind == "ceiling" ? run_ceiling(fields, stream, flush) : run_codec(fields, stream, flush);
    } catch (const std::exception& error) {
      sound = false;
      std::printf("{\"verified\": false, \"note\": \"%s\"}\n", escaped(error.what()).c_str());
    }
    std::fflush(stdout);
  }
  return sound ? 0 : 1;
}

}  // namespace
}  // namespace thinwire::bench

int main() {
  try {
    return thinwire::bench::run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "codec_gpu: %s\n", error.what());
    return 1;
  }
}
