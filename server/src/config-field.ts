/** A mistake in the configuration, as one sentence that says what to change. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Reads one object of the configuration file by field, and knows where it stands for the error's sake. */
export class Fields {
  readonly #path: string;
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #read = new Set<string>();

  constructor(value: unknown, path = '') {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new ConfigError(`${path === '' ? 'the configuration' : path} must be an object`);
    }
    this.#values = value as Record<string, unknown>;
    this.#path = path;
  }

  path(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }

  #take(name: string): unknown {
    this.#read.add(name);
    return this.#values[name];
  }

  has(name: string): boolean {
    return this.#values[name] !== undefined;
  }

  text(name: string, fallback?: string): string {
    const value = this.#take(name) ?? fallback;
    if (typeof value !== 'string' || value === '')
      throw new ConfigError(`${this.path(name)} is missing: give a text`);
    return value;
  }

  optionalText(name: string): string | undefined {
    return this.has(name) ? this.text(name) : (this.#take(name) as undefined);
  }

  flag(name: string, fallback: boolean): boolean {
    const value = this.#take(name) ?? fallback;
    if (typeof value !== 'boolean') throw new ConfigError(`${this.path(name)} must be true or false`);
    return value;
  }

  integer(name: string, range: { least: number; most: number; fallback?: number }): number {
    const value = this.#take(name) ?? range.fallback;
    if (typeof value !== 'number' || !Number.isInteger(value) || value < range.least || value > range.most) {
      throw new ConfigError(`${this.path(name)} must be an integer from ${range.least} to ${range.most}`);
    }
    return value;
  }

  choice<const Choice extends string>(name: string, choices: readonly Choice[], fallback?: Choice): Choice {
    const value = this.#take(name) ?? fallback;
    const found = choices.find((choice) => choice === value);
    if (found === undefined) throw new ConfigError(`${this.path(name)} must be one of ${choices.join(', ')}`);
    return found;
  }

  list(name: string): readonly unknown[] {
    const value = this.#take(name);
    if (!Array.isArray(value) || value.length === 0) {
      throw new ConfigError(`${this.path(name)} must be a list with at least one entry`);
    }
    return value;
  }

  object(name: string): Fields {
    return new Fields(this.#take(name) ?? {}, this.path(name));
  }

  objects(name: string): Fields[] {
    return this.list(name).map((value, index) => new Fields(value, `${this.path(name)}[${index}]`));
  }

  /** Refuses fields that nothing has read: a typing error would otherwise be a setting that silently has no effect. */
  done(): void {
    const unknown = Object.keys(this.#values).filter((name) => !this.#read.has(name));
    if (unknown[0] !== undefined)
      throw new ConfigError(`${this.path(unknown[0])} is not a known setting: remove it`);
  }
}
