// The first to come makes the only instance.
#include <memory>
#include <mutex>
#include <thread>

struct Registry {
    int size = 4; // RACE!
};

static std::unique_ptr<Registry> registry;
static std::once_flag made;

static Registry &instance() {
#ifdef RACY
    if (!registry) // RACE!
        registry.reset(new Registry); // RACE!
#else
    std::call_once(made, [] { registry.reset(new Registry); });
#endif
    return *registry; // RACE!
}

int main() {
    std::thread other([] { (void)instance(); });
    (void)instance();
    other.join();
    return 0;
}
