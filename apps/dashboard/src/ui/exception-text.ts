import type { ExceptionKind, PaymentException } from '@florin/protocol/exception.ts';

const exceptions: Readonly<
  Record<ExceptionKind, { readonly title: string; readonly what: string; readonly next?: string }>
> = {
  duplicate: { title: 'Paid twice', what: 'A second payment came.', next: 'It goes back to its payer.' },
  duplicate_settled: {
    title: 'Paid twice, and settled twice',
    what: 'A second payment was settled to you before it could go back.',
    next: 'Your wallet returns it to its payer.',
  },
  refunded: { title: 'The payment went back', what: 'The payer has the money back. It will not be settled.' },
  reclaimed: {
    title: 'The payment went back to its payer',
    what: 'It was not settled in time. It will not be settled any more.',
  },
  unsettled: {
    title: 'Not settled yet',
    what: 'The payment has waited for longer than it should.',
    next: 'If it is not settled in time, it goes back to its payer.',
  },
  underpaid: {
    title: 'Too little came',
    what: 'The deposit was smaller than the amount.',
    next: 'It does not pay by itself.',
  },
  overpaid: {
    title: 'Too much came',
    what: 'The deposit was larger than the amount.',
    next: 'What is over goes back to the payer.',
  },
  late: {
    title: 'The money came late',
    what: 'The deposit came after the order had expired.',
    next: 'It does not pay by itself.',
  },
  wrong_token: {
    title: 'Another token came',
    what: 'The order asked for another one, so it paid nothing.',
    next: 'It goes back to the payer.',
  },
};

/** What happened, and, while it is open, what becomes of the money. */
export function exceptionText({ kind, status }: Pick<PaymentException, 'kind' | 'status'>): {
  readonly title: string;
  readonly what: string;
} {
  const { title, what, next } = exceptions[kind];
  return { title, what: next === undefined || status === 'resolved' ? what : `${what} ${next}` };
}

/** Whether a deposit raised it: its payer is where the money goes back to, and anyone may have sent it. */
export function isOfDeposit(kind: ExceptionKind): boolean {
  return kind === 'underpaid' || kind === 'overpaid' || kind === 'late' || kind === 'wrong_token';
}
