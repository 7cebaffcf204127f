/**
 * Decides whether an address belongs to the public internet, or to this machine, its network or its
 * cloud.
 */

import { BlockList, isIP } from "node:net";

/**
 * Ranges outside the public internet (the IANA special-purpose registries for IPv4 and IPv6, RFC
 * 6890).
 */
const IPV4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];
/** Excluded global unicast addresses: Teredo and protocols, documentation, 6to4. */
const IPV6: readonly (readonly [string, number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

const special = new BlockList();
for (const [network, prefix] of IPV4) special.addSubnet(network, prefix, "ipv4");
for (const [network, prefix] of IPV6) special.addSubnet(network, prefix, "ipv6");
/** All other IPv6 addresses are local, mapped, translated, multicast or unassigned. */
const globalUnicast = new BlockList();
globalUnicast.addSubnet("2000::", 3, "ipv6");

/**
 * Whether a numeric address belongs to a host of the public internet. IPv4 embedded in IPv6 does
 * not.
 */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, "ipv4");
    case 6:
      return globalUnicast.check(address, "ipv6") && !special.check(address, "ipv6");
    default:
      return false;
  }
}
