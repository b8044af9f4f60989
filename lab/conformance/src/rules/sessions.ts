import { newSession, sessionView, success } from '../resource.ts';
import { demand, found, refused, succeeded } from '../rule.ts';
import { exactly, integer, oneOf } from '../shape.ts';
import { type Collection, prices, type Subject } from '../subject.ts';

const leastLifeSeconds = 1_800;
/** Tolerated difference between the two clocks, in seconds. */
const clockGraceSeconds = 60;

/** Checkout sessions and all lists. Returns the id of a payable session. */
export async function checkSessions(
  { rules, merchant, mark }: Subject,
  known: { collection: Collection | undefined; productId: string | undefined },
): Promise<string | undefined> {
  const oneTime = {
    itemType: 'one_time',
    quantity: 2,
    unitPrice: prices.oneTime,
    productData: { productName: `${mark} cake`, attributes: [{ name: 'Taste', value: 'Lemon' }] },
  };
  const content = (): Record<string, unknown> => ({
    ...found(known.collection, 'an account'),
    lineItems: [
      { itemType: 'product', productId: found(known.productId, 'a product'), quantity: 1 },
      oneTime,
    ],
    payerEmailRequired: 1,
    feeModel: 2,
    metadata: { b: 1, a: [true, null, 'é'], '2': {} },
  });
  const create = (change: object) => merchant.post('/session/checkout/create', { ...content(), ...change });
  const now = () => Math.floor(Date.now() / 1_000);

  const sessionId = await rules.rule(
    'POST /session/checkout/create answers an initialized session',
    async () => {
      const shape = {
        ...newSession,
        amount: oneOf(prices.product + 2 * prices.oneTime),
        feeModel: oneOf(2),
        payerEmailRequired: oneOf(1),
        metadata: exactly(content()['metadata']),
      };
      const data = succeeded(await create({}), shape);
      const { items } = data['lineItems'] as {
        items: { itemType: string; productId: string; unitPrice: number }[];
      };
      demand(
        items[1]?.itemType === 'one_time' && items[1].productId === '',
        'a one_time item has no empty productId',
      );
      return String(data['sessionId']);
    },
  );
  await rules.rule('left out, the fee model is 1, metadata {}, and the life 30 minutes', async () => {
    const { metadata: _m, feeModel: _f, payerEmailRequired: _p, ...least } = content();
    const shape = {
      ...newSession,
      feeModel: oneOf(1),
      payerEmailRequired: oneOf(0),
      metadata: exactly({}),
    };
    const data = succeeded(await merchant.post('/session/checkout/create', least), shape);
    const life = Number(data['expirationTime']) - now();
    demand(Math.abs(life - leastLifeSeconds) <= clockGraceSeconds, `the session lives ${life} seconds`);
  });
  await rules.rule('GET /session answers the session; no transaction before it is paid', async () => {
    const data = succeeded(await merchant.get(`/session/${found(sessionId, 'a session')}`), sessionView);
    demand(data['transaction'] === undefined, 'an unpaid session has a transaction');
  });
  await rules.rule('POST /session/checkout/cancel cancels an initialized session, once', async () => {
    const { sessionId: id } = succeeded(await create({}), newSession);
    succeeded(await merchant.post('/session/checkout/cancel', { sessionId: id }), success);
    succeeded(await merchant.get(`/session/${id}`), { session: { status: oneOf('cancelled') } });
    refused(await merchant.post('/session/checkout/cancel', { sessionId: id }), 100205);
  });
  await checkLists({ rules, merchant });
  const wrong: [string, object, number?][] = [
    ['without items', { lineItems: [] }, 400101],
    ['with a user_priced item', { lineItems: [{ itemType: 'user_priced' }] }, 400101],
    [
      'with a one_time item without productData',
      { lineItems: [{ ...oneTime, productData: undefined }] },
      400101,
    ],
    ['with a quantity of 0', { lineItems: [{ ...oneTime, quantity: 0 }] }, 400101],
    ['for an unknown product', { lineItems: [{ itemType: 'product', productId: 'prd_unknown' }] }, 100301],
    ['for an unknown account', { accountId: 'acc_unknown' }, 100401],
    ['in a token that is not configured', { settlementToken: 'nochain::usdc' }],
    ['with a life under 1800 s', { expirationTime: now() + leastLifeSeconds - clockGraceSeconds }, 100208],
    ['with metadata that is no object', { metadata: 'text' }, 400101],
    ['with a recipient', { recipient: `0x${'0'.repeat(40)}` }, 400101],
  ];
  for (const [name, change, code] of wrong) {
    await rules.rule(`a session ${name} is refused`, async () => refused(await create(change), code));
  }
  return sessionId;
}

async function checkLists({ rules, merchant }: Pick<Subject, 'rules' | 'merchant'>): Promise<void> {
  const lists = {
    all: undefined,
    paid: 'paid',
    settling: 'settling',
    completed: 'completed',
    cancelled: 'cancelled',
    'settlement/pending': 'settlement_pending',
  };
  for (const [path, status] of Object.entries(lists)) {
    await rules.rule(`GET /session/list/${path} answers its sessions, page and size as numbers`, async () => {
      const shape = { total: integer, page: oneOf(1), size: oneOf(5), sessions: [sessionView] };
      type View = { session: { status: string } };
      const { sessions } = succeeded(await merchant.get(`/session/list/${path}/1/5`), shape) as {
        sessions: View[];
      };
      const others = sessions.filter((view) => status !== undefined && view.session.status !== status);
      demand(others.length === 0, `there are sessions that are ${others[0]?.session.status}`);
      refused(await merchant.get(`/session/list/${path}/1/101`), 400101);
      refused(await merchant.get(`/session/list/${path}/0/1`), 400101);
    });
  }
  await checkSearch({ rules, merchant });
}

async function checkSearch({ rules, merchant }: Pick<Subject, 'rules' | 'merchant'>): Promise<void> {
  await rules.rule(
    'POST /session/search answers sessions of a status, and refuses unknown conditions',
    async () => {
      const shape = { sessions: [sessionView], hasMore: oneOf(true, false) };
      const data = succeeded(await merchant.post('/session/search', { status: 'cancelled', size: 5 }), shape);
      const { sessions } = data as { sessions: { session: { status: string } }[] };
      const other = sessions.find((view) => view.session.status !== 'cancelled');
      demand(other === undefined, `it found a session that is ${other?.session.status}`);
      refused(await merchant.post('/session/search', { state: 'paid' }), 400101);
    },
  );
}
