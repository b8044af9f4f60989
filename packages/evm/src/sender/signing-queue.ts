import type { Hex } from 'viem';
import type { SendPlan } from './sent.ts';
import type { WalletSigner } from './wallet.ts';

/** A call and its nonce. */
export interface NumberedPlan {
  readonly plan: SendPlan;
  readonly nonce: bigint;
}

/** Plans of one record, at the nonces from the given one on. */
export function numberPlans(plans: readonly SendPlan[], nonce: bigint): readonly NumberedPlan[] {
  return plans.map((plan, index) => ({ plan, nonce: nonce + BigInt(index) }));
}

/** Signs each at its nonce, all at the same time. The results are in the given order. */
export function signAll(wallet: WalletSigner, placed: readonly NumberedPlan[]): Promise<readonly Hex[]> {
  return Promise.all(placed.map(({ plan, nonce }) => wallet.signTransaction({ ...plan, nonce })));
}

/** A record in progress. */
export interface SigningTicket {
  /** The signed transactions from the record's first nonce, in the order of its plans. */
  sign(nonce: bigint): Promise<readonly Hex[]>;
  /** The record is stored or has failed. */
  leave(): void;
}

/** Records in progress of one wallet on one chain in this process. */
export interface SigningQueue {
  /** Joins the queue before the record asks for its nonce. */
  join(plans: readonly SendPlan[]): SigningTicket;
}

interface Waiting {
  readonly plans: readonly SendPlan[];
  ahead: Ahead | undefined;
}

/** Transactions signed ahead at the expected nonce. */
interface Ahead {
  readonly nonce: bigint;
  readonly raws: Promise<readonly Hex[]>;
  hasFailed: boolean;
}

/** The most transactions signed before their nonces are known: a remote signer has about as many connections. */
const maxSignedAhead = 16;

/**
 * Overlaps the signatures of records that wait for each other. A record takes its nonces under a row lock and keeps
 * it until it is stored with its signatures. With a signer that takes 300 ms, a wallet would send three transactions
 * a second. So while one record is signed, the queue signs the next ones ahead at their expected nonces. The lock
 * alone decides. A record can get another nonce, because an earlier one failed or another process was first. It is
 * then signed again. The first signature was never stored, so it was never broadcast.
 */
export function signingQueue(wallet: WalletSigner): SigningQueue {
  /** Records without a nonce, in the order in which they asked. */
  const waiting: Waiting[] = [];
  let holders = 0;
  /** The nonce after the last assigned one; undefined while no record of this process has or awaits one. */
  let next: bigint | undefined;

  const signAhead = () => {
    let nonce = next;
    let signed = 0;
    for (const record of waiting) {
      signed += record.plans.length;
      if (nonce === undefined || signed > maxSignedAhead) return;
      if (record.ahead?.nonce !== nonce) {
        const ahead = { nonce, raws: signAll(wallet, numberPlans(record.plans, nonce)), hasFailed: false };
        // The signer may have recovered when it is the record's turn: it is then asked again, and that error is
        // reported.
        ahead.raws.catch(() => {
          ahead.hasFailed = true;
        });
        record.ahead = ahead;
      }
      nonce += BigInt(record.plans.length);
    }
  };
  const remove = (record: Waiting) => {
    const index = waiting.indexOf(record);
    if (index >= 0) waiting.splice(index, 1);
    return index >= 0;
  };

  return {
    join(plans) {
      const record: Waiting = { plans, ahead: undefined };
      waiting.push(record);
      signAhead();
      return {
        sign(nonce) {
          if (remove(record)) holders += 1;
          next = nonce + BigInt(plans.length);
          const { ahead } = record;
          const isSigned = ahead?.nonce === nonce && !ahead.hasFailed;
          const raws = isSigned ? ahead.raws : signAll(wallet, numberPlans(plans, nonce));
          signAhead();
          return raws;
        },
        leave() {
          if (!remove(record)) holders -= 1;
          if (waiting.length === 0 && holders === 0) next = undefined;
        },
      };
    },
  };
}
