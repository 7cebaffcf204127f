/** Characters that look like Latin letters, lower case, and what they look like (Unicode TR 39, and what attackers use). */

const PAIRS: Readonly<Record<string, string>> = {
  // Cyrillic. Where only the capital looks Latin, the small letter follows it, so that case changes nothing.
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

/** What a character looks like. */
export const HOMOGLYPHS: ReadonlyMap<string, string> = new Map([
  ...Object.entries(PAIRS).flatMap(([from, to]) => [...from].map((letter, at): [string, string] => [letter, to[at] ?? letter])),
  ["ß", "ss"],
  ["æ", "ae"],
  ["œ", "oe"],
]);
