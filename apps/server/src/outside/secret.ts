import { inspect } from 'node:util';

/** A secret text that must not leave the process by accident: converting it to JSON, text or console output throws. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The text itself. Call it at the point of use, and do not store the result in a long-lived object. */
  reveal(): string {
    return this.#value;
  }

  toJSON(): never {
    return refuse();
  }

  toString(): never {
    return refuse();
  }

  [Symbol.toPrimitive](): never {
    return refuse();
  }

  [inspect.custom](): never {
    return refuse();
  }
}

function refuse(): never {
  throw new Error('a secret cannot be serialized: reveal it only where it is used');
}
