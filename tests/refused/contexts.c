// A stack of the program's own.
// Shows: control: stacks of the program's own (`makecontext`, `swapcontext`)
#include <ucontext.h>

static ucontext_t here, there;
static char stack[1 << 16];

static void visit(void) {}

int main(void) {
    getcontext(&there); // REFUSED `getcontext`
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof stack;
    there.uc_link = &here;
    makecontext(&there, visit, 0);
    swapcontext(&here, &there);
    return 0;
}
