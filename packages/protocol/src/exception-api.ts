import Type from 'typebox';
import { exceptionResolveBody, paymentException } from './exception.ts';
import { route } from './route.ts';
import { cursorPage, listCursor, pageParams } from './schema.ts';

const write = {
  method: 'POST',
  tag: 'Exceptions',
  permissions: ['refunds:write'],
  effect: 'update',
} as const;

/** Payments that need attention: late, short, duplicate or unexpected ones. */
export const exceptionRoutes = {
  listExceptions: route({
    method: 'GET',
    path: '/exception/list/:page/:size',
    summary: 'List exceptions, newest first',
    description:
      'Second payments; deposits too small, too large, too late or in another token; payments that went back. Each is also the ' +
      'event session.exception.',
    tag: 'Exceptions',
    params: pageParams,
    query: listCursor,
    reply: cursorPage({ exceptions: Type.Array(paymentException) }),
    permissions: ['sessions:read'],
    effect: 'query',
    errors: ['field_invalid'],
  }),
  resolveException: route({
    ...write,
    path: '/exception/resolve',
    summary: 'Mark an exception as resolved',
    description:
      'Moves no money. Most exceptions become resolved by themselves, once the chain shows the money back with its payer. ' +
      'Refused until `decideBy` while it waits for your decision.',
    body: exceptionResolveBody,
    errors: ['exception_not_found', 'exception_undecided'],
  }),
  acceptException: route({
    ...write,
    path: '/exception/accept',
    summary: 'Accept a late or short deposit as the payment',
    description:
      'For exceptions of kind `late` and `underpaid`, until their `decideBy`. A short deposit is accepted only if the ' +
      'operator adds the missing amount. The session becomes `paid` (`late: true` after its end) once the chain shows the payment. ' +
      'The first decision stands; repeating it changes nothing.',
    body: exceptionResolveBody,
    errors: ['exception_not_found', 'exception_decided', 'exception_not_acceptable'],
  }),
  refundException: route({
    ...write,
    path: '/exception/refund',
    summary: 'Return a late or short deposit',
    description:
      'For exceptions of kind `late` and `underpaid` that wait for a decision. The contract releases a deposit once it cannot ' +
      'be collected, so it goes back after the time for late deposits. The first decision stands; repeating it changes nothing.',
    body: exceptionResolveBody,
    errors: ['exception_not_found', 'exception_decided', 'exception_not_acceptable'],
  }),
} as const;
