import type { ExceptionKind } from '@florin/protocol/exception.ts';

const exceptions: Readonly<Record<ExceptionKind, { readonly title: string; readonly what: string }>> = {
  duplicate: { title: 'Paid twice', what: 'A second payment came. It goes back to its payer.' },
  duplicate_settled: {
    title: 'Paid twice, and settled twice',
    what: 'A second payment was settled to you before it could go back. Your wallet returns it to its payer.',
  },
  refunded: { title: 'The payment went back', what: 'The payer has the money back. It will not be settled.' },
  reclaimed: {
    title: 'The payment went back to its payer',
    what: 'It was not settled in time. It will not be settled any more.',
  },
  unsettled: {
    title: 'Not settled yet',
    what: 'The payment waits for longer than it should. If it is not settled in time, it goes back to its payer.',
  },
  underpaid: {
    title: 'Too little came',
    what: 'The deposit is smaller than the amount, and does not pay by itself.',
  },
  overpaid: { title: 'Too much came', what: 'What is over goes back to the payer.' },
  late: {
    title: 'The money came late',
    what: 'The deposit came after the order had expired, and does not pay by itself.',
  },
  wrong_token: { title: 'Another token came', what: 'It pays nothing, and goes back to the payer.' },
};

/** What happened, and what becomes of the money. */
export function exceptionText(kind: ExceptionKind): { readonly title: string; readonly what: string } {
  return exceptions[kind];
}
