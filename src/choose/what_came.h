// Whether a step's time tells of the way that messages came, more than of the way that its own
// message went. In a ring, or among neighbours that exchange, a rank waits for what others send it,
// and its own message makes others wait. It learns from theirs what messages take both ways: others
// decide by what came to them, and all of them send what is alike.
//
// Times of what came may be those of what a program computes beside it, or of another time. So they
// do not speak for compressing if a step's own compressed message costs, and messages are not left
// compressed by them once only messages of one way come.
//
// If all go the same way at the same time, as in timing rounds that meet, nothing differs, and a
// step is one of its own way.
#pragma once

#include <cstdint>
#include <optional>

#include "choose/other_way.h"
#include "choose/way_times.h"

namespace thinwire::choose {

// Messages of about a kind's size that came to this process so far.
struct Came {
  std::uint64_t raw = 0, coded = 0;
};

class WhatCame {
 public:
  // As the next step begins.
  void note(const Came& so_far) { now_ = so_far; }
  // The step took so long, and went so itself; nothing if it was to be compressed and was not.
  void end_step(double nanoseconds, std::optional<bool> is_coded);

  // True once, as it is found that times tell of what came.
  bool find();
  // It was found, and messages have come lately.
  bool decides() const { return decides_; }
  // True once, as that is so no longer: steps are those of their own way again. `codes`: messages
  // are compressed.
  bool end_if_over(bool codes);

  // In the step that ended nothing came, or messages of both ways.
  bool is_unknown() const { return !way_; }
  bool was_coded() const { return way_ && *way_; }
  bool was_raw() const { return way_ && !*way_; }

  // All steps lately, by what came in them.
  BothWays times() const { return {times_[0], times_[1]}; }

 private:
  bool speaks_for_cost() const;

  Came now_, before_;
  std::optional<bool> way_, last_;
  OtherWay kinds_;
  WayTimes times_[2];  // raw, compressed
  bool decides_ = false;
  std::uint32_t unknown_ = 0;  // steps in a row
  // Steps in a row in which nothing came of the other way than before: one in which nothing came is
  // such a step, one in which messages of both ways came is not.
  std::uint32_t same_ = 0;
};

}  // namespace thinwire::choose
