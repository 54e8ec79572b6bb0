#!/bin/sh
# Starts nginx with an object and a certificate, which are in memory: a program cannot change the machine's files. What /dev/urandom
# gives, and the key, are from the run's seed.
set -e
head -c 12000 /dev/urandom > /tmp/object
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=web -keyout /tmp/key.pem -out /tmp/certificate.pem 2> /tmp/log
exec nginx -c /scenario/nginx.conf
