import type { IncomingMessage, ServerResponse } from 'node:http';
import { ask } from '../demo-api.ts';
import type { WorldManifest } from '../world-config.ts';

/** How the receiver treats deliveries. */
export type ReceiverMode = 'accept' | 'fail' | 'hang';

/** The receiver of the webhook with which acts show failures. */
export interface WebhookReceiver {
  mode: ReceiverMode;
  /** Finds or creates the webhook; returns its id. */
  register(manifest: WorldManifest): Promise<string>;
  /** Answers a delivery. */
  receive(incoming: IncomingMessage, outgoing: ServerResponse): void;
}

interface ListedWebhook {
  readonly webhookId: string;
  readonly webhookUrl: string;
  readonly status: string;
}

/** Opens the receiver of this address. */
export const openWebhookReceiver = (url: string): WebhookReceiver => {
  const hanging = new Set<ServerResponse>();
  let mode: ReceiverMode = 'accept';
  return {
    get mode() {
      return mode;
    },
    set mode(next) {
      mode = next;
      for (const outgoing of hanging) outgoing.destroy();
      hanging.clear();
    },
    async register({ merchantApi, secretKey }) {
      const headers = { authorization: `Bearer ${secretKey}` };
      const listed = await ask<{ webhooks: ListedWebhook[] }>({
        url: `${merchantApi}/webhook/list`,
        headers,
      });
      const known = listed.webhooks.find(({ webhookUrl }) => webhookUrl === url);
      if (known !== undefined) return known.webhookId;
      const body = {
        webhookName: 'The console of the local world',
        webhookUrl: url,
        subscribedEvents: ['*'],
      };
      return (await ask<ListedWebhook>({ url: `${merchantApi}/webhook/create`, headers, body })).webhookId;
    },
    receive(incoming, outgoing) {
      incoming.resume();
      if (mode === 'hang') {
        hanging.add(outgoing);
        outgoing.once('close', () => hanging.delete(outgoing));
        return;
      }
      outgoing.writeHead(mode === 'fail' ? 500 : 204).end();
    },
  };
};
