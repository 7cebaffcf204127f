import { expect, it } from "vitest";
import { Secret } from "@sluice/contract";
import { nativeCall } from "./native-call.ts";

it("has the client's request, the operator's address, and the operator's credential over any that the client sent", () => {
  const key = new Secret("KEY", "mine");
  const body = new Uint8Array([1, 2]);
  const headers = { accept: "image/*", "x-api-key": "theirs" };
  const request = { method: "PUT", endpoint: "v1/files", query: "a=b", headers, body } as const;
  const call = nativeCall(request, "https://api.example.com/v1", { "x-api-key": key });
  expect(call).toEqual({
    kind: "http",
    method: "PUT",
    url: "https://api.example.com/v1/files?a=b",
    headers: { accept: "image/*", "x-api-key": key },
    body,
  });
  expect(call.body).toBe(body);
});
