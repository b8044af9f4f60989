import type { PaymentException } from '@florin/sdk';
import { changeCommand, listCommand, type MerchantCommands } from './resource.ts';

/** `florin exceptions …`: money that came otherwise than asked. */
export const exceptionCommands: MerchantCommands = {
  'exceptions list': listCommand<PaymentException>({
    does: 'lists money that came too little, too much, too late, twice or in another token, newest first',
    examples: ['exceptions list'],
    columns: {
      EXCEPTION: ({ exceptionId }) => exceptionId,
      'CREATED (UTC)': ({ createAt }) => createAt,
      KIND: ({ kind }) => kind,
      STATUS: ({ status, decision }) => [status, decision].join(' ').trim(),
      UNITS: ({ amountInToken, tokenId }) => `${amountInToken} ${tokenId}`,
      'DECIDE BY': ({ decideBy }) => decideBy,
      SESSION: ({ sessionId }) => sessionId,
    },
    list: (florin, _options, _outside, size) => florin.exceptions.list({ size }),
  }),
  'exceptions accept': changeCommand({
    does: 'accepts a late or short deposit as the payment',
    noun: 'an exception',
    example: 'exceptions accept exc_…',
    did: 'accepted; the session is paid once the chain shows it',
    change: (florin, id) => florin.exceptions.accept(id),
  }),
  'exceptions refund': changeCommand({
    does: 'sends a late or short deposit back',
    noun: 'an exception',
    example: 'exceptions refund exc_…',
    did: 'to go back',
    change: (florin, id) => florin.exceptions.refund(id),
  }),
  'exceptions resolve': changeCommand({
    does: 'marks an exception as resolved that waits for no decision, which moves no money',
    noun: 'an exception',
    example: 'exceptions resolve exc_…',
    did: 'resolved',
    change: (florin, id) => florin.exceptions.resolve(id),
  }),
};
