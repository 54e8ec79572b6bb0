/* Headers of IP packets, of either version, and hashes of what packets have. */
#include "guest.h"

uint32_t big_endian(const unsigned char *bytes, int count)
{
	uint32_t value = 0;

	while (count--)
		value = value << 8 | *bytes++;
	return value;
}

int ip_read(const unsigned char *bytes, uint32_t captured, struct ip_header *ip)
{
	int is_four = captured && *bytes >> 4 == 4;
	uint32_t length;

	ip->length = is_four ? 4 * (*bytes & 15) : 40;
	if (captured < (is_four ? 20 : 40))
		return 0;
	length = big_endian(bytes + (is_four ? 2 : 4), 2);
	ip->whole = is_four || !length ? length : length + ip->length;
	ip->protocol = bytes[is_four ? 9 : 6];
	ip->address_length = is_four ? 4 : 16;
	ip->addresses = bytes + (is_four ? 12 : 8);
	ip->own = bytes + (is_four ? 2 : 4);
	ip->own_length = is_four ? 6 : 2;
	return 1;
}

uint64_t hashed(uint64_t hash, const unsigned char *bytes, size_t count)
{
	while (count--)
		hash = (hash ^ *bytes++) * 0x100000001b3;
	return hash;
}
