# Compiles OpenSSL, CPython and the unpacker of the .run file inside an old Debian. Run by floor.py; "$1" is the time of all.
set -eu
export SOURCE_DATE_EPOCH="$1" LC_ALL=C
jobs=$(nproc)
prefix=/opt/python
echo "$prefix/lib" > /etc/ld.so.conf.d/floor.conf  # in place of a run path, which would go along into the program

cd /usr/src
dpkg-source --no-check -x openssl_*.dsc openssl
dpkg-source --no-check -x python3.13_*.dsc python

cd /usr/src/openssl
./Configure linux-x86_64 --prefix=$prefix --libdir=lib --openssldir=/etc/ssl shared no-tests no-docs no-apps
make -j"$jobs"
make install_sw
ldconfig

cd /usr/src/python
# sem_clockwait came with glibc 2.30; without it the older sem_timedwait is used.
./configure --prefix=$prefix --enable-shared --with-openssl=$prefix --without-ensurepip --disable-test-modules \
    --with-computed-gotos ac_cv_func_sem_clockwait=no CFLAGS="-include /usr/src/floor.h"
make -j"$jobs"
make install
ldconfig

cc -Os -static -s -o /opt/unzstd /usr/src/unzstd.c -lzstd
find $prefix -name '*.so*' -type f -exec strip --strip-unneeded {} +
$prefix/bin/python3.13 -c 'import ssl, ctypes, lzma, bz2, zlib, decimal; print(ssl.OPENSSL_VERSION)'
rm -rf /usr/src/openssl /usr/src/python
