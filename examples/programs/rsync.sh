#!/bin/sh
# Fetches all files of a server, and half a minute later those that have changed: rsync.sh SERVER. Prints how long each took.
set -e
fetch() {
    begun=$(date +%s%3N)
    rsync --archive "rsync://$1/files/" /tmp/copy
    echo "$2: $(($(date +%s%3N) - begun)) ms"
}
fetch "$1" all
sleep 30
fetch "$1" changed
diff -r /tmp/files /tmp/copy
