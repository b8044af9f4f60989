import { dashboardApi } from '@florin/protocol/dashboard-api.ts';
import { imageUpload } from '@florin/protocol/image-upload.ts';
import type { FastifyRequest } from 'fastify';
import { maxImageBytes } from '#catalog/images/image-decoder.ts';
import { type ImageIntake, noIntake } from '#catalog/images/intake.ts';
import { envelope } from '../envelope.ts';
import { type Limits, merchantGuards } from '../rate-limit.ts';
import { jsonType } from '../route-handler.ts';
import type { Door } from '../server.ts';
import type { VisitorContext } from './context.ts';
import { findMemberCaller } from './visitor.ts';

interface UploadDoorContext extends VisitorContext {
  readonly limits?: Limits | undefined;
  readonly images?: ImageIntake | undefined;
}

/** Who may change products may upload their images. */
const route = dashboardApi.routes.createProduct;

/**
 * `POST /dashboard/api/image/upload`: the body is an image, the answer its hosted URL. The URL becomes a product's image or a
 * logo like any other, and an image that nothing names is removed after its retention time.
 */
export function uploadDoor(deps: UploadDoorContext): Door {
  const images = deps.images ?? noIntake;
  const merchants = new WeakMap<FastifyRequest, string>();
  return (server) => {
    const guards = merchantGuards(server, 'upload', deps.limits);
    server.removeAllContentTypeParsers();
    // The content decides what the bytes are. Browsers derive the type from the file's name.
    server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes));
    server.route({
      method: 'POST',
      url: `${dashboardApi.basePath}${imageUpload.path}`,
      bodyLimit: maxImageBytes,
      config: { effect: 'create' },
      onRequest: async (request, reply) => {
        const { callerId, merchantId } = await findMemberCaller(deps, request, route);
        guards.ofKey(route, callerId, reply);
        // Before the body is read: a body takes up to 5 MB of memory.
        const leave = images.enter(merchantId);
        if (reply.raw.destroyed) leave();
        else reply.raw.once('close', leave);
        merchants.set(request, merchantId);
      },
      handler: async (request, reply) => {
        const merchantId = merchants.get(request);
        if (merchantId === undefined) throw new Error('an upload was handled without having been authorized');
        const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        const imageUrl = await images.host(deps.people.inScope(merchantId), { merchantId, bytes });
        reply.type(jsonType);
        return envelope.success({ imageUrl });
      },
    });
  };
}
