import { describe, expect, it } from "vitest";
import { formBody } from "./multipart.ts";

async function read(form: ReturnType<typeof formBody>): Promise<FormData> {
  const { contentType, body } = form;
  return new Response(Buffer.from(body), { headers: { "content-type": contentType } }).formData();
}

describe("a form", () => {
  it("is read back field by field, bytes of files and odd characters included", async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    const form = formBody({
      prompt: 'Grüße\r\n--form-"x" 😀',
      image: { fileName: 'a".png', mimeType: "image/png", bytes },
      left: undefined,
    });
    const fields = await read(form);
    expect([...fields.keys()]).toEqual(["prompt", "image"]);
    expect(fields.get("prompt")).toBe('Grüße\r\n--form-"x" 😀');
    const image = fields.get("image") as File;
    expect(image.type).toBe("image/png");
    expect(new Uint8Array(await image.arrayBuffer())).toEqual(bytes);
  });

  it("has the same bytes for the same fields, and a boundary of its own for others", () => {
    expect(formBody({ a: "1" })).toEqual(formBody({ a: "1" }));
    expect(formBody({ a: "1" }).contentType).not.toBe(formBody({ a: "2" }).contentType);
  });

  it("lets no name or type break out of its line", async () => {
    const form = formBody({
      'a"\r\nx: y': { fileName: "f\r\n", mimeType: "text/plain\r\nx: y", bytes: Buffer.from("1") },
    });
    expect(Buffer.from(form.body).toString()).not.toContain("\r\nx: y");
    expect([...(await read(form)).keys()]).toHaveLength(1);
  });

  it("is refused beyond its bound", () => {
    const bytes = new Uint8Array(64 * 1024 * 1024 + 1);
    expect(() => formBody({ a: { fileName: "a", mimeType: "b/c", bytes } })).toThrow(RangeError);
  });
});
