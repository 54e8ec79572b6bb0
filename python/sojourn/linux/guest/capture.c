/* Captures: the headers of all packets that a device sends or receives, as they were, in a file of the host. */
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <string.h>
#include "guest.h"

/* One a direction. */
#define MOST_CAPTURES 2

/* Before the bytes of each packet, from its IP header on. */
struct record {
	Time time; /* since the run began */
	uint32_t length, captured;
};

static struct capture {
	struct tap tap;
	FILE *file;
} all[MOST_CAPTURES];
static int captures;

void capture_add(const char *file, const char *name_space, const char *device, int outgoing)
{
	struct capture *capture = &all[captures];

	if (captures++ == MOST_CAPTURES || !(capture->file = fopen(file, "w")))
		fail("capture", file);
	tap_open(&capture->tap, name_space, device, outgoing, LARGEST_HEADERS);
	capture->tap.all = 1;
}

static void record(struct capture *capture, const struct tpacket2_hdr *header)
{
	struct record record = {
		(Time)header->tp_sec * 1000000000 + header->tp_nsec - origin,
		header->tp_len - ETH_HLEN,
		header->tp_snaplen - ETH_HLEN,
	};

	fwrite(&record, sizeof record, 1, capture->file);
	fwrite((const char *)header + header->tp_net, 1, record.captured, capture->file);
}

void captures_drain(void)
{
	for (struct capture *capture = all; capture < all + captures; capture++) {
		const struct tpacket2_hdr *header;

		while ((header = tap_first(&capture->tap))) {
			if (tap_wants(&capture->tap, header))
				record(capture, header);
			tap_release(&capture->tap);
		}
	}
}

void captures_end(void)
{
	for (struct capture *capture = all; capture < all + captures; capture++) {
		tap_check(&capture->tap);
		if (fclose(capture->file))
			fail("capture", capture->tap.where);
	}
}
