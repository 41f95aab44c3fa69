/* What a program under test does, by the name of it. */
void work(const char *what);
