// The parts of an array by which codecs are compared.
#pragma once

#include "device/places.h"
#include "message/message.h"

namespace thinwire::message {

// Values out of many places of an array, one after the other: data differs along an array, so that
// one place says little. The whole array, and no places, if that is small.
struct Sample {
  codec::Chunk array;
  device::Places places;

  bool is_whole() const { return places.count == 0; }
};

// For codecs that see axes: boxes of the codec's own, stacked on each other.
Sample sample_boxes(const codec::Chunk& array, const Coder& coder);

// For those that see the array as one line: runs of it. If `boxes` are compared with them, at
// the same places: half an array of zeros must not be more in one sample than in the other.
Sample sample_runs(const codec::Chunk& array, const Sample* boxes = nullptr);

}  // namespace thinwire::message
