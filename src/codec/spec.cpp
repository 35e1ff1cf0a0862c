#include "codec/spec.h"

#include <algorithm>
#include <span>

#include "base/parse.h"
#include "codec/registry.h"

namespace thinwire::codec {
namespace {

constexpr std::string_view kAbsoluteKey = "allreduce-abs";
constexpr std::string_view kRelativeKey = "allreduce-rel";

Status invalid(std::string_view key, const std::string& what) {
  return {StatusCode::kInvalidArgument, "codec spec: " + std::string(key) + what};
}

bool is_key(const Option& option) {
  return option.key == kAbsoluteKey || option.key == kRelativeKey;
}

}  // namespace

std::string ResultBound::text() const {
  if (!exists()) return "";
  const auto key = kind == Kind::kAbsolute ? kAbsoluteKey : kRelativeKey;
  return std::string(key) + "=" + number_text(value);
}

Result<ResultBound> take_result_bound(std::vector<Option>& options) {
  ResultBound bound;
  const auto option = std::find_if(options.begin(), options.end(), is_key);
  if (option == options.end()) return bound;
  const Option taken = *option;
  options.erase(option);
  if (std::any_of(options.begin(), options.end(), is_key)) {
    return invalid(kAbsoluteKey, " and allreduce-rel are one or the other");
  }
  bound.kind =
      taken.key == kAbsoluteKey ? ResultBound::Kind::kAbsolute : ResultBound::Kind::kRelative;
  const auto value = parse_number(taken.value);
  if (!value.ok()) return invalid(taken.key, ": " + value.status().message());
  if (!(*value > 0)) return invalid(taken.key, " is above 0; lossless codecs lose nothing");
  if (bound.kind == ResultBound::Kind::kRelative && *value > 1) {
    return invalid(taken.key, " is at most 1");
  }
  bound.value = *value;
  return bound;
}

namespace {

Status invalid(std::string message) { return {StatusCode::kInvalidArgument, std::move(message)}; }

std::string known_names() {
  std::string names;
  for (const Codec* codec : all_codecs()) {
    if (codec->test_only()) continue;
    names += codec->name;
    names += ", ";
  }
  return names + "lossless, auto, off";
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

constexpr std::string_view kShapeKey = "shape";
constexpr std::string_view kReductionsKey = "reductions";

struct ReductionsWord {
  std::string_view text;
  Spec::Reductions meaning;
};
constexpr ReductionsWord kReductionsWords[] = {{"native", Spec::Reductions::kNative},
                                               {"coded", Spec::Reductions::kCoded},
                                               {"ordered", Spec::Reductions::kOrdered},
                                               {"exact", Spec::Reductions::kExact}};

std::string word_of(Spec::Reductions meaning) {
  const auto* const word = std::ranges::find(kReductionsWords, meaning, &ReductionsWord::meaning);
  return std::string(word->text);
}

// One extent; 0 for "?".
Result<std::uint64_t> parse_extent(std::string_view text) {
  if (text == "?") return std::uint64_t{0};
  const auto extent = parse_whole_number(text);
  if (!extent || *extent == 0) {
    return invalid("codec spec: shape: '" + std::string(text) + "' is neither an extent nor ?");
  }
  return *extent;
}

// As in "24x224x?", slowest first.
Result<Shape> parse_shape(std::string_view text) {
  Shape shape{.rank = 0};
  bool has_open = false;
  while (true) {
    const auto cross = text.find('x');
    const auto extent = parse_extent(text.substr(0, cross));
    if (!extent.ok()) return extent.status();
    if (shape.rank == kMaxRank) return invalid("codec spec: shape: more than four extents");
    if (*extent == 0 && has_open) return invalid("codec spec: shape: more than one ?");
    has_open = has_open || *extent == 0;
    shape.extent[static_cast<std::size_t>(shape.rank++)] = *extent;
    if (cross == std::string_view::npos) return shape;
    text.remove_prefix(cross + 1);
  }
}

std::string shape_text(const Shape& shape) {
  std::string text;
  for (int axis = 0; axis < shape.rank; ++axis) {
    const std::uint64_t extent = shape.extent[static_cast<std::size_t>(axis)];
    if (axis > 0) text += 'x';
    text += extent == 0 ? "?" : std::to_string(extent);
  }
  return text;
}

// Fills in the open extent of `shape`; false if it cannot hold exactly `count` elements.
bool fit(Shape& shape, std::uint64_t count) {
  std::uint64_t* open = nullptr;
  std::uint64_t left = count;
  for (int axis = 0; axis < shape.rank; ++axis) {
    std::uint64_t& extent = shape.extent[static_cast<std::size_t>(axis)];
    if (extent == 0) {
      open = &extent;
    } else if (left % extent != 0) {
      return false;
    } else {
      left /= extent;
    }
  }
  if (open != nullptr) *open = left;
  return open != nullptr ? left > 0 : left == 1;
}

}  // namespace

Result<Shape> Spec::shape_of(std::uint64_t count) const {
  const Shape line = Shape::line(count);
  if (shape.rank == 0 || count == 0) return line;
  const bool lossless = codec == nullptr || codec->lossless;
  Shape fitted = shape;
  if (fit(fitted, count)) return fitted;
  if (lossless) return line;
  return {StatusCode::kUnsupported, std::string(codec->name) + ": shape=" + shape_text(shape) +
                                        " does not fit " + std::to_string(count) + " elements"};
}

std::string Spec::text() const {
  if (kind == Kind::kOff) return "off";
  std::string options;
  const auto add = [&](const std::string& option) {
    if (!options.empty() && !option.empty()) options += ',';
    options += option;
  };
  if (kind == Kind::kCodec && !reductions_alone) add(codec->describe(parameter));
  add(result_bound.text());
  add(fill.text());
  if (reductions != Reductions::kUnsaid) {
    add(std::string(kReductionsKey) + "=" + word_of(reductions));
  }
  if (shape.rank > 0) add(std::string(kShapeKey) + "=" + shape_text(shape));
  const std::string name = kind == Kind::kCodec ? codec->name : insists ? "lossless" : "auto";
  return options.empty() ? name : name + ":" + options;
}

namespace {

// Parses the options of "auto" and "lossless" that are left; only "lossless" takes any.
Result<Spec> parse_policy(Spec spec, std::span<const Option> options) {
  if (!spec.insists && !options.empty()) {
    return invalid("codec spec: 'auto' takes no option but shape");
  }
  for (const Option& option : options) {
    if (option.key != kReductionsKey) {
      return invalid("codec spec: 'lossless' takes shape and reductions, not '" +
                     std::string(option.key) + "'");
    }
    const auto* const word =
        std::ranges::find(kReductionsWords, option.value, &ReductionsWord::text);
    if (word == std::end(kReductionsWords)) {
      return invalid("codec spec: reductions is native, coded, ordered or exact");
    }
    spec.reductions = word->meaning;
  }
  return spec;
}

}  // namespace

Result<Spec> parse_spec(std::string_view text) {
  // "lossless" may be followed by a comma, as a word of several.
  const auto colon = text.find_first_of(text.starts_with("lossless,") ? "," : ":");
  const auto name = text.substr(0, colon);
  std::vector<Option> options;
  if (colon != std::string_view::npos) {
    auto split = split_options(text.substr(colon + 1));
    if (!split.ok()) return split.status();
    options = *split;
  }
  if (name == "off") {
    if (!options.empty()) return invalid("codec spec: 'off' takes no options");
    return Spec{};
  }
  const bool insists = name == "lossless";
  const bool is_auto = insists || name == "auto";
  const Codec* codec = is_auto ? nullptr : find_codec(name);
  if (codec == nullptr && !is_auto) {
    return invalid("no codec named '" + std::string(name) + "'; this build has " + known_names());
  }
  Spec spec{
      .kind = is_auto ? Spec::Kind::kAuto : Spec::Kind::kCodec, .codec = codec, .insists = insists};
  const auto option = std::find_if(options.begin(), options.end(),
                                   [](const Option& each) { return each.key == kShapeKey; });
  if (option != options.end()) {
    auto shape = parse_shape(option->value);
    if (!shape.ok()) return shape.status();
    spec.shape = *shape;
    options.erase(option);
  }
  if (is_auto) return parse_policy(spec, options);
  auto fill = take_fill(options, *codec);
  if (!fill.ok()) return fill.status();
  spec.fill = *fill;
  auto bound = take_result_bound(options);
  if (!bound.ok()) return bound.status();
  if (bound->exists() && codec->with_bound == nullptr) {
    return invalid("codec spec: " + bound->text() + ": " + codec->name + " has no absolute bound");
  }
  if (bound->exists() && spec.fill.exists()) {
    return invalid("codec spec: " + bound->text() + " bounds sums, which fill= leaves native");
  }
  spec.result_bound = *bound;
  spec.reductions_alone = bound->exists() && options.empty();
  if (spec.reductions_alone) return spec;
  auto parameter = codec->parse(options);
  if (!parameter.ok()) return parameter.status();
  spec.parameter = *parameter;
  return spec;
}

}  // namespace thinwire::codec
