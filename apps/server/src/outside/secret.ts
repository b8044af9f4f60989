import { inspect } from 'node:util';

/** A secret text that must not leave the process by accident: writing it to JSON, a text or a console throws. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The text itself; call it where it is used, and keep the result in no object that lives on. */
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
  throw new Error('a secret was about to be written out: reveal it only where it is used');
}
