/** Hash slots of a cluster. */

/** The number of slots. */
export const SLOTS = 16_384;

/**
 * The slot of names with this tag: CRC16 of its bytes, polynomial 0x1021, modulo the slots
 * (redis.io, "Redis cluster specification").
 */
export function slotOf(tag: string): number {
  let crc = 0;
  for (const byte of Buffer.from(tag)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1)
      crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
  }
  return crc % SLOTS;
}

/** A tag as names have it: a brace would end it early. */
export function tagText(tag: string): string {
  return tag.replaceAll(/[{}%]/g, (found) => encodeURIComponent(found));
}
