import type { Client } from './client.ts';
import type { Rules } from './rule.ts';

/** What the suite runs against. */
export interface Subject {
  readonly rules: Rules;
  readonly merchant: Client;
  readonly merchantApi: string;
  readonly key: string;
  readonly restrictedKey: string | undefined;
  /** Begins the name of everything that the suite creates. */
  readonly mark: string;
}

/** Where money goes in everything that the suite creates. */
export interface Collection {
  readonly accountId: string;
  readonly settlementToken: string;
}

/** What the suite sells, in Micro-USD. */
export const prices = { product: 12_500_000, oneTime: 3_000_000 } as const;
