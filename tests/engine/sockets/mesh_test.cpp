// Each process of a mesh is a thread here.
#include "engine/sockets/mesh.hpp"

#include "core/error.hpp"
#include "core/files/descriptor.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <thread>

#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <netinet/in.h>
#include <sys/socket.h>

using namespace dt::sockets;

namespace {

constexpr Token secret{"of these tests"};

// Runs `program` as each of the processes. Returns the error of each, empty if it has none.
std::vector<std::string> on_processes(
    int count, const std::function<void(Mesh&)>& program, const std::function<void(int port)>& before = [](int) {})
{
  std::vector<Listener> listeners(static_cast<std::size_t>(count));
  std::vector<std::string> addresses, errors(static_cast<std::size_t>(count));
  for (const auto& listener : listeners) addresses.push_back("127.0.0.1:" + std::to_string(listener.port()));
  before(listeners.front().port());
  std::vector<std::thread> threads;
  for (int own = 0; own < count; ++own)
    threads.emplace_back([&, own] {
      try {
        Mesh mesh(own, addresses, listeners[static_cast<std::size_t>(own)], secret);
        program(mesh);
      } catch (const dt::Error& error) {
        errors[static_cast<std::size_t>(own)] = error.what();
      }
    });
  for (auto& thread : threads) thread.join();
  return errors;
}

const auto all_well = [](const std::vector<std::string>& errors) {
  return std::ranges::all_of(errors, [](const std::string& error) { return error.empty(); });
};

std::span<const std::byte> bytes(const std::vector<int>& numbers) { return std::as_bytes(std::span(numbers)); }
std::span<std::byte> bytes(std::vector<int>& numbers) { return std::as_writable_bytes(std::span(numbers)); }

} // namespace

TEST_CASE("messages come in the order in which they were sent, whether they are asked for before or after they arrive")
{
  const auto errors = on_processes(3, [](Mesh& mesh) {
    const int to = (mesh.own() + 1) % 3, from = (mesh.own() + 2) % 3;
    const std::vector<int> first{mesh.own()}, second{10 + mesh.own()}, third{20 + mesh.own()};
    std::vector<int> got{0}, then{0}, last{0};
    const auto early = mesh.receive(from, {.context = 1, .tag = 7}, bytes(got));
    const auto a = mesh.send(to, {.context = 1, .tag = 8}, bytes(third));
    const auto b = mesh.send(to, {.context = 1, .tag = 7}, bytes(first));
    const auto c = mesh.send(to, {.context = 1, .tag = 7}, bytes(second));
    mesh.wait(*early);
    const auto late = mesh.receive(any_process, {.context = 1, .tag = 7}, bytes(then));
    mesh.wait(*late);
    const auto other = mesh.receive(from, {.context = 1, .tag = 8}, bytes(last));
    mesh.wait(*other);
    for (const auto* request : {a.get(), b.get(), c.get()}) mesh.wait(*request);
    if (got[0] != from || then[0] != 10 + from || last[0] != 20 + from || late->envelope.from != from)
      throw dt::Error(dt::ErrorKind::internal, "another message has come");
  });
  CHECK(all_well(errors));
}

TEST_CASE("long messages go both ways at once, and a process has messages for itself")
{
  const auto errors = on_processes(2, [](Mesh& mesh) {
    std::vector<int> out(3'000'000), in(out.size()), own(out.size());
    std::iota(out.begin(), out.end(), mesh.own());
    const auto sent = mesh.send(1 - mesh.own(), {.tag = 1}, bytes(out));
    const auto to_itself = mesh.send(mesh.own(), {.tag = 1}, bytes(out));
    const auto got = mesh.receive(1 - mesh.own(), {.tag = 1}, bytes(in));
    const auto from_itself = mesh.receive(mesh.own(), {.tag = 1}, bytes(own));
    for (const auto* request : {sent.get(), to_itself.get(), got.get(), from_itself.get()}) mesh.wait(*request);
    if (own != out || in.front() != 1 - mesh.own() || in.back() - in.front() != 2'999'999)
      throw dt::Error(dt::ErrorKind::internal, "the numbers are others");
  });
  CHECK(all_well(errors));
}

TEST_CASE("a process that has ended is named by those that wait for it")
{
  const auto errors = on_processes(3, [](Mesh& mesh) {
    if (mesh.own() == 1) return;
    std::vector<int> never{0};
    mesh.wait(*mesh.receive(1, {.tag = 3}, bytes(never)));
  });
  CHECK(errors[0] == "rank 1 has ended while rank 0 exchanges with it");
  CHECK(errors[2] == "rank 1 has ended while rank 2 exchanges with it");
}

TEST_CASE("a stranger that does not know the secret is no process of the mesh")
{
  const dt::Descriptor stranger(::socket(AF_INET, SOCK_STREAM, 0));
  const auto errors = on_processes(
      2,
      [](Mesh& mesh) {
        std::vector<int> own{mesh.own()}, other{-1};
        const auto sent = mesh.send(1 - mesh.own(), {.tag = 0}, bytes(own));
        mesh.wait(*mesh.receive(1 - mesh.own(), {.tag = 0}, bytes(other)));
        mesh.wait(*sent);
        if (other[0] != 1 - mesh.own()) throw dt::Error(dt::ErrorKind::internal, "another process has answered");
      },
      [&](int port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        REQUIRE(::connect(stranger.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
        struct {
          char token[32] = "a guess";
          std::int32_t from = 1;
        } greeting;
        REQUIRE(::send(stranger.get(), &greeting, sizeof(greeting), MSG_NOSIGNAL) == sizeof(greeting));
      });
  CHECK(all_well(errors));
}
