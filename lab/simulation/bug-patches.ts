/** One change of a source file. The file must contain `from` exactly once. */
export interface Patch {
  /** Relative to apps/server/src. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const finality = '../../../packages/evm/src/watcher/finality.ts';
const watcher = '../../../packages/evm/src/watcher/watcher.ts';
const source = '../../../packages/evm/src/watcher/block-source.ts';
const senderContext = '../../../packages/evm/src/sender/context.ts';

/** Seeded bugs that patch the source as it is loaded. Production code has no knowledge of them. */
export const bugPatches: Readonly<Record<string, readonly Patch[]>> = {
  'finality-by-number': [
    { file: finality, from: 'if (theirs?.hash !== ours.hash)', to: 'if (theirs === undefined)' },
  ],
  'continues-below-finality': [
    {
      file: finality,
      from: 'for (let asked = 0; asked < 2; asked += 1) {',
      to: 'for (let asked = 0; asked < 2; asked += 1) {\n    return round;',
    },
  ],
  'refund-outlives-its-return': [
    {
      file: 'refunds/refund-events.ts',
      from: "const returns = dropped.filter((event) => event.name === 'SettlementRefunded' || isReturn(event));",
      to: 'const returns = dropped.slice(dropped.length);',
    },
  ],
  'exception-outlives-its-money': [
    {
      file: 'deposits/lost-deposit.ts',
      from: 'if (amount === 0n && (await readAgreedBalance(rpc, chain, balance)) !== 0n) continue;',
      to: 'if (amount === 0n) continue;',
    },
  ],
  'lost-payment-told-as-delayed': [
    {
      file: 'settlement/dropped-events.ts',
      from: "if (event.name === 'Paid' && session?.orderId === order.orderId) {",
      to: "if (event.name === 'Paid') await showDelay(transaction, deps, order, 'reorged');\n  if (session === undefined) {",
    },
  ],
  'lost-payment-never-ends': [
    {
      file: 'sessions/lost-payment.ts',
      from: 'const lost = rows.map(parseSession);',
      to: 'const lost = rows.slice(rows.length).map(parseSession);',
    },
  ],
  'no-parent-check': [
    {
      file: watcher,
      from: 'if (first.parentHash !== round.cursor.headHash) return takeBack(watcher, round);',
      to: '',
    },
  ],
  'receipts-unchecked': [
    {
      file: source,
      from: 'const logs = logsOfReceipts(source, header, receipts);',
      to: 'const logs = receipts.flatMap((receipt) => receipt.logs).filter((log) => source.addresses.includes(log.address));',
    },
  ],
  'cursor-before-logs': [
    {
      file: '../../../packages/evm/src/watcher/chain-move.ts',
      from: `    await noteReturned(transaction, context, events);
    await handler.onFinal(transaction, chain, anchor, events);
  });`,
      to: `    return events;
  }).then((events) => context.db.transaction((transaction) => handler.onFinal(transaction, chain, anchor, events)));`,
    },
  ],
  'webhooks-unordered': [
    {
      file: '../../../packages/outbox/src/delivery.sql.ts',
      from: 'and earlier.object_id = picked.object_id and earlier.sequence < picked.sequence',
      to: 'and earlier.object_id = picked.object_id and earlier.sequence < 0',
    },
  ],
  'nonce-from-pending': [
    {
      file: senderContext,
      from: 'return await getTransactionCount(rpc, address, tag);',
      to: "return await getTransactionCount(rpc, address, 'pending');",
    },
    {
      file: '../../../packages/evm/src/sender/sender.sql.ts',
      from: 'set next_nonce = greatest(w.next_nonce, :floor) + :count',
      to: 'set next_nonce = :floor + :count',
    },
  ],
  'restore-floor-at-latest': [
    {
      file: senderContext,
      from: 'return await getTransactionCount(rpc, address, tag);',
      to: "return await getTransactionCount(rpc, address, 'latest');",
    },
  ],
  'vault-reservation-never-ends': [
    {
      file: 'settlement/vault-limit.ts',
      from: 'const payable = isFloatShort ? BigInt(held) : largest;',
      to: 'const payable = BigInt(held);',
    },
  ],
  'fees-raised-without-new-blocks': [
    {
      file: '../../../packages/evm/src/sender/repair.ts',
      from: "if (!isOutbid(last, market) && !isRefusedForFee(last)) return 'unchanged';",
      to: '',
    },
    {
      file: '../../../packages/evm/src/sender/repair.ts',
      from: ' && last.maxFee >= market.nextBaseFee;',
      to: ';',
    },
  ],
  'no-rebroadcast': [
    {
      file: '../../../packages/evm/src/sender/sender-loop.ts',
      from: 'if (due.length === 0) return;',
      to: 'return;',
    },
  ],
};

/** The source of a file with a bug in it. Throws when the file no longer contains the patched code. */
export function patched(file: string, text: string, patches: readonly Patch[]): string {
  let changed = text;
  for (const patch of patches.filter((candidate) => candidate.file === file)) {
    if (changed.split(patch.from).length !== 2) {
      throw new Error(`the seeded bug does not fit ${file} any more: ${patch.from.slice(0, 80)}`);
    }
    changed = changed.replace(patch.from, () => patch.to);
  }
  return changed;
}
