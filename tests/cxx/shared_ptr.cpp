// Each thread has a pointer of its own to one object.
#include <memory>
#include <thread>

struct Config {
    int level = 3; // RACE!
};

static std::shared_ptr<Config> current = std::make_shared<Config>();

static int use(std::shared_ptr<Config> config) { return config->level; } // RACE!

int main() {
    auto mine = current;
#ifdef RACY
    std::thread reader([] { use(current); }); // RACE!
    current = std::make_shared<Config>(); // RACE!
#else
    std::thread reader([copy = current] { use(copy); });
    mine.reset();
#endif
    reader.join();
    return use(current) == 3 ? 0 : 1;
}
