import { type CallOptions, checkCallOptions, type OperationInput, type Send } from './client.ts';
import { type ErrorSlug, FlorinError, wrongArgument } from './error.ts';
import { retrieveProduct } from './product.ts';
import {
  type Branding,
  type PaymentLinkDetail,
  type PaymentLinkUpdateRequest,
  type Product,
  plainBranding,
  type Webhook,
} from './wire.gen.ts';

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

/** How often an update reads and sends, because another change came between each time. */
const mostTries = 12;
/** The longest wait before the second try, and before any. It is by chance: changes that met once do not meet again. */
const firstWaitMs = 100;
const longestWaitMs = 1_600;

/** What a link that has none of it does not show. */
const linkNames = [
  ...(['cancelUrl', 'autoReturn', 'exceptionPolicy', 'maxPayments', 'activeUntil'] as const),
] satisfies readonly (keyof PaymentLinkUpdateRequest)[];

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
  given?: UpdateOptions,
): Promise<Updated[Id]> {
  const { read, changed } = things[operation];
  checkCallOptions(given);
  const options: UpdateOptions = Object(given);
  if ('idempotencyKey' in options)
    throw wrongArgument('idempotencyKey', 'an update takes no idempotencyKey: a repeat sets the same');
  // Programs in JavaScript may give the id among them.
  if (Object(changes) !== changes)
    throw wrongArgument('changes', 'give the changes as an object, behind the id where there is one');
  const { ifUpdateAt = null, ...others }: { readonly ifUpdateAt?: unknown } = changes;
  const named = Object.fromEntries(
    Object.entries(others).filter(
      ([name, value]) => value !== undefined && !(idNames as readonly string[]).includes(name),
    ),
  );
  for (let tries = 1; ; tries += 1) {
    const now = await read(send, id, options);
    refuseLostImage(now, named);
    const whole = Object.entries({ ...now, ...named, ifUpdateAt: ifUpdateAt ?? now.updateAt });
    const body = Object.fromEntries(
      whole.map(([name, value]) => [name, value ?? resetOf(operation, now, name)]),
    );
    try {
      // The service checks what programs in JavaScript give.
      await send(operation, { body } as unknown as OperationInput<Id>, options);
    } catch (error) {
      const isOther = error instanceof FlorinError && error.slug === changed && ifUpdateAt === null;
      if (!isOther || tries >= mostTries) throw error;
      await send.pauseUpTo(Math.min(firstWaitMs * 2 ** (tries - 1), longestWaitMs), options.signal);
      continue;
    }
    return read(send, id, options);
  }
}

/**
 * What is sent for null: nothing where the service replaces the whole thing, and null for a name that it shall refuse. It keeps
 * what an update of the branding leaves out, so a reset sends what that is at first.
 */
function resetOf(operation: Update, now: object, name: string): unknown {
  if (!Object.hasOwn(now, name) && !(linkNames as readonly string[]).includes(name)) return null;
  return operation === 'updateBranding' ? (plainBranding[name] ?? '') : undefined;
}

/** A product does not say which image it waits for, so that sending it back would end the wait. */
function refuseLostImage(now: object, given: object): void {
  if (!('imageStatus' in now) || now.imageStatus !== 'pending' || 'imageUrl' in given) return;
  throw wrongArgument(
    'imageUrl',
    'the image of this product is still being downloaded: give imageUrl again, or null for none',
  );
}
