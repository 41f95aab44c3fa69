// A base class, a member of a class in a `std::optional`, and very many objects behind one array.
#include <optional>
#include "crowd.h"
struct Base { int kind = 0; virtual ~Base() = default; };
struct Derived : Base { int extra = 0; };
struct Inner { int a = 0, b = 0; };
struct Holder { std::optional<Inner> inner; };
static void *sets(void *unused) {
    auto *derived = static_cast<Derived *>(static_cast<Base *>(crowd[first]));
    derived->kind = 1; // RACE!
    static_cast<Holder *>(crowd[second])->inner->b = 1; // RACE!
    return unused;
}
static void *asks(void *unused) {
#ifdef RACY
    static_cast<Base *>(crowd[first])->kind = 2; // RACE!
    *reinterpret_cast<int *>(static_cast<char *>(crowd[second]) + 4) = 2; // RACE!
#endif
    return unused;
}
int main() {
    make_crowd();
    crowd[first] = new Derived;
    auto *holder = new Holder;
    holder->inner.emplace();
    crowd[second] = holder;
    run_both(sets, asks);
    return 0;
}
