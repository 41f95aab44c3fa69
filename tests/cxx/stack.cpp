// A stack whose head is exchanged.
#include <atomic>
#include <thread>

struct Node {
    int value;
    Node *next;
};

#ifdef RACY
constexpr auto order = std::memory_order_relaxed;
#else
constexpr auto order = std::memory_order_acq_rel;
#endif

static std::atomic<Node *> head{nullptr};

static void push(Node *node, int value) {
    node->value = value; // RACE!
    node->next = head.load(std::memory_order_relaxed);
    while (!head.compare_exchange_weak(node->next, node, order, std::memory_order_relaxed)) {
    }
}

static Node first, second;

int main() {
    push(&first, 1);
    std::thread other([] { push(&second, 2); });
    Node *top = head.load(std::memory_order_acquire);
    int value = top->value; // RACE!
    other.join();
    return value == 1 || value == 2 ? 0 : 1;
}
