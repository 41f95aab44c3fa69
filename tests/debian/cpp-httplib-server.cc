// A server over cpp-httplib: two workers answer requests that count and remember.
#include <httplib.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

namespace {

std::mutex guard;
std::map<std::string, std::string> values;
int answered = 0;

int count() {
  std::lock_guard<std::mutex> hold(guard);
  return ++answered;
}

} // namespace

int main(int argc, char **argv) {
  httplib::Server server;
  server.new_task_queue = [] { return new httplib::ThreadPool(2); };
  server.set_keep_alive_max_count(1);
  server.Put(R"(/values/(\w+))", [](const httplib::Request &request, httplib::Response &response) {
    {
      std::lock_guard<std::mutex> hold(guard);
      values[request.matches[1]] = request.body;
    }
    count();
    response.set_content("stored\n", "text/plain");
  });
  server.Get("/count", [](const httplib::Request &, httplib::Response &response) {
    count();
    response.set_content("counted\n", "text/plain");
  });
  return server.listen("127.0.0.1", argc > 1 ? std::atoi(argv[1]) : 8080) ? 0 : 1;
}
