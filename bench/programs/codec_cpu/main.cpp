// Codecs on one core of the CPU, beside others' libraries if those were found: those of a fixed
// rate (zfp.cpp), then the lossless ones beside zstd and fpzip, over 16 MiB (fp64 32 MiB).
#include <cstdio>
#include <functional>
#include <memory>

#include "common.h"

#if defined(THINWIRE_BENCH_ZSTD)
#include <zstd.h>
#endif
#if defined(THINWIRE_BENCH_FPZIP)
#include <fpzip.h>
#endif

namespace thinwire::bench {
namespace {

struct Field {
  const char* data;
  tw_shape shape;
  Bytes values;
};

// A peer or a codec of this library: encode returns a size.
struct Coder {
  std::string name;
  std::function<std::size_t(const Bytes&)> encode;
  std::function<void(Bytes&)> decode;
};

void print_line(const Coder& coder, const Field& field) {
  Bytes decoded(field.values.size());
  std::size_t size = 0;
  Clock encode, decode;
  for (int i = 0; i < kRepeats; ++i) {
    encode.time([&] { size = coder.encode(field.values); });
    decode.time([&] { coder.decode(decoded); });
  }
  if (decoded != field.values) fail(coder.name + ": the decoded values differ");
  const auto bytes = static_cast<double>(field.values.size());
  std::printf("%-12s %u-D  %s  %-7s %8.3f  %8.0f  %8.0f\n", coder.name.c_str(), field.shape.rank,
              name_of(static_cast<tw_dtype>(field.shape.dtype)), field.data,
              bytes / static_cast<double>(size), encode.megabytes_a_second(field.values.size()),
              decode.megabytes_a_second(field.values.size()));
  std::fflush(stdout);
}

Coder ours(const std::string& spec, const tw_shape& shape) {
  auto coder = std::make_shared<Ours>(spec, shape);
  return {spec,
          [coder](const Bytes& values) {
            coder->encode(values);
            return coder->frame_bytes();
          },
          [coder](Bytes& values) { coder->decode(values); }};
}

// Whether this build has a lossless codec that takes such arrays.
bool takes(const tw_codec_info& info, const tw_shape& shape) {
  const bool has_dtype = (info.dtypes >> shape.dtype & 1) != 0;
  return info.lossless != 0 && has_dtype && info.max_rank >= shape.rank;
}

#if defined(THINWIRE_BENCH_ZSTD)
Coder zstd(const Field& field) {
  auto stream = std::make_shared<Bytes>(ZSTD_compressBound(field.values.size()));
  auto size = std::make_shared<std::size_t>(0);
  return {"zstd -1",
          [=](const Bytes& values) {
            *size = ZSTD_compress(stream->data(), stream->size(), values.data(), values.size(), 1);
            if (ZSTD_isError(*size) != 0) fail("zstd refused");
            return *size;
          },
          [=](Bytes& values) {
            const auto got = ZSTD_decompress(values.data(), values.size(), stream->data(), *size);
            if (got != values.size()) fail("zstd does not decode");
          }};
}
#endif

#if defined(THINWIRE_BENCH_FPZIP)
void describe(FPZ& stream, const tw_shape& shape) {
  int extents[3] = {1, 1, 1};  // the fastest first
  for (std::uint32_t axis = 0; axis < shape.rank; ++axis) {
    extents[axis] = static_cast<int>(shape.extent[shape.rank - 1 - axis]);
  }
  stream.type = shape.dtype == TW_F64 ? FPZIP_TYPE_DOUBLE : FPZIP_TYPE_FLOAT;
  stream.prec = 0;
  stream.nx = extents[0];
  stream.ny = extents[1];
  stream.nz = extents[2];
  stream.nf = 1;
}

Coder fpzip(const Field& field) {
  auto stream = std::make_shared<Bytes>(2 * field.values.size());
  const tw_shape shape = field.shape;
  return {"fpzip",
          [=](const Bytes& values) {
            FPZ* const to = fpzip_write_to_buffer(stream->data(), stream->size());
            describe(*to, shape);
            const std::size_t size = fpzip_write(to, values.data());
            fpzip_write_close(to);
            if (size == 0) fail("fpzip refused");
            return size;
          },
          [=](Bytes& values) {
            FPZ* const from = fpzip_read_from_buffer(stream->data());
            describe(*from, shape);
            if (fpzip_read(from, values.data()) == 0) fail("fpzip does not decode");
            fpzip_read_close(from);
          }};
}
#endif

void compare(const Field& field) {
  for (std::uint32_t index = 0; index < tw_codec_count(); ++index) {
    tw_codec_info info{};
    info.size = sizeof info;
    require(tw_codec_describe(index, &info), "tw_codec_describe");
    if (takes(info, field.shape)) print_line(ours(info.example, field.shape), field);
  }
#if defined(THINWIRE_BENCH_ZSTD)
  print_line(zstd(field), field);
#endif
#if defined(THINWIRE_BENCH_FPZIP)
  print_line(fpzip(field), field);
#endif
}

void compare_lossless() {
  std::printf("Lossless codecs\n");
#if !defined(THINWIRE_BENCH_ZSTD)
  std::printf("zstd: skipped, libzstd was not found when this was built\n");
#endif
#if !defined(THINWIRE_BENCH_FPZIP)
  std::printf("fpzip: skipped, libfpzip was not found when this was built\n");
#endif
  std::printf("\n%-12s %3s  %3s  %-7s %8s  %8s  %8s\n", "", "", "", "data", "ratio", "encode",
              "decode");
  for (const tw_dtype dtype : {TW_F32, TW_F64}) {
    for (const std::uint32_t rank : {1u, 3u}) {
      const tw_shape shape = make_shape(dtype, rank);
      compare({"waves", shape, waves(shape, 1e-4)});
    }
    const tw_shape line = make_shape(dtype, 1);
    compare({"random", line, normal_noise(line)});
  }
}

}  // namespace
}  // namespace thinwire::bench

int main() {
  std::printf("MB/s of uncompressed bytes, best of %d\n\n", thinwire::bench::kRepeats);
  thinwire::bench::compare_zfp();
  std::printf("\n");
  thinwire::bench::compare_lossless();
  return 0;
}
