import { payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import { microUsd, toTokenAmount } from '@florin/protocol/money.ts';
import type pg from 'pg';
import { encodeFunctionData } from 'viem';
import type { ChainModel } from './chain-model.ts';
import { plenty } from './places.ts';
import { orderSigner } from './signing-model.ts';
import type { PolicyChange } from './story.ts';
import { roomOf } from './vault-model.ts';
import type { World } from './world.ts';

/**
 * Changes that operators make to vaults and tokens between payments and payouts, and the invariants that must still
 * hold.
 */

type Call = Parameters<typeof encodeFunctionData<typeof payoutVaultAbi>>[0];

function callVault(world: World, model: ChainModel, call: Omit<Call, 'abi'>): void {
  const data = encodeFunctionData({ abi: payoutVaultAbi, ...call } as Call);
  world.operate(model, model.chain.vault, data);
}

/** Schedules the changes of the story. */
export function planPolicy(world: World): void {
  const { story, scheduler } = world.options;
  for (const { atMs, change } of story.policy?.changes ?? []) {
    scheduler.after(atMs, world.owner, `policy ${change}`, () => {
      for (const model of world.models) apply(world, model, change);
      return change === 'token' ? world.dropToken(true) : undefined;
    });
  }
}

function apply(world: World, model: ChainModel, change: PolicyChange): void {
  if (change === 'caps') lowerCaps(world, model);
  if (change === 'pause') callVault(world, model, { functionName: 'pause' });
  if (change === 'signer')
    callVault(world, model, { functionName: 'setSigner', args: [orderSigner.address, false] });
  if (change === 'settler')
    callVault(world, model, { functionName: 'setSettler', args: [model.settler, false] });
}

/** Lowers one of the three caps so far that single orders, or two orders together, exceed it. */
function lowerCaps(world: World, model: ChainModel): void {
  const { random } = world.options;
  const [token] = model.chain.tokens;
  if (token === undefined) return;
  const low = toTokenAmount(microUsd(BigInt(random.between(0, 60)) * 1_000_000n), token.decimals);
  const [perOrder, hourly, daily] = random.pick([
    [low, plenty, plenty],
    [plenty, low, plenty],
    [plenty, plenty, low],
  ] as const);
  callVault(world, model, { functionName: 'setCaps', args: [token.address, perOrder, hourly, daily] });
}

/** Reverts all changes except the caps, which it lowers once more. */
export async function endPolicy(world: World): Promise<void> {
  for (const model of world.models) {
    callVault(world, model, { functionName: 'unpause' });
    callVault(world, model, { functionName: 'setSigner', args: [orderSigner.address, true] });
    callVault(world, model, { functionName: 'setSettler', args: [model.settler, true] });
    lowerCaps(world, model);
  }
  await world.dropToken(false);
}

/** Restores the initial caps. */
export function raiseCaps(world: World): void {
  for (const model of world.models)
    for (const { address } of model.chain.tokens)
      callVault(world, model, { functionName: 'setCaps', args: [address, plenty, plenty, plenty] });
}

/** Payouts that were tried after `since` and still wait although caps and float allow them, one sentence each. */
export async function findHeldUp(world: World, client: pg.Client, since: Date): Promise<string[]> {
  const { rows } = await client.query<{ id: bigint; value: bigint; tried: Date }>({
    name: 'simulation_waiting_payouts',
    text: `select l.chain_id as id, o.net_value as value, l.updated_at as tried from settlements l join orders o on o.order_id = l.order_id
           where l.leg = 'payout' and l.status = 'waiting'`,
  });
  return world.models.flatMap((model) => {
    const [token] = model.chain.tokens;
    if (token === undefined) return [];
    const waiting = rows
      .filter(({ id }) => Number(id) === model.chain.chainId)
      .map(({ value, tried }) => ({ amount: toTokenAmount(microUsd(BigInt(value)), token.decimals), tried }));
    const { state, timeSeconds } = model.head;
    const { ever, now } = roomOf(state, { vault: model.chain.vault, token: token.address }, timeSeconds);
    const payable = waiting.filter(({ amount }) => amount <= ever);
    const sum = payable.reduce((total, { amount }) => total + amount, 0n);
    const heldUp = payable.filter(({ tried }) => tried > since);
    return heldUp.length > 0 && sum <= now
      ? [`${heldUp.length} payouts of ${model.chain.name} wait, for which its vault has room`]
      : [];
  });
}
