import { expect, test } from "vitest";
import { Secret } from "@sluice/contract";
import { createMasker, maskedBody } from "./mask.ts";

const KEY = 'sk-"ünder/1234';
const HEADERS = {
  authorization: new Secret("api_key", `Bearer ${KEY}`),
  "x-api-key": new Secret("api_key", KEY),
  "content-type": "application/json",
};
const JSON_FORM = JSON.stringify(KEY).slice(1, -1);
const URL_FORM = encodeURIComponent(KEY);
const TEXT = `data: ${KEY}\n\n{"a":"${JSON_FORM}"}\nsk-${URL_FORM}\n${KEY.slice(0, 6)}\n${KEY}`;
const masked = (text: string): string =>
  [JSON_FORM, URL_FORM, KEY].reduce(
    (shown, form) => shown.replaceAll(form, "*".repeat(Buffer.byteLength(form))),
    text,
  );

test("masks every form of a credential in a whole body, and leaves other bytes as they are", () => {
  const body = Buffer.from(TEXT);
  expect(Buffer.from(maskedBody(body, HEADERS)).toString()).toBe(masked(TEXT));
  expect(body.toString()).toBe(TEXT);
  const other = Buffer.from("no credential, sk-");
  expect(maskedBody(other, HEADERS)).toBe(other);
  expect(maskedBody(body, { "content-type": "text/plain" })).toBe(body);
});

test("masks a credential that is split at any two bytes", () => {
  const bytes = Buffer.from(TEXT);
  const wrong: string[] = [];
  for (let first = 0; first <= bytes.length; first += 1) {
    for (let second = first; second <= bytes.length; second += 1) {
      const masker = createMasker(HEADERS)!;
      const pieces = [
        bytes.subarray(0, first),
        bytes.subarray(first, second),
        bytes.subarray(second),
      ].map((piece) => Buffer.from(masker.push(piece)));
      const shown = Buffer.concat([...pieces, masker.end()]).toString();
      if (shown !== masked(TEXT)) wrong.push(`${first}, ${second}: ${shown}`);
    }
  }
  expect(wrong).toEqual([]);
});
