import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

/**
 * Runs lines of code in a process of its own, because the log writes to the file descriptor of
 * standard error.
 */
function logged(level: string, code: string): { text: string; lines: Record<string, unknown>[] } {
  const script = `
    import { GatewayError, Secret } from "@sluice/contract";
    import { createLog, withFields } from ${JSON.stringify(join(import.meta.dirname, "log.ts"))};
    const secret = new Secret("OPENAI_API_KEY", "sk-very-secret");
    const log = createLog(${JSON.stringify(level)});
    ${code}`;
  const run = spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
    encoding: "utf8",
    cwd: import.meta.dirname,
  });
  if (run.status !== 0) throw new Error(run.stderr);
  const lines = run.stderr.split("\n").filter((line) => line !== "");
  return {
    text: run.stderr + run.stdout,
    lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

describe("the log", () => {
  it("never shows a secret, wherever it stands", () => {
    const { text, lines } = logged(
      "debug",
      `
      log.info("field", { key: secret, deep: { list: [secret, { secret }] }, text: String(secret) });
      const error = Object.assign(new Error("failed with " + secret), { secret, code: secret, headers: { authorization: secret.map((key) => "Bearer " + key) } });
      log.error("error", { error });
      log.error("cause", { error: new GatewayError("plugin_failed", "no", { cause: Object.assign(new Error("inner"), { secret, cause: secret }) }) });
      log.error("thrown", { error: secret });
      log.warn("other name", { err: error, reason: error });
      withFields(log, { secret }).info("child");
      `,
    );
    expect(lines).toHaveLength(6);
    expect(text).not.toContain("very-secret");
    expect(lines[0]).toMatchObject({
      msg: "field",
      key: "[secret:OPENAI_API_KEY]",
      text: "[secret:OPENAI_API_KEY]",
    });
  });

  it("shows the whole chain of causes, and no stack of an outcome", () => {
    const { lines } = logged(
      "info",
      'log.warn("m", { error: new GatewayError("plugin_failed", "outer", { cause: new TypeError("inner", { cause: "word" }) }) });',
    );
    expect(lines).toMatchObject([
      {
        msg: "m",
        error: {
          name: "GatewayError",
          code: "plugin_failed",
          message: "outer",
          cause: {
            name: "TypeError",
            message: "inner",
            stack: expect.stringContaining("inner") as string,
            cause: { message: "word" },
          },
        },
      },
    ]);
    expect(lines[0]?.error).not.toHaveProperty("stack");
  });

  it("survives an error that is its own cause", () => {
    const { lines } = logged(
      "info",
      'const error = new Error("round"); error.cause = error; log.error("m", { error });',
    );
    expect(lines).toMatchObject([{ msg: "m", error: { message: "round" } }]);
  });

  it("keeps to its level, and marks the lines of a child", () => {
    const { lines } = logged(
      "warn",
      'const child = withFields(log, { plugin: "p" }); child.info("no"); child.warn("yes", { a: 1 });',
    );
    expect(lines).toMatchObject([{ msg: "yes", plugin: "p", a: 1 }]);
  });
});
