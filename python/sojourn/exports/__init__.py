"""What other tools open: a run's packets, the states of its connections, its series; and a policy as C."""

from sojourn.exports.flent import write_flent
from sojourn.exports.pcapng import link_names, write_pcapng
from sojourn.exports.policy import write_c
from sojourn.exports.tcp_info import tcp_info, write_tcp_info
