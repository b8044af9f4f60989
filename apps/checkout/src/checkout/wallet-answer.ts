/** The kinds of wallet request. */
export type WalletRequest = 'connect' | 'switch' | 'add' | 'sign' | 'calls' | 'send';

/**
 * The next step after a wallet refuses a request. declined: its owner said no. busy: another request is open.
 * add_network: it needs the network's facts first. change_by_hand: its owner changes the network in the wallet.
 * connect_again: it is no longer connected. pay_plainly: by single transactions, which every wallet can do.
 * use_address: the money must come from elsewhere. check_wallet: something may have been sent. tell: show the wallet's own
 * words.
 */
export type NextStep =
  | 'declined'
  | 'busy'
  | 'add_network'
  | 'change_by_hand'
  | 'connect_again'
  | 'pay_plainly'
  | 'use_address'
  | 'check_wallet'
  | 'tell';

/** This page's own code for a wallet that was to send, and answered without a hash. */
export const noHash = 0;

type Steps = Readonly<Record<number, NextStep>>;

/** From EIP-1193 and EIP-1474, for every request. */
const always: Steps = {
  4001: 'declined',
  4100: 'connect_again',
  4900: 'connect_again',
  [-32002]: 'busy',
};

/** The codes for a method that a wallet lacks. */
const unknownMethod = [4200, -32601, -32004];
const stepAt = (step: NextStep, ...codes: readonly number[]): Steps =>
  Object.fromEntries(codes.map((code) => [code, step]));

const steps: Readonly<Record<WalletRequest, readonly [otherwise: NextStep, byCode?: Steps]>> = {
  connect: ['tell'],
  // EIP-3326.
  switch: ['change_by_hand', { 4902: 'add_network' }],
  // EIP-3085.
  add: ['change_by_hand'],
  // Hardware keys and accounts with code often cannot sign typed data, and have no common code for that: their owner decides.
  sign: ['tell', stepAt('pay_plainly', ...unknownMethod)],
  // EIP-5792: these mean that nothing was sent. 5750: the owner declined the wallet's upgrade for it.
  calls: ['tell', stepAt('pay_plainly', ...unknownMethod, -32602, 5700, 5710, 5740, 5750, 5760)],
  send: [
    'tell',
    { ...stepAt('use_address', ...unknownMethod), 4901: 'change_by_hand', [noHash]: 'check_wallet' },
  ],
};

/** The next step after a wallet's refusal. Wallets wrap errors, so the deciding code may be nested. */
export function nextStepOf(request: WalletRequest, error: unknown): NextStep {
  const [otherwise, byCode] = steps[request];
  for (const code of codesOf(error)) {
    const step = always[code] ?? byCode?.[code];
    if (step !== undefined) return step;
  }
  return otherwise;
}

const maxDepth = 4;

function codesOf(error: unknown, depth = 0): number[] {
  if (typeof error !== 'object' || error === null || depth > maxDepth) return [];
  const { code, data, originalError, cause } = error as Record<string, unknown>;
  const inner = [data, originalError, cause].flatMap((each) => codesOf(each, depth + 1));
  return [...(typeof code === 'number' ? [code] : []), ...inner];
}
