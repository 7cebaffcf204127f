/** Check digits: arithmetic that distinguishes real numbers from similar digits. */

/** The digits of a text, as numbers; other characters are left out. */
export function digitsOf(text: string): number[] {
  const digits: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit >= 0 && digit <= 9) digits.push(digit);
  }
  return digits;
}

/** The sum of digits times weights. */
export function weighted(digits: readonly number[], weights: readonly number[]): number {
  return weights.reduce((sum, weight, at) => sum + weight * (digits[at] ?? 0), 0);
}

/** Luhn's formula (ISO/IEC 7812-1, annex B), for the first digits of a list, or for all. */
export function isLuhn(digits: readonly number[], length = digits.length): boolean {
  let sum = 0;
  for (let at = length - 1, isDoubled = false; at >= 0; at--, isDoubled = !isDoubled) {
    const value = (digits[at] ?? 0) * (isDoubled ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}

/** The remainder of a long number, in decimal digits. */
export function remainder(digits: string, by: number): number {
  let rest = 0;
  for (const digit of digits) rest = (rest * 10 + Number(digit)) % by;
  return rest;
}

/** Mod 97-10 of ISO/IEC 7064, letters counting from A = 10. */
export function isMod97(text: string): boolean {
  const digits = text
    .toUpperCase()
    .replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  return remainder(digits, 97) === 1;
}

/** Mod 11,10 of ISO/IEC 7064: the last digit checks those before it. */
export function isMod11And10(digits: readonly number[]): boolean {
  let product = 10;
  for (const digit of digits.slice(0, -1)) {
    const sum = (digit + product) % 10 || 10;
    product = (sum * 2) % 11;
  }
  return (11 - product) % 10 === digits.at(-1);
}
