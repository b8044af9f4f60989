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
} as const;
