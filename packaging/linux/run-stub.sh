#!/bin/sh
# A shell works while it reads: where the script itself was cut, this is said before its end is met.
[ "$(wc -c <"$0")" -ge @STUB_BYTES@ ] || { printf '%s\n' "$0 is damaged. Download it again." "$0 已损坏，请重新下载。" >&2; exit 1; }
# amlwizard @VERSION@ for one user, without an administrator. What follows the script is an unpacker and the program.
set -eu
umask 022

version='@VERSION@'
glibc='@GLIBC@'
stub_bytes=@STUB_BYTES@
unpacker_bytes=@UNPACKER_BYTES@
kilobytes=@KILOBYTES@
sha256='@SHA256@'

case ${LC_ALL:-${LC_MESSAGES:-${LANG:-}}} in
    zh*) chinese=yes ;;
    *) chinese= ;;
esac

words() {
    if [ "$chinese" ]; then printf '%s\n' "$2"; else printf '%s\n' "$1"; fi
}

# Says something where it is seen: in the terminal, or in a window where there is none.
tell() {
    printf '%s\n' "$2" >&2
    if [ ! -t 2 ] && [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && [ -z "$silent" ]; then
        if command -v zenity >/dev/null; then zenity "--$1" --no-markup --text "$2" || :
        elif command -v kdialog >/dev/null; then
            if [ "$1" = error ]; then kdialog --error "$2" || :; else kdialog --msgbox "$2" || :; fi
        elif command -v xmessage >/dev/null; then xmessage "$2" || :
        fi
    fi 2>/dev/null
}

fail() {
    tell error "$1"
    exit "${2:-1}"
}

usage() {
    words "Usage: $self [--silent | --uninstall | -- ARGUMENTS]

Without options it installs amlwizard $version for this user and opens its window.
  --silent         install, and open nothing
  --uninstall      remove amlwizard and its settings; workspaces stay
  -- ARGUMENTS     install, then run amlwizard with these arguments, such as: -- install --root FOLDER" "用法：$self [--silent | --uninstall | -- 参数]

不带选项时，为当前用户安装 amlwizard $version 并打开窗口。
  --silent         只安装，不打开窗口
  --uninstall      移除 amlwizard 及其设置；工作区保留
  -- 参数          安装后用这些参数运行 amlwizard，例如：-- install --root 文件夹"
}

# Whether a program in a folder is running.
is_running() {
    LC_ALL=C QUOTING_STYLE=literal ls -l /proc/[0-9]*/exe 2>/dev/null | LC_ALL=C grep -qF -e "-> $1/"
}

# Removes a folder and those above it that it leaves empty, as far as the user's home.
leave() {
    folder=$1
    while [ "$folder" != "$HOME" ] && [ "$folder" != / ] && rmdir "$folder" 2>/dev/null; do
        folder=${folder%/*}
    done
}

# What the desktop knows the program by.
remove_entries() {
    rm -f "$data/applications/amlwizard.desktop" "$data/mime/packages/amlwizard.xml" "$data/icons/hicolor/scalable/apps/amlwizard.svg"
}

leave_folders() {
    for folder in mime/packages mime/application mime icons/hicolor/scalable/apps applications; do
        leave "$data/$folder"
    done
    leave "$data"
}

renew_caches() {
    if command -v update-mime-database >/dev/null; then update-mime-database "$data/mime" || :; fi >/dev/null 2>&1
    if command -v update-desktop-database >/dev/null; then update-desktop-database "$data/applications" || :; fi >/dev/null 2>&1
}

uninstall() {
    if [ -d "$home/versions" ] && is_running "$home/versions"; then
        fail "$(words "amlwizard is running. Close its windows, then uninstall it again." "amlwizard 正在运行。请关闭其窗口，再重新卸载。")"
    fi
    remove_entries
    rm -rf "$home" "${config:?}/amlwizard"
    renew_caches
    if ! ls "$data/applications/"*.desktop >/dev/null 2>&1; then rm -f "$data/applications/mimeinfo.cache"; fi
    if [ -d "$data/mime" ] && ! ls "$data/mime/packages/"* >/dev/null 2>&1; then
        # Nothing but what update-mime-database makes of the packages.
        for name in aliases generic-icons globs globs2 icons magic mime.cache subclasses treemagic types version XMLnamespaces; do
            rm -f "$data/mime/$name"
        done
    fi
    leave "$config"
    leave_folders
    tell info "$(words "amlwizard has been removed. Workspaces are where they were." "amlwizard 已移除，工作区保留在原处。")"
}

# A path within double quotes of a desktop entry's Exec line.
exec_path() {
    printf '%s' "$1" | sed -e 's/\\/\\\\\\\\/g' -e 's/["`$]/\\\\&/g' -e 's/%/%%/g'
}

refuse_unfit() {
    if [ "$(uname -m)" != x86_64 ]; then
        fail "$(words "This amlwizard is for x86_64, and this computer is $(uname -m)." "此 amlwizard 适用于 x86_64，而本机是 $(uname -m)。")" 2
    fi
    here=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed 's/[^0-9.]*//') || here=
    if [ -n "$here" ] && [ "$(printf '%s\n%s\n' "$glibc" "$here" | sort -V | head -n 1)" != "$glibc" ]; then
        fail "$(words "amlwizard needs glibc $glibc or newer, and this system has $here." "amlwizard 需要 glibc $glibc 或更新版本，而本系统是 $here。")" 2
    fi
    present=$(readlink "$home/current" 2>/dev/null) || present=
    present=${present#versions/}
    present=${present%-*}
    if [ -n "$present" ] && [ "$(printf '%s\n%s\n' "$present" "$version" | sort -V | tail -n 1)" != "$version" ]; then
        fail "$(words "amlwizard $present is installed, which is newer than $version. Uninstall it first to go back." "已安装更新的 amlwizard $present（新于 $version）。如需退回，请先卸载。")" 2
    fi
}

unwritable() {
    words "Nothing can be written in ${1:-$data}, so amlwizard cannot be installed there. Set XDG_DATA_HOME to a folder of your own." "无法在 ${1:-$data} 中写入，因此不能在那里安装 amlwizard。请将 XDG_DATA_HOME 设为您自己的文件夹。"
}

# Says what is lacking where the program has no room, and nothing where it has, or the system does not tell.
lack_of_room() {
    free=$(df -Pk "$data" 2>/dev/null | sed -n '2s/^.* \([0-9][0-9]*\)  *[0-9]*% .*$/\1/p')
    if [ -n "$free" ] && [ "$free" -lt "$kilobytes" ]; then
        needed=$((kilobytes * 1024 / 1000000 + 1))
        free=$((free * 1024 / 1000000))
        words "amlwizard needs $needed MB in $data, and $free MB are free there. Make room, or set XDG_DATA_HOME to a folder on another disk." "amlwizard 需要 $data 中有 $needed MB 空间，目前可用 $free MB。请清理空间，或将 XDG_DATA_HOME 设为其他磁盘上的文件夹。"
    fi
}

# Ends a failed or interrupted installation: takes back what it made, and says why. What the tools said helps nobody.
give_up() {
    status=$?
    exec 2>&3
    rm -rf "$home/versions/.part-$$" "$home/current.part-$$" "$home/uninstall.part" "$data/applications/amlwizard.desktop.part"
    if [ -z "$present" ]; then
        if [ "$target" ]; then rm -rf "$target"; fi
        rm -f "$home/current" "$home/uninstall" "$home/lock"
        remove_entries
        leave "$home/versions"
        leave_folders
    fi 2>/dev/null
    if [ "$status" = 130 ]; then exit 130; fi
    if [ -z "$reason" ]; then reason=$(lack_of_room); fi
    if [ -z "$reason" ] && [ -z "$writing" ]; then reason=$(unwritable); fi
    if [ -z "$reason" ]; then
        reason=$(words "amlwizard could not be unpacked in $data: the disk fails, or this account may not use more of it. Set XDG_DATA_HOME to a folder on another disk." "无法在 $data 中解压 amlwizard：磁盘有故障，或当前账户的用量已达上限。请将 XDG_DATA_HOME 设为其他磁盘上的文件夹。")
    fi
    fail "$reason"
}

unpack() {
    if [ "$(tail -c "+$((stub_bytes + 1))" "$self" | sha256sum | cut -d ' ' -f 1)" != "$sha256" ]; then
        reason=$(words "$self is damaged. Download it again." "$self 已损坏，请重新下载。")
        exit 1
    fi
    reason=$(lack_of_room)
    if [ "$reason" ]; then exit 1; fi
    part="$home/versions/.part-$$"
    mkdir "$part"
    tail -c "+$((stub_bytes + 1))" "$self" | head -c "$unpacker_bytes" >"$part/unpacker"
    chmod 700 "$part/unpacker"
    status=0
    "$part/unpacker" </dev/null >/dev/null || status=$?
    if [ "$status" = 126 ]; then
        reason=$(words "The system starts no programs from $data (noexec). Set XDG_DATA_HOME to a folder from which it does." "系统不允许从 $data 启动程序（noexec）。请将 XDG_DATA_HOME 设为允许启动程序的文件夹。")
        exit 1
    fi
    tail -c "+$((stub_bytes + unpacker_bytes + 1))" "$self" | "$part/unpacker" |
        tar -x -C "$part" --strip-components=1 --no-same-owner
    rm -f "$part/unpacker"
    sums=$(cd "$part" && find . -type f -exec sha256sum {} +)
    printf '%s\n' "$sums" >"$part/files.sha256"
    rm -rf "$target"
    mv "$part" "$target"
}

install() {
    refuse_unfit
    reason='' writing='' target=''
    (exec 3>&2) || exec 2>/dev/null  # where it is closed
    exec 3>&2
    trap give_up EXIT
    trap 'exit 130' HUP INT TERM
    exec 2>/dev/null
    mkdir -p "$home/versions" "$data/applications" "$data/mime/packages" "$data/icons/hicolor/scalable/apps"
    for folder in "$home" "$home/versions" "$data/applications" "$data/mime/packages" "$data/icons/hicolor/scalable/apps"; do
        if ! (: >"$folder/.amlwizard-$$"); then
            reason=$(lack_of_room)
            reason=${reason:-$(unwritable "$folder")}
            exit 1
        fi
        rm -f "$folder/.amlwizard-$$"
    done
    exec 9>>"$home/lock"
    writing=yes
    if command -v flock >/dev/null; then flock 9; fi
    rm -rf "$home/versions/.part-"*
    name="$version-$(printf %.12s "$sha256")"
    target="$home/versions/$name"
    if ! (cd "$target" && sha256sum -c files.sha256) >/dev/null 2>&1; then unpack; fi
    ln -s "versions/$name" "$home/current.part-$$"
    mv -T "$home/current.part-$$" "$home/current"
    head -c "$stub_bytes" "$self" >"$home/uninstall.part"
    mv "$home/uninstall.part" "$home/uninstall"
    sed -e '/^Exec=/d' -e '/^MimeType=/a Actions=uninstall;' "$target/share/amlwizard.desktop" >"$data/applications/amlwizard.desktop.part"
    {
        printf 'Exec="%s" %%f\n\n' "$(exec_path "$home/current/amlwizard")"
        printf '[Desktop Action uninstall]\nName=Uninstall\nName[zh_CN]=卸载\n'
        printf 'Exec=sh "%s" --uninstall\n' "$(exec_path "$home/uninstall")"
    } >>"$data/applications/amlwizard.desktop.part"
    mv "$data/applications/amlwizard.desktop.part" "$data/applications/amlwizard.desktop"
    cp "$target/share/amlwizard.xml" "$data/mime/packages/amlwizard.xml"
    cp "$target/share/amlwizard.svg" "$data/icons/hicolor/scalable/apps/amlwizard.svg"
    renew_caches
    for old in "$home/versions/"*; do
        if [ "$old" != "$target" ] && ! is_running "$old"; then rm -rf "$old"; fi
    done
    exec 9>&- 2>&3 3>&-
    trap - EXIT HUP INT TERM
}

silent=
case $0 in
    /*) self=$0 ;;
    *) self=$PWD/$0 ;;
esac
if [ -z "${HOME:-}" ]; then fail "$(words "HOME is not set, so there is no place to install to." "未设置 HOME，没有可安装的位置。")" 2; fi
case ${XDG_DATA_HOME:-} in
    /*) data=${XDG_DATA_HOME%/} ;;
    *) data=$HOME/.local/share ;;
esac
case ${XDG_CONFIG_HOME:-} in
    /*) config=${XDG_CONFIG_HOME%/} ;;
    *) config=$HOME/.config ;;
esac
# With links resolved, as the system names the programs that run.
mkdir -p "$data" 2>/dev/null || fail "$(unwritable)"
data=$(cd "$data" && pwd -P)
home=$data/amlwizard

case ${1:-} in
    '') install ;;
    --silent)
        if [ $# -gt 1 ]; then usage >&2; exit 2; fi
        silent=yes
        install
        exit 0
        ;;
    --uninstall)
        if [ $# -gt 1 ]; then usage >&2; exit 2; fi
        uninstall
        exit 0
        ;;
    --)
        shift
        silent=yes
        install
        ;;
    --help | -h)
        usage
        exit 0
        ;;
    *)
        usage >&2
        exit 2
        ;;
esac
exec "$home/current/amlwizard" "$@"
