/** Admin routes that test and write the files of the configuration. */

import type { JsonObject } from "@sluice/contract";
import type { Finding } from "../../../../config/finding.ts";
import { type AdminRequest, type AdminRoutes, atWhole } from "../../../access/route.ts";
import { readAuthor, readCanary, readFiles } from "../body-fields.ts";
import { describeAttempt, describeFinding } from "../describe-status.ts";
import { readText, requiredText } from "../../fields.ts";
import type { CandidateTests, RunTest } from "./tests.ts";
import type { ConfigWriter } from "./writer.ts";
import type { EditOutcome } from "./file-edit.ts";

/** The parts of the process that the routes need. */
export interface EditRouteParts {
  readonly writer: ConfigWriter;
  readonly tests: CandidateTests;
}

/** The routes. */
export function fileEditRoutes(parts: EditRouteParts): AdminRoutes {
  const { writer, tests } = parts;
  return {
    "POST /config/test": atWhole("config.test", async ({ body, isConfirmed }) => {
      writer.checkMode(true);
      const files = readFiles(body["files"] ?? {});
      // A test starts what the texts name, which may send credentials to their addresses.
      const { findings, snapshot } = await writer.check(files, isConfirmed);
      if (findings.length > 0 || snapshot === undefined) return testAnswer("refused", findings, []);
      const tested = await tests.run(snapshot);
      if (tested.findings.length > 0) return testAnswer("refused", tested.findings, []);
      const isFailed = tested.results.some((result) => result.findings.length > 0);
      return testAnswer(isFailed ? "failed" : "passed", [], tested.results);
    }),
    "PUT /config/files": atWhole("config.write", async (request) => {
      const { body, isConfirmed } = request;
      const { force = null, canary = null } = body;
      const edit = {
        files: readFiles(body["files"] ?? null),
        base: requiredText(body, "base", "the digest of GET /config/files?of=files"),
        force: force === null ? undefined : readText(force, "force"),
        author: readAuthor(body),
        canary: readCanary(canary),
      };
      const after = {
        files: Object.keys(edit.files),
        ...(force !== null && { force }),
        ...(edit.canary && { canary }),
      };
      const attempt = (write: () => Promise<EditOutcome>): Promise<EditOutcome> =>
        attempted(request, edit.author, after, write);
      const outcome = await writer.write(edit, { isConfirmed, attempt });
      return {
        ...describeAttempt({ ...outcome.result, ...authorOf(edit.author) }),
        files: outcome.files,
        files_digest: outcome.digest,
      };
    }),
  };
}

function authorOf(author: string | undefined) {
  return author === undefined ? {} : { author };
}

/** Runs a write between two lines of the audit, which say what became of it. */
async function attempted(
  request: AdminRequest,
  author: string | undefined,
  after: JsonObject,
  write: () => Promise<EditOutcome>,
): Promise<EditOutcome> {
  const { made } = await request.audit.attempt(request, { author, after }, async () => {
    const done = await write();
    const { outcome, digest = null, generation = null } = done.result;
    return { outcome, digest, generation, made: done };
  });
  return made;
}

function testAnswer(
  outcome: "passed" | "failed" | "refused",
  findings: readonly Finding[],
  results: readonly RunTest[],
) {
  return {
    outcome,
    findings: findings.map(describeFinding),
    tests: results.map(({ pipeline, file, name, ms, findings: found }) => ({
      pipeline,
      file,
      name,
      outcome: found.length === 0 ? "passed" : "failed",
      ms: Math.round(ms),
      findings: found.map(describeFinding),
    })),
  };
}
