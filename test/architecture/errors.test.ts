import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ERROR_CODES, type ErrorCode, errorBody, GatewayError } from "@sluice/contract";
import { ERRORS_PAGE, errorsPage } from "../generate/errors.ts";
import { readSources } from "./sources.ts";

const codes = Object.keys(ERROR_CODES) as ErrorCode[];

describe("the page of errors", () => {
  it("is what the generator makes: run node test/generate/errors.ts", () => {
    expect(readFileSync(ERRORS_PAGE, "utf8")).toBe(errorsPage());
  });

  it.each(codes)("describes %s with its status, type, occasion and remedy", (code) => {
    const { status, type, when, remedy } = ERROR_CODES[code];
    const row = errorsPage()
      .split("\n")
      .find((line) => line.includes(`| \`${code}\` |`));
    expect(row).toContain(`| ${status} | \`${type}\` |`);
    expect(row).toContain(when.replaceAll("|", "\\|"));
    expect(row).toContain(remedy.replaceAll("|", "\\|"));
  });
});

describe("error codes", () => {
  it.each(codes)("%s has a body of the agreed shape", (code) => {
    const { status, type } = ERROR_CODES[code];
    expect(errorBody(new GatewayError(code, "m", { param: "p" }))).toEqual({
      error: { message: "m", type, code: status, param: "p" },
    });
  });

  it("are all thrown somewhere, or wait for a step that is still to come", () => {
    const text = readSources()
      .filter(({ path }) => !path.endsWith("spec/src/codes.ts"))
      .map((source) => source.text)
      .join("\n");
    const waiting = ["guardrail_violation", "rate_limited", "budget_exceeded", "not_found"];
    expect(codes.filter((code) => !text.includes(`"${code}"`) && !waiting.includes(code))).toEqual(
      [],
    );
  });
});
