/** What a wallet is asked for. */
export type WalletRequest = 'connect' | 'switch' | 'add' | 'sign' | 'calls' | 'send';

/**
 * How it goes on after a wallet has refused a request. declined: its owner has said no. busy: another request is open.
 * add_network: it has to be told of the network first. change_by_hand: its owner changes the network in the wallet itself.
 * connect_again: it is not connected any more. pay_plainly: by transactions, one after the other, which every wallet can do.
 * use_address: the money has to come from elsewhere. tell: in the wallet's own words.
 */
export type NextStep =
  | 'declined'
  | 'busy'
  | 'add_network'
  | 'change_by_hand'
  | 'connect_again'
  | 'pay_plainly'
  | 'use_address'
  | 'tell';

type Steps = Readonly<Record<number, NextStep>>;

/** Of EIP-1193 and EIP-1474, whatever was asked for. */
const always: Steps = {
  4001: 'declined',
  4100: 'connect_again',
  4900: 'connect_again',
  [-32002]: 'busy',
};

/** The codes of a method that a wallet does not have. */
const unknownMethod = (step: NextStep): Steps => ({ 4200: step, [-32601]: step, [-32004]: step });

const steps: Readonly<Record<WalletRequest, { readonly byCode: Steps; readonly otherwise: NextStep }>> = {
  connect: { byCode: {}, otherwise: 'tell' },
  // EIP-3326.
  switch: { byCode: { 4902: 'add_network' }, otherwise: 'change_by_hand' },
  // EIP-3085.
  add: { byCode: {}, otherwise: 'change_by_hand' },
  // Keys in hardware and accounts with code often take no typed data, and have no code in common to say so.
  sign: { byCode: {}, otherwise: 'pay_plainly' },
  // EIP-5792: these say that nothing was sent. 5750: the owner does not want the wallet to be upgraded for it.
  calls: {
    byCode: {
      ...unknownMethod('pay_plainly'),
      [-32602]: 'pay_plainly',
      5700: 'pay_plainly',
      5710: 'pay_plainly',
      5740: 'pay_plainly',
      5750: 'pay_plainly',
      5760: 'pay_plainly',
    },
    otherwise: 'tell',
  },
  send: { byCode: { ...unknownMethod('use_address'), 4901: 'change_by_hand' }, otherwise: 'tell' },
};

/** What follows from a wallet's refusal of a request; wallets wrap errors, and the code that counts may lie deeper. */
export function nextStepOf(request: WalletRequest, error: unknown): NextStep {
  const { byCode, otherwise } = steps[request];
  for (const code of codesOf(error)) {
    const step = always[code] ?? byCode[code];
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
