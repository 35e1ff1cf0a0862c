// From tables to rules: what each key says, and what no rule may say.
#include <algorithm>
#include <bit>

#include "base/parse.h"
#include "codec/registry.h"
#include "codec/spec.h"
#include "plan/operation.h"
#include "policy/policy.h"
#include "policy/reach.h"
#include "policy/tables.h"

namespace thinwire::policy {
namespace {

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

// One text, or a list of at least one.
Result<Texts> texts_of(const Entry& entry) {
  if (const auto* one = std::get_if<std::string>(&entry.value)) return Texts{*one};
  const auto* const list = std::get_if<Texts>(&entry.value);
  if (list != nullptr && !list->empty()) return *list;
  return error_at(entry.line, in_quotes(entry.key) + " is a text in quotes, or a list of such");
}

// The mask of the words, of which `word(0)` to `word(count - 1)` are known.
template <typename Word>
Result<std::uint32_t> mask_of(const Entry& entry, std::uint32_t from, std::uint32_t to, Word word) {
  const auto texts = texts_of(entry);
  if (!texts.ok()) return texts.status();
  std::uint32_t mask = 0;
  for (const std::string& each : *texts) {
    std::uint32_t at = from;
    while (at < to && each != word(at)) ++at;
    if (at == to) {
      std::string known;
      for (std::uint32_t of = from; of < to; ++of)
        known += (of == from ? "" : ", ") + std::string(word(of));
      return error_at(entry.line,
                      in_quotes(entry.key) + ": " + in_quotes(each) + " is none of " + known);
    }
    if ((mask >> at & 1U) != 0) {
      return error_at(entry.line,
                      in_quotes(entry.key) + ": " + in_quotes(each) + " is named twice");
    }
    mask |= 1U << at;
  }
  return mask;
}

Result<std::string> text_of(const Entry& entry) {
  const auto* const text = std::get_if<std::string>(&entry.value);
  if (text != nullptr && !text->empty()) return *text;
  return error_at(entry.line, in_quotes(entry.key) + " is a text in quotes");
}

Result<std::uint64_t> number_of(const Entry& entry, bool has_unit) {
  if (const auto* number = std::get_if<std::uint64_t>(&entry.value)) return *number;
  const auto* const text = std::get_if<std::string>(&entry.value);
  if (!has_unit || text == nullptr) {
    return error_at(entry.line, in_quotes(entry.key) + " is a whole number" +
                                    (has_unit ? ", or a size in quotes as in \"64KiB\"" : ""));
  }
  auto size = parse_size(*text);
  if (!size.ok()) return error_at(entry.line, size.status().message());
  return size;
}

Status take_codec(const Entry& entry, Rule& rule) {
  auto text = text_of(entry);
  if (!text.ok()) return text.status();
  rule.codec = *text;
  if (*text == "default") return {};
  const auto spec = codec::parse_spec(*text);
  if (!spec.ok()) return error_at(entry.line, spec.status().message());
  rule.codec = spec->text();
  return {};
}

const char* dtype_word(std::uint32_t dtype) { return dtype_name(static_cast<Dtype>(dtype)); }
const char* span_word(std::uint32_t span) { return span == 1 ? "within-node" : "between-nodes"; }

template <typename Value>
Status store(Result<Value> from, Value& to) {
  if (!from.ok()) return from.status();
  to = std::move(*from);
  return {};
}

// It stands in reports as it is.
Result<std::string> name_of(const Entry& entry) {
  auto name = text_of(entry);
  const auto is_plain = [](char each) {
    return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
           (each >= '0' && each <= '9') || each == ' ' || each == '-' || each == '_' || each == '.';
  };
  if (name.ok() && !std::ranges::all_of(*name, is_plain)) {
    return error_at(entry.line, "a rule's name has letters, digits, spaces, - _ and . alone");
  }
  return name;
}

Status take_holds(const Entry& entry, Rule& rule) {
  const auto text = text_of(entry);
  if (!text.ok()) return text.status();
  const auto mask = mask_of(entry, 1, kDtypeCount, dtype_word);
  if (!mask.ok()) return mask.status();
  rule.holds = static_cast<Dtype>(std::countr_zero(*mask));
  return {};
}

Status take_siblings(const Entry& entry, Rule& rule) {
  constexpr std::uint64_t kMost = 1 << 20;
  const auto number = number_of(entry, false);
  if (!number.ok()) return number.status();
  if (*number == 0 || *number > kMost) {
    return error_at(entry.line,
                    "'siblings' is how many communicators of one name decide together, from 1 on");
  }
  rule.siblings = static_cast<std::uint32_t>(*number);
  return {};
}

Status take_entry(const Entry& entry, Rule& rule) {
  const std::string& key = entry.key;
  if (key == "name") return store(name_of(entry), rule.name);
  if (key == "operation") {
    return store(mask_of(entry, 0, kOperations, operation_word), rule.operations);
  }
  if (key == "communicator") return store(texts_of(entry), rule.communicators);
  if (key == "dtype") return store(mask_of(entry, 1, kDtypeCount, dtype_word), rule.dtypes);
  if (key == "holds") return take_holds(entry, rule);
  if (key == "span") return store(mask_of(entry, 1, 3, span_word), rule.spans);
  if (key == "size-from") return store(number_of(entry, true), rule.bytes_from);
  if (key == "size-below") return store(number_of(entry, true), rule.bytes_below);
  if (key == "ranks-from") return store(number_of(entry, false), rule.ranks_from);
  if (key == "ranks-below") return store(number_of(entry, false), rule.ranks_below);
  if (key == "siblings") return take_siblings(entry, rule);
  if (key == "codec") return take_codec(entry, rule);
  return error_at(entry.line,
                  in_quotes(key) +
                      " is no key of a rule; these are: name, operation, communicator, "
                      "dtype, holds, span, size-from, size-below, ranks-from, ranks-below, "
                      "siblings, codec");
}

constexpr std::uint32_t kReductions = 7U << static_cast<int>(plan::Operation::kReduce);

// A rule about bytes and integers takes these alone, and no sums: the MPI adds integers.
Status limit_to_words(Rule& rule, bool names_dtypes, bool names_operations, int line) {
  if (rule.holds == Dtype::kBytes) return {};
  if (names_dtypes) {
    return error_at(line, "'holds' says what the values are: the rule has no 'dtype' besides");
  }
  if (names_operations && (rule.operations & kReductions) != 0) {
    return error_at(line,
                    "sums of bytes and integers are the program's own: a rule with 'holds' "
                    "takes no reduction");
  }
  if (rule.codec == "default") {
    return error_at(line, "a rule with 'holds' names its codec, which \"default\" is not");
  }
  rule.operations &= ~kReductions;
  rule.dtypes = dtype_bit(Dtype::kBytes);
  return {};
}

// Refuses a codec that could never do anything with what the rule takes.
Status check_codec(const Rule& rule, bool names_dtypes, int line) {
  if (rule.codec == "default") return {};
  const codec::Spec spec = *codec::parse_spec(rule.codec);
  for (int dtype = 1; names_dtypes && spec.codec != nullptr && dtype < kDtypeCount; ++dtype) {
    const auto type = static_cast<Dtype>(dtype);
    if ((rule.dtypes & dtype_bit(type)) == 0 || spec.codec->takes(type, spec.parameter)) continue;
    return error_at(line, rule.codec + " does not take " + dtype_name(type));
  }
  if (rule.holds != Dtype::kBytes && spec.codec != nullptr &&
      !spec.codec->takes(rule.holds, spec.parameter)) {
    return error_at(line, rule.codec + " does not take " + dtype_name(rule.holds));
  }
  if (spec.reductions_alone && (rule.operations & kReductions) == 0) {
    return error_at(line, rule.codec + " bounds reductions alone, and the rule takes none");
  }
  return {};
}

Result<Rule> rule_of(const Table& table) {
  if (table.name != "rule") return error_at(table.line, "a heading is [[rule]], nothing else");
  Rule rule;
  rule.line = table.line;
  bool names_dtypes = false, names_operations = false;
  int codec_line = 0, holds_line = 0;
  for (const Entry& each : table.entries) {
    if (Status status = take_entry(each, rule); !status.ok()) return status;
    names_dtypes |= each.key == "dtype";
    names_operations |= each.key == "operation";
    if (each.key == "codec") codec_line = each.line;
    if (each.key == "holds") holds_line = each.line;
  }
  if (codec_line == 0) return error_at(table.line, "the rule has no codec");
  if (rule.siblings > 1 && rule.communicators.empty()) {
    return error_at(table.line, "siblings are told by their name: the rule has no 'communicator'");
  }
  if (rule.bytes_from >= rule.bytes_below) {
    return error_at(table.line, "no size is from " + std::to_string(rule.bytes_from) +
                                    " and below " + std::to_string(rule.bytes_below) + " bytes");
  }
  if (rule.ranks_from >= rule.ranks_below || rule.ranks_below <= 1) {
    return error_at(table.line, "no communicator has from " + std::to_string(rule.ranks_from) +
                                    " to below " + std::to_string(rule.ranks_below) + " ranks");
  }
  if (Status status = limit_to_words(rule, names_dtypes, names_operations, holds_line);
      !status.ok()) {
    return status;
  }
  if (Status status = check_codec(rule, names_dtypes, codec_line); !status.ok()) return status;
  return rule;
}

Result<std::vector<Rule>> rules_in(std::string_view text) {
  const auto tables = read_tables(text);
  if (!tables.ok()) return tables.status();
  std::vector<Rule> rules;
  for (const Table& each : *tables) {
    auto rule = rule_of(each);
    if (!rule.ok()) return rule.status();
    rules.push_back(std::move(*rule));
    if (rules.size() > kMostRules) {
      return error_at(each.line, "there are more than " + std::to_string(kMostRules) + " rules");
    }
  }
  if (rules.empty()) return error_at(1, "there is no [[rule]]");
  if (Status status = check_reach(rules); !status.ok()) return status;
  return rules;
}

}  // namespace

Result<Policy> Policy::read(std::string_view text, const std::string& file) {
  auto rules = rules_in(text);
  if (!rules.ok()) return {rules.status().code(), file + ":" + rules.status().message()};
  Policy made;
  made.rules_ = std::move(*rules);
  return made;
}

}  // namespace thinwire::policy
