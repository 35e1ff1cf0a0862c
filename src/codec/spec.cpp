#include "codec/spec.h"

#include "codec/registry.h"

namespace thinwire::codec {
namespace {

Status invalid(std::string message) { return {StatusCode::kInvalidArgument, std::move(message)}; }

std::string known_names() {
  std::string names;
  for (const Codec* codec : all_codecs()) {
    if (codec->test_only()) continue;
    names += codec->name;
    names += ", ";
  }
  return names + "auto, off";
}

Result<std::vector<Option>> split_options(std::string_view text) {
  std::vector<Option> options;
  while (true) {
    const auto comma = text.find(',');
    const auto item = text.substr(0, comma);
    const auto equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == item.size()) {
      return invalid("codec spec: '" + std::string(item) + "' is not key=value");
    }
    for (const Option& earlier : options) {
      if (earlier.key == item.substr(0, equals)) {
        return invalid("codec spec: '" + std::string(earlier.key) + "' is given twice");
      }
    }
    options.push_back({item.substr(0, equals), item.substr(equals + 1)});
    if (comma == std::string_view::npos) return options;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

std::string Spec::text() const {
  if (kind == Kind::kOff) return "off";
  if (kind == Kind::kAuto) return "auto";
  const std::string options = codec->describe(parameter);
  return options.empty() ? codec->name : std::string(codec->name) + ":" + options;
}

Result<Spec> parse_spec(std::string_view text) {
  const auto colon = text.find(':');
  const auto name = text.substr(0, colon);
  std::vector<Option> options;
  if (colon != std::string_view::npos) {
    auto split = split_options(text.substr(colon + 1));
    if (!split.ok()) return split.status();
    options = *split;
  }
  if (name == "off" || name == "auto") {
    if (!options.empty())
      return invalid("codec spec: '" + std::string(name) + "' takes no options");
    return Spec{.kind = name == "off" ? Spec::Kind::kOff : Spec::Kind::kAuto};
  }
  const Codec* codec = find_codec(name);
  if (codec == nullptr) {
    return invalid("no codec named '" + std::string(name) + "'; this build has " + known_names());
  }
  auto parameter = codec->parse(options);
  if (!parameter.ok()) return parameter.status();
  return Spec{.kind = Spec::Kind::kCodec, .codec = codec, .parameter = *parameter};
}

}  // namespace thinwire::codec
