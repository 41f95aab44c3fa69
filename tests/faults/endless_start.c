// Never comes to its threads.
int main(void) {
    for (volatile long i = 0;; i++)
        ;
}
