// Reading and writing are locked, but not what happens in between: no data race, and yet updates get lost.
shared x, L;

job update many {
    acquire L;
    read x;
    release L;
    acquire L;
    write x;
    release L;
}
