import { formatToken, shortAddress } from '../ui/format.ts';

/** Why the signing went no further. Nothing after the step was sent. */
export type WalletStop =
  | 'signed_by_other'
  | 'ended'
  | 'under_way'
  | 'behind'
  | 'account_busy'
  | 'refused_by_chain'
  | 'no_service'
  | 'not_proven'
  | 'declined'
  | 'busy'
  | 'wrong_account'
  | 'wrong_network'
  | 'short_balance'
  | 'no_gas'
  | 'reverted'
  | 'replaced'
  | 'not_seen'
  | 'other';

/** Which account holds too little, and how many of the token's smallest units. */
export interface Shortage {
  readonly account: string;
  readonly balance: bigint;
  readonly needed: bigint;
}

export class WalletStopped extends Error {
  readonly stop: WalletStop;
  /** Of `short_balance`. */
  readonly shortage: Shortage | undefined;

  constructor(stop: WalletStop, shortage?: Shortage) {
    super(stop);
    this.name = 'WalletStopped';
    this.stop = stop;
    this.shortage = shortage;
  }
}

/** EIP-1193 and EIP-3085. */
const stopsByCode: Readonly<Record<number, WalletStop>> = {
  3: 'refused_by_chain',
  4001: 'declined',
  4100: 'wrong_account',
  4901: 'wrong_network',
  4902: 'wrong_network',
  [-32002]: 'busy',
};

/** Names of errors that have no code of the wallet: viem's, and that of the service's client. */
const stopsByName: Readonly<Record<string, WalletStop>> = {
  InsufficientFundsError: 'no_gas',
  ChainMismatchError: 'wrong_network',
  ExecutionRevertedError: 'refused_by_chain',
  ApiFailure: 'no_service',
  WaitForTransactionReceiptTimeoutError: 'not_seen',
};

/** Refusals of the service, and of the person whom it asks for a proof. */
const stopsBySlug: Readonly<Record<string, WalletStop>> = {
  refund_being_signed: 'signed_by_other',
  refund_not_possible: 'ended',
  proof_declined: 'not_proven',
};

/** Wallets and viem wrap errors, so the one that decides may stand deep inside. */
const maxDepth = 8;

/** What a failed request to the wallet means. */
export function stopOf(error: unknown): WalletStop {
  let each: unknown = error;
  for (let depth = 0; depth < maxDepth && typeof each === 'object' && each !== null; depth += 1) {
    if (each instanceof WalletStopped) return each.stop;
    const { code, name, slug, cause } = each as Readonly<Record<string, unknown>>;
    const stop = stopsBySlug[String(slug)] ?? stopsByCode[Number(code)] ?? stopsByName[String(name)];
    if (stop !== undefined) return stop;
    each = cause;
  }
  return 'other';
}

const words: Readonly<Record<WalletStop, { readonly title: string; readonly what: string }>> = {
  signed_by_other: {
    title: 'Another member signs a refund of this payment',
    what: 'Another tab or device has asked a wallet for it. This page shows who. Nothing was sent from here.',
  },
  ended: {
    title: 'This refund has ended',
    what: 'There is nothing left to sign. Reload the page to see where the money is.',
  },
  under_way: {
    title: 'A refund of this payment is on its way',
    what: 'The chain shows it, but it is not final yet. Wait until it is completed. If this refund is still open then, start again.',
  },
  behind: {
    title: 'The wallet sees an old state of the chain',
    what: 'It does not show an earlier refund of this payment yet. Wait a minute, then start again.',
  },
  account_busy: {
    title: 'The account has a transaction that waits',
    what: 'It may be this refund. Wait until the chain has it, or cancel it in the wallet. Then start again.',
  },
  refused_by_chain: {
    title: 'The chain refuses this transaction',
    what: 'Nothing was sent. Check that the payment is not refunded already, and that the account holds the amount.',
  },
  no_service: {
    title: 'The service did not answer',
    what: 'Nothing was sent in this step. Finished steps stay done. Start again when the connection is back.',
  },
  not_proven: {
    title: 'You did not confirm that it is you',
    what: 'The wallet was not asked to move money. Start again when you are ready; finished steps stay done.',
  },
  declined: {
    title: 'The wallet did not sign',
    what: 'The signature was refused. Start again when you are ready; finished steps stay done.',
  },
  busy: {
    title: 'The wallet has an open question',
    what: 'Open the wallet, answer what it asks, then start again.',
  },
  wrong_account: {
    title: 'The wallet is on another account',
    what: 'One account must sign all steps. Choose it in the wallet and connect it to this site, then start again.',
  },
  wrong_network: {
    title: 'The wallet is on another network',
    what: 'Choose the network of the refund in the wallet, then start again.',
  },
  short_balance: {
    title: 'This account holds too little',
    what: 'Nothing was sent. Move the missing amount to this account, or choose another one in the wallet.',
  },
  no_gas: {
    title: 'The account cannot pay the network fee',
    what: 'It needs some of the network’s own coin. Nothing was sent in this step.',
  },
  reverted: {
    title: 'The transaction failed on chain',
    what: 'It moved no money. Check that the payment is not refunded already, then start again.',
  },
  replaced: {
    title: 'Another transaction took its place',
    what: 'The wallet cancelled or replaced the transaction. Look at its history before you start again.',
  },
  not_seen: {
    title: 'The chain does not show the transaction yet',
    what: 'It can still arrive. Look in the wallet whether it waits, and speed it up there.',
  },
  other: {
    title: 'The wallet failed',
    what: 'It gave no reason that this page knows. Look in the wallet, then start again.',
  },
};

const endsOfSent: readonly WalletStop[] = ['reverted', 'replaced'];
/** Answers to a signature that leave open whether the wallet sends it, now or when its owner answers. */
const openAnswers: readonly WalletStop[] = ['other', 'busy'];

/**
 * Whether the wallet moved no money for certain after it was asked for the last step, so that another may be asked.
 * `sentHash` is empty until the wallet has told the transaction.
 */
export function movedNothing(stop: WalletStop, sentHash: string): boolean {
  return sentHash === '' ? !openAnswers.includes(stop) : endsOfSent.includes(stop);
}

export function stopText(stop: WalletStop): { readonly title: string; readonly what: string } {
  return words[stop];
}

/** What the account holds and what it lacks, as a sentence before the general one. */
export function shortageText(
  { account, balance, needed }: Shortage,
  token: { readonly decimals: number; readonly symbol: string },
): string {
  const amount = (units: bigint) => formatToken(units, token);
  return `${shortAddress(account)} holds ${amount(balance)} of the ${amount(needed)}: ${amount(needed - balance)} are missing.`;
}
