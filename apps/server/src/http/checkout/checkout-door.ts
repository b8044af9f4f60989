import { Refusal } from '@florin/protocol/error.ts';
import type { FastifyInstance } from 'fastify';
import { chooseCoding } from '../compression.ts';
import type { Door } from '../server.ts';
import { bundleScript, type Script, scriptOf } from './assets.ts';
import { type RareScript, rareScripts } from './built-ahead.ts';
import { addCheckoutApi } from './checkout-api.ts';
import type { CheckoutContext } from './context.ts';
import { addDemoPayer } from './demo-payer.ts';
import { logoFile } from './drawings.ts';
import { addEmbed } from './embed.ts';
import { acceptForms } from './forms.ts';
import { linkPictures } from './link-picture.ts';
import type { RemoteScripts } from './page.ts';
import {
  beginByForm,
  claimPage,
  depositByForm,
  framedPage,
  leaveForm,
  linkPage,
  type PageRequest,
  sessionPage,
} from './pages.ts';
import { depositCode, sessionCode } from './session-code.ts';

/** Pages accept unknown query parameters, such as a newsletter's tracking codes. */
const anyQuery = { config: { query: 'any' } } as const;

/**
 * The hosted pages `/link/:linkId`, `/checkout/:sessionId` and `/checkout/:sessionId/claim`, with their scripts, their
 * forms for readers without scripts, and the API that the scripts call. Viewing a page writes nothing.
 */
export function checkoutDoor(options: CheckoutContext): Door {
  return async (server) => {
    const [script, claimScript] = await Promise.all([bundleScript('checkout'), bundleScript('claim')]);
    const demoScript = options.demo === undefined ? undefined : await bundleScript('demo');
    const made = Object.fromEntries(rareScripts.map((name) => [name, remember(() => bundleScript(name))]));
    const rare = { rareScript: (name: RareScript) => made[name]?.() ?? bundleScript(name) };
    const remote = await remoteOf(options);
    await addPages(server, { options, script, ...rare, demoScript, remote });
    server.get<{ Params: { sessionId: string } }>(
      '/embed/checkout/:sessionId',
      anyQuery,
      async (request, reply) =>
        framedPage({ options, script, ...rare, request, reply }, request.params.sessionId),
    );
    addEmbed(
      server,
      options,
      remember(() => bundleScript('embed')),
    );
    server.get<{ Params: { sessionId: string } }>(
      '/checkout/:sessionId/claim',
      anyQuery,
      async (request, reply) =>
        claimPage({ options, script: claimScript, ...rare, request, reply }, request.params.sessionId),
    );
    const others = [demoScript, remote?.script, remote?.module].filter((each) => each !== undefined);
    addAssets(server, [script, claimScript, ...others], rare);
    await addCheckoutApi(server, options);
    if (options.demo !== undefined) addDemoPayer(server, options, options.demo);
  };
}

async function remoteOf({ walletConnect }: CheckoutContext): Promise<RemoteScripts | undefined> {
  if (walletConnect === undefined) return undefined;
  const { projectId, module } = walletConnect;
  const [script, built] = await Promise.all([
    bundleScript('walletconnect'),
    scriptOf('walletconnect-module', module),
  ]);
  return { projectId, script, module: built };
}

/** Most installations embed nothing, and many have only prices, so those scripts are made when the first page needs them. */
function remember(make: () => Promise<Script>): () => Promise<Script> {
  let made: Promise<Script> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** In its own scope: only these routes accept forms. */
async function addPages(
  server: FastifyInstance,
  parts: Omit<PageRequest, 'request' | 'reply'>,
): Promise<void> {
  await server.register(async (scope) => {
    acceptForms(scope);
    scope.get<{ Params: { linkId: string } }>('/link/:linkId', anyQuery, async (request, reply) =>
      linkPage({ ...parts, request, reply }, request.params.linkId),
    );
    const picture = linkPictures(parts.options);
    scope.get<{ Params: { linkId: string } }>('/link/:linkId/picture.png', anyQuery, async (request, reply) =>
      picture(request.params.linkId, reply),
    );
    scope.post<{ Params: { linkId: string } }>('/link/:linkId', anyQuery, async (request, reply) =>
      beginByForm({ ...parts, request, reply }, request.params.linkId),
    );
    scope.get<{ Params: { sessionId: string } }>('/checkout/:sessionId', anyQuery, async (request, reply) =>
      sessionPage({ ...parts, request, reply }, request.params.sessionId),
    );
    scope.get<{ Params: { sessionId: string } }>('/checkout/:sessionId/code.svg', async (request, reply) =>
      sessionCode(parts.options, request.params.sessionId, reply),
    );
    for (const kind of ['address', 'wallet'])
      scope.get<{ Params: { sessionId: string; orderId: string } }>(
        `/checkout/:sessionId/:orderId/${kind}.svg`,
        async (request, reply) => depositCode(parts.options, { ...request.params, kind }, reply),
      );
    scope.get<{ Params: { sessionId: string } }>(
      '/checkout/:sessionId/deposit',
      anyQuery,
      async (request, reply) => leaveForm({ ...parts, request, reply }, request.params.sessionId),
    );
    scope.post<{ Params: { sessionId: string } }>(
      '/checkout/:sessionId/deposit',
      anyQuery,
      async (request, reply) => depositByForm({ ...parts, request, reply }, request.params.sessionId),
    );
  });
}

/** The dashboard's preview of the page has an origin of its own. */
const forPreviews = { 'cross-origin-resource-policy': 'cross-origin' } as const;

/** The files of the pages: they never change. */
function addAssets(
  server: FastifyInstance,
  scripts: readonly Script[],
  { rareScript }: Pick<PageRequest, 'rareScript'>,
): void {
  const fileOf = (script: Script) => ({ ...script, type: 'text/javascript; charset=utf-8', headers: {} });
  const assets = [...scripts.map(fileOf), { ...logoFile, type: 'image/svg+xml', headers: forPreviews }];
  server.get<{ Params: { file: string } }>('/checkout/assets/:file', async (request, reply) => {
    // Only current scripts exist. A page of an older version works without one until it is reloaded.
    const { file } = request.params;
    // Another process may have served its page, so this one may not have made it yet.
    const name = rareScripts.find((rare) => file.startsWith(`${rare}-`));
    const rare = name === undefined ? [] : [fileOf(await rareScript(name))];
    const asset = [...assets, ...rare].find(({ path }) => path.endsWith(`/${file}`));
    if (asset === undefined) throw new Refusal('route_unknown');
    const coding = chooseCoding(request.headers['accept-encoding']);
    if (coding !== 'identity') reply.header('content-encoding', coding);
    reply
      .type(asset.type)
      .header('cache-control', 'public, max-age=31536000, immutable')
      .header('vary', 'accept-encoding')
      .headers(asset.headers);
    return asset.bytes[coding];
  });
}
