import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { metaDataOf } from '@florin/kit';
import { type Contract, Wallet } from 'ethers';
import {
  anvil,
  deployment,
  done,
  gateway,
  idOf,
  lineItems,
  makeOrder,
  pay,
  payer,
  payerAddress,
  receiptFor,
  startKitChain,
  stopKitChain,
  usdc,
} from './kit-chain.fixture.ts';

before(startKitChain);
after(stopKitChain);

/** The few parts of a document that the page uses. */
class FakeElement {
  value = '';
  textContent = '';
  disabled = false;
  files: { text(): Promise<string> }[] = [];
  children: (FakeElement | string)[] = [];
  listeners: (() => void)[] = [];
  append(...children: (FakeElement | string)[]): void {
    this.children.push(...children);
  }
  replaceChildren(...children: FakeElement[]): void {
    this.children = children;
  }
  addEventListener(_event: string, listener: () => void): void {
    this.listeners.push(listener);
  }
  texts(): string[] {
    const own = this.textContent === '' ? [] : [this.textContent];
    return [
      ...own,
      ...this.children.flatMap((child) => (typeof child === 'string' ? [child] : child.texts())),
    ];
  }
}

/** The page with a wallet: its elements by id, a click that waits for the answer, and the requests to the wallet. */
function openPage() {
  const html = readFileSync(new URL('../../../packages/kit/florin-kit.html', import.meta.url), 'utf8');
  const script = /<script type="module">([\s\S]*?)<\/script>/.exec(html)?.[1];
  assert.ok(script !== undefined);
  const elements = new Map<string, FakeElement>();
  for (const [, id = ''] of html.matchAll(/ id="([\w-]+)"/g)) elements.set(id, new FakeElement());
  const sent: unknown[] = [];
  const ethereum = {
    async request({ method, params }: { method: string; params: readonly unknown[] }) {
      if (method === 'eth_requestAccounts') return [payerAddress];
      if (method !== 'eth_sendTransaction') return anvil.request(method, params);
      sent.push(...params);
      return '0xabc';
    },
  };
  runInNewContext(script, {
    ...{ document: documentOf(elements), ethereum, crypto, TextEncoder, fetch, AbortSignal },
  });
  const get = (id: string) => {
    const element = elements.get(id);
    assert.ok(element !== undefined, id);
    return element;
  };
  const click = async (element: FakeElement) => {
    assert.equal(element.disabled, false);
    get('message').textContent = '…';
    for (const listener of element.listeners) listener();
    while (get('message').textContent === '…') await new Promise((resolve) => setImmediate(resolve));
    return get('message').textContent;
  };
  return { get, click, sent };
}

test('the page’s own script finds payments, offers the possible actions, and checks receipts', async () => {
  const shop = Wallet.createRandom().address;
  const order = makeOrder({ to: shop, metaData: await metaDataOf(lineItems, `0x${'99'.repeat(32)}`) });
  await pay(order);
  // From then on anyone settles it.
  await anvil.request('evm_increaseTime', [86_400]);
  await anvil.mine();
  const { get, click, sent } = openPage();
  get('gateway').value = deployment.gateway;
  get('recipient').value = shop;
  assert.equal(await click(get('find')), '1 payments.');
  const [row] = get('payments').children;
  assert.ok(row instanceof FakeElement);
  assert.deepEqual(row.texts().slice(0, 6), [
    ...[idOf(order), 'paid', `100.000000 of ${String(usdc.target).toLowerCase()}`],
    ...[payerAddress.toLowerCase(), shop.toLowerCase(), 'pay'],
  ]);
  const actions = row.children.at(-1);
  assert.ok(actions instanceof FakeElement);
  const [reclaim, , settle] = actions.children;
  assert.ok(reclaim instanceof FakeElement && settle instanceof FakeElement);
  assert.equal(reclaim.disabled, true);
  assert.equal(await click(settle), 'Sent: 0xabc');
  const data = gateway.interface.encodeFunctionData('settle', [[order]]);
  const to = deployment.gateway.toLowerCase();
  assert.deepEqual(JSON.parse(JSON.stringify(sent)), [{ from: payerAddress, to, data, value: '0x0' }]);

  const receiver: unknown = await gateway['receiverOf']?.(idOf(order));
  await done((usdc.connect(payer) as Contract)['transfer']?.(receiver, 2_500_000n));
  get('order').files = [{ text: async () => JSON.stringify(await receiptFor(order)) }];
  assert.equal(await click(get('look')), '1 deposits.');
  const [deposit] = get('deposits').children;
  assert.ok(deposit instanceof FakeElement);
  assert.deepEqual(deposit.texts(), [
    ...[String(receiver).toLowerCase(), `2.500000 of ${String(usdc.target).toLowerCase()}`],
    ...[payerAddress.toLowerCase(), 'Rescue', ''],
  ]);
  const offered = deposit.children.at(-1);
  assert.ok(offered instanceof FakeElement && offered.children[0] instanceof FakeElement);
  assert.equal(await click(offered.children[0]), 'Sent: 0xabc');
  const rescue = gateway.interface.encodeFunctionData('rescue', [order, usdc.target]);
  assert.deepEqual(JSON.parse(JSON.stringify(sent.at(-1))), {
    ...{ from: payerAddress, to, data: rescue, value: '0x0' },
  });

  get('rpc').value = anvil.url;
  const receipt = { ...(await receiptFor(order)), salt: `0x${'99'.repeat(32)}` };
  get('receipt').files = [{ text: async () => JSON.stringify({ ...receipt, payerEmail: 'a@example.com' }) }];
  assert.equal(await click(get('verify')), 'The receipt is valid: paid.');
  const named = 'not vouched for: payerEmail. Only the one who gave out the receipt says so';
  assert.equal(get('verdict').texts().at(-1), named);
  get('gateway').value = '';
  const offline =
    'The receipt is consistent. Only its chain can show whether it was paid: fill in the gateway.';
  assert.equal(await click(get('verify')), offline);
  assert.equal(get('verdict').texts().at(-1), named);
  get('gateway').value = deployment.gateway;
  get('receipt').files = [{ text: async () => JSON.stringify({ ...receipt, lineItems: [] }) }];
  assert.equal(await click(get('verify')), 'The receipt is not valid.');
});

function documentOf(elements: ReadonlyMap<string, FakeElement>) {
  return { getElementById: (id: string) => elements.get(id) ?? null, createElement: () => new FakeElement() };
}
