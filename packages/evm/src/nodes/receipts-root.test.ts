import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { encodeRlp as ethersRlp } from 'ethers';
import fc from 'fast-check';
import { bytesToHex, concat, type Hex, keccak256, pad, toHex } from 'viem';
import { type Anvil, startTestAnvil } from '../../test/anvil.ts';
import { silentLog, systemClock } from '../../test/context.ts';
import { getBlock, type TransactionReceipt } from './actions.ts';
import { getReceiptsOfBlocks } from './block-receipts.ts';
import { headerHashOf } from './header-hash.ts';
import { type HttpRpc, openHttpRpc } from './http-rpc.ts';
import { encodeReceipt, isBorReceipt, listRoot, receiptsRootOf } from './receipts-root.ts';
import { encodeRlp, integerBytes, type RlpItem } from './rlp.ts';

let anvil: Anvil;
let rpc: HttpRpc;
before(async () => {
  anvil = await startTestAnvil();
  rpc = openHttpRpc({ chainId: anvil.chainId, urls: [anvil.url], clock: systemClock, log: silentLog });
});
after(async () => {
  await rpc.close();
  await anvil.close();
});

type Nested = Hex | Nested[];

test('RLP equals that of another implementation, for any nesting and length', () => {
  const bytes = fc.uint8Array({ maxLength: 400 });
  const text = bytes.map(bytesToHex);
  const { item } = fc.letrec<{ item: RlpItem }>((tie) => ({
    item: fc.oneof({ maxDepth: 4 }, bytes, text, fc.array(tie('item'), { maxLength: 60 })),
  }));
  const nested = (value: RlpItem): Nested => {
    if (typeof value === 'string') return value;
    return value instanceof Uint8Array ? bytesToHex(value) : value.map(nested);
  };
  fc.assert(
    fc.property(item, (value) => {
      assert.equal(bytesToHex(encodeRlp(value)), ethersRlp(nested(value)));
    }),
  );
  assert.equal(bytesToHex(encodeRlp(new Uint8Array(70_000))), ethersRlp(toHex(new Uint8Array(70_000))));
});

test('a number is written without leading zeros, and zero as an empty string', () => {
  assert.deepEqual(
    [0, 1, 0x7f, 0x80, 256, 2n ** 64n].map((value) => integerBytes(value)),
    ['0x', '0x01', '0x7f', '0x80', '0x0100', '0x010000000000000000'],
  );
});

/** The trie as the Yellow Paper describes it, one insertion after the other: a second implementation to compare with. */
function bookRoot(values: readonly Uint8Array[]): Hex {
  const build = (entries: readonly (readonly [string, Uint8Array])[]): RlpItem => {
    const [only] = entries;
    if (only === undefined) return new Uint8Array(0);
    const path = (nibbles: string, flag: number) =>
      Buffer.from(nibbles.length % 2 === 0 ? `${flag}0${nibbles}` : `${flag + 1}${nibbles}`, 'hex');
    if (entries.length === 1) return [path(only[0], 2), only[1]];
    let shared = 0;
    while (entries.every(([key]) => key[shared] === only[0][shared])) shared += 1;
    const cut = entries.map(([key, value]) => [key.slice(shared), value] as const);
    const link = (node: RlpItem) => {
      const encoded = encodeRlp(node);
      return encoded.length < 32 ? node : Buffer.from(keccak256(encoded).slice(2), 'hex');
    };
    if (shared > 0) return [path(only[0].slice(0, shared), 0), link(build(cut))];
    const children = [...'0123456789abcdef'].map((nibble) => {
      const below = cut.filter(([key]) => key.startsWith(nibble));
      return below.length === 0
        ? new Uint8Array(0)
        : link(build(below.map(([key, value]) => [key.slice(1), value])));
    });
    return [...children, new Uint8Array(0)];
  };
  const entries = values.map(
    (value, index) => [Buffer.from(encodeRlp(integerBytes(index))).toString('hex'), value] as const,
  );
  return keccak256(encodeRlp(build(entries)));
}

test('the root of a list is that of its trie, for any number of entries long and short', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ minLength: 1, maxLength: 60 }), { maxLength: 300 }), (values) => {
      assert.equal(listRoot(values), bookRoot(values));
    }),
    { numRuns: 40 },
  );
  // The well-known root of an empty trie.
  assert.equal(listRoot([]), '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421');
});

test('headers and receipts of a real node match their hashes, for every type and number of transactions', async () => {
  const [from, to] = anvil.accounts.map((account) => account.address);
  const send = (fields: object) =>
    anvil.request('eth_sendTransaction', [{ from, to, value: '0x1', gas: '0x186a0', ...fields }]);
  for (const count of [0, 1, 3, 140]) {
    for (let index = 0; index < count; index += 1) {
      const kinds = [
        { gasPrice: '0x77359400' },
        { gasPrice: '0x77359400', accessList: [] },
        { maxFeePerGas: '0x77359400', maxPriorityFeePerGas: '0x1' },
        // This transaction creates a contract that fails at once: its receipt reports a failure.
        { to: undefined, data: '0xfe', maxFeePerGas: '0x77359400', maxPriorityFeePerGas: '0x1' },
      ];
      await send(kinds[index % kinds.length] ?? {});
    }
    await anvil.mine();
    const header = await getBlock(rpc, 'latest');
    assert.ok(header !== undefined);
    const [receipts = []] = await getReceiptsOfBlocks(rpc, [header]);
    assert.equal(receipts.length, count);
    assert.equal(header.isProven, true);
    assert.equal(receiptsRootOf(receipts), header.receiptsRoot);
  }
});

test('a header matches its hash only with all of its fields', async () => {
  const block = (await anvil.request('eth_getBlockByNumber', ['latest', false])) as Record<string, unknown>;
  assert.equal(headerHashOf(block), block['hash']);
  const { stateRoot, ...without } = block;
  assert.equal(headerHashOf(without), undefined);
  for (const name of ['requestsHash', 'blobGasUsed', 'baseFeePerGas']) {
    assert.notEqual(headerHashOf({ ...block, [name]: undefined }), block['hash'], name);
  }
  const amsterdam = { ...block, blockAccessListHash: stateRoot, slotNumber: '0x7' };
  assert.notEqual(headerHashOf(amsterdam), block['hash'], 'fields that come later belong to the hash');
});

function receiptOf(changes: Partial<TransactionReceipt>): TransactionReceipt {
  return {
    transactionHash: pad('0x1'),
    blockHash: pad('0x2'),
    blockNumber: 7n,
    succeeded: true,
    logsBloom: pad('0x', { size: 256 }),
    logs: [],
    type: 0,
    cumulativeGasUsed: 21_000n,
    ...changes,
  };
}

test('a deposit of the OP stack commits to its nonce and version since Canyon, and to neither before', () => {
  const plain = ['0x01', '0x5208', pad('0x', { size: 256 }), []];
  const encode = (changes: Partial<TransactionReceipt>) =>
    encodeReceipt(receiptOf({ type: 0x7e, ...changes }));
  assert.equal(
    encode({ deposit: { nonce: 5n, version: 1n } }),
    concat(['0x7e', toLower([...plain, '0x05', '0x01'])]),
  );
  assert.equal(encode({ deposit: { nonce: 5n } }), concat(['0x7e', toLower(plain)]));
  assert.equal(
    encode({ deposit: { nonce: 0n, version: 1n } }),
    concat(['0x7e', toLower([...plain, '0x', '0x01'])]),
  );
});

function toLower(item: Parameters<typeof ethersRlp>[0]): Hex {
  return ethersRlp(item) as Hex;
}

test('the receipt that nodes of Polygon add is known by its hash', () => {
  const blockHash = keccak256('0x1234');
  const hash = keccak256(concat([toHex('matic-bor-receipt-'), '0x0000000000000007', blockHash]));
  assert.equal(isBorReceipt(receiptOf({ blockHash, transactionHash: hash })), true);
  assert.equal(isBorReceipt(receiptOf({ blockHash, blockNumber: 8n, transactionHash: hash })), false);
  assert.equal(isBorReceipt(receiptOf({ blockHash })), false);
});
