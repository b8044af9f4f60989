import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { settingsOf } from './configuration/setting.ts';
import { coinsText, gweiText, integerText, lastingText, secondsBetween } from './figure.ts';
import { type ChainHealth, findProblems, type Health, type ServiceFunds } from './problem.ts';
import { runbookOfReason, runbooks } from './runbook.ts';
import { troubles } from './trouble.ts';

const at = '2026-11-24T00:00:00.000Z';
const chain: ChainHealth = {
  ...{ chain: 'base', chainId: '8453', payments: 'available', paymentsReason: '', settlement: 'running' },
  ...{
    settlementReason: '',
    haltedReason: '',
    isResuming: false,
    headNumber: '20',
    headAt: at,
    finalNumber: '14',
    finalAt: at,
  },
  ...{ watchedAt: at, secondsToFinal: 12, reconciledAt: at, lastTriedAt: at, balances: [] },
};
const well: Health = {
  ...{ at, chains: [chain], settlements: [], transactions: [], openExceptions: 0 },
  deliveries: { waiting: 3, overdue: 0, oldestDueAt: at, pausedWebhooks: 0, failingWebhooks: 0 },
  mails: { waiting: 2, oldestAt: at, lastSentAt: '' },
  exceptionsForPeople: 0,
};
const node = { node: 'a.example', headNumber: '20', problem: '' };
const nodes = [{ chain: 'base', chainId: '8453', nodes: [node] }];
const wallet = {
  ...{ chain: 'base', role: 'settler', address: '0x1', balance: '900', needed: '300', secondsLeft: 777_600 },
};
const vault = { tokenId: 'base::usdc', cap: '5000000', float: '9000000', readAt: at };
const funds: ServiceFunds = { wallets: [wallet], vaults: [vault] };
const all = { health: well, nodes, funds, tokens: [] };

const shown = (known: Parameters<typeof findProblems>[0]) =>
  findProblems(known).map(({ trouble, title }) => [troubles[trouble].tone, title, troubles[trouble].runbook]);
const withChain = (changed: Partial<ChainHealth>) => ({
  ...all,
  health: { ...well, chains: [{ ...chain, ...changed }] },
});

test('an installation where all is well has no problems, and what is unknown is no problem', () => {
  assert.deepEqual(shown(all), []);
  assert.deepEqual(shown({ health: well, nodes: undefined, funds: undefined, tokens: undefined }), []);
});

test('e-mails that wait are a warning only while the mail server has taken none since', () => {
  const waitingSince = (oldestAt: string, lastSentAt: string) =>
    shown({ ...all, health: { ...well, mails: { waiting: 2, oldestAt, lastSentAt } } });
  const [long, short] = ['2026-11-23T23:29:00.000Z', '2026-11-23T23:31:00.000Z'];
  assert.deepEqual(waitingSince(long, ''), [['warn', '2 e-mails wait', 'mail']]);
  assert.deepEqual(waitingSince(long, '2026-11-23T23:28:00.000Z'), [['warn', '2 e-mails wait', 'mail']]);
  assert.deepEqual(waitingSince(long, short), []);
  assert.deepEqual(waitingSince(short, ''), []);
});

test('a halted chain is told once, whatever follows from it', () => {
  const halted = { haltedReason: 'reorg below the final block 9', payments: 'unavailable' } as const;
  const stopped = { settlement: 'stopped', settlementReason: 'halted' } as const;
  assert.deepEqual(shown(withChain({ ...halted, ...stopped })), [['bad', 'base is halted', 'haltedChain']]);
});

test('a late chain is a warning, and a chain that refuses payments or settles nothing is a failure', () => {
  const late = { payments: 'delayed', paymentsReason: 'chain_lagging' } as const;
  assert.deepEqual(shown(withChain(late)), [['warn', 'base is late', 'chainHealth']]);
  const silent = { payments: 'unavailable', paymentsReason: 'chain_unreachable' } as const;
  const drift = { settlement: 'stopped', settlementReason: 'drift' } as const;
  assert.deepEqual(shown(withChain({ ...silent, ...drift })), [
    ['bad', 'base takes no payments', 'chainHealth'],
    ['bad', 'base settles nothing', 'differences'],
  ]);
});

test('a late chain says since when no block came, or how far its final block is behind', () => {
  const late = { payments: 'delayed', paymentsReason: 'chain_lagging' } as const;
  const textOf = (changed: Partial<ChainHealth>) => findProblems(withChain({ ...late, ...changed }))[0]?.text;
  assert.equal(
    textOf({ headAt: '2026-11-23T23:57:43.000Z', finalAt: '2026-11-23T23:57:37.000Z' }),
    'No new block since 23:57:43 UTC, 2 min 17 s ago. Payments are taken, and nothing settles until blocks come.',
  );
  assert.equal(
    textOf({ headAt: '2026-11-23T23:57:43.000Z', headNumber: '14' }),
    'No block was read since 23:57:43 UTC, 2 min 17 s ago, and a.example has newer ones. No watcher runs, or answers of the node are ' +
      'false and refused: the log says which. Payments are taken, and are seen once blocks are read.',
  );
  assert.equal(
    textOf({ finalAt: '2026-11-23T23:58:08.000Z' }),
    'Its final block is 1 min 52 s behind its head, more than usual. Payments are taken and need longer.',
  );
});

test('a chain without an answer is a failure, and one node that fails a warning', () => {
  const answers = (list: typeof nodes) => shown({ ...all, nodes: list });
  const failing = { node: 'b.example', headNumber: '', problem: 'rate limited' };
  assert.deepEqual(answers([{ chain: 'base', chainId: '8453', nodes: [failing, failing] }]), [
    ['bad', 'base has no node', 'chainHealth'],
  ]);
  assert.deepEqual(answers([{ chain: 'base', chainId: '8453', nodes: [node, failing] }]), [
    ['warn', 'A node of base fails', 'chainHealth'],
  ]);
});

test('gas and floats are failures where nothing is left, warnings where little is left or nothing is known', () => {
  const gas = (changed: Partial<typeof wallet>) =>
    shown({ ...all, funds: { ...funds, wallets: [{ ...wallet, ...changed }] } });
  assert.deepEqual(gas({ balance: '0', secondsLeft: 0 }), [['bad', 'Gas on base runs out', 'funds']]);
  assert.deepEqual(gas({ balance: '299', secondsLeft: 200_000 }), [
    ['warn', 'Gas on base runs out', 'funds'],
  ]);
  assert.deepEqual(gas({ balance: '', needed: '', secondsLeft: -1 }), [
    ['warn', 'Gas on base is unknown', 'funds'],
  ]);
  const float = (changed: Partial<typeof vault>) =>
    shown({ ...all, funds: { ...funds, vaults: [{ ...vault, ...changed }] } });
  assert.deepEqual(float({ float: '0' }), [['bad', 'The vault of base::usdc is empty', 'funds']]);
  assert.deepEqual(float({ float: '4999999' }), [['warn', 'The vault of base::usdc is low', 'funds']]);
  assert.deepEqual(float({ float: '', cap: '' }), [['warn', 'The vault of base::usdc is unknown', 'funds']]);
  assert.deepEqual(float({ cap: '0', float: '0' }), []);
});

test('failures stand before warnings', () => {
  const token = { tokenId: 'base::dai', decimals: 18, reason: '', stoppedAt: '' };
  const tokens = [
    { ...token, isStopped: true, isPaused: false },
    { ...token, tokenId: 'base::usdc', isStopped: false, isPaused: true },
    { ...token, tokenId: 'base::usdt', isStopped: false, isPaused: false },
  ];
  const health: Health = {
    ...well,
    openExceptions: 3,
    exceptionsForPeople: 2,
    chains: [{ ...chain, haltedReason: 'reorg' }],
  };
  assert.deepEqual(shown({ ...all, health, tokens }), [
    ['bad', 'base is halted', 'haltedChain'],
    ['bad', 'base::usdc is paused by its issuer', 'tokens'],
    ['warn', '2 exceptions need a person', 'exceptions'],
    ['warn', 'base::dai is stopped', 'tokens'],
  ]);
});

test('webhooks whose receivers take nothing are told before they are paused', () => {
  const health = { ...well, deliveries: { ...well.deliveries, failingWebhooks: 4 } };
  assert.deepEqual(shown({ ...all, health }), [['warn', '4 webhooks fail', 'webhooks']]);
});

test('a transaction that every node refuses is a failure at once, with the reason', () => {
  const attempt = {
    txHash: '0x1',
    maxFee: '500',
    refusal: 'max fee per gas less than block base fee',
    createAt: at,
  };
  const sent = {
    ...{ chainId: '8453', wallet: '0x1', nonce: '4', purpose: 'settle', minedHash: '', createAt: at },
    ...{ attemptCount: 1, isCapped: false },
    attempts: [attempt],
  };
  const problems = (change: Partial<typeof sent>) =>
    findProblems({ ...all, health: { ...well, transactions: [{ ...sent, ...change }] } }).map(
      ({ title, text, trouble }) => [troubles[trouble].tone, title, text],
    );
  assert.deepEqual(problems({ createAt: '2026-11-23T23:00:00.000Z' }), [
    [
      'bad',
      '1 transaction is refused by the node',
      'max fee per gas less than block base fee. The service tries again, with a higher fee where its limit allows.',
    ],
  ]);
  assert.deepEqual(problems({ minedHash: '0x1' }), []);
  assert.deepEqual(problems({ attempts: [{ ...attempt, refusal: '' }, attempt] }), []);
});

test('a transaction at the fee limit is a failure at once, and told once', () => {
  const sent = {
    ...{ chainId: '8453', wallet: '0x1', nonce: '4', purpose: 'settle', minedHash: '' },
    ...{ attemptCount: 1, isCapped: true },
    attempts: [{ txHash: '0x1', maxFee: '500', refusal: 'max fee per gas less than base fee', createAt: at }],
  };
  for (const createAt of [at, '2026-11-23T20:00:00.000Z'])
    assert.deepEqual(shown({ ...all, health: { ...well, transactions: [{ ...sent, createAt }] } }), [
      ['bad', '1 transaction waits at the fee limit', 'transactions'],
    ]);
});

test('a transaction that no block has is a failure after ten minutes', () => {
  const sent = (createAt: string, minedHash: string): Health => ({
    ...well,
    transactions: [
      {
        ...{ chainId: '8453', wallet: '0x1', nonce: '4', purpose: 'settle', minedHash, createAt },
        attemptCount: 0,
        attempts: [],
        isCapped: false,
      },
    ],
  });
  const long = '2026-11-23T23:49:59.000Z';
  assert.equal(
    findProblems({ ...all, health: sent(long, '') })[0]?.title,
    '1 transaction gets into no block',
  );
  assert.deepEqual(findProblems({ ...all, health: sent(long, '0xab') }), []);
  assert.deepEqual(findProblems({ ...all, health: sent('2026-11-23T23:50:00.000Z', '') }), []);
});

test('every runbook leads to a page and a heading of the documentation', () => {
  for (const { path } of Object.values(runbooks)) {
    const [page = '', anchor] = path.replace('/docs/', '').split('#');
    const text = readFileSync(new URL(`../../../../docs/${page}.md`, import.meta.url), 'utf8');
    const anchors = [...text.matchAll(/^#{2,3} (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    );
    // A page of one part is the part.
    assert.ok(anchor === undefined ? anchors.length === 0 : anchors.includes(anchor), path);
  }
});

test('a settlement leads to the section of its reason', () => {
  assert.equal(runbookOfReason('order_in_doubt'), 'orderInDoubt');
  assert.equal(runbookOfReason('attestation_pending'), 'attestations');
  assert.equal(runbookOfReason('vault_short'), 'settlements');
});

/** The sources of the operator's screens, without those that give a trouble its colour. */
const sources = readdirSync(new URL('.', import.meta.url), { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !/test\.ts$|^trouble(-sign)?\.tsx?$/.test(file))
  .map((file) => ({ file, text: readFileSync(new URL(file, import.meta.url), 'utf8') }));

test('the screens show red and amber only with a trouble of the table, and each of the table', () => {
  assert.ok(sources.length > 20);
  for (const { file, text } of sources) {
    const coloured = text.match(/tone(=|={|: )['"](bad|warn)['"]|\b(text|bg|border|ring)-(bad|warn)\b/);
    assert.equal(coloured, null, file);
  }
  const shown = (trouble: string) =>
    sources.some(({ text }) => text.includes(`'${trouble}'`) || text.includes(`"${trouble}"`));
  assert.deepEqual(
    Object.keys(troubles).filter((trouble) => !shown(trouble)),
    [],
  );
});

test('figures carry their units, and say where they are unknown', () => {
  assert.deepEqual([8.4, 200, 3_599, 7_500, 86_400, 362_880, 864_000, 1e12].map(lastingText), [
    '8 s',
    '3 min 20 s',
    '59 min',
    '2 h 5 min',
    '1 day',
    '4.2 days',
    '10 days',
    '100+ years',
  ]);
  assert.deepEqual([integerText('', 'en'), integerText('1234567', 'en')], ['unknown', '1,234,567']);
  assert.deepEqual([gweiText('', 'en'), gweiText('12345678', 'en')], ['unknown', '0.0123 gwei']);
  assert.deepEqual([coinsText('', 'en'), coinsText('531249000000000000', 'en')], ['unknown', '0.5312']);
  assert.deepEqual([secondsBetween('', at), secondsBetween(at, '2026-11-24T00:00:05Z')], [undefined, 5]);
});

test('the configuration is shown as names with values, lists of objects by their names', () => {
  const configuration = {
    environment: 'production',
    roles: ['web', 'worker'],
    chains: [{ name: 'base', rpcUrls: ['a.example'], tokens: [{ tokenId: 'base::usdc', decimals: 6 }] }],
    fees: { sameTokenPpm: 2000, crossChainPpm: 6500 },
  };
  assert.deepEqual(settingsOf(configuration), [
    {
      title: 'General',
      settings: [
        { name: 'environment', value: 'production' },
        { name: 'roles', value: 'web, worker' },
      ],
    },
    {
      title: 'chains',
      settings: [
        { name: 'base.name', value: 'base' },
        { name: 'base.rpcUrls', value: 'a.example' },
        { name: 'base.tokens.base::usdc.tokenId', value: 'base::usdc' },
        { name: 'base.tokens.base::usdc.decimals', value: '6' },
      ],
    },
    {
      title: 'fees',
      settings: [
        { name: 'sameTokenPpm', value: '2000 millionths (0.2 %)' },
        { name: 'crossChainPpm', value: '6500 millionths (0.65 %)' },
      ],
    },
  ]);
});
