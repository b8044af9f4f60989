/** The kinds of wallet request. */
export type WalletRequest = 'connect' | 'switch' | 'add' | 'sign' | 'calls' | 'send';

/**
 * A refusal that the page tells, by the name of its text. rejected: the wallet's owner said no. walletBusy: another request is
 * open. wrongNetwork: its owner changes the network in the wallet. disconnected: its owner connects it again.
 * walletCannotSend: the money must come from elsewhere. unseen: something may have been sent. failed: an error of its own.
 */
export type ToldStep =
  | 'rejected'
  | 'walletBusy'
  | 'wrongNetwork'
  | 'disconnected'
  | 'walletCannotSend'
  | 'unseen'
  | 'failed';

/**
 * The next step after a wallet refuses a request. add_network: it needs the network's facts first. pay_plainly: by single
 * transactions, which every wallet can do.
 */
export type NextStep = ToldStep | 'add_network' | 'pay_plainly';

/** This page's own code for a wallet that was to send, and answered without a hash. */
export const noHash = 0;

type Steps = Readonly<Record<number, NextStep>>;

/** From EIP-1193 and EIP-1474, for every request. */
const always: Steps = {
  4001: 'rejected',
  4100: 'disconnected',
  4900: 'disconnected',
  [-32002]: 'walletBusy',
};

/** The codes for a method that a wallet lacks. */
const unknownMethod = [4200, -32601, -32004];
const stepAt = (step: NextStep, ...codes: readonly number[]): Steps =>
  Object.fromEntries(codes.map((code) => [code, step]));

const steps: Readonly<Record<WalletRequest, readonly [otherwise: NextStep, byCode?: Steps]>> = {
  connect: ['failed'],
  // EIP-3326.
  switch: ['wrongNetwork', { 4902: 'add_network' }],
  // EIP-3085.
  add: ['wrongNetwork'],
  // Hardware keys and accounts with code often cannot sign typed data, and have no common code for that: their owner decides.
  sign: ['failed', stepAt('pay_plainly', ...unknownMethod)],
  // EIP-5792: these mean that nothing was sent. 5750: the owner declined the wallet's upgrade for it.
  calls: ['failed', stepAt('pay_plainly', ...unknownMethod, -32602, 5700, 5710, 5740, 5750, 5760)],
  send: [
    'failed',
    { ...stepAt('walletCannotSend', ...unknownMethod), 4901: 'wrongNetwork', [noHash]: 'unseen' },
  ],
};

/** The next step after a wallet's refusal. Wallets wrap errors, so the deciding code may be nested. */
export function nextStepOf(request: 'connect' | 'add' | 'send', error: unknown): ToldStep;
export function nextStepOf(request: 'switch' | 'add', error: unknown): ToldStep | 'add_network';
export function nextStepOf(request: 'sign' | 'calls' | 'send', error: unknown): ToldStep | 'pay_plainly';
export function nextStepOf(request: WalletRequest, error: unknown): NextStep;
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
