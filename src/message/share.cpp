#include "message/share.h"

#include <algorithm>

#include "message/automatic.h"
#include "message/trial.h"

namespace thinwire::message {

Result<double> foreseen_share(const codec::Spec& spec, const codec::Chunk& array,
                              const std::byte* source, double least_ratio) {
  if (spec.kind == codec::Spec::Kind::kAuto) {
    const auto choice = choose_automatically(array, source, {.least_ratio = least_ratio}, nullptr);
    if (!choice.ok()) return choice.status();
    return choice->ratio > 1 && choice->ratio >= least_ratio ? 1 / choice->ratio : 1.0;
  }
  const Coder coder{spec.codec, spec.parameter};
  const bool sees_axes = !coder.codec->flat && array.shape.rank > 1;
  const Sample sample = sees_axes ? sample_boxes(array, coder) : sample_runs(array);
  Trial trial{coder, &sample};
  if (Status status = try_all({&trial, 1}, source, nullptr); !status.ok()) return status;
  return std::min(trial.share(), 1.0);
}

}  // namespace thinwire::message
