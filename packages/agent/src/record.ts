import type { Hex } from './json.ts';
import type { SentTransaction } from './transaction.ts';
import type { AgentMessage } from './typed-data.ts';

/**
 * Where what was signed is kept between calls, such as a file, a table or localStorage. It holds signatures, so keep it
 * private. `set` must have stored the value when its promise resolves.
 */
export interface PaymentStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
}

/** What is known of one payment from earlier calls. */
export interface PaymentRecord {
  readonly creation?: { readonly message: AgentMessage; readonly signature: Hex };
  /** The order that this account has agreed to pay; no other will be signed for. */
  readonly orderId?: Hex;
  readonly sent?: SentTransaction;
}

export interface OpenRecord {
  readonly value: PaymentRecord;
  update(change: PaymentRecord): Promise<void>;
}

/** Reads a payment's record, and keeps it; without a store, in memory. */
export async function openRecord(store: PaymentStore | undefined, key: string): Promise<OpenRecord> {
  const text = await store?.get(key);
  let value = text === undefined ? {} : (JSON.parse(text) as PaymentRecord);
  return {
    get value() {
      return value;
    },
    async update(change) {
      value = { ...value, ...change };
      await store?.set(key, JSON.stringify(value));
    },
  };
}
