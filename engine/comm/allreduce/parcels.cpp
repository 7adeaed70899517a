#include "engine/comm/allreduce/parcels.hpp"

#include <algorithm>

namespace dt::comm {
namespace {

std::size_t chunks_of(const Message& message, std::size_t chunk_length)
{
  return (message.stretch.size() + chunk_length - 1) / chunk_length;
}

Range chunk_of(const Message& message, std::size_t k, std::size_t chunk_length)
{
  if (message.backwards) k = chunks_of(message, chunk_length) - 1 - k;
  const std::size_t begin = message.stretch.begin + k * chunk_length;
  return {begin, std::min(begin + chunk_length, message.stretch.end)};
}

// The chunks of all messages in alternation: the first chunk of each message, then the second of each, …
std::vector<Parcel> chunks(const std::vector<Message>& messages, Receipt receipt, std::size_t chunk_length)
{
  std::size_t most = 0;
  for (const auto& message : messages) most = std::max(most, chunks_of(message, chunk_length));
  std::vector<Parcel> parcels;
  for (std::size_t k = 0; k < most; ++k)
    for (const auto& message : messages)
      if (k < chunks_of(message, chunk_length))
        parcels.push_back({message.peer, chunk_of(message, k, chunk_length), receipt, 0, 0, {}});
  return parcels;
}

// Divides the vector at every begin and end of a chunk, and records the last send and receive of each piece. A parcel depends on
// the last events of its pieces.
class History {
 public:
  History(const Schedule& schedule, std::size_t chunk_length)
  {
    for (const auto& round : schedule)
      for (const auto* messages : {&round.sends, &round.receives})
        for (const auto& parcel : chunks(*messages, round.receipt, chunk_length)) {
          cuts_.push_back(parcel.stretch.begin);
          cuts_.push_back(parcel.stretch.end);
        }
    std::sort(cuts_.begin(), cuts_.end());
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
    pieces_.resize(cuts_.size());
  }
  void fill_in(Parcel& parcel) const
  {
    for_pieces(parcel.stretch, [&](const Piece& piece, Range) {
      parcel.after_receives = std::max(parcel.after_receives, piece.receives);
      parcel.after_sends = std::max(parcel.after_sends, piece.sends);
    });
  }
  void sent(Parcel& parcel, std::size_t sends)
  {
    for_pieces(parcel.stretch, [&](Piece& piece, Range stretch) {
      if (piece.computed) parcel.own.push_back(stretch);
      piece.computed = false;
      piece.sends = sends;
    });
  }
  void received(const Parcel& parcel, std::size_t receives)
  {
    for_pieces(parcel.stretch, [&](Piece& piece, Range) {
      piece.computed = parcel.receipt == Receipt::add;
      piece.receives = receives;
    });
  }

 private:
  struct Piece {
    std::size_t receives = 0, sends = 0; // number of receives and sends up to and including the last one of this piece
    bool computed = true;                // holds numbers that this rank computed and has not sent
  };
  template<class Self, class Visit> static void visit_pieces(Self& self, Range stretch, const Visit& visit)
  {
    auto k = static_cast<std::size_t>(std::lower_bound(self.cuts_.begin(), self.cuts_.end(), stretch.begin) - self.cuts_.begin());
    for (; self.cuts_[k] < stretch.end; ++k) visit(self.pieces_[k], Range{self.cuts_[k], self.cuts_[k + 1]});
  }
  template<class Visit> void for_pieces(Range stretch, const Visit& visit) { visit_pieces(*this, stretch, visit); }
  template<class Visit> void for_pieces(Range stretch, const Visit& visit) const { visit_pieces(*this, stretch, visit); }

  std::vector<std::size_t> cuts_;
  std::vector<Piece> pieces_; // piece k begins at cut k
};

} // namespace

Parcels cut_into_parcels(const Schedule& schedule, std::size_t chunk_length)
{
  Parcels all;
  History history(schedule, chunk_length);
  for (const auto& round : schedule) {
    auto sends = chunks(round.sends, round.receipt, chunk_length);
    auto receives = chunks(round.receives, round.receipt, chunk_length);
    for (auto* parcels : {&sends, &receives})
      for (auto& parcel : *parcels) history.fill_in(parcel);
    if (round.in_turn)
      for (auto& parcel : sends) parcel.after_receives = all.receives.size();
    for (auto& parcel : sends) {
      history.sent(parcel, all.sends.size() + 1);
      all.sends.push_back(std::move(parcel));
    }
    for (auto& parcel : receives) {
      all.longest_receive = std::max(all.longest_receive, parcel.stretch.size());
      history.received(parcel, all.receives.size() + 1);
      all.receives.push_back(std::move(parcel));
    }
  }
  return all;
}

} // namespace dt::comm
