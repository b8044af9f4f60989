import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languages, type PageData } from '@florin/checkout';
import type { CheckoutOption } from '@florin/protocol/checkout-state.ts';
import { codePage } from '../compression.ts';
import { bundleScript } from './assets.ts';
import { drawingsFor } from './drawings.ts';
import { renderCheckout } from './page.ts';

const networks = [
  ...['Ethereum', 'Base', 'Arbitrum One', 'OP Mainnet', 'Polygon', 'Avalanche'],
  ...['BNB Smart Chain', 'Unichain', 'Linea', 'Gnosis', 'Celo', 'Sonic'],
];

function optionOf(symbol: string, network: string, index: number): CheckoutOption {
  const chainId = String(42_161 * (index + 1));
  return {
    ...{ tokenId: `${network.toLowerCase()}::${symbol.toLowerCase()}`, chainId, chainTitle: network, symbol },
    ...{ decimals: 6, amountInToken: '12345678901', total: '12345678901', fee: '24691358' },
    ...{ status: 'available', secondsToFinal: 13 * index },
  };
}

/** A session that this many tokens can pay, none of them on every network. */
function pageData(language: (typeof languages)[number], tokens: readonly string[]): PageData {
  const options = tokens.flatMap((symbol) => networks.map((network, at) => optionOf(symbol, network, at)));
  const item = { name: 'Green tea', description: 'Two tins of Sencha, shipped from Porto', attributes: [] };
  return {
    ...{ locale: language.tag, texts: language.texts, agentApi: '/aipay/api/v1', minDeposit: '1000000' },
    ...{ linkUrl: '', title: 'Tea shop', merchant: 'Tea', legalName: 'Tea GmbH', scheme: 'device' },
    ...{ links: [{ name: 'terms', url: 'https://shop.example/terms' }], amount: '12345678901' },
    ...{ items: Array(3).fill({ ...item, quantity: 2, value: '4115226300' }) },
    ...{ isFeeOnTop: true, isEmailRequired: true, intendedPayer: '', recipient: `0x${'12'.repeat(20)}` },
    ...{ settlementChainId: '1', settledIn: 'USDC · Ethereum', explorers: {} },
    state: {
      ...{ sessionId: `sess_${'a'.repeat(22)}`, status: 'initialized', isPayable: true, expiresAt: 4_000 },
      ...{ amount: '12345678901', initiateTx: '', completeTx: '', pendingReason: '', paidAt: '' },
      ...{ settledAt: '', receiptId: '', deposits: [], exceptions: [], refunded: '0', isRefunded: false },
    },
    ...{ options, drawings: drawingsFor(options) },
  };
}

const script = await bundleScript('checkout');

/** The transferred KiB of a page in the language that needs most. */
async function largestKiB(tokens: readonly string[], accepted: string): Promise<number> {
  const sizes = languages.map(async (language) => {
    const frame = {
      ...{ language, nonce: 'A'.repeat(24), script, brand: '', query: '' },
      agentUrl: `https://aipay.example/api/v1/session/sess_${'a'.repeat(22)}`,
    };
    const { bytes } = await codePage(renderCheckout(pageData(language, tokens), frame, 1_000), accepted);
    return bytes.length / 1024;
  });
  return Math.max(...(await Promise.all(sizes)));
}

test('the page stays within 10 KiB in every language, with 12 tokens and with 48', async () => {
  for (const tokens of [['USDC'], ['USDC', 'USDT', 'DAI', 'PYUSD']]) {
    const kib = await largestKiB(tokens, 'gzip, br');
    assert.ok(kib <= 10, `${tokens.length * networks.length} tokens: ${kib.toFixed(2)} KiB`);
  }
});

test('the script stays within 16 KiB in both codings, also for an amount to choose, and for a page that a shop opens or frames', async () => {
  const others = await Promise.all((['custom', 'embedded'] as const).map(bundleScript));
  const kib = [script, ...others].flatMap(({ bytes }) =>
    [bytes.br, bytes.gzip].map(({ length }) => length / 1024),
  );
  assert.ok(Math.max(...kib) <= 16, `${kib.map((size) => size.toFixed(2))} KiB`);
});

test('what shops load for their elements stays within 6 KiB, and the page of an amount to choose that they open within 17', async () => {
  const sizes = await Promise.all(
    (['embed', 'embeddedCustom'] as const).map(
      async (page) => (await bundleScript(page)).bytes.gzip.length / 1024,
    ),
  );
  assert.ok((sizes[0] ?? 0) <= 6 && (sizes[1] ?? 0) <= 17, `${sizes.map((size) => size.toFixed(2))} KiB`);
});
