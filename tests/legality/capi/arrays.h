// One rank's arrays for an operation: what lies in them, and what must lie there when it is done.
#pragma once

#include <vector>

#include "draw.h"

namespace legality {

// Elements in a row, numbered from `first` of their content.
struct Part {
  std::uint64_t place = 0, count = 0;
  Content content;
  std::uint64_t first = 0;
};

// Memory with a margin at both ends, at any alignment.
class Array {
 public:
  void lay_out(std::uint64_t elements, std::uint32_t dtype, std::uint64_t key);
  void fill(const Part& part);
  void* address() { return memory_.empty() ? nullptr : memory_.data() + origin_; }
  const void* at(std::uint64_t element) const { return &memory_[origin_ + element * each_]; }
  void free(std::uint64_t place,
            std::uint64_t count);  // what comes to lie there is looked at apart
  bool is_untouched() const;       // all but what was freed

 private:
  std::vector<unsigned char> memory_, image_;
  std::vector<char> freed_;
  std::uint64_t origin_ = 0, each_ = 1;
  std::uint32_t dtype_ = TW_BYTES;
};

class Arrays {
 public:
  Arrays(const Drawn& drawn, int rank, int size);
  tw_collective call();
  const std::vector<Part>& results() const { return results_; }
  const Array& receive() const { return receive_; }
  bool is_untouched() const { return send_.is_untouched() && receive_.is_untouched(); }
  std::uint64_t first_result() const { return first_; }  // of a reduction's elements
  std::uint64_t hash() const;                            // of the results

 private:
  void lay_blocks(bool sends, Array& array, std::vector<std::uint64_t>& counts,
                  std::vector<std::uint64_t>& places);
  void prepare_moves();
  void prepare_reduction();
  void contribute(Array& array, const Part& part);

  const Drawn& drawn_;
  const int rank_, size_;
  Array send_, receive_;
  std::vector<Part> results_;
  std::vector<std::uint64_t> send_counts_, send_places_, receive_counts_, receive_places_;
  std::uint64_t count_ = 0, first_ = 0;
};

}  // namespace legality
