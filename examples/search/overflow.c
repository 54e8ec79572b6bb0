/* New Reno that halves its window when its path gets much shorter, with a planted defect. */
#include <sojourn.h>

struct overflow {
	struct sojourn_growth growth;
	uint32_t largest; /* the largest product of window and round-trip time since the last loss, in bytes times microseconds */
};

static void increase(void *state, struct sojourn_window *window, const struct sojourn_ack *ack)
{
	struct overflow *self = state;
	/* The defect: from 4.3 GB us on, such as 86 kB for 50 ms, the product does not fit into 32 bits, and seems to fall. */
	uint32_t product = (uint32_t)(window->cwnd * (ack->srtt / SOJOURN_MICROSECOND));

	if (product < self->largest / 2) {
		sojourn_set_ssthresh(window, window->cwnd / 2);
		window->cwnd = window->ssthresh;
		self->largest = 0;
	}
	self->largest = product > self->largest ? product : self->largest;
	sojourn_additive(&self->growth, window, 1.0, ack->credit);
}

static void on_congestion(void *state, struct sojourn_window *window, const struct sojourn_event *event)
{
	struct overflow *self = state;

	if (event->kind == SOJOURN_LOSS || event->kind == SOJOURN_ECN)
		sojourn_set_ssthresh(window, event->flight_size / 2);
	self->largest = 0;
}

SOJOURN_CONGESTION_CONTROL(.title = "New Reno with an overflow", .state_bytes = sizeof(struct overflow), .increase = increase,
			   .on_congestion = on_congestion);
