/* Numbers on command lines. */
#ifndef NUMBERS_H
#define NUMBERS_H

/* A number from least to most; anything else ends the program. `option` is named in the message. A number may end in k
 * or m, for 1024 and 1024 * 1024. */
long number_between(const char *text, const char *option, long least, long most);

#endif
