import { expect, it } from "vitest";
import { addressOption } from "./options.ts";

const { pattern = "" } = addressOption("An address.") as { readonly pattern?: string };
const isAddress = (text: string): boolean => new RegExp(pattern, "u").test(text);

it.each([
  "https://api.example.com",
  "http://127.0.0.1:8000/v1",
  "https://x.services.ai.azure.com/models",
])("takes the address of an API, %s", (address) => {
  expect(isAddress(address)).toBe(true);
});

it.each([
  "http://127.0.0.1:8000/v1/chat/completions",
  "https://api.example.com/v1/messages",
  "https://api.example.com/v1/responses",
  "https://api.example.com/v1/",
  "127.0.0.1:8000/v1",
])("refuses the address of a route, and one of another form, %s", (address) => {
  expect(isAddress(address)).toBe(false);
});
