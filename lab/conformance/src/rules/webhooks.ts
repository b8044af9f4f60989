import type { ApiAnswer } from '../client.ts';
import { success, webhook } from '../resource.ts';
import { demand, found, refused, succeeded } from '../rule.ts';
import { boolean, exactly, integer, oneOf, type Shape, text } from '../shape.ts';
import type { Subject } from '../subject.ts';

const mostWebhooks = 10;

/** Webhooks: every endpoint and every limit. It deletes every webhook that it registers. */
export async function checkWebhooks({ rules, merchant, mark }: Subject): Promise<void> {
  const content = {
    webhookName: `${mark} webhook`,
    // This domain is reserved for documentation, so no server receives the events.
    webhookUrl: 'https://conformance.example.com/webhook',
    subscribedEvents: ['session.paid', 'session.completed'],
    webhookDescription: 'Made by the conformance suite',
  };
  const create = (change: object) => merchant.post('/webhook/create', { ...content, ...change });
  const act = async (action: string, body: object) =>
    succeeded(await merchant.post(`/webhook/${action}`, body), success);
  const detail = async (webhookId: string, shape: Shape) =>
    succeeded(await merchant.get(`/webhook/detail/${webhookId}`), shape);

  const webhookId = await rules.rule(
    'POST /webhook/create answers an active webhook with its key',
    async () => {
      const same = Object.fromEntries(Object.entries(content).map(([name, value]) => [name, exactly(value)]));
      const shape = { ...webhook, ...same, status: oneOf('active') };
      return String(succeeded(await create({}), shape)['webhookId']);
    },
  );
  await rules.rule('GET /webhook/list answers all webhooks', async () => {
    const { webhooks } = succeeded(await merchant.get('/webhook/list'), { webhooks: [webhook] }) as {
      webhooks: { webhookId: string }[];
    };
    demand(
      webhooks.some((listed) => listed.webhookId === webhookId),
      'the webhook is not in the list',
    );
  });
  await rules.rule('POST /webhook/update replaces every field: the description is reset', async () => {
    const id = found(webhookId, 'a webhook');
    const changed = {
      webhookId: id,
      webhookName: `${mark} new`,
      webhookUrl: content.webhookUrl,
      subscribedEvents: ['session.paid'],
    };
    await act('update', changed);
    await detail(id, {
      ...webhook,
      webhookDescription: oneOf(''),
      webhookName: oneOf(`${mark} new`),
    });
  });
  await rules.rule('POST /webhook/disable and /webhook/enable move the status', async () => {
    const id = found(webhookId, 'a webhook');
    await act('disable', { webhookId: id });
    await detail(id, { status: oneOf('inactive') });
    await act('enable', { webhookId: id });
    await detail(id, { status: oneOf('active') });
  });
  await rules.rule('POST /webhook/key/refresh makes a new key', async () => {
    const id = found(webhookId, 'a webhook');
    const before = await detail(id, webhook);
    await act('key/refresh', { webhookId: id });
    demand((await detail(id, webhook))['key'] !== before['key'], 'the key is still the old one');
  });
  await checkResend({ rules, merchant }, webhookId);
  await checkWebhookLimits({ rules, create, act });
  await rules.rule('POST /webhook/remove deletes for good', async () => {
    const id = found(webhookId, 'a webhook');
    await act('remove', { webhookId: id });
    refused(await merchant.get(`/webhook/detail/${id}`), 100501);
    refused(await merchant.post('/webhook/enable', { webhookId: id }), 100501);
  });
}

interface Delivery {
  readonly status: string;
  readonly body: string;
}

async function checkResend(
  { rules, merchant }: Pick<Subject, 'rules' | 'merchant'>,
  webhookId: string | undefined,
): Promise<void> {
  await rules.rule(
    'an example event is skipped while a webhook is off, and can be sent again by time',
    async () => {
      const id = found(webhookId, 'a webhook');
      succeeded(await merchant.post('/webhook/disable', { webhookId: id }), success);
      const sent = await merchant.post('/webhook/test', { webhookId: id, eventType: 'session.paid' });
      const { deliveryId } = succeeded(sent, { eventId: text, deliveryId: text });
      const read = async () =>
        (await merchant.get(`/webhook/delivery/detail/${deliveryId}`)).data as Delivery;
      const skipped = await read();
      demand(skipped.status === 'skipped', `the delivery is ${skipped.status}`);
      demand(
        (JSON.parse(skipped.body) as { fixture: unknown }).fixture === true,
        'the event does not say that it is one',
      );
      const again = await merchant.post('/webhook/delivery/resend/all', { webhookId: id, since: 0 });
      succeeded(again, { ...success, resent: integer, hasMore: boolean, last: text });
      demand((await read()).status === 'pending', 'the delivery was not sent again');
    },
  );
}

async function checkWebhookLimits(options: {
  rules: Subject['rules'];
  create: (change: object) => Promise<ApiAnswer>;
  act: (action: string, body: object) => Promise<unknown>;
}): Promise<void> {
  const { rules, create, act } = options;
  const limits: [string, object, object][] = [
    ['name of 100 characters', { webhookName: '\u{1f375}'.repeat(100) }, { webhookName: 'x'.repeat(101) }],
    [
      'description of 1000 characters',
      { webhookDescription: 'x'.repeat(1000) },
      { webhookDescription: 'x'.repeat(1001) },
    ],
    ['URL of 1000 characters', { webhookUrl: urlOf(1000) }, { webhookUrl: urlOf(1001) }],
  ];
  for (const [name, taken, over] of limits) {
    await rules.rule(`a webhook ${name} is taken, one more is refused`, async () => {
      const { webhookId: id } = succeeded(await create(taken), webhook);
      await act('remove', { webhookId: id });
      refused(await create(over), 400101);
    });
  }
  const wrong: [string, object, number][] = [
    ['with an http URL', { webhookUrl: 'http://conformance.example.com' }, 100503],
    ['at a private address', { webhookUrl: 'https://10.0.0.1/' }, 100503],
    ['without events', { subscribedEvents: [] }, 400101],
    ['with an unknown event', { subscribedEvents: ['session.lost'] }, 100504],
    ['without a name', { webhookName: undefined }, 400101],
  ];
  for (const [name, change, code] of wrong) {
    await rules.rule(`a webhook ${name} is refused`, async () => refused(await create(change), code));
  }
  await rules.rule('ten webhooks are the limit', async () => {
    const made: unknown[] = [];
    try {
      for (;;) {
        const answer = await create({});
        if (answer.code !== 0) return refused(answer, 100502);
        made.push(succeeded(answer, webhook)['webhookId']);
        demand(made.length < mostWebhooks, 'an eleventh webhook was registered');
      }
    } finally {
      for (const id of made) await act('remove', { webhookId: id });
    }
  });
}

function urlOf(length: number): string {
  return 'https://conformance.example.com/'.padEnd(length, 'x');
}
