/** The face, a client and the provider of its own dialect, as tests use them. */

import { type ClientRequest, Secret } from "@sluice/contract";
import anthropic from "@sluice/provider-anthropic";
import { fakeHost } from "@sluice/testing";
import messages from "./index.ts";

export const FACE = messages.create({}, fakeHost());

export const CLIENT: ClientRequest = {
  method: "POST",
  path: "/v1/messages",
  query: "",
  parameters: {},
  header: () => undefined,
  address: null,
};

export const TARGET = {
  provider: "anthropic",
  model: "claude-opus-4-7",
  operation: "chat",
} as const;

export const PROVIDER = anthropic.create(
  {
    api_key: new Secret("api_key", "sk-made-up"),
    base_url: "https://api.anthropic.com",
    version: "2023-06-01",
  },
  fakeHost(),
);
