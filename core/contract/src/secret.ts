/** Secrets: values that are revealed only at the moment of use. */

/**
 * A secret value that shows only its name. Every way of printing it gives `[secret:NAME]`; the
 * value leaves through {@link Secret.reveal} alone, which the transport calls when it writes a
 * header.
 */
export class Secret {
  readonly name: string;
  readonly #value: string;

  constructor(name: string, value: string) {
    this.name = name;
    this.#value = value;
  }

  /** The value itself. Call it at the moment of use and keep no copy. */
  reveal(): string {
    return this.#value;
  }

  /**
   * A secret derived from this one, under the same name: `secret.map((key) => "Bearer " + key)`.
   */
  map(derive: (value: string) => string): Secret {
    return new Secret(this.name, derive(this.#value));
  }

  toString(): string {
    return `[secret:${this.name}]`;
  }

  toJSON(): string {
    return this.toString();
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}
