import { payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import { microUsd, toTokenAmount } from '@florin/protocol/money.ts';
import type pg from 'pg';
import { encodeFunctionData } from 'viem';
import type { ChainModel } from './chain-model.ts';
import { unlimited } from './configuration.ts';
import type { PolicyChange } from './scenario.ts';
import { orderSigner } from './signing-model.ts';
import { payoutLimitsOf } from './vault-model.ts';
import type { World } from './world.ts';

/**
 * Changes that operators make to vaults and tokens between payments and payouts, and the invariants that must still
 * hold.
 */

type Call = Parameters<typeof encodeFunctionData<typeof payoutVaultAbi>>[0];

function sendToVault(world: World, model: ChainModel, call: Omit<Call, 'abi'>): void {
  const data = encodeFunctionData({ abi: payoutVaultAbi, ...call } as Call);
  world.sendAsOperator(model, model.chain.vault, data);
}

/** Schedules the changes of the scenario. */
export function schedulePolicyChanges(world: World): void {
  const { scenario, scheduler } = world.options;
  for (const { atMs, change } of scenario.policy?.changes ?? []) {
    scheduler.after(atMs, world.owner, `policy ${change}`, () => {
      for (const model of world.models) apply(world, model, change);
      return change === 'token' ? world.setTokenDropped(true) : undefined;
    });
  }
}

function apply(world: World, model: ChainModel, change: PolicyChange): void {
  if (change === 'caps') lowerCaps(world, model);
  if (change === 'pause') sendToVault(world, model, { functionName: 'pause' });
  if (change === 'signer')
    sendToVault(world, model, { functionName: 'setSigner', args: [orderSigner.address, false] });
  if (change === 'settler')
    sendToVault(world, model, { functionName: 'setSettler', args: [model.settler, false] });
}

/** Lowers one of the three caps so far that single orders, or two orders together, exceed it. */
function lowerCaps(world: World, model: ChainModel): void {
  const { random } = world.options;
  const [token] = model.chain.tokens;
  if (token === undefined) return;
  const low = toTokenAmount(microUsd(BigInt(random.between(0, 60)) * 1_000_000n), token.decimals);
  const [perOrder, hourly, daily] = random.pick([
    [low, unlimited, unlimited],
    [unlimited, low, unlimited],
    [unlimited, unlimited, low],
  ] as const);
  sendToVault(world, model, { functionName: 'setCaps', args: [token.address, perOrder, hourly, daily] });
}

/** Reverts all changes except the caps, which it lowers once more. */
export async function revertPolicyChanges(world: World): Promise<void> {
  for (const model of world.models) {
    sendToVault(world, model, { functionName: 'unpause' });
    sendToVault(world, model, { functionName: 'setSigner', args: [orderSigner.address, true] });
    sendToVault(world, model, { functionName: 'setSettler', args: [model.settler, true] });
    lowerCaps(world, model);
  }
  await world.setTokenDropped(false);
}

/** Restores the initial caps. */
export function raiseCaps(world: World): void {
  for (const model of world.models)
    for (const { address } of model.chain.tokens)
      sendToVault(world, model, {
        functionName: 'setCaps',
        args: [address, unlimited, unlimited, unlimited],
      });
}

/** Payouts that were tried after `triedAfter` and still wait although caps and float allow them, one sentence each. */
export async function findBlockedPayouts(
  world: World,
  client: pg.Client,
  triedAfter: Date,
): Promise<string[]> {
  const { rows } = await client.query<{ id: bigint; value: bigint; triedAt: Date }>({
    name: 'simulation_waiting_payouts',
    text: `select l.chain_id as id, o.net_value as value, l.updated_at as "triedAt" from settlements l join orders o on o.order_id = l.order_id
           where l.leg = 'payout' and l.status = 'waiting'`,
  });
  return world.models.flatMap((model) => {
    const [token] = model.chain.tokens;
    if (token === undefined) return [];
    const waiting = rows
      .filter(({ id }) => Number(id) === model.chain.chainId)
      .map(({ value, triedAt }) => ({
        amount: toTokenAmount(microUsd(BigInt(value)), token.decimals),
        triedAt,
      }));
    const { state, timeSeconds } = model.head;
    const { largest, available } = payoutLimitsOf(
      state,
      { vault: model.chain.vault, token: token.address },
      timeSeconds,
    );
    const payable = waiting.filter(({ amount }) => amount <= largest);
    const sum = payable.reduce((total, { amount }) => total + amount, 0n);
    const blocked = payable.filter(({ triedAt }) => triedAt > triedAfter);
    return blocked.length > 0 && sum <= available
      ? [`${blocked.length} payouts of ${model.chain.name} wait although its vault can pay them`]
      : [];
  });
}
