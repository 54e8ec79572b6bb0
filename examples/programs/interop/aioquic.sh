# An endpoint of the interop runner: the examples of aioquic, with the options that a test case asks for. aioquic.sh client|server
set -eu
python=aioquic/bin/python
examples=$(echo aioquic/aioquic-*/examples)
logs="--quic-log $QLOGDIR --secrets-log $SSLKEYLOGFILE"

if [ "$1" = server ]; then
    options=
    case $TESTCASE in
        handshake|transfer|chacha20|resumption|zerortt|http3|multiconnect|v2) ;;
        retry) options=--retry ;;
        *) exit 127 ;;
    esac
    export STATIC_ROOT=/www
    exec $python $examples/http3_server.py --port 443 --certificate /certs/cert.pem --private-key /certs/priv.key $logs $options
fi

fetch() { $python $examples/http3_client.py --insecure --output-dir /downloads $logs "$@"; }

case $TESTCASE in
    handshake|retry) fetch --legacy-http $REQUESTS ;;
    # Windows that have to grow on the way.
    transfer) fetch --legacy-http --max-data 262144 --max-stream-data 262144 $REQUESTS ;;
    chacha20) fetch --legacy-http --cipher-suites CHACHA20_POLY1305_SHA256 $REQUESTS ;;
    keyupdate) fetch --legacy-http --key-update $REQUESTS ;;
    v2) fetch --legacy-http --negotiate-v2 $REQUESTS ;;
    http3) fetch $REQUESTS ;;
    multiconnect) for request in $REQUESTS; do fetch --legacy-http "$request"; done ;;
    resumption|zerortt)
        zero=
        if [ "$TESTCASE" = zerortt ]; then zero=--zero-rtt; fi
        first=${REQUESTS%% *}
        fetch --legacy-http --session-ticket /tmp/ticket "$first"
        fetch --legacy-http --session-ticket /tmp/ticket $zero ${REQUESTS#* }
        ;;
    *) exit 127 ;;
esac
