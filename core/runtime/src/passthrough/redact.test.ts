import { Secret } from "@sluice/contract";
import fc from "fast-check";
import { expect, it } from "vitest";
import { createRedactor, credentialForms } from "./redact.ts";

const VALUE = 'sk-up/str"eam+0123456789';
const FORMS = credentialForms({
  authorization: new Secret("key", `Bearer ${VALUE}`),
  accept: "application/json",
});

it("finds the credential in all of its forms, wherever the body is split", () => {
  const quoted = [
    VALUE,
    encodeURIComponent(VALUE),
    encodeURIComponent(VALUE).toLowerCase().replace("sk-up", "sk-up"),
    JSON.stringify(VALUE),
    Buffer.from(VALUE).toString("base64url"),
    Buffer.from(`Bearer ${VALUE}`).toString("base64"),
  ];
  fc.assert(
    fc.property(
      fc.constantFrom(...quoted),
      fc.string(),
      fc.string(),
      fc.integer({ min: 1, max: 40 }),
      (form, before, after, size) => {
        const bytes = Buffer.from(`${before}${form}${after}`);
        const redactor = createRedactor(FORMS);
        const parts: Uint8Array[] = [];
        for (let at = 0; at < bytes.length; at += size)
          parts.push(redactor.push(bytes.subarray(at, at + size)));
        const text = Buffer.concat([...parts, redactor.end()]).toString();
        expect(text).toContain("[redacted]");
        expect(text).not.toContain(form);
      },
    ),
    { numRuns: 200 },
  );
});

it("keeps the bytes of a body without it, and hides nothing that is short", () => {
  const redactor = createRedactor(credentialForms({ "x-api-key": new Secret("key", "short") }));
  expect(
    Buffer.concat([redactor.push(Buffer.from("a short text")), redactor.end()]).toString(),
  ).toBe("a short text");
});
