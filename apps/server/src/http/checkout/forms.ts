import { checkoutApi } from '@florin/protocol/checkout-api.ts';
import { fieldRefusal } from '@florin/protocol/error.ts';
import type { BodyOf } from '@florin/protocol/route.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { compileCheck } from '../schema-check.ts';

/** The forms of readers without scripts. They use the same operations as the script. */

export const formType = 'application/x-www-form-urlencoded';
/** Far more than any form contains. */
const maxFormBytes = 4_096;

type Routes = (typeof checkoutApi)['routes'];

/** Makes a door accept forms. */
export function acceptForms(server: FastifyInstance): void {
  const options = { parseAs: 'string', bodyLimit: maxFormBytes } as const;
  server.addContentTypeParser(formType, options, (_request, text, done) => {
    done(null, new URLSearchParams(String(text)));
  });
}

/**
 * Whether a form was sent from our own page. Another site may link to our pages but must not act on them: only the
 * payer chooses the refund address. Browsers report where a request comes from (Fetch Metadata). Without that header,
 * the Origin must be ours, which no page of another site can send.
 */
export function isSameOriginForm(request: FastifyRequest, origin: string): boolean {
  const site = request.headers['sec-fetch-site'];
  return site === undefined ? request.headers.origin === origin : site === 'same-origin';
}

const checkBegin = compileCheck(checkoutApi.routes.beginSession.body, 'body');
const checkPrepare = compileCheck(checkoutApi.routes.prepareOrder.body, 'body');

function fieldsOf(request: FastifyRequest): URLSearchParams {
  if (request.body instanceof URLSearchParams) return request.body;
  throw fieldRefusal('body', 'is required');
}

/** The amount as typed in the form of a link's page; empty where none is. */
export function amountTextOf({ body }: FastifyRequest): string {
  return body instanceof URLSearchParams ? (body.get('amount') ?? '') : '';
}

/**
 * The body that begins a session, from the form of a link's page; `amount` is for custom links. Refuses with 400101.
 */
export function beginBodyOf(
  request: FastifyRequest,
  { linkId, amount }: { readonly linkId: string; readonly amount: bigint | undefined },
): BodyOf<Routes['beginSession']> {
  const body = {
    linkId,
    linkVersion: fieldsOf(request).get('linkVersion') ?? '',
    ...(amount === undefined ? {} : { amount: amount.toString() }),
  };
  const refusal = checkBegin(body);
  if (refusal !== undefined) throw refusal;
  return body;
}

/** The body that prepares a plain transfer, from the form of a session's page. Refuses with 400101. */
export function depositBodyOf(request: FastifyRequest, sessionId: string): BodyOf<Routes['prepareOrder']> {
  const fields = fieldsOf(request);
  const text = (name: string) => (fields.get(name) ?? '').trim();
  const body = {
    sessionId,
    payer: text('payer'),
    tokenId: text('tokenId'),
    payerEmail: text('payerEmail'),
  };
  const refusal = checkPrepare(body);
  if (refusal !== undefined) throw refusal;
  return body;
}
