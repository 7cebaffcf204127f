/** Writes docs/errors.md from the table of error codes: `node test/generate/errors.ts`. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ERROR_CODES } from "@sluice/contract";

/** Where the page is. */
export const ERRORS_PAGE = join(import.meta.dirname, "../../docs/errors.md");

const INTRODUCTION = `# Errors

<!-- Made by \`node test/generate/errors.ts\` from core/contract/src/codes.ts. Do not edit. -->

A failed request is answered with this JSON shape. Routes with a [face](agents.md) use the error shape of their own API instead:

\`\`\`json
{"error": {"message": "The field messages is missing.", "type": "invalid_request_error", "code": 400, "param": "messages"}}
\`\`\`

- \`code\` is the HTTP status as a number; \`param\` is the field, guardrail or parameter at fault, or null.
- An upstream's error adds the member \`provider: {status, type, code, message}\`, the upstream's own values without credentials and
  addresses; missing values are null.
- With \`server.error_code: text\`, \`code\` is the name below, or the upstream's own code when the name begins with \`upstream_\`.
- A spend row has the name as \`error_code\`, a log line as \`code\`.
- The log has a line for each request that failed with the status 500 or a higher one. In a second one key has at most 20 lines for one code,
  with the status 500 for one cause, and all keys together have 100 for a code, with the status 500 a thousand. A further line counts the
  rest: \`more requests failed than the log names\`, with \`code\` and \`not_named\`.
- *Retry* says whether the same request may succeed later. If the gateway knows the time, the response has \`retry-after\`.
- Every response has \`x-request-id\`.
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
  const lines = [head, head.map(() => "---"), ...body].map(
    (cells) => `| ${cells.map(escapeCell).join(" | ")} |`,
  );
  return `${INTRODUCTION}\n${lines.join("\n")}\n`;
}

function escapeCell(text: string): string {
  return text.replaceAll("|", "\\|");
}

if (import.meta.main) writeFileSync(ERRORS_PAGE, errorsPage());
