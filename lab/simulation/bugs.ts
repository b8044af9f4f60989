import { EgressFailure } from '@florin/server/parts';
import type { Bug } from './bug.ts';
import { bugPatches } from './bug-patches.ts';
import { readTransaction } from './node-model.ts';
import type { Scenario } from './scenario.ts';
import { modelWallet } from './signing-model.ts';

/**
 * Many sessions that settle one after the other, and a restore from the middle of the run while everything continues.
 */
function withRestore(scenario: Scenario): Scenario {
  const sessions = [0, 1, 2, 3].map((index) => ({ behaviour: 'honest' as const, startMs: 6_000 * index }));
  const restore = { backupMs: 15_000, restoreMs: 40_000, waitsForUnknownTransaction: false };
  return { ...scenario, sessions, restore, finalityLag: 4, faultsEndMs: 90_000, deepReorgMs: undefined };
}

const legPurposes: ReadonlySet<string> = new Set(['settle', 'payout', 'mint', 'refund']);

/** A restore while settlements that the backup does not know are in blocks, not yet final and open to a reorg. */
function withRestoreDuringSettlement(scenario: Scenario): Scenario {
  const sessions = Array.from({ length: 5 }, (_, index) => ({
    behaviour: 'honest' as const,
    startMs: 10_000 * index,
  }));
  return {
    ...scenario,
    sessions,
    restore: { backupMs: 30_000, restoreMs: 31_000, waitsForUnknownTransaction: true },
    chainCount: 1,
    nodeLag: 0,
    isLoadBalanced: false,
    finalityLag: 8,
    slowestBlockMs: 3_000,
    pollIntervalMs: 1_500,
    faultsEndMs: 90_000,
    deepReorgMs: undefined,
  };
}

/** Sessions that settle one by one, so that the service signs again and again. */
function withManySettlements(scenario: Scenario): Scenario {
  const sessions = Array.from({ length: 5 }, (_, index) => ({
    behaviour: 'honest' as const,
    startMs: 4_000 * index,
  }));
  return {
    ...scenario,
    sessions,
    settlementWindowMs: 2_000,
    faultsEndMs: 45_000,
    deepReorgMs: undefined,
    restore: undefined,
  };
}

/** Nodes that lag half of the time, by more blocks than a reorg is deep. */
function withLaggingNodes(scenario: Scenario): Scenario {
  return {
    ...scenario,
    isLoadBalanced: true,
    nodeLag: 8,
    finalityLag: 4,
    slowestBlockMs: 3_000,
    // Frequent enough that the service has stored the blocks that a reorg removes.
    pollIntervalMs: 1_500,
    deepReorgMs: undefined,
  };
}

/** Many sessions that cross by a vault whose caps are lowered while they are paid. */
function withLowCaps(scenario: Scenario): Scenario {
  const sessions = Array.from({ length: 8 }, (_, index) => ({
    behaviour: 'honest' as const,
    startMs: 4_000 * index,
  }));
  const policy = { changes: [{ atMs: 8_000, change: 'caps' as const }] };
  return {
    ...scenario,
    sessions,
    policy,
    ...{
      chainCount: 2,
      crossChainMethod: 'vault',
      faultsEndMs: 60_000,
      deepReorgMs: undefined,
      restore: undefined,
    },
  };
}

/** A reorg below finality while the service follows the chain. */
function withDeepReorg(scenario: Scenario): Scenario {
  return { ...scenario, deepReorgMs: scenario.faultsEndMs - 10_000, restore: undefined };
}

/** The same while merchants' wallets return payments one after the other, some of them final for a few blocks. */
function withDeepReorgOfRefunds(scenario: Scenario): Scenario {
  const sessions = Array.from({ length: 8 }, (_, index) => ({
    behaviour: 'refund_settled' as const,
    startMs: 7_000 * index,
  }));
  const faultsEndMs = 90_000;
  return withDeepReorg({ ...scenario, sessions, faultsEndMs, chainCount: 1, slowestBlockMs: 3_000 });
}

/** The same while payers send to deposit addresses more than once. */
function withDeepReorgOfDeposits(scenario: Scenario): Scenario {
  const sessions = Array.from({ length: 14 }, (_, index) => ({
    behaviour: 'deposit_twice' as const,
    startMs: 4_000 * index,
  }));
  const faultsEndMs = 90_000;
  // The usual time to settle: none is overdue.
  const reclaimAfterSeconds = 172_800;
  return withDeepReorg({
    ...scenario,
    sessions,
    reclaimAfterSeconds,
    faultsEndMs,
    chainCount: 1,
    slowestBlockMs: 3_000,
  });
}

export const bugs: Readonly<Record<string, Bug>> = {
  ...Object.fromEntries(Object.keys(bugPatches).map((name) => [name, {}])),
  'finality-by-number': {
    faults: ['reorg', 'nodeStuck', 'pause'],
    scenario: withLaggingNodes,
    expectedViolation:
      /is final in block \d+, which is not on its chain|before the (payment|settlement) was final/,
  },
  'no-parent-check': { faults: ['reorg'] },
  'receipts-unchecked': { faults: ['rpcPartialLogs'] },
  'continues-below-finality': { scenario: withDeepReorg },
  'refund-outlives-its-return': {
    scenario: withDeepReorgOfRefunds,
    hasNoOtherFaults: true,
    expectedViolation: /has no final return/,
  },
  'exception-outlives-its-money': {
    scenario: withDeepReorgOfDeposits,
    hasNoOtherFaults: true,
    expectedViolation: /an exception at 0x\w+ is in doubt/,
  },
  'lost-payment-told-as-delayed': {
    scenario: withDeepReorg,
    hasNoOtherFaults: true,
    expectedViolation: /although its payment is lost/,
  },
  'lost-payment-never-ends': {
    scenario: withDeepReorg,
    hasNoOtherFaults: true,
    expectedViolation: /no end after the deadlines/,
  },
  'zero-confirmations': { finality: { tag: 'latest', depth: 0, quorum: 1 }, faults: ['reorg'] },
  'cursor-before-logs': { faults: ['crash', 'connectionLost'] },
  'webhook-after-commit': { lateStatements: ['webhooks_insert_events'], faults: ['crash', 'connectionLost'] },
  'webhook-done-before-send': {
    faults: ['receiver', 'crash'],
    wiring: () => ({
      egress: (egress) => ({
        ...egress,
        async post(url, options) {
          egress.post(url, options).catch((error: unknown) => {
            if (!(error instanceof EgressFailure)) throw error;
          });
          return { status: 200, headers: { retryAfter: undefined }, bodyText: '', latencyMs: 0 };
        },
      }),
    }),
  },
  'webhooks-unordered': { faults: ['receiver'] },
  'broadcast-before-persist': {
    faults: ['crash', 'serializationFailure'],
    scenario: withManySettlements,
    wiring: (chains) => ({
      wallet: () => ({
        ...modelWallet,
        async signTransaction(unsigned) {
          const raw = await modelWallet.signTransaction(unsigned);
          const model = chains.find(({ chain }) => chain.chainId === unsigned.chainId);
          model?.submit(readTransaction(raw));
          return raw;
        },
      }),
    }),
  },
  'nonce-from-pending': { faults: ['rpcDropped', 'nodeStuck'] },
  'vault-reservation-never-ends': {
    scenario: withLowCaps,
    expectedViolation: /although its vault can pay them/,
    hasNoOtherFaults: true,
  },
  'fees-raised-without-new-blocks': {
    faults: ['chainSilent'],
    scenario: withManySettlements,
    expectedViolation: /work never finished: .*nonce/,
    hasNoOtherFaults: true,
  },
  'no-rebroadcast': { faults: ['rpcDropped', 'reorg'] },
  'restore-floor-at-latest': {
    scenario: withRestoreDuringSettlement,
    faults: ['reorg'],
    hasNoOtherFaults: true,
  },
  'no-chain-idempotency': { isChainIdempotent: false, scenario: withRestore },
  'restore-without-requeue': {
    wiring: () => ({ reportsOutcomeOf: (purpose) => !legPurposes.has(purpose) }),
    scenario: withRestore,
    faults: ['reorg'],
  },
};
