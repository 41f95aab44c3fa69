/* A member of the archive that no program needs; two `main`s would be an error. */
int main(void) {
    return 1;
}
