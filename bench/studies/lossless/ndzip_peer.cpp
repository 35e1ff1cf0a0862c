// ndzip (github.com/celerity/ndzip) for lossless_rows.py --ndzip: a C interface of its coder for
// one thread. It belongs to no build of ours. With ndzip's sources in NDZIP:
//
//   for type in float double; do for dimensions in 1 2 3; do
//     printf '#define DATA_TYPE %s\n#define DIMENSIONS %s\n#define SPLIT_CONFIGURATION_cpu_encoder
//   #include "cpu_codec.inl"\n' $type $dimensions > encoder_$type$dimensions.cc; done; done
//   g++ -std=c++17 -O2 -mavx2 -DNDEBUG -shared -fPIC -o libndzip_peer.so -INDZIP/include
//     -INDZIP/src/ndzip encoder_*.cc NDZIP/src/ndzip/{cpu_factory,common}.cc ndzip_peer.cpp
// ndzip's header relies on these.
#include <cassert>
#include <initializer_list>
#include <iterator>
#include <stdexcept>

#include <ndzip/offload.hh>

namespace {

ndzip::extent extent_of(int rank, const unsigned* extents) {
  ndzip::extent whole(rank);
  for (int axis = 0; axis < rank; ++axis) whole[axis] = extents[axis];
  return whole;
}

template <typename T>
unsigned encode(const T* values, int rank, const unsigned* extents, void* coded) {
  const auto coder = ndzip::make_cpu_offloader<T>(rank, 1);
  auto* words = static_cast<ndzip::compressed_type<T>*>(coded);
  return coder->compress(values, extent_of(rank, extents), words);
}

template <typename T>
unsigned decode(const void* coded, unsigned count, T* values, int rank, const unsigned* extents) {
  const auto coder = ndzip::make_cpu_offloader<T>(rank, 1);
  const auto* words = static_cast<const ndzip::compressed_type<T>*>(coded);
  return coder->decompress(words, count, values, extent_of(rank, extents));
}

}  // namespace

extern "C" {

unsigned ndzip_f32_bound(int rank, const unsigned* extents) {
  return ndzip::compressed_length_bound<float>(extent_of(rank, extents));
}
unsigned ndzip_f64_bound(int rank, const unsigned* extents) {
  return ndzip::compressed_length_bound<double>(extent_of(rank, extents));
}
unsigned ndzip_f32_encode(const float* values, int rank, const unsigned* extents, void* coded) {
  return encode(values, rank, extents, coded);
}
unsigned ndzip_f64_encode(const double* values, int rank, const unsigned* extents, void* coded) {
  return encode(values, rank, extents, coded);
}
unsigned ndzip_f32_decode(const void* coded, unsigned count, float* values, int rank,
                          const unsigned* extents) {
  return decode(coded, count, values, rank, extents);
}
unsigned ndzip_f64_decode(const void* coded, unsigned count, double* values, int rank,
                          const unsigned* extents) {
  return decode(coded, count, values, rank, extents);
}
}
