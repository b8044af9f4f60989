import type { ApiAnswer } from './client.ts';
import { mismatches, type Shape } from './shape.ts';

/** Counts rules and reports each. */
export interface Report {
  readonly passed: number;
  readonly failed: number;
}

/** Checks one rule after another. It continues after a failure. */
export class Rules {
  readonly #tell: (line: string) => void;
  #passed = 0;
  #failed = 0;

  constructor(tell: (line: string) => void) {
    this.#tell = tell;
  }

  get report(): Report {
    return { passed: this.#passed, failed: this.#failed };
  }

  /**
   * Checks a rule. An error that `check` throws is the reason of the failure. Returns the result of `check`, or
   * undefined after a failure.
   */
  async rule<Found>(name: string, check: () => Promise<Found>): Promise<Found | undefined> {
    try {
      const found = await check();
      this.#passed += 1;
      this.#tell(`✓ ${name}`);
      return found;
    } catch (error) {
      this.#failed += 1;
      this.#tell(`✗ ${name}\n    ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  }
}

/** A violation of a rule. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

/** Requires a success and returns its `data`, which must have this shape. */
export function succeeded(answer: ApiAnswer, shape: Shape): Record<string, unknown> {
  if (answer.status !== 200 || answer.code !== 0)
    throw new Violation(`expected a success, got ${said(answer)}`);
  const wrong = mismatches(answer.data, shape);
  if (wrong.length > 0) throw new Violation(wrong.join('; '));
  return answer.data as Record<string, unknown>;
}

/** Requires a business error: HTTP 200 with this code, or with any code but 0. */
export function refused(answer: ApiAnswer, code?: number): void {
  answeredWith(answer, 200, code);
}

/** Requires a failure with this HTTP status, and with this code or any code but 0. */
export function answeredWith(answer: ApiAnswer, status: number, code?: number): void {
  const isRight =
    answer.status === status && answer.code !== 0 && (code === undefined || answer.code === code);
  if (!isRight)
    throw new Violation(`expected HTTP ${status} with code ${code ?? 'other than 0'}, got ${said(answer)}`);
}

/** Throws a violation unless the condition holds. */
export function demand(holds: boolean, otherwise: string): void {
  if (!holds) throw new Violation(otherwise);
}

/** The result of an earlier rule. This rule depends on it. */
export function found<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw new Violation(`could not be checked without ${name}`);
  return value;
}

function said({ status, code, message }: ApiAnswer): string {
  return `HTTP ${status} with code ${code}: ${message}`;
}
