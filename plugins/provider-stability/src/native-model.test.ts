import { Buffer } from "node:buffer";
import { Form } from "@sluice/kit";
import { describe, expect, it } from "vitest";
import { nativeModel } from "./native-model.ts";

type Form = ReturnType<typeof Form.body>;
const asked = (endpoint: string, form?: Form) => {
  const headers = form === undefined ? {} : { "content-type": form.contentType };
  return nativeModel({ method: "POST", endpoint, query: "", headers, body: form?.body });
};
const image = {
  fileName: "a.png",
  mimeType: "image/png",
  bytes: Buffer.from('\r\nname="model"\r\nx'),
};

describe("the model of a native request", () => {
  it.each([
    ["v1/generation/stable-diffusion-xl-1024-v1-0/text-to-image", "stable-diffusion-xl-1024-v1-0"],
    ["v2beta/stable-image/generate/core", "stable-image-core"],
    ["v2beta/stable-image/generate/ultra", "stable-image-ultra"],
    ["v2beta/stable-image/generate/sd3", "sd3.5-large"],
    ["v2beta/stable-image/upscale/fast", "upscale/fast"],
    ["v2beta/results/abc", undefined],
    ["v1/user/balance", undefined],
    ["v1/engines/list", undefined],
  ])("of %s is %s", (endpoint, model) => {
    expect(asked(endpoint)).toBe(model);
  });

  it("of sd3 stands in its form, wherever that is", () => {
    const sd3 = "v2beta/stable-image/generate/sd3";
    expect(asked(sd3, Form.body({ model: "sd3.5-medium", prompt: "A", image }))).toBe(
      "sd3.5-medium",
    );
    expect(asked(sd3, Form.body({ prompt: "A".repeat(9_000), model: "sd3.5-large-turbo" }))).toBe(
      "sd3.5-large-turbo",
    );
    expect(asked(sd3, Form.body({ prompt: "A" }))).toBe("sd3.5-large");
    expect(asked(sd3, Form.body({ prompt: "A", model: "stable-image-core" }))).toBe("sd3.5-large");
    const once = Form.body({ model: "a", other: "b" });
    const twice = Buffer.from(
      Buffer.from(once.body).toString("latin1").replace('name="other"', 'name="model"'),
      "latin1",
    );
    expect(() => asked(sd3, { ...once, body: twice })).toThrow("occurs twice");
  });
});
