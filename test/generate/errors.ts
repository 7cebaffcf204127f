/** Writes docs/errors.md from the table of error codes: `node test/generate/errors.ts`. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ERROR_CODES } from "@sluice/spec";

/** Where the page is. */
export const ERRORS_PAGE = join(import.meta.dirname, "../../docs/errors.md");

const INTRODUCTION = `# Errors

<!-- Made by \`node test/generate/errors.ts\` from core/spec/src/codes.ts. Do not edit. -->

Every failed request is answered with JSON of one shape, on every route:

\`\`\`json
{"error": {"message": "The field messages is missing.", "type": "invalid_request_error", "code": 400, "param": "messages"}}
\`\`\`

\`code\` is the HTTP status as a number, \`param\` the field, guardrail or parameter that is meant, or null. An error that an upstream answered has one
member more, \`provider: {status, type, code, message}\`: the upstream's own words, without credentials and addresses, null where it said none. With
\`server.error_code: text\`, \`code\` is a word: the name below, or the upstream's own code where the name begins with \`upstream_\`. The names are the
\`error_code\` of a spend row and the \`code\` of a log line. *Retry* says whether the same request may succeed later; where the gateway
knows when, the response carries \`retry-after\`. Every response carries \`x-request-id\`.
`;

/** The text of docs/errors.md. */
export function errorsPage(): string {
  const rows = Object.entries(ERROR_CODES).sort(([, a], [, b]) => a.status - b.status);
  const head = ["Status", "Type", "Name", "When", "What to do", "Retry"];
  const body = rows.map(([name, { status, type, when, remedy, retryable }]) => [
    String(status),
    `\`${type}\``,
    `\`${name}\``,
    when,
    remedy,
    retryable ? "yes" : "no",
  ]);
  const lines = [head, head.map(() => "---"), ...body].map((cells) => `| ${cells.map(escapeCell).join(" | ")} |`);
  return `${INTRODUCTION}\n${lines.join("\n")}\n`;
}

function escapeCell(text: string): string {
  return text.replaceAll("|", "\\|");
}

if (import.meta.main) writeFileSync(ERRORS_PAGE, errorsPage());
