/**
 * Characters that look like lower-case Latin letters, and those letters (Unicode TR 39, and known
 * attacks).
 */

const PAIRS: Readonly<Record<string, string>> = {
  // Cyrillic. Where only the capital looks Latin, the small letter is listed too, so that case
  // makes no difference.
  авекмнорстухѕіјһԁԛԝӏг: "abekmhopctyxsijhdqwlr",
  // Greek.
  αβεζηικνορτυχγω: "abezhikvoptuxyw",
  // Armenian.
  օսցհզ: "oughq",
  // Latin letters that do not decompose.
  ıłøđɑɡɩǀħŧ: "ilodagilht",
  // Small capitals.
  ᴀʙᴄᴅᴇғɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ: "abcdefghijklmnoprstuvwyz",
  // Dashes and stops.
  "‐‑‒–—―−。": "-------.",
  // Digits of other scripts.
  "٠١٢٣٤٥٦٧٨٩": "0123456789",
  "۰۱۲۳۴۵۶۷۸۹": "0123456789",
  "०१२३४५६७८९": "0123456789",
};

/** The Latin look-alike of a character. */
export const HOMOGLYPHS: ReadonlyMap<string, string> = new Map([
  ...Object.entries(PAIRS).flatMap(([from, to]) =>
    [...from].map((letter, at): [string, string] => [letter, to[at] ?? letter]),
  ),
  ["ß", "ss"],
  ["æ", "ae"],
  ["œ", "oe"],
]);
