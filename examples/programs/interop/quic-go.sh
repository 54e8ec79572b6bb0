# An endpoint of the interop runner: quic-go's own programs, which take their orders from the environment. quic-go.sh client|server
exec "quic-go/$1" ${REQUESTS:-}
