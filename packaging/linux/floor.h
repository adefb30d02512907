#ifndef __ASSEMBLER__
/* The mathematics library of glibc 2.29 gave these functions new versions; the old ones are as right and far older. */
__asm__(".symver exp,exp@GLIBC_2.2.5");
__asm__(".symver log,log@GLIBC_2.2.5");
__asm__(".symver pow,pow@GLIBC_2.2.5");
__asm__(".symver log2,log2@GLIBC_2.2.5");
__asm__(".symver exp2,exp2@GLIBC_2.2.5");
#endif
