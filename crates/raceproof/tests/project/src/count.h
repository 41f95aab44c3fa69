#ifndef COUNT_H
#define COUNT_H

#ifdef __cplusplus
extern "C" {
#endif
void bump(void);
int peek(void);
int scaled(int value);
#ifdef __cplusplus
}
#endif

#endif
