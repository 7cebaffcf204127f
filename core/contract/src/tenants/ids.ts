/** Ids of tenants: the form that is kept, and the form in which two ids may not be equal. */

/** An id as it is kept: Unicode NFC. Ids are then compared byte for byte. */
export function normalTenantId(id: string): string {
  return id.normalize("NFC");
}

/**
 * What two ids of one kind may not have in common: the id without differences of case, width,
 * invisible characters and surrounding spaces.
 */
export function foldedTenantId(id: string): string {
  const visible = id.normalize("NFKC").replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "");
  // Upper case first: ß and SS, and all forms of sigma, become the same.
  return visible.toUpperCase().toLowerCase().normalize("NFKC").trim();
}
