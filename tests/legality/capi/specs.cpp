// The specs that programs name: by the registry, and some more of each kind.
#include <cstdlib>
#include <cstring>

#include "draw.h"
#include "marks.h"

namespace legality {
namespace {

double quantity(const std::string& text, const char* key) {
  const std::size_t at = text.find(key);
  const bool whole = at != std::string::npos && (text[at - 1] == ':' || text[at - 1] == ',');
  return whole ? std::atof(text.c_str() + at + std::strlen(key)) : 0;
}

void add(std::vector<Spec>& specs, const std::string& text, const tw_codec_info* info) {
  Spec spec;
  tw_codec* codec = nullptr;
  if (tw_codec_create(text.c_str(), &codec) != TW_OK) return;
  spec.text = text;
  spec.codec = {codec, [](const tw_codec* one) { tw_codec_destroy(const_cast<tw_codec*>(one)); }};
  spec.lossless = info == nullptr || info->lossless != 0;
  spec.absolute = quantity(text, "abs="), spec.result = quantity(text, "allreduce-abs=");
  if (info != nullptr) spec.dtypes = info->dtypes;
  specs.push_back(spec);
}

std::vector<Spec> make_specs() {
  static const char* const kMore[] = {"mpc:stride=2",
                                      "zfp:rate=16",
                                      "szp:abs=1e-3",
                                      "szp:rel=1e-4",
                                      "szp:allreduce-abs=1e-3",
                                      "szp:allreduce-rel=1e-4",
                                      "szp:abs=1e-3,allreduce-abs=1e-2"};
  std::vector<Spec> specs(1);  // none
  for (std::uint32_t index = 0; index < tw_codec_count(); ++index) {
    tw_codec_info info{};
    info.size = sizeof info;
    if (tw_codec_describe(index, &info) != TW_OK) continue;
    const bool runs = info.gpu_only == 0 && std::strlen(tw_codec_missing(index)) == 0;
    // The test codec's frames are decoded once.
    if (!runs || std::strcmp(info.name, "shrink") == 0 || std::strcmp(info.name, "raw") == 0)
      continue;
    add(specs, info.name, &info);
    if (std::strcmp(info.name, info.example) != 0) add(specs, info.example, &info);
    for (const char* more : kMore)
      if (std::string(more).rfind(std::string(info.name) + ":", 0) == 0) add(specs, more, &info);
  }
  add(specs, "off", nullptr);
  add(specs, "auto", nullptr);
  return specs;
}

}  // namespace

const std::vector<Spec>& all_specs() {
  static const std::vector<Spec> specs = make_specs();
  return specs;
}

}  // namespace legality
