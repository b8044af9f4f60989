import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { type HostedPreview, hostedPreview } from '@florin/protocol/hosted-preview.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { FastifyRequest } from 'fastify';
import { findShownMerchant, type ShownMerchant } from '#catalog/branding.ts';
import { type ItemProduct, productsForItems } from '#catalog/product.ts';
import { type Limits, merchantGuards } from '../rate-limit.ts';
import { compileCheck } from '../schema-check.ts';
import type { Door } from '../server.ts';
import type { VisitorContext } from './context.ts';
import { findMemberCaller } from './visitor.ts';

interface PreviewDoorContext extends VisitorContext {
  readonly limits?: Limits | undefined;
  /** Renders a hosted page with the contents of a draft. It takes no payment. */
  readonly render: (
    draft: HostedPreview,
    stored: { readonly front: ShownMerchant; readonly products: ReadonlyMap<string, ItemProduct> },
    acceptLanguage: string | undefined,
  ) => { readonly text: string; readonly policy: string };
}

/** Who may read the branding may see it. */
const route = merchantApi.routes.getBranding;
const checkDraft = compileCheck(hostedPreview, 'draft');

/** `GET /dashboard/preview`: a hosted page with a draft's contents, for a frame of the dashboard and its members alone. */
export function previewDoor(deps: PreviewDoorContext): Door {
  return (server) => {
    const guards = merchantGuards(server, 'preview', deps.limits);
    server.get('/dashboard/preview', { config: { query: 'any' } }, async (request, reply) => {
      assertFramed(request);
      const draft = draftOf(request);
      const { callerId, merchantId } = await findMemberCaller(deps, request, route, draft.merchantId);
      guards.ofKey(route, callerId, reply);
      const db = deps.people.inScope(merchantId);
      const productIds = draft.items.map(({ productId }) => productId).filter((id) => id !== '');
      const stored = {
        front: await findShownMerchant(db, merchantId),
        products: await productsForItems(db, merchantId, productIds),
      };
      const { text, policy } = deps.render(draft, stored, request.headers['accept-language']);
      reply.type('text/html; charset=utf-8').header('content-security-policy', policy);
      return text;
    });
  };
}

/**
 * Refuses (200206) what is no frame of this origin. The page shows texts from its address, so a link from elsewhere must not
 * open it.
 */
function assertFramed({ headers }: FastifyRequest): void {
  if (headers['sec-fetch-dest'] === 'iframe' && headers['sec-fetch-site'] === 'same-origin') return;
  throw new Refusal('origin_forbidden', 'the preview opens in the dashboard alone');
}

function draftOf({ query }: FastifyRequest): HostedPreview {
  const { draft } = query as { draft?: unknown };
  const value = parsed(draft);
  const refusal = checkDraft(value);
  if (refusal !== undefined) throw refusal;
  return value as HostedPreview;
}

function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch (error) {
    if (error instanceof SyntaxError) throw fieldRefusal('draft', 'must be JSON');
    throw error;
  }
}
