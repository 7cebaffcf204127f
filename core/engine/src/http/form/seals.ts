/** What a face seals for the deployment that answers, and opens again for the same key. */

import type { Exchange, FaceMeans, OpenedRequest, Sealer, Unsealed } from "@sluice/contract";
import { SERVED } from "@sluice/runtime";
import { parseJson } from "@sluice/kit";

/** The seals of one exchange. */
export class Seals {
  readonly #sealer: Sealer;
  readonly #purpose: string;
  readonly #exchange: Exchange | undefined;

  /** `dialect`: that of the face; another one opens nothing of it. */
  constructor(sealer: Sealer, dialect: string, exchange: Exchange | undefined) {
    this.#sealer = sealer;
    this.#purpose = `face:${dialect}`;
    this.#exchange = exchange;
  }

  /** Seals a text for the deployment that answers now. */
  seal(text: string): string {
    const content = Buffer.from(JSON.stringify([this.#deployment, text]));
    const sealed = this.#sealer.seal(this.#purpose, this.#owner, content);
    return Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length).toString("base64url");
  }

  open(sealed: string): Unsealed | undefined {
    const bytes = this.#sealer.open(this.#purpose, this.#owner, Buffer.from(sealed, "base64url"));
    if (bytes === undefined) return undefined;
    const [deployment, text] = parseJson(Buffer.from(bytes).toString()) as [string, string];
    return { deployment, text };
  }

  /** What a request is read with. */
  means({ replaced, itemsBefore }: Partial<OpenedRequest> = {}): FaceMeans {
    return {
      open: (sealed) => this.open(sealed),
      ...(replaced === undefined ? {} : { replaced }),
      ...(itemsBefore === undefined ? {} : { itemsBefore }),
    };
  }

  get #owner(): string {
    return `key:${this.#exchange?.identity?.keyId ?? ""}`;
  }

  /** The target of the attempt that answers; of a kept reply, of the one that answered. */
  get #deployment(): string {
    if (this.#exchange === undefined) return "";
    const { attempts } = this.#exchange;
    const answering = attempts.findLast(({ error }) => error === undefined);
    return (answering ?? SERVED.get(this.#exchange))?.target.id ?? "";
  }
}
