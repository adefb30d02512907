#!/bin/sh
set -e
if [ "$1" = upgrade ] && dpkg --compare-versions "$2" gt '@VERSION@'; then
    echo "amlwizard $2 is installed, which is newer than @VERSION@. Remove it first to go back." >&2
    exit 1
fi
