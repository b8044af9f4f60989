import type { Hex } from './json.ts';
import type { SentTransaction } from './transaction.ts';
import type { AgentMessage } from './typed-data.ts';

/**
 * Stores signed data between calls, such as in a file, a table or localStorage. It holds signatures, so keep it
 * private. The promise of `set` must resolve only after the value is stored.
 */
export interface PaymentStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
}

/** The data of one payment from earlier calls. */
export interface PaymentRecord {
  readonly creation?: { readonly message: AgentMessage; readonly signature: Hex };
  /** The order that this account agreed to pay; it signs for no other one. */
  readonly orderId?: Hex;
  readonly sent?: SentTransaction;
}

export interface OpenRecord {
  readonly value: PaymentRecord;
  update(change: PaymentRecord): Promise<void>;
}

/** Reads and writes a payment's record; in memory without a store. */
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
