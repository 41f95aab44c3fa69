// A queue without locks for several producers and one consumer: a linked list whose head producers exchange. The racy twin
// writes the node's value after it has linked the node.
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

template <class T> class Queue {
public:
    Queue() : head_(new Node), tail_(head_.load()) {}
    Queue(const Queue &) = delete;
    ~Queue() {
        while (pop()) {
        }
        delete tail_;
    }

    void push(T value) {
        Node *node = new Node;
#ifndef RACY
        node->value = std::move(value);
#endif
        Node *previous = head_.exchange(node, std::memory_order_acq_rel);
        previous->next.store(node, std::memory_order_release);
#ifdef RACY
        node->value = std::move(value); // RACE!
#endif
    }

    /// For the consumer only.
    std::optional<T> pop() {
        Node *next = tail_->next.load(std::memory_order_acquire);
        if (!next)
            return std::nullopt;
        std::optional<T> value(std::move(next->value)); // RACE!
        delete tail_;
        tail_ = next;
        return value;
    }

private:
    struct Node {
        std::atomic<Node *> next{nullptr};
        T value{};
    };
    std::atomic<Node *> head_;
    Node *tail_;
};

int main() {
    Queue<int> queue;
    std::thread one([&queue] { queue.push(1); });
    std::thread two([&queue] { queue.push(2); });
    auto first = queue.pop();
    one.join();
    two.join();
    int sum = first.value_or(0);
    while (auto value = queue.pop())
        sum += *value;
    return sum <= 3 ? 0 : 1;
}
