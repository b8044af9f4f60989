import type { CallOptions, OperationInput, Send } from './client.ts';
import { type ErrorSlug, FlorinError } from './error.ts';
import { retrieveProduct } from './product.ts';
import type { Branding, PaymentLinkDetail, Product, Webhook } from './wire.gen.ts';

/** Ids are no changes. */
const idNames = ['productId', 'linkId', 'webhookId'] as const;

/** What the service takes in an update and ignores is unknown. */
type Changeable<Body, Name extends keyof Body> = unknown extends Body[Name]
  ? never
  : Exclude<Name, (typeof idNames)[number]>;

/**
 * What an update changes: the members that it names, and no other. `null` resets a member. With `ifUpdateAt`, the `updateAt`
 * of a read of yours, it is refused when anything was changed since that read.
 */
export type Changes<Body> = {
  readonly [Name in keyof Body as Changeable<Body, Name>]?:
    | Body[Name]
    | (undefined extends Body[Name] ? null : never)
    | undefined;
};

/** An update takes no key: its request depends on what it has read, and a repeat sets the same again. */
export type UpdateOptions = Omit<CallOptions, 'idempotencyKey'>;

/** How often an update reads again because another change came between. */
const mostReads = 5;

interface Updated {
  readonly updateProduct: Product;
  readonly updateLink: PaymentLinkDetail;
  readonly updateWebhook: Webhook;
  readonly updateBranding: Branding;
}

type Update = keyof Updated;

/** How a thing is read, and how its update is refused when it has changed since. */
const things: {
  readonly [Id in Update]: {
    readonly read: (send: Send, id: string, options: UpdateOptions) => Promise<Updated[Id]>;
    readonly changed: ErrorSlug;
  };
} = {
  updateProduct: { read: retrieveProduct, changed: 'product_changed' },
  updateLink: {
    read: (send, linkId, options) => send('getLink', { params: { linkId } }, options),
    changed: 'link_version_invalid',
  },
  updateWebhook: {
    read: (send, webhookId, options) => send('getWebhook', { params: { webhookId } }, options),
    changed: 'webhook_changed',
  },
  updateBranding: {
    read: (send, _id, options) => send('getBranding', {}, options),
    changed: 'branding_changed',
  },
};

/**
 * Changes the named members of a thing and keeps the others, although the service replaces all of it: reads it, sends it whole
 * on the condition that it is as it was read, and begins again when it is not. Answers the thing as it then is.
 */
export async function update<Id extends Update>(
  send: Send,
  operation: Id,
  id: string,
  changes: object,
  options: UpdateOptions = {},
): Promise<Updated[Id]> {
  const { read, changed } = things[operation];
  if ('idempotencyKey' in options)
    throw new FlorinError('argument_invalid', 'an update takes no idempotencyKey: a repeat sets the same', {
      param: 'idempotencyKey',
    });
  const given = Object.fromEntries(
    Object.entries(changes).filter(
      ([name, value]) => value !== undefined && !(idNames as readonly string[]).includes(name),
    ),
  );
  for (let reads = 1; ; reads += 1) {
    const now = await read(send, id, options);
    refuseLostImage(now, given);
    const whole = { ...now, ifUpdateAt: now.updateAt, ...given };
    const body = Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== null));
    try {
      // The service checks what programs in JavaScript give.
      await send(operation, { body } as unknown as OperationInput<Id>, options);
    } catch (error) {
      const isOther = error instanceof FlorinError && error.slug === changed && !('ifUpdateAt' in given);
      if (isOther && reads < mostReads) continue;
      throw error;
    }
    return read(send, id, options);
  }
}

/** A product does not say which image it waits for, so that sending it back would end the wait. */
function refuseLostImage(now: object, given: object): void {
  if (!('imageStatus' in now) || now.imageStatus !== 'pending' || 'imageUrl' in given) return;
  throw new FlorinError(
    'argument_invalid',
    'the image of this product is still being downloaded: give imageUrl again, or null for none',
    { param: 'imageUrl' },
  );
}
