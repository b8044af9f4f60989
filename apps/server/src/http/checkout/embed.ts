import { brandColorsOf } from '@florin/protocol/brand-colors.ts';
import { plainLook } from '@florin/protocol/brand-look.ts';
import type { BrandLook } from '@florin/protocol/branding.ts';
import { Refusal } from '@florin/protocol/error.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { findShownMerchant } from '#catalog/branding.ts';
import { findLink } from '#links/link-lookup.ts';
import { findMerchant } from '#merchants/merchant.ts';
import { findSession } from '#sessions/session.ts';
import { chooseCoding } from '../compression.ts';
import type { Script } from './assets.ts';
import { stacks } from './brand-style.ts';
import type { CheckoutContext } from './context.ts';

/** Pages of every origin may load these, as they may load any script. */
const forShops = {
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
} as const;

/** `/embed/v1.js`, the elements for pages of shops, and `/embed/look/:file`, with which they look like the merchant. */
export function addEmbed(
  server: FastifyInstance,
  options: CheckoutContext,
  embedScript: () => Promise<Script>,
): void {
  server.get('/embed/v1.js', async (request, reply) => sendScript(await embedScript(), request, reply));
  server.get<{ Params: { file: string } }>('/embed/look/:file', async (request, reply) => {
    const merchantId = await findMerchantOf(options, request.params.file);
    if (merchantId === undefined) throw new Refusal('route_unknown');
    const look = await findShownMerchant(options.db, merchantId);
    reply.type('text/css; charset=utf-8').headers({ ...forShops, 'cache-control': 'public, max-age=300' });
    return elementStyle(look);
  });
}

/** The file keeps its address, so browsers ask again after an hour. */
function sendScript({ bytes, path }: Script, request: FastifyRequest, reply: FastifyReply): Buffer {
  const coding = chooseCoding(request.headers['accept-encoding']);
  const tag = `"${path.split('/').at(-1)}-${coding}"`;
  if (coding !== 'identity') reply.header('content-encoding', coding);
  reply
    .type('text/javascript; charset=utf-8')
    .headers({ ...forShops, 'cache-control': 'public, max-age=3600', vary: 'accept-encoding', etag: tag });
  if (request.headers['if-none-match'] !== tag) return bytes[coding];
  reply.code(304);
  return Buffer.alloc(0);
}

async function findMerchantOf({ db, clock }: CheckoutContext, file: string): Promise<string | undefined> {
  const [, id = ''] = /^(\w+)\.css$/.exec(file) ?? [];
  if (id.startsWith('mer_')) return (await findMerchant(db, id)) === undefined ? undefined : id;
  if (id.startsWith('sess_')) return (await findSession(db, id))?.merchantId;
  const link = id.startsWith('lnk_') ? await findLink(db, id, clock.now()) : undefined;
  return link?.status === 'deleted' ? undefined : link?.merchantId;
}

/** Custom properties, so that a shop may set its own. They contain no text from the merchant. */
function elementStyle({ color, cornerRadius, font }: BrandLook): string {
  const colors = color === '' ? undefined : brandColorsOf(color);
  const properties = [
    colors && `--florin-accent: ${colors.accent}; --florin-on-accent: ${colors.onAccent};`,
    cornerRadius !== plainLook.cornerRadius && `--florin-round: ${cornerRadius / 16}rem;`,
    font !== plainLook.font && `--florin-font: ${stacks[font]};`,
  ];
  return `:host { ${properties.filter((rule) => typeof rule === 'string').join(' ')} }`;
}
