import type { Texts } from './en.ts';

/** Texts that only the server needs: it renders the states of a session, receipts, and pages without a script. */
const serverTexts = [
  'items',
  'details',
  'settledIn',
  'noScript',
  'timeOverHint',
  'waiting',
  'detected',
  'detectedHint',
  'paid',
  'paidHint',
  'settling',
  'delayedHint',
  'completed',
  'completedHint',
  'expired',
  'expiredHint',
  'expiredLink',
  'cancelled',
  'refundedInFull',
  'refunded',
  'safeToClose',
  'keepAddress',
  'showState',
  'disabledHint',
  'limitReachedHint',
  'endedHint',
  'notFound',
  'notFoundHint',
  'continueTo',
  'returnsAlone',
  'stay',
  'youPaid',
  'receiptNumber',
  'merchant',
  'paidOn',
  'received',
  'paidWith',
  'paidBy',
  'paymentTx',
  'settlementTx',
  'reference',
  'downloadHint',
  'language',
  'support',
  'terms',
  'refunds',
  'privacy',
  'quantity',
  'moreItems',
  'addressEnds',
  'goesBack',
  'wentBack',
  'heldBack',
  'byHand',
  'heldByHand',
  'goesLater',
  'secondPaid',
  'takenTwice',
  'closed',
  'claimLink',
  'whyUnderpaid',
  'whyOverpaid',
  'whyLate',
  'whyWrongToken',
  'whyDuplicate',
  'wallet',
  'network',
  'receipt',
  'print',
  'download',
  'copy',
  'explorer',
  'disabled',
  'demoPayer',
] as const satisfies readonly (keyof Texts)[];

/** Texts of pages whose payer chooses the amount. */
const amountTexts: ReadonlySet<string> = new Set<keyof Texts>([
  'yourChoice',
  'amountLabel',
  'amountHint',
  'amountWrong',
  'amountUnclear',
  'amountOutside',
]);

/** The texts that the page's script needs. */
export type ScriptTexts = Omit<Texts, (typeof serverTexts)[number]>;

const isForServer: ReadonlySet<string> = new Set(serverTexts);

/** The script's part of a language's texts. Where there is no amount to choose, those about it stay behind. */
export function scriptTexts(texts: Texts, { hasAmount }: { readonly hasAmount: boolean }): ScriptTexts {
  const isNeeded = (name: string) => !isForServer.has(name) && (hasAmount || !amountTexts.has(name));
  return Object.fromEntries(Object.entries(texts).filter(([name]) => isNeeded(name))) as ScriptTexts;
}
