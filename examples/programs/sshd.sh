#!/bin/sh
# Starts an SSH server with keys of its own, for the server and for who logs in.
set -e
ssh-keygen -q -t ed25519 -N "" -f /tmp/server
ssh-keygen -q -t ed25519 -N "" -f /tmp/key
mkdir -p /run/sshd
exec "$(command -v sshd)" -D -e -f /dev/null -o HostKey=/tmp/server -o AuthorizedKeysFile=/tmp/key.pub -o PidFile=none \
    -o PermitRootLogin=prohibit-password -o StrictModes=no -o UsePAM=no
