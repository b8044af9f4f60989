import type { Client } from './client.ts';
import type { Rules } from './rule.ts';

/** The system under test. */
export interface Subject {
  readonly rules: Rules;
  readonly merchant: Client;
  readonly merchantApi: string;
  readonly key: string;
  readonly restrictedKey: string | undefined;
  /** The start of every name that the suite creates. */
  readonly mark: string;
}

/** The receiving account and token of everything that the suite creates. */
export interface Collection {
  readonly accountId: string;
  readonly settlementToken: string;
}

/** The suite's prices in Micro-USD. */
export const prices = { product: 12_500_000, oneTime: 3_000_000 } as const;
