/* Headers: what a packet of TCP or UDP over IPv4 or IPv6 says. */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <netinet/in.h>
#include <string.h>
#include "observed.h"

/* RFC 8200, sections 4.3 to 4.6: headers that others follow. */
#define HOP_BY_HOP 0
#define ROUTING 43
#define FRAGMENT 44
#define DESTINATION 60
/* RFC 791, section 3.1: where a fragment is, and whether more follow. */
#define OFFSET 0x1fff
#define MORE 0x2000
/* RFC 9000, sections 14.1, 17.2 and 17.2.2: a long header, and the least that a client's first datagram has. */
#define LONG_HEADER 0xc0
#define LEAST_INITIAL 1200
#define VERSION_1 1u
#define VERSION_2 0x6b3343cfu /* RFC 9369, section 3.1 */

/* Bytes that were captured and are not read yet. */
struct rest {
	const unsigned char *bytes;
	uint32_t captured, whole;
};

static int skip(struct rest *rest, uint32_t count)
{
	if (count > rest->captured || count > rest->whole)
		return 0;
	rest->bytes += count;
	rest->captured -= count;
	rest->whole -= count;
	return 1;
}

/* What is before an address of IPv4 in one of IPv6. */
static void map(unsigned char *address, const unsigned char *bytes)
{
	static const unsigned char before[12] = { [10] = 0xff, [11] = 0xff };

	memcpy(address, before, sizeof before);
	memcpy(address + sizeof before, bytes, 4);
}

/* Goes on to what a fragment has, if it is the first or the only one. */
static int read_ipv4(struct rest *rest, struct sight *sight, const struct ip_header *ip, int *is_fragment)
{
	uint32_t place = big_endian(rest->bytes + 6, 2);

	sight->identification = big_endian(rest->bytes + 4, 2);
	map(sight->source.address, ip->addresses);
	map(sight->target.address, ip->addresses + 4);
	*is_fragment = !!(place & MORE);
	return !(place & OFFSET) && skip(rest, ip->length);
}

static int read_ipv6(struct rest *rest, struct sight *sight, const struct ip_header *ip, int *is_fragment)
{
	memcpy(sight->source.address, ip->addresses, 16);
	memcpy(sight->target.address, ip->addresses + 16, 16);
	if (!skip(rest, ip->length))
		return 0;
	for (;;) {
		uint32_t size;

		switch (sight->protocol) {
		case HOP_BY_HOP:
		case ROUTING:
		case DESTINATION:
			size = rest->captured < 8 ? 8 : 8 * rest->bytes[1] + 8;
			break;
		case FRAGMENT:
			size = 8;
			if (rest->captured < size || big_endian(rest->bytes + 2, 2) & 0xfff8)
				return 0;
			*is_fragment = rest->bytes[3] & 1;
			break;
		default:
			return 1;
		}
		if (rest->captured < size)
			return 0;
		sight->protocol = rest->bytes[0];
		if (!skip(rest, size))
			return 0;
	}
}

static int read_ip(struct rest *rest, struct sight *sight, int *is_fragment)
{
	struct ip_header ip;

	if (!ip_read(rest->bytes, rest->captured, &ip))
		return 0;
	/* Devices may have padded it. */
	if (ip.whole && ip.whole < rest->whole)
		rest->whole = ip.whole;
	sight->protocol = ip.protocol;
	return (ip.address_length == 4 ? read_ipv4 : read_ipv6)(rest, sight, &ip, is_fragment);
}

static int read_tcp(struct rest *rest, struct sight *sight)
{
	const unsigned char *tcp = rest->bytes;

	if (rest->captured < 20)
		return 0;
	sight->sequence = big_endian(tcp + 4, 4);
	sight->acknowledgement = big_endian(tcp + 8, 4);
	sight->options = 4 * (tcp[12] >> 4) - 20;
	sight->flags = tcp[13];
	/* The options need not have been captured. */
	if (rest->whole < 20 + sight->options)
		return 0;
	sight->payload = rest->whole - 20 - sight->options;
	return 1;
}

static int read_udp(struct rest *rest, struct sight *sight, int is_fragment)
{
	uint32_t length;

	if (rest->captured < 8)
		return 0;
	length = big_endian(rest->bytes + 4, 2);
	if (!skip(rest, 8))
		return 0;
	/* The first fragment stands for its datagram. */
	sight->payload = is_fragment && length >= 8 ? length - 8 : rest->whole;
	sight->content = hashed(HASH_BASIS, rest->bytes, rest->captured < rest->whole ? rest->captured : rest->whole);
	sight->is_initial = sight->payload >= LEAST_INITIAL && rest->captured >= 5 && (rest->bytes[0] & LONG_HEADER) == LONG_HEADER &&
			    (big_endian(rest->bytes + 1, 4) == VERSION_1 || big_endian(rest->bytes + 1, 4) == VERSION_2);
	return 1;
}

int sight_read(const struct tpacket2_hdr *header, struct sight *sight)
{
	const unsigned char *start = (const unsigned char *)header;
	uint32_t before = header->tp_net - header->tp_mac;
	struct rest rest = { start + header->tp_net, header->tp_snaplen - before, header->tp_len - before };
	struct virtio_net_hdr cut;
	int is_fragment = 0;

	if (header->tp_snaplen < before + 1)
		return 0;
	memset(sight, 0, sizeof *sight);
	sight->time = tap_time(header);
	if (!read_ip(&rest, sight, &is_fragment) || rest.captured < 4 || (sight->protocol != IPPROTO_TCP && sight->protocol != IPPROTO_UDP))
		return 0;
	sight->source.port = big_endian(rest.bytes, 2);
	sight->target.port = big_endian(rest.bytes + 2, 2);
	if (sight->protocol == IPPROTO_TCP ? !read_tcp(&rest, sight) : !read_udp(&rest, sight, is_fragment))
		return 0;
	memcpy(&cut, start + header->tp_mac - sizeof cut, sizeof cut);
	sight->piece = cut.gso_type != VIRTIO_NET_HDR_GSO_NONE && cut.gso_size ? cut.gso_size : sight->payload;
	if (sight->protocol == IPPROTO_UDP)
		sight->content = sight->content * 31 + (sight->piece < sight->payload ? sight->piece : sight->payload);
	return 1;
}
