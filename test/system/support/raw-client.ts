/** A client below fetch: writes the request line as it is, and reads one whole answer. */

import { connect } from "node:net";

/** An answer as it came. */
export interface RawAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Interim answers (1xx) that came before it. */
  readonly interim: readonly number[];
}

/**
 * Sends lines of a head, and a body behind it, on a connection of its own. Resolves when the
 * connection ends: say `connection: close`.
 */
export function sendRaw(
  url: string,
  head: readonly string[],
  body: string | Uint8Array = "",
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(new URL(url).port), "127.0.0.1", () => {
      socket.write(`${head.join("\r\n")}\r\n\r\n`);
      socket.write(body);
    });
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", (error) => (chunks.length > 0 ? undefined : reject(error)));
    socket.on("close", () => resolve(parseAnswer(Buffer.concat(chunks).toString())));
  });
}

function parseAnswer(text: string): RawAnswer {
  const interim: number[] = [];
  let rest = text;
  for (;;) {
    const end = rest.indexOf("\r\n\r\n");
    const [line = "", ...lines] = rest.slice(0, end).split("\r\n");
    const status = Number(line.split(" ")[1]);
    rest = rest.slice(end + 4);
    if (status >= 100 && status < 200) {
      interim.push(status);
      continue;
    }
    const headers = Object.fromEntries(
      lines.map((header) => [
        header.slice(0, header.indexOf(":")).toLowerCase(),
        header.slice(header.indexOf(":") + 1).trim(),
      ]),
    );
    return { status, headers, body: rest, interim };
  }
}
