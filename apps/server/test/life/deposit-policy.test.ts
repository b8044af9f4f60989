import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { depositWayOf, type PreparedOrder } from '@florin/protocol/checkout-order.ts';
import type { PaymentException } from '@florin/protocol/exception.ts';
import type { ExceptionPolicy } from '@florin/protocol/exception-policy.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Refund } from '@florin/protocol/refund.ts';
import type { SessionView } from '@florin/protocol/session.ts';
import { ledgerSums } from '#ledger/entry.ts';
import { deepOnly } from '../harness/deep-only.ts';
import { type Address, addressOf, askPage, transfer } from './deposit-fixture.ts';
import { Life } from './life.ts';
import { Payer } from './payer.ts';
import { addresses } from './roles.ts';

let life: Life;
/** The amount that the settler's wallet can add to short deposits. */
const purse = 1_000_000n;
before(async () => {
  life = await Life.start();
  await life.ethereum.mint(life.ethereum.token('usdc'), addresses.settler, purse);
  life.mine();
});
after(() => life.close());

const toleranceSum = statement({
  name: 'story_tolerance',
  parameters: { orderId: 'text' },
  columns: { amount: 'numeric' },
  text: `select coalesce(sum(p.amount), 0) as amount from ledger_postings p join ledger_entries e on e.entry_id = p.entry_id
   where p.ledger_account = 'tolerance' and e.order_id = :orderId`,
});

/** The session's exceptions once they fulfil the condition, oldest first. */
async function exceptionsOf(
  sessionId: string,
  isWished: (found: readonly PaymentException[]) => boolean,
): Promise<PaymentException[]> {
  return life.eventually(
    async () => {
      const { exceptions } = await life.get<{ exceptions: PaymentException[] }>('/exception/list/1/100');
      return exceptions.filter((exception) => exception.sessionId === sessionId).reverse();
    },
    isWished,
    'exceptions as wished',
  );
}

const brief = ({ kind, status, decision, amountInToken }: PaymentException) => [
  kind,
  status,
  decision,
  amountInToken,
];
const areResolved = (found: readonly PaymentException[]) =>
  found.length > 0 && found.every(({ status }) => status === 'resolved');

async function addedTo(orderId: string): Promise<bigint> {
  const [row] = await life.database.db.query(toleranceSum, { orderId });
  return row?.amount ?? 0n;
}

test('a short deposit within the tolerance pays: the operator adds the rest, and the books show it', async () => {
  const token = life.ethereum.token('usdc');
  const short = await addressOf(life, token, { underpaidPpm: 2_000 });
  assert.equal(short.deposit.leastInToken, String(short.amount - 200_000n));
  assert.equal(short.deposit.lateUntil, undefined);
  // A repeat of the request gets the same address.
  const { sessionId, payer } = short;
  const asked = { sessionId, payer: payer.address, tokenId: token.tokenId, payerEmail: '' };
  assert.deepEqual(depositWayOf(await askPage<PreparedOrder>(life, '/prepare', asked)), short.deposit);
  await transfer(life, life.ethereum, token, short.address, short.amount - 150_000n);
  const done = await life.sessionIn(short.sessionId, 'completed');
  assert.deepEqual([done.transaction?.totalValue, done.transaction?.netValue], [100_000_000, 99_800_000]);
  const paid = String(short.amount - 150_000n);
  assert.deepEqual([done.transaction?.addedValue, done.transaction?.paidAmountInToken], [150_000, paid]);
  // The merchant returns what the payer sent, and nothing of the addition.
  const refund = await life.post<Refund>('/refund/create', { sessionId });
  assert.deepEqual(
    [refund.amount, refund.status, refund.requiredBalance?.amountInToken],
    [99_850_000, 'requires_signature', paid],
  );
  const raised = await exceptionsOf(short.sessionId, areResolved);
  assert.deepEqual(raised.map(brief), [['underpaid', 'resolved', 'accept', paid]]);
  await life.eventually(
    () => addedTo(done.transaction?.orderId ?? ''),
    (added) => added === 150_000n,
    'the added amount is booked',
  );
  assert.equal(await life.ethereum.balanceOf(token, addresses.settler), purse - 150_000n);
  assert.ok((await ledgerSums(life.database.db)).every(({ total }) => total === 0n));
  const again = await life.call('POST', '/exception/accept', { exceptionId: raised[0]?.exceptionId });
  assert.equal(again.code, 0);
});

test(
  'a deposit short by more than the tolerance waits for the payer, and the operator adds nothing',
  deepOnly,
  async () => {
    const token = life.ethereum.token('usdc');
    // Half of it exceeds the fee of 0.20: the operator adds no more than it earns.
    const short = await addressOf(life, token, { underpaidAmount: 50_000_000 });
    assert.equal(short.deposit.leastInToken, String(short.amount - 200_000n));
    const before = await life.ethereum.balanceOf(token, addresses.settler);
    await transfer(life, life.ethereum, token, short.address, short.amount - 200_001n);
    const view = await life.eventually(
      () => life.get<SessionView>(`/session/${short.sessionId}`),
      ({ deposits }) => deposits !== undefined,
      'the short deposit in the session',
    );
    // The time that the payer was told, though the order of this address is payable for longer.
    assert.deepEqual(
      view.deposits?.map(({ missingInToken, payUntil }) => [missingInToken, String(payUntil)]),
      [['200001', short.payUntil]],
    );
    await transfer(life, life.ethereum, token, short.address, 200_001n);
    const done = await life.sessionIn(short.sessionId, 'completed');
    assert.equal(await addedTo(done.transaction?.orderId ?? ''), 0n);
    assert.equal(await life.ethereum.balanceOf(token, addresses.settler), before);
    assert.deepEqual(await exceptionsOf(short.sessionId, () => true), []);
  },
);

test(
  'the operator adds to one of several short deposits for a session: the others go back in full, and no more',
  deepOnly,
  async () => {
    const token = life.ethereum.token('usdc');
    const first = await addressOf(life, token, { underpaidPpm: 2_000 });
    const sent = first.amount - 200_000n;
    const before = await life.ethereum.balanceOf(token, addresses.settler);
    const others = await Promise.all(
      [1, 2].map(async () => {
        const payer = new Payer(life);
        const asked = {
          sessionId: first.sessionId,
          payer: payer.address,
          tokenId: token.tokenId,
          payerEmail: '',
        };
        const deposit = depositWayOf(await askPage<PreparedOrder>(life, '/prepare', asked));
        if (deposit === undefined) throw new Error('no deposit address is offered');
        return { payer, address: deposit.address as Hex };
      }),
    );
    const all = [first, ...others];
    // All of them are final before the service checks again.
    await life.stopService();
    for (const { address } of all) await transfer(life, life.ethereum, token, address, sent);
    await life.startService();
    const done = await life.sessionIn(first.sessionId, 'completed');
    await exceptionsOf(first.sessionId, (found) => found.length === 3 && areResolved(found));
    const back = await Promise.all(all.map(({ payer }) => life.ethereum.balanceOf(token, payer.address)));
    assert.deepEqual(
      back.sort((one, other) => Number(one - other)),
      [0n, sent, sent],
    );
    assert.equal(await life.ethereum.balanceOf(token, addresses.settler), before - 200_000n);
    assert.equal(await addedTo(done.transaction?.orderId ?? ''), 200_000n);
  },
);

test('a surplus goes back, also under a policy', deepOnly, async () => {
  const token = life.ethereum.token('usdc');
  const over = await addressOf(life, token, { underpaidPpm: 2_000, latePayment: 'accept', lateHours: 2 });
  await transfer(life, life.ethereum, token, over.address, over.amount + 2_500_000n);
  const done = await life.sessionIn(over.sessionId, 'completed');
  assert.equal('late' in done.session, false);
  const raised = await exceptionsOf(over.sessionId, areResolved);
  assert.deepEqual(raised.map(brief), [['overpaid', 'resolved', '', '2500000']]);
  assert.equal(await life.ethereum.balanceOf(token, over.payer.address), 2_500_000n);
});

// From here on, the chain's time is past the deadline of every session.
// proves W4.23
test('a late deposit is the payment if the policy says so, and the session shows that it was late', async () => {
  const token = life.base.token('usdc');
  await life.base.anvil.request('evm_increaseTime', [3_600]);
  const late = await addressOf(life, token, { latePayment: 'accept', lateHours: 24 });
  await life.sessionIn(late.sessionId, 'expired');
  await transfer(life, life.base, token, late.address, late.amount);
  const done = await life.sessionIn(late.sessionId, 'completed');
  assert.deepEqual(
    [(done.session as { late?: true }).late, done.transaction?.totalValue],
    [true, 100_000_000],
  );
  const raised = await exceptionsOf(late.sessionId, areResolved);
  assert.deepEqual(raised.map(brief), [['late', 'resolved', 'accept', String(late.amount)]]);
  assert.equal(raised[0]?.resolvedTx, done.transaction?.sourceTx);
  const events = await life.eventOf(late.sessionId, 'session.completed');
  assert.deepEqual(
    events
      .filter(({ type }) => ['session.expired', 'session.paid'].includes(type))
      .map(({ type, data }) => [type, (data.session as { late?: true }).late]),
    [
      ['session.expired', undefined],
      ['session.paid', true],
    ],
  );
});

test(
  'of two decisions about a late deposit the first counts: accepting makes it the payment, refusing sends it back',
  deepOnly,
  async () => {
    const token = life.base.token('usdc');
    const policy: ExceptionPolicy = { latePayment: 'ask', lateHours: 24 };
    const [one, other, refused, silent] = await Promise.all(
      [1, 2, 3, 4].map(() => addressOf(life, token, policy)),
    );
    if (one === undefined || other === undefined || refused === undefined || silent === undefined)
      throw new Error();
    const all = [one, other, refused, silent];
    for (const { sessionId } of all) await life.sessionIn(sessionId, 'expired');
    for (const { address, amount } of all) await transfer(life, life.base, token, address, amount);
    const idOf = async ({ sessionId }: Address) => {
      const [held] = await exceptionsOf(sessionId, (found) => found.length === 1);
      assert.deepEqual([held?.kind, held?.status, held?.decision], ['late', 'open', '']);
      assert.notEqual(held?.decideBy, '');
      return { exceptionId: held?.exceptionId };
    };
    const decide = async (decision: 'accept' | 'refund', body: object) =>
      (await life.call('POST', `/exception/${decision}`, body)).code;
    // Both at once, and each twice: repeating a decision has no effect.
    for (const address of [one, other]) {
      const body = await idOf(address);
      const codes = await Promise.all([
        decide('accept', body),
        decide('refund', body),
        decide('accept', body),
        decide('refund', body),
      ]);
      assert.deepEqual([...codes].sort(), [0, 0, 100705, 100705]);
    }
    assert.equal(await decide('refund', await idOf(refused)), 0);
    assert.equal(await decide('accept', { exceptionId: 'exc_0000000000000000000000' }), 100704);
    const decided = await exceptionsOf(one.sessionId, () => true);
    if (decided[0]?.decision === 'accept') await life.sessionIn(one.sessionId, 'completed');
    const decidedOther = await exceptionsOf(other.sessionId, () => true);
    if (decidedOther[0]?.decision === 'accept') await life.sessionIn(other.sessionId, 'completed');
    // Money that is not accepted goes back when the contract allows it, with or without a decision.
    const short = await addressOf(life, token, policy);
    await life.sessionIn(short.sessionId, 'expired');
    await transfer(life, life.base, token, short.address, short.amount - 300_000n);
    const [held] = await exceptionsOf(short.sessionId, (found) => found.length === 1);
    assert.equal(held?.kind, 'underpaid');
    assert.equal(await decide('accept', { exceptionId: held?.exceptionId }), 100706);
    assert.equal(await life.base.balanceOf(token, refused.payer.address), 0n);
    await life.base.anvil.request('evm_increaseTime', [25 * 3_600]);
    for (const { sessionId, payer, amount } of [refused, silent]) {
      await exceptionsOf(sessionId, areResolved);
      assert.equal(await life.base.balanceOf(token, payer.address), amount);
      assert.equal((await life.session(sessionId)).session.status, 'expired');
    }
    await exceptionsOf(short.sessionId, areResolved);
    assert.equal(await life.base.balanceOf(token, short.payer.address), short.amount - 300_000n);
    assert.ok((await ledgerSums(life.database.db)).every(({ total }) => total === 0n));
  },
);
