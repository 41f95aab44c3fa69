    .globl one
one:
    movl $1, %eax
    ret
    .section .note.GNU-stack,"",@progbits
