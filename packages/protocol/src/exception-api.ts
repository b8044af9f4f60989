import Type from 'typebox';
import { exceptionResolveBody, paymentException } from './exception.ts';
import { route } from './route.ts';
import { numberPage, pageParams, successReply } from './schema.ts';

/** Payments that went another way than they should. */
export const exceptionRoutes = {
  listExceptions: route({
    method: 'GET',
    path: '/exception/list/:page/:size',
    summary: 'List exceptions, newest first',
    description:
      'Second payments, deposits of too little, too much, too late or in another token, and payments that went back. Each ' +
      'is raised as the event session.exception, too.',
    tag: 'Exceptions',
    params: pageParams,
    reply: numberPage({ exceptions: Type.Array(paymentException) }),
    permissions: ['sessions:read'],
    effect: 'query',
    errors: ['field_invalid'],
  }),
  resolveException: route({
    method: 'POST',
    path: '/exception/resolve',
    summary: 'Say that an exception is dealt with',
    description:
      'Moves no money. Most exceptions are resolved by themselves, once the chain shows that the money is back with its ' +
      'payer.',
    tag: 'Exceptions',
    body: exceptionResolveBody,
    reply: successReply,
    permissions: ['refunds:write'],
    effect: 'update',
    errors: ['exception_not_found'],
  }),
  acceptException: route({
    method: 'POST',
    path: '/exception/accept',
    summary: 'Take a late or short deposit as the payment',
    description:
      'For exceptions of kind `late` and `underpaid`, until their `decideBy`. A short deposit is accepted only where the ' +
      'operator adds what it lacks. The session becomes `paid` (`late: true` after its end) once the chain shows the payment, ' +
      'not before. The first decision stands; the same one again changes nothing.',
    tag: 'Exceptions',
    body: exceptionResolveBody,
    reply: successReply,
    permissions: ['refunds:write'],
    effect: 'update',
    errors: ['exception_not_found', 'exception_decided', 'exception_not_acceptable'],
  }),
  refundException: route({
    method: 'POST',
    path: '/exception/refund',
    summary: 'Give a late or short deposit back',
    description:
      'For exceptions of kind `late` and `underpaid` that wait for a decision. The contract lets a deposit go back once it can ' +
      'no longer be collected, so it goes back after the time in which late deposits may be accepted. The first decision ' +
      'stands; the same one again changes nothing.',
    tag: 'Exceptions',
    body: exceptionResolveBody,
    reply: successReply,
    permissions: ['refunds:write'],
    effect: 'update',
    errors: ['exception_not_found', 'exception_decided', 'exception_not_acceptable'],
  }),
} as const;
