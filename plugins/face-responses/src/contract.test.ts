import { faceContract } from "@sluice/testing";
import { describe, it } from "vitest";
import responses from "./index.ts";
import { foldWithSdk } from "./sdk-fold.fixture.ts";

faceContract({ describe, it }, responses, {
  fixtures: new URL("../fixtures/", import.meta.url),
  request: { model: "contract/model", input: "Hello." },
  fold: foldWithSdk,
});
