// A registry that is made when it is first needed, once; each thread remembers what it looked up last. The racy twin asks
// without the once-flag whether it is there.
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

class Registry { // RACE!
public:
    Registry() { // RACE!
        codes_.emplace("ok", 0); // RACE!
        codes_.emplace("not found", 404); // RACE!
    }
    std::optional<int> find(const std::string &name) const {
        auto found = codes_.find(name); // RACE!
        if (found == codes_.end()) // RACE!
            return std::nullopt;
        return found->second; // RACE!
    }

private:
    std::map<std::string, int> codes_;
};

static std::once_flag once;
static std::unique_ptr<Registry> registry;

static const Registry &instance() {
#ifdef RACY
    if (!registry) // RACE!
        std::call_once(once, [] { registry = std::make_unique<Registry>(); }); // RACE!
#else
    std::call_once(once, [] { registry = std::make_unique<Registry>(); });
#endif
    return *registry; // RACE!
}

struct Last {
    std::string name;
    std::optional<int> code;
    int hits = 0;
};

static thread_local Last last;

static int look_up(const std::string &name) {
    if (last.name == name) {
        last.hits++;
        return last.code.value_or(-1);
    }
    last.name = name;
    last.code = instance().find(name);
    return last.code.value_or(-1);
}

int main() {
    int there = 0;
    std::thread other([&there] {
        there = look_up("not found");
        there += look_up("not found");
    });
    int here = look_up("ok");
    other.join();
    return there == 808 && here == 0 && last.hits == 0 ? 0 : 1;
}
