// Structs of any size, as callers have them, and what must come of each.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>

#include "thinwire/thinwire.h"

// A struct as a caller has it: `size` bytes on the heap, so that a sanitizer sees what goes beyond.
template <class Struct>
class Sized {
 public:
  explicit Sized(std::uint32_t size, unsigned char fill = 0)
      : bytes_(new unsigned char[size]), size_(size) {
    std::memset(bytes_.get(), fill, size);
    std::memcpy(bytes_.get(), &size, sizeof size);
  }
  // Today's fields as far as there is room.
  Sized(std::uint32_t size, Struct today) : Sized(size) {
    today.size = size;
    std::memcpy(bytes_.get(), &today, std::min<std::size_t>(size, sizeof today));
  }

  Struct* get() const { return reinterpret_cast<Struct*>(bytes_.get()); }
  unsigned char& at(std::size_t place) const { return bytes_[place]; }
  bool is_zero_from(std::size_t begin) const {
    for (std::size_t place = begin; place < size_; ++place) {
      if (bytes_[place] != 0) return false;
    }
    return true;
  }

 private:
  std::unique_ptr<unsigned char[]> bytes_;
  std::size_t size_;
};

// An output of any size: filled as far as it goes, cleared after, refused if it is no size.
template <class Struct>
void expect_output_grows(const char* name, const std::function<tw_status(Struct*)>& call) {
  SCOPED_TRACE(name);
  Struct today{};
  today.size = sizeof today;
  ASSERT_EQ(call(&today), TW_OK) << tw_last_error();
  for (std::uint32_t size = 8; size <= sizeof(Struct) + 24; size += 8) {
    const Sized<Struct> other(size, 0xee);
    ASSERT_EQ(call(other.get()), TW_OK) << size << ": " << tw_last_error();
    EXPECT_EQ(other.get()->size, size);
    EXPECT_TRUE(other.is_zero_from(sizeof(Struct))) << size;
  }
  for (const std::uint32_t size : {0u, 4u, 12u, 4104u, 0xeeeeeeeeu}) {
    Sized<Struct> other(sizeof(Struct), 0xee);
    std::memcpy(&other.at(0), &size, sizeof size);
    EXPECT_EQ(call(other.get()), TW_INVALID_ARGUMENT) << size;
    EXPECT_EQ(other.at(sizeof(Struct) - 1), 0xee) << "something was written";
  }
}

// An input that is larger than today's: taken if the rest is zero, refused if it is not, or
// where the size is none.
template <class Struct>
void expect_input_grows(const char* name, const Struct& today,
                        const std::function<tw_status(Struct*)>& call) {
  SCOPED_TRACE(name);
  const Sized<Struct> larger(sizeof(Struct) + 16, today);
  EXPECT_EQ(call(larger.get()), TW_OK) << tw_last_error();
  for (const std::size_t place : {sizeof(Struct), sizeof(Struct) + 15}) {
    const Sized<Struct> unknown(sizeof(Struct) + 16, today);
    unknown.at(place) = 1;
    EXPECT_EQ(call(unknown.get()), TW_INVALID_ARGUMENT);
  }
  for (const std::uint32_t size : {0u, 4u, 12u, 4104u, 0xeeeeeeeeu}) {
    Struct wrong = today;
    wrong.size = size;
    EXPECT_EQ(call(&wrong), TW_INVALID_ARGUMENT) << size;
  }
}
