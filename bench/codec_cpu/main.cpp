// Codecs on one core of the CPU, beside others' libraries if those were found.
#include <cstdio>

#include "common.h"

int main() {
  std::printf("MB/s of uncompressed bytes, best of %d\n\n", thinwire::bench::kRepeats);
  thinwire::bench::compare_zfp();
  std::printf("\n");
  thinwire::bench::compare_lossless();
  return 0;
}
