// Code that is loaded while the program runs.
// Shows: control: code loaded with `dlopen`
#include <dlfcn.h>

int main(void) {
    return dlopen("libm.so.6", RTLD_NOW) == 0; // REFUSED `dlopen`
}
