#include "engine/train/weights/hdf5_content.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace dt::train {
namespace {

constexpr std::uint64_t undefined = ~std::uint64_t{0}; // HDF5's undefined address
constexpr std::uint64_t most_rank = 32, most_text_bytes = 4096, most_depth = 16;

using Refusal = std::function<void(const std::string&)>; // must throw

// Reads the little-endian fields of one structure in order. Refuses the file if a field extends beyond the structure.
class Fields {
 public:
  Fields(std::string bytes, const Refusal& refuse) : bytes_(std::move(bytes)), refuse_(refuse) {}
  std::size_t left() const { return bytes_.size() - at_; }
  std::string take(std::uint64_t count)
  {
    if (count > left()) refuse_("a structure ends before its last field.");
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  std::uint64_t number(std::size_t bytes)
  {
    std::uint64_t value = 0;
    const auto taken = take(bytes);
    for (std::size_t i = 0; i < bytes; ++i) value |= std::uint64_t{static_cast<unsigned char>(taken[i])} << (8 * i);
    return value;
  }
  void expect(std::string_view bytes, const char* what)
  {
    if (take(bytes.size()) != bytes) refuse_(fmt::format("{} was expected.", what));
  }
  void expect(std::size_t bytes, std::uint64_t value, const char* what)
  {
    const auto found = number(bytes);
    if (found != value) refuse_(fmt::format("{} is {}; {} was expected.", what, found, value));
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
  const Refusal& refuse_;
};

// ---- types, as the bytes that the writer produces; the version in the first byte's upper half is not compared ----

constexpr std::string_view float32{"\x01\x20\x1f\x00\x04\x00\x00\x00\x00\x00\x20\x00\x17\x08\x00\x17\x7f\x00\x00\x00", 20};
constexpr std::string_view float64{"\x01\x20\x3f\x00\x08\x00\x00\x00\x00\x00\x40\x00\x34\x0b\x00\x34\xff\x03\x00\x00", 20};
constexpr std::string_view integer64{"\x00\x08\x00\x00\x08\x00\x00\x00\x00\x00\x40\x00", 12};

int class_of(std::string_view type) { return type.empty() ? -1 : type.front() & 0x0f; }

bool is_type(std::string_view type, std::string_view expected)
{
  return type.size() >= expected.size() && class_of(type) == class_of(expected) &&
         type.substr(1, expected.size() - 1) == expected.substr(1);
}

std::string_view name_of_class(int number)
{
  constexpr std::array<std::string_view, 11> names{
      "an integer",   "a float",    "a time",      "a text",         "a bit field",
      "opaque bytes", "a compound", "a reference", "an enumeration", "of variable length",
      "an array"};
  return number >= 0 && static_cast<std::size_t>(number) < names.size() ? names[static_cast<std::size_t>(number)] : "unknown";
}

// ---- object headers ----

enum MessageType : std::uint64_t {
  nil = 0x00,
  dataspace = 0x01,
  link_info = 0x02,
  datatype = 0x03,
  old_fill_value = 0x04,
  fill_value = 0x05,
  link = 0x06,
  external_files = 0x07,
  layout = 0x08,
  group_info = 0x0a,
  filters = 0x0b,
  attribute = 0x0c,
  old_time = 0x0e,
  continuation = 0x10,
  symbol_table = 0x11,
  time_stamp = 0x12,
};

constexpr std::array group_messages{nil, link_info, link, group_info, attribute, symbol_table, time_stamp};
constexpr std::array tensor_messages{nil, dataspace, datatype, old_fill_value, fill_value, layout, old_time, time_stamp};

struct Message {
  std::uint64_t type;
  std::string bytes;
};

struct Link {
  std::string name;
  std::uint64_t address;
  std::optional<std::uint64_t> order; // creation order, if the group records it
};

// ---- the reader ----

class Reader {
 public:
  Reader(const InputFile& file, std::uint64_t begin) : file_(file), begin_(begin), budget_(first_budget(file.size())) {}

  Hdf5Content read()
  {
    object_ = "HDF5's superblock";
    const auto root = read_superblock();
    read_object("", root, 0);
    return std::move(content_);
  }

 private:
  // Limits the bytes to read: in an altered file, overlapping structures could make a small file take very long. Reading an
  // intact file needs much less than this.
  static std::uint64_t first_budget(std::uint64_t size) { return (std::uint64_t{1} << 20) + 16 * size; }

  [[noreturn]] void refuse(const std::string& why) const { file_.refuse(object_ + ": " + why); }

  Fields fields_at(std::uint64_t address, std::uint64_t count)
  {
    constexpr std::uint64_t cost_of_reading = 256;
    const auto size = file_.size() - std::min(file_.size(), begin_);
    if (address > size || count > size - address) refuse("a part of it lies beyond the file's end.");
    if (count + cost_of_reading > budget_) refuse("its structures lie over one another.");
    budget_ -= count + cost_of_reading;
    return {file_.bytes_at(begin_ + address, count), refusal_};
  }

  // Returns the address of the root group. (II.A, version 0)
  std::uint64_t read_superblock()
  {
    auto fields = fields_at(0, 96);
    fields.expect("\x89HDF\r\n\x1a\n", "HDF5's signature");
    fields.expect(1, 0, "the superblock's version");
    fields.take(4);
    fields.expect(1, 8, "the size of an address");
    fields.expect(1, 8, "the size of a length");
    fields.take(9);
    fields.expect(8, begin_, "the base address");
    fields.take(8);
    fields.expect(8, file_.size(), "the end of the file");
    fields.take(16);
    return fields.number(8);
  }

  // ---- objects ----

  void read_object(const std::string& name, std::uint64_t address, std::uint64_t depth)
  {
    object_ = "/" + name;
    if (!seen_.insert(address).second) refuse("it is linked twice; one name for each object is expected.");
    if (depth > most_depth) refuse(fmt::format("it lies below {} groups; at most {} are expected.", depth, most_depth));
    const auto messages = read_messages(address);
    const auto has = [&](std::uint64_t type) { return std::ranges::find(messages, type, &Message::type) != messages.end(); };
    if (has(symbol_table) || has(link_info)) return read_group(name, messages, depth);
    if (!has(layout)) refuse("it is neither a group nor a tensor.");
    read_tensor(name, messages);
  }

  // (IV.A.1.a, version 1)
  std::vector<Message> read_messages(std::uint64_t address)
  {
    auto prefix = fields_at(address, 16);
    prefix.expect(1, 1, "the version of its header");
    prefix.take(1);
    const auto count = prefix.number(2);
    prefix.take(4);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> chunks{{address + 16, prefix.number(4)}};
    std::vector<Message> messages;
    for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk) {
      auto fields = fields_at(chunks[chunk].first, chunks[chunk].second);
      while (fields.left() >= 8 && messages.size() < count) {
        messages.push_back(read_message(fields));
        if (messages.back().type == continuation) chunks.push_back(read_continuation(messages.back()));
      }
    }
    if (messages.size() != count) refuse(fmt::format("its header has {} messages; {} were expected.", messages.size(), count));
    std::erase_if(messages, [](const Message& message) { return message.type == continuation; });
    return messages;
  }

  Message read_message(Fields& fields)
  {
    constexpr std::uint64_t shared = 2;
    const auto type = fields.number(2), size = fields.number(2), flags = fields.number(1);
    fields.take(3);
    if ((flags & shared) != 0) refuse("a part of its header lies elsewhere; all of it is expected in its place.");
    return {type, fields.take(size)};
  }

  std::pair<std::uint64_t, std::uint64_t> read_continuation(const Message& message)
  {
    Fields fields(message.bytes, refusal_);
    const auto address = fields.number(8);
    return {address, fields.number(8)};
  }

  template<std::size_t count>
  void require_known(const std::vector<Message>& messages, const std::array<MessageType, count>& known) const
  {
    for (const auto& message : messages)
      if (std::ranges::find(known, message.type) == known.end())
        refuse(fmt::format("it has a header message of type {}, which no checkpoint of dtctl has there.", message.type));
  }

  // The only message of this type; refuses the file if there are none or several.
  const Message& the_only(const std::vector<Message>& messages, std::uint64_t type, const char* what) const
  {
    if (std::ranges::count(messages, type, &Message::type) != 1) refuse(fmt::format("one {} was expected.", what));
    return *std::ranges::find(messages, type, &Message::type);
  }

  // ---- tensors ----

  void read_tensor(const std::string& name, const std::vector<Message>& messages)
  {
    require_plain_name(file_, name);
    for (const auto& message : messages) {
      if (message.type == external_files)
        refuse("its values lie in another file (external storage); they are expected in this one.");
      if (message.type == filters) refuse("its values are compressed or filtered; plain ones are expected.");
    }
    require_known(messages, tensor_messages);
    StoredTensor tensor{name, read_dims(the_only(messages, dataspace, "dataspace").bytes), 0};
    const auto& type = the_only(messages, datatype, "type").bytes;
    if (!is_type(type, float32))
      refuse(fmt::format("its values are not 32-bit little-endian floats (the type is {}).", name_of_class(class_of(type))));
    tensor.offset =
        read_layout(the_only(messages, layout, "layout").bytes, checked_elements(file_, "/" + name, tensor.dims, file_.size()));
    content_.tensors.push_back(std::move(tensor));
  }

  // The dimensions; empty for a scalar. (IV.A.2.b)
  std::vector<std::int64_t> read_dims(const std::string& bytes) const
  {
    Fields fields(bytes, refusal_);
    const auto version = fields.number(1), rank = fields.number(1);
    if (version != 1 && version != 2) refuse(fmt::format("the version of its dataspace is {}; 1 or 2 was expected.", version));
    if (rank > most_rank) refuse(fmt::format("it has {} dimensions; at most {} are expected.", rank, most_rank));
    fields.take(1);
    if (version == 1)
      fields.take(5);
    else if (const auto kind = fields.number(1); kind > 1)
      refuse("it has no values.");
    std::vector<std::int64_t> dims;
    for (std::uint64_t i = 0; i < rank; ++i) {
      dims.push_back(static_cast<std::int64_t>(fields.number(8)));
      if (dims.back() <= 0) refuse("a dimension is 0 or beyond 2^63.");
    }
    return dims;
  }

  // Offset in the file of `elements` floats. (IV.A.2.i)
  std::uint64_t read_layout(const std::string& bytes, std::uint64_t elements) const
  {
    constexpr std::array<std::string_view, 4> kinds{"in its header (compact)", "in one piece", "in chunks",
                                                    "in other data sets (virtual)"};
    constexpr std::uint64_t in_one_piece = 1;
    Fields fields(bytes, refusal_);
    const auto version = fields.number(1);
    if (version != 3 && version != 4) refuse(fmt::format("the version of its layout is {}; 3 or 4 was expected.", version));
    const auto kind = fields.number(1);
    if (kind != in_one_piece)
      refuse(fmt::format("its values lie {}; they are expected in one piece.",
                         kind < kinds.size() ? kinds[kind] : "in an unknown way"));
    const auto address = fields.number(8), size = fields.number(8);
    if (address == undefined) refuse("no values were ever written into it.");
    if (size != elements * sizeof(float))
      refuse(fmt::format("it holds {} bytes; its dimensions need {}.", size, elements * sizeof(float)));
    if (address > file_.size() - begin_ || size > file_.size() - begin_ - address)
      refuse(fmt::format("its {} bytes from byte {} on lie beyond the file's end.", size, address));
    return begin_ + address;
  }

  // ---- groups ----

  void read_group(const std::string& name, const std::vector<Message>& messages, std::uint64_t depth)
  {
    if (!name.empty()) require_plain_name(file_, name);
    require_known(messages, group_messages);
    std::vector<Link> links;
    for (const auto& message : messages) {
      if (message.type == attribute) read_attribute(name, message.bytes);
      if (message.type == symbol_table) read_symbol_table(message.bytes, links);
      if (message.type == link) links.push_back(read_link(message.bytes));
      if (message.type == link_info) read_dense_links(message.bytes, links);
    }
    sort(links);
    for (const auto& [child, address, order] : links) read_object(name.empty() ? child : name + "/" + child, address, depth + 1);
  }

  // Sorts links by creation, or by name if the group does not record the order. Refuses a name that occurs twice.
  void sort(std::vector<Link>& links) const
  {
    for (const auto& one : links)
      if (one.name.find('/') != one.name.npos) refuse(fmt::format("a name in it has a slash: {}.", printable(one.name)));
    std::ranges::sort(links, {}, &Link::name);
    if (const auto twice = std::ranges::adjacent_find(links, {}, &Link::name); twice != links.end())
      refuse(fmt::format("the name {} is in it twice.", printable(twice->name)));
    if (std::ranges::all_of(links, [](const Link& one) { return one.order.has_value(); }))
      std::ranges::sort(links, {}, &Link::order);
  }

  // Reads the links of a group in the old style: a tree of nodes with names. (III.A.1, III.B, III.D)
  void read_symbol_table(const std::string& bytes, std::vector<Link>& links)
  {
    Fields fields(bytes, refusal_);
    const auto tree = fields.number(8);
    auto heap = fields_at(fields.number(8), 32);
    heap.expect("HEAP", "a heap of names");
    heap.take(4);
    const auto size = heap.number(8);
    heap.take(8);
    const auto address = heap.number(8);
    read_tree(tree, fields_at(address, size).take(size), links, std::nullopt);
  }

  void read_tree(std::uint64_t address, const std::string& names, std::vector<Link>& links,
                 std::optional<std::uint64_t> expected_level)
  {
    auto head = fields_at(address, 24);
    head.expect("TREE", "a tree of names");
    head.expect(1, 0, "the type of the tree");
    const auto level = head.number(1), used = head.number(2);
    if (expected_level && level != *expected_level) refuse("the levels of its tree of names are not in order.");
    auto entries = fields_at(address + 24, 16 * used);
    for (std::uint64_t i = 0; i < used; ++i) {
      entries.take(8);
      const auto child = entries.number(8);
      level > 0 ? read_tree(child, names, links, level - 1) : read_symbols(child, names, links);
    }
  }

  void read_symbols(std::uint64_t address, const std::string& names, std::vector<Link>& links)
  {
    constexpr std::uint64_t soft = 2;
    auto head = fields_at(address, 8);
    head.expect("SNOD", "a node of names");
    head.take(2);
    const auto count = head.number(2);
    auto entries = fields_at(address + 8, 40 * count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto name_offset = entries.number(8), object = entries.number(8), kind = entries.number(4);
      entries.take(20);
      const auto end = name_offset < names.size() ? names.find('\0', name_offset) : names.npos;
      if (end == names.npos) refuse("a name in it has no end.");
      auto name = names.substr(name_offset, end - name_offset);
      if (kind == soft) refuse_link(name, "soft");
      links.push_back({std::move(name), object, std::nullopt});
    }
  }

  [[noreturn]] void refuse_link(const std::string& name, const char* kind) const
  {
    file_.refuse(fmt::format("{}{}{}: it is a link of the {} kind to elsewhere; the tensor or group itself is expected.", object_,
                             object_.ends_with('/') ? "" : "/", printable(name), kind));
  }

  // (IV.A.2.g)
  Link read_link(const std::string& bytes) const
  {
    constexpr std::uint64_t has_kind = 8, has_order = 4, has_charset = 16, soft = 1, external = 64;
    Fields fields(bytes, refusal_);
    fields.expect(1, 1, "the version of a link");
    const auto flags = fields.number(1);
    const auto kind = (flags & has_kind) != 0 ? fields.number(1) : 0;
    Link one{};
    if ((flags & has_order) != 0) one.order = fields.number(8);
    if ((flags & has_charset) != 0) fields.take(1);
    one.name = fields.take(fields.number(std::size_t{1} << (flags & 3)));
    if (kind != 0) refuse_link(one.name, kind == soft ? "soft" : kind == external ? "external" : "unknown");
    one.address = fields.number(8);
    return one;
  }

  // Reads the links of a group with more than eight members: they are in a heap, indexed by a tree. (IV.A.2.c, III.A.2, III.G)
  void read_dense_links(const std::string& bytes, std::vector<Link>& links)
  {
    constexpr std::uint64_t has_order = 1;
    Fields fields(bytes, refusal_);
    fields.expect(1, 0, "the version of its links");
    if ((fields.number(1) & has_order) != 0) fields.take(8);
    const auto heap = fields.number(8), tree = fields.number(8);
    if (heap == undefined) return;
    const auto blocks = read_heap(heap);
    for (const auto& id : read_index(tree)) links.push_back(read_link(read_from_heap(blocks, id)));
  }

  // A block of a heap; `offset` is its position in the heap's address space.
  struct Block {
    std::uint64_t offset, size, address;
  };

  // The blocks of a heap as libhdf5 creates it for links: rows of four blocks. Blocks have 512 bytes in the first two rows, and
  // twice the size of the previous row in the others. Rows with blocks above 64 KiB contain further tables; no model has that
  // many names.
  std::vector<Block> read_heap(std::uint64_t address)
  {
    constexpr std::uint64_t width = 4, first_size = 512, most_rows = 9;
    auto fields = fields_at(address, 146);
    fields.expect("FRHP", "a heap of links");
    fields.expect(1, 0, "the version of its heap");
    fields.expect(2, id_bytes, "the size of an id in its heap");
    fields.expect(2, 0, "the size of filters in its heap");
    fields.take(101);
    fields.expect(2, width, "the width of its heap");
    fields.expect(8, first_size, "the first block's size in its heap");
    fields.expect(8, 65536, "the largest block's size in its heap");
    fields.expect(2, 32, "the bits of an offset in its heap");
    fields.take(2);
    const auto root = fields.number(8), rows = fields.number(2);
    if (rows == 0) return {{0, first_size, root}};
    auto table = fields_at(root, 17 + 8 * width * std::min(rows, most_rows));
    table.expect("FHIB", "a table of its heap's blocks");
    table.take(13);
    std::vector<Block> blocks;
    for (std::uint64_t i = 0, offset = 0; i < width * std::min(rows, most_rows); ++i) {
      const auto row = i / width, size = row == 0 ? first_size : first_size << (row - 1);
      blocks.push_back({offset, size, table.number(8)});
      offset += size;
    }
    return blocks;
  }

  // An id consists of a byte for its kind, an offset of 4 bytes and a length of 2 bytes.
  std::string read_from_heap(const std::vector<Block>& blocks, const std::string& id)
  {
    Fields fields(id, refusal_);
    fields.expect(1, 0, "the kind of a link's place");
    const auto offset = fields.number(4), length = fields.number(2);
    for (const auto& block : blocks)
      if (offset >= block.offset && offset - block.offset < block.size && block.address != undefined) {
        if (length > block.size - (offset - block.offset)) refuse("a link lies across the end of its heap's block.");
        return fields_at(checked_sum(block.address, offset - block.offset), length).take(length);
      }
    refuse("a link lies in no block of its heap.");
  }

  std::uint64_t checked_sum(std::uint64_t address, std::uint64_t more) const
  {
    if (address > file_.size()) refuse("a part of it lies beyond the file's end.");
    return address + more;
  }

  // Ids of all links, from the index by name, whose nodes have 512 bytes. (III.A.2, type 5)
  std::vector<std::string> read_index(std::uint64_t address)
  {
    constexpr std::uint64_t most_levels = 4;
    auto fields = fields_at(address, 38);
    fields.expect("BTHD", "an index of links");
    fields.expect(1, 0, "the version of its index");
    fields.expect(1, 5, "the type of its index");
    fields.expect(4, node_bytes, "the size of a node in its index");
    fields.expect(2, record_bytes, "the size of a record in its index");
    const auto depth = fields.number(2);
    fields.take(2);
    const auto root = fields.number(8), in_root = fields.number(2), in_all = fields.number(8);
    if (depth > most_levels) refuse(fmt::format("its index has {} levels; at most {} are expected.", depth, most_levels));
    std::vector<std::string> ids;
    if (in_all > 0) read_node(root, in_root, depth, ids);
    if (ids.size() != in_all) refuse(fmt::format("its index holds {} links; {} were expected.", ids.size(), in_all));
    return ids;
  }

  // Number of records in a full subtree whose root node is at this level.
  static std::uint64_t capacity(std::uint64_t level)
  {
    if (level == 0) return (node_bytes - node_overhead) / record_bytes;
    const auto pointer = pointer_bytes(level);
    const auto own = (node_bytes - node_overhead - pointer) / (record_bytes + pointer);
    return (own + 1) * capacity(level - 1) + own;
  }
  static std::uint64_t bytes_for(std::uint64_t number)
  {
    return (static_cast<std::uint64_t>(std::bit_width(number)) - 1) / 8 + 1;
  }
  // Size of a child pointer: the address, the number of records in the child, and above level 1 also the number in the child's
  // subtree.
  static std::uint64_t pointer_bytes(std::uint64_t level)
  {
    return 8 + bytes_for(capacity(0)) + (level > 1 ? bytes_for(capacity(level - 1)) : 0);
  }

  void read_node(std::uint64_t address, std::uint64_t records, std::uint64_t level, std::vector<std::string>& ids)
  {
    auto fields = fields_at(address, node_bytes);
    fields.expect(level == 0 ? "BTLF" : "BTIN", "a node of its index");
    fields.take(2);
    for (std::uint64_t i = 0; i < records; ++i) {
      fields.take(4); // the name's hash
      ids.push_back(fields.take(id_bytes));
    }
    for (std::uint64_t i = 0; level > 0 && i <= records; ++i) {
      const auto child = fields.number(8), in_child = fields.number(bytes_for(capacity(0)));
      if (level > 1) fields.take(bytes_for(capacity(level - 1)));
      read_node(child, in_child, level - 1, ids);
    }
  }

  // ---- attributes ----

  // (IV.A.2.m, version 1)
  void read_attribute(const std::string& group, const std::string& bytes)
  {
    Fields fields(bytes, refusal_);
    fields.expect(1, 1, "the version of an attribute");
    fields.take(1);
    const auto name_size = fields.number(2), type_size = fields.number(2), space_size = fields.number(2);
    const auto padded = [](std::uint64_t size) { return (size + 7) / 8 * 8; };
    auto name = fields.take(padded(name_size));
    name.resize(std::min(name.find('\0'), name.size()));
    const auto type = fields.take(padded(type_size)), space = fields.take(padded(space_size));
    const auto group_object = std::exchange(object_, fmt::format("attribute {} of {}", printable(name), object_));
    if (const auto dims = read_dims(space); !dims.empty())
      refuse(fmt::format("it has {} dimensions; a single value is expected.", dims.size()));
    auto value = read_value(type, fields);
    if (!content_.attributes[group].emplace(std::move(name), std::move(value)).second) refuse("it is there twice.");
    object_ = group_object;
  }

  StoredAttribute read_value(const std::string& type, Fields& fields) const
  {
    constexpr int text = 3;
    if (is_type(type, integer64)) return {AttributeKind::integer, fields.take(8)};
    if (is_type(type, float64)) return {AttributeKind::number, fields.take(8)};
    if (class_of(type) != text)
      refuse(fmt::format("its type is {}; a text of fixed length, a 64-bit integer or a 64-bit float is expected.",
                         name_of_class(class_of(type))));
    Fields description(type, refusal_);
    description.take(4);
    const auto size = description.number(4);
    if (size == 0 || size > most_text_bytes) refuse(fmt::format("it has {} bytes; 1 to {} are expected.", size, most_text_bytes));
    auto value = fields.take(size);
    value.resize(std::min(value.find('\0'), value.size()));
    if (value != printable(value)) refuse("it holds bytes that are no text.");
    return {AttributeKind::text, std::move(value)};
  }

  static constexpr std::uint64_t id_bytes = 7, record_bytes = 4 + id_bytes, node_bytes = 512, node_overhead = 10;

  const InputFile& file_;
  const std::uint64_t begin_;
  std::uint64_t budget_; // number of bytes that may still be read
  std::string object_;   // current object, for messages
  const Refusal refusal_ = [this](const std::string& why) { refuse(why); };
  std::set<std::uint64_t> seen_;
  Hdf5Content content_;
};

} // namespace

Hdf5Content read_hdf5(const InputFile& file, std::uint64_t begin) { return Reader(file, begin).read(); }

} // namespace dt::train
