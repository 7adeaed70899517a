// dtctl serve: the pages of the studies, live, for a browser on this machine or at the other end of ssh -L.
#include "cli/command/interrupt.hpp"
#include "cli/output/standard_out.hpp"
#include "cli/serve/access.hpp"
#include "cli/serve/site.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/machine/process.hpp"

#include <memory>

#include <fmt/format.h>

namespace dt::cli {
namespace {

HttpResponse respond(Site& site, const std::string& token, const HttpRequest& request)
{
  if (auto refused = refusal(request, token)) return *refused;
  if (request.path == "/" + token) return {.status = 301, .type = "text/plain", .body = "", .location = "/" + token + "/"};
  return site.answer(request, page_name(request));
}

ExitCode serve(Context& context, int port)
{
  if (context.json)
    throw Error(ErrorKind::usage, "serve runs until it is interrupted, and --json prints one value at the end; leave out --json");
  if (port > 65535) throw Error(ErrorKind::usage, "--port takes a number from 0 to 65535, where 0 is any free port");
  const Interrupt interrupt;
  Site site(context);
  const auto token = new_token();
  const HttpServer server(port, [&](const HttpRequest& request) { return respond(site, token, request); });
  write_out(fmt::format("http://127.0.0.1:{}/{}/\n", server.port(), token));
  flush_out();
  context.messages.info(
      "Open the address in a browser on this machine. From another machine, first: ssh -L {0}:127.0.0.1:{0} {1}", server.port(),
      host_name());
  context.messages.info("Whoever has the address can read all results. Ctrl-C ends the server.");
  while (interrupt.signal() == 0) interrupt.sleep_s(0.5);
  return ExitCode::ok;
}

} // namespace

void add_serve(Commands& commands)
{
  auto port = std::make_shared<int>(0);
  auto& verb = commands.add(
      {"serve", show_verbs, "Show the studies live in a browser.",
       "Serves read-only pages on 127.0.0.1 until it is interrupted: all studies, one study (as in dtctl report, but live), one\n"
       "run (loss, phases, log, what the ranks do), comparisons and queries. The printed address contains a secret of 128 bits,\n"
       "because other users of a login node can reach its loopback too. From your own machine:\n\n"
       "  ssh -L 8080:127.0.0.1:8080 login-node      and there: dtctl serve --port 8080\n\n"
       "Example:\n  dtctl serve"},
      [port](Context& context) { return serve(context, *port); });
  verb.add_option("--port", *port, "port on 127.0.0.1; default: any free one")->type_name("PORT")->check(non_negative_number());
}

} // namespace dt::cli
