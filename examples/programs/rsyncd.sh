#!/bin/sh
# Makes two hundred files, serves them, and after half a minute appends a line to each twentieth.
set -e
mkdir /tmp/files
for number in $(seq 200); do
    head -c 20000 /dev/urandom > "/tmp/files/$number"
done
(sleep 30; for number in $(seq 20 20 200); do echo changed >> "/tmp/files/$number"; done) &
cat > /tmp/rsyncd.conf <<CONFIGURATION
use chroot = no
[files]
path = /tmp/files
CONFIGURATION
exec rsync --daemon --no-detach --config=/tmp/rsyncd.conf --log-file=/dev/stderr
